#pragma once

// Drives a batch: lines in, many of them in the engine at once, answers out in the order of the
// lines. Memory is bounded by the lines that are in flight and by what waits for an earlier line.

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "batch_input.h"
#include "batch_line.h"
#include "batch_output.h"
#include "mummu/engine.h"
#include "mummu/model.h"
#include "openai_request.h"

namespace mummu::app {

struct BatchSettings {
  std::string model{};        // what answers are told to come from
  std::string system{};       // goes before messages that have no system message; empty: nothing
  RequestOptions defaults{};  // of what a line leaves out
  int64_t parallel = 1;       // choices in the engine's steps
};

struct BatchFigures {
  int64_t kept = 0, answered = 0, refused = 0;  // lines
  int64_t prompt_tokens = 0, answer_tokens = 0;
  int64_t other_models = 0;   // lines that name another model
  std::string other_model{};  // the first of them
  double seconds = 0;
};

class BatchRun {
 public:
  BatchRun(const Model& model, JsonModes& json, Engine& engine, BatchInput& input,
           BatchOutput& output, BatchSettings settings);

  // Returns when every line has its answer, or Ctrl-C was pressed.
  BatchFigures run();
  int64_t written() const { return written_; }  // lines by this run

 private:
  // A line that has been read and not yet written.
  struct Slot {
    BatchLine line;
    RequestId id{};
    int choices = 0;        // in the engine; 0: its answer is there
    std::string written{};  // the answer
  };

  void skip_kept();
  BatchLine read(const BatchInput::Line& text);
  bool has_room() const;
  void fill();
  void start(Slot& slot);
  void collect();
  void collect(Slot& slot);
  void answer(Slot& slot, const std::vector<Completion>& choices);
  void refuse(Slot& slot, const Refusal& refusal);
  void write();
  void show_progress();

  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  const Model& model_;
  JsonModes& json_;
  Engine& engine_;
  BatchInput& input_;
  BatchOutput& output_;
  BatchSettings settings_;
  BatchFigures figures_;
  std::deque<Slot> slots_;
  int64_t written_ = 0;
  int64_t in_flight_ = 0;     // choices in the engine
  size_t waiting_bytes_ = 0;  // of answers that wait for an earlier line
  bool at_end_ = false;       // of the input
  bool terminal_ = false;
  Clock::time_point begun_ = Clock::now();
  double shown_ = 0;  // when progress was last shown, in seconds
};

}  // namespace mummu::app
