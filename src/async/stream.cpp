#include "mummu/stream.h"

#include "async/token_channel.h"
#include "base/edge.h"
#include "base/fail.h"

namespace mummu {

Result<Completion> Stream::result(int choice) {
  return at_edge([&]() -> Result<Completion> {
    if (!channel()) return fail(Error::invalid, "this stream was moved from");
    auto& tokens = static_cast<TokenChannel&>(*channel());
    if (tokens.forked()) return fail(Error::invalid, "this stream belongs to the parent process");
    return tokens.result(choice);
  });
}

}  // namespace mummu
