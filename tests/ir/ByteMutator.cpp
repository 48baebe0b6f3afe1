#include "tests/ir/ByteMutator.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace colldsl {
namespace {

constexpr uint64_t kEdges[] = {0,
                               1,
                               2,
                               7,
                               0x7f,
                               0x80,
                               0xff,
                               0xffff,
                               0x10000,
                               0x7fffffff,
                               0x80000000,
                               0xffffffff,
                               uint64_t{1} << 32,
                               INT64_MAX,
                               uint64_t{1} << 63,
                               UINT64_MAX};

constexpr const char *kWords[] = {
    "num_ranks", "rank ", "{",  "}",  "\n", "requires", " tag -1",
    "nth ",      "..",    "[",  "]",  "#2", "/0",       "99999999999999999999",
    "n",         "@1:1",  "\"", "/*", "//", "ensures "};

} // namespace

FuzzInput ByteMutator::mutate(const std::vector<FuzzInput> &corpus) {
  FuzzInput input = corpus[below(corpus.size())];
  for (uint64_t left = 1 + below(6); left > 0; --left)
    change(input, corpus);
  return input;
}

uint64_t ByteMutator::edge() { return kEdges[below(std::size(kEdges))]; }

void ByteMutator::change(FuzzInput &input, const std::vector<FuzzInput> &corpus) {
  switch (below(8)) {
  case 0:
  case 1:
  case 2:
  case 3:
    return changeInPlace(input, 0, input.size());
  case 4:
    return insertWord(input);
  case 5:
    return copyInside(input);
  case 6:
    return splice(input, corpus[below(corpus.size())]);
  case 7:
    return erase(input);
  }
}

void ByteMutator::changeInPlace(FuzzInput &input, size_t begin, size_t end) {
  size_t width = size_t{1} << below(4);
  switch (below(4)) {
  case 0:
    if (begin < end)
      input[begin + below(end - begin)] ^= static_cast<uint8_t>(1u << below(8));
    return;
  case 1:
    return overwrite(input, edge(), width, begin, end);
  case 2:
    return overwrite(input, engine_(), width, begin, end);
  case 3:
    return nudge(input, width, begin, end);
  }
}

size_t ByteMutator::place(size_t width, size_t begin, size_t end) {
  if (end - begin < width)
    return end;
  size_t at = begin + below(end - begin - width + 1);
  if (size_t aligned = at / width * width; below(4) != 0 && aligned >= begin)
    at = aligned;
  return at;
}

void ByteMutator::overwrite(FuzzInput &input, uint64_t value, size_t width, size_t begin,
                            size_t end) {
  if (size_t at = place(width, begin, end); at != end)
    std::memcpy(input.data() + at, &value, width);
}

void ByteMutator::nudge(FuzzInput &input, size_t width, size_t begin, size_t end) {
  size_t at = place(width, begin, end);
  if (at == end)
    return;
  uint64_t value = 0;
  std::memcpy(&value, input.data() + at, width);
  value += below(2) != 0 ? 1 + below(8) : uint64_t{0} - 1 - below(8);
  std::memcpy(input.data() + at, &value, width);
}

void ByteMutator::insertWord(FuzzInput &input) {
  const char *word = kWords[below(std::size(kWords))];
  auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
  input.insert(input.begin() + at, word, word + std::strlen(word));
}

void ByteMutator::copyInside(FuzzInput &input) {
  uint64_t size = 1 + below(64);
  if (input.size() <= size)
    return;
  uint64_t from = below(input.size() - size);
  uint64_t to = below(input.size() - size);
  std::memmove(input.data() + to, input.data() + from, size);
}

void ByteMutator::splice(FuzzInput &input, const FuzzInput &other) {
  uint64_t at = below(std::min(input.size(), other.size()) + 1);
  auto cut = static_cast<std::ptrdiff_t>(at);
  input.erase(input.begin() + cut, input.end());
  input.insert(input.end(), other.begin() + cut, other.end());
}

void ByteMutator::erase(FuzzInput &input) {
  uint64_t begin = below(input.size() + 1);
  uint64_t size = std::min<uint64_t>(input.size() - begin, below(32));
  auto at = input.begin() + static_cast<std::ptrdiff_t>(begin);
  input.erase(at, at + static_cast<std::ptrdiff_t>(size));
}

} // namespace colldsl
