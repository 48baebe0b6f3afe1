/// A DAG while a pass changes it: ops are added, dropped, and made to wait for others, older
/// or younger; build() then puts them in order again.
#pragma once

#include "ir/Dag.h"
#include "ir/Result.h"

namespace colldsl {

/// The name of an op while its DAG is edited. Ops of the DAG keep their numbers, new ones follow.
enum class EditId : uint32_t {};
/// The first id for messages that a pass adds, until renumberMessages().
constexpr uint64_t kFirstNewMessage = uint64_t{1} << 63;
constexpr uint32_t index(EditId e) { return static_cast<uint32_t>(e); }

class DagEditor {
public:
  /// Copies the DAG.
  explicit DagEditor(const Dag &dag);

  static EditId of(OpId op) { return EditId{index(op)}; }

  Op &op(EditId id) { return nodes_[index(id)].op; }
  const Op &op(EditId id) const { return nodes_[index(id)].op; }
  std::vector<Slice> &sources(EditId id) { return nodes_[index(id)].sources; }
  std::vector<Slice> &targets(EditId id) { return nodes_[index(id)].targets; }
  bool isDropped(EditId id) const { return nodes_[index(id)].isDropped; }
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }

  struct Wait {
    EditId on;
    DepKind kind;
  };
  std::vector<Wait> &waits(EditId id) { return nodes_[index(id)].waits; }

  /// `near`: in program order the new op stands right before this one, if its dependencies allow
  /// it.
  EditId add(const Op &op, std::vector<Slice> sources, std::vector<Slice> targets, EditId near);
  void wait(EditId op, EditId on, DepKind kind = DepKind::Requires);

  /// In program order it stands behind `before`, without waiting for it.
  void follow(EditId op, EditId before) { nodes_[index(op)].follows.push_back(before); }

  /// In program order it stands before all others, if its dependencies allow it.
  void moveToFront(EditId op) { nodes_[index(op)].place = 0; }

  /// Drops the op. A wait for its start or its end becomes a wait for that of `instead`, which
  /// starts no earlier than the op could have.
  void replace(EditId op, EditId instead);
  /// Drops the op, whose start waited for the end of `instead`: a wait for its start or its end
  /// becomes a wait for the end of `instead`.
  void replaceByEarlier(EditId op, EditId instead);
  /// Drops the op. A wait for it becomes waits for all that it waited for itself.
  void bridge(EditId op);

  /// True if waits for `op` have become waits for `other`.
  bool standsFor(EditId op, EditId other) const;

  BufferId addBuffer(const Buffer &buffer) { return result_.addBuffer(buffer); }
  Buffer &buffer(BufferId id) { return result_.buffers[index(id)]; }
  const std::vector<Buffer> &buffers() const { return result_.buffers; }

  /// Makes the DAG. Ops keep their old order as far as their dependencies allow, and each
  /// dependency is stated once. An error: an op waits for itself.
  Result<Dag> build();
  Status buildInto(Dag &dag) {
    Result<Dag> built = build();
    if (built)
      dag = built.take();
    return built.status();
  }

private:
  struct Node {
    Op op;
    std::vector<Slice> sources, targets;
    std::vector<Wait> waits;
    std::vector<EditId> follows;
    uint64_t place = 0; ///< sort key of program order
    bool isDropped = false;
    bool isBridged = false;
    bool isLater = false; ///< the dropped op came after `instead`
    EditId instead{UINT32_MAX};
  };

  void resolve(EditId on, DepKind kind, std::vector<Wait> &into) const;
  void settleWaits();

  Dag result_; ///< buffers, contract, and slices of aliases
  std::vector<Node> nodes_;
};

} // namespace colldsl
