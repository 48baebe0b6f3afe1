#include "verifier/Checks.h"

#include "verifier/PromisedReductions.h"
#include "verifier/SizeDecisions.h"

#include <algorithm>
#include <tuple>

namespace colldsl::proof {
namespace {

class PostconditionCheck : Check {
public:
  PostconditionCheck(const Check &check, const State &state, Values &values, Usefulness *usefulness)
      : Check(check), state_(state), values_(values), valueNames_(values, names_),
        usefulness_(usefulness), reductions_(model_, values, names_, failures_) {}

  std::vector<SourceLoc> run() {
    for (uint32_t r = 0; r < model_.numRanks(); ++r)
      for (const Ensure &ensure : model_.dag(Rank{r}).contract.ensures) {
        if (failures_.full())
          break;
        check(Rank{r}, ensure);
      }
    return takeCompared();
  }

private:
  void check(Rank rank, const Ensure &ensure) {
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
      return fail(rank, ensure, "promises a value of " + counted(operands_.size(), "operand"));
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

  std::vector<SourceLoc> takeCompared() {
    auto place = [](const SourceLoc &l) { return std::tuple(l.file, l.line, l.column); };
    std::sort(compared_.begin(), compared_.end(),
              [&](const SourceLoc &a, const SourceLoc &b) { return place(a) < place(b); });
    compared_.erase(std::unique(compared_.begin(), compared_.end()), compared_.end());
    return std::move(compared_);
  }

  Area targetArea(Rank rank, const Ensure &ensure) {
    Area area = placement_.locate(rank, ensure.target);
    targetLength_ = model_.lengthOf(rank, ensure.target);
    if (area.hasCapacity) {
      std::optional<Length> elements = state_.blockElements(rank, ensure.target);
      if (!elements) {
        fail(rank, ensure, "is promised, but nothing arrives there", Proof::Writes);
        area.fault = Fault::NoSizes;
        return area;
      }
      area = placement_.locateInBlock(rank, ensure.target, elements->units);
      targetLength_ = elements->id;
    }
    if (area.fault != Fault::None)
      fail(rank, ensure,
           "is promised, but " +
               faultWords(area.fault, names_.bufferName(rank, ensure.target.buffer)));
    return area;
  }

  bool addOperand(Rank rank, const Ensure &ensure, const Area &target, const EntryValue &operand) {
    if (index(operand.rank) >= model_.numRanks()) {
      fail(rank, ensure,
           "is promised to hold a value of rank " + peerWord(operand.rank) + ", but there are " +
               counted(model_.numRanks(), "rank"));
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
           "is promised to hold " + name + ", which " +
               faultWords(area.fault, names_.bufferName(operand.rank, operand.slice.buffer)));
    else if (area.length() == target.length())
      fail(rank, ensure,
           "gets another length than that of " + name + ", which it is promised to hold");
    else
      fail(rank, ensure,
           "has " + counted(target.length(), "byte") + ", but is promised to hold " + name +
               " of " + counted(area.length(), "byte"));
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
    Reductions::Postcondition promise = reductions_.promise(rank, ensure, target, operands_);
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
    failPromise(Proof::Writes, rank, ensure, names_.bytes(rank, target.root, begin, end),
                " is promised, but nothing writes it");
    return false;
  }

  void reportWrong(Rank rank, const Ensure &ensure, const Area &target, uint64_t begin,
                   uint64_t end, const Held &held, Value promised) {
    std::string where = names_.bytes(rank, target.root, begin, end);
    Failure failure{Proof::Contract,
                    rankWord(rank) + ": " + where + " holds " +
                        valueNames_.value(held.value, end - begin) + ", but " +
                        valueNames_.value(promised, end - begin) + " was promised",
                    {{rank, kNoOp, ensure.loc, "promises " + where}}};
    if (exists(held.writer))
      failure.steps.push_back(failures_.step(held.writer, names_.op(held.writer) + " wrote it"));
    failures_.add(std::move(failure));
  }

  void fail(Rank rank, const Ensure &ensure, const std::string &what,
            Proof proof = Proof::Contract) {
    failPromise(proof, rank, ensure, names_.slice(rank, ensure.target), " " + what);
  }

  const State &state_;
  Values &values_;
  ValueNames valueNames_;
  Usefulness *usefulness_; // or null
  Reductions reductions_;
  LengthId targetLength_ = kFixedLength;      // of the promise at hand
  std::vector<Reductions::Operand> operands_; // of the promise at hand
  std::vector<SourceLoc> compared_;           // per promise with bytes, in the order of the ranks
};

} // namespace

std::vector<SourceLoc> checkPostconditions(const Check &check, const State &state, Values &values,
                                           Usefulness *usefulness) {
  return PostconditionCheck(check, state, values, usefulness).run();
}

} // namespace colldsl::proof
