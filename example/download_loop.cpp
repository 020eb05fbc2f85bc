// Several models at once, driven by the program's own event loop: it waits for the downloader's
// descriptors beside its own, and lends it a moment when one is ready. No thread is started. Prints
// the paths that Model::load takes, in the order given.

#include <poll.h>

#include <iostream>
#include <vector>

#include "mummu/downloader.h"

namespace {

void wait_for(const mummu::Downloader& downloader) {
  std::vector<pollfd> fds;  // those of the program's own would be here too
  for (const mummu::Downloader::PollFd& fd : downloader.poll_fds())
    fds.push_back({.fd = fd.fd,
                   .events = static_cast<short>((fd.read ? POLLIN : 0) | (fd.write ? POLLOUT : 0)),
                   .revents = 0});
  poll(fds.data(), fds.size(), static_cast<int>(downloader.next_timeout().count()));
}

}  // namespace

int main(int argc, char** argv) {
  auto downloader = mummu::Downloader::make();
  if (!downloader) return std::cerr << downloader.error().message << "\n", 1;
  std::vector<mummu::DownloadStream> downloads;
  for (int i = 1; i < argc; ++i) {
    auto download = downloader->add(argv[i]);
    if (!download) return std::cerr << download.error().message << "\n", 1;
    downloads.push_back(*std::move(download));
  }
  while (*downloader->run_once() == mummu::Turn::more) {
    for (size_t i = 0; i < downloads.size(); ++i)
      if (const mummu::DownloadProgress* p = downloads[i].try_next(); p && p->total > 0)
        std::cerr << argv[i + 1] << ": " << p->bytes * 100 / p->total << " %\n";
    wait_for(*downloader);
  }
  for (mummu::DownloadStream& download : downloads) {
    while (download.try_next()) continue;
    auto done = download.result();
    if (!done) return std::cerr << done.error().message << "\n", 1;
    std::cout << done->path << "\n";
  }
  return 0;
}
