#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <evalcore/backend/backend.hpp>
#include <evalcore/net/http_client.hpp>
#include <evalcore/wire/dialect.hpp>

#include "backend/chat_codec.hpp"
#include "backend/chat_exchange.hpp"
#include "backend/prompt_scorer.hpp"
#include "backend/served_choices.hpp"
#include "backend/server_link.hpp"

namespace evalcore::backend {

struct http_chat_options {
  const wire::dialect* ways = nullptr;  ///< Not null.
  /// Speak Anthropic's messages in this version; absent: OpenAI's API.
  std::optional<wire::anthropic_version> messages = {};
  openai_api api = openai_api::chat;
  net::deadlines deadlines;  ///< Of each request.
  bool stream = true;
  ability share_prefix = ability::unknown;  ///< Whether the server was started with a folder for saved slots.
};

/// A chat API over HTTP, after a dialect. The server is known to be there.
class http_chat final : public backend {
 public:
  http_chat(std::unique_ptr<server_link> link, http_chat_options how, info about);
  ~http_chat() override;

  [[nodiscard]] const info& about() const override { return info_; }
  [[nodiscard]] capabilities can() const override;
  [[nodiscard]] result<void> check(const chat::request& request) const override;
  ticket start(const chat::request& request, std::shared_ptr<sink> to) override;
  void cancel(ticket which) override;
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
  struct under_way {
    net::http_client::exchange_id exchange = 0;
    std::shared_ptr<chat_exchange> state;
  };

  /// Whether the text of the only turn stands as it is, without a template.
  [[nodiscard]] bool is_plain(const chat::request& request) const noexcept;
  /// The same request with the model's name in it.
  [[nodiscard]] chat::request named(const chat::request& request) const;
  /// The body of a 200; any other status is its error.
  void call(const char* path, std::string body, std::function<void(result<std::string>)> done);
  void fetch(net::http_request message, std::function<void(result<raw_answer>)> done);
  void tokenize_text(std::string_view text, std::function<void(result<std::vector<token>>)> done);
  void count_prompt(const chat::request& request, std::function<void(result<std::string>)> done);
  void restore(std::vector<std::uint32_t> into, std::size_t at, const std::string& file,
               std::function<void(result<void>)> done);
  void drop(ticket which);

  std::unique_ptr<server_link> link_;
  const http_chat_options how_;
  const chat_codec format_;
  const info info_;
  const std::string slot_file_;  ///< Its beginning: the name belongs to this object alone.
  prompt_scorer scorer_;
  served_choices choosing_;
  std::unordered_map<ticket, under_way> open_;
  ticket next_ = 1;
};

}  // namespace evalcore::backend
