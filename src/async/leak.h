#pragma once

// Gives a share up without giving anything back: what a destructor does in a forked child, where a
// lock may be held for ever by a thread that is not there.

#include <memory>
#include <utility>

namespace mummu {

template <typename T>
void leak(std::shared_ptr<T> share) noexcept {
  union Never {
    explicit Never(std::shared_ptr<T>&& dropped) : value(std::move(dropped)) {}
    ~Never() {}  // NOLINT(modernize-use-equals-default): the share is not destroyed
    std::shared_ptr<T> value;
  };
  const Never never(std::move(share));
}

}  // namespace mummu
