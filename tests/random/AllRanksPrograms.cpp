// Random programs for any number of ranks against the proofs for every number of ranks: what is
// proved for all must be right for each number that is tried, as an interpreter that shares no code
// with the compiler and the verifiers says, and be proved for that number by the other verifier.
//
// usage: random-all-ranks [--seed N] [--programs N] [--ranks N] [--within MS] [--all] [--json]
//   --seed N      of the first program; the next ones count on (default: 1)
//   --programs N  how many (default: 1000)
//   --ranks N     what is proved is tried for 1 to N ranks (default: 24)
//   --within MS   for the proof of a program (default: 10000)
//   --all         print programs that are right for few ranks and not proved, too
//   --json        print one JSON object

#include "compiler/Compile.h"
#include "ir/Numbers.h"
#include "parameterized/AllRanksProofs.h"
#include "tests/random/AllRanksPatterns.h"
#include "tests/random/Judge.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <map>

namespace colldsl::generated {
namespace {

struct Settings {
  uint64_t seed = 1, programs = 1000, ranks = 24, within = 10000;
  bool all = false, json = false;
};

/// Counts of programs: what the engine says of them, and whether they are right.
enum class Kind : uint8_t {
  Proved,   ///< for all, and right for all numbers that were tried
  Wrong,    ///< not proved, and wrong for few ranks
  NotShown, ///< not proved, and right for few ranks
  Refused,  ///< by the compiler
  Unsound,  ///< proved, and wrong or refused for some number
};
constexpr const char *kWords[] = {
    "proved for all P, and right for all that were tried", "not proved, and wrong for few ranks",
    "not proved, and right for few ranks", "not compiled", "PROVED, BUT WRONG"};
constexpr const char *kKeys[] = {"proved", "wrong", "notShown", "notCompiled", "unsound"};

/// A program that is not proved counts as wrong if it is so for one of so few ranks.
constexpr uint32_t kFewRanks = 7;

class Campaign {
public:
  explicit Campaign(const Settings &settings) : settings_(settings) {}

  bool run() {
    for (uint64_t i = 0; i < settings_.programs; ++i)
      test(settings_.seed + i);
    print();
    return counts_[static_cast<size_t>(Kind::Unsound)] == 0;
  }

private:
  /// The program goes wrong for this number of ranks; empty: it does not.
  std::string faultAt(const Program &program, uint32_t ranks, uint64_t seed) {
    Random random(seed * 64 + ranks);
    Program here = program;
    here.ranks = ranks;
    here.sizes[0] = random.chance(10) ? 0 : random.between(1, 7);
    if (random.chance(60))
      here = withOtherValues(here, random);
    here.inPlace = !here.main().aliases.empty() && random.chance(50);
    Verdict verdict = judge(here, seed);
    ++runs_;
    // For one number of ranks, or no elements, a promise may say nothing.
    if (verdict.outcome == Outcome::Proved ||
        verdict.why.find("promises nothing") != std::string::npos)
      return "";
    return valuesOf(here) + ": " + verdict.why + ": " + verdict.details;
  }

  std::string firstFault(const Program &program, uint32_t most, uint64_t seed) {
    for (uint32_t ranks = 1; ranks <= most; ++ranks)
      if (std::string fault = faultAt(program, ranks, seed); !fault.empty())
        return fault;
    return "";
  }

  void test(uint64_t seed) {
    Program program = generateForAllRanks(seed);
    std::string text = ::colldsl::generated::print(program);
    CompileOptions options;
    options.withStdlib = false;
    std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
    files.push_back(llvm::MemoryBuffer::getMemBufferCopy(text, "random.coll"));
    Compilation compilation = compileTexts(std::move(files), options);
    if (!compilation.ok())
      return count(Kind::Refused);
    DeclId id = compilation.program().find("c0", DeclKind::Collective);
    parameterized::AllRanksProofs proofs(compilation.program(),
                                         std::chrono::milliseconds(settings_.within));
    const parameterized::AllRanksProof &proof = proofs.of(id);
    if (!proof.isProved) {
      ++reasons_[classOf(proof.reason)];
      bool isWrong = !firstFault(program, kFewRanks, seed).empty();
      if (settings_.all && !isWrong)
        llvm::outs() << "seed " << seed << ": " << proof.reason << "\n" << text << "\n";
      return count(isWrong ? Kind::Wrong : Kind::NotShown);
    }
    std::string fault = firstFault(program, static_cast<uint32_t>(settings_.ranks), seed);
    count(fault.empty() ? Kind::Proved : Kind::Unsound);
    if (!fault.empty())
      llvm::errs() << "seed " << seed << " is proved for all P, but\n"
                   << fault << "\n"
                   << text << "\n";
  }

  void count(Kind kind) { ++counts_[static_cast<size_t>(kind)]; }

  void print() const {
    if (settings_.json) {
      llvm::json::Object report{{"ok", counts_[static_cast<size_t>(Kind::Unsound)] == 0},
                                {"seed", settings_.seed},
                                {"programs", settings_.programs},
                                {"ranks", settings_.ranks},
                                {"runs", runs_}};
      for (size_t i = 0; i < counts_.size(); ++i)
        report[kKeys[i]] = counts_[i];
      llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(report)));
      return;
    }
    llvm::outs() << settings_.programs << " programs, " << runs_ << " runs of the oracle\n";
    for (size_t i = 0; i < counts_.size(); ++i)
      llvm::outs() << "  " << counts_[i] << " " << kWords[i] << "\n";
    for (const auto &[reason, number] : reasons_)
      llvm::outs() << "    " << number << " " << reason << "\n";
  }

  const Settings &settings_;
  std::array<uint64_t, std::size(kWords)> counts_{};
  std::map<std::string, uint64_t> reasons_; ///< why programs are not proved
  uint64_t runs_ = 0;
};

/// False: the command line makes no sense.
bool parse(int argc, char **argv, Settings &settings) {
  const std::map<llvm::StringRef, uint64_t *> numbers{{"--seed", &settings.seed},
                                                      {"--programs", &settings.programs},
                                                      {"--ranks", &settings.ranks},
                                                      {"--within", &settings.within}};
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef word = argv[i];
    settings.json |= word == "--json";
    settings.all |= word == "--all";
    if (word == "--json" || word == "--all")
      continue;
    auto option = numbers.find(word);
    if (option == numbers.end() || i + 1 == argc)
      return false;
    std::optional<uint32_t> number = parseWhole<uint32_t>(argv[++i]);
    if (!number)
      return false;
    *option->second = *number;
  }
  return true;
}

} // namespace
} // namespace colldsl::generated

int main(int argc, char **argv) {
  using namespace colldsl::generated;
  Settings settings;
  if (!parse(argc, argv, settings)) {
    llvm::errs() << "usage: random-all-ranks [--seed N] [--programs N] [--ranks N] [--within MS] "
                    "[--all] [--json]\n";
    return 2;
  }
  return Campaign(settings).run() ? 0 : 1;
}
