// Any bytes as a checkpoint: a GGUF file, or a config.json, a zero byte and a safetensors file. It
// is refused in one line, or it is planned, loaded and tried without a fault. No tensor can be
// larger than the input, so whatever a configuration claims, nothing of that size may be allocated.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "file/safetensors.h"
#include "model/family.h"
#include "model/load.h"
#include "text/gguf_vocabulary.h"

namespace {

using namespace mummu;

FileReader reader_of(std::string_view bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return FileReader::from_bytes("fuzz", {begin, begin + bytes.size()});
}

// A refusal is one line and never our own fault.
template <typename T>
bool good(const Result<T>& result) {
  if (result) return true;
  if (result.error().code == Error::Code::internal) std::abort();
  if (result.error().message.find('\n') != std::string::npos) std::abort();
  return false;
}

void try_out(const Family& family, const ModelConfig& config, const TensorTable& table,
             Format format) {
  static const Device device = open_device("cpu").value();
  if (!good(check_config(config, "fuzz"))) return;
  Decoder decoder;
  Encoder encoder;
  WeightPlan plan(table, format, device.ops());
  if (family.bind) {
    family.bind(config, plan, decoder);
  } else {
    family.bind_encoder(config, plan, encoder);
  }
  if (!good(plan.check())) return;
  WeightLoad load(plan, device.ops());
  for (bool more = true; more;) {
    const auto step = load.step();
    if (!good(step)) return;
    more = *step;
  }
  (void)good(family.bind ? check_alive(device.ops(), decoder, "fuzz")
                         : check_alive(device.ops(), encoder, "fuzz"));
}

void try_gguf(std::string_view bytes) {
  const auto file = Gguf::open(reader_of(bytes));
  if (!good(file)) return;
  const auto name = file->get_string("general.architecture");
  if (!good(name)) return;
  const auto family = find_family(*name, "fuzz");
  if (!good(family)) return;
  (void)good(tokenizer_from_gguf(*file));
  const auto config = (*family)->from_gguf(*file);
  if (good(config)) try_out(**family, *config, file->table(), Format::gguf);
}

void try_folder(std::string_view json, std::string_view weights) {
  const auto document = parse_json(json, "fuzz");
  if (!good(document)) return;
  const auto object = JsonObject::of(*document, "fuzz");
  if (!good(object)) return;
  const auto name = object->get_string("model_type");
  if (!good(name)) return;
  const auto family = find_family(*name, "fuzz");
  if (!good(family)) return;
  const auto config = (*family)->from_json(*object);
  if (!good(config)) return;
  const auto file = Safetensors::open(reader_of(weights));
  if (good(file)) try_out(**family, *config, file->table(), Format::safetensors);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("GGUF")) {
    try_gguf(bytes);
    return 0;
  }
  const size_t end = std::min(bytes.find('\0'), size);
  try_folder(bytes.substr(0, end), bytes.substr(std::min(end + 1, size)));
  return 0;
}
