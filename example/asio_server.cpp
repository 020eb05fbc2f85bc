// Asio: a small HTTP server that streams answers. Each connection is a coroutine; where the client
// goes away, the coroutine ends, its Stream is destroyed, and the model stops computing for it.
// With a model alone it asks itself one question and ends; with a port too it serves until killed:
//   asio_server MODEL 8080 &
//   curl -N -d "Why is the sea salty?" localhost:8080

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cstdio>
#include <iostream>
#include <string>

#include "mummu/asio.h"
#include "mummu/worker.h"

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr size_t kMostBytes = 64 << 10;  // of a request

std::string chunk(std::string_view text) {  // RFC 9112, section 7.1
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + std::string(text) + "\r\n";
}

// The body of a request that says how long it is.
asio::awaitable<std::string> read_question(tcp::socket& socket) {
  std::string text;
  auto buffer = asio::dynamic_buffer(text, kMostBytes);
  const size_t head =
      co_await asio::async_read_until(socket, buffer, "\r\n\r\n", asio::use_awaitable);
  size_t length = 0;
  if (const size_t at = text.find("Content-Length: "); at < head)
    length = std::stoul(text.substr(at + 16));
  if (length > kMostBytes) co_return "";
  if (text.size() < head + length)
    co_await asio::async_read(socket, buffer, asio::transfer_exactly(head + length - text.size()),
                              asio::use_awaitable);
  co_return text.substr(head, length);
}

asio::awaitable<void> serve(tcp::socket socket, const mummu::Model& model, mummu::Worker& worker) {
  const std::string question = co_await read_question(socket);
  auto request = mummu::chat(model, {{"user", question}}, {.max_tokens = 24});
  auto stream = request ? worker.submit(*request) : request.error();
  const std::string head = stream ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  : "HTTP/1.1 503 Service Unavailable\r\n\r\n";
  co_await asio::async_write(socket, asio::buffer(head), asio::use_awaitable);
  if (!stream) co_return;
  while (const mummu::Token* token = co_await mummu::async_next(*stream, asio::use_awaitable))
    if (!token->text.empty())
      co_await asio::async_write(socket, asio::buffer(chunk(token->text)), asio::use_awaitable);
  co_await asio::async_write(socket, asio::buffer(chunk("")), asio::use_awaitable);
}

asio::awaitable<void> listen(tcp::acceptor& acceptor, const mummu::Model& model,
                             mummu::Worker& worker) {
  while (true) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    // An error of one connection (a client that went away) ends that one.
    asio::co_spawn(acceptor.get_executor(), serve(std::move(socket), model, worker),
                   [](std::exception_ptr) {});
  }
}

asio::awaitable<void> ask(tcp::endpoint server, std::string question, std::string& answer) {
  tcp::socket socket(co_await asio::this_coro::executor);
  co_await socket.async_connect(server, asio::use_awaitable);
  const std::string request =
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(question.size()) +
      "\r\n\r\n" + question;
  co_await asio::async_write(socket, asio::buffer(request), asio::use_awaitable);
  boost::system::error_code end;
  co_await asio::async_read(socket, asio::dynamic_buffer(answer),
                            asio::redirect_error(asio::use_awaitable, end));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  auto device = mummu::open_device("cpu", {.parallel = mummu::Threads(2)});
  if (!device) return std::cerr << device.error().message << "\n", 1;
  auto model = mummu::Model::load(argv[1], *device);
  if (!model) return std::cerr << model.error().message << "\n", 1;
  auto worker = mummu::Worker::start(*device);
  if (!worker || !worker->add(mummu::Engine(*model, {.kv_tokens = 4096}))) return 1;

  asio::io_context io;
  const auto port = static_cast<unsigned short>(argc == 3 ? std::stoi(argv[2]) : 0);
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), port});
  asio::co_spawn(io, listen(acceptor, *model, *worker), asio::detached);
  std::string answer;
  if (argc == 2)
    asio::co_spawn(io, ask(acceptor.local_endpoint(), "Why is the sea salty?", answer),
                   [&](std::exception_ptr) { io.stop(); });
  io.run();
  std::cout << answer;
  return answer.find("200 OK") == std::string::npos ? 1 : 0;
}
