#include "faults/tls_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace evalcore::faults {
namespace {

void require(bool held, const char* what) {
  if (!held) throw std::runtime_error(std::string("TLS server: ") + what);
}

using key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using certificate = std::unique_ptr<X509, decltype(&X509_free)>;

key new_key() { return {EVP_EC_gen("P-256"), EVP_PKEY_free}; }

void extend(X509* one, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, one, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  require(extension != nullptr && X509_add_ext(one, extension, -1) == 1, "extension");
  X509_EXTENSION_free(extension);
}

/// `issuer` null: it vouches for itself. `ends_in`: seconds from now. `alternative` empty: an authority.
certificate issue(const std::string& name, EVP_PKEY* own, X509* issuer, EVP_PKEY* issuer_key, long ends_in,
                  const std::string& alternative) {
  static long serial = 0;
  certificate one(X509_new(), X509_free);
  X509_set_version(one.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(one.get()), ++serial);
  constexpr long hour = 3600;
  X509_gmtime_adj(X509_getm_notBefore(one.get()), std::min(ends_in, 0L) - hour);
  X509_gmtime_adj(X509_getm_notAfter(one.get()), ends_in);
  X509_set_pubkey(one.get(), own);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(one.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509* from = issuer == nullptr ? one.get() : issuer;
  X509_set_issuer_name(one.get(), X509_get_subject_name(from));
  if (alternative.empty()) {
    extend(one.get(), from, NID_basic_constraints, "critical,CA:TRUE");
  } else {
    extend(one.get(), from, NID_subject_alt_name, alternative);
  }
  require(X509_sign(one.get(), issuer == nullptr ? own : issuer_key, EVP_sha256()) > 0, "signing");
  return one;
}

SSL_CTX* context_of(X509* shown, EVP_PKEY* own) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  require(SSL_CTX_use_certificate(context, shown) == 1 && SSL_CTX_use_PrivateKey(context, own) == 1,
          "context");
  return context;
}

std::string written_to_file(X509* one) {
  std::string path = (std::filesystem::temp_directory_path() / "evalcore-faults-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  require(file >= 0, "CA file");
  FILE* out = ::fdopen(file, "w");
  PEM_write_X509(out, one);
  std::fclose(out);
  return path;
}

/// Reads until the head and the announced body are there.
bool read_request(SSL* from) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto end = text.find("\r\n\r\n");
    if (end != std::string::npos) {
      const auto length = text.find("\r\nContent-Length: ");
      const std::size_t more = length < end ? std::stoul(text.substr(length + 18)) : 0;
      if (text.size() >= end + 4 + more) return true;
    }
    const int got = SSL_read(from, buffer.data(), static_cast<int>(buffer.size()));
    if (got <= 0) return false;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

tls_server::tls_server(std::vector<greeting> greetings, const form& how)
    : greetings_(std::move(greetings)), how_(how) {
  constexpr long hour = 3600;
  const auto ca_key = new_key();
  const auto ca = issue("the tests' authority", ca_key.get(), nullptr, nullptr, hour, "");
  const auto own = new_key();
  const auto leaf = [&](long ends_in, const std::string& alternative, bool vouched) {
    const auto shown =
        issue("server", own.get(), vouched ? ca.get() : nullptr, ca_key.get(), ends_in, alternative);
    contexts_.push_back(context_of(shown.get(), own.get()));
  };
  leaf(hour, "IP:127.0.0.1", true);
  leaf(-hour, "IP:127.0.0.1", true);
  leaf(hour, "DNS:other.test", true);
  leaf(hour, "IP:127.0.0.1", false);
  ca_file_ = written_to_file(ca.get());

  require(::pipe(stop_) == 0, "pipe");
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  require(::bind(listener_, plain, length) == 0 && ::listen(listener_, 16) == 0 &&
              ::getsockname(listener_, plain, &length) == 0,
          "listening");
  port_ = ntohs(address.sin_port);
  worker_ = std::thread([this] { serve_all(); });
}

tls_server::~tls_server() {
  ::close(stop_[1]);
  worker_.join();
  ::close(listener_);
  ::close(stop_[0]);
  ::unlink(ca_file_.c_str());
  for (void* context : contexts_) SSL_CTX_free(static_cast<SSL_CTX*>(context));
}

void tls_server::serve_all() {
  for (std::size_t number = 0;; ++number) {
    std::array<pollfd, 2> both{pollfd{stop_[0], POLLIN, 0}, pollfd{listener_, POLLIN, 0}};
    if (::poll(both.data(), both.size(), -1) <= 0 || both[0].revents != 0) return;
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const timeval patience{2, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    auto once = how_;
    once.number = 4;  // The connection ends after the list.
    serve(socket, greetings_[std::min(number, greetings_.size() - 1)],
          number == 0 ? models(once) : good(how_));
    ::close(socket);
  }
}

void tls_server::serve(int socket, greeting how, const test::script& answer) {
  if (how == greeting::hangs_up) {
    std::array<char, 64> hello{};
    static_cast<void>(::recv(socket, hello.data(), hello.size(), 0));
    return;
  }
  SSL* tls = SSL_new(static_cast<SSL_CTX*>(contexts_[static_cast<std::size_t>(how)]));
  SSL_set_fd(tls, socket);
  if (SSL_accept(tls) == 1 && read_request(tls)) {
    ++requests_;
    const auto& bytes = answer.front().bytes;
    SSL_write(tls, bytes.data(), static_cast<int>(bytes.size()));
    SSL_shutdown(tls);
  }
  SSL_free(tls);
}

}  // namespace evalcore::faults
