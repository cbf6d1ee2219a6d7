#include "engine/kept_verdicts.hpp"

#include <filesystem>
#include <system_error>

#include <evalcore/base/files.hpp>
#include <evalcore/base/hash.hpp>
#include <evalcore/base/json.hpp>

#include "engine/loaded_code.hpp"

namespace evalcore::engine {
namespace {

std::string identity_of(const traits& engine) {
  json::writer out;
  out.begin_object();
  out.key("code").string(loaded_code());
  out.key("name").string(engine.name).key("model").string(engine.model);
  for (const auto& [key, value] : engine.identity) out.key("identity." + key).string(value);
  out.key("max_rows").number(std::uint64_t{engine.max_rows});
  out.key("context_tokens").number(std::uint64_t{engine.context_tokens});
  out.key("prefix_grid").number(std::uint64_t{engine.prefix_grid});
  out.end_object();
  return out.take();
}

std::optional<parity_verdict> verdict_in(const json::value& kept) {
  const auto* width = kept.find("width");
  const auto* restores = kept.find("restores");
  const auto* why = kept.find("why");
  if (width == nullptr || restores == nullptr || why == nullptr) return std::nullopt;
  const auto* rows = width->if_int();
  if (rows == nullptr || *rows < 0 || *rows > widest_checked) return std::nullopt;
  if (restores->if_bool() == nullptr || why->if_string() == nullptr) return std::nullopt;
  return parity_verdict{
      .width = static_cast<std::uint32_t>(*rows), .restores = *restores->if_bool(), .why = *why->if_string()};
}

}  // namespace

std::string kept_verdicts::file_of(const std::string& identity) const {
  return (std::filesystem::path(folder_) / (sha256().piece(identity).hex() + ".json")).string();
}

std::optional<parity_verdict> kept_verdicts::find(const traits& engine) const {
  if (folder_.empty() || engine.identity.empty()) return std::nullopt;
  const auto text = read_file(file_of(identity_of(engine)), "verdict", stage::start);
  if (!text) return std::nullopt;
  const auto kept = json::parse(*text);
  if (!kept) return std::nullopt;
  return verdict_in(*kept);
}

void kept_verdicts::keep(const traits& engine, const parity_verdict& found) const {
  if (folder_.empty() || engine.identity.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  const auto identity = identity_of(engine);
  json::writer out;
  out.begin_object();
  out.key("width").number(std::uint64_t{found.width}).key("restores").boolean(found.restores);
  out.key("why").string(found.why).key("engine").raw(identity);
  out.end_object();
  static_cast<void>(write_file_atomically(file_of(identity), out.take() + '\n'));
}

}  // namespace evalcore::engine
