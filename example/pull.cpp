// Pull: the caller asks for token after token, in its own thread. Two generations share one engine:
// whoever asks steps it, both advance, and neither answer depends on the other.

#include <iostream>

#include "mummu/generate.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto device = mummu::open_device("cpu");
  if (!device) return std::cerr << device.error().message << "\n", 1;
  auto model = mummu::Model::load(argv[1], *device);
  if (!model) return std::cerr << model.error().message << "\n", 1;
  mummu::Engine engine(*model, {.kv_tokens = 4096});
  auto first = mummu::chat(*model, {{"user", "Name a colour."}}, {.max_tokens = 16});
  auto second = mummu::chat(*model, {{"user", "Name a fruit."}}, {.max_tokens = 16});
  if (!first || !second) return 1;

  mummu::Generation a(engine, *first), b(engine, *second);
  std::string text_a, text_b;
  const mummu::Token* token = nullptr;
  do {
    if ((token = a.next())) text_a += token->text;
    if (const mummu::Token* other = b.next()) text_b += other->text, token = other;
  } while (token);
  std::cout << "a: " << text_a << "\nb: " << text_b << "\n";
  auto end = a.result();
  if (!end) return std::cerr << end.error().message << "\n", 1;
  return mummu::finish_name(end->finish).empty() ? 1 : 0;
}
