// Every way to drive one request, alone or in a crowd, gives the same bits.

#include <gtest/gtest.h>

#include <future>

#include "async/test/number_channel.h"
#include "base/test_fixture.h"
#include "mummu/generate.h"
#include "mummu/task.h"
#include "mummu/worker.h"

#if __has_include(<boost/asio/bind_allocator.hpp>)
#include <boost/asio.hpp>

#include "mummu/asio.h"
#endif

namespace mummu::test {
namespace {

const std::string& model_path() {
  static const std::string path = fixture("SmolLM2-135M-Instruct.Q4_1.gguf");
  return path;
}

struct Loaded {
  Device device = *open_device("cpu", {.parallel = Threads(2)});
  Model first = *Model::load(model_path(), device);
  Model second = *Model::load(model_path(), device);
};

Loaded& loaded() {
  static Loaded both;
  return both;
}
Device& device() { return loaded().device; }

// An answer, and the text and ids as they were streamed.
struct Streamed {
  Completion completion;
  std::string text;
  std::vector<TokenId> ids;

  void see(const Token& token) {
    text += token.text;
    ids.insert(ids.end(), token.ids.begin(), token.ids.end());
  }
};

// Runs the request beside the crowd, which is cancelled when it has ended.
using Run = Result<Streamed> (*)(const Model&, EngineOptions, Request, std::vector<Request>);
struct Way {
  const char* name;
  Run run;
};

Result<Streamed> finish(Streamed out, Result<Completion> completion) {
  MUMMU_TRY(out.completion, std::move(completion));
  return out;
}

Result<Streamed> by_callback(const Model& model, EngineOptions options, Request request,
                             std::vector<Request> crowd) {
  Engine engine(model, options);
  for (Request& other : crowd) MUMMU_TRY(engine.admit(std::move(other)));
  Streamed out;
  auto done = generate(engine, std::move(request), [&](const Token& token) {
    out.see(token);
    return Flow::go_on;
  });
  return finish(std::move(out), std::move(done));
}

Result<Streamed> by_pull(const Model& model, EngineOptions options, Request request,
                         std::vector<Request> crowd) {
  Engine engine(model, options);
  std::vector<Generation> others;
  for (Request& other : crowd) others.emplace_back(engine, std::move(other));
  Generation generation(engine, std::move(request));
  Streamed out;
  while (const Token* token = generation.next()) {
    out.see(*token);
    for (Generation& other : others) (void)other.next();
  }
  return finish(std::move(out), generation.result());
}

// A worker with its stream, and the crowd's streams, which nobody reads.
struct Busy {
  Worker worker;
  std::vector<Stream> others;
  Stream stream;
};

Result<Busy> make_busy(const Model& model, const EngineOptions& options, Worker worker,
                       Request request, std::vector<Request> crowd) {
  MUMMU_TRY(worker.add(Engine(model, options)));
  std::vector<Stream> others;
  for (Request& other : crowd) {
    MUMMU_TRY(auto stream, worker.submit(std::move(other)));
    others.push_back(std::move(stream));
  }
  MUMMU_TRY(auto stream, worker.submit(std::move(request)));
  return Busy{std::move(worker), std::move(others), std::move(stream)};
}

Result<Busy> start_busy(const Model& model, const EngineOptions& options, Request request,
                        std::vector<Request> crowd) {
  MUMMU_TRY(auto worker, Worker::start(device(), {.max_events = 16}));
  return make_busy(model, options, std::move(worker), std::move(request), std::move(crowd));
}

Result<Streamed> by_next(const Model& model, EngineOptions options, Request request,
                         std::vector<Request> crowd) {
  MUMMU_TRY(auto busy, start_busy(model, options, std::move(request), std::move(crowd)));
  Streamed out;
  for (const Token& token : busy.stream) out.see(token);
  return finish(std::move(out), busy.stream.result());
}

Result<Streamed> by_on_ready(const Model& model, EngineOptions options, Request request,
                             std::vector<Request> crowd) {
  MUMMU_TRY(auto busy, start_busy(model, options, std::move(request), std::move(crowd)));
  struct Reader {
    Stream& stream;
    Streamed out;
    std::promise<void> over;
    void go_on() {
      while (const Token* token = stream.try_next()) out.see(*token);
      if (stream.done()) return over.set_value();
      (void)stream.on_ready([this] { go_on(); });
    }
  } reader{busy.stream, {}, {}};
  MUMMU_TRY(busy.stream.on_ready([&] { reader.go_on(); }));
  reader.over.get_future().wait();
  return finish(std::move(reader.out), busy.stream.result());
}

Result<Streamed> by_coroutine(const Model& model, EngineOptions options, Request request,
                              std::vector<Request> crowd) {
  MUMMU_TRY(auto busy, start_busy(model, options, std::move(request), std::move(crowd)));
  Pool pool(2);
  Streamed out;
  const auto read = [](Stream& stream, Pool& where, Streamed& to) -> Task<void> {
    while (const Token* token = co_await stream.next(where.executor())) to.see(*token);
  };
  MUMMU_TRY(sync_wait(read(busy.stream, pool, out)));
  return finish(std::move(out), busy.stream.result());
}

Result<Streamed> by_host_loop(const Model& model, EngineOptions options, Request request,
                              std::vector<Request> crowd) {
  MUMMU_TRY(auto busy, make_busy(model, options, Worker(device(), {.max_events = 16}),
                                 std::move(request), std::move(crowd)));
  Streamed out;
  while (!busy.stream.done()) {
    MUMMU_TRY(busy.worker.run_for(std::chrono::milliseconds(8)));
    while (const Token* token = busy.stream.try_next()) out.see(*token);
  }
  return finish(std::move(out), busy.stream.result());
}

// The crowd runs in a second engine, of a second model.
Result<Streamed> by_two_engines(const Model& model, EngineOptions options, Request request,
                                std::vector<Request> crowd) {
  MUMMU_TRY(auto worker, Worker::start(device(), {.max_events = 16}));
  const Model& second = loaded().second;
  MUMMU_TRY(worker.add(Engine(second, options)));
  for (Request& other : crowd) other.model = &second.impl();
  MUMMU_TRY(auto busy,
            make_busy(model, options, std::move(worker), std::move(request), std::move(crowd)));
  Streamed out;
  for (const Token& token : busy.stream) out.see(token);
  return finish(std::move(out), busy.stream.result());
}

Result<Streamed> by_future(const Model& model, EngineOptions options, Request request,
                           std::vector<Request> crowd) {
  MUMMU_TRY(auto worker, Worker::start(device()));
  MUMMU_TRY(worker.add(Engine(model, options)));
  std::vector<Stream> others;
  for (Request& other : crowd) {
    MUMMU_TRY(auto stream, worker.submit(std::move(other)));
    others.push_back(std::move(stream));
  }
  auto done = worker.submit_all(std::move(request)).get();
  Streamed out;
  if (done) {
    out.text = done->text;
    out.ids = done->ids;
  }
  return finish(std::move(out), std::move(done));
}

#if __has_include(<boost/asio/bind_allocator.hpp>)
Result<Streamed> by_asio(const Model& model, EngineOptions options, Request request,
                         std::vector<Request> crowd) {
  namespace asio = boost::asio;
  MUMMU_TRY(auto busy, start_busy(model, options, std::move(request), std::move(crowd)));
  asio::io_context io;
  Streamed out;
  const auto read = [&]() -> asio::awaitable<void> {
    while (const Token* token = co_await async_next(busy.stream, asio::use_awaitable))
      out.see(*token);
  };
  asio::co_spawn(io, read, asio::detached);
  io.run();
  return finish(std::move(out), busy.stream.result());
}
#endif

constexpr Way kWays[] = {
    {"callback", by_callback},   {"pull", by_pull},
    {"next", by_next},           {"on_ready", by_on_ready},
    {"coroutine", by_coroutine}, {"host_loop", by_host_loop},
    {"future", by_future},       {"two_engines", by_two_engines},
#if __has_include(<boost/asio/bind_allocator.hpp>)
    {"asio", by_asio},
#endif
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MUMMU_SLOW 1
#endif
#endif
#if defined(MUMMU_SLOW)
constexpr int64_t kTokens = 6;
#else
constexpr int64_t kTokens = 24;
#endif

Request story(const char* text, uint64_t seed) {
  return *complete(loaded().first, text,
                   {.max_tokens = kTokens, .temperature = 0.8f, .top_p = 0.95f, .seed = seed});
}

class Ways : public testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(Every, Ways, testing::ValuesIn(kWays),
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(Ways, gives_the_bits_that_the_callback_gives) {
  MUMMU_NEEDS(model_path());
  const Model& model = loaded().first;
  const Request request = story("Once upon a time, by the sea,", 42);
  const auto expected = by_callback(model, {.context = 256}, request, {});
  ASSERT_TRUE(expected) << expected.error().message;
  for (const bool alone : {true, false}) {
    std::vector<Request> crowd;
    if (!alone)
      crowd = {story("The mountain", 1), story("Once upon a time, by the sea,", 2),
               story("A list of colours: red,", 3)};
    const auto got =
        GetParam().run(model, {.context = 256, .kv_tokens = 1024}, request, std::move(crowd));
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->completion.ids, expected->completion.ids);
    EXPECT_EQ(got->completion.text, expected->completion.text);
    EXPECT_EQ(got->completion.logits_hash, expected->completion.logits_hash);
    EXPECT_EQ(got->ids, expected->ids);
    EXPECT_EQ(got->text, expected->text);
  }
}

}  // namespace
}  // namespace mummu::test
