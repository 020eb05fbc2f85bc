#include "text/jinja/heap.h"

#include "base/fail.h"

namespace mummu::jinja {

Heap::~Heap() {
  // What is left are cycles. Hold all of it, let every object drop its references, then destroy it.
  for (Object* object = first_; object; object = object->next_) ++object->references_;
  for (Object* object = first_; object; object = object->next_) object->clear();
  while (first_) {
    Object* object = first_;
    unlink(*object);
    delete object;
  }
}

Error Heap::exhausted() const {
  if (steps_ > kMaxSteps) return fail(Error::invalid, "more than {} steps", kMaxSteps);
  return fail(Error::invalid, "values of more than {} MiB", kMaxLive >> 20);
}

void Heap::set_baseline() {
  limit_ = live_ + kMaxLive;
  steps_ = 0;
}

void Heap::adopt(Object& object, size_t bytes) {
  object.heap_ = this;
  object.bytes_ = bytes;
  object.next_ = first_;
  if (first_) first_->previous_ = &object;
  first_ = &object;
  live_ += bytes;
}

void Heap::charge_object(Object& object, size_t bytes) {
  object.bytes_ += bytes;
  live_ += bytes;
}

void Heap::unlink(Object& object) {
  if (object.previous_) object.previous_->next_ = object.next_;
  if (object.next_) object.next_->previous_ = object.previous_;
  if (first_ == &object) first_ = object.next_;
  live_ -= object.bytes_;
}

void Heap::bury(Object& object) {
  unlink(object);
  object.next_ = dead_;
  dead_ = &object;
  if (burying_) return;
  burying_ = true;
  while (dead_) {
    Object* next = dead_;
    dead_ = next->next_;
    delete next;
  }
  burying_ = false;
}

}  // namespace mummu::jinja
