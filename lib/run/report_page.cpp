#include "run/report_page.hpp"

#include <string_view>
#include <vector>

#include <evalcore/base/hash.hpp>

#include "run/report_parts.hpp"

namespace evalcore::run {
namespace {

constexpr std::string_view policy_mark = "{policy}";
constexpr std::string_view style_mark = "{style}";
constexpr std::string_view data_mark = "{data}";
constexpr std::string_view scripts_mark = "{scripts}";

/// In the order in which they run; each with a line end in front, as it stands in the page.
std::vector<std::string> scripts() {
  std::vector<std::string> out;
  for (const auto* name : {"chart.js", "text.js", "figures.js", "charts.js", "items.js"}) {
    if (const auto text = report_part(name); !text.empty()) out.push_back("\n" + std::string(text));
  }
  return out;
}

std::string style() { return "\n" + std::string(report_part("style.css")); }

std::string hash_of(std::string_view inlined) { return " 'sha256-" + sha256().raw(inlined).base64() + "'"; }

std::string policy() {
  std::string out = "default-src 'none'; script-src";
  for (const auto& one : scripts()) out += hash_of(one);
  return out + "; style-src" + hash_of(style()) + "; base-uri 'none'; form-action 'none'";
}

/// What stands before a mark, which is taken off with it.
std::string_view take(std::string_view& page, std::string_view mark) {
  const auto at = page.find(mark);
  const auto before = page.substr(0, at);
  page.remove_prefix(at + mark.size());
  return before;
}

}  // namespace

std::string report_front() {
  auto page = report_part("page.html");
  std::string out(take(page, policy_mark));
  out += policy();
  out += take(page, style_mark);
  out += style();
  out += take(page, data_mark);
  return out;
}

std::string report_end(const json::value& what) {
  auto page = report_part("page.html");
  take(page, data_mark);
  std::string out = "<script type=\"application/json\" id=\"report\">" + json_for_page(what) + "</script>";
  out += take(page, scripts_mark);
  if (!report_part("chart.js").empty()) {
    out.append("<!--\n").append(report_part("chart-licence.txt")).append("-->\n");
  }
  for (const auto& one : scripts()) out += "<script>" + one + "</script>\n";
  out += page;
  return out;
}

std::string json_for_page(const json::value& what) {
  std::string out;
  const auto text = json::to_text(what);
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (rest.front() == '<') {
      out += "\\u003c";
    } else if (rest.front() == '>') {
      out += "\\u003e";
    } else if (rest.front() == '&') {
      out += "\\u0026";
    } else if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {
      out += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += rest.front();
    }
  }
  return out;
}

}  // namespace evalcore::run
