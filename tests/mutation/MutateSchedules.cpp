// Mutation test of the verifier: makes every small mistake in every schedule of the standard
// library, and compares what the verifier says with what an oracle sees that runs the mutant. A
// mutant that is proved, but goes wrong in some order, is a bug.
//
// usage: mutate-schedules [--every N] [--orders N] [--seed N] [--show N] [COLLECTIVE...]
//   --every N   only each N-th mutant
//   --orders N  in which each mutant is run without buffering (default: 50)
//   --seed N    of those orders (default: 1)
//   --show N    mutants of each kind that each proof refuses, though they seem harmless

#include "tests/mutation/Cases.h"
#include "tests/mutation/Oracle.h"
#include "tests/mutation/Tally.h"

#include "driver/Lists.h"
#include "driver/Workers.h"
#include "ir/Image.h"
#include "tools/options/Progress.h"

#include "llvm/Support/raw_ostream.h"

#include <map>
#include <mutex>

namespace colldsl::mutation {
namespace {

constexpr size_t kMutantsPerPiece = 512;

struct Settings {
  uint64_t every = 1;
  uint64_t show = 0;
  Trials trials;
  std::vector<std::string> names;
};

/// Some of the mutants of one case.
struct Piece {
  const Case *from;
  std::vector<Mutation> mutations;
  bool isFirst = false; ///< the schedule itself is tested as well
};

/// Whether the executor would take the schedule at all.
bool isWellFormed(const Schedule &schedule) {
  std::vector<std::byte> bytes = encodeImage(schedule);
  return Image::load(bytes).ok();
}

std::string placed(const Finding &finding) {
  std::string text = "rank " + std::to_string(index(finding.rank));
  if (finding.op != kNoOp)
    text += ", op " + std::to_string(index(finding.op));
  return text + " " + finding.text;
}

class MutationTest {
public:
  MutationTest(const Settings &settings, const std::vector<Case> &cases)
      : settings_(settings), cases_(cases) {}

  bool run() {
    std::vector<Piece> pieces = cut();
    {
      tools::Progress progress;
      driver::Steps steps(progress.watch(), "pieces", pieces.size());
      driver::forEachInParallel(pieces.size(), [&](size_t i) {
        test(pieces[i]);
        steps.step();
      });
    }
    llvm::outs() << tally_.tables();
    Counts all = tally_.total();
    llvm::outs() << "\n"
                 << driver::counted(cases_.size(), "schedule") << ", "
                 << driver::counted(all.mutants, "mutant") << ", " << all.wrong << " wrong, "
                 << all.survivors << " of them proved; " << wrongOriginals_
                 << " schedules on which verifier and oracle differ unmutated\n";
    return all.survivors == 0 && wrongOriginals_ == 0 && all.wrong > 0;
  }

private:
  std::vector<Piece> cut() {
    std::vector<Piece> pieces;
    uint64_t number = 0;
    for (const Case &c : cases_) {
      pieces.push_back({&c, {}, true});
      for (const Mutation &mutation : allMutations(*c.schedule, c.sizes)) {
        if (number++ % settings_.every != 0)
          continue;
        if (pieces.back().mutations.size() == kMutantsPerPiece)
          pieces.push_back({&c, {}, false});
        pieces.back().mutations.push_back(mutation);
      }
    }
    return pieces;
  }

  void test(const Piece &piece) {
    Oracle oracle(*piece.from->schedule, piece.from->sizes, settings_.trials);
    if (piece.isFirst)
      testOriginal(*piece.from, oracle);
    Mutant mutant(*piece.from->schedule, piece.from->sizes.front().elements);
    Tally tally;
    for (const Mutation &mutation : piece.mutations)
      test(*piece.from, mutation, mutant, oracle, tally.ofKind[static_cast<size_t>(mutation.kind)]);
    std::lock_guard lock(mutex_);
    tally_.add(tally);
  }

  void testOriginal(const Case &c, Oracle &oracle) {
    proof::VerifyReport report = proof::verify(*c.schedule, c.sizes);
    Finding finding = oracle.findFault(*c.schedule);
    if (report.proved() && !finding)
      return;
    std::lock_guard lock(mutex_);
    ++wrongOriginals_;
    llvm::outs() << c.words << ": " << describe(report, *c.schedule)
                 << "\n  oracle: " << (finding ? placed(finding) : "nothing wrong") << "\n";
  }

  void test(const Case &c, const Mutation &mutation, Mutant &changing, Oracle &oracle,
            Counts &counts) {
    const Schedule &mutant = changing.become(mutation);
    proof::VerifyOptions options;
    options.maxFailures = 1;
    proof::VerifyReport report = proof::verify(mutant, c.sizes, options);
    Finding finding = oracle.findFault(mutant, changing.suspects(mutation));
    ++counts.mutants;
    counts.wrong += static_cast<bool>(finding);
    if (!report.proved()) {
      ++counts.refused;
      if (!finding)
        seemsHarmless(c, mutation, mutant, report, counts);
    } else if (!isWellFormed(mutant)) {
      ++counts.malformed;
    } else {
      ++counts.proved;
      counts.survivors += static_cast<bool>(finding);
      if (finding)
        tellSurvivor(c, mutation, finding);
    }
  }

  void tellSurvivor(const Case &c, const Mutation &mutation, const Finding &finding) {
    std::lock_guard lock(mutex_);
    llvm::outs() << "proved, but wrong: " << c.words << "\n  " << words(mutation, *c.schedule)
                 << "\n  oracle: " << placed(finding) << "\n";
  }

  void seemsHarmless(const Case &c, const Mutation &mutation, const Schedule &mutant,
                     const proof::VerifyReport &report, Counts &counts) {
    proof::Proof proof = report.failures.front().proof;
    ++counts.harmless[static_cast<size_t>(proof)];
    std::lock_guard lock(mutex_);
    if (shown_[{mutation.kind, proof}]++ < settings_.show)
      llvm::outs() << "refused, seems harmless: " << c.words << "\n  "
                   << words(mutation, *c.schedule) << "\n"
                   << describe(report, mutant) << "\n";
  }

  const Settings &settings_;
  const std::vector<Case> &cases_;
  std::mutex mutex_; // of all below, and of stdout
  Tally tally_;
  uint64_t wrongOriginals_ = 0;
  std::map<std::pair<Kind, proof::Proof>, uint64_t> shown_;
};

/// False: the command line makes no sense.
bool parse(int argc, char **argv, Settings &settings) {
  uint64_t orders = settings.trials.unbuffered;
  const std::map<llvm::StringRef, uint64_t *> numbers{{"--every", &settings.every},
                                                      {"--orders", &orders},
                                                      {"--seed", &settings.trials.seed},
                                                      {"--show", &settings.show}};
  for (int i = 1; i < argc; ++i) {
    auto option = numbers.find(argv[i]);
    if (option == numbers.end() && argv[i][0] != '-') {
      settings.names.push_back(argv[i]);
      continue;
    }
    if (option == numbers.end() || i + 1 == argc)
      return false;
    Result<uint64_t> number = driver::parseNumber(argv[++i], 0, UINT32_MAX);
    if (!number)
      return false;
    *option->second = *number;
  }
  settings.trials.unbuffered = static_cast<uint32_t>(orders);
  return settings.every > 0;
}

void tellUsage() {
  llvm::errs() << "usage: mutate-schedules [--every N] [--orders N] [--seed N] [--show N] "
                  "[COLLECTIVE...]\n\nkinds of mutants:\n";
  for (unsigned i = 0; i < kKinds; ++i) {
    Kind kind{static_cast<uint8_t>(i)};
    llvm::errs() << "  " << spelling(kind) << ": " << summary(kind) << "\n";
  }
}

} // namespace
} // namespace colldsl::mutation

int main(int argc, char **argv) {
  using namespace colldsl::mutation;
  Settings settings;
  if (!parse(argc, argv, settings)) {
    tellUsage();
    return 2;
  }
  std::vector<Case> cases = stdlibCases(settings.names);
  return !cases.empty() && MutationTest(settings, cases).run() ? 0 : 1;
}
