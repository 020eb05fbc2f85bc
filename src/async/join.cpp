// when_all: children run as chains of their own, the last to end resumes the parent.

#include <atomic>

#include "mummu/task.h"

namespace mummu {
namespace {

struct Joined {
  std::atomic<size_t> left;
  std::atomic<bool> abandoned = false;
  std::coroutine_handle<> parent;
  std::shared_ptr<Root> root;
};

// True for the one who must see to the parent.
bool count_down(Joined& joined) { return joined.left.fetch_sub(1) == 1; }

void child_over(Joined& joined, Root::End end) {
  if (end == Root::End::abandoned) joined.abandoned = true;
  if (!count_down(joined)) return;
  if (joined.abandoned)
    joined.root->abandon();
  else
    Root::run(joined.root, joined.parent);
}

}  // namespace

void Join::add(std::coroutine_handle<> frame, TaskPromise& promise) {
  children_.push_back({frame, &promise});
}

// The parent is not resumed before all children have been started: it counts as one of them.
bool Join::start(std::coroutine_handle<> parent, const std::shared_ptr<Root>& root) {
  auto joined = std::make_shared<Joined>();
  joined->left = children_.size() + 1;
  joined->parent = parent;
  joined->root = root;
  for (Child& child : children_) {
    child.promise->root = Root::make(root->stop());
    if (!child.promise->root) std::rethrow_exception(std::make_exception_ptr(std::bad_alloc()));
    child.promise->root->when_over({}, [joined](Root::End end) { child_over(*joined, end); });
  }
  // From here on the last child may destroy this frame, and `children_` with it, but not before
  // count_down below.
  for (const Child& child : children_) Root::run(child.promise->root, child.frame);
  if (!count_down(*joined)) return true;
  if (!joined->abandoned) return false;
  root->abandon();
  return true;
}

}  // namespace mummu
