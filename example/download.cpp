// A model from a hub into the store, pulled by the program's own loop: a call does a little and
// comes back. Prints the path that Model::load takes.

#include <iostream>

#include "mummu/hub.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto download = mummu::Download::start(argv[1]);  // "Qwen/Qwen2.5-0.5B-Instruct"
  if (!download) return std::cerr << download.error().message << "\n", 1;
  while (const mummu::DownloadProgress* p = download->next())
    if (p->total > 0) std::cerr << "\r" << p->bytes * 100 / p->total << " %";
  auto done = download->result();
  if (!done) return std::cerr << "\n" << done.error().message << "\n", 1;
  std::cerr << "\n";
  std::cout << done->path << "\n";
  return 0;
}
