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
  const bool given_clock = options.clock != nullptr;
  if (!given_clock) options.clock = std::make_shared<SteadyClock>();
  MUMMU_TRY(auto net, Net::make());
  return std::unique_ptr<Drive>(new Drive(std::move(net), std::move(options), given_clock));
}

Drive::Drive(std::unique_ptr<Net> net, HubOptions options, bool given_clock)
    : options_(std::move(options)), given_clock_(given_clock), net_(std::move(net)) {}

Result<std::unique_ptr<ModelPull>> Drive::prepare(const std::string& name) const {
  return ModelPull::make(*net_, options_, name);
}

ModelPull* Drive::add(std::unique_ptr<ModelPull> pull) {
  pulls_.push_back(std::move(pull));
  return pulls_.back().get();
}

void Drive::remove(const ModelPull* pull) noexcept {
  std::erase_if(pulls_, [pull](const auto& held) { return held.get() == pull; });
}

void Drive::round() {
  net_->perform();
  const HubClock::Time now = clock().now();
  for (auto& pull : pulls_) pull->turn(now);
}

HubClock::Time Drive::deadline() const {
  HubClock::Time first = HubClock::Time::max();
  for (const auto& pull : pulls_)
    if (!pull->ended()) first = std::min(first, pull->deadline());
  return first;
}

// A clock of the host's is told to go on where no answer can come.
void Drive::wait(milliseconds most) {
  const HubClock::Time now = clock().now(), until = std::min(deadline(), now + most);
  if (until <= now) return;
  if (given_clock_ && net_->running() == 0)
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
