#include "backend/endpoint.hpp"

#include <array>
#include <string>
#include <utility>

namespace evalcore::backend {
namespace {

/// What the APIs put behind a base URL; the longer ones first.
constexpr std::array<std::string_view, 5> api_paths{"/chat/completions", "/completions", "/messages",
                                                    "/responses", "/models"};

error refuse(std::string message) { return fail(errc::invalid_argument, stage::config, std::move(message)); }

/// Says what was meant, where only the scheme is missing. A query may hold a key: it is not repeated.
error no_url(std::string_view base_url, const error& why) {
  std::string message = "the base URL cannot be read: " + why.message;
  if (base_url.find("://") == std::string_view::npos) {
    const auto meant = net::parse_url("http://" + std::string(base_url));
    if (meant) message += "; did you mean " + meant->origin() + meant->path + "?";
  }
  return refuse(std::move(message));
}

}  // namespace

namespace {

/// `type` is that of a body; empty: there is none.
net::http_request request_to(const endpoint& to, std::string_view path, std::string_view type) {
  constexpr std::size_t usual = 4;
  net::http_request request;
  request.target.reserve(to.at.path.size() + path.size());
  request.target.append(to.at.path).append(path);
  request.headers.reserve(to.headers.size() + usual);
  request.headers.emplace_back("Accept", "application/json");
  if (!type.empty()) request.headers.emplace_back("Content-Type", type);
  request.headers.insert(request.headers.end(), to.headers.begin(), to.headers.end());
  if (to.opened) to.opened->sign(request);
  return request;
}

}  // namespace

net::http_request endpoint::get(std::string_view path) const {
  auto request = request_to(*this, path, {});
  request.method = "GET";
  return request;
}

net::http_request endpoint::post(std::string_view path, std::string body) const {
  auto request = request_to(*this, path, "application/json");
  request.body = std::move(body);
  return request;
}

error endpoint::without_secrets(error failure) const {
  return opened ? opened->without_secrets(std::move(failure)) : failure;
}

std::string endpoint::without_secrets(std::string said) const {
  return opened ? opened->without_secrets(std::move(said)) : said;
}

result<endpoint> read_endpoint(std::string_view base_url) {
  auto url = net::parse_url(base_url);
  if (!url) return no_url(base_url, url.error());
  const std::string named = "the base URL " + url->origin() + url->path;
  if (!url->query.empty()) return refuse(named + " must not have a query");
  for (const auto path : api_paths) {
    if (!url->path.ends_with(path)) continue;
    url->path.resize(url->path.size() - path.size());
    return refuse(named + " goes on to one of the API's paths; give it without " + std::string(path) + ": " +
                  url->origin() + url->path);
  }
  if (url->path.ends_with("/v1")) url->path.resize(url->path.size() - 3);
  return endpoint{.at = *std::move(url)};
}

}  // namespace evalcore::backend
