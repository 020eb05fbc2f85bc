// What is promised of Model and Engine across threads follows from what their Impls are made of.

#include "engine/engine_impl.h"
#include "model/model_impl.h"

namespace mummu {

static_assert(thread_movable<Model> == thread_movable<Model::Impl>);
static_assert(thread_shareable<Model> == thread_shareable<Model::Impl>);
static_assert(thread_movable<Engine> == thread_movable<Engine::Impl>);
static_assert(thread_shareable<Engine> == thread_shareable<Engine::Impl>);

}  // namespace mummu
