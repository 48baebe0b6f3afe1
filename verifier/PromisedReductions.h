/// Part of the fourth proof: a reduction holds every contribution that it promises exactly once, in
/// an order that the operator allows. All ranks of a deterministic collective have one combine
/// tree.
#pragma once

#include "verifier/Failures.h"
#include "verifier/IntervalMap.h"
#include "verifier/State.h"
#include "verifier/StatementWords.h"
#include "verifier/ValueNames.h"

#include <map>
#include <unordered_map>

namespace colldsl::proof {

/// The operands of a reduction, each with its distance from the first; sorted if the
/// operator commutes. So all elements of one reduction share one list.
struct OperandList {
  Reduction reduction;
  ElementType type;
  std::vector<Leaf> leaves;
  auto operator<=>(const OperandList &) const = default;
};

class Reductions {
public:
  /// A promise about the bytes `target` of a rank.
  struct Postcondition {
    Rank rank;
    SourceLoc loc;
    Area target;
    uint32_t list;       ///< index of the OperandList
    uint64_t firstBegin; ///< begin of the list's first operand, in its root
    StatementWords words;
  };
  /// An operand: bytes of a root of some rank at entry.
  using Operand = std::pair<Rank, Area>;

  Reductions(const Model &model, Values &values, const DiagnosticNames &names, Failures &failures)
      : model_(model), values_(values), names_(names), valueNames_(values, names),
        failures_(failures) {}

  /// operands: at least one. An invariant is not compared with other ranks.
  Postcondition promise(Rank rank, const Ensure &ensure, const Area &target,
                        std::span<const Operand> operands, StatementWords words);

  /// True if bytes [begin, end) of the target, which hold `held`, are as promised; reports them if
  /// not.
  bool check(const Postcondition &promise, uint64_t begin, uint64_t end, const Held &held);

private:
  /// All that the answer depends on; elements at other positions ask the same question.
  struct Question {
    uint32_t list;
    NodeId node;
    int64_t offset; ///< from the line of the node to that of the first operand
    uint8_t phase;  ///< begin of elements on the line of the node
    bool operator==(const Question &) const = default;
  };
  struct QuestionHash {
    size_t operator()(const Question &q) const;
  };
  struct Tree {
    NodeId node{};
    Rank rank{};
    Tree tail(uint64_t) const { return *this; }
  };

  bool holds(const Question &question);
  std::vector<Leaf> found(const Question &question, size_t most) const;
  std::vector<Leaf> promised(const Question &question) const;
  void reportWrong(const Postcondition &promise, uint64_t begin, uint64_t end, const Held &held,
                   const Question &question);
  std::string difference(const Question &question, const std::vector<Leaf> &found,
                         const std::vector<Leaf> &promised, uint64_t position,
                         uint64_t length) const;
  std::string otherCombine(const Question &question) const;
  void addBringers(const Question &question, const std::vector<Leaf> &found,
                   const std::vector<Leaf> &promised, uint64_t position, uint64_t length,
                   std::vector<Failure::Step> &steps) const;
  bool sameTree(const Postcondition &promise, uint64_t begin, uint64_t end, NodeId node);
  void reportTrees(const Postcondition &promise, uint64_t begin, uint64_t end, const Tree &other,
                   NodeId mine);

  const Model &model_;
  Values &values_;
  const DiagnosticNames &names_;
  ValueNames valueNames_;
  Failures &failures_;
  std::map<OperandList, uint32_t> ids_;
  std::vector<const OperandList *> lists_; // per id; keys of ids_
  std::vector<IntervalMap<Tree>> trees_;   // per id, on the line of the first operand
  struct Answer {
    bool isFulfilled;
    uint64_t number; ///< of the question
  };
  std::unordered_map<Question, Answer, QuestionHash> answers_;
};

} // namespace colldsl::proof
