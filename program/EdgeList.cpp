#include "program/EdgeList.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace colldsl {
namespace {

constexpr uint32_t kMaxRank = (1u << 24) - 1;

Status bad(const std::string &path, size_t line, const std::string &what) {
  return Status::error(path + ":" + std::to_string(line) + ": " + what);
}

/// Takes the next word of `text`; empty at its end.
std::string_view takeWord(std::string_view &text) {
  size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos)
    return text = {};
  size_t end = text.find_first_of(" \t\r", begin);
  std::string_view word = text.substr(begin, end - begin);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end);
  return word;
}

bool parseInt(std::string_view word, int64_t &value) {
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size();
}

} // namespace

Result<EdgeList> EdgeList::load(const std::string &path) {
  std::error_code error;
  bool isFile = std::filesystem::is_regular_file(path, error);
  std::ifstream file(path);
  if (!error && !isFile)
    return Status::error("the graph file '" + path + "' is not an ordinary file");
  if (!file)
    return Status::error("cannot read the graph file '" + path + "'");
  std::vector<Line> lines;
  EdgeList list;
  std::string text;
  for (size_t number = 1; std::getline(file, text); ++number) {
    std::string_view rest = text;
    std::string_view from = takeWord(rest), to = takeWord(rest), weight = takeWord(rest);
    if (from.empty() || from[0] == '#' || from[0] == '%')
      continue;
    int64_t f = 0, t = 0, w = 1;
    if (!parseInt(from, f) || !parseInt(to, t) || (!weight.empty() && !parseInt(weight, w)))
      return bad(path, number, "expected 'from to [weight]', found '" + text.substr(0, 60) + "'");
    if (!takeWord(rest).empty())
      return bad(path, number, "more than three numbers on a line");
    if (f < 0 || t < 0 || f > kMaxRank || t > kMaxRank)
      return bad(path, number, "ranks are 0.." + std::to_string(kMaxRank));
    lines.push_back({static_cast<uint32_t>(f), static_cast<uint32_t>(t), w});
    list.numRanks_ = std::max(list.numRanks_, static_cast<uint32_t>(std::max(f, t)) + 1);
  }
  list.out_ = rows(lines, list.numRanks_, false);
  list.in_ = rows(lines, list.numRanks_, true);
  return list;
}

EdgeList::Half EdgeList::rows(std::span<const Line> lines, uint32_t numRanks, bool in) {
  Half half;
  half.begin.assign(size_t{numRanks} + 1, 0);
  for (const Line &line : lines)
    ++half.begin[(in ? line.to : line.from) + 1];
  for (uint32_t r = 0; r < numRanks; ++r)
    half.begin[r + 1] += half.begin[r];
  std::vector<uint64_t> next(half.begin.begin(), half.begin.end() - 1);
  half.edges.resize(lines.size());
  for (const Line &line : lines)
    half.edges[next[in ? line.to : line.from]++] = {in ? line.from : line.to, line.weight};
  return half;
}

std::span<const EdgeList::Edge> EdgeList::edges(const Half &half, uint32_t rank) {
  if (rank + 1 >= half.begin.size())
    return {};
  return {half.edges.data() + half.begin[rank], half.begin[rank + 1] - half.begin[rank]};
}

} // namespace colldsl
