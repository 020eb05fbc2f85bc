// A chat template and a small conversation of strangers: the first line of the input is JSON for
// kwargs (or anything), the rest the template. Whatever they are: no crash, within the bounds, and
// the runs of levels cover the text exactly.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "mummu/chat.h"
#include "text/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mummu;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const auto chat = ChatTemplate::parse(input.substr(std::min(line + 1, input.size())),
                                        {.bos = "<s>", .eos = "</s>"});
  if (!chat) return 0;
  ChatOptions options;
  options.kwargs = input.substr(0, line);
  options.tools =
      R"([{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": ["number", "null"]}}}}}])";
  options.now = 1785421930;
  const std::string_view messages =
      R"([{"role": "system", "content": "Sé <b>"}, {"role": "user", "content": [{"type": "text", "text": "x\n y"}, {"type": "image"}]},
          {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"a": [1, 2.5, true, null]}}}]},
          {"role": "tool", "content": "{}"}])";
  const auto rendered = chat->render_json(messages, options);
  if (!rendered) {
    if (rendered.error().code == Error::internal) std::abort();
    return 0;
  }
  size_t covered = 0;
  for (const auto& run : rendered->runs) {
    if (run.size == 0 || run.size > rendered->text.size() - covered) std::abort();
    covered += run.size;
    if (covered < rendered->text.size() &&
        (static_cast<unsigned char>(rendered->text[covered]) & 0xC0) == 0x80)
      std::abort();
  }
  if (covered != rendered->text.size() || find_invalid_utf8(rendered->text)) std::abort();
  return 0;
}
