#include "tools/run/NcclColumns.h"

#include "formats/ServedFunction.h"
#include "tools/options/ResultStream.h"
#include "tools/run/RootedBlocks.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace colldsl::tools {
namespace {

using msccl::Collective;

// By doc/PERFORMANCE.md and the sources of nccl-tests, for P ranks.
double partOfOthers(double ranks) { return (ranks - 1) / ranks; }

double busShareOf(Collective collective, double ranks) {
  switch (collective) {
  case Collective::Allreduce:
    return 2 * partOfOthers(ranks);
  case Collective::Allgather:
  case Collective::ReduceScatter:
  case Collective::Alltoall:
    return partOfOthers(ranks);
  case Collective::Broadcast:
  case Collective::Reduce:
  case Collective::Custom:
    break;
  }
  return 1;
}

/// The type's name in NCCL, or our own for types that NCCL does not have.
llvm::StringRef typeName(ElementType type) {
  std::string_view own = spelling(type);
  return llvm::StringSwitch<llvm::StringRef>({own.data(), own.size()})
      .Case("i8", "int8")
      .Case("u8", "uint8")
      .Case("i32", "int32")
      .Case("u32", "uint32")
      .Case("i64", "int64")
      .Case("u64", "uint64")
      .Case("f16", "half")
      .Case("bf16", "bfloat16")
      .Case("f32", "float")
      .Case("f64", "double")
      .Default({own.data(), own.size()});
}

bool countsOneRank(Collective collective) {
  return collective == Collective::Allgather || collective == Collective::ReduceScatter ||
         collective == Collective::Alltoall;
}

/// time, algbw, busbw and #wrong.
std::string halfOf(const NcclRow &row) {
  double us = static_cast<double>(row.times.median) / 1e3;
  double bandwidth = us > 0 ? static_cast<double>(row.size) / us / 1e3 : 0;
  return llvm::formatv("{0,8:f2} {1,7:f2} {2,7:f2} {3,6}", us, bandwidth, bandwidth * row.busShare,
                       row.isChecked ? "0" : "N/A")
      .str();
}

std::string absentHalf() { return llvm::formatv("{0,8} {0,7} {0,7} {0,6}", "N/A").str(); }

} // namespace

NcclRow ncclRow(const std::string &name, const Schedule &schedule,
                const std::vector<Sizes> &sizes) {
  NcclRow row;
  row.name = name;
  row.ranks = schedule.numRanks();
  KnownCollective known = knownCollective(schedule);
  bool isRooted =
      known.collective == Collective::Broadcast || known.collective == Collective::Reduce;
  row.busShare = busShareOf(known.collective, row.ranks);
  row.inPlace = known.inPlace;
  bool countsOne = countsOneRank(known.collective);
  if (auto blocks = findRootedBlocks(schedule, sizes)) {
    row.busShare = partOfOthers(row.ranks);
    row.inPlace = blocks->inPlace;
    known.root = blocks->root;
    isRooted = countsOne = true;
  }
  row.root = isRooted ? int64_t{known.root} : -1;
  const Dag &dag = schedule.ranks[isRooted ? known.root : 0];
  for (const Buffer &buffer : dag.buffers) {
    if (buffer.role == BufferRole::Temp)
      continue;
    row.size = std::max(row.size, extentBytes(buffer, sizes[isRooted ? known.root : 0]));
    row.type = typeName(buffer.type).str();
  }
  if (row.type.empty()) // a barrier; readers count columns
    row.type = "none";
  row.reduction = "none";
  for (const Ensure &ensure : dag.contract.ensures)
    if (ensure.isReduction)
      row.reduction = std::string(spelling(ensure.reduction));
  uint64_t width = dag.buffers.empty() ? 1 : sizeBytes(dag.buffers[0].type);
  row.count = row.size / width / (countsOne ? row.ranks : 1);
  return row;
}

void printNcclColumns(const std::vector<NcclRow> &rows) {
  llvm::raw_ostream &out = resultStream();
  out << "#\n"
      << llvm::formatv("#{0,74}{1,32}\n", "out-of-place", "in-place")
      << llvm::formatv("#{0,11} {1,13} {2,9} {3,7} {4,7} {5,8} {6,7} {7,7} {8,6} {5,8} {6,7} {7,7} "
                       "{8,6}\n",
                       "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong")
      << llvm::formatv(
             "#{0,11} {1,13} {2,9} {2,7} {2,7} {3,8} {4,7} {4,7} {2,6} {3,8} {4,7} {4,7}\n", "(B)",
             "(elements)", "", "(us)", "(GB/s)");
  double bandwidths = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const NcclRow &row = rows[i];
    if (i == 0 || row.name != rows[i - 1].name)
      out << "# " << row.name << ", " << row.ranks << (row.ranks == 1 ? " rank\n" : " ranks\n");
    std::string half = halfOf(row);
    out << llvm::formatv("{0,12} {1,13} {2,9} {3,7} {4,7} {5} {6}\n", row.size, row.count, row.type,
                         row.reduction, row.root, row.inPlace ? absentHalf() : half,
                         row.inPlace ? half : absentHalf());
    if (row.times.median > 0)
      bandwidths +=
          static_cast<double>(row.size) / static_cast<double>(row.times.median) * row.busShare;
  }
  out << "# Out of bounds values : 0 OK\n"
      << llvm::formatv("# Avg bus bandwidth    : {0:f5}\n#\n",
                       rows.empty() ? 0 : bandwidths / static_cast<double>(rows.size()));
}

} // namespace colldsl::tools
