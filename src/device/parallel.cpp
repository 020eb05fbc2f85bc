#include <algorithm>
#include <utility>

#include "base/float_environment.h"
#include "mummu/device.h"

namespace mummu {
namespace {

// A host's pool, whose threads may run in any floating-point mode: every piece of work gets the
// default one.
class HostPool final : public Parallel::Pool {
 public:
  explicit HostPool(std::unique_ptr<Parallel::Pool> pool) : pool_(std::move(pool)) {}

  int width() const override { return std::max(1, pool_->width()); }

  void for_each(int64_t count, void (*work)(void*, int64_t), void* context) override {
    struct Piece {
      void (*work)(void*, int64_t);
      void* context;
    } piece{work, context};
    const auto guarded = [](void* opaque, int64_t index) {
      const auto* inner = static_cast<const Piece*>(opaque);
      run_in_default_float_environment([&] { inner->work(inner->context, index); });
    };
    pool_->for_each(count, guarded, &piece);
  }

 private:
  std::unique_ptr<Parallel::Pool> pool_;
};

}  // namespace

Parallel::Pool::~Pool() = default;

Parallel::Parallel(std::unique_ptr<Pool> pool) {
  if (pool) pool_ = std::make_unique<HostPool>(std::move(pool));
}

}  // namespace mummu
