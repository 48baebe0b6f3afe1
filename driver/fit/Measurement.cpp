#include "driver/fit/Measurement.h"

#include "driver/Session.h"
#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "topology/MachineProfile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>
#include <set>

namespace colldsl::driver {
namespace {

constexpr double kMostNs = 1e15; ///< 11 days
constexpr double kNsPerUs = 1000;

class LineReader {
public:
  LineReader(const std::string &name, std::string_view text) : name_(name), left_(text) {}

  bool next() {
    if (left_.empty())
      return false;
    std::tie(line_, left_) = left_.split('\n');
    line_ = line_.rtrim('\r');
    ++number_;
    return true;
  }
  llvm::StringRef line() const { return line_; }
  uint32_t number() const { return number_; }
  template <typename... Parts> Status error(const Parts &...why) const {
    return Status::error(concat(name_, ":", number_, ": ", why...));
  }

private:
  const std::string &name_;
  llvm::StringRef left_, line_;
  uint32_t number_ = 0;
};

/// "64" or "8x8x8": the product; 0: it is neither. `shape`: of the latter, the sizes.
uint32_t nodesIn(llvm::StringRef text, std::vector<uint32_t> &shape) {
  uint64_t nodes = 1;
  llvm::SmallVector<llvm::StringRef, 6> dims;
  text.split(dims, 'x');
  for (llvm::StringRef dim : dims) {
    uint32_t size = parseWhole<uint32_t>(dim).value_or(0);
    nodes *= size;
    if (nodes > UINT32_MAX)
      return 0;
    if (dims.size() > 1)
      shape.push_back(size);
  }
  return static_cast<uint32_t>(nodes);
}

/// The columns of PICO's tables that are read.
enum Column { kSystem, kRun, kFunction, kAlgorithm, kNodes, kRanks, kBytes, kTime, kColumns };
constexpr llvm::StringLiteral kColumnNames[kColumns] = {"system",    "timestamp", "collective",
                                                        "algorithm", "nodes",     "ranks_per_node",
                                                        "bytes",     "median_ns"};

class PicoReader {
public:
  PicoReader(const std::string &name, std::string_view text) : lines_(name, text) {}

  Result<std::vector<Measurement>> read() {
    if (!lines_.next())
      return lines_.error("the table is empty");
    if (Status s = readHead(); !s)
      return s;
    std::vector<Measurement> all;
    while (lines_.next()) {
      if (lines_.line().trim().empty())
        continue;
      Result<Measurement> one = readLine();
      if (!one)
        return one.status();
      if (one->ns > 0) // a call that was too short for the clock
        all.push_back(one.take());
    }
    return all;
  }

private:
  Status readHead() {
    llvm::SmallVector<llvm::StringRef, 16> names;
    lines_.line().split(names, '\t');
    for (size_t column = 0; column < kColumns; ++column) {
      auto found = llvm::find(names, kColumnNames[column]);
      if (found == names.end())
        return lines_.error("there is no column '", kColumnNames[column].str(), "'");
      place_[column] = static_cast<size_t>(found - names.begin());
    }
    columns_ = names.size();
    return {};
  }

  Result<Measurement> readLine() {
    llvm::SmallVector<llvm::StringRef, 16> cells;
    lines_.line().split(cells, '\t');
    if (cells.size() != columns_)
      return lines_.error("it has ", cells.size(), " columns, the first line names ", columns_);
    auto cell = [&](Column column) { return cells[place_[column]]; };
    Measurement m;
    m.system = cell(kSystem).str();
    m.run = cell(kRun).str();
    m.function = cell(kFunction).lower();
    m.algorithm = cell(kAlgorithm).str();
    m.nodes = cell(kNodes).str();
    m.numNodes = nodesIn(cell(kNodes), m.shape);
    m.ranksPerNode = parseWhole<uint32_t>(cell(kRanks)).value_or(0);
    std::optional<uint64_t> bytes = parseWhole<uint64_t>(cell(kBytes));
    m.line = lines_.number();
    if (m.numNodes == 0)
      return lines_.error("nodes is '", m.nodes, "', neither a number nor sizes as in 8x8x8");
    if (m.ranksPerNode == 0)
      return lines_.error("ranks_per_node is '", cell(kRanks).str(), "', no number from 1 on");
    if (!bytes)
      return lines_.error("bytes is '", cell(kBytes).str(), "', no number");
    m.bytes = *bytes;
    if (cell(kTime).getAsDouble(m.ns) || !(m.ns >= 0 && m.ns <= kMostNs))
      return lines_.error("median_ns is '", cell(kTime).str(), "', no time in nanoseconds");
    return m;
  }

  LineReader lines_;
  size_t place_[kColumns] = {};
  size_t columns_ = 0;
};

/// The function that the first line of a program names, "# OSU MPI All-to-Allv Personalized
/// Exchange Latency Test v7.4"; empty: it is no such line.
std::string osuFunction(llvm::StringRef line) {
  if (!line.consume_front("# OSU MPI"))
    return "";
  line = line.drop_front(line.find(' ') == llvm::StringRef::npos ? line.size() : line.find(' '));
  size_t end = line.find(" Latency");
  if (end == llvm::StringRef::npos)
    return "";
  llvm::StringRef title = line.take_front(end).trim();
  title.consume_back(" Personalized Exchange");
  std::string name = title.lower();
  if (llvm::StringRef(name).starts_with("all-to-all"))
    return "alltoall" + name.substr(10);
  return name == "broadcast" ? "bcast" : name;
}

Result<std::vector<Measurement>> readOsu(const std::string &name, std::string_view text,
                                         const MeasuredSituation &situation) {
  LineReader lines(name, text);
  std::vector<Measurement> all;
  std::string function, run;
  while (lines.next()) {
    if (std::string named = osuFunction(lines.line()); !named.empty()) {
      function = named;
      run = concat(name, ":", lines.number());
    }
    llvm::StringRef line = lines.line().trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    llvm::SmallVector<llvm::StringRef, 8> cells;
    line.split(cells, ' ', -1, false);
    Measurement m;
    std::optional<uint64_t> bytes = parseWhole<uint64_t>(cells[0]);
    double us = 0;
    if (function.empty() || !bytes || cells.size() < 2 || cells[1].getAsDouble(us) || !(us > 0) ||
        us * kNsPerUs > kMostNs)
      return lines.error("a size and a time are expected, below a line '# OSU MPI ... Latency'");
    m.system = situation.system;
    m.run = run;
    m.function = function;
    m.algorithm = situation.algorithm;
    m.nodes = std::to_string(situation.nodes);
    m.numNodes = situation.nodes;
    m.ranksPerNode = situation.ranksPerNode;
    m.ns = us * kNsPerUs;
    m.bytes = *bytes; // OSU's sizes are those of one block
    if (hasBlocks(function))
      m.bytes *= uint64_t{situation.nodes} * situation.ranksPerNode;
    m.line = lines.number();
    all.push_back(std::move(m));
  }
  return all;
}

Result<std::vector<Measurement>> readProfile(const std::string &name, std::string_view text) {
  Result<MachineProfile> profile = MachineProfile::parse(text);
  if (!profile)
    return Status::error(concat(name, ": ", profile.message()));
  std::vector<Measurement> all;
  for (const TuningPoint &point : profile->points)
    for (const TuningPoint::Entry &entry : point.entries) {
      Measurement m;
      m.system = profile->machine.words();
      m.run = profile->measured;
      m.function = point.function;
      m.algorithm = entry.what.words();
      m.numNodes = std::max(1u, point.nodes);
      m.nodes = std::to_string(m.numNodes);
      m.ranksPerNode = std::max(1u, point.ranks / m.numNodes);
      m.bytes = point.bytes * (hasBlocks(point.function) ? point.ranks : 1);
      m.ns = entry.ns;
      if (m.ns > 0)
        all.push_back(std::move(m));
    }
  return all;
}

} // namespace

bool hasBlocks(std::string_view function) {
  llvm::StringRef name = function;
  name.consume_front("neighbor_");
  return name.starts_with("allgather") || name.starts_with("alltoall") ||
         name.starts_with("gather") || name.starts_with("scatter") ||
         name.starts_with("reduce_scatter");
}

Result<std::vector<Measurement>> readMeasurements(const std::string &name, std::string_view text,
                                                  const MeasuredSituation &situation) {
  llvm::StringRef first = llvm::StringRef(text).ltrim();
  if (first.starts_with("{"))
    return readProfile(name, text);
  if (first.split('\n').first.contains('\t'))
    return PicoReader(name, text).read();
  return readOsu(name, text, situation);
}

} // namespace colldsl::driver
