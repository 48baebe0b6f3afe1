#include "passes/Fuse.h"

#include "passes/DagEditor.h"

#include <algorithm>
#include <optional>

namespace colldsl {

void Fuse::describe(PassOptions &options) {
  options.flag("streams", "true|false", "mark receives that have one reader (default: true)",
               streams);
}

namespace {

struct Counts {
  uint32_t dead = 0, copies = 0, joined = 0, streamed = 0;
};

bool sameList(const std::vector<Slice> &a, const std::vector<Slice> &b) { return a == b; }

bool adjacent(const Slice &a, const Slice &b) {
  return a.buffer == b.buffer && a.block == b.block && a.denominator == b.denominator &&
         a.endScale == b.beginScale && a.endOffset == b.beginOffset;
}

class DagFuser {
public:
  DagFuser(const Dag &dag, bool streams, Counts &counts)
      : editor_(dag), streams_(streams), counts_(counts) {}

  Result<Dag> run() {
    for (bool changed = true; changed;) {
      index();
      changed = dropDead() || receiveInPlace() || sendOriginals() || joinCopies();
    }
    if (streams_)
      markStreams();
    shrinkUnused();
    return editor_.build();
  }

private:
  struct Users {
    std::vector<EditId> writers, readers;
    bool isPrivate = false; ///< a temporary without aliases, whose bytes are known when bound
  };

  void index() {
    users_.assign(editor_.buffers().size(), {});
    for (uint32_t b = 0; b < users_.size(); ++b) {
      const Buffer &buffer = editor_.buffers()[b];
      users_[b].isPrivate = buffer.role == BufferRole::Temp && buffer.aliasOf == kNoBuffer &&
                            buffer.layout == Layout::Dense;
    }
    for (const Buffer &buffer : editor_.buffers())
      if (buffer.aliasOf != kNoBuffer)
        users_[colldsl::index(buffer.aliasOf)].isPrivate = false;
    for (uint32_t i = 0; i < editor_.size(); ++i) {
      if (editor_.isDropped(EditId{i}))
        continue;
      for (const Slice &slice : editor_.targets(EditId{i}))
        addOnce(users_[colldsl::index(slice.buffer)].writers, EditId{i});
      for (const Slice &slice : editor_.sources(EditId{i}))
        addOnce(users_[colldsl::index(slice.buffer)].readers, EditId{i});
    }
  }

  static void addOnce(std::vector<EditId> &list, EditId op) {
    if (list.empty() || list.back() != op)
      list.push_back(op);
  }

  Users &usersOf(const Slice &slice) { return users_[colldsl::index(slice.buffer)]; }
  OpKind kind(EditId op) const { return editor_.op(op).kind; }

  template <typename Test> bool anyOp(Test test) {
    bool changed = false;
    for (uint32_t i = 0; i < editor_.size(); ++i)
      if (!editor_.isDropped(EditId{i}) && test(EditId{i}))
        changed = true;
    return changed;
  }

  /// Local ops whose targets are temporaries that no op reads.
  bool dropDead() {
    return anyOp([&](EditId op) {
      if (kind(op) != OpKind::Copy && kind(op) != OpKind::Combine)
        return false;
      for (const Slice &slice : editor_.targets(op))
        if (!usersOf(slice).isPrivate || !usersOf(slice).readers.empty())
          return false;
      editor_.bridge(op);
      ++counts_.dead;
      return true;
    });
  }

  /// The one op that reads what `writer` leaves in private buffers of its own, all of it and in
  /// the same order.
  std::optional<EditId> onlyReader(EditId writer) {
    const std::vector<Slice> &targets = editor_.targets(writer);
    std::optional<EditId> reader;
    for (const Slice &slice : targets) {
      const Users &users = usersOf(slice);
      bool isOwn = users.isPrivate && users.writers.size() == 1 && users.readers.size() == 1;
      if (!isOwn || (reader && *reader != users.readers[0]))
        return std::nullopt;
      reader = users.readers[0];
    }
    if (!reader || !sameList(targets, editor_.sources(*reader)))
      return std::nullopt;
    return reader;
  }

  bool waitsOnlyFor(EditId op, EditId other) {
    for (const DagEditor::Wait &wait : editor_.waits(op))
      if (!editor_.standsFor(wait.on, other))
        return false;
    return true;
  }

  /// True if every other op that touches the targets of the copy is done before the receive starts,
  /// or waits for the copy: a receive may write at any time until it finishes.
  bool ownsTargets(EditId recv, EditId copy) {
    std::vector<bool> before = reachable(recv);
    for (uint32_t i = 0; i < editor_.size(); ++i) {
      EditId other{i};
      if (editor_.isDropped(other) || other == copy || before[i] || !touches(other, copy))
        continue;
      if (!reachable(other)[colldsl::index(copy)])
        return false;
    }
    for (const Slice &slice : editor_.targets(copy))
      if (editor_.buffers()[colldsl::index(slice.buffer)].aliasOf != kNoBuffer ||
          isAliased(slice.buffer))
        return false;
    return true;
  }

  bool touches(EditId op, EditId copy) {
    auto disjoint = [](const Slice &a, const Slice &b) {
      auto endsBefore = [](const Slice &x, const Slice &y) {
        return x.endScale <= y.beginScale && x.endOffset <= y.beginOffset;
      };
      return a.buffer != b.buffer || (a.block == b.block && a.denominator == b.denominator &&
                                      (endsBefore(a, b) || endsBefore(b, a)));
    };
    for (const Slice &target : editor_.targets(copy))
      for (const std::vector<Slice> *list : {&editor_.sources(op), &editor_.targets(op)})
        for (const Slice &slice : *list)
          if (!disjoint(slice, target))
            return true;
    return false;
  }

  /// The ops whose end an op waits for, directly or not.
  std::vector<bool> reachable(EditId from) {
    std::vector<bool> seen(editor_.size(), false);
    std::vector<EditId> open{from};
    while (!open.empty()) {
      EditId op = open.back();
      open.pop_back();
      for (const DagEditor::Wait &wait : editor_.waits(op))
        if (wait.kind == DepKind::Requires && !seen[colldsl::index(wait.on)]) {
          seen[colldsl::index(wait.on)] = true;
          open.push_back(wait.on);
        }
    }
    return seen;
  }

  /// recv t; copy t to y: recv y. The copy must wait for nothing else, or the receive would
  /// be ready later than it was.
  bool receiveInPlace() {
    return anyOp([&](EditId recv) {
      if (kind(recv) != OpKind::Recv)
        return false;
      std::optional<EditId> copy = onlyReader(recv);
      if (!copy || kind(*copy) != OpKind::Copy || !waitsOnlyFor(*copy, recv) ||
          !ownsTargets(recv, *copy))
        return false;
      editor_.targets(recv) = editor_.targets(*copy);
      editor_.replaceByEarlier(*copy, recv);
      ++counts_.copies;
      index();
      return true;
    });
  }

  /// copy x to t; send t: send x, if no op ever writes x.
  bool sendOriginals() {
    return anyOp([&](EditId copy) {
      if (kind(copy) != OpKind::Copy)
        return false;
      std::optional<EditId> send = onlyReader(copy);
      if (!send || kind(*send) != OpKind::Send)
        return false;
      for (const Slice &slice : editor_.sources(copy))
        if (!usersOf(slice).writers.empty() ||
            editor_.buffers()[colldsl::index(slice.buffer)].aliasOf != kNoBuffer ||
            isAliased(slice.buffer))
          return false;
      editor_.sources(*send) = editor_.sources(copy);
      editor_.bridge(copy);
      ++counts_.copies;
      index();
      return true;
    });
  }

  bool isAliased(BufferId id) const {
    return std::any_of(editor_.buffers().begin(), editor_.buffers().end(),
                       [&](const Buffer &buffer) { return buffer.aliasOf == id; });
  }

  /// Copies of one slice each that wait for the same and lie side by side at both ends.
  bool joinCopies() {
    std::optional<EditId> last;
    return anyOp([&](EditId copy) {
      bool fits = kind(copy) == OpKind::Copy && editor_.sources(copy).size() == 1 &&
                  editor_.targets(copy).size() == 1;
      if (!fits)
        return false;
      if (!last || !canJoin(*last, copy)) {
        last = copy;
        return false;
      }
      extend(editor_.sources(*last)[0], editor_.sources(copy)[0]);
      extend(editor_.targets(*last)[0], editor_.targets(copy)[0]);
      editor_.replace(copy, *last);
      ++counts_.joined;
      return true;
    });
  }

  bool canJoin(EditId a, EditId b) {
    auto keys = [&](EditId op) {
      std::vector<std::pair<uint32_t, DepKind>> list;
      for (const DagEditor::Wait &wait : editor_.waits(op))
        list.emplace_back(colldsl::index(wait.on), wait.kind);
      std::sort(list.begin(), list.end());
      return list;
    };
    const Slice &from = editor_.sources(a)[0], &to = editor_.targets(a)[0];
    return adjacent(from, editor_.sources(b)[0]) && adjacent(to, editor_.targets(b)[0]) &&
           from.buffer != to.buffer && keys(a) == keys(b);
  }

  static void extend(Slice &slice, const Slice &next) {
    slice.endScale = next.endScale;
    slice.endOffset = next.endOffset;
    auto divides = [&](int64_t number) { return number % slice.denominator == 0; };
    if (divides(slice.beginScale) && divides(slice.beginOffset) && divides(slice.endScale) &&
        divides(slice.endOffset)) { // all pieces together: no fraction any more
      for (int64_t *number :
           {&slice.beginScale, &slice.beginOffset, &slice.endScale, &slice.endOffset})
        *number /= slice.denominator;
      slice.denominator = 1;
    }
  }

  void markStreams() {
    index();
    anyOp([&](EditId recv) {
      if (kind(recv) != OpKind::Recv)
        return false;
      std::optional<EditId> reader = onlyReader(recv);
      if (!reader || (kind(*reader) != OpKind::Combine && kind(*reader) != OpKind::Send))
        return false;
      editor_.op(recv).transfer.streamed = true;
      ++counts_.streamed;
      return true;
    });
  }

  /// Temporaries that no op uses any more keep their numbers and take no memory.
  void shrinkUnused() {
    index();
    for (uint32_t b = 0; b < users_.size(); ++b)
      if (users_[b].isPrivate && users_[b].writers.empty() && users_[b].readers.empty()) {
        Buffer &buffer = editor_.buffer(BufferId{b});
        buffer.endScale = buffer.originScale;
        buffer.endOffset = buffer.originOffset;
      }
  }

  DagEditor editor_;
  bool streams_;
  Counts &counts_;
  std::vector<Users> users_; ///< per buffer
};

} // namespace

Result<DagOutcome> fuseOps(Schedule schedule, const Fuse &options, const DagContext &) {
  Counts counts;
  for (Dag &dag : schedule.ranks) {
    Result<Dag> fused = DagFuser(dag, options.streams, counts).run();
    if (!fused)
      return fused.status();
    dag = fused.take();
  }
  return DagOutcome{std::move(schedule), std::to_string(counts.copies) + " copies spared, " +
                                             std::to_string(counts.joined) + " joined, " +
                                             std::to_string(counts.dead) + " dead ops dropped, " +
                                             std::to_string(counts.streamed) +
                                             " receives streamed"};
}

} // namespace colldsl
