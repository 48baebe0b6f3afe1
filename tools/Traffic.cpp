#include "driver/Lists.h"
#include "driver/schedule/CountTraffic.h"
#include "tools/Commands.h"
#include "tools/input/ChooseSingle.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Progress.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Table.h"
#include "tools/sim/TrafficTable.h"
#include "topology/Spec.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace colldsl::tools {
namespace {

namespace fs = std::filesystem;

struct TrafficSettings {
  SingleRequest single;
  std::vector<std::string> jobs; ///< files of hosts, and folders of such files
  bool json = false;

  void addTo(Options &options);
};

void TrafficSettings::addTo(Options &options) {
  single.addTo(options, "where the ranks sit (default: flat, all on one node); with --jobs\n"
                        "without hosts");
  options.section("what to tell");
  options.addParsed(
      "--jobs", "PATH",
      "count for the hosts in this file, or in each file of this folder, with\n"
      "as many ranks as have room there, of a collective, not a function; may be\n"
      "repeated",
      jobs,
      [this](llvm::StringRef path) -> Result<std::vector<std::string>> {
        std::vector<std::string> all = jobs;
        all.push_back(path.str());
        return all;
      },
      [](const std::vector<std::string> &) { return std::string(); }) = completionOfFiles({});
  options.mayRepeat();
  options.addFlag("--json", "print one JSON object", json);
}

/// The files that --jobs names: a folder's in the order of their names.
Result<std::vector<std::string>> filesOf(const std::vector<std::string> &paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    size_t begin = files.size();
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
      if (it->is_regular_file(error) && !error)
        files.push_back(it->path().string());
    if (error)
      return Status::error("--jobs " + path + ": " + error.message());
    if (files.size() == begin)
      return Status::error("--jobs " + path + ": the folder has no files");
    std::sort(files.begin() + static_cast<ptrdiff_t>(begin), files.end());
  }
  return files;
}

/// Jobs, and what they keep alive.
struct Jobs {
  std::vector<TrafficJob> all;
  std::vector<std::unique_ptr<Topology>> topologies;

  void add(std::string name, std::string description, Topology topology) {
    topologies.push_back(std::make_unique<Topology>(std::move(topology)));
    const Topology *kept = topologies.back().get();
    all.push_back({std::move(name), std::move(description), kept, sim::Traffic(kept)});
  }
};

/// The job of each file, with as many ranks as fit.
Result<Jobs> readJobs(const TrafficSettings &settings) {
  const std::string &machine = settings.single.schedule.topology;
  bool isNamed = machine != "flat";
  Result<Spec> spec = isNamed ? parseSpec(machine) : Spec();
  Result<std::vector<std::string>> files = filesOf(settings.jobs);
  if (!spec || !files)
    return spec ? files.status() : spec.status();
  Jobs jobs;
  for (const std::string &file : *files) {
    Result<Spec> job = withHosts(*spec, "@" + file);
    if (!job)
      return job.status();
    Result<Topology> topology =
        placeRanks(*job, static_cast<uint32_t>(ranksThatFit(*job).value_or(1)));
    if (!topology)
      return topology.status();
    jobs.add(file, (isNamed ? machine + " " : "") + "hosts=@" + file, topology.take());
  }
  return jobs;
}

/// The one job without --jobs.
Result<Jobs> oneJob(const SingleRequest &single, const Source::Target &target) {
  if (!single.ranks && !target.schedule)
    return Status::error("'" + target.name +
                         "' is a collective: say for how many ranks, with -n or --jobs");
  uint32_t ranks = single.ranks.value_or(target.schedule ? target.schedule->numRanks() : 1);
  Result<Topology> topology = Topology::make(single.schedule.topology, ranks);
  if (!topology)
    return topology.status();
  Jobs jobs;
  jobs.add("", single.schedule.topology, topology.take());
  return jobs;
}

/// Numbers of groups of the levels above the node, and of nodes.
std::vector<std::pair<std::string, uint32_t>> groupCounts(const Topology &topology) {
  std::vector<std::pair<std::string, uint32_t>> counts;
  for (const OuterLevel &level : topology.outerLevels())
    counts.emplace_back(level.name, *std::ranges::max_element(level.groupOfNode) + 1);
  counts.emplace_back("node", topology.numGroups(Level::Node));
  return counts;
}

void printJobsJson(const std::string &name, const Jobs &jobs) {
  llvm::json::Array array;
  for (const TrafficJob &job : jobs.all) {
    llvm::json::Object groups;
    for (const auto &[level, count] : groupCounts(*job.topology))
      groups[jsonText(level)] = count;
    llvm::json::Object object{{"ranks", job.topology->numRanks()},
                              {"groups", std::move(groups)},
                              {"traffic", trafficJson(job.traffic, *job.topology)}};
    if (!job.name.empty())
      object["job"] = jsonText(job.name);
    array.push_back(std::move(object));
  }
  printJson(llvm::json::Object{{"name", jsonText(name)}, {"jobs", std::move(array)}});
}

/// A row per job; all have the same levels.
void printJobs(const Jobs &jobs) {
  std::vector<std::string> heads{"job", "ranks"};
  const Topology &first = *jobs.all.front().topology;
  for (const auto &[level, count] : groupCounts(first))
    heads.push_back(level + "s");
  for (size_t i = 0; i < jobs.all.front().traffic.levels().size(); ++i)
    heads.push_back("bytes to " + crossingWord(sim::crossingAt(first, i)));
  Table table(heads);
  for (const TrafficJob &job : jobs.all) {
    std::vector<std::string> row{job.name, std::to_string(job.topology->numRanks())};
    for (const auto &[level, count] : groupCounts(*job.topology))
      row.push_back(std::to_string(count));
    for (const sim::LevelTraffic &level : job.traffic.levels())
      row.push_back(sim::decimal(level.bytes));
    table.addRow(row);
  }
  table.print(resultStream());
}

/// Counts jobs of equally many ranks together. False after a message.
bool countAll(Source &source, const Source::Target &target, SingleRequest single, Jobs &jobs) {
  Progress progress;
  std::map<uint32_t, std::vector<size_t>> byRanks;
  for (size_t i = 0; i < jobs.all.size(); ++i)
    byRanks[jobs.all[i].topology->numRanks()].push_back(i);
  for (const auto &[ranks, members] : byRanks) {
    if (!target.schedule)
      single.ranks = ranks;
    std::vector<TrafficJob> together;
    for (size_t i : members)
      together.push_back(jobs.all[i]);
    if (Status s = countTraffic(source, target, single, together, progress.watch()); !s)
      return source.report(s.diagnostic(), target);
    for (size_t i = 0; i < members.size(); ++i)
      jobs.all[members[i]].traffic = together[i].traffic;
  }
  return true;
}

} // namespace

Exit trafficCommand(Arguments arguments) {
  TrafficSettings settings;
  Options options("traffic", "FILE|COLLECTIVE [-n N] [OPTION...]",
                  "Counts the messages and bytes of one schedule by the levels of the machine\n"
                  "that they cross: in a node, between nodes of a switch, between switches, and\n"
                  "so on. Nothing is simulated. Operands as for sim.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  SingleRequest &single = settings.single;
  if (options.operands().empty() && single.schedule.names.empty())
    return options.refuse("nothing to count: name a file or a collective");
  if (single.ranks && !settings.jobs.empty())
    return options.refuse("--jobs has the number of ranks of each job; -n has no say");
  if (single.schedule.passes.pipeline.empty())
    if (Status s = options.refuseGiven({"--model", "--network", "--receive-slots"},
                                       "nothing is simulated, and no pass runs");
        !s)
      return options.refuse(s.message());
  Result<Jobs> jobs = settings.jobs.empty() ? Jobs() : readJobs(settings);
  if (!jobs) {
    printError(jobs.status().diagnostic());
    return Exit::Failure;
  }
  InputForm form;
  form.allowsWildcards = true;
  std::unique_ptr<Source> source;
  Source::Target target;
  if (std::optional<Exit> exit =
          chooseSingle(options, single, Purpose::Simulate, form, source, target))
    return *exit;
  if (settings.jobs.empty())
    jobs = oneJob(single, target);
  if (!jobs) {
    printError(jobs.status().diagnostic());
    return Exit::Failure;
  }
  if (!countAll(*source, target, single, *jobs))
    return Exit::Failure;
  if (settings.json) {
    printJobsJson(target.name, *jobs);
  } else if (settings.jobs.empty()) {
    resultStream() << target.name << ": " << counted(jobs->all[0].topology->numRanks(), "rank")
                   << "\n";
    printTraffic(jobs->all[0].traffic, *jobs->all[0].topology, resultStream());
  } else {
    printJobs(*jobs);
  }
  return Exit::Success;
}

} // namespace colldsl::tools
