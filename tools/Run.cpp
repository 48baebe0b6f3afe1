#include "driver/Lists.h"
#include "driver/choice/Functions.h"
#include "driver/files/WriteFile.h"
#include "driver/proofs/Counterexample.h"
#include "driver/proofs/Proofs.h"
#include "driver/schedule/BlockSizes.h"
#include "driver/schedule/SingleSchedule.h"
#include "driver/source/Effects.h"
#include "tools/Commands.h"
#include "tools/PlanFile.h"
#include "tools/RunPlans.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/ErrorStream.h"
#include "tools/options/Json.h"
#include "tools/options/ResultStream.h"
#include "tools/options/Table.h"
#include "tools/run/Barrier.h"
#include "tools/run/CallTimes.h"
#include "tools/run/JoinLauncher.h"
#include "tools/run/Launch.h"
#include "tools/run/NcclColumns.h"
#include "tools/run/RunTrace.h"
#include "wireup/Allgatherv.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>
#include <unistd.h>

namespace colldsl::tools {
namespace {

constexpr const char *kHere = "local";

struct RunSettings {
  SingleRequest single;
  LaunchOptions launch;
  uint32_t iterations = 100;
  uint32_t warmup = 10;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  uint32_t maxRanks = 4096;
  bool stdlib = false;
  bool verify = true;
  bool json = false;
  bool ncclColumns = false;
  bool isStrict = false;
  bool isShared = false;
  bool checksInvariants = false;
  std::string trace;

  void addTo(Options &options);
  Status readTransport(llvm::StringRef text);
  Exit runPlans(const Options &options) const;
};

constexpr std::pair<llvm::StringRef, TransportKind> kWithinMachine[] = {
    {"shm", TransportKind::Shm}, {"cma", TransportKind::Cma}, {"fake", TransportKind::Fake}};

std::vector<llvm::StringRef> transportNames() {
  std::vector<llvm::StringRef> names;
  for (const auto &[name, kind] : kWithinMachine)
    names.push_back(name);
  names.insert(names.end(), kNetworkNames.begin(), kNetworkNames.end());
  return names;
}

/// A name of one of these, or a network.
Status RunSettings::readTransport(llvm::StringRef text) {
  launch.network.isAlone = false;
  for (const auto &[name, kind] : kWithinMachine)
    if (text == name) {
      launch.transport = kind;
      return {};
    }
  if (!llvm::is_contained(kNetworkNames, std::string_view(text.split('{').first)))
    return Fields::notOneOf(text, transportNames());
  Result<Network> network = Network::parse(text);
  if (!network)
    return network.status();
  launch.transport = TransportKind::Cma;
  launch.network = network.take();
  launch.network.isAlone = true;
  return {};
}

void RunSettings::addTo(Options &options) {
  options.section("what to run");
  options.addFlag("--stdlib",
                  "every collective of the standard library that is meant for so many ranks,\n"
                  "with the values that verify tries first where one has no default",
                  stdlib);
  single.schedule.topology = kHere;
  single.addTo(options, "where the schedule believes its ranks to sit (default: local, and where\n"
                        "a launcher put them on several nodes, those)");
  options.section("how");
  options.addNumber("--iters", "N",
                    "timed calls (default: 100); of an execution plan: launches\n"
                    "(default: 10)",
                    iterations, 1, 1 << 24);
  options.addNumber("--warmup", "N", "calls before those (default: 10)", warmup, 0, 1 << 24);
  options.add(
      "--transport", "T",
      "cma (the default): processes that share memory, and read long\n"
      "messages from each other's; shm: without the latter; where a launcher started\n"
      "them on several nodes, both use the network that COLLDSL_NETWORK names between\n"
      "these; ofi, verbs, datagram, tcp: libfabric, an RDMA device, UDP or TCP alone, with\n"
      "options as in verbs{device=mlx5_0,port=1}; fake: threads, whose messages overtake\n"
      "each other",
      [this](llvm::StringRef text) { return readTransport(text); }) =
      completionOf(transportNames());
  options.addFlag("--bind", "bind each rank to a core", launch.bindToCores);
  options.addFlag("--verify", "prove each schedule before it runs (the default)", verify);
  options.addFlag("--no-verify", "run unproved schedules", verify, false);
  options.addFlag("--check-invariants",
                  "compare what the invariants of loops state with the data, too; an op more\n"
                  "for each of them and each iteration copies these",
                  checksInvariants);
  options.addFlag("--shared-memory",
                  "buffers lie in memory that the ranks of a machine share, where the\n"
                  "transport has some",
                  isShared);
  options.addFlag("--strict-transfers",
                  "refuse schedules whose messages have attributes that the transport does\n"
                  "not execute; without it a note counts them",
                  isStrict);
  options.add("--timeout", "T", "after which a call has failed, such as 90 or 90s (default: 60s)",
              [this](llvm::StringRef text) -> Status {
                Result<uint64_t> ns = parseDurationNs(text, 1'000'000'000);
                if (ns)
                  timeout = std::chrono::nanoseconds(*ns);
                return ns ? Status() : ns.status();
              });
  options.addNumber("--max-ranks", "N", "ranks that this machine may start (default: 4096)",
                    maxRanks, 1);
  options.addNumber("--seed", "N", "of lengths of blocks, and of the fake transport", launch.seed);
  options.addSideOutput(
      "--trace", "FILE",
      "write when each op of the last call ran, for `colldsl show --trace`, Perfetto\n"
      "and chrome://tracing; of one schedule, on ranks that run itself starts",
      trace) = completionOfFiles({".json"});
  options.addFlag("--nccl-tests",
                  "print the columns of NVIDIA's nccl-tests: size, count, type, redop, root,\n"
                  "time (the median), algbw, busbw and #wrong, out of place and in place",
                  ncclColumns);
  options.addFlag("--json", "print one JSON object", json);
}

/// Runs execution plans, which have their ranks and buffers, and run in the memory of this process.
Exit RunSettings::runPlans(const Options &options) const {
  if (!llvm::all_of(options.operands(), isExecutionPlan))
    return options.refuse("execution plans run alone: name nothing else");
  if (Status s = options.refuseAllBut(
          {"-n", "--bytes", "--iters", "--timeout", "--seed", "--verify", "--no-verify", "--json"},
          "it is not for execution plans");
      !s)
    return options.refuse(s.message());
  PlanRunSettings plans;
  plans.ranks = single.ranks;
  plans.bytes = single.bytes;
  if (options.isGiven("--iters"))
    plans.launches = iterations;
  plans.seed = launch.seed;
  plans.timeout = timeout;
  plans.verify = verify;
  plans.json = json;
  return tools::runPlans(options.operands(), plans);
}

/// One collective that ran.
struct Row {
  std::string name;
  uint32_t ranks = 0;
  uint64_t bytes = 0;
  uint64_t ops = 0;
  const char *schedule = ""; ///< its source: "program", "image", "file"
  bool proved = false;
  bool checked = false;
  Times times;
  TransferReport transfers; ///< of all ranks
  NcclRow nccl;             ///< if its columns are asked for
};

class ScheduleRunner {
public:
  ScheduleRunner(Source &source, const RunSettings &settings)
      : source_(source), settings_(settings) {}

  /// Runs the target. Nothing: a mistake, a failure or wrong data, which were reported, or `where`
  /// excludes so many ranks.
  std::optional<Row> run(const Source::Target &target) {
    std::optional<Prepared> ready = prepare(target);
    if (!allAgree(ready.has_value()))
      return std::nullopt;
    const Schedule &schedule = *ready->made.schedule;
    Row row{target.name,
            schedule.numRanks(),
            ready->made.bytes,
            schedule.numOps(),
            target.schedule     ? "file"
            : ready->made.image ? "image"
                                : "program",
            settings_.verify,
            schedule.hasContract,
            {},
            {},
            settings_.ncclColumns ? ncclRow(target.name, schedule, ready->sizes) : NcclRow()};
    return execute(target, schedule, ready->sizes, row) ? std::optional(row) : std::nullopt;
  }

  /// The number of collectives of the standard library whose `where` excludes this call.
  size_t numExcluded() const { return numExcluded_; }

private:
  struct Prepared {
    SingleSchedule made;
    std::vector<Sizes> sizes;
  };

  /// The schedule and the sizes to run; reports mistakes.
  std::optional<Prepared> prepare(const Source::Target &target) {
    if (!checkRanks(target))
      return std::nullopt;
    Result<SingleSchedule> made = makeSingle(source_, target, settings_.single, settings_.stdlib);
    if (!made && isExcluded(target, made.status())) {
      ++numExcluded_;
      return std::nullopt;
    }
    if (!made) {
      source_.report(made.status().diagnostic(), target);
      return std::nullopt;
    }
    const Schedule &schedule = *made->schedule;
    if (settings_.checksInvariants && !settings_.stdlib && !hasInvariants(schedule)) {
      printError(target.name + ": no loop of it has an invariant to check");
      return std::nullopt;
    }
    Result<std::vector<Sizes>> sizes = chooseSizes(schedule, made->elements, settings_.launch.seed);
    if (!sizes) {
      source_.report(sizes.status().diagnostic(), target);
      return std::nullopt;
    }
    bool isFine = checkLaunched(target, schedule.numRanks()) &&
                  checkMemory(target, schedule, *sizes) &&
                  (!settings_.verify || !prints() || prove(target, schedule, *sizes));
    return isFine ? std::optional<Prepared>({made.take(), sizes.take()}) : std::nullopt;
  }

  static bool hasInvariants(const Schedule &schedule) {
    return llvm::any_of(schedule.ranks,
                        [](const Dag &dag) { return !dag.contract.invariants.empty(); });
  }

  bool isExcluded(const Source::Target &target, const Status &why) const {
    return settings_.stdlib &&
           breaksRequirement(source_.program(), target.collective, why.diagnostic());
  }

  /// True on the rank that prints and proves for all: the first of those that a launcher started.
  bool prints() const {
    return !settings_.launch.launcher || settings_.launch.launcher->rank() == 0;
  }

  bool allAgree(bool word) const {
    if (!settings_.launch.launcher)
      return word;
    std::byte mine{word};
    auto words = allgatherv(settings_.launch.launcher->oob(), {&mine, 1});
    if (!words)
      return printError(words.status().diagnostic());
    return llvm::all_of(*words, [](const auto &vote) { return vote[0] != std::byte{0}; });
  }

  bool checkLaunched(const Source::Target &target, uint32_t ranks) const {
    Launcher *launcher = settings_.launch.launcher;
    return !launcher || launcher->numRanks() == ranks ||
           printError(target.name + ": " + counted(ranks, "rank") + ", but the launcher started " +
                      std::to_string(launcher->numRanks()));
  }

  /// Checks the number of ranks before they are instantiated: a typing error could take hours.
  bool checkRanks(const Source::Target &target) const {
    uint32_t ranks =
        target.schedule ? target.schedule->numRanks() : settings_.single.ranks.value_or(1);
    return ranks <= settings_.maxRanks ||
           printError(target.name + ": " + std::to_string(ranks) +
                      " ranks are more than may start on this machine, " +
                      std::to_string(settings_.maxRanks) + "; raise the limit with --max-ranks");
  }

  /// Checks the memory in advance, because the kernel overcommits.
  static bool checkMemory(const Source::Target &target, const Schedule &schedule,
                          const std::vector<Sizes> &sizes) {
    double needed = memoryOfRun(schedule, sizes);
    double present =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return needed <= present ||
           printError(target.name + ": the data of " + counted(schedule.numRanks(), "rank") +
                      " and what it is compared with take " + gibibytes(needed) +
                      ", this machine has " + gibibytes(present) + " of memory");
  }

  static std::string gibibytes(double bytes) {
    return llvm::formatv("{0:f1} GiB", bytes / (1 << 30)).str();
  }

  bool prove(const Source::Target &target, const Schedule &schedule,
             const std::vector<Sizes> &sizes) const {
    proof::VerifyReport report = proof::verify(schedule, sizes);
    if (report.proved())
      return true;
    source_.report(counterexample(report), target);
    return printError("'" + target.name + "' was refused, and not run");
  }

  bool execute(const Source::Target &target, const Schedule &schedule,
               const std::vector<Sizes> &sizes, Row &row) const {
    Schedule together = barrierSchedule(schedule.numRanks());
    std::vector<std::byte> bytes = encodeImage(schedule), barrierBytes = encodeImage(together);
    Result<Image> image = Image::load(bytes), barrier = Image::load(barrierBytes);
    for (const Result<Image> *loaded : {&image, &barrier})
      if (!*loaded)
        return source_.report(loaded->status().diagnostic(), target);
    RunTask task;
    task.name = target.name;
    task.schedule = &schedule;
    task.image = &*image;
    task.barrier = &*barrier;
    task.sizes = &sizes;
    task.warmup = settings_.warmup;
    task.iterations = settings_.iterations;
    task.timeout = settings_.timeout;
    task.isShared = settings_.isShared;
    task.isTraced = !settings_.trace.empty();
    task.transferPolicy = settings_.isStrict ? TransferPolicy::Refuse : TransferPolicy::Report;
    Result<std::vector<RankReport>> reports = launch(task, settings_.launch);
    if (!reports)
      return reportFailure(target, reports.status().diagnostic());
    if (!checkData(target, *reports))
      return false;
    std::vector<std::vector<int64_t>> ns;
    for (const RankReport &report : *reports) {
      ns.push_back(report.ns);
      row.transfers.add(report.transfers);
    }
    row.times = summarize(ns);
    return saveTrace(target, schedule, sizes, *reports);
  }

  bool saveTrace(const Source::Target &target, const Schedule &schedule,
                 const std::vector<Sizes> &sizes, const std::vector<RankReport> &reports) const {
    if (settings_.trace.empty())
      return true;
    Status status = writeFile(settings_.trace, [&](llvm::raw_ostream &out) {
      writeRunTrace(target.name, schedule, sizes, reports, out);
      return Status();
    });
    return status || printError(status.diagnostic());
  }

  static bool reportFailure(const Source::Target &target, const Diagnostic &error) {
    printError(target.name + ": " + error.message);
    for (const Diagnostic &note : error.notes)
      errorStream() << "  " << note.message << "\n";
    return false;
  }

  static bool checkData(const Source::Target &target, const std::vector<RankReport> &reports) {
    for (uint32_t r = 0; r < reports.size(); ++r)
      if (!reports[r].wrong.empty())
        return printError("wrong data: " + target.name + ", rank " + std::to_string(r) + ", " +
                          reports[r].wrong);
    return true;
  }

  Source &source_;
  const RunSettings &settings_;
  size_t numExcluded_ = 0;
};

/// Joins the processes of a launcher, which are the ranks. On several nodes, the topology is their
/// actual placement unless an option sets it.
Status join(RunSettings &settings, std::unique_ptr<Launcher> &launcher) {
  if (settings.launch.transport == TransportKind::Fake)
    return {};
  Result<std::unique_ptr<Launcher>> found = joinLauncher();
  if (!found)
    return found.status();
  launcher = found.take();
  if (launcher && !settings.single.ranks)
    settings.single.ranks = launcher->numRanks();
  if (launcher && launcher->numRanks() == 1)
    launcher.reset(); // there is no other rank to join
  settings.launch.launcher = launcher.get();
  Network &network = settings.launch.network;
  settings.single.multicast = network.isAlone && network.hasMulticast();
  if (!launcher)
    return {};
  Result<std::optional<std::string>> nodes = nodesOf(*launcher, network);
  if (!nodes)
    return nodes.status();
  if (*nodes)
    settings.single.multicast = network.hasMulticast();
  std::string &topology = settings.single.schedule.topology;
  if (topology == kHere && *nodes)
    topology = **nodes;
  return {};
}

/// Collective. True if all ranks that a launcher started chose the same targets: machine profiles
/// may differ between machines.
bool allChose(Launcher &launcher, const std::vector<Source::Target> &targets,
              const Source &source) {
  std::string mine;
  for (const Source::Target &target : targets) {
    mine += target.name;
    for (const auto &[param, value] : target.arguments)
      mine +=
          " " + std::to_string(param) + "=" + std::to_string(source.program().expr(value).value);
    mine += ";";
  }
  auto bytes = std::as_bytes(std::span(mine));
  auto all = allgatherv(launcher.oob(), bytes);
  if (!all)
    return printError(all.status().diagnostic());
  return llvm::all_of(*all, [&](const auto &other) { return other == all->front(); }) ||
         printError("the machine profiles of the ranks choose different collectives; set "
                    "COLLDSL_PROFILE to one file");
}

/// Notes on standard error the attributes of messages that the transport does not execute.
void noteTransfers(const std::vector<Row> &rows) {
  for (const Row &row : rows)
    if (!row.transfers.isExecuted())
      errorStream() << "colldsl: note: " << row.name << ": the transport executes "
                    << row.transfers.inWords() << "\n";
}

llvm::json::Object transfersJson(const TransferReport &report) {
  llvm::json::Object counts;
  for (size_t a = 0; a < kAttributes; ++a)
    if (report.counts[a].asked != 0)
      counts[llvm::StringRef(spelling(static_cast<Attribute>(a)))] = llvm::json::Object{
          {"asked", report.counts[a].asked}, {"executed", report.counts[a].executed}};
  return counts;
}

void printTable(const std::vector<Row> &rows) {
  Table table({"collective", "ranks", "bytes", "ops", "schedule", "proof", "data", "time/call",
               "min", "p90"});
  for (const Row &row : rows)
    table.addRow({row.name, std::to_string(row.ranks), std::to_string(row.bytes),
                  std::to_string(row.ops), row.schedule, row.proved ? "proved" : "not tried",
                  row.checked ? "correct" : "no contract", timeWord(row.times.median),
                  timeWord(row.times.min), timeWord(row.times.p90)});
  table.print(resultStream());
}

void printNccl(const std::vector<Row> &rows) {
  std::vector<NcclRow> all;
  for (const Row &row : rows) {
    all.push_back(row.nccl);
    all.back().isChecked = row.checked;
    all.back().times = row.times;
  }
  printNcclColumns(all);
}

void printRuns(const std::vector<Row> &rows, const RunSettings &settings, bool ok) {
  llvm::json::Array runs;
  for (const Row &row : rows)
    runs.push_back(llvm::json::Object{
        {"name", jsonText(row.name)},
        {"ranks", row.ranks},
        {"bytes", row.bytes},
        {"ops", row.ops},
        {"schedule", row.schedule},
        {"proved", row.proved},
        {"checked", row.checked},
        {"transfers", transfersJson(row.transfers)},
        {"iterations", settings.iterations},
        {"ns", llvm::json::Object{{"median", row.times.median},
                                  {"min", row.times.min},
                                  {"p90", row.times.p90},
                                  {"max", row.times.max}}},
    });
  printJson(llvm::json::Object{{"ok", ok}, {"runs", std::move(runs)}});
}

} // namespace

Exit runCommand(Arguments arguments) {
  RunSettings settings;
  Options options(
      "run", "[FILE|COLLECTIVE]... -n N [OPTION...]",
      "Runs collectives on ranks of this machine, or on those that mpirun or\n"
      "another launcher started anywhere, compares the data with what the contract promises,\n"
      "and tells the time of a call: of the slowest rank, the median over all calls.\n"
      "A FILE is source text (.coll), the text form or GOAL, an image or a schedule\n"
      "library; a COLLECTIVE is one of the standard library, or a function such as\n"
      "bcast, for which its rules choose one. A FILE with an execution plan of MSCCL++\n"
      "(.json) runs with its threadblocks as threads, without GPUs and without times.");
  options.completeOperands(completionOfSchedules());
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  const ScheduleRequest &schedule = settings.single.schedule;
  bool named = !options.operands().empty() || !schedule.names.empty();
  if (settings.stdlib && named)
    return options.refuse("--stdlib stands for all that is to be run: name nothing else");
  if (!settings.stdlib && !named)
    return options.refuse("nothing to run: name a file, a collective, or --stdlib");
  if (llvm::any_of(options.operands(), isExecutionPlan))
    return settings.runPlans(options);
  if (settings.ncclColumns && settings.json)
    return options.refuse("--nccl-tests and --json: one of them");
  if (settings.checksInvariants && !schedule.passes.pipeline.empty())
    return options.refuse("--check-invariants: passes change the schedule, and invariants belong "
                          "to the text");
  if (settings.checksInvariants)
    settings.single.schedule.invariants = Invariants::Copied;
  std::unique_ptr<Launcher> launcher;
  if (Status s = join(settings, launcher); !s)
    return printError(s.diagnostic()), Exit::Failure;
  prepare(settings.launch);
  std::unique_ptr<Source> source = Source::read(session(), options.operands(), schedule);
  if (!source)
    return Exit::Failure;
  std::vector<Source::Target> targets =
      settings.stdlib ? source->stdlib() : source->choose(schedule);
  if (targets.empty() || !chooseForFunctions(*source, targets, settings.single, Purpose::Run) ||
      !usedAllSettings(*source, targets, schedule) ||
      !usesAllGiven(options, *source, targets, schedule, Purpose::Run))
    return Exit::Failure;
  if (launcher && !allChose(*launcher, targets, *source))
    return Exit::Failure;
  if (!settings.trace.empty() && targets.size() > 1)
    return options.refuse("--trace: one schedule at a time; there are " +
                          llvm::Twine(targets.size()));
  if (!settings.trace.empty() && launcher)
    return options.refuse("--trace: ranks that a launcher started may be on several machines, "
                          "whose clocks differ; let run start them");
  ScheduleRunner runner(*source, settings);
  std::vector<Row> rows;
  for (const Source::Target &target : targets)
    if (std::optional<Row> row = runner.run(target))
      rows.push_back(std::move(*row));
  noteTransfers(rows);
  bool ok = rows.size() + runner.numExcluded() == targets.size();
  if (settings.json)
    printRuns(rows, settings, ok);
  else if (!rows.empty() && settings.ncclColumns)
    printNccl(rows);
  else if (!rows.empty())
    printTable(rows);
  return ok ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
