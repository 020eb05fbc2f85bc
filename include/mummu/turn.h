#pragma once

namespace mummu {

// What a lent thread leaves behind.
enum class Turn {
  more,  // there is something to do: call again
  idle,  // nothing until mail comes
};

}  // namespace mummu
