#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

// replay FOLDER…: runs a fuzz target over the files of the folders, without libFuzzer, so that what was once
// found stays found in the ordinary test run. A target that fails aborts.
// replay --seeds=OUT FOLDER…: also writes each input to the folder OUT, for libFuzzer to start from.

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

/// A recorded exchange is fed as its answer alone, the way a decoder meets it.
std::string answer_of(const std::string& bytes) {
  const std::size_t response = bytes.find("===== RESPONSE =====");
  const std::size_t body = response == std::string::npos ? response : bytes.find("\r\n\r\n", response);
  return body == std::string::npos ? bytes
                                   : bytes.substr(body + 4, bytes.rfind("\n===== END =====") - body - 4);
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> folders(values + 1, values + count);
  std::string seeds;
  if (!folders.empty() && folders.front().starts_with("--seeds=")) {
    seeds = folders.front().substr(8);
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
      const std::string answer = answer_of(bytes);
      // A target's first byte says how to cut; what libFuzzer found has one already.
      for (const char how : {'\0', '\6'}) target.run(how + answer);
      if (answer == bytes) target.run(bytes);
      ++fed;
    }
  }
  std::printf("%d files replayed\n", fed);
  return fed == 0 ? 1 : 0;
}
