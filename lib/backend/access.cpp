#include "backend/access.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <optional>

#include <evalcore/base/limits.hpp>

#include "backend/command_output.hpp"
#include "backend/spawn.hpp"

namespace evalcore::backend {
namespace {

constexpr auto command_patience = std::chrono::seconds(30);
// Shorter values occur by chance in what a server says; nothing that is to be kept secret is that short.
constexpr std::size_t shortest_secret = 4;
constexpr std::size_t shortest_part = 8;  // Of a value; shorter ones are ordinary words.

error wrong(std::string what) { return fail(errc::invalid_argument, stage::config, std::move(what)); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

result<std::string> clean_key(std::string_view held, const std::string& source) {
  const auto key = trimmed(held);
  if (key.empty()) return wrong(source + " is empty");
  if (!printable(key)) {
    return wrong(source + " holds a line break or another character that no header may hold");
  }
  return std::string(key);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) {
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

bool same_name(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(left, right, {}, lower, lower);
}

bool is_token(std::string_view name) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
  });
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view safe = "-._~";
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        safe.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += {'%', hex[byte >> 4U], hex[byte & 15U]};
    }
  }
  return out;
}

/// The value, read from the environment where it says so. `what` names it in messages.
result<std::string> value_of(const named_value& one, const std::string& what) {
  constexpr std::string_view from_environment = "env:";
  if (!one.value.starts_with(from_environment)) return one.value;
  const auto variable = one.value.substr(from_environment.size());
  const char* held = std::getenv(variable.c_str());  // NOLINT(concurrency-mt-unsafe)
  if (held == nullptr) return wrong("the environment variable of " + what + " is not set");
  return std::string(trimmed(held));
}

result<std::string> header_value(const named_value& one) {
  constexpr std::array<std::string_view, 5> own = {"host", "content-length", "connection",
                                                   "transfer-encoding", "expect"};
  if (!is_token(one.name)) return wrong("a header's name holds a character that none may hold");
  const auto what = "the header " + one.name;
  if (std::ranges::any_of(own, [&](auto name) { return same_name(name, one.name); })) {
    return wrong(what + " cannot be set: evalcore sets it itself");
  }
  auto value = value_of(one, what);
  if (value && !printable(*value)) {
    return wrong(what + " holds a line break or another character that no header may hold");
  }
  return value;
}

result<std::string> run_key_command(const std::string& command, const std::stop_token& stop) {
  const auto printed = command_output(split(command), command_patience, stop);
  if (printed) return clean_key(*printed, "what the command of --api-key-command prints");
  auto why = printed.error();
  if (why.code == errc::backend_fault || why.code == errc::timeout) why.code = errc::auth;
  why.message = "no API key from --api-key-command: " + why.message;
  return why;
}

std::vector<std::string> split_at(std::string_view text, std::string_view marks) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < text.size();) {
    const auto to = std::min(text.find_first_of(marks, from), text.size());
    if (to > from) parts.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

/// Words are cut to a length before they come here: the front of a secret may be what they end with.
void hide_cut_secret(std::string& text, const std::string& secret) {
  constexpr std::size_t telling = 4;  // Fewer characters give nothing away and are found in ordinary words.
  for (std::size_t length = secret.size(); length >= telling; --length) {
    if (!text.ends_with(std::string_view(secret).substr(0, length))) continue;
    text.replace(text.size() - length, length, "[hidden]");
    return;
  }
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

result<std::string> read_api_key(const std::string& variable) {
  const char* held = std::getenv(variable.c_str());  // NOLINT(concurrency-mt-unsafe)
  if (trimmed(held == nullptr ? "" : held).empty()) {
    return wrong("the environment variable " + variable + " is to hold the API key but is not set");
  }
  return clean_key(held, "the API key in the environment variable " + variable);
}

result<std::string> read_api_key_file(const std::string& path) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const auto code = errno == ENOENT ? errc::not_found : errc::invalid_argument;
    return fail(code, stage::config, "cannot read the API key's file " + path);
  }
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return wrong("the API key's file " + path + " is no regular file");
  }
  if ((facts.st_mode & 0077U) != 0) {
    return wrong("others can read the API key's file " + path + "; run `chmod 600` on it");
  }
  std::string held(limits::process_log_bytes, '\0');
  const ssize_t got = ::read(file.get(), held.data(), held.size());
  held.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return clean_key(held, "the API key's file " + path);
}

result<std::shared_ptr<const access>> access::open(const credentials& from, credentials::placement usual,
                                                   const std::stop_token& stop) {
  const int sources = !from.key_env.empty() + !from.key_file.empty() + !from.key_command.empty();
  if (sources > 1) {
    return wrong("name one source of the API key: an environment variable, a file or a command");
  }
  const std::shared_ptr<access> made(new access);
  made->from_ = from;
  made->bearer_ =
      (from.where == credentials::placement::usual ? usual : from.where) != credentials::placement::x_api_key;
  for (const auto& one : from.headers) {
    auto value = header_value(one);
    if (!value) return value.error();
    made->keep_forms(*value);
    // "Bearer KEY", "name=KEY; …": a server may repeat the key alone.
    for (const auto& part : split_at(*value, " ;,=")) {
      if (part.size() >= shortest_part) made->keep_forms(part);
    }
    made->headers_.emplace_back(one.name, *std::move(value));
  }
  for (const auto& one : from.query) {
    auto value = value_of(one, "the query parameter " + one.name);
    if (!value) return value.error();
    made->query_ +=
        (made->query_.empty() ? "" : "&") + percent_encoded(one.name) + "=" + percent_encoded(*value);
    made->keep_forms(*value);
  }
  if (sources == 0) return std::shared_ptr<const access>(made);
  auto key = !from.key_env.empty()    ? read_api_key(from.key_env)
             : !from.key_file.empty() ? read_api_key_file(from.key_file)
                                      : run_key_command(from.key_command, stop);
  if (!key) return key.error();
  made->source_ = "the API key " + (!from.key_env.empty()    ? "in " + from.key_env
                                    : !from.key_file.empty() ? "in " + from.key_file
                                                             : std::string("of --api-key-command"));
  made->hold(*std::move(key));
  if (!from.key_command.empty()) {
    made->refresher_ =
        std::jthread([self = made.get()](const std::stop_token& enough) { self->refresh(enough); });
  }
  return std::shared_ptr<const access>(made);
}

void access::keep_secret(const std::string& value) {
  if (value.size() < shortest_secret || std::ranges::find(secrets_, value) != secrets_.end()) return;
  secrets_.push_back(value);
  // The longest first, so that none leaves the rest of another behind.
  std::ranges::sort(secrets_, std::ranges::greater(), &std::string::size);
}

/// As it is, and as a server may write it: in a URL, or in JSON with "/" escaped.
void access::keep_forms(const std::string& value) {
  keep_secret(value);
  keep_secret(percent_encoded(value));
  auto escaped = value;
  replace_all(escaped, "/", "\\/");
  keep_secret(escaped);
}

void access::hold(std::string key) {
  const std::lock_guard lock(guarded_);
  keep_forms(key);
  key_ = std::move(key);
}

// By the clock and not by the requests, so that none has to wait and none goes out with a key that expired
// while nothing was sent.
void access::refresh(const std::stop_token& enough) {
  std::mutex unused;
  std::condition_variable_any never;
  for (;;) {
    std::unique_lock lock(unused);
    never.wait_for(lock, enough, from_.key_lifetime, [] { return false; });
    if (enough.stop_requested()) return;
    if (auto key = run_key_command(from_.key_command, enough)) hold(*std::move(key));
  }
}

void access::sign(net::http_request& request) const {
  if (!query_.empty()) {
    request.target += (request.target.find('?') == std::string::npos ? '?' : '&') + query_;
  }
  if (!source_.empty()) {
    std::unique_lock lock(guarded_, std::defer_lock);
    if (refresher_.joinable()) lock.lock();  // Else the key stays the same.
    if (bearer_) {
      request.headers.emplace_back("Authorization", "Bearer " + key_);
    } else {
      request.headers.emplace_back("x-api-key", key_);
    }
  }
  for (const auto& one : headers_) {
    std::erase_if(request.headers, [&](const auto& other) { return same_name(other.first, one.first); });
    request.headers.push_back(one);
  }
}

error access::without_secrets(error failure) const {
  failure.message = without_secrets(std::move(failure.message));
  failure.backend_words = without_secrets(std::move(failure.backend_words));
  return failure;
}

std::string access::without_secrets(std::string said) const {
  std::unique_lock lock(guarded_, std::defer_lock);
  if (refresher_.joinable()) lock.lock();  // Else no secret comes after those that were read first.
  for (const auto& secret : secrets_) {
    replace_all(said, secret, "[hidden]");
    hide_cut_secret(said, secret);
  }
  return said;
}

}  // namespace evalcore::backend
