#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/history.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/pool/options.hpp>
#include <evalcore/run/episode.hpp>
#include <evalcore/run/store.hpp>

namespace evalcore::run {

struct episode_options {
  /// What these episodes are of, so that a store can hold several suites: a name, with a version or a hash of
  /// the tasks and of whatever else a reply depends on that no request shows.
  std::string suite;
  /// How requests go out. At most `pool.max_in_flight` episodes are under way at each endpoint, and no more
  /// than it has slots where its cache is per slot; an adaptive pool may have up to `highest_tried`.
  pool::options pool;
  episode_limits limits;            ///< Of each episode.
  std::string options_json = "{}";  ///< For the store: what the user asked for, without secrets.
};

/// What the host is told. Which members count is said at each kind; `episode`, `id` and `epoch` always do.
/// More kinds may come.
struct episode_event {
  enum class kind : std::uint8_t {
    replied,   ///< `turn`, `reply`, `reused`. The host answers with next(), end() or cancel().
    diverged,  ///< From `turn` on the requests are not those of an earlier process: `dropped` stored turns
               ///< are gone, and what comes from here on is asked anew. Nothing to answer.
    stopped,   ///< There will be no further turn: `why`, `failure`. The host answers with end() or cancel().
    finished,  ///< An earlier process has ended it: `outcome_json` as it was given. Nothing to answer.
  };
  kind what = kind::replied;
  episode_number episode = 0;
  std::string id;
  std::uint32_t epoch = 0;
  std::uint32_t turn = 0;  ///< From 1.
  chat::reply reply;
  bool reused = false;  ///< From the store: nothing was sent.
  std::uint64_t dropped = 0;
  episode_end why = episode_end::done;
  std::optional<error> failure;  ///< Where `why` is `errored` or `context`.
  std::string outcome_json;
};

/// What a run of episodes came to. Tokens are of the replies to what this process sent; absent is unknown.
struct episode_figures {
  std::uint64_t begun = 0;                     ///< By begin().
  std::map<episode_end, std::uint64_t> ended;  ///< By why; those finished before count as `done`.
  std::uint64_t finished_before = 0;           ///< Of these, those that an earlier process had ended.
  std::uint64_t left = 0;                      ///< Neither ended nor given up.
  std::uint64_t sent = 0;                      ///< Requests, retries included.
  std::uint64_t retried = 0;
  std::uint64_t replies = 0;
  std::uint64_t reused = 0;    ///< Replies from the store.
  std::uint64_t diverged = 0;  ///< Episodes whose requests were not those of an earlier process.
  std::optional<std::uint64_t> prompt_tokens;
  std::optional<std::uint64_t> cached_tokens;
  std::optional<std::uint64_t> completion_tokens;
  std::uint64_t possibly_paid_twice = 0;  ///< Turns that were out when an earlier process was killed.
  double wall_s = 0;
};

/// As the store keeps them in runs.summary; docs/episodes.md names the members.
[[nodiscard]] std::string to_json(const episode_figures& of);

/// Conversations whose next request depends on the last reply: agents with tools, simulated users. The host
/// begins episodes, polls for events and answers each; whatever else there is to a turn (a user, a tool, a
/// judge) is the host's. Turns of one episode follow each other; of all episodes, as many are under way as
/// the options allow. One that has begun goes on before another begins, with the slot or the endpoint that
/// has its prefix in the cache.
///
/// Each reply is committed to the store before the host hears of it. In a later process the same calls meet
/// the same events: as long as an episode's requests are those of before, byte for byte, its replies come
/// from the store and nothing is sent; the host's user and tools come back to where they were on the way.
/// Requests that differ are sent, and what was stored after them is dropped. An episode that was ended is
/// `finished` at once, if its first request is the same.
///
/// Failed requests are sent again by the pool's rules. One that fails for good stops its episode, not the
/// others; the store does not count it as ended.
///
/// Threads: any, for all but the destructor, which must not run on the loop; poll() and finish() by one at a
/// time. Nothing of the host's is called. Loop, backends and store must outlive it; the store is for it alone
/// meanwhile.
///
/// Errors of every call but poll()'s own: not_found for an episode that is unknown or over; storage, after
/// which everything is cancelled and each call gives that error.
class episodes {
 public:
  /// `endpoints`: at least one, all of the same model. Errors: storage; invalid_argument without an endpoint
  /// or a suite.
  [[nodiscard]] static result<std::unique_ptr<episodes>> open(net::loop& owner,
                                                              std::vector<backend::backend*> endpoints,
                                                              store& into, episode_options how);
  /// What is out is cancelled.
  ~episodes();
  episodes(const episodes&) = delete;
  episodes& operator=(const episodes&) = delete;

  /// Begins an episode with its first request; `id` and `epoch` name it in the store. It waits in memory
  /// until there is room, so a host with very many begins some as others end. Errors: invalid_argument when
  /// it is under way already; what backend::check() says of the request.
  result<episode_number> begin(const std::string& id, chat::request first, std::uint32_t epoch = 0);
  /// Goes on: what was asked and the reply stay as they are, and `turns` follow (the results of all calls, or
  /// what a user says). Errors: invalid_argument unless the episode waits for an answer to `replied`; what
  /// backend::check() says of the request, and it waits still.
  result<void> next(episode_number which, std::vector<chat::message> turns);
  /// Goes on with a request of the host's own making, for a host that shortens or edits its history. What it
  /// has in common with the last one is all that a cache can reuse.
  result<void> next(episode_number which, chat::request whole);
  /// Adds to what the episode has cost. Told again on resume, with the replies.
  result<void> add_cost(episode_number which, double cost);
  /// Ends an episode that waits for an answer. `outcome_json` is kept for the host (a score, a final state);
  /// empty: there is none. Errors: invalid_argument when it is no JSON, or a request is out.
  result<void> end(episode_number which, const std::string& outcome_json);
  /// Gives an episode up, whatever it does. There are no events of it after that.
  result<void> cancel(episode_number which);

  /// The next event; nothing when `timeout` passed first or wake() was called. Errors: storage.
  result<std::optional<episode_event>> poll(std::chrono::milliseconds timeout);
  /// Unblocks one poll(): the one that waits, else the next that would wait.
  void wake();

  /// Episodes that were begun and that end() or cancel() has not let go of, and finished ones that poll() has
  /// not told of yet. While there are any, poll() has something to come.
  [[nodiscard]] std::size_t running() const;
  /// What an episode has used so far.
  [[nodiscard]] result<episode_use> use_of(episode_number which) const;

  /// Cancels what is out, closes the run in the store, and says what it came to. Every later call gives
  /// `closed`.
  result<episode_figures> finish();

 private:
  class impl;
  explicit episodes(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

}  // namespace evalcore::run
