#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "device/cpu/cpu_ops.h"
#include "device/cpu/memory.h"
#include "device/cpu/pack.h"
#include "device/machine.h"
#include "mummu/version.h"

namespace mummu::cpu {

DeviceInfo CpuOps::device_info() const {
  return {.name = "cpu",
          .kind = kContract,
          .description = cpu_brand(),
          .isa = kernels_.isa,
          .memory_bytes = usable_memory_bytes(),
          .threads = schedule_.width()};
}

Result<Tensor> CpuOps::make(DType type, int64_t rows, int64_t columns) {
  const auto row = checked_mul(columns, info(type).bytes);
  const auto bytes = row ? checked_mul(rows, *row / info(type).elements) : row;
  if (!bytes) return fail(Error::no_memory, "no memory for a tensor of {} x {}", rows, columns);
  MUMMU_TRY(auto memory, allocate(*bytes, "a tensor"));
  return Tensor(std::move(memory), type, rows, columns);
}

void CpuOps::upload(const void* host, View view) {
  std::copy_n(static_cast<const std::byte*>(host), view.bytes(), view.as<std::byte>());
}

void CpuOps::download(View view, void* host) {
  std::copy_n(view.as<const std::byte>(), view.bytes(), static_cast<std::byte*>(host));
}

Result<std::vector<Weight>> CpuOps::pack_all(std::span<const WeightSource> sources) {
  return cpu::pack_all(sources, arena_, scratch_, schedule_);
}

int64_t CpuOps::packed_bytes(DType type, int64_t rows, int64_t columns) const {
  return cpu::packed_bytes(type, rows, columns);
}

Result<void> CpuOps::reserve(int64_t tokens, int64_t columns) {
  if (!partials_) {
    MUMMU_TRY(partials_, make(DType::f32, 1, kPartialFloats));
  }
  const View held = floats_.view();
  const int64_t rows = std::max(std::min(tokens, kGroupTokens), held.rows);
  const int64_t width = std::max(columns, held.columns);
  if (rows == held.rows && width == held.columns) return {};
  MUMMU_TRY(auto floats, make(DType::f32, rows, width));
  MUMMU_TRY(auto blocks, make(DType::u8, rows, (width + kBlock - 1) / kBlock * kTileBlockBytes));
  floats_ = std::move(floats);
  blocks_ = std::move(blocks);
  return {};
}

void CpuOps::embedding(const Weight& table, View ids, View out) {
  const int64_t panel = panel_bytes(table.type(), table.columns());
  const auto* packed = static_cast<const std::byte*>(table.data());
  const double cost = 1.0 * static_cast<double>(out.rows * out.columns);
  schedule_.run(out.rows, cost, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      kernels_.embedding(table.type(), packed, panel, table.columns(), ids.as<int32_t>()[t],
                         out.as<float>() + t * out.columns);
    }
  });
}

void CpuOps::gather(View x, View from, View out) {
  for (int64_t i = 0; i < out.rows; ++i) {
    const View row = x.slice(from.as<int32_t>()[i], 1);
    std::memcpy(out.slice(i, 1).data, row.data, static_cast<size_t>(row.bytes()));
  }
}

void CpuOps::rms_norm(View x, View weight, float eps, View out) {
  const double cost = 0.2 * static_cast<double>(x.rows * x.columns);
  schedule_.run(x.rows, cost, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      kernels_.rms_norm(x.as<float>() + t * x.columns, weight.as<float>(), x.columns, eps,
                        out.as<float>() + t * x.columns);
    }
  });
}

void CpuOps::rope(View x, int64_t heads, View positions, View cos_sin) {
  const double cost = 0.15 * static_cast<double>(x.rows * x.columns);
  schedule_.run(x.rows, cost, [&](int64_t first, int64_t last) {
    kernels_.rope({.x = x.as<float>() + first * x.columns,
                   .tokens = last - first,
                   .heads = heads,
                   .head_dim = x.columns / heads,
                   .positions = positions.as<int32_t>() + first,
                   .cos_sin = cos_sin.as<float>(),
                   .rotary_dim = cos_sin.columns});
  });
}

void CpuOps::kv_write(View k, View v, const KvLayer& layer, std::span<const Segment> segments) {
  for (const Segment& segment : segments) {
    const double cost = 1.0 * static_cast<double>(segment.tokens * k.columns);
    schedule_.run(segment.tokens, cost, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) {
        const int64_t position = segment.position + t;
        const int32_t page = segment.pages[static_cast<size_t>(position / kPageTokens)];
        std::byte* keys =
            layer.pool.as<std::byte>() + page * layer.pool.columns + layer.layer_offset_bytes;
        kernels_.kv_write({.k = k.as<float>() + (segment.first_row + t) * k.columns,
                           .v = v.as<float>() + (segment.first_row + t) * v.columns,
                           .page_keys = keys,
                           .page_values = keys + layer.keys_bytes(),
                           .head_bytes = layer.head_bytes(),
                           .slot = position % kPageTokens,
                           .kv_heads = layer.kv_heads,
                           .head_dim = layer.head_dim,
                           .type = layer.type});
      }
    });
  }
}

}  // namespace mummu::cpu

namespace mummu {

Result<std::unique_ptr<Ops>> open_cpu(DeviceOptions options) {
  const Isa isa = options.isa == Isa::automatic ? best_isa() : options.isa;
  if (isa == Isa::reference || !cpu_has(isa)) {
    return fail(Error::unsupported, "no kernels for the instruction sets of this CPU");
  }
  const cpu::Kernels& kernels = isa == Isa::avx512 ? cpu::kAvx512Kernels : cpu::kAvx2Kernels;
  std::unique_ptr<Ops> ops(new (std::nothrow) cpu::CpuOps(std::move(options.parallel), kernels));
  if (!ops) return fail(Error::no_memory, "no memory for a device");
  return ops;
}

}  // namespace mummu
