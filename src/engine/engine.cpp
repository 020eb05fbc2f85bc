// The public edge of the engine: nothing is thrown into the host, and what computes runs in the
// default float environment.

#include "mummu/engine.h"

#include "base/edge.h"
#include "base/fail.h"
#include "base/float_environment.h"
#include "engine/device_forward.h"
#include "engine/engine_impl.h"
#include "model/model_impl.h"

namespace mummu {

namespace {

Error no_engine() { return {Error::invalid, "this engine was moved from, or had no memory"}; }

// Null where there is no memory even for this: every call on such an engine says so.
std::unique_ptr<Engine::Impl> make_impl(const Model::Impl& model, EngineOptions options) noexcept {
  try {
    EngineParts parts;
    parts.forward = std::make_unique<DeviceForward>(*model.ops, model.decoder, options.kv);
    parts.tokenizer = &model.tokenizer;
    parts.model = &model;
    parts.end_ids = model.info.end_ids;
    return std::make_unique<Engine::Impl>(std::move(parts), std::move(options));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

Engine::Engine(const Model& model, EngineOptions options)
    : impl_(make_impl(model.impl(), std::move(options))) {}
Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

// Whoever calls these functions uses the engine: it has the role.

Result<RequestId> Engine::admit(Request request) {
  if (!impl_) return no_engine();
  return at_edge([&] {
    impl_->role.assume();
    return impl_->admit(std::move(request));
  });
}

Result<const StepReport*> Engine::step() {
  if (!impl_) return no_engine();
  impl_->role.assume();
  if (impl_->in_callback)
    return fail(Error::invalid, "step was called from inside a callback of this engine");
  auto report = run_in_default_float_environment([&] {
    return at_edge([&] {
      impl_->role.assume();
      return impl_->step();
    });
  });
  if (!report) impl_->fail_all(report.error());
  return report;
}

bool Engine::has_work() const {
  if (!impl_) return false;
  impl_->role.assume();
  return impl_->has_work();
}

const Token* Engine::take(RequestId id, int choice) {
  if (!impl_) return nullptr;
  impl_->role.assume();
  return impl_->take(id, choice);
}

bool Engine::done(RequestId id, int choice) const {
  if (!impl_) return true;
  impl_->role.assume();
  return impl_->done(id, choice);
}

Result<Completion> Engine::result(RequestId id, int choice) {
  if (!impl_) return no_engine();
  return at_edge([&] {
    impl_->role.assume();
    return impl_->result(id, choice);
  });
}

void Engine::cancel(RequestId id) {
  if (!impl_) return;
  impl_->role.assume();
  impl_->cancel(id);
}

void Engine::pause(RequestId id) {
  if (!impl_) return;
  impl_->role.assume();
  impl_->set_paused(id, true);
}

void Engine::resume(RequestId id) {
  if (!impl_) return;
  impl_->role.assume();
  impl_->set_paused(id, false);
}

void Engine::forget(RequestId id) {
  if (!impl_) return;
  impl_->role.assume();
  impl_->forget(id);
}

}  // namespace mummu
