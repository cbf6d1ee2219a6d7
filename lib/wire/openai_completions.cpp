#include <evalcore/wire/openai_completions.hpp>

#include <algorithm>
#include <cmath>

#include <evalcore/base/json.hpp>

#include "wire/encode_parts.hpp"

namespace evalcore::wire {
namespace {

using chat::token_ids;

bool is_empty(const chat::prompt& one) {
  return std::visit([](const auto& held) { return held.empty(); }, one);
}

bool is_finite(const std::optional<double>& number) { return !number || std::isfinite(*number); }

bool wants_logprobs(const chat::parameters& params) { return params.logprobs || params.top_logprobs; }

result<void> check_prompts(const std::vector<chat::prompt>& prompts, const dialect& ways) {
  const std::string server(ways.name);
  if (prompts.empty()) return refuse(errc::invalid_argument, "a completion needs a prompt");
  if (!ways.empty_prompt && std::ranges::any_of(prompts, is_empty)) {
    return refuse(errc::invalid_argument,
                  "an empty prompt is not sent to this kind of server (" + server + "): it can end it");
  }
  const auto is_other = [&](const auto& one) { return one.index() != prompts.front().index(); };
  if (std::ranges::any_of(prompts, is_other)) {
    return refuse(errc::invalid_argument, "the prompts of one request are all text or all token ids");
  }
  if (prompts.size() > 1 && !ways.prompt_arrays) {
    return refuse(errc::unsupported, "several prompts in one request are not sent to this kind of server (" +
                                         server + "): it can end it; send them one by one");
  }
  if (std::holds_alternative<token_ids>(prompts.front()) && !ways.prompt_tokens) {
    return refuse(errc::unsupported, "this kind of server (" + server + ") takes no prompt as token ids");
  }
  return {};
}

result<void> check(const chat::completion_request& request, const dialect& ways) {
  if (auto sound = check_prompts(request.prompts, ways); !sound) return sound;
  const auto& params = request.params;
  if (!is_finite(params.temperature) || !is_finite(params.top_p)) {
    return refuse(errc::invalid_argument, "temperature and top_p are finite numbers");
  }
  if (params.n.value_or(1) != 1 || params.format) {
    return refuse(errc::unsupported, "a completion has one answer a prompt (n = 1) and no response format");
  }
  if (!request.echo) return {};
  if (wants_logprobs(params) && ways.prompt_logprobs == trait::no) {
    return refuse(errc::unsupported, "this kind of server (" + std::string(ways.name) +
                                         ") returns no logprobs of the prompt, at most those of generated "
                                         "tokens: choices cannot be scored by likelihood on it");
  }
  if (ways.ignores_field("echo")) {
    return refuse(errc::unsupported, "this kind of server (" + std::string(ways.name) + ") ignores echo");
  }
  return {};
}

/// Writes one request, and notes what the server does not honour.
class completion_body {
 public:
  completion_body(const chat::completion_request& request, const dialect& ways)
      : request_(request), ways_(ways) {}

  void put(bool stream);
  [[nodiscard]] encoded take() { return {out_.take(), dropped_.take()}; }

 private:
  void put_prompt(const chat::prompt& one);
  void put_prompts();
  void put_logprobs(bool stream);

  const chat::completion_request& request_;
  const dialect& ways_;
  json::writer out_;
  drop_list dropped_{ways_, route::chat};
};

void completion_body::put_prompt(const chat::prompt& one) {
  if (const auto* text = std::get_if<std::string>(&one)) {
    out_.string(*text);
    return;
  }
  out_.begin_array();
  for (const std::uint32_t id : std::get<token_ids>(one)) out_.number(std::uint64_t{id});
  out_.end_array();
}

void completion_body::put_prompts() {
  out_.key("prompt");
  if (request_.prompts.size() == 1) {
    put_prompt(request_.prompts.front());
    return;
  }
  out_.begin_array();
  for (const auto& one : request_.prompts) put_prompt(one);
  out_.end_array();
}

void completion_body::put_logprobs(bool stream) {
  const auto& params = request_.params;
  if (!wants_logprobs(params) || !dropped_.honours("logprobs")) return;
  if (stream && ways_.ignores_field("stream.logprobs")) {
    dropped_.add("logprobs");
    return;
  }
  // Some servers take 0 for "none".
  const std::uint64_t count = std::max(params.top_logprobs.value_or(1), 1U);
  if (!ways_.logprobs_flag) {
    out_.key("logprobs").number(count);
    return;
  }
  out_.key("logprobs").boolean(true).key("top_logprobs").number(count);
}

void completion_body::put(bool stream) {
  out_.begin_object();
  if (!request_.model.empty()) out_.key("model").string(request_.model);
  put_prompts();
  put_sampling(out_, request_.params, "max_tokens", dropped_);
  if (request_.echo) out_.key("echo").boolean(true);
  put_logprobs(stream);
  out_.key("stream").boolean(stream);
  if (stream) {
    out_.key("stream_options").begin_object().key("include_usage").boolean(true).end_object();
  }
  const auto& hints = request_.hints;
  if (ways_.slot_pinning && hints.slot) out_.key("id_slot").number(std::uint64_t{*hints.slot});
  if (ways_.cache_switch && hints.use_cache) out_.key("cache_prompt").boolean(*hints.use_cache);
  if (ways_.cache_salt && !hints.cache_salt.empty()) out_.key("cache_salt").string(hints.cache_salt);
  out_.end_object();
}

}  // namespace

result<encoded> encode_openai_completion(const chat::completion_request& request, const dialect& ways,
                                         bool stream) {
  if (auto sound = check(request, ways); !sound) return std::move(sound).error();
  completion_body body(request, ways);
  body.put(stream);
  return body.take();
}

}  // namespace evalcore::wire
