// Random programs of the language, and random chains of passes on those that are proved, judged by
// running them: a program that is proved, but goes wrong in some order, is a bug.
//
// usage: random-programs [--seed N] [--programs N] [--chains N] [--show N] [--all] [--known
// TEXT]...
//   --seed N      of the first program; the next ones count on (default: 1)
//   --programs N  how many (default: 20000)
//   --chains N    of passes on each program that is proved (default: 1)
//   --show N      programs of each class that are printed (default: 1)
//   --known TEXT  findings whose class holds this are counted, but are no failure
//   --all         print programs of the classes that are no findings, too

#include "ir/Numbers.h"
#include "tests/random/Generate.h"
#include "tests/random/Judge.h"
#include "tests/random/Shrink.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <map>

namespace colldsl::generated {
namespace {

struct Settings {
  uint64_t seed = 1;
  uint64_t programs = 20000;
  uint64_t chains = 1;
  uint64_t show = 1;
  bool all = false;
  std::vector<std::string> known;
};

struct Class {
  uint64_t count = 0;
  uint64_t firstSeed = 0;
};

const char *wordsFor(Outcome outcome) {
  switch (outcome) {
  case Outcome::Proved:
    return "proved";
  case Outcome::RefusedRightly:
    return "refused, and wrong";
  case Outcome::RefusedHarmless:
    return "refused, though no order fails";
  case Outcome::NotCompiled:
    return "not compiled";
  case Outcome::NotInstantiated:
    return "not instantiated";
  case Outcome::Unsound:
    return "proved, but wrong";
  }
  return "";
}

const char *wordsFor(ChainVerdict::Kind kind) {
  switch (kind) {
  case ChainVerdict::Kind::None:
    return "none";
  case ChainVerdict::Kind::Proved:
    return "proved";
  case ChainVerdict::Kind::Unfit:
    return "refused before the passes";
  case ChainVerdict::Kind::Refused:
    return "refused by a pass";
  case ChainVerdict::Kind::Broken:
    return "not proved any more";
  case ChainVerdict::Kind::Unsound:
    return "proved, but wrong";
  }
  return "";
}

class Campaign {
public:
  explicit Campaign(const Settings &settings) : settings_(settings) {}

  bool run() {
    for (uint64_t i = 0; i < settings_.programs; ++i)
      test(settings_.seed + i);
    printCounts();
    return findings_ == 0;
  }

private:
  void test(uint64_t seed) {
    Program program = generate(seed);
    std::vector<ChainVerdict> chains;
    Verdict verdict = judge(program, seed, static_cast<uint32_t>(settings_.chains), &chains);
    Class &found = count(outcomes_[static_cast<size_t>(verdict.outcome)], verdict.why, seed);
    bool isFinding = verdict.outcome == Outcome::Unsound && !isKnown(verdict.why);
    findings_ += isFinding;
    if ((isFinding || settings_.all) && found.count <= settings_.show)
      show(program, verdict, seed);
    for (const ChainVerdict &chain : chains)
      test(program, chain, seed);
  }

  void test(const Program &program, const ChainVerdict &chain, uint64_t seed) {
    Class &found = count(chains_[static_cast<size_t>(chain.kind)], chain.why, seed);
    bool isFinding =
        (chain.kind == ChainVerdict::Kind::Broken || chain.kind == ChainVerdict::Kind::Unsound) &&
        !isKnown(chain.why);
    findings_ += isFinding;
    if ((isFinding || (settings_.all && chain.kind == ChainVerdict::Kind::Refused)) &&
        found.count <= settings_.show)
      llvm::outs() << "seed " << seed << ", passes " << chain.passes << ": " << wordsFor(chain.kind)
                   << ": " << chain.why << "\n"
                   << chain.details << "\n"
                   << header(program) << print(program) << "\n";
  }

  bool isKnown(llvm::StringRef why) const {
    return llvm::any_of(settings_.known,
                        [&](const std::string &text) { return why.contains(text); });
  }

  static Class &count(std::map<std::string, Class> &classes, const std::string &why,
                      uint64_t seed) {
    Class &found = classes[why];
    if (found.count++ == 0)
      found.firstSeed = seed;
    return found;
  }

  static std::string header(const Program &program) { return "// " + valuesOf(program) + "\n"; }

  void show(const Program &program, const Verdict &verdict, uint64_t seed) {
    Program least = verdict.outcome == Outcome::Unsound ? shrink(program, seed) : program;
    Verdict last = judge(least, seed);
    llvm::outs() << "seed " << seed << ": " << wordsFor(last.outcome) << ": " << last.why << "\n"
                 << last.details << "\n"
                 << header(least) << print(least) << "\n";
    llvm::outs().flush();
  }

  static void printCounts(const char *words, const std::map<std::string, Class> &classes) {
    uint64_t all = 0;
    for (const auto &[why, found] : classes)
      all += found.count;
    llvm::outs() << "  " << all << " " << words << "\n";
    for (const auto &[why, found] : classes)
      if (!why.empty())
        llvm::outs() << "    " << found.count << " " << why << " (seed " << found.firstSeed
                     << ")\n";
  }

  void printCounts() {
    llvm::outs() << settings_.programs << " programs\n";
    for (unsigned i = 0; i < kOutcomes; ++i)
      printCounts(wordsFor(static_cast<Outcome>(i)), outcomes_[i]);
    llvm::outs() << "chains of passes\n";
    for (unsigned i = 1; i < kChainKinds; ++i)
      printCounts(wordsFor(static_cast<ChainVerdict::Kind>(i)), chains_[i]);
    llvm::outs() << findings_ << " findings\n";
  }

  const Settings &settings_;
  std::array<std::map<std::string, Class>, kOutcomes> outcomes_;
  std::array<std::map<std::string, Class>, kChainKinds> chains_;
  uint64_t findings_ = 0;
};

/// False: the command line makes no sense.
bool parse(int argc, char **argv, Settings &settings) {
  const std::map<llvm::StringRef, uint64_t *> numbers{{"--seed", &settings.seed},
                                                      {"--programs", &settings.programs},
                                                      {"--chains", &settings.chains},
                                                      {"--show", &settings.show}};
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef word = argv[i];
    settings.all |= word == "--all";
    if (word == "--known" && i + 1 < argc)
      settings.known.push_back(argv[++i]);
    if (word == "--known" || word == "--all")
      continue;
    auto option = numbers.find(argv[i]);
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
    llvm::errs() << "usage: random-programs [--seed N] [--programs N] [--chains N] [--show N] "
                    "[--all] [--known TEXT]...\n";
    return 2;
  }
  return Campaign(settings).run() ? 0 : 1;
}
