#pragma once

// Says whether this process is a forked child of the one that made it. A child has none of its
// parent's other threads, and a lock of theirs may be held for ever: whoever is forked takes none.
// Reading it costs one load: the page is wiped by the kernel in a child.

#include "mummu/result.h"

namespace mummu {

class ForkPage {
 public:
  // Without memory it cannot tell, and says no.
  ForkPage() noexcept;
  ~ForkPage();
  ForkPage(const ForkPage&) = delete;
  ForkPage& operator=(const ForkPage&) = delete;

  bool forked() const { return page_ && *page_ == 0; }

 private:
  volatile unsigned char* page_ = nullptr;
};

}  // namespace mummu
