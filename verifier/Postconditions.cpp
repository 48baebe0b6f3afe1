#include "verifier/Checks.h"

#include "verifier/PromisedReductions.h"
#include "verifier/SizeDecisions.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace colldsl::proof {
namespace {

/// Compares what buffers hold in some state with what postconditions or invariants state.
class StatementCheck : Check {
public:
  StatementCheck(const Check &check, const State &state, Values &values, Usefulness *usefulness)
      : Check(check), state_(state), values_(values), valueNames_(values, names_),
        usefulness_(usefulness), reductions_(model_, values, names_, failures_) {}

  void check(Rank rank, const Ensure &ensure, StatementWords words) {
    words_ = words;
    if (ensure.operandCount == 0 && !ensure.isReduction) // it holds anything
      return;
    Area target = targetArea(rank, ensure);
    if (target.fault != Fault::None)
      return;
    operands_.clear();
    for (const EntryValue &operand : model_.dag(rank).contract.operandsOf(ensure))
      if (!addOperand(rank, ensure, target, operand))
        return;
    if (operands_.empty() || (!ensure.isReduction && operands_.size() != 1))
      return fail(rank, ensure,
                  words_.passive() + " to hold a value of " + counted(operands_.size(), "operand"));
    Decisions::note(target.empty());
    if (target.empty())
      return;
    compared_.push_back(ensure.loc);
    if (usefulness_)
      state_.visit(rank, target, [&](uint64_t, uint64_t, const Held *held) {
        usefulness_->addPromised(held ? held->writer : kNoVertex);
      });
    if (ensure.isReduction)
      checkReduction(rank, ensure, target);
    else
      checkPlain(rank, ensure, target);
  }

  /// The places of the statements that had bytes to compare, each once.
  std::vector<SourceLoc> takeCompared() {
    auto place = [](const SourceLoc &l) { return std::tuple(l.file, l.line, l.column); };
    std::sort(compared_.begin(), compared_.end(),
              [&](const SourceLoc &a, const SourceLoc &b) { return place(a) < place(b); });
    compared_.erase(std::unique(compared_.begin(), compared_.end()), compared_.end());
    return std::move(compared_);
  }

private:
  Area targetArea(Rank rank, const Ensure &ensure) {
    Area area = placement_.locate(rank, ensure.target);
    targetLength_ = model_.lengthOf(rank, ensure.target);
    if (area.hasCapacity) {
      std::optional<Length> elements = state_.blockElements(rank, ensure.target);
      if (!elements) {
        fail(rank, ensure, words_.passive() + ", but nothing arrives there", Proof::Writes);
        area.fault = Fault::NoSizes;
        return area;
      }
      area = placement_.locateInBlock(rank, ensure.target, elements->units);
      targetLength_ = elements->id;
    }
    if (area.fault != Fault::None)
      fail(rank, ensure,
           words_.passive() + ", but " +
               faultWords(area.fault, names_.bufferName(rank, ensure.target.buffer)));
    return area;
  }

  bool addOperand(Rank rank, const Ensure &ensure, const Area &target, const EntryValue &operand) {
    if (index(operand.rank) >= model_.numRanks()) {
      fail(rank, ensure,
           words_.passive() + " to hold a value of rank " + peerWord(operand.rank) +
               ", but there are " + counted(model_.numRanks(), "rank"));
      return false;
    }
    Area area = placement_.locateAtEntry(operand.rank, operand.slice);
    operands_.emplace_back(operand.rank, area);
    bool isAsLong = model_.lengthOf(operand.rank, operand.slice) == targetLength_;
    if (area.fault == Fault::None && area.length() == target.length() && isAsLong)
      return true;
    std::string name = names_.slice(operand.rank, operand.slice) + "@" + peerWord(operand.rank);
    if (area.fault != Fault::None)
      fail(rank, ensure,
           words_.passive() + " to hold " + name + ", which " +
               faultWords(area.fault, names_.bufferName(operand.rank, operand.slice.buffer)));
    else if (area.length() == target.length())
      fail(rank, ensure,
           "gets another length than that of " + name + ", which it " + words_.passive() +
               " to hold");
    else
      fail(rank, ensure,
           "has " + counted(target.length(), "byte") + ", but " + words_.passive() + " to hold " +
               name + " of " + counted(area.length(), "byte"));
    return false;
  }

  void checkPlain(Rank rank, const Ensure &ensure, const Area &target) {
    const auto &[owner, operand] = operands_[0];
    NodeId node = values_.entry(owner, operand.root);
    bool fine = true;
    state_.visit(rank, target, [&](uint64_t begin, uint64_t end, const Held *held) {
      Value promised{node, operand.begin + (begin - target.begin)};
      if (!fine || !known(rank, ensure, target, begin, end, held, fine))
        return;
      fine = held->value.node == node && held->value.position == promised.position;
      if (!fine)
        reportWrong(rank, ensure, target, begin, end, *held, promised);
    });
  }

  void checkReduction(Rank rank, const Ensure &ensure, const Area &target) {
    Reductions::Postcondition promise =
        reductions_.promise(rank, ensure, target, operands_, words_);
    bool fine = true;
    state_.visit(rank, target, [&](uint64_t begin, uint64_t end, const Held *held) {
      if (fine && known(rank, ensure, target, begin, end, held, fine))
        fine = reductions_.check(promise, begin, end, *held);
    });
  }

  /// True if there is a value to compare. Reports bytes that were never written, and sets `fine` to
  /// false.
  bool known(Rank rank, const Ensure &ensure, const Area &target, uint64_t begin, uint64_t end,
             const Held *held, bool &fine) {
    if (held)
      return held->value.node != kUnknown;
    fine = false;
    failStatement(Proof::Writes, rank, ensure, names_.bytes(rank, target.root, begin, end),
                  " " + words_.passive() + ", but nothing writes it", words_);
    return false;
  }

  void reportWrong(Rank rank, const Ensure &ensure, const Area &target, uint64_t begin,
                   uint64_t end, const Held &held, Value promised) {
    std::string where = names_.bytes(rank, target.root, begin, end);
    Failure failure{Proof::Contract,
                    words_.who(rank) + ": " + where + " holds " +
                        valueNames_.value(held.value, end - begin) + ", " +
                        words_.other(valueNames_.value(promised, end - begin)),
                    {{rank, kNoOp, ensure.loc, words_.step(where)}}};
    if (exists(held.writer))
      failure.steps.push_back(failures_.step(held.writer, names_.op(held.writer) + " wrote it"));
    failures_.add(std::move(failure));
  }

  void fail(Rank rank, const Ensure &ensure, const std::string &what,
            Proof proof = Proof::Contract) {
    failStatement(proof, rank, ensure, names_.slice(rank, ensure.target), " " + what, words_);
  }

  const State &state_;
  Values &values_;
  ValueNames valueNames_;
  Usefulness *usefulness_; // or null
  Reductions reductions_;
  StatementWords words_;                      // of the promise at hand
  LengthId targetLength_ = kFixedLength;      // of the promise at hand
  std::vector<Reductions::Operand> operands_; // of the promise at hand
  std::vector<SourceLoc> compared_;           // per promise with bytes, in the order of the ranks
};

class PostconditionPass : Check {
public:
  PostconditionPass(const Check &check, const State &state, Values &values, Usefulness *usefulness)
      : Check(check), statements_(check, state, values, usefulness) {}

  std::vector<SourceLoc> run() {
    for (uint32_t r = 0; r < model_.numRanks(); ++r)
      for (const Ensure &ensure : model_.dag(Rank{r}).contract.ensures) {
        if (failures_.full())
          break;
        statements_.check(Rank{r}, ensure, StatementWords());
      }
    return statements_.takeCompared();
  }

private:
  StatementCheck statements_;
};

/// Repeats the changes of each rank in the order of the text, and stops where invariants stand.
/// Ops that touch common bytes have run in that order, and an op wrote what it writes in any order.
class InvariantPass : Check {
public:
  InvariantPass(const Check &check, const State &state, Values &values)
      : Check(check), state_(state), replayed_(model_, placement_, values),
        statements_(check, replayed_, values, nullptr) {}

  std::vector<SourceLoc> run() {
    for (uint32_t r = 0; r < model_.numRanks() && !failures_.full(); ++r)
      replay(Rank{r});
    return statements_.takeCompared();
  }

private:
  /// Up to the first invariant that does not hold: those behind it mostly fail for the same reason.
  void replay(Rank rank) {
    const Contract &contract = model_.dag(rank).contract;
    std::vector<uint32_t> number(model_.dag(rank).size()); // in program order, per op
    std::iota(number.begin(), number.end(), 0);
    for (uint32_t i = 0; i < contract.programOrder.size(); ++i)
      number[index(contract.programOrder[i])] = i;
    std::vector<std::pair<uint32_t, const Change *>> changes;
    for (const Change &change : state_.changes(rank))
      changes.emplace_back(number[index(model_.opIdOf(change.writer))], &change);
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    size_t before = failures_.count();
    auto next = changes.begin();
    for (const Invariant &invariant : contract.invariants) {
      for (; next != changes.end() && next->first < invariant.opsBefore; ++next)
        replayed_.apply(rank, *next->second);
      statements_.check(rank, invariant.stated, StatementWords(&invariant));
      if (failures_.count() > before)
        return;
    }
  }

  const State &state_; // at exit, with all changes
  State replayed_;
  StatementCheck statements_;
};

} // namespace

std::vector<SourceLoc> checkPostconditions(const Check &check, const State &state, Values &values,
                                           Usefulness *usefulness) {
  return PostconditionPass(check, state, values, usefulness).run();
}

std::vector<SourceLoc> checkInvariants(const Check &check, const State &state, Values &values) {
  return InvariantPass(check, state, values).run();
}

} // namespace colldsl::proof
