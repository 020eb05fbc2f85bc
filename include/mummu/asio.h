#pragma once

// Streams as Boost.Asio operations; optional, the library itself knows nothing of Boost.
//   while (const mummu::Token* token = co_await mummu::async_next(stream, asio::use_awaitable)) ...
// (name the token: g++ before 13 miscompiles a condition that is only a co_await, await.h says
// how). Any completion token (callback, use_future, use_awaitable, deferred); completes once, with
// a Next<Event>, always posted to the handler's associated executor, with its associated allocator.
// Cancelling the operation, or the death of its io_context, ends the wait and not the stream, and
// loses no event; the death of the stream completes it with Pull::cancelled.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "mummu/event_stream.h"

namespace mummu {

// One wait that is under way. `over` is decided once, under the mutex.
class AsioWait {
 public:
  virtual ~AsioWait() = default;
  // Its io_context is going: destroys the handler.
  virtual void drop() noexcept = 0;
};

// One for each execution_context: knows the waits that would post into it, so that they are dropped
// before its executor dies.
class AsioWaits : public boost::asio::execution_context::service {
 public:
  using key_type = AsioWaits;
  static inline boost::asio::execution_context::id id;

  struct List {
    std::mutex mutex;
    std::list<std::weak_ptr<AsioWait>> waits;
    bool down = false;
  };
  using Place = std::list<std::weak_ptr<AsioWait>>::iterator;

  explicit AsioWaits(boost::asio::execution_context& context) : service(context) {}
  const std::shared_ptr<List>& list() const { return list_; }

 private:
  void shutdown() override {
    std::list<std::weak_ptr<AsioWait>> waits;
    {
      const std::lock_guard lock(list_->mutex);
      list_->down = true;
      waits.swap(list_->waits);
    }
    for (const auto& weak : waits)
      if (const auto wait = weak.lock()) wait->drop();
  }

  std::shared_ptr<List> list_ = std::make_shared<List>();
};

template <typename Event, typename Handler>
class AsioWaitOf final : public AsioWait,
                         public std::enable_shared_from_this<AsioWaitOf<Event, Handler>> {
 public:
  AsioWaitOf(Handler handler, std::shared_ptr<Channel> channel)
      : channel_(std::move(channel)), handler_(std::move(handler)) {
    const auto executor = boost::asio::get_associated_executor(*handler_);
    work_.emplace(boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked));
    auto& context = boost::asio::query(executor, boost::asio::execution::context);
    waits_ = boost::asio::use_service<AsioWaits>(context).list();
  }

  void start() {
    auto self = this->shared_from_this();
    {
      const std::lock_guard lock(waits_->mutex);
      place_ = waits_->waits.insert(waits_->waits.end(), self);
    }
    auto slot = boost::asio::get_associated_cancellation_slot(*handler_);
    if (slot.is_connected())
      slot.assign([weak = this->weak_from_this()](boost::asio::cancellation_type type) {
        if (type == boost::asio::cancellation_type::none) return;
        if (const auto wait = weak.lock()) wait->cancel();
      });
    Callback<void()> function = Ready(self);
    Ticket ticket;
    const Pull taken = on_ready(*channel_, function, ticket);
    if (taken != Pull::event) return complete(taken);
    bool late = false;
    {
      const std::lock_guard lock(mutex_);
      ticket_ = ticket;
      late = over_;
    }
    if (late) disarm(*channel_, ticket);
  }

 private:
  // What lies in the stream's place. Dropped un-run, it says that the stream is gone.
  class Ready {
   public:
    explicit Ready(std::shared_ptr<AsioWaitOf> wait) noexcept : wait_(std::move(wait)) {}
    Ready(Ready&&) noexcept = default;
    Ready& operator=(Ready&&) = delete;
    ~Ready() {
      if (wait_) wait_->complete(Pull::cancelled);
    }
    void operator()() { std::exchange(wait_, nullptr)->complete(Pull::event); }

   private:
    std::shared_ptr<AsioWaitOf> wait_;
  };

  void cancel() noexcept {
    complete(Pull::cancelled);
    disarm(*channel_, ticket());
  }

  void drop() noexcept override {
    {
      std::optional<Handler> dead;
      std::optional<Work> work;
      const std::lock_guard lock(mutex_);
      if (std::exchange(over_, true)) return;
      move_out(handler_, dead);
      move_out(work_, work);
    }
    disarm(*channel_, ticket());
  }

  // Handlers can be moved and need not be assignable.
  template <typename T>
  static void move_out(std::optional<T>& from, std::optional<T>& to) {
    to.emplace(std::move(*from));
    from.reset();
  }

  Ticket ticket() {
    const std::lock_guard lock(mutex_);
    return ticket_;
  }

  // Posts, and lets go of the tracked work, under the mutex: shutdown takes it too, so the context
  // cannot die in between.
  void complete(Pull why) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(over_, true)) return;
      std::optional<Work> work;
      move_out(work_, work);
      Handler handler = std::move(*handler_);
      handler_.reset();
      const auto executor = boost::asio::get_associated_executor(handler);
      const auto allocator = boost::asio::get_associated_allocator(handler);
      try {
        boost::asio::post(executor, boost::asio::bind_allocator(
                                        allocator, Posted{std::move(handler), channel_, why}));
      } catch (...) {  // no memory for it: the handler is destroyed un-run
      }
    }
    const std::lock_guard lock(waits_->mutex);
    if (!waits_->down) waits_->waits.erase(place_);
  }

  struct Posted {
    Handler handler;
    std::shared_ptr<Channel> channel;
    Pull why;
    void operator()() {
      boost::asio::get_associated_cancellation_slot(handler).clear();
      const Pulled pulled = why == Pull::event ? pull(*channel) : Pulled{why};
      std::move(handler)(Next<Event>(pulled));
    }
  };

  using Work = std::decay_t<decltype(boost::asio::prefer(
      std::declval<boost::asio::associated_executor_t<Handler>>(),
      boost::asio::execution::outstanding_work.tracked))>;

  const std::shared_ptr<Channel> channel_;
  std::shared_ptr<AsioWaits::List> waits_;
  AsioWaits::Place place_;

  std::mutex mutex_;
  bool over_ = false;
  Ticket ticket_;
  std::optional<Handler> handler_;
  std::optional<Work> work_;
};

// The stream's next event. The event lives until the next reading call on the stream.
template <typename Event, typename CompletionToken>
auto async_next(EventStream<Event>& stream, CompletionToken&& token) {
  return boost::asio::async_initiate<CompletionToken, void(Next<Event>)>(
      [](auto handler, std::shared_ptr<Channel> channel) {
        using Wait = AsioWaitOf<Event, std::decay_t<decltype(handler)>>;
        const auto allocator = boost::asio::get_associated_allocator(handler);
        std::allocate_shared<Wait>(allocator, std::move(handler), std::move(channel))->start();
      },
      token, stream.channel());
}

}  // namespace mummu
