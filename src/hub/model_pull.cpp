#include "hub/model_pull.h"

#include <sys/statvfs.h>

#include <algorithm>

#include "base/fail.h"
#include "hub/hash.h"
#include "hub/installed.h"
#include "hub/text.h"

namespace mummu::hub {
namespace {

Result<void> check_options(const HubOptions& options) {
  const bool http =
      options.endpoint.starts_with("https://") || options.endpoint.starts_with("http://");
  if (!http || options.endpoint.find_first_of(" \r\n\\@?#") != std::string::npos)
    return fail(Error::invalid, "HF_ENDPOINT: expected https://host, got \"{}\"", options.endpoint);
  if (options.token.find_first_of(" \r\n\t") != std::string::npos)
    return fail(Error::invalid, "HF_TOKEN holds white space");
  if (options.store.empty()) return fail(Error::invalid, "the store has no folder");
  if (options.files < 1 || options.connections < 1 || options.range_bytes < 1)
    return fail(Error::invalid,
                "files, connections and range_bytes: expected 1 or more, got {}, {}, {}",
                options.files, options.connections, options.range_bytes);
  return {};
}

bool is_weight(const std::string& file) {
  return file.ends_with(".safetensors") || ends_with_ignoring_case(file, ".gguf");
}

}  // namespace

Result<std::unique_ptr<ModelPull>> ModelPull::make(Net& net, const HubOptions& options,
                                                   const std::string& text) {
  MUMMU_TRY(check_options(options));
  MUMMU_TRY(HubName name, parse_name(text));
  return std::unique_ptr<ModelPull>(new ModelPull(net, options, std::move(name)));
}

ModelPull::ModelPull(Net& net, const HubOptions& options, HubName name)
    : net_(net), options_(options), name_(std::move(name)), folder_(options_.store, name_) {}

void ModelPull::turn(HubClock::Time now) {
  if (ended()) return;
  if (auto stepped = step(now); !stepped) end(std::move(stepped).error());
  report();
}

Result<void> ModelPull::step(HubClock::Time now) {
  if (stage_ == Stage::begin) {
    if (find_here()) return {};
    if (options_.offline)
      return fail(Error::not_found,
                  "{} is not in the store ({}) and HF_HUB_OFFLINE forbids to ask the hub",
                  to_string(name_), options_.store);
    stage_ = Stage::ask;
  }
  return stage_ == Stage::ask ? ask(now) : fetch(now);
}

// A commit never changes, and offline nothing does.
bool ModelPull::find_here() {
  if (!options_.offline && !is_hex(name_.revision, 40)) return false;
  auto found = find_installed(options_.store, name_);
  if (!found) return false;
  progress_.bytes = progress_.total = found->bytes;
  progress_.files = progress_.files_done = static_cast<int>(found->files.size());
  end(Downloaded{.path = found->path, .revision = found->commit, .bytes = found->bytes});
  return true;
}

Result<void> ModelPull::ask(HubClock::Time now) {
  if (!question_) {
    if (now >= retry_.next()) launch_question(now);
    return {};
  }
  if (question_->take_activity()) question_->last_move = now;
  if (question_->outcome()) return read_answer(now);
  if (now - question_->last_move < FilePull::kStall) return {};
  const Outcome stalled{Outcome::Kind::retry, false,
                        fmt::format("no byte came for {} s", FilePull::kStall.count())};
  const AnswerHead head = question_->head();
  question_.reset();
  return retry_.after(stalled, head, to_string(name_), now);
}

void ModelPull::launch_question(HubClock::Time now) {
  TransferOptions request{.token = options_.token, .ca_file = options_.ca_file};
  request.head = !name_.url.empty();
  request.url = request.head
                    ? name_.url
                    : fmt::format("{}/api/models/{}/revision/{}?blobs=true", options_.endpoint,
                                  name_.repository, url_quote(name_.revision, true));
  if (request.head) request.token.clear();
  answer_.clear();
  question_ = std::make_unique<Transfer>(
      net_, std::move(request),
      [this](const AnswerHead& head, std::span<const std::byte> bytes) {
        const int64_t size = static_cast<int64_t>(answer_.size() + bytes.size());
        answer_too_long_ = std::max(size, head.length) > kMaxListingBytes;
        if (!answer_too_long_)
          answer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return !answer_too_long_;
      },
      now);
}

Result<void> ModelPull::read_answer(HubClock::Time now) {
  const Outcome outcome = *question_->outcome();
  if (answer_too_long_)
    return fail(Error::corrupt, "{}: the hub's answer is longer than {} MB", to_string(name_),
                kMaxListingBytes >> 20);
  if (outcome.kind != Outcome::Kind::ok) {
    const AnswerHead head = question_->head();
    question_.reset();
    return retry_.after(outcome, head, to_string(name_), now);
  }
  MUMMU_TRY(name_.url.empty() ? plan_repository() : plan_url());
  question_.reset();
  return check_space();
}

Result<void> ModelPull::plan_repository() {
  MUMMU_TRY(Listing listing, parse_listing(answer_, to_string(name_) + ": the hub's answer"));
  commit_ = listing.commit;
  std::vector<std::string> names;
  for (const RemoteFile& file : listing.files) names.push_back(file.path);
  MUMMU_TRY(const Choice choice, choose_files(names, name_.file, name_.repository));
  main_ = choice.main;
  std::vector<RemoteFile> wanted;
  for (RemoteFile& file : listing.files) {
    if (std::ranges::find(choice.files, file.path) == choice.files.end()) continue;
    if (file.path == main_ && !name_.sha256.empty() && file.etag != name_.sha256)
      return fail(Error::corrupt, "{}: {} expected as sha256 of {}, the hub has {}",
                  name_.repository, name_.sha256, main_, file.etag);
    file.url = fmt::format("{}/{}/resolve/{}/{}", options_.endpoint, name_.repository, commit_,
                           url_quote(file.path));
    wanted.push_back(std::move(file));
  }
  return plan(std::move(wanted));
}

Result<void> ModelPull::plan_url() {
  const AnswerHead& head = question_->head();
  const int64_t size = head.linked_size >= 0 ? head.linked_size : head.length;
  if (size < 0)
    return fail(Error::unsupported, "{}: the server does not say how long the file is", name_.url);
  RemoteFile file{.path = name_.file, .size = size, .url = name_.url};
  if (is_hex(head.etag, 64)) file.etag = head.etag;
  commit_ = sha256_hex(fmt::format("{} {} {}", name_.url, head.etag, size)).substr(0, 40);
  main_ = name_.file;
  return plan({std::move(file)});
}

Result<void> ModelPull::plan(std::vector<RemoteFile> files) {
  MUMMU_TRY(folder_.make());
  if (!name_.url.empty()) MUMMU_TRY(write_durably(folder_.path() / "url", name_.url));
  std::ranges::sort(files, {},
                    [](const RemoteFile& file) { return std::pair(file.size, file.path); });
  for (RemoteFile& file : files) {
    progress_.total += file.size;
    files_.push_back(std::make_unique<FilePull>(net_, options_, folder_, std::move(file)));
  }
  progress_.files = static_cast<int>(files_.size());
  stage_ = Stage::fetch;
  return {};
}

Result<void> ModelPull::check_space() const {
  int64_t needed = 0;
  for (const auto& pull : files_) needed += pull->bytes_missing();
  struct statvfs info = {};
  if (::statvfs(folder_.path().c_str(), &info) != 0) return {};
  const auto free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  if (free >= static_cast<double>(needed)) return {};
  return fail(Error::io, "{}: {} bytes needed, {:.0f} free (disk full)", options_.store, needed,
              free);
}

Result<void> ModelPull::fetch(HubClock::Time now) {
  int busy = 0;
  bool all = true;
  for (auto& pull : files_) {
    if (pull->done()) continue;
    all = false;
    if (busy == options_.files) break;
    MUMMU_TRY(const bool done, pull->turn(now));
    if (!done) ++busy;
  }
  return all ? install() : Result<void>();
}

// Names are given last, and those of weights after all others: what is not whole is never found.
Result<void> ModelPull::install() {
  for (const bool weights : {false, true})
    for (const auto& pull : files_) {
      const RemoteFile& file = pull->file();
      if (is_weight(file.path) == weights) MUMMU_TRY(folder_.link(commit_, file.path, file.etag));
    }
  MUMMU_TRY(folder_.record(name_.revision, commit_));
  report();
  std::string path = folder_.snapshot(commit_).string();
  if (!main_.empty()) path += "/" + main_;
  end(Downloaded{.path = std::move(path),
                 .revision = commit_,
                 .bytes = progress_.total,
                 .fetched = progress_.fetched});
  return {};
}

void ModelPull::end(Result<Downloaded> result) {
  result_.emplace(std::move(result));
  question_.reset();
  files_.clear();  // what is not complete stays as a .part
  progress_.phase = DownloadProgress::Phase::done;
  progress_.note.clear();
}

void ModelPull::cancel() {
  if (!ended()) end(fail(Error::cancelled, "{}: the download was cancelled", to_string(name_)));
}

void ModelPull::break_off(Error why) {
  if (!ended()) end(std::move(why));
}

void ModelPull::report() {
  if (ended()) return;
  progress_.note = !question_ && stage_ == Stage::ask ? retry_.note() : "";
  progress_.bytes = progress_.fetched = 0;
  progress_.files_done = 0;
  for (const auto& pull : files_) {
    progress_.bytes += pull->bytes();
    progress_.fetched += pull->fetched();
    if (pull->done()) ++progress_.files_done;
    if (progress_.note.empty()) progress_.note = pull->note();
  }
  using Phase = DownloadProgress::Phase;
  progress_.phase = !progress_.note.empty()  ? Phase::waiting
                    : stage_ == Stage::fetch ? Phase::fetching
                                             : Phase::asking;
}

HubClock::Time ModelPull::deadline() const {
  if (stage_ == Stage::begin) return HubClock::Time::min();
  if (stage_ == Stage::ask) {
    if (!question_) return retry_.next();
    return question_->outcome() ? HubClock::Time::min() : question_->last_move + FilePull::kStall;
  }
  HubClock::Time first = HubClock::Time::max();
  int busy = 0;
  for (const auto& pull : files_)
    if (!pull->done() && busy++ < options_.files) first = std::min(first, pull->deadline());
  return files_.empty() || busy == 0 ? HubClock::Time::min() : first;
}

}  // namespace mummu::hub
