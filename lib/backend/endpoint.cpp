#include "backend/endpoint.hpp"

#include <utility>

namespace evalcore::backend {

net::http_request endpoint::get(std::string_view path) const {
  net::http_request request;
  request.method = "GET";
  request.target = at.path + std::string(path);
  request.headers.emplace_back("Accept", "application/json");
  request.headers.insert(request.headers.end(), headers.begin(), headers.end());
  if (opened) opened->sign(request);
  return request;
}

net::http_request endpoint::post(std::string_view path, std::string body) const {
  net::http_request request;
  request.target = at.path + std::string(path);
  request.headers.emplace_back("Accept", "application/json");
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.insert(request.headers.end(), headers.begin(), headers.end());
  if (opened) opened->sign(request);
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
