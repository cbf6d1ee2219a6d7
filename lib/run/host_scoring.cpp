#include "run/host_scoring.hpp"

#include <chrono>
#include <string_view>
#include <utility>

namespace evalcore::run {
namespace {

/// Questions that are out at once, each with a reply.
constexpr std::size_t most_asked = 256;
constexpr auto waits = std::chrono::milliseconds(200);
/// Apart from the names of the library's own scorers.
constexpr std::string_view mark = "host:";

class by_host : public score::scorer {
 public:
  explicit by_host(const std::string& name) : name_(std::string(mark) + name) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::string_view metric() const noexcept override {
    return std::string_view(name_).substr(mark.size());
  }
  [[nodiscard]] result<void> check(const score::task&) const override { return {}; }
  [[nodiscard]] score::verdict score(const score::task&, const chat::reply&) const override { return {}; }

 private:
  std::string name_;
};

}  // namespace

std::shared_ptr<const score::scorer> scored_by_host(const std::string& name) {
  return std::make_shared<by_host>(name);
}

bool is_hosts(const score::scorer& one) noexcept { return one.name().starts_with(mark); }

result<void> host_scoring::wants(std::size_t position, const item& one, const item_record& record,
                                 const chat::reply& reply) {
  if (waiting_.empty() && asked_.size() < most_asked) return ask(position, one, record, reply);
  waiting_.push_back({position, record.epoch});
  return {};
}

result<void> host_scoring::go_on() {
  if (auto kept = keep(); !kept) return kept;
  return ask();
}

result<void> host_scoring::finish(const std::stop_token& stop,
                                  const std::function<result<void>()>& meanwhile) {
  auto went = keep();
  while (went && !stop.stop_requested() && !(waiting_.empty() && asked_.empty())) {
    if (went = ask(); !went) break;
    who_.wait(waits, stop);
    if (went = keep(); went) went = meanwhile();
  }
  who_.close();
  if (went) went = keep();  // What was given, and taken from the host, in the last moment.
  give_up();
  return went;
}

result<void> host_scoring::keep() {
  for (auto& [ticket, what] : who_.take()) {
    const auto found = asked_.find(ticket);
    if (auto kept = keep(found->second, what); !kept) return kept;
    asked_.erase(found);
  }
  return {};
}

result<void> host_scoring::keep(const question& of, const score::verdict& what) {
  if (auto kept = run_.into.put_verdict(of.record, what); !kept) return kept;
  if (!what.scored && !std::exchange(told_unscored_, true)) {
    run_.watch.note("item \"" + of.record.item_id + "\" was not scored: " + what.reason);
  }
  if (of.where.epoch == 0) run_.counts.verdict(of.category, *run_.scorers.for_all(), what);
  if (of.reply) run_.pairs->came(of.where.position, *of.reply, what);
  return {};
}

result<void> host_scoring::ask() {
  while (!waiting_.empty() && asked_.size() < most_asked) {
    if (auto asked = ask_from_store(waiting_.front()); !asked) return asked;
    waiting_.pop_front();
  }
  return {};
}

result<void> host_scoring::ask_from_store(const place& where) {
  const auto what = run_.read(where.position, where.epoch);
  if (!what) return what.error();
  const auto stored = run_.into.find(what->record);
  if (!stored) return stored.error();
  return ask(where.position, what->one, what->record, stored->value().reply);
}

result<void> host_scoring::ask(std::size_t position, const item& one, const item_record& record,
                               const chat::reply& reply) {
  auto line = run_.from.line(position);
  if (!line) return std::move(line).error();
  question kept{{position, record.epoch}, record, one.category, std::nullopt};
  if (run_.asks_twice(position)) kept.reply = reply;
  const auto ticket = who_.ask({.item_id = one.id,
                                .epoch = record.epoch,
                                .line = *std::move(line),
                                .target = one.target,
                                .reply = reply});
  asked_.emplace(ticket, std::move(kept));
  return {};
}

void host_scoring::give_up() {
  who_.close();
  std::uint64_t left = 0;
  for (const auto& one : waiting_) left += one.epoch == 0 ? 1 : 0;
  for (const auto& [ticket, one] : asked_) left += one.where.epoch == 0 ? 1 : 0;
  waiting_.clear();
  asked_.clear();
  if (left == 0) return;
  run_.told.unscored += left;
  run_.watch.note(std::to_string(left) +
                  " answers have no score yet; the run that goes on from here asks for them");
}

}  // namespace evalcore::run
