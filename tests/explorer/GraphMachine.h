/// Plans in CUDA graphs, in steps: what executor/GraphWords.h and the order in DeviceStage do.
///
/// First the hosts of all ranks do a run, in any order that messages leave, and each notes the
/// order of its own work. Then each rank's stream does the work of some launches in the noted
/// order, while the streams of the others are anywhere: it waits for words of its own and signals
/// those of peers. At the begin of a launch a stream writes the rank's source anew, at its end it
/// reads what was received. A rank may die; then the hosts of the others release their streams.
#pragma once

#include <array>
#include <cstdint>
#include <llvm/ADT/ArrayRef.h>
#include <string>
#include <type_traits>

namespace colldsl::test {

/// A wrong rule that an author might choose.
enum class GraphMutant : uint8_t {
  None,
  KeepsTheWordOfAnOffer,   ///< a receiver does not clear its word
  KeepsTheWordOfAnAnswer,  ///< a sender does not clear its word
  SignalsBeforePacking,    ///< the receiver may copy what the launch before has packed
  AnswersBeforeCopying,    ///< the sender may pack anew meanwhile
  WholeOpsInOrder,         ///< an op ends before the next one begins, in the order of the ops
  OrdersOfDifferentRuns,   ///< ranks note their orders in different runs
  DeathReleasesNothing,    ///< hosts do not end waits
  ReleasesTheSignalledHalf ///< hosts signal words once, and waits clear them
};

/// The messages of a run; ops are in the order of these, sends before receives.
enum class GraphPattern : uint8_t {
  Exchange, ///< between two ranks, one each
  Two,      ///< from rank 0 to rank 1, which do not depend on each other
  Ring      ///< among three ranks
};

struct GraphScenario {
  GraphPattern pattern = GraphPattern::Exchange;
  uint8_t launches = 2;
  bool mayDie = false;
  GraphMutant mutant = GraphMutant::None;
};

class GraphMachine {
public:
  explicit GraphMachine(const GraphScenario &scenario);

  template <typename Visit> void steps(Visit visit) const {
    for (uint8_t rank = 0; rank < ranks_; ++rank)
      for (uint8_t step = 0; step < kSteps; ++step) {
        GraphMachine next = *this;
        if (const char *what = next.step(rank, step))
          visit(next, what);
      }
  }
  std::string violation() const;
  std::string unfinished() const;
  llvm::ArrayRef<uint8_t> bytes() const {
    static_assert(std::has_unique_object_representations_v<Situation>);
    return {reinterpret_cast<const uint8_t *>(&s_), sizeof s_};
  }

private:
  static constexpr uint8_t kRanks = 3, kMessages = 3, kItems = 4;
  static constexpr uint8_t kSteps = 3 * kMessages + 3; ///< of one rank, at most
  enum class Kind : uint8_t { None, Offers, IsAnswered, Receives };
  struct Item {
    Kind kind;
    uint8_t message;
  };
  struct Message {
    uint8_t from, to;
  };
  /// A message of the run that hosts do.
  enum class State : uint8_t { Open, Offered, Received, Done };
  struct Word {
    uint8_t signalled, released;
  };
  struct Stream {
    std::array<Item, kItems> order;
    uint8_t launch; ///< from 1 on
    uint8_t item;   ///< 0: the begin of the launch; behind the last one: its end
    uint8_t part;   ///< of the item
    uint8_t isDead, isReleased;
    uint8_t source;
  };
  struct Situation {
    std::array<Stream, kRanks> streams;
    std::array<State, kMessages> run;
    uint8_t runs; ///< that are over
    std::array<Word, kMessages> offers, answers;
    std::array<uint8_t, kMessages> packed, target; ///< numbers of launches, as data
    uint8_t isWrong; ///< a stream read what is not of its launch, and no rank died
  };

  bool is(GraphMutant mutant) const { return scenario_.mutant == mutant; }
  uint8_t runsToNote() const { return is(GraphMutant::OrdersOfDifferentRuns) ? 2 : 1; }
  bool isNoting() const { return s_.runs < runsToNote(); }
  uint8_t items(uint8_t rank) const;
  bool anyDied() const;

  /// The next step; null: there is none now.
  const char *step(uint8_t rank, uint8_t step);
  const char *note(uint8_t rank, Kind kind, uint8_t message);
  void endRun();
  void orderWholeOps();
  const char *work(uint8_t rank);
  const char *begin(Stream &stream);
  const char *end(uint8_t rank);
  const char *offer(Stream &stream, uint8_t message);
  const char *receive(Stream &stream, uint8_t message);
  const char *await(Stream &stream, Word &word, bool clears);
  const char *die(uint8_t rank);
  const char *release(uint8_t rank);

  GraphScenario scenario_;
  std::array<Message, kMessages> messages_{};
  uint8_t ranks_, count_; ///< of messages
  Situation s_;
};

} // namespace colldsl::test
