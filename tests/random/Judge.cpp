#include "tests/random/Judge.h"

#include "compiler/Compile.h"
#include "instantiate/Instantiate.h"
#include "ir/Image.h"
#include "program/MachineUse.h"
#include "tests/mutation/Oracle.h"
#include "tests/random/Chains.h"
#include "tests/random/Interpret.h"
#include "tests/random/Lengths.h"
#include "tests/random/Machines.h"
#include "tests/random/OtherValues.h"
#include "verifier/ProvedSizes.h"
#include "verifier/Verifier.h"

#include "llvm/Support/MemoryBuffer.h"

namespace colldsl::generated {
namespace {

/// Of schedules whose sizes are all looked at: each so many, and so many sizes at either end.
constexpr uint64_t kEach = 4, kSizesAtEnds = 64;

std::string placed(const mutation::Finding &finding) {
  std::string text = "rank " + std::to_string(index(finding.rank));
  if (finding.op != kNoOp)
    text += ", op " + std::to_string(index(finding.op));
  return text + " " + finding.text;
}

Compilation compile(const std::string &text) {
  CompileOptions options;
  options.withStdlib = false;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  files.push_back(llvm::MemoryBuffer::getMemBufferCopy(text, "random.coll"));
  return compileTexts(std::move(files), options);
}

/// Whether both do the same: ops, slices, dependencies and contract.
bool isSame(const Schedule &a, const Schedule &b) {
  std::vector<std::byte> first = encodeImage(a), second = encodeImage(b);
  return first == second;
}

class Judgement {
public:
  Judgement(const Program &program, uint64_t seed)
      : program_(program), seed_(seed), meaning_(interpret(program)),
        compilation_(compile(print(program))) {}

  Verdict verdict() {
    if (!compilation_.ok())
      return refused(Outcome::NotCompiled, compilation_.diagnostics().front());
    InstantiateRequest request;
    collective_ = compilation_.program().find("c" + std::to_string(program_.collectives.size() - 1),
                                              DeclKind::Collective);
    request.collective = collective_;
    request.ranks = program_.ranks;
    request.elements = static_cast<uint64_t>(program_.sizeOf(program_.mainSize()));
    request.sizes = {{"n", static_cast<uint64_t>(program_.n())},
                     {"m", static_cast<uint64_t>(program_.sizeOf(Symbol::M))},
                     {"k", static_cast<uint64_t>(program_.sizeOf(Symbol::K))}};
    std::erase_if(request.sizes, [&](const auto &size) { return isMainSize(size.first); });
    Topology machine = topologyOf(program_.machine);
    request.topology = &machine;
    request.inPlace = program_.inPlace;
    request.contract = true;
    Result<Schedule> made = instantiateAll(compilation_.program(), request);
    if (!made)
      return refused(Outcome::NotInstantiated, made.status().diagnostic());
    schedule_ = made.take();
    proof::VerifyOptions options;
    options.maxFailures = 1;
    proof::VerifyReport report = proof::verify(schedule_, sizesFor(program_, schedule_), options);
    if (!report.proved())
      return notProved(report);
    uint64_t n = schedule_.sizeClass.elements;
    proof::ProvedDomain atThese{{n, n, n}, "at other lengths of blocks it is wrong"};
    proof::ProvedDomain domain = proof::provedSizes(schedule_).value_or(atThese);
    schedule_.sizeClass = domain.sizes;
    isForAllLengths_ = domain.lengthsUndecided.empty();
    return proved();
  }

  void runChains(uint32_t count, std::vector<ChainVerdict> &chains) {
    Schedule promising = withContractOf(*meaning_, schedule_);
    for (uint32_t i = 0; i < count; ++i)
      chains.push_back(judgeChain(schedule_, promising, program_, seed_ * count + i));
  }

private:
  Verdict refused(Outcome outcome, const Diagnostic &diagnostic) {
    if (!meaning_)
      return {Outcome::RefusedRightly, "has no meaning", meaning_.message()};
    return {outcome, classOf(diagnostic.message), compilation_.render(diagnostic)};
  }

  Verdict notProved(const proof::VerifyReport &report) {
    const proof::Failure &failure = report.failures.front();
    std::string proof(spelling(failure.proof));
    if (!meaning_)
      return {Outcome::RefusedRightly, "has no meaning", meaning_.message()};
    std::string fault = faultOf(*meaning_, program_, {}, seed_);
    if (fault.empty())
      return {Outcome::RefusedHarmless, proof + ": " + classOf(failure.message),
              describe(report, schedule_)};
    return {Outcome::RefusedRightly, proof, fault};
  }

  Verdict proved() {
    if (!meaning_)
      return unsound("has no meaning: " + classOf(meaning_.message()), meaning_.message());
    if (promisesNothing())
      return unsound("promises nothing", "");
    std::string fault = faultOf(*meaning_, program_, {}, seed_);
    if (!fault.empty())
      return unsound("as the language says: " + classOf(fault), fault);
    fault = faultOf(withContractOf(*meaning_, schedule_), program_, {}, seed_);
    if (!fault.empty())
      return unsound("as instantiated: " + classOf(fault), fault);
    if (looksUnseen())
      return unsound("looks at the machine unseen", describe(program_.machine));
    if (seed_ % kEach == 0 && !program_.hasBlocks())
      if (std::optional<uint64_t> wrong = claimedWrongly())
        return unsound("not proved at another size", std::to_string(*wrong));
    return faultAtOtherValues(program_, schedule_, isForAllLengths_, seed_).value_or(Verdict());
  }

  bool isMainSize(const std::string &name) const {
    return name == std::array{"n", "m", "k"}[static_cast<size_t>(program_.mainSize())];
  }

  Topology topologyOf(const Machine &machine) const {
    return *Topology::make(describe(machine), program_.ranks);
  }

  /// Whether it is another schedule on a machine that is said to be alike as far as the text looks.
  bool looksUnseen() const {
    if (program_.machine == Machine()) // most look at none
      return false;
    LevelSet levels = MachineUse(compilation_.program()).find(collective_, {}).levels;
    if (!schedule_.usesTopology)
      levels = {};
    uint64_t here = signatureOf(topologyOf(program_.machine), levels);
    for (const Machine &machine : machinesFor(program_.ranks)) {
      if (signatureOf(topologyOf(machine), levels) != here)
        continue;
      Program other = program_;
      other.machine = machine;
      Result<Schedule> meaning = interpret(other);
      if (!meaning || !isSame(*meaning, *meaning_))
        return true;
    }
    return false;
  }

  bool isProvedAt(uint64_t elements) const {
    std::vector<Sizes> sizes = sizesFor(program_, schedule_);
    for (Sizes &each : sizes)
      each.elements = elements;
    return proof::verify(schedule_, sizes).proved();
  }

  /// The first of the sizes for which it is said to be proved, and is not.
  std::optional<uint64_t> claimedWrongly() const {
    const SizeClass &claimed = schedule_.sizeClass;
    uint64_t count = std::min(claimed.max - claimed.min, kSizesAtEnds);
    for (uint64_t i = 0; i <= count; ++i) {
      if (!isProvedAt(claimed.min + i))
        return claimed.min + i;
      if (claimed.max != UINT64_MAX && !isProvedAt(claimed.max - i))
        return claimed.max - i;
    }
    return std::nullopt;
  }

  bool promisesNothing() const {
    if (program_.main().ensures.empty() || meaning_->synchronizes)
      return false;
    for (const Param &param : program_.main().params)
      if (param.kind == Param::Kind::Graph) // may have no edges
        return false;
    for (const Dag &dag : meaning_->ranks)
      if (!dag.contract.ensures.empty())
        return false;
    return true;
  }

  static Verdict unsound(std::string why, std::string details) {
    return {Outcome::Unsound, std::move(why), std::move(details)};
  }

  const Program &program_;
  uint64_t seed_;
  Result<Schedule> meaning_;
  Compilation compilation_;
  DeclId collective_ = kNoDecl;
  Schedule schedule_;
  bool isForAllLengths_ = false; ///< the proof is for all lengths of blocks
};

} // namespace

std::string faultOf(const Schedule &schedule, const Program &program, const Trials &trials,
                    uint64_t seed) {
  std::vector<Sizes> sizes = sizesFor(program, schedule);
  mutation::Oracle oracle(schedule, sizes, {trials.unbuffered, trials.buffered, seed});
  mutation::Finding finding = oracle.findFault(schedule);
  return finding ? placed(finding) : "";
}

std::string classOf(const std::string &message) {
  std::string result;
  for (size_t i = 0; i < message.size(); ++i) {
    if (!std::isdigit(static_cast<unsigned char>(message[i])))
      result += message[i];
    else if (result.empty() || result.back() != '#')
      result += '#';
  }
  return result;
}

Schedule withContractOf(const Schedule &meaning, Schedule schedule) {
  for (uint32_t r = 0; r < schedule.numRanks(); ++r)
    schedule.ranks[r].contract = meaning.ranks[r].contract;
  schedule.synchronizes = meaning.synchronizes;
  schedule.deterministic = meaning.deterministic;
  return schedule;
}

Verdict judge(const Program &program, uint64_t seed, uint32_t chains,
              std::vector<ChainVerdict> *chain) {
  Judgement judgement(program, seed);
  Verdict verdict = judgement.verdict();
  if (verdict.outcome == Outcome::Proved && chain)
    judgement.runChains(chains, *chain);
  return verdict;
}

} // namespace colldsl::generated
