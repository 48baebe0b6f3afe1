#include "tools/run/JoinLauncher.h"

#include "wireup/Nodes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace colldsl::tools {
namespace {

std::string describe(const std::vector<uint32_t> &firstOfNode) {
  std::map<uint32_t, std::vector<uint32_t>> nodes;
  std::vector<size_t> places;
  size_t most = 0;
  for (uint32_t r = 0; r < firstOfNode.size(); ++r) {
    std::vector<uint32_t> &ranks = nodes[firstOfNode[r]];
    places.push_back(ranks.size());
    ranks.push_back(r);
    most = std::max(most, ranks.size());
  }
  std::string bind;
  for (uint32_t r = 0; r < firstOfNode.size(); ++r) {
    auto node = std::distance(nodes.begin(), nodes.find(firstOfNode[r]));
    bind += (r == 0 ? "" : ",") + std::to_string(static_cast<size_t>(node) * most + places[r]);
  }
  return "node:" + std::to_string(nodes.size()) + " core:" + std::to_string(most) + " bind=" + bind;
}

// The first rank prints for all.
Status beSilent() {
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (int output : {STDOUT_FILENO, STDERR_FILENO})
    if (nowhere >= 0 && dup2(nowhere, output) < 0)
      return Status::error(std::string("cannot be silent: ") + std::strerror(errno));
  return {};
}

} // namespace

Result<std::unique_ptr<Launcher>> joinLauncher() {
  Result<std::unique_ptr<Launcher>> found = Launcher::find();
  if (!found || !*found)
    return found;
  std::unique_ptr<Launcher> launcher = found.take();
  if (launcher->numRanks() == 1)
    return launcher;
  if (Status s = launcher->endWithIt(); !s)
    return s;
  if (Status s = launcher->rank() != 0 ? beSilent() : Status(); !s)
    return s;
  return launcher;
}

Result<std::optional<std::string>> nodesOf(Launcher &launcher, Network &network) {
  Result<Network> wanted = network.isAlone ? network : Network::fromEnvironment();
  Result<std::vector<uint32_t>> nodes =
      findNodes(launcher.oob(), wanted.status(), wanted ? wanted->inWords() : "");
  if (!nodes)
    return nodes.status();
  network = wanted.take();
  bool isOne = std::all_of(nodes->begin(), nodes->end(), [](uint32_t first) { return first == 0; });
  return isOne ? std::optional<std::string>() : describe(*nodes);
}

} // namespace colldsl::tools
