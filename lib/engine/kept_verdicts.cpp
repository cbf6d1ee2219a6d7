#include "engine/kept_verdicts.hpp"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

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
  std::ifstream file(file_of(identity_of(engine)), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto kept = json::parse(text);
  if (!kept) return std::nullopt;
  return verdict_in(*kept);
}

void kept_verdicts::keep(const traits& engine, const parity_verdict& found) const {
  if (folder_.empty() || engine.identity.empty()) return;
  static std::atomic<unsigned> parts = 0;
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  const auto identity = identity_of(engine);
  json::writer out;
  out.begin_object();
  out.key("width").number(std::uint64_t{found.width}).key("restores").boolean(found.restores);
  out.key("why").string(found.why).key("engine").raw(identity);
  out.end_object();
  // Others may write the same: a reader sees one whole file or none.
  const auto whole = file_of(identity);
  const auto part = whole + "." + std::to_string(::getpid()) + "." + std::to_string(parts++);
  const bool written = [&] {
    std::ofstream file(part, std::ios::binary);
    return static_cast<bool>((file << out.text() << '\n').flush());
  }();
  if (written) std::filesystem::rename(part, whole, failed);
  if (!written || failed) std::filesystem::remove(part, failed);
}

}  // namespace evalcore::engine
