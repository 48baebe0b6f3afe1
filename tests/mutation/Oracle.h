/// Whether a schedule is right, found out by running it in many orders. Shares no code with
/// the verifier.
#pragma once

#include "tests/mutation/Run.h"

namespace colldsl::mutation {

/// How often it runs. The seeds are the same for all schedules.
struct Trials {
  uint32_t unbuffered = 50;
  uint32_t buffered = 10; ///< sends that never wait
  uint64_t seed = 1;
};

/// For a schedule and its mutants, which have the same buffers and contract. A schedule is
/// right if, in every order that is tried,
///   all ops finish, without any buffering, with unlimited buffering, and over FIFO channels,
///   every promise holds; nothing else of the parameters is written;
///   for `deterministic`, elements are combined alike on all ranks;
///   no announced message is sent to a rank that has not begun, or that still uses its target;
///   for `synchronizes`, no rank is through while another has not begun.
/// Not thread safe.
class Oracle {
public:
  /// Sizes, one per rank. All elements have 4 bytes. Schedule and sizes outlive it.
  Oracle(const Schedule &original, const std::vector<Sizes> &sizes, const Trials &trials);

  /// The first thing that goes wrong; none: nothing was seen to. Each of the suspects is slow
  /// in some further orders.
  Finding findFault(const Schedule &mutant, const std::vector<OpPlace> &suspects = {});

private:
  /// What a promise expects of each element.
  struct Promise {
    Rank rank;
    Slice target;
    bool isReduction = false;
    Combination how;
    std::vector<Token> tokens; ///< plain promises
    std::vector<ListId> lists; ///< reductions
    size_t length() const { return isReduction ? lists.size() : tokens.size(); }
  };

  void addPromise(Rank rank, const Ensure &ensure);
  Finding judge(const Run &run);
  Finding judge(const Promise &promise, const Run &run);
  Finding judgeTree(const Promise &promise, size_t element, Token token);

  const Schedule &original_;
  Trials trials_;
  Tokens tokens_;
  std::vector<Storage> storages_; // per rank
  std::vector<Promise> promises_;
  std::vector<std::pair<Token, Rank>> trees_; // per list: how the first rank combined it
};

} // namespace colldsl::mutation
