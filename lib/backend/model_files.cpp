#include "backend/model_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/base/hash.hpp>

namespace evalcore::backend {
namespace {

namespace fs = std::filesystem;

error missing(const std::string& what, const std::string& mend) {
  return fail(errc::not_found, stage::start, "there is no " + what + "; " + mend);
}

result<void> check_gguf(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) {
    return missing("model file " + path, "name a GGUF file with --model");
  }
  constexpr std::string_view magic = "GGUF";
  std::array<char, magic.size()> begins{};
  std::ifstream(path, std::ios::binary).read(begins.data(), begins.size());
  if (std::string_view(begins.data(), begins.size()) == magic) return {};
  return fail(errc::invalid_argument, stage::start,
              path + " is not a GGUF model (it does not begin with \"GGUF\"); name one with --model");
}

error interrupted() {
  return fail(errc::cancelled, stage::start, "interrupted while the model's files were read");
}

/// Adds a file's bytes to `sum`.
result<void> add_file(const fs::path& path, sha256& sum, const std::stop_token& enough) {
  std::ifstream file(path, std::ios::binary);
  std::string piece(std::size_t{1} << 20U, '\0');
  while (file && !enough.stop_requested()) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sum.raw(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  if (enough.stop_requested()) return interrupted();
  if (!file.eof()) return fail(errc::storage, stage::start, "cannot read the model file " + path.string());
  return {};
}

result<std::vector<fs::path>> files_in(const fs::path& folder) {
  std::error_code wrong;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, wrong), none; !wrong && at != none; at.increment(wrong)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) files.push_back(at->path());
  }
  if (wrong) return fail(errc::storage, stage::start, "cannot list the model's folder " + folder.string());
  std::ranges::sort(files);
  return files;
}

}  // namespace

result<void> check_model(wire::model_form form, const std::string& model) {
  std::error_code ignored;
  switch (form) {
    case wire::model_form::gguf_file:
      return check_gguf(model);
    case wire::model_form::file_or_folder:
      if (fs::exists(model, ignored)) return {};
      return missing("model " + model, "name a model's file or folder with --model");
    case wire::model_form::folder:
      if (fs::is_directory(model, ignored)) return {};
      return missing("model folder " + model, "name a model's folder with --model");
    case wire::model_form::path_or_name:
      // What looks like a path is one: the server would take a wrong one for a name and ask the network.
      if (!model.starts_with('/') && !model.starts_with('.')) return {};
      if (fs::exists(model, ignored)) return {};
      return missing("model " + model, "name a model's folder, or its name at the hub, with --model");
  }
  return {};
}

model_hash::model_hash(std::string path, const std::stop_token& stop)
    : path_(std::move(path)),
      hex_(interrupted()),
      worker_([this](const std::stop_token& enough) { hex_ = compute(enough); }),
      forward_(stop, give_up{this}) {}

result<std::string> model_hash::wait() {
  worker_.join();
  return std::move(hex_);
}

result<std::string> model_hash::compute(const std::stop_token& enough) const {
  std::error_code ignored;
  sha256 sum;
  if (fs::is_regular_file(path_, ignored)) {
    if (auto added = add_file(path_, sum, enough); !added) return added.error();
    return sum.hex();
  }
  if (!fs::is_directory(path_, ignored)) return std::string();
  const auto files = files_in(path_);
  if (!files) return files.error();
  for (const auto& file : *files) {
    std::error_code wrong;
    const auto size = fs::file_size(file, wrong);
    // Name and size first, so that no two folders give the same bytes.
    sum.piece(file.filename().string()).piece(std::to_string(wrong ? 0 : size));
    if (auto added = add_file(file, sum, enough); !added) return added.error();
  }
  return sum.hex();
}

}  // namespace evalcore::backend
