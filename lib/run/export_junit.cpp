#include <cstdio>
#include <string_view>

#include <evalcore/base/utf8.hpp>
#include <evalcore/run/ids.hpp>

#include "run/export_formats.hpp"

namespace evalcore::run {
namespace {

/// U+FFFE and U+FFFF, which XML 1.0 has no place for.
bool no_character(std::string_view step) { return step == "\xEF\xBF\xBE" || step == "\xEF\xBF\xBF"; }

/// What XML cannot hold at all, not even as a reference, becomes visible.
void append_control(std::string& out, char c) {
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  out += text;
}

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    // As references they outlive the normalisation of attributes and line ends.
    case '\t':
      out += "&#9;";
      break;
    case '\n':
      out += "&#10;";
      break;
    case '\r':
      out += "&#13;";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20) {
        append_control(out, c);
      } else {
        out += c;
      }
  }
}

/// Text for an attribute or an element.
std::string xml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto step = first_utf8(text);
    const auto front = text.substr(0, step.bytes);
    if (!step.valid || no_character(front)) {
      out += "\xEF\xBF\xBD";
    } else if (step.bytes == 1) {
      append_ascii(out, front[0]);
    } else {
      out += front;
    }
    text.remove_prefix(step.bytes);
  }
  return out;
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + xml(value) + "\"";
}

std::string wrong(const exported_item& of) {
  const auto& verdict = of.verdict;
  std::string message = verdict.reason;
  if (of.score.value > 0)
    message = "scored " + decimal(of.score.value, 4) + (message.empty() ? "" : ": " + message);
  return "<failure" + attribute("type", of.scorer->metric()) + attribute("message", message) + ">" +
         xml(verdict.extracted) + "</failure>";
}

/// Empty: it passed.
std::string outcome(const exported_item& of) {
  switch (of.score.state) {
    case item_state::scored:
      return of.score.value < 1 ? wrong(of) : std::string();
    case item_state::unscored:
      return "<skipped" + attribute("message", "unscored: " + of.score.why) + "/>";
    case item_state::errored:
      return "<error" + attribute("type", of.score.why) + attribute("message", "no answer: " + of.score.why) +
             "/>";
    case item_state::not_run:
      break;
  }
  // As an error, since a skipped test lets a build pass.
  return "<error" + attribute("type", "not_run") + attribute("message", "no answer: it was not run") + "/>";
}

std::string count(std::uint64_t of) { return std::to_string(of); }

}  // namespace

std::string junit_case(const exported_item& one, const std::string& task) {
  const auto name_of_class = one.one.category.empty() ? task : task + "." + one.one.category;
  std::string out = "    <testcase" + attribute("classname", name_of_class) + attribute("name", one.one.id);
  if (one.reply && one.reply->timing.total) {
    out += attribute("time", decimal(seconds(*one.reply->timing.total), 3));
  }
  const auto told = outcome(one);
  return out + (told.empty() ? "/>\n" : ">" + told + "</testcase>\n");
}

std::string junit_suite(const exported_run& run, std::uint64_t wrong, const std::string& cases) {
  const auto& of = run.what;
  std::string out = "  <testsuite" + attribute("name", of.task) + attribute("tests", count(of.items)) +
                    attribute("failures", count(wrong)) + attribute("errors", count(of.errors + of.not_run)) +
                    attribute("skipped", count(of.unscored)) + attribute("time", decimal(of.wall_s, 3));
  auto began = timestamp(run.started_unix_ms);
  began.pop_back();  // The schema has a time without a zone.
  out += attribute("timestamp", began) + ">\n    <properties>\n";
  const auto property = [&](std::string_view name, std::string_view value) {
    out += "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
  };
  property("model", run.labels.model_name);
  property("run_id", of.run_id);
  if (const auto score = of.score()) property("score", decimal(*score, 6));
  return out + "    </properties>\n" + cases + "  </testsuite>\n";
}

}  // namespace evalcore::run
