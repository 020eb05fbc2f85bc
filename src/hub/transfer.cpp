#include "hub/transfer.h"

#include <curl/curl.h>

#include <charconv>
#include <ctime>
#include <memory>

#include "base/fail.h"
#include "file/quote.h"
#include "hub/text.h"
#include "mummu/version.h"

namespace mummu::hub {
namespace {

constexpr int64_t kMaxHeaderBytes = 64 << 10;  // of one answer
constexpr int kMaxRedirects = 8;
constexpr long kConnectTimeout_s = 8;

int64_t number(std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

std::string bare_etag(std::string_view text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// Seconds, or a date of HTTP.
int64_t retry_after(std::string_view text) {
  if (const int64_t seconds = number(text); seconds >= 0) return seconds;
  const time_t date = curl_getdate(std::string(text).c_str(), nullptr);
  return date < 0 ? -1 : std::max<int64_t>(0, date - std::time(nullptr));
}

// "bytes 0-99/1000"
void read_content_range(std::string_view text, AnswerHead& head) {
  const size_t dash = text.find('-'), slash = text.find('/');
  if (!text.starts_with("bytes ") || dash == text.npos || slash == text.npos) return;
  head.range_begin = number(text.substr(6, dash - 6));
  head.range_total = number(text.substr(slash + 1));
}

struct CurlUrl {
  explicit CurlUrl(const std::string& url) : handle(curl_url()) {
    if (curl_url_set(handle, CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return;
    for (const auto& [part, to] :
         {std::pair(CURLUPART_SCHEME, &scheme), {CURLUPART_HOST, &host}, {CURLUPART_PORT, &port}}) {
      char* text = nullptr;
      if (curl_url_get(handle, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK) *to = lower(text);
      curl_free(text);
    }
  }
  ~CurlUrl() { curl_url_cleanup(handle); }
  CurlUrl(const CurlUrl&) = delete;
  CurlUrl& operator=(const CurlUrl&) = delete;

  CURLU* handle;
  std::string scheme{}, host{}, port{};
};

Outcome refused(std::string problem) { return {Outcome::Kind::refused, false, std::move(problem)}; }

}  // namespace

Transfer::Transfer(Net& net, TransferOptions options, Sink sink, HubClock::Time now)
    : last_move(now),
      net_(net),
      options_(std::move(options)),
      sink_(std::move(sink)),
      easy_(curl_easy_init()),
      url_(options_.url) {
  CURL* easy = easy_;
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);  // a connection a range
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, kConnectTimeout_s);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // those of a proxy
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 512L << 10);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, (std::string("mummu/") + kVersion).c_str());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  if (!options_.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
  if (options_.head) curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (options_.end >= 0) {
    const std::string range = fmt::format("{}-{}", options_.begin, options_.end - 1);
    curl_easy_setopt(easy, CURLOPT_RANGE, range.c_str());
  }
  launch();
}

Transfer::~Transfer() {
  withdraw();
  curl_slist_free_all(static_cast<curl_slist*>(headers_));
  curl_easy_cleanup(easy_);
}

void Transfer::launch() {
  head_ = {.linked_size = head_.linked_size,
           .etag = head_.linked_size < 0 ? "" : head_.etag,
           .commit = head_.commit};
  header_bytes_ = 0;
  curl_easy_setopt(easy_, CURLOPT_URL, url_.c_str());
  curl_slist_free_all(static_cast<curl_slist*>(headers_));
  headers_ = nullptr;
  if (!options_.token.empty() && same_origin())
    headers_ = curl_slist_append(nullptr, ("Authorization: Bearer " + options_.token).c_str());
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  in_flight_ = curl_multi_add_handle(net_.multi_, easy_) == CURLM_OK;
  if (in_flight_) ++net_.running_;
  if (!in_flight_) outcome_ = refused("libcurl could not begin");
}

void Transfer::withdraw() {
  if (!in_flight_) return;
  curl_multi_remove_handle(net_.multi_, easy_);
  in_flight_ = false;
  --net_.running_;
}

bool Transfer::same_origin() const {
  const CurlUrl first(options_.url), now(url_);
  return first.scheme == now.scheme && first.host == now.host && first.port == now.port &&
         !now.host.empty();
}

bool Transfer::take_activity() { return std::exchange(moved_, false); }

size_t Transfer::on_body(char* data, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.moved_ = true;
  const bool wanted = transfer.head_.status == 200 || transfer.head_.status == 206;
  const size_t bytes = size * count;
  if (wanted && !transfer.sink_(transfer.head_, std::as_bytes(std::span(data, bytes)))) {
    transfer.stopped_ = true;
    return 0;
  }
  return bytes;
}

size_t Transfer::on_header(char* data, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.moved_ = true;
  return transfer.take_header({data, size * count}) ? size * count : 0;
}

void Transfer::begin_answer(std::string_view status_line) {
  const size_t space = status_line.find(' ');
  const std::string_view rest = space == status_line.npos ? "" : status_line.substr(space + 1);
  head_.status = static_cast<int>(number(rest.substr(0, 3)));
  head_.length = head_.range_begin = head_.range_total = head_.retry_after_s = -1;
}

bool Transfer::take_header(std::string_view line) {
  header_bytes_ += static_cast<int64_t>(line.size());
  headers_too_long_ = header_bytes_ > kMaxHeaderBytes;
  if (headers_too_long_) return false;
  if (line.starts_with("HTTP/")) begin_answer(line);
  const size_t colon = line.find(':');
  if (colon == line.npos) return true;
  const std::string key = lower(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (key == "content-length") head_.length = number(value);
  if (key == "content-range") read_content_range(value, head_);
  if (key == "retry-after") head_.retry_after_s = retry_after(value);
  if (key == "x-repo-commit") head_.commit = value;
  if (key == "etag" && head_.linked_size < 0) head_.etag = bare_etag(value);
  if (key == "x-linked-size") head_.linked_size = number(value);
  if (key == "x-linked-etag") head_.etag = bare_etag(value);
  return true;
}

void Transfer::ended(int code) {
  const bool redirect = code == CURLE_OK && head_.status >= 300 && head_.status < 400;
  std::optional<Outcome> outcome = redirect ? follow() : judge(code);
  withdraw();
  if (outcome)
    outcome_ = std::move(outcome);
  else
    launch();
}

std::optional<Outcome> Transfer::follow() {
  char* target = nullptr;
  curl_easy_getinfo(easy_, CURLINFO_REDIRECT_URL, &target);
  if (!target) return refused(fmt::format("the hub answered {} without a place", head_.status));
  if (++redirects_ > kMaxRedirects)
    return refused(fmt::format("more than {} redirects", kMaxRedirects));
  const CurlUrl from(url_), to(target);
  if (to.scheme != "https" && to.scheme != from.scheme)
    return refused(fmt::format("a redirect from {} to {} is not followed", from.scheme,
                               to.scheme.empty() ? "an unknown scheme" : to.scheme));
  url_ = target;
  return std::nullopt;
}

Outcome Transfer::judge_status() const {
  const int status = head_.status;
  if (status == 200 || status == 206) return {};
  const bool later = status == 429 || status == 408 || status >= 500;
  return {later ? Outcome::Kind::retry : Outcome::Kind::refused, false,
          fmt::format("the hub answered {}", status)};
}

Outcome Transfer::judge(int code) const {
  if (stopped_) return {Outcome::Kind::stopped, false, ""};
  if (headers_too_long_)
    return refused(
        fmt::format("the answer's headers are longer than {} kB", kMaxHeaderBytes >> 10));
  switch (code) {
    case CURLE_OK:
      return judge_status();
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:  // only a connection has a time limit of curl's
    case CURLE_SSL_CONNECT_ERROR:
      return {Outcome::Kind::retry, true, curl_easy_strerror(static_cast<CURLcode>(code))};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_OUT_OF_MEMORY:
      return refused(curl_easy_strerror(static_cast<CURLcode>(code)));
    default:
      return {Outcome::Kind::retry, false, curl_easy_strerror(static_cast<CURLcode>(code))};
  }
}

}  // namespace mummu::hub
