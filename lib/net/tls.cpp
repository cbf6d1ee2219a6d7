#include "net/tls.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <utility>

namespace evalcore::net {
namespace {

bool ip_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

error refuse(std::string what) { return fail(errc::invalid_argument, stage::config, std::move(what)); }

/// Whether the certificate is to be for `name`. OpenSSL takes an empty name for "any", and one with a dot
/// in front for "anything below".
bool expect_name(SSL_CTX* context, const std::string& name, bool numeric) {
  if (name.empty() || name.front() == '.') return false;
  X509_VERIFY_PARAM* rules = SSL_CTX_get0_param(context);
  if (numeric) return X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(rules,
                                  X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  return X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size()) == 1;
}

bool trust(SSL_CTX* context, const std::string& ca_file) {
  if (ca_file.empty()) return SSL_CTX_set_default_verify_paths(context) == 1;
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  return SSL_CTX_load_verify_file(context, ca_file.c_str()) == 1;
}

}  // namespace

tls_client::tls_client(std::shared_ptr<ssl_ctx_st> context, const tls_options& how, std::string peer,
                       std::string name, bool numeric)
    : context_(std::move(context)),
      ca_file_(how.ca_file),
      peer_(std::move(peer)),
      name_(std::move(name)),
      numeric_(numeric) {}

result<tls_client> tls_client::create(const tls_options& how, const url& origin) {
  std::string name = how.server_name.empty() ? origin.host : how.server_name;
  if (name.ends_with('.')) name.pop_back();
  const bool numeric = ip_address(name);

  ERR_clear_error();
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return fail(errc::internal, stage::config, "OpenSSL could not be set up");
  }
  if (!expect_name(context.get(), name, numeric)) {
    return refuse("a server's name in TLS is a host name or an IP address");
  }
  if (how.verify) {
    const bool trusted = trust(context.get(), how.ca_file);
    ERR_clear_error();
    if (!trusted) {
      return refuse(how.ca_file.empty() ? std::string("the system's certificate authorities cannot be read")
                                        : "no certificate in PEM form can be read from " + how.ca_file);
    }
  }
  SSL_CTX_set_verify(context.get(), how.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  return tls_client(context, how, origin.host_and_port(), std::move(name), numeric);
}

ssl_st* tls_client::open_session() const {
  SSL* session = SSL_new(context_.get());
  if (session != nullptr && !numeric_) {
    // SSL_set_tlsext_host_name() without its C cast; the name is only read.
    SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(name_.c_str()));
  }
  return session;
}

std::string tls_client::refusal(const ssl_st* session, unsigned long reason) const {
  const bool verified = SSL_get_verify_mode(session) != SSL_VERIFY_NONE;
  const long verdict = verified ? SSL_get_verify_result(session) : X509_V_OK;
  const std::string certificate = "the certificate of " + peer_;
  const std::string authorities = ca_file_.empty() ? "the system's authorities" : "the CA file " + ca_file_;
  switch (verdict) {
    case X509_V_OK:
      break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return certificate + " has expired; it must be renewed on the server, unless the clock here is wrong";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return certificate + " is not valid yet; check the clocks here and on the server";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return certificate + " is not for " + name_ +
             "; use a name that it holds, in the URL or as the TLS server name";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return certificate + " is self-signed and not in " + authorities +
             "; if it is yours, give it as the CA file";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return certificate + " is from an authority that is not in " + authorities +
             "; if it is a private one, give its certificate as the CA file";
    default:
      return certificate + " is refused: " + X509_verify_cert_error_string(verdict);
  }
  if (reason == 0) {
    return peer_ + " closed the connection during the TLS handshake; does it speak TLS on this port?";
  }
  switch (ERR_GET_REASON(reason)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_HTTP_REQUEST:
      return peer_ + " does not answer in TLS; is it an http:// server?";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return peer_ + " does not speak TLS 1.2 or newer; the server needs an update";
    default:
      break;
  }
  const char* words = ERR_reason_error_string(reason);
  return "no TLS connection to " + peer_ + ": " + (words == nullptr ? "unknown reason" : words);
}

bool certificate_refused(const ssl_st* session) {
  return SSL_get_verify_mode(session) != SSL_VERIFY_NONE && SSL_get_verify_result(session) != X509_V_OK;
}

bool nothing_pending(ssl_st* session) {
  char byte = 0;
  const int got = SSL_peek(session, &byte, 1);
  const bool wants_more = got <= 0 && SSL_get_error(session, got) == SSL_ERROR_WANT_READ;
  ERR_clear_error();
  return wants_more;
}

}  // namespace evalcore::net
