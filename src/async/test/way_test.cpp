#include "async/test/way.h"

#include <algorithm>
#include <future>

#include "async/test/crowd_forward.h"
#include "async/test/number_channel.h"
#include "mummu/generate.h"
#include "mummu/task.h"
#include "mummu/worker.h"

#if __has_include(<boost/asio/bind_allocator.hpp>)
#include <boost/asio.hpp>

#include "mummu/asio.h"
#endif

namespace mummu::test {
namespace {

// What the host sees of one generation. Says when it wants no more.
class Sight {
 public:
  explicit Sight(size_t stop_after) : stop_after_(stop_after) {}

  // True: enough.
  bool see(const Token& token) {
    if (stopped_) return true;
    driven.text += token.text;
    driven.streamed.insert(driven.streamed.end(), token.ids.begin(), token.ids.end());
    return stopped_ = stop_after_ > 0 && driven.streamed.size() >= stop_after_;
  }
  bool stopped() const { return stopped_; }

  Driven driven;

 private:
  size_t stop_after_;
  bool stopped_ = false;
};

Result<Driven> ended(Sight sight, Result<Completion> done, const Crowd& crowd) {
  MUMMU_TRY(sight.driven.done, std::move(done));
  sight.driven.company = crowd.most();
  return std::move(sight.driven);
}

// ---- on an engine of one's own

Result<Engine> busy_engine(Driving& driving, const std::shared_ptr<Crowd>& crowd) {
  Engine engine = crowd_engine(driving.model, driving.options, crowd);
  crowd->is_complete();
  if (driving.before) MUMMU_TRY(generate(engine, *std::move(driving.before)));
  for (Request& other : driving.neighbours) MUMMU_TRY(engine.admit(std::move(other)));
  return engine;
}

Result<Driven> by_callback(Driving driving) {
  const auto crowd = std::make_shared<Crowd>();
  MUMMU_TRY(Engine engine, busy_engine(driving, crowd));
  Sight sight(driving.stop_after);
  auto done = generate(engine, std::move(driving.request), [&](const Token& token) {
    return sight.see(token) ? Flow::stop : Flow::go_on;
  });
  return ended(std::move(sight), std::move(done), *crowd);
}

Result<Driven> by_pull(Driving driving) {
  const auto crowd = std::make_shared<Crowd>();
  MUMMU_TRY(Engine engine, busy_engine(driving, crowd));
  Generation generation(engine, std::move(driving.request));
  Sight sight(driving.stop_after);
  while (const Token* token = generation.next())
    if (sight.see(*token)) generation.cancel();
  return ended(std::move(sight), generation.result(), *crowd);
}

// ---- on a worker

// A worker with the request's stream, and the neighbours' streams, which nobody reads.
struct Busy {
  std::shared_ptr<Crowd> crowd;
  Worker worker;
  std::vector<Stream> others;
  Stream stream;
  Sight sight;

  // The end of the request, read to it. A stopped stream says that it was cancelled.
  Result<Driven> end() {
    auto done = stream.result();
    if (sight.stopped() && !done && done.error().code == Error::cancelled)
      done = Completion{
          .text = sight.driven.text, .ids = sight.driven.streamed, .finish = Finish::cancelled};
    return ended(std::move(sight), std::move(done), *crowd);
  }
  void see(const Token& token) {
    if (!sight.stopped() && sight.see(token)) stream.cancel();
  }
};

Result<void> answer_before(Worker& worker, std::optional<Request> before, bool lent) {
  if (!before) return {};
  MUMMU_TRY(Stream stream, worker.submit(*std::move(before)));
  while (!stream.done()) {
    if (lent) MUMMU_TRY(worker.run_once());
    while (lent ? stream.try_next() : stream.next()) continue;
  }
  return {};
}

enum class Kind { started, lent };

Result<Busy> make_busy(Driving& driving, Kind kind, bool two_engines = false) {
  const auto crowd = std::make_shared<Crowd>();
  const WorkerOptions options = {.max_events = driving.options.max_pending};
  MUMMU_TRY(Worker worker, kind == Kind::started ? Worker::start(driving.device, options)
                                                 : Result<Worker>(Worker(driving.device, options)));
  MUMMU_TRY(worker.add(crowd_engine(driving.model, driving.options, crowd)));
  if (two_engines) {
    MUMMU_TRY(worker.add(crowd_engine(driving.second, driving.options, crowd, 1)));
    for (Request& other : driving.neighbours) other.model = &driving.second.impl();
  }
  if (kind == Kind::lent || driving.before) crowd->is_complete();
  MUMMU_TRY(answer_before(worker, std::move(driving.before), kind == Kind::lent));
  if (kind == Kind::started) crowd->hold();  // before the neighbours end or pause
  std::vector<Stream> others;
  for (Request& other : driving.neighbours) {
    MUMMU_TRY(Stream stream, worker.submit(std::move(other)));
    others.push_back(std::move(stream));
  }
  MUMMU_TRY(Stream stream, worker.submit(std::move(driving.request)));
  crowd->is_complete();
  return Busy{crowd, std::move(worker), std::move(others), std::move(stream),
              Sight(driving.stop_after)};
}

Result<Driven> by_next(Driving driving) {
  MUMMU_TRY(Busy busy, make_busy(driving, Kind::started));
  for (const Token& token : busy.stream) busy.see(token);
  return busy.end();
}

// Outlives the stream, whose destructor waits for a function that is still running.
struct Reader {
  Busy* busy = nullptr;
  std::promise<void> over{};

  void go_on() {
    while (const Token* token = busy->stream.try_next()) busy->see(*token);
    if (busy->stream.done()) return over.set_value();
    (void)busy->stream.on_ready([this] { go_on(); });
  }
};

Result<Driven> by_on_ready(Driving driving) {
  Reader reader;
  MUMMU_TRY(Busy busy, make_busy(driving, Kind::started));
  reader.busy = &busy;
  auto over = reader.over.get_future();
  reader.go_on();
  over.wait();
  return busy.end();
}

Task<void> read(Busy& busy, Pool& pool) {
  while (const Token* token = co_await busy.stream.next(pool.executor())) busy.see(*token);
}

Result<Driven> by_coroutine(Driving driving) {
  MUMMU_TRY(Busy busy, make_busy(driving, Kind::started));
  Pool pool(2);
  MUMMU_TRY(sync_wait(read(busy, pool)));
  return busy.end();
}

Result<Driven> by_host_loop(Driving driving) {
  MUMMU_TRY(Busy busy, make_busy(driving, Kind::lent));
  while (!busy.stream.done()) {
    MUMMU_TRY(busy.worker.run_for(std::chrono::milliseconds(8)));
    while (const Token* token = busy.stream.try_next()) busy.see(*token);
  }
  return busy.end();
}

Result<Driven> by_two_engines(Driving driving) {
  MUMMU_TRY(Busy busy, make_busy(driving, Kind::started, true));
  for (const Token& token : busy.stream) busy.see(token);
  return busy.end();
}

#if __has_include(<boost/asio/bind_allocator.hpp>)
boost::asio::awaitable<void> read_by_asio(Busy& busy) {
  while (const Token* token = co_await async_next(busy.stream, boost::asio::use_awaitable))
    busy.see(*token);
}

Result<Driven> by_asio(Driving driving) {
  MUMMU_TRY(Busy busy, make_busy(driving, Kind::started));
  boost::asio::io_context io;
  boost::asio::co_spawn(io, read_by_asio(busy), boost::asio::detached);
  io.run();
  return busy.end();
}
#endif

}  // namespace

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"callback", by_callback},
      {"pull", by_pull},
      {"next", by_next},
      {"on_ready", by_on_ready},
      {"coroutine", by_coroutine},
      {"host_loop", by_host_loop},
      {"two_engines", by_two_engines},
#if __has_include(<boost/asio/bind_allocator.hpp>)
      {"asio", by_asio},
#endif
  };
  return all;
}

const Way& way_named(const std::string& name) {
  return *std::find_if(ways().begin(), ways().end(),
                       [&](const Way& way) { return way.name == name; });
}

}  // namespace mummu::test
