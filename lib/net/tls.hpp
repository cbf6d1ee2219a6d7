#pragma once

#include <memory>
#include <string>

#include <evalcore/base/result.hpp>
#include <evalcore/net/tls_options.hpp>
#include <evalcore/net/url.hpp>

struct ssl_ctx_st;
struct ssl_st;

namespace evalcore::net {

/// What the TLS connections to one server share: whom to trust, which name to ask for and to expect.
/// Needs OpenSSL alone, so that only the connection itself is compiled with Asio's stream.
class tls_client {
 public:
  /// Errors: invalid_argument (the CA file, the name), internal.
  [[nodiscard]] static result<tls_client> create(const tls_options& how, const url& origin);

  /// A new session, owned by the caller; null when memory is short.
  [[nodiscard]] ssl_st* open_session() const;

  /// Why `session`'s handshake failed, as a sentence about the server that says what would mend it.
  /// `reason` is OpenSSL's error code, 0 when the connection just ended.
  [[nodiscard]] std::string refusal(const ssl_st* session, unsigned long reason) const;

 private:
  tls_client(std::shared_ptr<ssl_ctx_st> context, const tls_options& how, std::string peer, std::string name,
             bool numeric);

  std::shared_ptr<ssl_ctx_st> context_;
  std::string ca_file_;
  std::string peer_;  ///< host:port, for messages.
  std::string name_;  ///< What the certificate must hold.
  bool numeric_;      ///< The name is an IP address, which SNI does not carry.
};

/// Whether the handshake ended because the server's certificate cannot be trusted, which no repetition mends.
[[nodiscard]] bool certificate_refused(const ssl_st* session);
/// Whether nothing waits to be read in `session`, by what has already come from the socket.
[[nodiscard]] bool nothing_pending(ssl_st* session);

}  // namespace evalcore::net
