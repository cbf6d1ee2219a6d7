#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace evalcore::backend {

/// A header or a query parameter. A value `env:NAME` stands for what the environment variable NAME holds.
struct named_value {
  std::string name;
  std::string value;
};

/// What opens an endpoint and travels with each of its requests. None of the values stands in a message, a
/// store or a summary, also not in what a server says of them.
///
/// At most one of the three sources of the key may be named; none: no key is sent. Blanks around a key are
/// taken off; a key with a line break or another character that no header may hold is refused.
struct credentials {
  enum class placement : std::uint8_t {
    usual,      ///< As the API has it: bearer for OpenAI's, x_api_key for Anthropic's.
    bearer,     ///< `Authorization: Bearer KEY`.
    x_api_key,  ///< `x-api-key: KEY`.
  };

  std::string key_env;   ///< The name of an environment variable.
  std::string key_file;  ///< A file that only its owner can read.
  /// A program and its arguments, parted by blanks, run without a shell; what it prints on standard output is
  /// the key. It is run again whenever `key_lifetime` has passed; if it then fails, the old key stays.
  std::string key_command;
  std::chrono::milliseconds key_lifetime = std::chrono::minutes(1);
  placement where = placement::usual;

  std::vector<named_value> headers;  ///< They take the place of evalcore's own of the same name.
  std::vector<named_value> query;    ///< Added to the query of every request.
};

}  // namespace evalcore::backend
