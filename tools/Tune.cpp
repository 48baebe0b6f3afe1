#include "compiler/Spelling.h"
#include "driver/Lists.h"
#include "driver/Session.h"
#include "driver/files/WriteFile.h"
#include "driver/rules/Rules.h"
#include "tools/Commands.h"
#include "tools/input/ErrorMessages.h"
#include "tools/options/Options.h"
#include "tools/options/ResultStream.h"
#include "tools/run/JoinLauncher.h"
#include "tools/tune/Show.h"
#include "tools/tune/Tuner.h"
#include "tools/tune/mpi/TuneMpi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

constexpr uint64_t kUsualSizes[] = {8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};
constexpr uint64_t kElementBytes = 8;     // of reductions
constexpr uint64_t kMaxBytes = 256 << 20; // each rank has a few of these
constexpr uint32_t kMaxRanks = 256;

struct TuneSettings {
  TuneOptions tune;
  std::string svg, output;
  bool show = false, mpi = false;

  void addTo(Options &options);
  Status check(const std::vector<std::string> &operands) const;
};

void TuneSettings::addTo(Options &options) {
  tune.bytes.assign(std::begin(kUsualSizes), std::end(kUsualSizes));
  options.section("what to measure");
  options.add("--time", "T", "so long, about, such as 20s (default: 60s)",
              [this](llvm::StringRef text) {
                Result<uint64_t> ns = parseDurationNs(text);
                if (ns)
                  tune.time = std::chrono::nanoseconds(*ns);
                return ns ? Status() : ns.status();
              });
  options.add("--ranks", "LIST",
              "numbers of ranks to start (default: powers of two up to the cores that\n"
              "this process may use, and these); under a launcher its own",
              [this](llvm::StringRef text) -> Status {
                Result<std::vector<uint32_t>> list = parseRanks(text, 2);
                if (!list)
                  return list.status();
                if (list->back() > kMaxRanks)
                  return Status::error("at most " + std::to_string(kMaxRanks) + " ranks");
                tune.ranks = list.take();
                return {};
              });
  options.add(
      "--bytes", "LIST", "sizes, multiples of 8 (default: 8 to 1MiB)",
      [this](llvm::StringRef text) -> Status {
        Result<std::vector<uint64_t>> list = parseBytesList(text);
        if (!list)
          return list.status();
        for (uint64_t size : *list)
          if (size == 0 || size % kElementBytes != 0 || size > kMaxBytes)
            return Status::error(std::to_string(size) + " is no multiple of " +
                                 std::to_string(kElementBytes) + " up to " + bytesWord(kMaxBytes));
        tune.bytes = list.take();
        llvm::sort(tune.bytes);
        tune.bytes.erase(std::unique(tune.bytes.begin(), tune.bytes.end()), tune.bytes.end());
        return {};
      });
  options.add("--functions", "LIST", "bcast,allreduce,... (default: all)",
              [this](llvm::StringRef text) {
                llvm::SmallVector<llvm::StringRef> words;
                text.split(words, ',');
                for (llvm::StringRef word : words)
                  tune.functions.push_back(word.str());
                return Status();
              }) = completionOfNames(driver::Completion::Names::Functions, ',');
  options.addNumber("--noise", "PERCENT",
                    "leave out what varies by more, after it was measured again\n(default: 50)",
                    tune.noisePercent, 1, 100'000'000);
  options.addFlag("--fresh", "begin anew, and forget what the profile has", tune.fresh);
  options.section("what to tell");
  options.addFlag("--show", "measure nothing; print the profile", show);
  options.addSideOutput("--svg", "FILE", "draw who wins where", svg) = completionOfFiles({".svg"});
  options.section("another library");
  options.addFlag("--mpi", "measure the algorithms of an MPI, and write its own file of rules",
                  mpi);
  options.addSideOutput("--output", "FILE",
                        "that file (default: openmpi-rules.conf, openmpi-rules.json or\n"
                        "mpich-selection.json); names for MPICH get a version",
                        output);
}

Status TuneSettings::check(const std::vector<std::string> &operands) const {
  std::vector<llvm::StringRef> known = functionNames();
  for (const std::string &function : tune.functions)
    if (!mpi && !llvm::is_contained(known, llvm::StringRef(function))) {
      std::string hint = didYouMean(nearestWord(function, known));
      return Status::error("--functions: there is no function '" + function + "'; " +
                           (hint.empty() ? "there are " + llvm::join(known, " ") : hint));
    }
  if (!mpi && !operands.empty())
    return Status::error("'" + operands.front() + "' is no option of it");
  if (!mpi && !output.empty())
    return Status::error("--output is for --mpi; the machine profile is $COLLDSL_PROFILE");
  if (mpi && (show || !svg.empty() || tune.fresh))
    return Status::error(
        "--show, --svg and --fresh are for the machine profile, and not for --mpi");
  return {};
}

Status draw(const TuneSettings &settings, const MachineProfile &profile) {
  if (settings.svg.empty())
    return {};
  return writeFile(settings.svg, [&](llvm::raw_ostream &out) {
    drawProfile(profile, out);
    return Status();
  });
}

Status show(const TuneSettings &settings) {
  std::string path = profilePath();
  Result<std::optional<MachineProfile>> profile = readProfile(path);
  if (!profile)
    return profile.status();
  if (!*profile)
    return Status::error("there is no machine profile" + (path.empty() ? "" : " '" + path + "'") +
                         "; 'colldsl tune' makes one");
  if (Status s = checkMachine(**profile); !s)
    printWarning("'" + path + "': " + s.message());
  printProfile(**profile, resultStream());
  return draw(settings, **profile);
}

Status tune(const TuneSettings &settings) {
  Result<std::unique_ptr<Launcher>> launcher = joinLauncher();
  if (!launcher)
    return launcher.status();
  Result<BuiltLibrary> library = buildStandardLibrary();
  if (!library)
    return library.status();
  bool isAlone = *launcher && (*launcher)->numRanks() == 1;
  Tuner tuner(settings.tune, isAlone ? nullptr : launcher->get(), library.take());
  if (Status s = tuner.run(); !s)
    return s;
  bool isFirst = !*launcher || (*launcher)->rank() == 0;
  return isFirst ? draw(settings, tuner.profile()) : Status();
}

} // namespace

Exit tuneCommand(Arguments arguments) {
  TuneSettings settings;
  Options options(
      "tune", "[OPTION...] [--mpi [-- LAUNCHER...]]",
      "Measures what messages and copies cost on this machine, or between the ranks\n"
      "that mpirun or another launcher started, then which collective of the\n"
      "standard library is fastest for each function, size and number of ranks. The\n"
      "outcome is the machine profile (docs/tuning.md), which run, sim, plans of the\n"
      "C API and MPI programs go by. An interrupted measurement goes on when the\n"
      "command is called again.\n\n"
      "With --mpi it measures the algorithms of an MPI instead, in jobs that the\n"
      "launcher starts (default: mpirun), and writes a file by which that MPI chooses.");
  settings.addTo(options);
  if (std::optional<Exit> exit = options.parse(arguments))
    return *exit;
  Status used = settings.show ? options.refuseGiven({"--time", "--ranks", "--bytes", "--functions",
                                                     "--noise", "--fresh"},
                                                    "--show measures nothing")
                              : Status();
  for (const Status &s : {used, settings.check(options.operands())})
    if (!s)
      return options.refuse(s.message());
  Status s = settings.mpi    ? tuneMpi(settings.tune, options.operands(), settings.output)
             : settings.show ? show(settings)
                             : tune(settings);
  if (!s)
    printError(s.diagnostic());
  return s ? Exit::Success : Exit::Failure;
}

} // namespace colldsl::tools
