#include <evalcore/run/planning.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <evalcore/wire/dialect.hpp>

namespace evalcore::run {
namespace {

/// Requests for tokens that are out at one time: enough to hide a round trip, few enough for any server.
constexpr std::size_t tokenize_window = 8;
/// Items whose tokens are asked for before they are planned.
constexpr std::size_t items_tokenized_together = 1024;
/// Bounds what planning takes beside its result.
constexpr std::uint32_t items_planned_together = 1'000'000;
constexpr std::size_t tokens_planned_together = 4'000'000;

std::string as_bytes(const chat::request& request) {
  std::string text;
  for (const auto& tool : request.tools) {
    text += '\x1d' + tool.name + '\x1f' + tool.description + '\x1f' + tool.parameters;
  }
  for (const auto& turn : request.messages) {
    text += '\x1e';
    text += chat::name(turn.who);
    text += '\x1f' + turn.call_id + '\x1f' + turn.text;
    for (const auto& call : turn.calls) text += '\x1c' + call.name + '\x1f' + call.arguments;
    for (const auto& url : turn.image_urls) text += '\x1b' + url;
  }
  return text;
}

/// `to`: who would refuse it; null: nobody.
result<chat::request> request_of(const suite& from, std::size_t index, const request_options& how,
                                 const backend::backend* to = nullptr) {
  auto one = from.get(index);
  if (!one) return std::move(one).error();
  auto request = prepare(*one, how);
  if (!request || to == nullptr) return request;
  if (const auto takes = to->check(*request); !takes) {
    return fail(errc::bad_suite, stage::suite,
                from.path() + ":" + std::to_string(one->line) + ": " + takes.error().message);
  }
  return request;
}

/// Prompts as bytes, read again when they are asked for; those that were asked for last are at hand.
class byte_prompts {
 public:
  byte_prompts(const suite& from, const std::vector<std::uint32_t>& indices, const request_options& how,
               const backend::backend* to)
      : from_(from), indices_(indices), how_(how), to_(to) {}

  result<std::string> read(std::uint32_t at) const {
    auto request = request_of(from_, indices_[at], how_, to_);
    if (!request) return std::move(request).error();
    return as_bytes(*request);
  }
  /// Empty where it can no longer be read.
  std::string_view again(std::uint32_t at) {
    if (const auto found = held_.find(at); found != held_.end()) return found->second;
    auto text = read(at);
    if (!text) {
      if (!failure_) failure_ = std::move(text).error();
      return {};
    }
    return hold(at, *std::move(text));
  }
  std::string_view hold(std::uint32_t at, std::string text) {
    if (held_bytes_ + text.size() > at_hand) {
      held_.clear();
      held_bytes_ = 0;
    }
    held_bytes_ += text.size();
    return held_.insert_or_assign(at, std::move(text)).first->second;
  }
  [[nodiscard]] const std::optional<error>& failure() const { return failure_; }

 private:
  static constexpr std::size_t at_hand = std::size_t{4} << 20U;

  const suite& from_;
  const std::vector<std::uint32_t>& indices_;
  const request_options& how_;
  const backend::backend* to_;
  std::unordered_map<std::uint32_t, std::string> held_;
  std::size_t held_bytes_ = 0;
  std::optional<error> failure_;
};

result<prefix::plan> plan_bytes(const suite& from, const std::vector<std::uint32_t>& indices,
                                const request_options& how, const prefix::options& order,
                                const backend::backend* to) {
  byte_prompts prompts(from, indices, how, to);
  prefix::planner making(prefix::planner::units::bytes, order,
                         [&prompts](std::uint32_t at) { return prompts.again(at); });
  for (std::uint32_t at = 0; at < indices.size(); ++at) {
    if (at > 0 && at % items_planned_together == 0) making.cut();
    auto text = prompts.read(at);
    if (!text) return std::move(text).error();
    making.add(*text);
    prompts.hold(at, *std::move(text));
  }
  auto made = making.finish();
  if (prompts.failure()) return *prompts.failure();
  return made;
}

/// Several answers on their way, collected for one waiting thread.
class tokenizing {
 public:
  explicit tokenizing(std::size_t count) : units_(count), known_(count, false) {}

  void expect() {
    const std::lock_guard lock(mutex_);
    ++out_;
  }
  void arrived(std::size_t at, result<std::vector<backend::token>> tokens) {
    const std::lock_guard lock(mutex_);
    --out_;
    if (tokens) {
      units_[at].assign(tokens->begin(), tokens->end());
      known_[at] = true;
    } else if (!failure_) {
      failure_ = std::move(tokens).error();
    }
    changed_.notify_all();
  }
  /// Waits until fewer than `bound` are out; false when it is time to give up.
  bool wait_below(std::size_t bound, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return out_ < bound; });
    return !failure_ && !stop.stop_requested();
  }
  /// The first failure since the last call.
  std::optional<error> failure() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failure_, std::nullopt);
  }
  bool knows(std::size_t at) {
    const std::lock_guard lock(mutex_);
    return known_[at];
  }
  std::vector<prefix::sequence> take() { return std::move(units_); }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t out_ = 0;
  std::optional<error> failure_;
  std::vector<prefix::sequence> units_;
  std::vector<bool> known_;
};

result<std::vector<prefix::sequence>> tokens_of(const suite& from, std::span<const std::uint32_t> indices,
                                                const request_options& how, net::loop& owner,
                                                backend::backend& to, const backend::ask_again& again,
                                                const std::stop_token& stop) {
  const auto pending = std::make_shared<tokenizing>(indices.size());
  const auto ask_for_rest = [&]() -> result<void> {
    for (std::size_t at = 0; at < indices.size(); ++at) {
      if (pending->knows(at)) continue;
      auto request = request_of(from, indices[at], how, &to);
      if (!request) return std::move(request).error();
      if (!pending->wait_below(tokenize_window, stop)) break;
      pending->expect();
      owner.post([&to, pending, at, asked = *std::move(request)] {
        to.tokenize(asked, [pending, at](result<std::vector<backend::token>> tokens) {
          pending->arrived(at, std::move(tokens));
        });
      });
    }
    pending->wait_below(1, stop);
    if (stop.stop_requested()) return fail(errc::cancelled, stage::start, "interrupted while planning");
    if (auto failure = pending->failure()) return *std::move(failure);
    return {};
  };
  if (auto asked = backend::ask_patiently(again, stop, ask_for_rest); !asked) return asked.error();
  return pending->take();
}

result<bool> ask_for_tools(const std::vector<chat::tool>& tools, net::loop& owner, backend::backend& to,
                           const std::stop_token& stop) {
  struct answer {
    std::mutex mutex;
    std::condition_variable_any came;
    std::optional<result<bool>> reaches;
  };
  const auto pending = std::make_shared<answer>();
  owner.run_and_wait([&] {
    to.check_tools(tools, [pending](result<bool> reaches) {
      const std::lock_guard lock(pending->mutex);
      pending->reaches = std::move(reaches);
      pending->came.notify_all();
    });
  });
  std::unique_lock lock(pending->mutex);
  if (!pending->came.wait(lock, stop, [&] { return pending->reaches.has_value(); })) {
    return fail(errc::cancelled, stage::start, "interrupted while asking whether tools reach the model");
  }
  return *pending->reaches;
}

}  // namespace

result<tools_mode> choose_tools_mode(tools_mode asked, const suite& from, net::loop& owner,
                                     backend::backend& to,
                                     const std::function<void(const std::string&)>& note,
                                     const backend::ask_again& again, const std::stop_token& stop) {
  if (asked != tools_mode::automatic) return asked;
  const auto first = from.first_with_tools();
  if (!first) return tools_mode::native;
  const auto request = request_of(from, *first, {});
  if (!request) return request.error();
  const auto& tools = request->tools;

  if (to.can().tools == backend::ability::no) {
    note(
        "the backend takes no tools: they go as text into the system turn, and calls are read from the text");
    return tools_mode::text;
  }
  const auto reaches =
      backend::ask_patiently(again, stop, [&] { return ask_for_tools(tools, owner, to, stop); });
  if (!reaches) {
    if (reaches.error().code != errc::unsupported) return reaches.error();
    note(
        "whether the backend hands tools to the model could not be told; they are sent as the API takes "
        "them");
    return tools_mode::native;
  }
  if (*reaches) return tools_mode::native;
  note(
      "the backend drops `tools` silently (the prompt has the same tokens with and without them): they go as "
      "text "
      "into the system turn, and calls are read from the text");
  return tools_mode::text;
}

void deal(const suite& from, std::vector<std::uint32_t>& indices) {
  const auto seed = std::stoull(from.hash().substr(0, 16), nullptr, 16);
  auto places = prefix::deal(static_cast<std::uint32_t>(indices.size()), seed);
  for (auto& place : places) place = indices[place];
  indices = std::move(places);
}

result<prefix::plan> plan_items(const suite& from, const std::vector<std::uint32_t>& indices,
                                const request_options& how, const prefix::options& order) {
  return plan_bytes(from, indices, how, order, nullptr);
}

result<prefix::plan> plan_items(const suite& from, const std::vector<std::uint32_t>& indices,
                                const request_options& how, const prefix::options& order, net::loop& owner,
                                backend::backend& to, const backend::ask_again& again,
                                const std::stop_token& stop) {
  backend::capabilities can;
  owner.run_and_wait([&] { can = to.can(); });
  if (can.tokenize != backend::ability::yes) return plan_bytes(from, indices, how, order, &to);

  std::vector<prefix::sequence> held;  // Of this window.
  std::size_t held_tokens = 0;
  std::size_t base = 0;
  const auto bytes_of = [](const prefix::sequence& tokens) {
    return std::string_view(reinterpret_cast<const char*>(tokens.data()),
                            tokens.size() * sizeof(prefix::unit));
  };
  prefix::planner making(prefix::planner::units::tokens, order,
                         [&](std::uint32_t at) { return bytes_of(held[at - base]); });
  for (std::size_t begin = 0; begin < indices.size();) {
    const auto count = std::min(items_tokenized_together, indices.size() - begin);
    auto tokens = tokens_of(from, std::span(indices).subspan(begin, count), how, owner, to, again, stop);
    if (!tokens) return std::move(tokens).error();
    for (auto& prompt : *tokens) {
      held_tokens += prompt.size();
      held.push_back(std::move(prompt));
      making.add(bytes_of(held.back()));
    }
    begin += count;
    if (held_tokens < tokens_planned_together) continue;
    making.cut();
    held.clear();
    held_tokens = 0;
    base = begin;
  }
  return making.finish();
}

prefix::cache_model cache_model_of(const backend::backend& to, bool use_prompt_cache,
                                   std::uint32_t concurrency) {
  const auto can = to.can();
  prefix::cache_model cache;
  cache.enabled = use_prompt_cache;
  if (can.slot_pinning == backend::ability::yes && to.about().slots) {
    cache.slots = std::min(*to.about().slots, concurrency);
    cache.can_share = can.share_prefix == backend::ability::yes;
  }
  const auto* ways = wire::find_dialect(to.about().dialect);
  if (to.about().cache || ways != nullptr) {
    const auto& facts = to.about().cache ? *to.about().cache : ways->cache;
    cache.enabled = cache.enabled && facts.keeps;
    cache.shares_in_flight = facts.shares_in_flight;
    cache.page = facts.page;
    cache.least = facts.least;
    if (facts.entries > 0) cache.entries = facts.entries;
    if (facts.lives_s > 0) cache.lives = std::chrono::seconds(facts.lives_s);
  }
  return cache;
}

}  // namespace evalcore::run
