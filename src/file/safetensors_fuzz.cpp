// Any bytes as a safetensors file: they open or they are refused, and the tensors of what opens
// take every byte of the data.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "file/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  auto file = mummu::FileReader::from_bytes("fuzz", {begin, begin + size});
  const auto model = mummu::Safetensors::open(std::move(file));
  if (!model) {
    if (model.error().message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  uint64_t header = 0;
  for (size_t i = sizeof(header); i > 0; --i) header = header << 8 | data[i - 1];
  size_t bytes = sizeof(header) + header;
  for (const mummu::TensorInfo& tensor : model->tensors()) {
    std::vector<std::byte> values(static_cast<size_t>(tensor.size_bytes));
    if (!model->read(tensor, 0, values) || model->find(tensor.name) != &tensor) std::abort();
    bytes += values.size();
  }
  if (bytes != size) std::abort();
  return 0;
}
