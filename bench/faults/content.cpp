// F12, F13, F15, F16, F17, F24: what answers hold, and how it is framed.
#include <algorithm>
#include <functional>
#include <utility>

#include "faults/cases.hpp"

namespace evalcore::faults {
namespace {

using namespace std::chrono_literals;

/// One item meets this answer, and a good one when it asks again.
record meet(const form& how, test::script answer) {
  const test::fault_server server({models(how), std::move(answer), good(how)});
  setup asks;
  asks.url = server.url();
  asks.how = how;
  return client(asks).run();
}

/// One item meets nothing but this answer.
record meet_always(const form& how, const test::script& answer) {
  const test::fault_server server({models(how), answer});
  setup asks;
  asks.url = server.url();
  asks.how = how;
  return client(asks).run();
}

test::script with_length(const form& how, const std::string& content) {
  return {test::send(whole(how, content))};
}

/// Every second group of runs meets the fault for ever, the others once.
void never_scored(const form& how, judge& verdict, const test::script& answer,
                  std::initializer_list<errc> ways) {
  if (how.number / 4 % 2 == 0) {
    verdict.answered_after(meet(how, answer), ways);
  } else {
    verdict.failed(meet_always(how, answer), ways, setup().pool.retry.retries + 1);
  }
}

/// `items` answers, each in two pieces of which the first ends after byte `from` + its number.
std::vector<test::script> split_answers(const form& how, const std::string& answer, std::size_t from,
                                        std::size_t items) {
  std::vector<test::script> scripts{models(how)};
  for (std::size_t i = 0; i < items; ++i) {
    const std::size_t at = 1 + (from + i) % (answer.size() - 1);
    scripts.push_back({test::send(answer.substr(0, at)), test::pause(1ms), test::send(answer.substr(at))});
  }
  return scripts;
}

/// Many items, so that the runs together split the answer at every byte of it.
record meet_split(const form& how, const std::string& answer, std::size_t part, std::size_t parts) {
  const std::size_t items = answer.size() / parts + 1;
  const test::fault_server server(split_answers(how, answer, part * items, items));
  setup asks;
  asks.url = server.url();
  asks.how = how;
  asks.items = items;
  asks.pool.max_in_flight = 16;
  asks.pool.total_deadline = 15s;
  asks.deadlines = {};
  return client(asks).run();
}

std::string replaced(std::string in, std::string_view what, std::string_view by) {
  const auto at = in.find(what);
  return at == std::string::npos ? in : in.replace(at, what.size(), by);
}

}  // namespace

void clean_truncation(const form& how, judge& verdict) {
  const std::string part = cut_body(how);
  const std::string chunked = head(how) + "Transfer-Encoding: chunked\r\n\r\n";
  char size[32];
  std::snprintf(size, sizeof(size), "%zx\r\n", part.size());
  const std::array<test::script, 3> ends{
      with_length(how, part),
      {test::send(chunked + size + part + "\r\n0\r\n\r\n")},
      {test::send(head(how) + "Connection: close\r\n\r\n" + part), test::close()},
  };
  never_scored(how, verdict, ends[how.number / 4 % ends.size()], {errc::truncated, errc::bad_reply});
}

void malformed_chunks(const form& how, judge& verdict) {
  std::string content = body(how);
  if (how.streamed) {
    auto all = events(how);
    const std::size_t which = how.number % (all.size() - 3);
    auto& data = all[which].data;
    // Cut, a stray quote, or no JSON at all.
    const std::size_t kind = how.number / 4 % 3;
    data = kind == 0 ? data.substr(0, data.size() / 2) : kind == 1 ? "{\"id\": \"" : "<oops>";
    content = written(all);
  } else {
    content.insert(1 + how.number * 7 % (content.size() - 2), 1, '"');
  }
  never_scored(how, verdict, with_length(how, content), {errc::bad_reply, errc::truncated});
}

void stream_framing(const form& how, judge& verdict) {
  // The runs of one form: each writing of the stream in several parts.
  const std::size_t turn = how.number / 4;
  const auto as = static_cast<framing>(turn % framings);
  constexpr std::size_t parts = 3;
  const std::string content = how.streamed ? written(events(how), as) : body(how);
  verdict.answered_at_once(meet_split(how, whole(how, content), turn / framings % parts, parts));
}

void broken_utf8(const form& how, judge& verdict) {
  constexpr std::array broken{"\xFF", "\xC0\xAF", "\xED\xA0\x80",
                              "\xE2\x82"};  // Alone, overlong, surrogate, cut.
  const std::size_t kind = how.number / 4 % (broken.size() + 1);
  if (kind == broken.size()) {
    // The good answer again, byte by byte.
    const std::string all = whole(how, body(how));
    const auto text = all.find("\xC3\xA9");
    const std::string_view around(all.data() + text, std::min<std::size_t>(all.size() - text, 300));
    const test::script acts{test::send(all.substr(0, text)), test::drip(std::string(around), 0ms),
                            test::send(all.substr(text + around.size()))};
    return verdict.answered_at_once(meet(how, acts));
  }
  verdict.flagged(meet(how, with_length(how, replaced(body(how), "\u00e9", broken[kind]))));
}

void http_framing(const form& how, judge& verdict) {
  const std::string content = body(how);
  const std::string length = "Content-Length: " + std::to_string(content.size()) + "\r\n";
  const std::string chunks = "Transfer-Encoding: chunked\r\n";
  const auto answer = [&](const std::string& headers, const std::string& sent) {
    return test::script{test::send(head(how) + headers + "\r\n" + sent), test::close()};
  };
  const std::array<test::script, 12> answers{
      answer("Content-Length: 100000\r\n", cut_body(how)),
      answer("Content-Length: " + std::to_string(content.size() / 3) + "\r\n", content),
      answer("Content-Length: -5\r\n", content),
      answer("Content-Length: 5\r\nContent-Length: 6\r\n", content),
      answer(length + chunks, "0\r\n\r\n"),
      answer(chunks, "zz\r\n" + content),
      answer(chunks, "-1\r\n" + content),
      answer(chunks, "fffffffffffffffff\r\n" + content),
      answer(chunks, "5\r\n" + content.substr(0, 5) + "no line end"),
      answer(chunks, "ffff\r\n" + cut_body(how)),
      {test::send("SSH-2.0-OpenSSH_9.2\r\n"), test::close()},
      {test::send(content), test::close()},
  };
  const auto seen = meet(how, answers[how.number / 4 % answers.size()]);
  verdict.answered_after(seen, {errc::truncated, errc::bad_reply, errc::transport});
}

void json_edges(const form& how, judge& verdict) {
  const auto usage = [&](const std::string& value) { return body(how, good_text, ",\"more\":" + value); };
  const auto bad = {errc::bad_reply, errc::truncated};
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string page = "<!DOCTYPE html><html><body>Sign in</body></html>";
  switch (how.number / 4 % 9) {
    case 0:
      return verdict.answered_after(meet(how, with_length(how, usage("NaN"))), bad);
    case 1:
      return verdict.answered_after(meet(how, with_length(how, usage("1e400"))), bad);
    case 2:
      return verdict.answered_after(meet(how, with_length(how, usage(deep))), bad);
    case 3:
      return verdict.answered_after(meet(how, with_length(how, "")), bad);
    case 4:
      return verdict.answered_after(meet(how, with_length(how, page)), bad);
    case 5:
      return verdict.flagged(meet(how, with_length(how, usage("{\"a\":1,\"a\":2}"))));
    case 6:
      return verdict.flagged(meet(how, with_length(how, body(how, R"(\ud800)"))));
    case 7:  // 2^64, of no member that counts.
      return verdict.answered(meet(how, with_length(how, usage("18446744073709551616"))));
    default:
      return verdict.answered_at_once(meet(how, with_length(how, "\xEF\xBB\xBF" + body(how))));
  }
}

}  // namespace evalcore::faults
