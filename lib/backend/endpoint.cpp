#include "backend/endpoint.hpp"

#include <utility>

namespace evalcore::backend {

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
  if (!url) return url.error();
  if (!url->query.empty()) {
    return fail(errc::invalid_argument, stage::config,
                "the base URL " + url->origin() + url->path + " must not have a query");
  }
  if (url->path.ends_with("/v1")) url->path.resize(url->path.size() - 3);
  return endpoint{.at = *std::move(url)};
}

}  // namespace evalcore::backend
