// libcurl's multi interface in its own loop (curl_multi_poll, curl_multi_perform), in two manners: as the
// examples of its documentation have it, an easy handle for each transfer, with nlohmann's JSON; and as lean
// as it can be had, handles that are used again, a body written once, simdjson. Both use their connections
// again.
#include <curl/curl.h>
#include <nlohmann/json.hpp>
#include <simdjson.h>

#include <string>
#include <vector>

#include "load.hpp"

namespace {

std::size_t keep(char* bytes, std::size_t size, std::size_t count, void* to) {
  static_cast<std::string*>(to)->append(bytes, size * count);
  return size * count;
}

/// JSON as most C++ programs read and write it.
class nlohmann_json {
 public:
  static constexpr bool keeps_handles = false;
  [[nodiscard]] std::string body() const { return asked_.dump(); }
  [[nodiscard]] static bool has_text(const std::string& answer) {
    const auto root = nlohmann::json::parse(answer, nullptr, false);
    if (root.is_discarded()) return false;
    const auto& choice = root.at("choices").at(0);
    return choice.at("finish_reason").is_string() &&
           !choice.at("message").at("content").get<std::string>().empty();
  }

 private:
  nlohmann::ordered_json asked_ = nlohmann::ordered_json::parse(body_text());
};

class simdjson_json {
 public:
  static constexpr bool keeps_handles = true;
  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] bool has_text(const std::string& answer) {
    simdjson::dom::element root;
    std::string_view text;
    std::string_view finish;
    return reader_.parse(answer).get(root) == simdjson::SUCCESS &&
           root.at_pointer("/choices/0/message/content").get(text) == simdjson::SUCCESS &&
           root.at_pointer("/choices/0/finish_reason").get(finish) == simdjson::SUCCESS && !text.empty();
  }

 private:
  std::string body_ = body_text();
  simdjson::dom::parser reader_;
};

template <class Json>
figures run(const load& what) {
  const std::string url = what.base_url() + "/v1/chat/completions";
  Json json;
  curl_slist* headers = nullptr;
  for (const char* one : {"Accept: application/json", "Content-Type: application/json",
                          "Accept-Encoding: identity", "Expect:"}) {
    headers = curl_slist_append(headers, one);
  }
  CURLM* multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(what.in_flight));
  std::vector<std::string> answers(what.in_flight);
  const auto opened = [&](std::string& answer) {
    CURL* one = curl_easy_init();
    curl_easy_setopt(one, CURLOPT_URL, url.c_str());
    curl_easy_setopt(one, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(one, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(one, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(one, CURLOPT_PRIVATE, &answer);
    curl_easy_setopt(one, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(one, CURLOPT_TIMEOUT, 900L);
    return one;
  };
  const auto ask = [&](CURL* one) {
    const std::string& body = json.body();
    curl_easy_setopt(one, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(one, CURLOPT_COPYPOSTFIELDS, body.data());
    curl_multi_add_handle(multi, one);
  };
  for (auto& answer : answers) ask(opened(answer));
  meter count(what);
  for (int running = 1; running > 0;) {
    curl_multi_perform(multi, &running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      CURL* one = message->easy_handle;
      std::string* answer = nullptr;
      curl_easy_getinfo(one, CURLINFO_PRIVATE, &answer);
      if (message->data.result != CURLE_OK || !json.has_text(*answer))
        give_up("libcurl: no answer with text");
      answer->clear();
      curl_multi_remove_handle(multi, one);
      const bool more = count.answered();
      if (!more || !Json::keeps_handles) {
        curl_easy_cleanup(one);
        one = nullptr;
      }
      if (more) {
        ask(one != nullptr ? one : opened(*answer));
        running = 1;
      }
    }
    if (running > 0) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
  }
  curl_multi_cleanup(multi);
  curl_slist_free_all(headers);
  return count.seen();
}

}  // namespace

figures with_libcurl(const load& what) { return run<nlohmann_json>(what); }
figures with_libcurl_simdjson(const load& what) { return run<simdjson_json>(what); }
