// Operations of an MPI against what the standard says they do.
#include "tests/mpi/Groups.h"
#include "tests/mpi/Usage.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <mpi.h>
#include <unistd.h>

namespace conformance {
namespace {

// Parts of what a case needs are kept for the next, and cases differ.
constexpr long kMayGrowKiB = 32 << 10;

const char kHelp[] = R"(
  --list               names the groups of cases
  --only GROUP         runs one group alone; may be repeated
  --cases N            cases per group, 100 by default
  --seed S             which random numbers, 1 by default
  --first CASE         the first case of each group, 0 by default
  --skip-known-faults  leaves out what this MPI alone gets wrong
  --skip-known-faults-of GROUP
                       in this group alone
  --keep-going         prints all mismatches; otherwise the first ends the program
  --timeout SECONDS    ends the program with exit code 3 after this time, 120 by default
  --leave-after SECONDS
                       ends a rank, with its result, whose MPI_Finalize takes longer than this
  --for SECONDS        goes on with further cases for this time, looks whether memory and open
                       files stay bounded, and lets --timeout count anew for each --cases

Exit code 1: the MPI, or what stands in for it, was wrong.
)";

struct Options {
  std::vector<const Group *> groups, skipIn;
  uint64_t seed = 1, first = 0, cases = 100, timeoutSeconds = 120, forSeconds = 0,
           leaveAfterSeconds = 0;
  bool skipKnownFaults = false, keepGoing = false, list = false, help = false, wrong = false;
};

void addGroup(Options &options, std::vector<const Group *> &list, const char *name) {
  for (const Group &group : groups())
    if (std::strcmp(group.name, name) == 0)
      return list.push_back(&group);
  options.wrong = true;
}

void setNumber(Options &options, uint64_t &number, const char *text) {
  char *end;
  number = std::strtoull(text, &end, 10);
  options.wrong |= end == text || *end;
}

void set(Options &o, int option, const char *value) {
  switch (option) {
  case 'o':
    return addGroup(o, o.groups, value);
  case 'g':
    return addGroup(o, o.skipIn, value);
  case 'c':
    return setNumber(o, o.cases, value);
  case 's':
    return setNumber(o, o.seed, value);
  case 'f':
    return setNumber(o, o.first, value);
  case 't':
    return setNumber(o, o.timeoutSeconds, value);
  case 'e':
    return setNumber(o, o.leaveAfterSeconds, value);
  case 'r':
    return setNumber(o, o.forSeconds, value);
  case 'l':
    o.list = true;
    return;
  case 'x':
    o.skipKnownFaults = true;
    return;
  case 'k':
    o.keepGoing = true;
    return;
  case 'h':
    o.help = true;
    return;
  default:
    o.wrong = true;
  }
}

Options parse(int argc, char **argv) {
  static const option known[] = {{"list", no_argument, nullptr, 'l'},
                                 {"only", required_argument, nullptr, 'o'},
                                 {"cases", required_argument, nullptr, 'c'},
                                 {"seed", required_argument, nullptr, 's'},
                                 {"first", required_argument, nullptr, 'f'},
                                 {"skip-known-faults", no_argument, nullptr, 'x'},
                                 {"skip-known-faults-of", required_argument, nullptr, 'g'},
                                 {"keep-going", no_argument, nullptr, 'k'},
                                 {"timeout", required_argument, nullptr, 't'},
                                 {"leave-after", required_argument, nullptr, 'e'},
                                 {"for", required_argument, nullptr, 'r'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {}};
  Options options;
  for (int found; (found = getopt_long(argc, argv, "", known, nullptr)) != -1;)
    set(options, found, optarg);
  options.wrong |= optind != argc;
  if (options.groups.empty())
    for (const Group &group : groups())
      if (!group.onRequest)
        options.groups.push_back(&group);
  return options;
}

uint64_t number(const std::string &name) {
  uint64_t hash = 0;
  for (char c : name)
    hash = hash * 31 + c;
  return hash;
}

// How many cases were left out.
uint64_t runGroup(const Group &group, const Options &options, int rank, Report &report) {
  uint64_t leftOut = 0;
  const auto &skipIn = options.skipIn;
  bool skips = options.skipKnownFaults || std::count(skipIn.begin(), skipIn.end(), &group) > 0;
  for (uint64_t i = options.first; i < options.first + options.cases; ++i) {
    report.enter(std::string(group.name) + ", seed " + std::to_string(options.seed) + ", case " +
                 std::to_string(i));
    uint64_t name = number(group.name), mine = rank + 1;
    Case c{Random({options.seed, name, i, 0}), Random({options.seed, name, i, mine}), skips,
           report};
    leftOut += !group.run(c);
  }
  return leftOut;
}

/// By group: how many of its cases were left out.
using Tally = std::vector<uint64_t>;

void runGroups(const Options &options, int rank, Report &report, Tally &leftOut) {
  for (size_t i = 0; i < options.groups.size(); ++i)
    leftOut[i] += runGroup(*options.groups[i], options, rank, report);
}

void print(const Group &group, uint64_t cases, uint64_t leftOut) {
  std::printf("%-14s %llu cases, %llu left out\n", group.name,
              static_cast<unsigned long long>(cases - leftOut),
              static_cast<unsigned long long>(leftOut));
  std::fflush(stdout);
}

// One rank's clock counts.
bool isOver(double end) {
  int over = MPI_Wtime() >= end;
  MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over != 0;
}

void runUntil(double end, Options &options, int rank, Report &report, Tally &leftOut) {
  while (!isOver(end)) {
    report.watch(static_cast<unsigned>(options.timeoutSeconds));
    runGroups(options, rank, report, leftOut);
    options.first += options.cases;
  }
}

// The first half may need what the rest needs again: memory that leaks goes on growing.
void runFor(Options &options, int rank, Report &report, Tally &leftOut) {
  double begin = MPI_Wtime(), time = static_cast<double>(options.forSeconds);
  runUntil(begin + time / 2, options, rank, report, leftOut);
  Usage before = Usage::now();
  runUntil(begin + time, options, rank, report, leftOut);
  Usage after = Usage::now();
  std::printf("rank %d: %ld KiB and %+ld KiB, %ld open files and %+ld\n", rank, before.residentKiB,
              after.residentKiB - before.residentKiB, before.openFiles,
              after.openFiles - before.openFiles);
  report.expect(after.residentKiB - before.residentKiB < kMayGrowKiB, "memory", "grows");
  report.expect(after.openFiles == before.openFiles, "files", "more or fewer are open");
}

int runAll(Options options) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Report report(options.keepGoing);
  report.watch(static_cast<unsigned>(options.timeoutSeconds));
  uint64_t first = options.first;
  Tally leftOut(options.groups.size());
  if (options.forSeconds > 0)
    runFor(options, rank, report, leftOut);
  for (size_t i = 0; i < options.groups.size(); ++i) {
    if (options.forSeconds == 0)
      leftOut[i] = runGroup(*options.groups[i], options, rank, report);
    if (rank == 0)
      print(*options.groups[i], options.forSeconds > 0 ? options.first - first : options.cases,
            leftOut[i]);
  }
  return report.mismatches() > 0;
}

void list() {
  for (const Group &group : groups())
    std::printf("%-14s %s%s\n", group.name, group.summary, group.onRequest ? "; on request" : "");
}

int leaveWith; ///< an exit code, for a signal handler

void leaveAfter(uint64_t seconds, int code) {
  leaveWith = code;
  std::signal(SIGALRM, [](int) { _exit(leaveWith); });
  alarm(static_cast<unsigned>(seconds));
}

} // namespace

int run(int argc, char **argv) {
  Options options = parse(argc, argv);
  if (options.list)
    return list(), 0;
  if (options.help || options.wrong) {
    std::fprintf(options.wrong ? stderr : stdout,
                 "usage: mpirun -n N conformance [OPTION...]\n\nCompares %s.\n%s", kSubject, kHelp);
    return options.wrong ? 2 : 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int code = runAll(options);
  if (options.leaveAfterSeconds > 0)
    leaveAfter(options.leaveAfterSeconds, code);
  MPI_Finalize();
  return code;
}

} // namespace conformance

int main(int argc, char **argv) { return conformance::run(argc, argv); }
