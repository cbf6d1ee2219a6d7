#pragma once

#include <string>
#include <string_view>

#include <evalcore/base/result.hpp>
#include <evalcore/chat/reply.hpp>
#include <evalcore/run/store.hpp>
#include <evalcore/score/scorer.hpp>

namespace evalcore::run {

/// A reply as the store keeps it: JSON text with every field, unknown ones left out.
[[nodiscard]] std::string encode_reply(const chat::reply& reply);
/// Errors: bad_reply when the text was not written by encode_reply().
[[nodiscard]] result<chat::reply> decode_reply(std::string_view text);

/// What tells a row that was changed on the disk: SHA-256 over its keys and its content.
[[nodiscard]] std::string reply_checksum(std::string_view item_key, std::string_view cache_key,
                                         std::string_view body);
[[nodiscard]] std::string verdict_checksum(std::string_view item_key, std::string_view cache_key,
                                           const score::verdict& verdict);

}  // namespace evalcore::run
