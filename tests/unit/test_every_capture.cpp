#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/openai_chat.hpp>
#include <evalcore/wire/openai_completions.hpp>
#include <evalcore/wire/sse.hpp>

#include "net/reply_parser.hpp"

// Every recorded exchange against tests/data/captures/EXPECTED.tsv, which tests/tools/expect_captures.py
// derives from the same bytes with Python's own HTTP and JSON code.

using namespace evalcore;

namespace {

const std::filesystem::path folder = EVALCORE_TEST_DATA "/captures";

struct row {
  std::string kind;
  int status = 0;
  std::string outcome;
};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// By file, in the order of its answers.
std::map<std::string, std::vector<row>> expected() {
  std::map<std::string, std::vector<row>> rows;
  std::ifstream file(folder / "EXPECTED.tsv");
  std::string line;
  std::getline(file, line);
  REQUIRE(line == "file\tkind\tstatus\toutcome");
  while (std::getline(file, line)) {
    const std::size_t kind = line.find('\t') + 1;
    const std::size_t status = line.find('\t', kind) + 1;
    const std::size_t outcome = line.find('\t', status) + 1;
    rows[line.substr(0, kind - 1)].push_back(
        {line.substr(kind, status - 1 - kind), std::stoi(line.substr(status)), line.substr(outcome)});
  }
  return rows;
}

struct exchange {
  std::string name;
  std::string request_body;
  std::string answer;  ///< As it came over the socket, of whatever length.

  [[nodiscard]] const wire::dialect& ways() const {
    return *wire::find_dialect(name.starts_with("llama") ? "llama-server" : "mlx-server");
  }
  [[nodiscard]] std::size_t prompts() const {
    const auto body = json::parse(request_body);
    const auto* prompt = body ? body->find("prompt") : nullptr;
    const auto* list = prompt == nullptr ? nullptr : prompt->if_array();
    return list == nullptr || list->front().if_string() == nullptr ? 1 : list->size();
  }
};

exchange read_exchange(const std::string& file) {
  const std::string bytes = bytes_of(folder / file);
  const std::string request = "===== REQUEST =====\n";
  const std::string response = "\n===== RESPONSE =====\n";
  const std::size_t from = bytes.find(request) + request.size();
  const std::size_t middle = bytes.find(response, from);
  const std::size_t body = bytes.find("\r\n\r\n", from) + 4;
  const std::size_t end = bytes.rfind("\n===== END =====");
  REQUIRE(end != std::string::npos);
  const std::size_t begin = middle + response.size();
  // An empty answer leaves the two marks a line end apart.
  return {file, bytes.substr(body, middle - body), end > begin ? bytes.substr(begin, end - begin) : ""};
}

struct recorder final : net::reply_events {
  net::http_head head;
  std::string body;
  void on_head(const net::http_head& got) override { head = got; }
  void on_body(std::string_view piece) override { body += piece; }
};

struct answer {
  recorder seen;
  result<void> ended;
};

/// The first answer in `bytes`, which is taken off them.
answer take_answer(std::string& bytes) {
  answer one;
  net::reply_parser parser({}, one.seen);
  one.ended = parser.feed(bytes);
  if (one.ended && !parser.done()) one.ended = parser.finish();
  const std::string& body = one.seen.body;
  const std::size_t next =
      one.ended && !body.empty() ? bytes.find("HTTP/1.1 200 OK\r\n", bytes.find(body)) : bytes.npos;
  bytes.erase(0, next == bytes.npos ? bytes.size() : next);
  return one;
}

json::value count(const std::optional<std::uint64_t>& number) {
  return number ? json::value(*number) : json::value();
}

json::value shown(const chat::usage& usage) {
  return json::array{count(usage.prompt_tokens), count(usage.cached_tokens), count(usage.completion_tokens)};
}

json::value shown(const error& failure) {
  return json::object{{"error", std::string(name(failure.code))}, {"words", failure.backend_words}};
}

json::value shown(const result<chat::reply>& got, bool arguments_as_text) {
  if (!got) return shown(got.error());
  json::array calls;
  for (const auto& call : got->calls) {
    json::value arguments(call.arguments);
    if (!arguments_as_text) arguments = json::parse(call.arguments).value_or(json::value("not JSON"));
    calls.emplace_back(json::array{call.name, std::move(arguments)});
  }
  return json::object{{"text", got->text},
                      {"reasoning", got->reasoning},
                      {"calls", std::move(calls)},
                      {"finish", got->finish_raw},
                      {"usage", shown(got->usage)}};
}

json::value shown(const result<chat::completion_reply>& got) {
  if (!got) return shown(got.error());
  json::array all;
  for (const auto& one : got->completions) {
    json::array tokens;
    for (const auto& token : one.tokens) {
      tokens.emplace_back(
          json::array{token.token, token.logprob ? json::value(*token.logprob) : json::value()});
    }
    all.emplace_back(json::array{one.text, one.finish_raw, std::move(tokens)});
  }
  return json::object{{"completions", std::move(all)}, {"usage", shown(got->usage)}};
}

using pieces = std::vector<std::string_view>;

template <class Stream>
auto assemble(Stream stream, const pieces& all) -> decltype(stream.take()) {
  for (const auto piece : all) {
    if (auto made = stream.feed(piece); !made) return std::move(made).error();
  }
  return stream.take();
}

json::value events(const pieces& all) {
  json::array found;
  wire::sse_parser parser;
  const auto keep = [&](const wire::sse_event& one) {
    found.push_back(json::parse(one.data).value_or(json::value("not JSON")));
  };
  for (const auto piece : all) CHECK(parser.feed(piece, keep));
  CHECK_FALSE(parser.finish(keep));
  return found;
}

/// How a streamed answer of this kind reads when it comes in pieces; empty for kinds that do not stream.
std::function<json::value(const pieces&)> stream_of(const std::string& kind, const exchange& one) {
  const auto& ways = one.ways();
  if (kind == "events") return events;
  if (kind == "chat_stream") {
    return [&](const pieces& all) { return shown(assemble(wire::openai_chat_stream(ways), all), true); };
  }
  if (kind == "messages_stream") {
    return
        [&](const pieces& all) { return shown(assemble(wire::anthropic_messages_stream(ways), all), true); };
  }
  if (kind == "completion_stream") {
    return [&ways, prompts = one.prompts()](const pieces& all) {
      return shown(assemble(wire::openai_completion_stream(ways, prompts), all));
    };
  }
  return {};
}

json::value whole(const std::string& kind, const exchange& one, const answer& got) {
  const auto& ways = one.ways();
  const std::string& body = got.seen.body;
  if (kind == "error") return shown(wire::classify_openai_error(got.seen.head.status, body, ways));
  if (kind == "chat") return shown(wire::decode_openai_chat(body, ways), true);
  if (kind == "messages") return shown(wire::decode_anthropic_message(body, ways), false);
  if (kind == "completion") return shown(wire::decode_openai_completion(body, ways, one.prompts()));
  if (kind == "json") return json::parse(body).value_or(json::value("not JSON"));
  if (kind == "text") return static_cast<std::int64_t>(body.size());
  if (kind == "empty") return body;
  return "an unknown kind";
}

}  // namespace

TEST_CASE("every recorded exchange has its expected outcome") {
  int files = 0;
  int answers = 0;
  const auto table = expected();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    ++files;
    const exchange one = read_exchange(entry.path().filename().string());
    CAPTURE(one.name);
    REQUIRE(table.contains(one.name));
    std::string bytes = one.answer;
    for (const row& want : table.at(one.name)) {
      const answer got = take_answer(bytes);
      ++answers;
      CHECK(got.seen.head.status == want.status);
      // Where the connection says that the answer is not whole, nobody decodes it.
      const auto stream = stream_of(want.kind, one);
      const json::value outcome = !got.ended ? shown(got.ended.error())
                                  : stream   ? stream({got.seen.body})
                                             : whole(want.kind, one, got);
      CHECK(json::to_python_text(outcome) == want.outcome);
    }
    CHECK(bytes.empty());
  }
  CHECK(files == 252);
  CHECK(table.size() == 252);
  CHECK(answers == 253);
}

TEST_CASE("every recorded stream reads the same wherever it is cut in two, and byte by byte") {
  int streams = 0;
  for (const auto& [file, rows] : expected()) {
    const exchange one = read_exchange(file);
    const auto stream = stream_of(rows.front().kind, one);
    if (!stream) continue;
    CAPTURE(file);
    ++streams;
    std::string bytes = one.answer;
    const std::string body = take_answer(bytes).seen.body;
    const std::string_view view = body;
    const json::value uncut = stream({view});
    pieces single;
    for (std::size_t i = 0; i < view.size(); ++i) single.push_back(view.substr(i, 1));
    CHECK(stream(single) == uncut);
    // The long ones repeat the same few kinds of event a hundred times.
    const std::size_t step = view.size() < 3000 ? 1 : 7;
    for (std::size_t cut = 1; cut < view.size(); cut += step) {
      CAPTURE(cut);
      REQUIRE(stream({view.substr(0, cut), view.substr(cut)}) == uncut);
    }
  }
  CHECK(streams == 52);
}
