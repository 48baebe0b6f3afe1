/// Small mistakes in a schedule, one at a time: what an author may have written by accident,
/// and a verifier must see.
#pragma once

#include "ir/Schedule.h"
#include "tests/mutation/OpPlace.h"

#include <string>
#include <string_view>
#include <vector>

namespace colldsl::mutation {

enum class Kind : uint8_t {
#define COLLDSL_MUTATION(Name, spelling, summary) Name,
#include "tests/mutation/Mutations.def"
};
inline constexpr unsigned kKinds = 18;
std::string_view spelling(Kind kind);
std::string_view summary(Kind kind);

struct Mutation {
  Kind kind{};
  bool both = false;   ///< slices: the other end of the message (of a copy or combine, the
                       ///< other list) changes alike; peers: the two ends are two ops
  bool target = false; ///< slices: of the op's targets
  Rank rank{};
  OpId op{};
  uint32_t which = 0; ///< dependency or slice, counted within the op; scratch: the temporary
  int64_t by = 0;     ///< elements, blocks, or the new value: peer, op, operator, type, parameter
};

/// All mutations of a schedule, in the order of ranks and ops. Every message, copy and combine
/// has each of its slices moved and resized, alone and together with its counterpart; every
/// message is redirected to every rank. The sizes, one per rank, tell how long slices are.
std::vector<Mutation> allMutations(const Schedule &schedule, const std::vector<Sizes> &sizes);

/// "size: rank 2, op 5, send to 3 tag 0: source 0 by -1, at both ends".
std::string words(const Mutation &mutation, const Schedule &schedule);

/// A copy of a schedule that takes one mutation at a time. The original outlives it.
class Mutant {
public:
  /// All ranks have the same number of elements, n.
  Mutant(const Schedule &original, uint64_t elements)
      : original_(original), schedule_(original), elements_(elements) {}

  /// Undoes the mutation before. The dependencies still name older ops.
  const Schedule &become(const Mutation &mutation);

  /// Ops of the mutant that the mutation may have set free, or that it changed: it is worth
  /// while to look what happens if they take long.
  std::vector<OpPlace> suspects(const Mutation &mutation) const;

private:
  Dag &touch(Rank rank);
  void mutate(const Mutation &m);
  void mutateSlices(const Mutation &m);
  void cross(const Mutation &m);
  void addEdges(OpId op);
  void useAsScratch(const Mutation &m);

  const Schedule &original_;
  Schedule schedule_;
  uint64_t elements_;
  std::vector<Rank> touched_;
};

/// The other end of a message; none if there is none, or more than one.
OpPlace partnerOf(const Schedule &schedule, OpPlace end);

} // namespace colldsl::mutation
