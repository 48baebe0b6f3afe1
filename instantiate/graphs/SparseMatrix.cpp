// Reads sparse matrices and graphs from files. Nothing is allocated for what a header
// claims before the file has shown it, but for the row pointers.
#include "instantiate/graphs/SparseMatrix.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace colldsl {
namespace {

struct Entry {
  uint32_t row, column;
  friend auto operator<=>(const Entry &, const Entry &) = default;
};

struct Banner {
  int numbersPerEntry = 0; ///< beside row and column
  bool isSymmetric = false;
  bool hasDiagonal = true; ///< skew-symmetric matrices have none
};

std::string lowerCase(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool isReal(std::string_view word) {
  if (word.starts_with('+'))
    word.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error != std::errc::invalid_argument && end == word.data() + word.size();
}

Status readBanner(GraphFileLines &lines, Banner &banner) {
  lines.next();
  if (lowerCase(lines.word()) != "%%matrixmarket" || lowerCase(lines.word()) != "matrix" ||
      lowerCase(lines.word()) != "coordinate")
    return lines.expected("'%%MatrixMarket matrix coordinate'");
  std::string field = lowerCase(lines.word()), symmetry = lowerCase(lines.word());
  if (field == "real" || field == "integer" || field == "double")
    banner.numbersPerEntry = 1;
  else if (field == "complex")
    banner.numbersPerEntry = 2;
  else if (field != "pattern")
    return lines.error("expected real, integer, complex or pattern, found '" + field.substr(0, 60) +
                       "'");
  banner.isSymmetric =
      symmetry == "symmetric" || symmetry == "skew-symmetric" || symmetry == "hermitian";
  banner.hasDiagonal = symmetry != "skew-symmetric";
  if (!banner.isSymmetric && symmetry != "general")
    return lines.error("expected general, symmetric, skew-symmetric or hermitian, found '" +
                       symmetry.substr(0, 60) + "'");
  return lines.end();
}

Status readEntry(GraphFileLines &lines, const Banner &banner, int64_t size, Entry &entry) {
  int64_t row = 0, column = 0;
  if (Status s = lines.number("a row", 1, size, row); !s)
    return s;
  if (Status s = lines.number("a column", 1, size, column); !s)
    return s;
  for (int i = 0; i < banner.numbersPerEntry; ++i)
    if (!isReal(lines.word()))
      return lines.expected(banner.numbersPerEntry == 1 ? "'row column value'"
                                                        : "'row column real imaginary'");
  if (banner.isSymmetric && (column > row || (column == row && !banner.hasDiagonal)))
    return lines.expected(banner.hasDiagonal ? "an entry on or below the diagonal"
                                             : "an entry below the diagonal");
  entry = {static_cast<uint32_t>(row - 1), static_cast<uint32_t>(column - 1)};
  return lines.end();
}

SparseMatrix compress(std::vector<Entry> &entries, uint32_t numRows) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  SparseMatrix matrix;
  matrix.numRows = numRows;
  matrix.begin.assign(size_t{numRows} + 1, 0);
  matrix.columns.reserve(entries.size());
  for (const Entry &entry : entries) {
    ++matrix.begin[entry.row + 1];
    matrix.columns.push_back(entry.column);
  }
  for (uint32_t i = 0; i < numRows; ++i)
    matrix.begin[i + 1] += matrix.begin[i];
  return matrix;
}

/// The header of a METIS graph.
struct MetisHeader {
  int64_t numVertices = 0, numEdges = 0;
  bool hasSizes = false, hasVertexWeights = false, hasEdgeWeights = false;
  int64_t weightsPerVertex = 1;
};

Status readMetisHeader(GraphFileLines &lines, MetisHeader &header) {
  if (!lines.nextContent(true))
    return lines.endedBefore("'vertices edges [format [weights]]'");
  constexpr auto kMaxEdges = static_cast<int64_t>(SparseMatrix::kMaxEntries / 2);
  if (Status s = lines.number("the vertices", 0, SparseMatrix::kMaxRows, header.numVertices); !s)
    return s;
  if (Status s = lines.number("the edges", 0, kMaxEdges, header.numEdges); !s)
    return s;
  std::string_view format = lines.word();
  if (format.empty())
    return {};
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos)
    return lines.error("expected a format of up to three digits 0 or 1, found '" +
                       std::string(format.substr(0, 60)) + "'");
  auto digit = [&](size_t fromRight) {
    return format.size() > fromRight && format[format.size() - 1 - fromRight] == '1';
  };
  header.hasEdgeWeights = digit(0);
  header.hasVertexWeights = digit(1);
  header.hasSizes = digit(2);
  std::string_view rest = lines.line();
  for (int i = 0; i < 3; ++i)
    takeWord(rest);
  if (takeWord(rest).empty())
    return {};
  if (Status s = lines.number("the weights of a vertex", 1, 16, header.weightsPerVertex); !s)
    return s;
  return lines.end();
}

Status readVertex(GraphFileLines &lines, const MetisHeader &header, SparseMatrix &graph) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  int64_t value = 0;
  if (header.hasSizes)
    if (Status s = lines.number("the size of a vertex", 0, kMax, value); !s)
      return s;
  for (int64_t i = 0; header.hasVertexWeights && i < header.weightsPerVertex; ++i) {
    if (Status s = lines.number("the weight of a vertex", 0, kMax, value); !s)
      return s;
    graph.rowWeights.push_back(static_cast<int32_t>(value));
  }
  auto me = static_cast<int64_t>(graph.begin.size());
  for (std::string_view rest = lines.rest(); !takeWord(rest).empty(); rest = lines.rest()) {
    if (Status s = lines.number("a neighbour", 1, header.numVertices, value); !s)
      return s;
    if (value == me)
      return lines.error("expected another vertex, found vertex " + std::to_string(me) +
                         " as its own neighbour");
    graph.columns.push_back(static_cast<uint32_t>(value - 1));
    if (!header.hasEdgeWeights)
      continue;
    if (Status s = lines.number("the weight of an edge", 1, kMax, value); !s)
      return s;
    graph.entryWeights.push_back(static_cast<int32_t>(value));
  }
  if (graph.columns.size() > 2 * static_cast<uint64_t>(header.numEdges))
    return lines.error("expected " + std::to_string(header.numEdges) +
                       " edges, each from both sides, found more");
  graph.begin.push_back(graph.columns.size());
  return {};
}

/// Every edge must be there from both sides, with one weight.
Status checkBothSides(const std::string &path, const SparseMatrix &graph) {
  struct Side {
    uint32_t from, to;
    int32_t weight;
    auto operator<=>(const Side &) const = default;
  };
  std::vector<Side> out, in;
  out.reserve(graph.columns.size());
  in.reserve(graph.columns.size());
  for (uint32_t v = 0; v < graph.numRows; ++v)
    for (uint64_t k = graph.begin[v]; k < graph.begin[v + 1]; ++k) {
      int32_t weight = graph.entryWeights.empty() ? 1 : graph.entryWeights[k];
      out.push_back({v, graph.columns[k], weight});
      in.push_back({graph.columns[k], v, weight});
    }
  std::sort(out.begin(), out.end());
  std::sort(in.begin(), in.end());
  auto [o, i] = std::mismatch(out.begin(), out.end(), in.begin());
  if (o == out.end())
    return {};
  const Side &only = std::min(*o, *i);
  bool isOut = *o < *i;
  return Status::error(
      "graph file " + path + ": expected each edge from both sides, found that between vertices " +
      std::to_string(only.from + 1) + " and " + std::to_string(only.to + 1) +
      " with this weight at vertex " + std::to_string((isOut ? only.from : only.to) + 1) + " only");
}

} // namespace

Result<SparseMatrix> readMatrixMarket(GraphFileLines &lines) {
  Banner banner;
  if (Status s = readBanner(lines, banner); !s)
    return s;
  if (!lines.nextContent(true))
    return lines.endedBefore("'rows columns entries'");
  int64_t numRows = 0, numColumns = 0, numEntries = 0;
  if (Status s = lines.number("the rows", 0, SparseMatrix::kMaxRows, numRows); !s)
    return s;
  if (Status s = lines.number("the columns", 0, SparseMatrix::kMaxRows, numColumns); !s)
    return s;
  constexpr auto kMaxEntries = static_cast<int64_t>(SparseMatrix::kMaxEntries / 2);
  if (Status s = lines.number("the entries", 0, kMaxEntries, numEntries); !s)
    return s;
  if (Status s = lines.end(); !s)
    return s;
  if (numRows != numColumns)
    return lines.error("expected a square matrix, found " + std::to_string(numRows) + " rows and " +
                       std::to_string(numColumns) + " columns");
  std::vector<Entry> entries;
  for (int64_t i = 0; i < numEntries; ++i) {
    if (!lines.nextContent(true))
      return lines.endedBefore("entry " + std::to_string(i + 1) + " of " +
                               std::to_string(numEntries));
    Entry entry;
    if (Status s = readEntry(lines, banner, numRows, entry); !s)
      return s;
    entries.push_back(entry);
    if (banner.isSymmetric && entry.row != entry.column)
      entries.push_back({entry.column, entry.row});
  }
  if (lines.nextContent(true))
    return lines.expected("nothing after " + std::to_string(numEntries) + " entries");
  return compress(entries, static_cast<uint32_t>(numRows));
}

Result<SparseMatrix> readMetisGraph(GraphFileLines &lines) {
  MetisHeader header;
  if (Status s = readMetisHeader(lines, header); !s)
    return s;
  SparseMatrix graph;
  graph.numRows = static_cast<uint32_t>(header.numVertices);
  graph.weightsPerRow = static_cast<uint32_t>(header.weightsPerVertex);
  graph.begin.push_back(0);
  for (int64_t v = 0; v < header.numVertices; ++v) {
    if (!lines.nextContent(false))
      return lines.endedBefore("vertex " + std::to_string(v + 1) + " of " +
                               std::to_string(header.numVertices));
    if (Status s = readVertex(lines, header, graph); !s)
      return s;
  }
  if (lines.nextContent(true))
    return lines.expected("nothing after " + std::to_string(header.numVertices) + " vertices");
  if (graph.columns.size() != 2 * static_cast<uint64_t>(header.numEdges))
    return lines.error("expected " + std::to_string(header.numEdges) +
                       " edges, each from both sides, found " +
                       std::to_string(graph.columns.size()) + " neighbours in all");
  if (Status s = checkBothSides(lines.path(), graph); !s)
    return s;
  return graph;
}

EdgeList edgesOfEntries(const SparseMatrix &matrix) {
  std::vector<EdgeList::Line> lines;
  for (uint32_t i = 0; i < matrix.numRows; ++i)
    for (uint64_t k = matrix.begin[i]; k < matrix.begin[i + 1]; ++k)
      lines.push_back({i, matrix.columns[k],
                       matrix.entryWeights.empty() ? 1 : int64_t{matrix.entryWeights[k]}});
  return EdgeList::of(lines, matrix.numRows);
}

} // namespace colldsl
