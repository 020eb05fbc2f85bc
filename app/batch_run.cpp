#include "batch_run.h"

#include <unistd.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "command.h"
#include "openai_response.h"

namespace mummu::app {

namespace {

constexpr size_t kMostSlots = 4096;
constexpr size_t kMostWaitingBytes = size_t{64} << 20;

}  // namespace

BatchRun::BatchRun(const Model& model, JsonModes& json, Engine& engine, BatchInput& input,
                   BatchOutput& output, BatchSettings settings)
    : model_(model),
      json_(json),
      engine_(engine),
      input_(input),
      output_(output),
      settings_(std::move(settings)),
      terminal_(isatty(STDERR_FILENO) != 0) {}

BatchFigures BatchRun::run() {
  skip_kept();
  while (!interrupted()) {
    fill();
    write();
    if (slots_.empty() && at_end_) break;
    if (engine_.has_work()) take(engine_.step());
    collect();
    show_progress();
  }
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
  figures_.seconds = seconds();
  return figures_;
}

// Reads over the lines that an earlier run has answered.
void BatchRun::skip_kept() {
  for (std::string kept; output_.next_kept(kept); ++figures_.kept) {
    const LineName theirs = read_line_name(kept);
    const auto line = input_.next();
    const LineName mine = line ? read_line_name(line->text) : LineName{};
    const bool same_model = theirs.model.empty() || theirs.model == settings_.model;
    if (!line || mine.custom_id != theirs.custom_id || !same_model)
      fail(fmt::format(
          "{} is of another run: its line {} answers {}{}; remove it to start anew", output_.part(),
          figures_.kept + 1, theirs.custom_id ? *theirs.custom_id : "a line without custom_id",
          same_model ? ", the input has another line there" : fmt::format(" by {}", theirs.model)));
    if (mine.custom_id) input_.is_new(*mine.custom_id);
    show_progress();
  }
}

BatchLine BatchRun::read(const BatchInput::Line& text) {
  if (text.too_long) {
    BatchLine line{.number = text.number};
    line.refusal = {400, fmt::format("the line is longer than {} bytes", BatchInput::kLongest), "",
                    "invalid_json_line"};
    return line;
  }
  BatchLine line = read_batch_line(text.text, text.number, settings_.defaults);
  if (line.custom_id && !input_.is_new(*line.custom_id) && !line.refusal)
    line.refusal = {400, fmt::format("custom_id: {} stood in an earlier line", *line.custom_id),
                    "custom_id", "duplicate_custom_id"};
  return line;
}

bool BatchRun::has_room() const {
  return in_flight_ < 2 * settings_.parallel && slots_.size() < kMostSlots &&
         waiting_bytes_ < kMostWaitingBytes;
}

// Reads lines until there is enough to do.
void BatchRun::fill() {
  while (!at_end_ && has_room()) {
    const auto text = input_.next();
    at_end_ = !text;
    if (at_end_) return;
    Slot& slot = slots_.emplace_back();
    slot.line = read(*text);
    if (slot.line.refusal)
      refuse(slot, *slot.line.refusal);
    else
      start(slot);
    write();
  }
}

void BatchRun::start(Slot& slot) {
  ChatBody& body = slot.line.body;
  if (!body.model.empty() && body.model != settings_.model) {
    if (figures_.other_models++ == 0) figures_.other_model = body.model;
  }
  if (!settings_.system.empty() && body.messages.front().role != "system")
    body.messages.insert(body.messages.begin(), {"system", settings_.system, {}});
  auto request = make_request(model_, body, json_);
  auto checked = request ? check(*request) : Result<void>(request.error());
  if (!checked) return refuse(slot, refusal_of(checked.error()));
  auto id = engine_.admit(std::move(*request));
  if (!id) return refuse(slot, refusal_of(id.error()));
  slot.id = *id;
  slot.choices = static_cast<int>(body.options.n);
  in_flight_ += slot.choices;
  body.messages.clear();
}

void BatchRun::collect() {
  for (Slot& slot : slots_)
    if (slot.choices > 0) collect(slot);
}

void BatchRun::collect(Slot& slot) {
  bool done = true;
  for (int choice = 0; choice < slot.choices; ++choice) {
    while (engine_.take(slot.id, choice)) continue;
    done = done && engine_.done(slot.id, choice);
  }
  if (!done) return;
  std::vector<Completion> choices;
  for (int choice = 0; choice < slot.choices; ++choice)
    choices.push_back(take(engine_.result(slot.id, choice)));
  in_flight_ -= slot.choices;
  slot.choices = 0;
  answer(slot, choices);
}

void BatchRun::answer(Slot& slot, const std::vector<Completion>& choices) {
  for (const Completion& done : choices)
    if (done.finish == Finish::error) return refuse(slot, refusal_of(done.error));
  const auto body = chat_completion(choices, model_.tokenizer(),
                                    {.id = fmt::format("chatcmpl-{}", slot.line.number),
                                     .model = settings_.model,
                                     .created = std::time(nullptr),
                                     .logprobs = slot.line.body.options.logprobs});
  slot.written = answered_line(slot.line, body);
  waiting_bytes_ += slot.written.size();
  ++figures_.answered;
  figures_.prompt_tokens += choices.front().usage.prompt_tokens;
  for (const Completion& done : choices) figures_.answer_tokens += done.usage.completion_tokens;
}

void BatchRun::refuse(Slot& slot, const Refusal& refusal) {
  slot.written = refused_line(slot.line, refusal);
  waiting_bytes_ += slot.written.size();
  ++figures_.refused;
}

// Writes what no earlier line holds back.
void BatchRun::write() {
  for (; !slots_.empty() && slots_.front().choices == 0; slots_.pop_front()) {
    output_.write(slots_.front().written);
    ++written_;
    waiting_bytes_ -= slots_.front().written.size();
  }
}

void BatchRun::show_progress() {
  constexpr double kEvery = 0.2;
  const double now = seconds();
  if (!terminal_ || now - shown_ < kEvery) return;
  shown_ = now;
  const int64_t done = figures_.answered + figures_.refused;
  std::string line = fmt::format("{} lines", figures_.kept + done);
  constexpr int kBar = 20;
  if (const double part = input_.part_read(); part >= 0) {
    const int filled = static_cast<int>(part * kBar);
    line = fmt::format("[{:#>{}}{:->{}}] {:.0f} %, {}", "", filled, "", kBar - filled, part * 100,
                       line);
  }
  fmt::print(stderr, "\r{}, {:.1f} lines/s, {:.0f} tok/s\x1b[K", line,
             static_cast<double>(done) / now, static_cast<double>(figures_.answer_tokens) / now);
}

}  // namespace mummu::app
