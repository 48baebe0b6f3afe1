#include "instantiate/graphs/GraphFile.h"

#include "instantiate/graphs/Partition.h"

#include <algorithm>
#include <cctype>

namespace colldsl {
namespace {

bool isMatrixMarket(const std::string &line) {
  constexpr std::string_view banner = "%%matrixmarket";
  return line.size() >= banner.size() &&
         std::equal(banner.begin(), banner.end(), line.begin(),
                    [](char b, unsigned char c) { return b == std::tolower(c); });
}

} // namespace

Result<GraphFile> GraphFile::load(const std::string &path) {
  GraphFile file;
  file.path_ = path;
  Result<GraphFileLines> lines = GraphFileLines::open(path);
  if (!lines)
    return lines.status();
  file.isGraph_ = path.ends_with(".graph");
  if (file.isGraph_ || path.ends_with(".mtx") || (lines->next() && isMatrixMarket(lines->line()))) {
    lines = GraphFileLines::open(path); // from the beginning
    if (!lines)
      return lines.status();
    Result<SparseMatrix> matrix = file.isGraph_ ? readMetisGraph(*lines) : readMatrixMarket(*lines);
    if (!matrix)
      return matrix.status();
    file.matrix_ = matrix.take();
    return file;
  }
  lines = GraphFileLines::open(path);
  if (!lines)
    return lines.status();
  Result<EdgeList> list = EdgeList::read(*lines);
  if (!list)
    return list.status();
  file.isList_ = true;
  file.list_ = list.take();
  return file;
}

Result<const EdgeList *> GraphFile::edges(uint32_t numRanks) {
  if (isList_)
    return &list_;
  auto [it, isNew] = partitioned_.try_emplace(numRanks);
  if (!isNew)
    return &it->second;
  if (isGraph_ && matrix_.numRows <= numRanks) {
    it->second = edgesOfEntries(matrix_);
    return &it->second;
  }
  Result<std::vector<uint32_t>> owner = partitionRows(matrix_, numRanks);
  if (!owner) {
    partitioned_.erase(it);
    return Status::error("the graph file '" + path_ + "': " + owner.message());
  }
  it->second = haloOf(matrix_, *owner, numRanks);
  return &it->second;
}

} // namespace colldsl
