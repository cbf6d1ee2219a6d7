#include <evalcore/pool/machine.hpp>

#include <algorithm>

namespace evalcore::pool {

machine::machine(options how) : how_(how) { set_max_in_flight(how.max_in_flight); }

void machine::pulled_work(item_id id) {
  asking_ = false;
  flying_.emplace(id, flight{});
  due_.emplace_back(start_work{id});
  if (cancelling_) cancel_all();
}

void machine::pulled_share() {
  asking_ = false;
  if (cancelling_) return;
  sharing_ = true;
  due_.emplace_back(start_share{});
}

void machine::source_holds() {
  asking_ = false;
  holding_ = true;
}

void machine::source_exhausted() {
  asking_ = false;
  draining_ = true;
}

void machine::first_token(item_id id) {
  if (flying_.contains(id)) holding_ = false;
}

void machine::ended(item_id id) {
  if (flying_.erase(id) == 0) return;
  std::erase_if(due_, [&](const command& one) {
    const auto* cancel = std::get_if<cancel_work>(&one);
    return cancel != nullptr && cancel->id == id;
  });
  holding_ = false;
}

void machine::share_ended() {
  sharing_ = false;
  holding_ = false;
}

void machine::drain() { draining_ = true; }

void machine::cancel_all() {
  draining_ = true;
  cancelling_ = true;
  sharing_ = false;
  std::erase_if(due_, [](const command& one) { return std::holds_alternative<start_share>(one); });
  for (auto& [id, one] : flying_) {
    if (!one.cancelling) due_.emplace_back(cancel_work{.id = id, .why = errc::cancelled});
    one.cancelling = true;
  }
}

void machine::set_max_in_flight(std::uint32_t bound) {
  how_.max_in_flight = std::max(bound, std::uint32_t{1});
}

bool machine::wants_more() const noexcept {
  return !draining_ && !sharing_ && !holding_ && flying_.size() < how_.max_in_flight;
}

std::optional<command> machine::step(instant now) {
  if (!due_.empty()) {
    const command next = due_.front();
    due_.pop_front();
    const auto* start = std::get_if<start_work>(&next);
    if (start != nullptr && how_.total_deadline > duration::zero()) {
      flying_.at(start->id).deadline = now + how_.total_deadline;
    }
    return next;
  }
  for (auto& [id, one] : flying_) {
    if (one.cancelling || !one.deadline || *one.deadline > now) continue;
    one.cancelling = true;
    return cancel_work{.id = id, .why = errc::timeout};
  }
  if (asking_ || reported_) return std::nullopt;
  if (wants_more()) {
    asking_ = true;
    return ask_source{};
  }
  if (!flying_.empty() || sharing_) return std::nullopt;
  if (!draining_) {
    // Only `holding_` is left as a reason, and no event will clear it.
    draining_ = true;
    return report_stuck{};
  }
  reported_ = true;
  return report_drained{};
}

std::optional<instant> machine::next_deadline() const {
  std::optional<instant> next;
  for (const auto& [id, one] : flying_) {
    if (one.deadline && !one.cancelling && (!next || *one.deadline < *next)) next = one.deadline;
  }
  return next;
}

std::size_t machine::in_flight() const noexcept { return flying_.size(); }

}  // namespace evalcore::pool
