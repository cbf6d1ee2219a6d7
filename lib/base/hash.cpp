#include <evalcore/base/hash.hpp>

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

namespace evalcore {

namespace {

/// Fetched once: with EVP_sha256() OpenSSL looks it up by name for every hash, which takes longer than to
/// hash a short text. Never freed, since a thread may hash while the process ends.
const EVP_MD* algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return fetched;
}

}  // namespace

struct sha256::state {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  state() {
    if (context == nullptr || EVP_DigestInit_ex(context, algorithm(), nullptr) != 1) throw std::bad_alloc();
  }
  ~state() { EVP_MD_CTX_free(context); }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
};

sha256::sha256() : state_(std::make_unique<state>()) {}
sha256::~sha256() = default;
sha256::sha256(sha256&&) noexcept = default;
sha256& sha256::operator=(sha256&&) noexcept = default;

sha256& sha256::piece(std::string_view bytes) {
  std::array<unsigned char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<unsigned char>((bytes.size() >> (8 * i)) & 0xFFU);
  }
  EVP_DigestUpdate(state_->context, length.data(), length.size());
  return raw(bytes);
}

sha256& sha256::raw(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
  return *this;
}

std::string sha256::base64() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  return to_base64({reinterpret_cast<const char*>(digest.data()), size});
}

std::string to_base64(std::string_view bytes) {
  // OpenSSL counts in int, and wants room for a zero at the end.
  constexpr std::size_t piece = std::size_t{3} << 20;
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  std::size_t written = 0;
  while (!bytes.empty()) {
    const auto part = bytes.substr(0, piece);
    const int count =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()) + written,
                        reinterpret_cast<const unsigned char*>(part.data()), static_cast<int>(part.size()));
    written += static_cast<std::size_t>(count);
    bytes.remove_prefix(part.size());
  }
  out.resize(written);
  return out;
}

std::string sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(std::size_t{size} * 2);
  for (unsigned int i = 0; i < size; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 0x0FU];
  }
  return text;
}

result<std::string> sha256_of_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) {
    return fail(errno == ENOENT ? errc::not_found : errc::storage, stage::start,
                "cannot read " + path + ": " + std::strerror(errno));
  }
  sha256 hash;
  std::string buffer(std::size_t{1} << 20, '\0');
  std::size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
    hash.raw(std::string_view(buffer).substr(0, got));
  }
  if (std::ferror(file.get()) != 0) {
    return fail(errc::storage, stage::start, "cannot read " + path + " to its end");
  }
  return hash.hex();
}

}  // namespace evalcore
