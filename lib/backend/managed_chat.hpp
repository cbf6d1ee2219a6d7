#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/backend/process.hpp>
#include <evalcore/net/loop.hpp>

#include "backend/private_folder.hpp"

namespace evalcore::backend {

/// "llama-server died (signal 9); last lines: …"
[[nodiscard]] error death_of(const std::string& name, const exit_status& how, const managed_process& child);

/// Starts the server again, at the same place, and waits until it is ready; on a thread of its own.
using revive_function = std::function<result<std::shared_ptr<managed_process>>(const std::stop_token&)>;

/// A backend whose server is a child of this process: the child and its folder end with it. A request that
/// fails because the child died says so. A dead child is started again; what is sent until it is ready ends
/// in `overloaded`.
class managed_chat final : public backend {
 public:
  managed_chat(net::loop& owner, std::string name, std::shared_ptr<managed_process> child,
               revive_function revive, private_folder folder, std::unique_ptr<backend> server);
  ~managed_chat() override;

  [[nodiscard]] const info& about() const override { return server_->about(); }
  [[nodiscard]] capabilities can() const override { return server_->can(); }
  [[nodiscard]] result<void> check(const chat::request& request) const override {
    return server_->check(request);
  }
  ticket start(const chat::request& request, std::shared_ptr<sink> to) override;
  void cancel(ticket which) override { server_->cancel(which); }
  void render(const chat::request& request, std::function<void(result<std::string>)> done) override;
  void tokenize(const chat::request& request, std::function<void(result<std::vector<token>>)> done) override;
  void share_prefix(std::uint32_t from, std::vector<std::uint32_t> to,
                    std::function<void(result<void>)> done) override;
  void check_tools(const std::vector<chat::tool>& tools, std::function<void(result<bool>)> done) override;
  void loglikelihood(const chat::loglikelihood_request& request,
                     std::function<void(result<chat::loglikelihood>)> done) override;
  void check_prompt_logprobs(std::function<void(result<void>)> done) override;
  void list_models(std::function<void(result<std::vector<listed_model>>)> done) override;
  void ask(const chat::request& request, const json::object& more,
           std::function<void(result<raw_answer>)> done) override;

 private:
  struct guardian;
  std::shared_ptr<guardian> guardian_;
  private_folder folder_;
  std::unique_ptr<backend> server_;
};

}  // namespace evalcore::backend
