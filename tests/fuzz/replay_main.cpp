#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Runs a fuzz target over the files of the folders given, without libFuzzer, so that what was once found
// stays found in the ordinary test run. A target that fails aborts.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed(std::string input, char how_to_cut) {
  input.insert(input.begin(), how_to_cut);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

/// A recorded exchange is fed as its answer alone, the way a decoder meets it.
std::string answer_of(std::string bytes) {
  const std::size_t response = bytes.find("===== RESPONSE =====");
  const std::size_t body = response == std::string::npos ? response : bytes.find("\r\n\r\n", response);
  return body == std::string::npos ? bytes : bytes.substr(body + 4);
}

}  // namespace

int main(int count, char** arguments) {
  int fed = 0;
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::is_directory(arguments[i])) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments[i])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      const std::string answer = answer_of(bytes);
      for (const char how : {'\0', '\1', '\6'}) feed(answer, how);
      // As libFuzzer would: its own files begin with the byte that says how to cut.
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++fed;
    }
  }
  std::printf("%d files replayed\n", fed);
  return fed == 0 ? 1 : 0;
}
