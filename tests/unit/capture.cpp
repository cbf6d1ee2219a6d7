#include "unit/capture.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace {

const std::filesystem::path folder = EVALCORE_TEST_DATA "/captures";

/// Cuts `text` at the first `mark`: what stands before it is returned, the rest stays.
std::string take_until(std::string& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) throw std::runtime_error("no \"" + std::string(mark) + "\" in a capture");
  std::string before = text.substr(0, at);
  text.erase(0, at + mark.size());
  return before;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// A recording may stop inside the body: what came is kept.
std::string without_chunks(std::string coded) {
  std::string plain;
  while (coded.find("\r\n") != std::string::npos) {
    const std::size_t size = std::stoul(take_until(coded, "\r\n"), nullptr, 16);
    if (size == 0) break;
    plain += coded.substr(0, size);
    coded.erase(0, size + 2);
  }
  return plain;
}

bool is_chat_answer(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return bytes.find("===== REQUEST =====\nPOST /v1/chat/completions HTTP/") != std::string::npos &&
         bytes.find("\n===== RESPONSE =====\nHTTP/") != std::string::npos;
}

}  // namespace

capture read_capture(std::string_view name) {
  std::ifstream file(folder / (std::string(name) + ".txt"), std::ios::binary);
  std::stringstream buffer;
  buffer << file.rdbuf();
  std::string text = buffer.str();

  capture one;
  one.name = name;
  take_until(text, "===== REQUEST =====\n");
  one.request_body = take_until(text, "\n===== RESPONSE =====\n");
  take_until(one.request_body, "\r\n\r\n");
  text.resize(text.rfind("\n===== END ====="));
  const std::string head = lower(take_until(text, "\r\n\r\n"));
  one.status = std::stoi(head.substr(head.find(' ')));
  one.streamed = head.find("text/event-stream") != std::string::npos;
  one.body = head.find("transfer-encoding: chunked") != std::string::npos ? without_chunks(text) : text;
  return one;
}

std::vector<std::string> capture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt" && is_chat_answer(entry.path())) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}
