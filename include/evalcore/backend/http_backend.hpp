#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include <evalcore/backend/ask_again.hpp>
#include <evalcore/backend/backend.hpp>
#include <evalcore/backend/credentials.hpp>
#include <evalcore/base/result.hpp>
#include <evalcore/net/http_client.hpp>
#include <evalcore/net/loop.hpp>
#include <evalcore/net/tls_options.hpp>
#include <evalcore/wire/anthropic_messages.hpp>
#include <evalcore/wire/dialect.hpp>

namespace evalcore::backend {

/// Which of OpenAI's APIs a server is asked through.
enum class openai_api : std::uint8_t {
  chat,         ///< /v1/chat/completions
  responses,    ///< /v1/responses
  completions,  ///< /v1/completions: the text of the only turn stands as it is, without a template
};

struct http_options {
  std::string base_url;                 ///< With or without /v1, for example http://127.0.0.1:8080/v1.
  std::string model;                    ///< Empty: the only one that the server lists.
  const wire::dialect* ways = nullptr;  ///< Null: generic for OpenAI's API, anthropic for Anthropic's.
  net::deadlines deadlines;             ///< Of each chat request.
  net::tls_options tls;                 ///< For an https URL.
  credentials opens;
  bool stream = true;  ///< Ask for streamed answers, which is what makes a first token visible.
  /// OpenAI's APIs only.
  openai_api api = openai_api::chat;
  ask_again again;  ///< While it is being connected to.
  /// Anthropic's API only.
  wire::anthropic_version version = wire::anthropic_version::v2023_06_01;
};

/// A server that is running already and speaks one of OpenAI's APIs. Returns when it answered that it
/// is ready and, where it can tell, what it runs.
///
/// Errors: invalid_argument (the URL, the credentials, no model named among several, the Responses API of a
/// server that has no usable one by its dialect), not_found (the key's
/// file or command), transport, timeout, auth, overloaded (still loading), cancelled (`stop`), bad_reply.
/// Threads: call from any but the loop, it blocks; destroy on any, before the loop.
[[nodiscard]] result<std::unique_ptr<backend>> connect_openai_url(net::loop& owner, const http_options& how,
                                                                  std::stop_token stop = {});

/// The same for a server that speaks Anthropic's messages.
[[nodiscard]] result<std::unique_ptr<backend>> connect_anthropic_url(net::loop& owner,
                                                                     const http_options& how,
                                                                     std::stop_token stop = {});

}  // namespace evalcore::backend
