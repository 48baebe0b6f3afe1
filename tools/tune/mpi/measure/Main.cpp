// Measures the collectives of an MPI with the algorithms that commands name. It uses no code of
// colldsl; `colldsl tune --mpi` starts it and writes the commands.
//
//   list PREFIX    facts of this MPI, before MPI_Init: its version, its control variables
//   serve FORM     as a job of MPI: commands on the standard input of rank 0, until it ends. FORM
//                  is `duplicates`, if the MPI reads its variables when a communicator is made, or
//                  `shared`
//
// One command:  run FUNCTION BYTES WARMUPS ROUNDS SECONDS ARM...
// An arm is `-` or VARIABLE=VALUE,... Each arm is checked, then all run in turns. The answer:
// `begin ARM` before an arm's first call, `refused`, `wrong` or `right ARM`, then for those that
// are right `times ARM NS...`, each of the slowest rank, then `done`. A call that takes longer than
// SECONDS ends the job.
#include "tools/tune/mpi/measure/MeasuredCalls.h"
#include "tools/tune/mpi/measure/Variables.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <new>
#include <sstream>
#include <unistd.h>

namespace measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTag = 1;
constexpr long kNapNs = 300'000; // of ranks that wait for a command
// The last rank enters a barrier late by kLate, so that a rank which loses its core for some time
// slices still waits kLateAtLeast.
constexpr std::chrono::milliseconds kLate{40}, kLateAtLeast{2};

enum class Verdict : int { Right, Wrong, Refused }; // the greatest of all ranks counts

struct Arm {
  std::vector<std::pair<std::string, int>> settings;
  MPI_Comm comm = MPI_COMM_NULL;
  bool isRight = false;
};

struct Command {
  std::string function;
  size_t bytes = 0;
  int warmups = 0, rounds = 0;
  unsigned seconds = 0;
  std::vector<std::string> arms;
};

void nap() {
  timespec time{0, kNapNs};
  nanosleep(&time, nullptr);
}

class Server {
public:
  explicit Server(bool duplicates) : duplicates_(duplicates) {
    MPI_Comm_dup(MPI_COMM_WORLD, &control_);
    MPI_Comm_dup(MPI_COMM_WORLD, &shared_);
    MPI_Comm_set_errhandler(shared_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(control_, &rank_);
    MPI_Comm_size(control_, &ranks_);
  }

  void serve() {
    std::printf("%s", rank_ == 0 ? ready().c_str() : "");
    for (std::string line = next(); !line.empty(); line = next()) {
      std::istringstream words(line);
      std::string verb, arm;
      Command command;
      words >> verb >> command.function >> command.bytes >> command.warmups >> command.rounds >>
          command.seconds;
      while (words >> arm)
        command.arms.push_back(arm);
      run(command);
    }
    forget();
    MPI_Comm_free(&shared_);
    MPI_Comm_free(&control_);
  }

private:
  /// The greeting: the numbers of ranks and nodes.
  std::string ready() {
    return "ready " + std::to_string(ranks_) + " " + std::to_string(nodes_) + "\n";
  }

  /// The next command; empty at the end. Waiting ranks sleep, which leaves their cores to other
  /// jobs.
  std::string next() {
    std::fflush(stdout);
    std::string line;
    if (rank_ == 0) {
      if (!std::getline(std::cin, line))
        line.clear();
      for (int rank = 1; rank < ranks_; ++rank)
        MPI_Send(line.data(), static_cast<int>(line.size()), MPI_CHAR, rank, kTag, control_);
      return line;
    }
    MPI_Status status;
    for (int there = 0; !there;) {
      MPI_Iprobe(0, kTag, control_, &there, &status);
      if (!there)
        nap();
    }
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    line.resize(static_cast<size_t>(length));
    MPI_Recv(line.data(), length, MPI_CHAR, 0, kTag, control_, MPI_STATUS_IGNORE);
    return line;
  }

  void run(const Command &command) {
    if (command.function != lastFunction_)
      forget();
    lastFunction_ = command.function;
    std::vector<Arm *> arms;
    for (const std::string &words : command.arms)
      arms.push_back(armOf(words));
    std::unique_ptr<Call> call = makeCall(command);
    for (size_t i = 0; i < arms.size(); ++i) {
      report("begin", i);
      Verdict verdict = call ? check(*arms[i], *call, command) : Verdict::Refused;
      arms[i]->isRight = verdict == Verdict::Right;
      report(verdict == Verdict::Right   ? "right"
             : verdict == Verdict::Wrong ? "wrong"
                                         : "refused",
             i);
    }
    if (call)
      measure(arms, *call, command);
    alarm(0);
    if (rank_ == 0)
      std::printf("done\n");
  }

  std::unique_ptr<Call> makeCall(const Command &command) {
    std::unique_ptr<Call> call;
    try {
      call = Call::make(command.function, command.bytes, control_);
    } catch (const std::bad_alloc &) {
      call = nullptr;
    }
    return greatest(call ? 0 : 1) == 0 ? std::move(call) : nullptr;
  }

  /// The arm of these words. Collective, as all methods below.
  Arm *armOf(const std::string &words) {
    auto [at, isNew] = arms_.try_emplace(words);
    Arm &arm = at->second;
    if (!isNew)
      return &arm;
    std::istringstream list(words == "-" ? "" : words);
    for (std::string word; std::getline(list, word, ',');) {
      size_t equals = word.find('=');
      arm.settings.push_back({word.substr(0, equals), std::stoi(word.substr(equals + 1))});
    }
    arm.comm = shared_;
    if (duplicates_) {
      Restore restore(variables_, arm);
      MPI_Comm_dup(MPI_COMM_WORLD, &arm.comm);
      MPI_Comm_set_errhandler(arm.comm, MPI_ERRORS_RETURN);
    }
    return &arm;
  }

  void forget() {
    for (auto &[words, arm] : arms_)
      if (arm.comm != shared_)
        MPI_Comm_free(&arm.comm);
    arms_.clear();
  }

  /// Sets the variables of an arm, and restores them in its destructor.
  class Restore {
  public:
    Restore(Variables &variables, const Arm &arm) : variables_(variables) {
      for (const auto &[name, value] : arm.settings) {
        int before = 0;
        isSet = variables_.read(name, before);
        if (isSet)
          before_.push_back({name, before});
        isSet = isSet && variables_.write(name, value);
        if (!isSet)
          return;
      }
    }
    ~Restore() {
      for (const auto &[name, value] : before_)
        variables_.write(name, value);
    }
    Restore(const Restore &) = delete;
    bool isSet = true;

  private:
    Variables &variables_;
    std::vector<std::pair<std::string, int>> before_;
  };

  Verdict check(const Arm &arm, Call &call, const Command &command) {
    Verdict verdict = Verdict::Right;
    std::vector<int> roots = {0};
    if (call.hasRoot())
      roots.push_back(ranks_ - 1);
    for (int i = 0; i < std::max<int>(command.warmups, static_cast<int>(roots.size())); ++i) {
      int root = roots[static_cast<size_t>(i) % roots.size()];
      call.spoil();
      call.write(root);
      verdict = std::max(verdict, checkOnce(arm, call, root, command.seconds));
      verdict = static_cast<Verdict>(greatest(static_cast<int>(verdict)));
      if (verdict != Verdict::Right)
        return verdict;
    }
    return verdict;
  }

  Verdict checkOnce(const Arm &arm, Call &call, int root, unsigned seconds) {
    bool isLate = call.isBarrier() && rank_ == ranks_ - 1;
    Restore restore(variables_, arm);
    alarm(seconds);
    meet();
    Clock::time_point begin = Clock::now();
    while (isLate && Clock::now() - begin < kLate)
      nap();
    if (call.run(arm.comm, root) != MPI_SUCCESS || !restore.isSet)
      return Verdict::Refused;
    bool waited = Clock::now() - begin >= kLateAtLeast;
    return call.isRight(root) && (!call.isBarrier() || waited) ? Verdict::Right : Verdict::Wrong;
  }

  // Every other round runs backwards, so that no arm always follows the same one. Each call writes
  // its data before and reads it afterwards, as programs do.
  void measure(const std::vector<Arm *> &arms, Call &call, const Command &command) {
    size_t rounds = static_cast<size_t>(command.rounds);
    std::vector<double> ns(arms.size() * rounds), slowest(ns.size());
    Clock::time_point lastLine = Clock::now();
    for (size_t round = 0; round < rounds; ++round)
      for (size_t i = 0; i < arms.size(); ++i) {
        size_t which = round % 2 == 0 ? i : arms.size() - 1 - i;
        if (!arms[which]->isRight)
          continue;
        call.write(0);
        Restore restore(variables_, *arms[which]);
        alarm(command.seconds);
        meet();
        Clock::time_point begin = Clock::now();
        call.run(arms[which]->comm, 0);
        std::chrono::duration<double, std::nano> time = Clock::now() - begin;
        ns[which * rounds + round] = time.count();
        call.read();
        if (rank_ == 0 && Clock::now() - lastLine > std::chrono::seconds(1)) {
          std::printf("still\n");
          std::fflush(stdout);
          lastLine = Clock::now();
        }
      }
    MPI_Reduce(ns.data(), slowest.data(), static_cast<int>(ns.size()), MPI_DOUBLE, MPI_MAX, 0,
               control_);
    for (size_t i = 0; rank_ == 0 && i < arms.size(); ++i) {
      if (!arms[i]->isRight)
        continue;
      std::printf("times %zu", i);
      for (size_t round = 0; round < rounds; ++round)
        std::printf(" %.0f", slowest[i * rounds + round]);
      std::printf("\n");
    }
  }

  /// A barrier by dissemination, of messages alone: the MPI's own barrier may be under measurement.
  void meet() {
    for (int distance = 1; distance < ranks_; distance *= 2)
      MPI_Sendrecv(nullptr, 0, MPI_CHAR, (rank_ + distance) % ranks_, kTag, nullptr, 0, MPI_CHAR,
                   (rank_ - distance + ranks_) % ranks_, kTag, control_, MPI_STATUS_IGNORE);
  }

  int greatest(int mine) {
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, control_);
    return all;
  }

  void report(const char *word, size_t arm) const {
    if (rank_ == 0)
      std::printf("%s %zu\n", word, arm);
    std::fflush(stdout);
  }

  static int countNodes() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int rankOnNode = 0, isFirst = 0, nodes = 0;
    MPI_Comm_rank(node, &rankOnNode);
    MPI_Comm_free(&node);
    isFirst = rankOnNode == 0 ? 1 : 0;
    MPI_Allreduce(&isFirst, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return nodes;
  }

  bool duplicates_;
  int rank_ = 0, ranks_ = 1, nodes_ = countNodes();
  MPI_Comm control_ = MPI_COMM_NULL, shared_ = MPI_COMM_NULL;
  Variables variables_;
  std::string lastFunction_;
  std::map<std::string, Arm> arms_;
};

void list(const char *prefix) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::string line = version;
  std::printf("library %s\n", line.substr(0, line.find_first_of(",\n")).c_str());
  Variables().print(prefix);
  printTexts();
}

} // namespace
} // namespace measure

int main(int argc, char **argv) {
  std::string verb = argc == 3 ? argv[1] : "";
  if (verb == "list") {
    measure::list(argv[2]);
    return 0;
  }
  if (verb != "serve") {
    std::fprintf(stderr, "usage: %s list PREFIX | serve duplicates | serve shared\n", argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  measure::Server(argv[2] == std::string("duplicates")).serve();
  MPI_Finalize();
  return 0;
}
