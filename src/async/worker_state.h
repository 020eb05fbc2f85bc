#pragma once

// What a Worker drives: its engines and the streams that run in them. The thread that drives has
// the role; what others may touch lies under the lock.

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "async/driver.h"
#include "async/token_channel.h"
#include "mummu/engine.h"
#include "mummu/worker.h"

namespace mummu {

// An engine's place at a worker. It stays until the Worker dies.
struct Seat {
  std::shared_ptr<const void> keep;  // what must outlive the engine
  Engine engine;
  const Model::Impl* model;
  int64_t waiting = 0;  // choices that have not run yet; guarded by the worker's lock
  // In the order of their ids. Room for all that may be open.
  std::vector<std::shared_ptr<TokenChannel>> live;
};

class Worker::State final : public Driver {
 public:
  State(const Device& device, const WorkerOptions& options);

  Result<void> add(Engine engine, std::shared_ptr<const void> keep);
  Result<Stream> submit(Request request);
  Result<void> told_status();
  WorkerCounts counts();
  static Result<void> check(const WorkerOptions& options);
  // What every call asks first.
  static Result<void> check(const std::shared_ptr<State>& state);

 private:
  void handle(const std::shared_ptr<Channel>& channel) override MUMMU_REQUIRES(role_);
  bool has_work() override MUMMU_REQUIRES(role_);
  void step(SteadyTime wait_until) override MUMMU_REQUIRES(role_);
  void lift() override MUMMU_REQUIRES(role_);
  void close_all() noexcept override MUMMU_REQUIRES(role_);
  void destroy_driven() noexcept override MUMMU_REQUIRES(role_);
  Result<void> may_open(const Channel& channel) override MUMMU_REQUIRES(mutex_);
  Result<void> status() override MUMMU_REQUIRES(mutex_);

  Seat* find_seat(const Model::Impl* model);
  void take_engines() MUMMU_REQUIRES(role_);
  void admit(const std::shared_ptr<TokenChannel>& channel) MUMMU_REQUIRES(role_);
  void step_seat(Seat& seat) MUMMU_REQUIRES(role_);
  void note(Seat& seat, const StepReport& report) MUMMU_REQUIRES(role_);
  void lose_device(const Error& error) MUMMU_REQUIRES(role_);
  void hand_out(Seat& seat) MUMMU_REQUIRES(role_);
  bool hand_out(Seat& seat, TokenChannel& channel, Channel::WakeChain& chain) MUMMU_REQUIRES(role_);
  bool hand_out(Seat& seat, TokenChannel& channel, int choice, Channel::WakeChain& chain)
      MUMMU_REQUIRES(role_);
  void retire(TokenChannel& channel) MUMMU_REQUIRES(role_);
  void publish() MUMMU_REQUIRES(role_);

  const Ops* const device_;
  const WorkerOptions options_;

  std::vector<Seat*> routes_ MUMMU_GUARDED_BY(mutex_);
  std::list<Seat> arrived_ MUMMU_GUARDED_BY(mutex_);  // not yet seen by the driver
  std::optional<Error> lost_ MUMMU_GUARDED_BY(mutex_);
  WorkerCounts counts_ MUMMU_GUARDED_BY(mutex_);

  std::list<Seat> seats_ MUMMU_GUARDED_BY(role_);  // the next to step first
  int64_t steps_ MUMMU_GUARDED_BY(role_) = 0;
  OwnedToken token_ MUMMU_GUARDED_BY(role_);  // on its way
};

}  // namespace mummu
