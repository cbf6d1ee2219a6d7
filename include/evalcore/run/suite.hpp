#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evalcore/base/json.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/chat/request.hpp>

namespace evalcore::run {

/// One item, ready to send and to score.
struct item {
  std::string id;
  chat::request request;
  json::value target;
  /// As score::find_scorer() takes it: "exact" or "choice" unless the suite says otherwise, "bfcl" for BFCL.
  std::string scorer;
  std::string category;  ///< BFCL category, or the line's `category`, or empty.
  std::size_t line = 0;  ///< 1-based, in its file.
};

/// A suite on disk: every line is checked when it is opened, kept as an offset and read again when it is
/// asked for: 16 bytes an item, whatever the bodies and ids. Items of a plain suite up to 4 MiB are held.
///
/// Formats, plain or gzipped (told by content, not by name), LF or CRLF, blank lines skipped:
/// - plain JSONL: `id` (a string or a whole number), `messages` (as the OpenAI chat API takes them) or
///   `prompt` (one user turn), `target`, and optionally `tools` (OpenAI's form or the bare functions),
///   `scorer` ("exact", or an object with a `name` and options), `category`, `params` {temperature, top_p,
///   top_k, max_tokens, seed, stop}. Other members of a line are ignored; other members of a turn or of
///   `params` are refused, as they would change an answer. With `choices` nothing is generated: `prompt` is
///   plain text, and each choice is scored as what follows;
/// - BFCL v4: files named `BFCL_v4_<category>.json`, or lines with `question` and `function`. Temperature
///   is 0 unless the line has `params`. The answers stand in `possible_answer/` beside the file, or at
///   `answers_path` (that file, or the file of the same name in that folder); the relevance categories have
///   none, and a null target.
///
/// Threads: get() and line() from any, several at once. Lines are read from the file as it was opened; one
/// that was changed in between is an error, never another item.
class suite {
 public:
  /// Errors: not_found, storage, bad_suite (file, line number and what is missing).
  [[nodiscard]] static result<suite> open(const std::string& path, const std::string& answers_path = {});

  /// The lines of a plain JSONL suite, held in memory; `name`: what messages, path() and task() call it.
  /// Errors: bad_suite, also for BFCL's questions, whose answers stand in another file.
  [[nodiscard]] static result<suite> from_text(const std::string& name, std::string lines);

  ~suite();
  suite(suite&&) noexcept;
  suite& operator=(suite&&) noexcept;

  [[nodiscard]] std::size_t size() const noexcept;
  /// `index` < size(). Errors: storage (unreadable, or changed since open()).
  [[nodiscard]] result<item> get(std::size_t index) const;
  /// The first item that has tools; nothing where none has.
  [[nodiscard]] std::optional<std::size_t> first_with_tools() const noexcept;
  /// Its line as it stands in the file, JSON. Errors: as get().
  [[nodiscard]] result<std::string> line(std::size_t index) const;

  /// Of from_text() the name.
  [[nodiscard]] const std::string& path() const noexcept;
  /// "bfcl" for BFCL files, else the file's name without its endings.
  [[nodiscard]] const std::string& task() const noexcept;
  /// SHA-256 of the uncompressed bytes of all files of the suite.
  [[nodiscard]] const std::string& hash() const noexcept;

 private:
  struct impl;
  [[nodiscard]] static result<suite> from(std::unique_ptr<impl> state, const std::string& answers_path);
  explicit suite(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

}  // namespace evalcore::run
