// Texts to vectors, and which of them is nearest to a question.

#include "mummu/embed.h"

#include <iostream>
#include <numeric>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto device = mummu::open_device("cpu", {.parallel = mummu::Threads(2)});
  if (!device) return std::cerr << device.error().message << "\n", 1;
  auto embedder = mummu::Embedder::load(argv[1], *device);
  if (!embedder) return std::cerr << embedder.error().message << "\n", 1;
  const std::vector<std::string> texts = {"Rivers wash salt out of the rocks.",
                                          "The train leaves at seven.",
                                          "Bread needs time to rise."};
  auto vectors = embedder->embed(texts);
  auto question = embedder->embed({"Why is the sea salty?"});
  if (!vectors || !question) return std::cerr << "no vectors\n", 1;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto text = (*vectors)[i], asked = (*question)[0];  // length 1: the product is the cosine
    std::cout << std::inner_product(text.begin(), text.end(), asked.begin(), 0.0f) << "  "
              << texts[i] << "\n";
  }
  return 0;
}
