#pragma once

#include <stop_token>
#include <string>
#include <thread>

#include <evalcore/base/result.hpp>
#include <evalcore/wire/dialect.hpp>

namespace evalcore::backend {

/// Whether `model` is what the form wants: a server says of a file that is no model only that it failed to
/// load. Errors: not_found, invalid_argument, both with the mend.
[[nodiscard]] result<void> check_model(wire::model_form form, const std::string& model);

/// The hash of a model's bytes, computed beside the loading of the model; given up when `stop` or the
/// object's end comes first. Of a folder: of its files' names and bytes, in the order of their names.
class model_hash {
 public:
  model_hash(std::string path, const std::stop_token& stop);

  /// Hex digits; empty for what is no file or folder. Errors: storage, cancelled.
  [[nodiscard]] result<std::string> wait();

 private:
  struct give_up {
    model_hash* whose;
    void operator()() const { whose->worker_.request_stop(); }
  };

  result<std::string> compute(const std::stop_token& enough) const;

  std::string path_;
  result<std::string> hex_;
  std::jthread worker_;
  std::stop_callback<give_up> forward_;
};

}  // namespace evalcore::backend
