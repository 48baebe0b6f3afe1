#include "ir/MessageLines.h"
#include "ir/TextForm.h"
#include "ir/TextScanner.h"
#include "ir/TextSizes.h"

#include <charconv>
#include <map>

namespace colldsl {
namespace {

// Lists of slices go on in the next line behind this column.
constexpr size_t kWrapColumn = 90;

class Printer {
public:
  explicit Printer(const Schedule &schedule) : schedule_(schedule) {}
  std::string run();

private:
  void printHeader();
  void printSizeClass();
  void printRank(uint32_t r);
  void nameBuffers();
  void printBuffer(uint32_t i);
  void printTransfer(const Transfer &transfer);
  void printOp(uint32_t i);
  void printKind(const Op &op);
  void printTag(uint32_t i);
  template <typename T, typename Print> void printList(std::span<const T> items, Print print);
  void printSlices(std::string_view word, std::span<const Slice> slices);
  void printDeps(uint32_t i);
  void printEnsure(const Ensure &ensure);
  void printLoc(SourceLoc loc);
  void turnTo(uint32_t rank);
  void printOperand(const EntryValue &operand);
  void printReference(BufferId buffer);
  void printSlice(const Slice &slice);
  void printRange(int64_t beginScale, int64_t beginOffset, int64_t endScale, int64_t endOffset,
                  uint32_t denominator);
  void printPosition(int64_t scale, int64_t offset, uint32_t denominator);
  bool isWhole(const Slice &slice) const;

  Printer &operator<<(std::string_view text) {
    out_ += text;
    return *this;
  }
  template <std::integral T> Printer &operator<<(T number) {
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out_.append(digits, end);
    return *this;
  }

  const Schedule &schedule_;
  const Dag *dag_ = nullptr;
  const std::vector<uint32_t> *ordinals_ = nullptr; ///< of dag_
  /// Per rank and buffer: how many before it have its name, plus 1.
  std::vector<std::vector<uint32_t>> ordinalsOf_;
  std::vector<bool> hasCount_; ///< per op: its message's number must be written
  std::string out_;
};

void Printer::printSizeClass() {
  const SizeClass &c = schedule_.sizeClass;
  if (c == SizeClass())
    return;
  *this << "size n = " << c.elements << " in " << c.min << "..";
  if (c.max != UINT64_MAX)
    *this << c.max;
  *this << "\n";
}

void Printer::printHeader() {
  *this << "schedule ";
  appendQuoted(out_, schedule_.name);
  *this << (schedule_.hasContract ? " contract" : "")
        << (schedule_.synchronizes ? " synchronizes" : "")
        << (schedule_.deterministic ? " deterministic" : "") << "\n";
  *this << "num_ranks " << schedule_.numRanks() << "\n";
  printSizeClass();
  for (const std::string &file : schedule_.files) {
    *this << "file ";
    appendQuoted(out_, file);
    *this << "\n";
  }
}

void Printer::printPosition(int64_t scale, int64_t offset, uint32_t denominator) {
  bool isSum = scale != 0 && offset != 0;
  if (isSum && denominator != 1)
    *this << "(";
  if (scale == 1 || scale == -1)
    *this << (scale == 1 ? "n" : "-n");
  else if (scale != 0)
    *this << scale << "n";
  if (isSum && offset > 0)
    *this << "+";
  if (offset != 0 || scale == 0)
    *this << offset;
  if (isSum && denominator != 1)
    *this << ")";
  if (denominator != 1)
    *this << "/" << denominator;
}

// The common denominator is written at least once, at the end of the range if both
// positions are whole: 0..8n/3, n..3n/3.
void Printer::printRange(int64_t beginScale, int64_t beginOffset, int64_t endScale,
                         int64_t endOffset, uint32_t denominator) {
  auto isWhole = [&](int64_t scale, int64_t offset) {
    return denominator != 0 && scale % denominator == 0 && offset % denominator == 0;
  };
  auto print = [&](int64_t scale, int64_t offset, bool reduced) {
    int64_t by = reduced ? denominator : 1;
    printPosition(scale / by, offset / by, reduced ? 1 : denominator);
  };
  bool wholeBegin = isWhole(beginScale, beginOffset);
  print(beginScale, beginOffset, wholeBegin);
  *this << "..";
  print(endScale, endOffset, !wholeBegin && isWhole(endScale, endOffset));
}

// The second buffer of a name is written name#2. An id that names no buffer, in a
// broken schedule, is written in a way that does not read back.
void Printer::printReference(BufferId buffer) {
  if (index(buffer) >= dag_->buffers.size()) {
    *this << "?" << index(buffer);
    return;
  }
  uint32_t name = dag_->buffers[index(buffer)].name;
  if (name >= schedule_.names.size())
    *this << "?" << name;
  else if (isPlainName(schedule_.names[name]))
    *this << schedule_.names[name];
  else
    appendQuoted(out_, schedule_.names[name]);
  if (uint32_t ordinal = (*ordinals_)[index(buffer)]; ordinal != 1)
    *this << "#" << ordinal;
}

bool Printer::isWhole(const Slice &s) const {
  if (s.block != kNoBlock)
    return s.beginScale == 0 && s.beginOffset == 0 && s.endScale == 1 && s.endOffset == 0 &&
           s.denominator == 1;
  if (index(s.buffer) >= dag_->buffers.size())
    return false;
  const Buffer &b = dag_->bufferOf(s);
  return s.beginScale == b.originScale && s.beginOffset == b.originOffset &&
         s.endScale == b.endScale && s.endOffset == b.endOffset && s.denominator == b.denominator;
}

void Printer::printSlice(const Slice &s) {
  printReference(s.buffer);
  if (s.block != kNoBlock)
    *this << "[" << s.block << "]";
  if (isWhole(s))
    return;
  *this << "[";
  printRange(s.beginScale, s.beginOffset, s.endScale, s.endOffset, s.denominator);
  *this << "]";
}

void Printer::nameBuffers() {
  for (const Dag &dag : schedule_.ranks) {
    std::map<std::string_view, uint32_t> seen;
    std::vector<uint32_t> &ordinals = ordinalsOf_.emplace_back();
    for (const Buffer &b : dag.buffers)
      ordinals.push_back(b.name < schedule_.names.size() ? ++seen[schedule_.nameOf(b)] : 1);
  }
}

/// Turns to a rank: names that are printed next are those of its buffers.
void Printer::turnTo(uint32_t rank) {
  dag_ = &schedule_.ranks[rank];
  ordinals_ = &ordinalsOf_[rank];
}

// The buffer is one of the rank at entry, whose buffers may be others.
void Printer::printOperand(const EntryValue &operand) {
  const Dag *dag = dag_;
  const std::vector<uint32_t> *ordinals = ordinals_;
  if (index(operand.rank) < schedule_.numRanks())
    turnTo(index(operand.rank));
  printSlice(operand.slice);
  *this << "@" << index(operand.rank);
  dag_ = dag;
  ordinals_ = ordinals;
}

void Printer::printBuffer(uint32_t i) {
  const Buffer &b = dag_->buffers[i];
  *this << spelling(b.role) << " ";
  printReference(BufferId{i});
  *this << ": " << spelling(b.type);
  bool isEmpty = b.originScale == 0 && b.originOffset == 0 && b.endScale == 0 && b.endOffset == 0 &&
                 b.denominator == 1;
  if (b.layout != Layout::Dense)
    *this << "[" << b.blocks << (b.layout == Layout::CallTime ? "][*]" : "][<=]");
  if (b.layout == Layout::Dense || !isEmpty) {
    *this << "[";
    if (b.originScale == 0 && b.originOffset == 0)
      printPosition(b.endScale, b.endOffset, b.denominator);
    else
      printRange(b.originScale, b.originOffset, b.endScale, b.endOffset, b.denominator);
    *this << "]";
  }
  if (b.aliasOf != kNoBuffer && b.aliasSlice < dag_->slices.size()) {
    *this << " aliases ";
    printSlice(dag_->slices[b.aliasSlice]);
  }
  *this << (b.significant ? "\n" : " insignificant\n");
}

void Printer::printTag(uint32_t i) {
  MessageId message = dag_->ops[i].message;
  *this << " tag " << tagOf(message);
  if (hasCount_[i])
    *this << " nth " << countOf(message);
}

template <typename T, typename Print>
void Printer::printList(std::span<const T> items, Print print) {
  size_t lineBegin = out_.rfind('\n') + 1;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0 && out_.size() - lineBegin > kWrapColumn) {
      *this << ",\n";
      lineBegin = out_.size();
      *this << "      ";
    } else if (i != 0) {
      *this << ", ";
    }
    print(items[i]);
  }
}

void Printer::printSlices(std::string_view word, std::span<const Slice> slices) {
  if (slices.empty())
    return;
  *this << " " << word << " ";
  printList(slices, [&](const Slice &slice) { printSlice(slice); });
}

// Prints the words between the kind's name and the slices.
void Printer::printKind(const Op &op) {
  switch (op.kind) {
  case OpKind::Send:
  case OpKind::Signal:
    *this << " to " << index(op.peer);
    return;
  case OpKind::Recv:
  case OpKind::Wait:
    *this << " from " << index(op.peer);
    return;
  case OpKind::Combine:
    *this << " by " << spelling(op.reduction) << " " << spelling(op.type) << " "
          << spelling(op.side);
    return;
  case OpKind::Copy:
  case OpKind::Calc:
    return;
  }
}

void Printer::printTransfer(const Transfer &transfer) {
  if (transfer.protocol != Protocol::Any)
    *this << " via " << spelling(transfer.protocol);
  if (transfer.mover != Mover::Either)
    *this << " mover " << spelling(transfer.mover);
  *this << (transfer.canary ? " canary" : "") << (transfer.announced ? " announced" : "")
        << (transfer.streamed ? " streamed" : "") << (transfer.multicast ? " multicast" : "");
}

void Printer::printOp(uint32_t i) {
  const Op &op = dag_->ops[i];
  *this << "l" << i << ": " << spelling(op.kind);
  if (op.kind == OpKind::Calc)
    *this << " " << op.amount;
  else if (auto bytes = statedBytes(*dag_, op, schedule_.sizeClass.elements))
    *this << " " << *bytes << "b";
  printKind(op);
  if (isMessage(op.kind))
    printTag(i);
  if (op.cpu != 0)
    *this << " cpu " << op.cpu;
  if (op.nic != 0)
    *this << " nic " << op.nic;
  printTransfer(op.transfer);
  printSlices("from", dag_->sources(op));
  printSlices("into", dag_->targets(op));
  printLoc(op.loc);
  *this << "\n";
  printDeps(i);
}

void Printer::printDeps(uint32_t i) {
  for (const Dep &dep : dag_->depsOf(dag_->ops[i]))
    *this << "l" << i << (dep.kind == DepKind::Requires ? " requires l" : " irequires l")
          << index(dep.op) << "\n";
}

void Printer::printEnsure(const Ensure &e) {
  bool isClobber = e.operandCount == 0;
  *this << (isClobber ? "clobbers " : "ensures ");
  printSlice(e.target);
  *this << (isClobber ? "" : " == ");
  if (e.isReduction)
    *this << spelling(e.reduction) << "(";
  printList(dag_->contract.operandsOf(e),
            [&](const EntryValue &operand) { printOperand(operand); });
  *this << (e.isReduction ? ")" : "");
  printLoc(e.loc);
  *this << "\n";
}

void Printer::printLoc(SourceLoc loc) {
  if (!loc.known() || loc.file >= schedule_.files.size())
    return;
  *this << " @";
  if (loc.file != 0)
    *this << loc.file << ":";
  *this << loc.line << ":" << loc.column;
}

void Printer::printRank(uint32_t r) {
  turnTo(r);
  *this << "\nrank " << r << " {\n";
  for (uint32_t i = 0; i < dag_->buffers.size(); ++i)
    printBuffer(i);
  hasCount_.assign(dag_->size(), false);
  forEachInLine(dag_->ops, [&](OpId op, OpId previous) {
    hasCount_[index(op)] = countOf(dag_->op(op).message) != impliedCount(dag_->ops, previous);
  });
  for (uint32_t i = 0; i < dag_->size(); ++i)
    printOp(i);
  for (const Ensure &e : dag_->contract.ensures)
    printEnsure(e);
  *this << "}\n";
}

std::string Printer::run() {
  printHeader();
  nameBuffers();
  for (uint32_t r = 0; r < schedule_.numRanks(); ++r)
    printRank(r);
  return std::move(out_);
}

} // namespace

std::string printText(const Schedule &schedule) { return Printer(schedule).run(); }

} // namespace colldsl
