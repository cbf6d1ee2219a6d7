#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <evalcore/base/hash.hpp>
#include <evalcore/chat/request.hpp>
#include <evalcore/run/prepare.hpp>

#include "run/episode_store.hpp"

namespace evalcore::run {

/// A suite of episodes has no file: its name stands for it.
inline std::string suite_hash_of(const std::string& suite) { return sha256().piece(suite).hex(); }

/// The same episode of another model or backend is another one.
inline episode_record episode_of(const std::string& suite_hash, const std::string& id, std::uint32_t epoch,
                                 const std::map<std::string, std::string>& identity,
                                 const std::string& model) {
  const auto by = cache_key(identity, model, "", epoch);
  return {sha256().piece(suite_hash).piece(id).piece(std::to_string(epoch)).piece(by).hex(), suite_hash, id,
          epoch};
}

inline item_record turn_of(const episode_record& of, std::uint32_t turn,
                           const std::map<std::string, std::string>& identity, const chat::request& request) {
  return {item_key(of.suite_hash, of.id, of.epoch, "turn " + std::to_string(turn)),
          cache_key(identity, request.model, canonical_text(request), of.epoch), of.id, of.epoch};
}

}  // namespace evalcore::run
