#include "show/Provenance.h"

#include "verifier/Execution.h"

#include <algorithm>

namespace colldsl::show {

using namespace proof;

/// The symbolic run up to a round. Another round makes a new run.
class Provenance::Run {
public:
  explicit Run(const ShownSchedule &shown)
      : shown_(shown), model_(*shown.schedule, shown.sizes), placement_(model_),
        names_(model_, placement_), failures_(model_, 1),
        messages_(matchMessages(model_, placement_, names_, failures_)),
        graph_(model_, messages_, 0), order_(topologicalOrder(graph_, Rules::HappensBefore)) {}

  void runTo(uint32_t round) {
    if (state_ && round == round_)
      return;
    round_ = round;
    std::vector<Event> events;
    for (Event e : order_)
      if (shown_.ops->round[index(vertexOf(e))] <= round)
        events.push_back(e);
    state_.emplace(model_, placement_, values_);
    Failures reads(model_, 1); // of unwritten bytes: the picture shows them
    bool isWhole = execute(graph_, placement_, events, names_, values_, *state_, reads);
    isWhole_ = isWhole && !reads.full();
  }

  std::vector<HeldBytes> heldIn(Rank rank, Area area) const {
    std::vector<HeldBytes> all;
    state_->visit(rank, area, [&](uint64_t begin, uint64_t end, const Held *held) {
      HeldBytes part{begin, end, {}, false};
      if (held) {
        addOrigins(held->value.node, static_cast<int64_t>(held->value.position - begin),
                   part.origins);
        std::sort(part.origins.begin(), part.origins.end());
        part.isNew = exists(held->writer) && shown_.ops->round[index(held->writer)] == round_;
      }
      all.push_back(std::move(part));
    });
    return all;
  }

  bool isKept(const Contract &contract, const Ensure &ensure, const Area &target) const {
    std::vector<Origin> wanted;
    for (const EntryValue &operand : contract.operandsOf(ensure)) {
      Area from = placement_.locateAtEntry(operand.rank, operand.slice);
      wanted.push_back(
          {index(operand.rank), index(from.root), static_cast<int64_t>(from.begin - target.begin)});
    }
    std::sort(wanted.begin(), wanted.end());
    std::vector<HeldBytes> found = heldIn(Rank{rank_}, target);
    return std::all_of(found.begin(), found.end(),
                       [&](const HeldBytes &part) { return part.origins == wanted; });
  }

  template <typename See> void forEachPromise(uint32_t buffer, See see) {
    for (rank_ = 0; rank_ < model_.numRanks(); ++rank_) {
      const Contract &contract = model_.dag(Rank{rank_}).contract;
      for (const Ensure &ensure : contract.ensures) {
        Area target = placement_.locateAtEntry(Rank{rank_}, ensure.target);
        bool isPromise = ensure.operandCount > 0; // else the content is arbitrary
        if (isPromise && index(target.root) == buffer && !target.empty())
          see(rank_, target, isKept(contract, ensure, target));
      }
    }
  }

  /// True if the run completed.
  bool isWhole() const { return isWhole_; }
  const Model &model() const { return model_; }
  Area whole(Rank rank, uint32_t buffer) const { return placement_.whole(rank, BufferId{buffer}); }

private:
  /// `shift`: from bytes of the buffer to positions of the node.
  void addOrigins(NodeId id, int64_t shift, std::vector<Origin> &origins) const {
    constexpr size_t kMost = 1u << 16; // reached by a mistake that combines results repeatedly
    const Node &node = values_[id];
    if (node.kind == Node::Kind::Unknown || origins.size() >= kMost)
      return;
    if (node.kind == Node::Kind::Entry)
      return origins.push_back({index(node.rank), index(node.root), shift});
    addOrigins(node.left, shift, origins);
    addOrigins(node.right, shift + node.rightShift, origins);
  }

  const ShownSchedule &shown_;
  Model model_;
  Placement placement_;
  DiagnosticNames names_;
  Failures failures_;
  Messages messages_;
  EventGraph graph_;
  PagedArray<Event> order_;
  Values values_;
  std::optional<State> state_;
  uint32_t round_ = 0, rank_ = 0;
  bool isWhole_ = false;
};

Provenance::Provenance(const ShownSchedule &shown)
    : shown_(shown), run_(std::make_unique<Run>(shown)) {
  const std::vector<Buffer> &buffers = run_->model().dag(Rank{0}).buffers;
  for (uint32_t b = 0; b < buffers.size(); ++b) {
    const Buffer &buffer = buffers[b];
    if (buffer.aliasOf == kNoBuffer && buffer.significant && buffer.role != BufferRole::Temp)
      parameters_.push_back({shown.schedule->names[buffer.name], b, buffer.role != BufferRole::In});
  }
  std::stable_sort(parameters_.begin(), parameters_.end(),
                   [](const Parameter &a, const Parameter &b) { return a.isResult > b.isResult; });
}

Provenance::~Provenance() = default;

uint64_t Provenance::bytesOf(uint32_t rank, uint32_t buffer) const {
  return buffer < run_->model().dag(Rank{rank}).buffers.size() ? run_->whole(Rank{rank}, buffer).end
                                                               : 0;
}

Result<std::vector<std::vector<HeldBytes>>> Provenance::held(uint32_t buffer, uint32_t round) {
  run_->runTo(round);
  if (!run_->isWhole())
    return Status::error("--view provenance: up to round " + std::to_string(round) +
                         " too many ops read bytes that hold nothing");
  std::vector<std::vector<HeldBytes>> all(shown_.ranks);
  for (uint32_t r = 0; r < shown_.ranks; ++r)
    if (bytesOf(r, buffer) > 0)
      all[r] = run_->heldIn(Rank{r}, run_->whole(Rank{r}, buffer));
  return all;
}

std::vector<BrokenPromise> Provenance::broken(uint32_t buffer) {
  run_->runTo(shown_.ops->rounds);
  std::vector<BrokenPromise> all;
  run_->forEachPromise(buffer, [&](uint32_t rank, const Area &target, bool isKept) {
    if (!isKept)
      all.push_back({rank, target.begin, target.end});
  });
  return all;
}

} // namespace colldsl::show
