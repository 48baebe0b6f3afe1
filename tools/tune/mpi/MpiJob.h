/// Jobs of the program that measures an MPI (measure/Main.cpp), started by that MPI's launcher.
#pragma once

#include "ir/Result.h"
#include "tools/tune/Alternation.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace colldsl::tools {

/// The command that starts the program.
struct MpiLaunch {
  std::vector<std::string> launcher; ///< "mpirun" and the words behind it
  std::string program;
  unsigned callSeconds = 20; ///< a call that takes longer counts as hung
};

/// "NAME=VALUE" sets a variable, "NAME" alone unsets it.
using Environment = std::vector<std::string>;

/// Facts about an MPI that the program reports without a job.
struct MpiFacts {
  struct Variable {
    int value = 0;
    bool isWritable = false;          ///< while a job runs
    std::map<int, std::string> items; ///< names of its values
  };
  std::string library; ///< "Open MPI v4.1.4"
  std::map<std::string, Variable> variables;
  std::vector<std::string> texts; ///< of its library
};

Result<MpiFacts> listFacts(const MpiLaunch &launch, const std::string &prefix,
                           const Environment &environment);

/// A call with the variables of an arm.
struct ArmResult {
  enum Verdict { Right, Wrong, Refused, Lost, NotRun };
  Verdict verdict = NotRun; ///< Lost: it ended the job, or did not end
  RoundTimes times;         ///< of each round, the slowest rank
};

struct MeasuredCall {
  std::string function;
  uint64_t bytes = 0;
  uint32_t warmups = 0, rounds = 0;
};

/// A process and its descendants, in a process group of their own: Ctrl-C reaches the caller alone.
/// They end with this object at the latest.
class Job {
public:
  static Result<std::unique_ptr<Job>> start(const MpiLaunch &launch, uint32_t ranks,
                                            const std::string &form,
                                            const Environment &environment);
  ~Job();
  Job(const Job &) = delete;

  uint32_t nodes() const { return nodes_; }

  /// Runs the call with each arm, "-" or VARIABLE=VALUE,..., and returns a result for each. An
  /// error: the job ended outside of the first call of an arm. It has also ended after an arm that
  /// is Lost.
  Result<std::vector<ArmResult>> run(const MeasuredCall &call,
                                     const std::vector<std::string> &arms);

private:
  friend Result<MpiFacts> listFacts(const MpiLaunch &, const std::string &, const Environment &);

  Job() = default;
  Status spawn(const std::vector<std::string> &words, const Environment &environment);
  /// The next line of the process's output; nothing: it has ended, or writes none in time.
  std::optional<std::string> readLine(std::chrono::seconds time);
  /// The first text that the process wrote to stderr, behind ": "; empty: none.
  std::string complaint();
  void end();

  int pid_ = -1, toChild_ = -1, fromChild_ = -1, errors_ = -1;
  uint32_t nodes_ = 1;
  unsigned callSeconds_ = 0;
  std::string buffer_;
};

} // namespace colldsl::tools
