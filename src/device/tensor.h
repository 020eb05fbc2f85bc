#pragma once

// Memory of a device: Tensor owns it and moves, View looks at it for one call and is never stored,
// Weight is a matrix that the device has packed in its own way. Byte sizes are asked of these
// types, never recomputed by callers.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/dtype.h"
#include "mummu/result.h"

namespace mummu {

// A borrowed matrix of rows x columns, contiguous; a vector is one row. `data` is the device's own
// pointer.
struct View {
  void* data = nullptr;
  DType type = DType::f32;
  int64_t rows = 0;
  int64_t columns = 0;

  int64_t row_bytes() const { return mummu::row_bytes(type, columns); }
  int64_t bytes() const { return rows * row_bytes(); }
  // Rows [first, first + count).
  View slice(int64_t first, int64_t count) const {
    return {static_cast<char*>(data) + first * row_bytes(), type, count, columns};
  }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// How a device frees what it gave out.
struct Memory {
  virtual ~Memory() = default;
  virtual void* data() = 0;
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(std::unique_ptr<Memory> memory, DType type, int64_t rows, int64_t columns)
      : memory_(std::move(memory)), view_{memory_->data(), type, rows, columns} {}

  View view() const { return view_; }
  View rows(int64_t first, int64_t count) const { return view_.slice(first, count); }
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  std::unique_ptr<Memory> memory_;
  View view_;
};

// A packed matrix of `rows` outputs x `columns` inputs; its bytes are the device's own business.
class Weight {
 public:
  Weight() = default;
  Weight(std::unique_ptr<Memory> memory, DType type, int64_t rows, int64_t columns, int64_t bytes)
      : memory_(std::move(memory)), type_(type), rows_(rows), columns_(columns), bytes_(bytes) {}

  DType type() const { return type_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t bytes() const { return bytes_; }  // packed
  const void* data() const { return memory_->data(); }
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  std::unique_ptr<Memory> memory_;
  DType type_ = DType::f32;
  int64_t rows_ = 0, columns_ = 0, bytes_ = 0;
};

// Where pack gets a matrix from: its type and shape, and a function that writes rows [first, first
// + count) as the file format lays them out (row_bytes(type, columns) each), from any number of
// threads at once.
struct WeightSource {
  DType type = DType::f32;
  int64_t rows = 0;
  int64_t columns = 0;
  std::function<Result<void>(int64_t first, int64_t count, std::span<std::byte> out)> read;
};

}  // namespace mummu
