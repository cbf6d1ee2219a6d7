#include "engine/date_in_text.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <string>
#include <vector>

namespace evalcore::engine {
namespace {

constexpr std::array<std::string_view, 12> months{"January",   "February", "March",    "April",
                                                  "May",       "June",     "July",     "August",
                                                  "September", "October",  "November", "December"};

std::string two_digits(unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); }

std::vector<std::string> forms_of(const calendar_day& when) {
  const std::string year = std::to_string(when.year);
  const std::string month = two_digits(when.month);
  const std::string day = two_digits(when.day);
  std::vector<std::string> forms{year + "-" + month + "-" + day, year + "/" + month + "/" + day,
                                 month + "/" + day + "/" + year, day + "/" + month + "/" + year,
                                 day + "." + month + "." + year};
  const std::string_view name = months.at(when.month - 1);
  for (const auto& word : {std::string(name), std::string(name.substr(0, 3))}) {
    for (const auto& number : {day, std::to_string(when.day)}) {
      forms.push_back(number + " " + word + " " + year);
      forms.push_back(word + " " + number + ", " + year);
      forms.push_back(word + " " + number + " " + year);
    }
  }
  return forms;
}

}  // namespace

calendar_day today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return {local.tm_year + 1900, static_cast<unsigned>(local.tm_mon + 1),
          static_cast<unsigned>(local.tm_mday)};
}

bool shows_day(std::string_view text, const calendar_day& day) {
  return std::ranges::any_of(
      forms_of(day), [&](const std::string& form) { return text.find(form) != std::string_view::npos; });
}

}  // namespace evalcore::engine
