// mummu pull NAME: a model from a hub into the store.

#include <nlohmann/json.hpp>

#include "command.h"
#include "pull_model.h"

namespace mummu::app {

namespace {

struct PullCommand {
  std::string name;
  bool yes = false, json = false;

  void run() const {
    const Downloaded done = pull_model(name, yes ? Ask::never : Ask::large, json);
    if (json) {
      nlohmann::ordered_json out;
      out["path"] = done.path;
      out["revision"] = done.revision;
      out["bytes"] = done.bytes;
      out["fetched"] = done.fetched;
      fmt::print("{}\n", out.dump());
    } else {
      fmt::print("{}\n", done.path);
    }
  }
};

}  // namespace

void add_pull(CLI::App& app) {
  auto command = std::make_shared<PullCommand>();
  CLI::App* sub = app.add_subcommand("pull", "Download a model, or finish a download");
  sub->add_option("name", command->name,
                  "A known name, owner/name[@revision][:file or quantisation], or an https URL")
      ->required();
  sub->add_flag("-y,--yes", command->yes, "Do not ask before a large download");
  sub->add_flag("--json", command->json, "Print progress and result as JSON lines");
  sub->callback([command] { command->run(); });
}

}  // namespace mummu::app
