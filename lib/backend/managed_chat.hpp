#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/backend/process.hpp>
#include <evalcore/net/loop.hpp>

#include "backend/private_folder.hpp"

namespace evalcore::backend {

/// "llama-server died (signal 9); last lines: …"
[[nodiscard]] error death_of(const std::string& name, const exit_status& how, const managed_process& child);

/// A backend whose server is a child of this process: the child and its folder end with it, and a request
/// that fails because the child died says so.
class managed_chat final : public backend {
 public:
  managed_chat(net::loop& owner, std::string name, std::shared_ptr<managed_process> child,
               private_folder folder, std::unique_ptr<backend> server);
  ~managed_chat() override;

  [[nodiscard]] const info& about() const override { return server_->about(); }
  [[nodiscard]] capabilities can() const override { return server_->can(); }
  ticket start(const chat::request& request, std::shared_ptr<sink> to) override;
  void cancel(ticket which) override { server_->cancel(which); }
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
  struct coroner;
  std::shared_ptr<coroner> coroner_;
  std::shared_ptr<managed_process> child_;
  private_folder folder_;
  std::unique_ptr<backend> server_;
};

}  // namespace evalcore::backend
