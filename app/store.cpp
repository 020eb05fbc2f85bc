// mummu list | show | rm | du | verify: the models on this machine.

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "mummu/model_store.h"

namespace mummu::app {

namespace {

using nlohmann::ordered_json;

ordered_json json_of(const StoredModel& model) {
  return {{"name", model.name},
          {"revision", model.revision},
          {"path", model.path},
          {"bytes", model.bytes}};
}

void list(bool json) {
  for (const StoredModel& model : ModelStore().list())
    if (json)
      fmt::print("{}\n", json_of(model).dump());
    else
      fmt::print("{}\t{}\t{}\n", model.name, human_bytes(model.bytes),
                 model.revision.substr(0, 12));
}

void show_json(const StoredModel& model) {
  ordered_json out = json_of(model);
  for (const StoredFile& file : model.files)
    out["files"].push_back(ordered_json{
        {"path", file.path}, {"hash", file.hash}, {"bytes", file.bytes}, {"links", file.links}});
  fmt::print("{}\n", out.dump());
}

void show(const std::string& name, bool json) {
  const StoredModel model = take(ModelStore().find(name));
  if (json) return show_json(model);
  fmt::print("name\t{}\nrevision\t{}\npath\t{}\nsize\t{}\n", model.name, model.revision, model.path,
             human_bytes(model.bytes));
  for (const StoredFile& file : model.files)
    fmt::print("{}\t{}\t{}{}\n", file.path, human_bytes(file.bytes),
               file.hash.empty() ? "no hash" : file.hash,
               file.links > 1 ? fmt::format("\tshared by {} names", file.links) : "");
}

void remove(const std::string& name, bool json) {
  const int64_t freed = take(ModelStore().remove(name));
  if (json)
    fmt::print("{}\n", ordered_json{{"name", name}, {"freed", freed}}.dump());
  else
    fmt::print("{}: {} freed\n", name, human_bytes(freed));
}

void use(bool json) {
  int64_t sum = 0;
  for (const StoreUse& use : ModelStore().use()) {
    sum += use.bytes + use.part_bytes;
    if (json)
      fmt::print(
          "{}\n",
          ordered_json{{"name", use.name}, {"bytes", use.bytes}, {"part_bytes", use.part_bytes}}
              .dump());
    else
      fmt::print("{}\t{}{}\n", human_bytes(use.bytes), use.name,
                 use.part_bytes > 0
                     ? fmt::format("\t{} of unfinished downloads", human_bytes(use.part_bytes))
                     : "");
  }
  if (!json && sum > 0) fmt::print("{}\tin all\n", human_bytes(sum));
}

void verify(const std::string& name, bool json) {
  watch_interrupt();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  auto verified = ModelStore().verify(name, [&](int64_t bytes, int64_t total) {
    if (terminal && total > 0) fmt::print(stderr, "\rhashing {:3} %", bytes * 100 / total);
    return !interrupted();
  });
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  const Verified found = take(std::move(verified));
  if (json) {
    fmt::print("{}\n", ordered_json{{"name", name},
                                    {"files", found.files},
                                    {"bytes", found.bytes},
                                    {"plain", found.plain},
                                    {"healed", found.healed}}
                           .dump());
    return;
  }
  fmt::print("{}: {} files, {}, every hash is right\n", name, found.files,
             human_bytes(found.bytes));
  for (const std::string& file : found.healed) fmt::print("{}: was wrong, fetched again\n", file);
  if (found.plain > 0) fmt::print("{} files have no known hash\n", found.plain);
}

struct StoreCommand {
  std::string name;
  bool json = false;
};

void add(CLI::App& app, const char* command, const char* about, void (*run)(bool json)) {
  auto options = std::make_shared<StoreCommand>();
  CLI::App* sub = app.add_subcommand(command, about);
  sub->add_flag("--json", options->json, "Print JSON lines");
  sub->callback([options, run] { run(options->json); });
}

void add(CLI::App& app, const char* command, const char* about,
         void (*run)(const std::string& name, bool json)) {
  auto options = std::make_shared<StoreCommand>();
  CLI::App* sub = app.add_subcommand(command, about);
  sub->add_option("name", options->name, "A name, as `mummu list` shows it")->required();
  sub->add_flag("--json", options->json, "Print one JSON line");
  sub->callback([options, run] { run(options->name, options->json); });
}

}  // namespace

void add_store(CLI::App& app) {
  add(app, "list", "The models on this machine", list);
  add(app, "show", "One of them: where it is, its files and hashes", show);
  add(app, "rm", "Remove one of them", remove);
  add(app, "du", "What they and unfinished downloads take on the disk", use);
  add(app, "verify", "Hash one of them again; what is wrong is fetched again", verify);
}

}  // namespace mummu::app
