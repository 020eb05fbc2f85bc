#include <fmt/ranges.h>

#include <array>

#include "base/fail.h"
#include "file/quote.h"
#include "model/family.h"

namespace mummu {

namespace {

constexpr std::array kFamilies = {&kLlama, &kQwen2, &kQwen3, &kLfm2, &kOlmoe, &kBert};

}  // namespace

std::span<const Family* const> known_families() { return kFamilies; }

Result<const Family*> find_family(std::string_view name, std::string_view where) {
  std::vector<std::string_view> known;
  for (const Family* family : kFamilies) {
    if (family->name == name) return family;
    known.push_back(family->name);
  }
  return fail(Error::unsupported, "{}: architecture {} is not supported; known are {}", where,
              quote(name), fmt::join(known, ", "));
}

}  // namespace mummu
