// What is promised of Model across threads follows from what its Impl is made of.

#include "model/model_impl.h"

namespace mummu {

static_assert(thread_movable<Model> == thread_movable<Model::Impl>);
static_assert(thread_shareable<Model> == thread_shareable<Model::Impl>);

}  // namespace mummu
