#include "hub/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

namespace mummu::hub {
void Hash::Delete::operator()(void* context) const {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context));
}

Hash::Kind Hash::kind_of(std::string_view etag) {
  return etag.size() == 40 ? Kind::git_blob : Kind::sha256;
}

Hash::Hash(Kind kind, int64_t size_bytes) : context_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_.get()),
                    kind == Kind::sha256 ? EVP_sha256() : EVP_sha1(), nullptr);
  if (kind == Kind::sha256) return;
  const std::string head = fmt::format("blob {}", size_bytes);
  add(std::as_bytes(std::span(head.c_str(), head.size() + 1)));
}
Hash::Hash(Hash&&) noexcept = default;
Hash& Hash::operator=(Hash&&) noexcept = default;
Hash::~Hash() = default;

void Hash::add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_.get()), bytes.data(), bytes.size());
}

std::string Hash::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_.get()), digest, &length);
  std::string out;
  for (unsigned int i = 0; i < length; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

std::string sha256_hex(std::string_view text) {
  Hash hash(Hash::Kind::sha256, 0);
  hash.add(std::as_bytes(std::span(text.data(), text.size())));
  return hash.hex();
}

}  // namespace mummu::hub
