#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// replay [--http] [--seeds=OUT] FOLDER…: runs a fuzz target over the files of the folders, without libFuzzer,
// so that what was once found stays found in the ordinary test run. A target that fails aborts.
//   --http       feeds recorded exchanges as whole HTTP answers, not as the body alone
//   --seeds=OUT  also writes each input to the folder OUT, for libFuzzer to start from

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

class replay {
 public:
  explicit replay(std::string seeds) : seeds_(std::move(seeds)) {}

  void run(const std::string& input) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    if (seeds_.empty()) return;
    std::ofstream(seeds_ + "/seed_" + std::to_string(written_++), std::ios::binary) << input;
  }

 private:
  std::string seeds_;
  int written_ = 0;
};

/// A recorded exchange is fed as its answer, the way a decoder meets it.
std::string answer_of(const std::string& bytes, bool http) {
  constexpr std::string_view mark = "===== RESPONSE =====\n";
  const std::size_t response = bytes.find(mark);
  if (response == std::string::npos) return bytes;
  const std::size_t head = response + mark.size();
  const std::size_t end = bytes.rfind("\n===== END =====");
  const std::size_t body = http ? head : bytes.find("\r\n\r\n", head);
  if (body == std::string::npos || end < body) return bytes;
  const std::size_t from = http ? body : body + 4;
  return bytes.substr(from, end - from);
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> folders(values + 1, values + count);
  std::string seeds;
  bool http = false;
  while (!folders.empty() && folders.front().starts_with("--")) {
    if (folders.front() == "--http") http = true;
    if (folders.front().starts_with("--seeds=")) seeds = folders.front().substr(8);
    folders.erase(folders.begin());
  }
  replay target(seeds);
  int fed = 0;
  for (const auto& folder : folders) {
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      const std::string answer = answer_of(bytes, http);
      // A target's first byte says how to cut; what libFuzzer found has one already.
      for (const char how : {'\0', '\6'}) target.run(how + answer);
      if (answer == bytes) target.run(bytes);
      ++fed;
    }
  }
  std::printf("%d files replayed\n", fed);
  return fed == 0 ? 1 : 0;
}
