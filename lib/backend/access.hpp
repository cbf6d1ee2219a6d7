#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <evalcore/backend/credentials.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>

namespace evalcore::backend {

/// Credentials that were read and checked, and the one place that knows their values. Every function from
/// any thread.
class access {
 public:
  /// Blocks while the key's command runs. `usual` is where the API has its key.
  /// Errors: invalid_argument and not_found, naming the source and never a value; auth for a command that
  /// fails; cancelled.
  [[nodiscard]] static result<std::shared_ptr<const access>> open(const credentials& from,
                                                                  credentials::placement usual,
                                                                  const std::stop_token& stop = {});
  access(const access&) = delete;
  access& operator=(const access&) = delete;

  /// Adds the headers, the key and the query.
  void sign(net::http_request& request) const;
  /// Takes every value, former keys included, out of what a server said.
  [[nodiscard]] error without_secrets(error failure) const;
  [[nodiscard]] std::string without_secrets(std::string said) const;
  /// For messages: "the API key in NAME"; empty when there is no key.
  [[nodiscard]] const std::string& key_source() const noexcept { return source_; }

 private:
  access() = default;
  void keep_secret(const std::string& value);
  void keep_forms(const std::string& value);
  void hold(std::string key);
  void refresh(const std::stop_token& enough);

  credentials from_;
  std::string source_;
  bool bearer_ = true;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::string query_;  ///< Encoded, without '?'.

  mutable std::mutex guarded_;
  std::string key_;
  std::vector<std::string> secrets_;
  std::jthread refresher_;  ///< Last: it uses all of the above.
};

/// The key that the environment variable `variable` holds. Errors: invalid_argument.
[[nodiscard]] result<std::string> read_api_key(const std::string& variable);

/// The key in a file of the user's own. Errors: not_found, invalid_argument (others can read it).
[[nodiscard]] result<std::string> read_api_key_file(const std::string& path);

}  // namespace evalcore::backend
