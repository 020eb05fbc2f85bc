#include "hub/drive.h"

#include <algorithm>
#include <thread>

namespace mummu::hub {
namespace {

using std::chrono::milliseconds;

class SteadyClock : public HubClock {
 public:
  Time now() override { return std::chrono::steady_clock::now(); }
  void sleep_until(Time time) override { std::this_thread::sleep_until(time); }
};

}  // namespace

Result<std::unique_ptr<Drive>> Drive::make(HubOptions options) {
  if (!options.clock) options.clock = std::make_shared<SteadyClock>();
  MUMMU_TRY(auto net, Net::make());
  return std::unique_ptr<Drive>(new Drive(std::move(net), std::move(options)));
}

Drive::Drive(std::unique_ptr<Net> net, HubOptions options)
    : options_(std::move(options)), net_(std::move(net)) {}

Result<int64_t> Drive::add(const std::string& name) {
  MUMMU_TRY(auto pull, ModelPull::make(*net_, options_, name));
  pulls_.emplace(++last_id_, std::move(pull));
  return last_id_;
}

ModelPull* Drive::find(int64_t id) {
  const auto found = pulls_.find(id);
  return found == pulls_.end() ? nullptr : found->second.get();
}

bool Drive::round() {
  net_->perform();
  const HubClock::Time now = clock().now();
  bool more = false;
  for (auto& [id, pull] : pulls_) {
    pull->turn(now);
    more = more || !pull->ended();
  }
  return more;
}

HubClock::Time Drive::deadline() const {
  HubClock::Time first = HubClock::Time::max();
  for (const auto& [id, pull] : pulls_)
    if (!pull->ended()) first = std::min(first, pull->deadline());
  return first;
}

void Drive::wait(milliseconds most) {
  const HubClock::Time now = clock().now(), until = std::min(deadline(), now + most);
  if (until <= now) return;
  if (net_->running() == 0)
    clock().sleep_until(until);
  else
    net_->poll(std::chrono::ceil<milliseconds>(until - now));
}

milliseconds Drive::next_timeout() {
  constexpr milliseconds kLongest{1000};
  const HubClock::Time now = clock().now(), until = std::min(deadline(), now + kLongest);
  if (until <= now) return milliseconds(0);
  const milliseconds ours = std::chrono::ceil<milliseconds>(until - now),
                     curl = net_->next_timeout();
  return curl.count() < 0 ? ours : std::min(ours, curl);
}

}  // namespace mummu::hub
