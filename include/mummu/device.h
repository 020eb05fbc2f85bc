#pragma once

// Where a model's arithmetic runs, and on whose threads. A Device is opened by name and handed to
// Model::load; it must outlive its models and engines. It starts no thread: a CPU device computes
// through the Parallel that the host gives it. One thread at a time may step engines of one Device;
// opening, listing and destroying are free.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mummu/export.h"
#include "mummu/result.h"

namespace mummu {

class Threads;

// Runs independent pieces of work. The default is serial: everything happens on the calling thread.
// How many threads there are, and who computes which piece, never changes a result.
class MUMMU_API Parallel {
 public:
  // What a host implements to lend its own pool.
  class MUMMU_API Pool {
   public:
    virtual ~Pool();
    // How many pieces may run at once, the calling thread included; at least 1.
    virtual int width() const = 0;
    // Calls work(context, i) exactly once for every i in [0, count), on any threads in any order,
    // and returns when all of these calls have returned. work never throws and never calls
    // for_each.
    virtual void for_each(int64_t count, void (*work)(void* context, int64_t index),
                          void* context) = 0;
  };

  Parallel() = default;                           // serial
  explicit Parallel(std::unique_ptr<Pool> pool);  // the host's own
  Parallel(Parallel&&) noexcept = default;
  Parallel& operator=(Parallel&&) noexcept = default;
  ~Parallel() = default;

  int width() const { return pool_ ? pool_->width() : 1; }

  // Calls work(i) for every i in [0, count).
  template <typename Work>
  void for_each(int64_t count, Work&& work) {
    if (!pool_ || count <= 1) {
      for (int64_t i = 0; i < count; ++i) work(i);
      return;
    }
    using Plain = std::remove_reference_t<Work>;
    pool_->for_each(
        count, [](void* context, int64_t index) { (*static_cast<Plain*>(context))(index); },
        const_cast<void*>(static_cast<const void*>(&work)));
  }

 private:
  friend class Threads;
  std::unique_ptr<Pool> pool_;
};

inline Parallel serial() { return {}; }

// A pool of n threads in all: the caller and n - 1 of its own, which spin briefly for work and then
// sleep, and are joined when it dies. n <= 1 is serial; n == 0 means the cores this process may
// use. Where another program needs the cores, its helpers step back for a while instead of making
// every step wait for them.
//   errors   a thread that cannot be started is left out: width() tells
class MUMMU_API Threads : public Parallel {
 public:
  explicit Threads(int n = 0);
};

// Which CPU instructions to use. Every choice gives the same bits.
enum class Isa { automatic, reference, avx2, avx512 };

struct DeviceOptions {
  Parallel parallel{};       // default: serial
  Isa isa = Isa::automatic;  // automatic: MUMMU_ISA (reference, avx2, avx512) if set, else the best
                             // this CPU has
};

struct DeviceInfo {
  std::string name{};  // what open_device takes: "cpu"
  std::string
      kind{};  // "cpu-1": the arithmetic contract and its version; equal kinds give equal bits
  std::string description{};  // for people: the CPU's brand
  std::string isa{};          // "avx512", "avx2", "reference"
  int64_t memory_bytes = 0;   // memory it can use in all
  int threads = 1;            // width of its Parallel
};

class Ops;

class MUMMU_API Device {
 public:
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;
  ~Device();

  DeviceInfo info() const;

  // For the library's own rooms.
  Ops& ops() const { return *ops_; }
  explicit Device(std::unique_ptr<Ops> ops);

 private:
  std::unique_ptr<Ops> ops_;
};

// Opens a device by name ("cpu").
//   errors   not_found (unknown name; lists the known ones), unsupported (not in this build, or an
//   instruction set that
//            this CPU lacks), invalid (MUMMU_ISA holds an unknown word), no_memory
MUMMU_API Result<Device> open_device(std::string_view name, DeviceOptions options = {});

// The devices of this machine that this build can open.
MUMMU_API std::vector<DeviceInfo> enumerate_devices();

}  // namespace mummu
