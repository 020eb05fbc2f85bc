#pragma once

// One model on its way into the store: ask the hub what there is, fetch its files, small ones
// first, then give them their names. turn() does what can be done without waiting.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hub/choose.h"
#include "hub/file_pull.h"
#include "hub/folder.h"
#include "hub/listing.h"
#include "hub/name.h"
#include "hub/net.h"
#include "hub/retry.h"
#include "hub/transfer.h"
#include "mummu/hub.h"

namespace mummu::hub {

class ModelPull {
 public:
  //   errors   invalid (the name, the options)
  static Result<std::unique_ptr<ModelPull>> make(Net& net, const HubOptions& options,
                                                 const std::string& name);

  void turn(HubClock::Time now);
  void cancel();
  void break_off(Error why);

  bool ended() const { return result_.has_value(); }
  const std::optional<Result<Downloaded>>& result() const { return result_; }
  const DownloadProgress& progress() const { return progress_; }
  HubClock::Time deadline() const;  // when turn() has something to do even if no byte comes

 private:
  enum class Stage { begin, ask, fetch };

  ModelPull(Net& net, const HubOptions& options, HubName name);
  Result<void> step(HubClock::Time now);
  bool find_here();
  Result<void> ask(HubClock::Time now);
  void launch_question(HubClock::Time now);
  Result<void> read_answer(HubClock::Time now);
  Result<void> plan_repository();
  Result<void> plan_url();
  Result<void> plan(std::vector<RemoteFile> files);
  Result<void> check_space() const;
  Result<void> fetch(HubClock::Time now);
  Result<void> install();
  void end(Result<Downloaded> result);
  void report();

  Net& net_;
  HubOptions options_;
  HubName name_;
  RepositoryFolder folder_;
  Stage stage_ = Stage::begin;
  std::unique_ptr<Transfer> question_{};
  Retry retry_{Retry::kUnreachableAttempts};
  std::string answer_{};
  bool answer_too_long_ = false;
  std::string commit_{}, main_{};
  std::vector<std::unique_ptr<FilePull>> files_;
  DownloadProgress progress_;
  std::optional<Result<Downloaded>> result_{};
};

}  // namespace mummu::hub
