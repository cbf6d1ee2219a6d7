#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "faults/client.hpp"

namespace evalcore::faults {

/// What was wrong with one run.
struct verdict {
  bool hang = false;     ///< Something took more than a tenth longer than its deadline.
  bool silent = false;   ///< A wrong or partial answer was given out as an answer.
  bool untyped = false;  ///< A failure without a kind, or one that says nothing.
  bool skipped = false;  ///< This machine cannot make the fault.
  std::string unkept;    ///< What else the fault's handling promises and was not so; empty: nothing.

  [[nodiscard]] bool clean() const { return !hang && !silent && !untyped && !skipped && unkept.empty(); }
};

/// Looks at what the host saw in one run.
class judge {
 public:
  /// Something that has to hold; `what` says it.
  void must(bool held, std::string_view what);
  void skip() { found_.skipped = true; }

  /// What holds whatever the fault: each item ends, in time, in a whole answer or in a failure of a kind.
  /// The other functions see to it.
  void ends(const record& seen, std::string_view text = good_text);
  /// Each item was answered; its first attempt as well.
  void answered_at_once(const record& seen);
  void answered(const record& seen);
  /// Each item's first attempt failed in one of these ways, and a later one was answered.
  void answered_after(const record& seen, std::initializer_list<errc> ways);
  /// Each item was sent `attempts` times, failed in one of these ways each time, and ended so.
  void failed(const record& seen, std::initializer_list<errc> ways, std::size_t attempts);
  /// Each item has an answer that says what was wrong with its bytes.
  void flagged(const record& seen);
  /// The deadline of this attempt passed, within a tenth of it.
  void near(const record& seen, const attempt& one, duration deadline);

  [[nodiscard]] const verdict& found() const { return found_; }

 private:
  [[nodiscard]] static bool hangs(const record& seen, duration took, duration deadline);

  verdict found_;
};

}  // namespace evalcore::faults
