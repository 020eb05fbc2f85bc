#include "hub/net.h"

#include <curl/curl.h>
#include <sys/select.h>

#include <algorithm>
#include <climits>

#include "base/fail.h"
#include "hub/transfer.h"

namespace mummu::hub {
namespace {

bool start_curl() {
  static const bool started = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return started;
}

}  // namespace

Result<std::unique_ptr<Net>> Net::make() {
  CURLM* multi = start_curl() ? curl_multi_init() : nullptr;
  if (!multi) return fail(Error::no_memory, "libcurl could not be initialised");
  return std::unique_ptr<Net>(new Net(multi));
}

Net::~Net() { curl_multi_cleanup(multi_); }

void Net::perform() {
  int running = 0, left = 0;
  curl_multi_perform(multi_, &running);
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    char* owner = nullptr;
    const CURLcode code = message->data.result;  // the message dies with its handle
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
    reinterpret_cast<Transfer*>(owner)->ended(code);
  }
}

void Net::poll(std::chrono::milliseconds time) {
  curl_multi_poll(multi_, nullptr, 0,
                  static_cast<int>(std::clamp<int64_t>(time.count(), 0, INT_MAX)), nullptr);
}

void Net::wake() { curl_multi_wakeup(multi_); }

std::vector<Downloader::PollFd> Net::poll_fds() const {
  fd_set read, write, odd;
  FD_ZERO(&read);
  FD_ZERO(&write);
  FD_ZERO(&odd);
  int highest = -1;
  curl_multi_fdset(multi_, &read, &write, &odd, &highest);
  std::vector<Downloader::PollFd> fds;
  for (int fd = 0; fd <= highest; ++fd)
    if (FD_ISSET(fd, &read) || FD_ISSET(fd, &write))
      fds.push_back(
          {.fd = fd, .read = FD_ISSET(fd, &read) != 0, .write = FD_ISSET(fd, &write) != 0});
  return fds;
}

std::chrono::milliseconds Net::next_timeout() const {
  long time = -1;
  curl_multi_timeout(multi_, &time);
  return std::chrono::milliseconds(time);
}

}  // namespace mummu::hub
