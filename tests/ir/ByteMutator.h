/// Changes inputs byte by byte, knowing nothing of what they mean.
#pragma once

#include "tests/ir/Fuzz.h"

#include <random>

namespace colldsl {

class ByteMutator {
public:
  explicit ByteMutator(uint64_t seed) : engine_(seed) {}

  /// One of the corpus, changed a few times.
  FuzzInput mutate(const std::vector<FuzzInput> &corpus);

  /// One change; parts may come from the corpus.
  void change(FuzzInput &input, const std::vector<FuzzInput> &corpus);
  /// One change that leaves the size as it is, within [begin, end).
  void changeInPlace(FuzzInput &input, size_t begin, size_t end);

  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : engine_() % limit; }
  /// A number that breaks things: a power of two, one less, a small one.
  uint64_t edge();

private:
  void overwrite(FuzzInput &input, uint64_t value, size_t width, size_t begin, size_t end);
  void nudge(FuzzInput &input, size_t width, size_t begin, size_t end);
  /// Where to write; no place: end. Fields are aligned, so mostly there.
  size_t place(size_t width, size_t begin, size_t end);
  void insertWord(FuzzInput &input);
  void copyInside(FuzzInput &input);
  void splice(FuzzInput &input, const FuzzInput &other);
  void erase(FuzzInput &input);

  std::mt19937_64 engine_;
};

} // namespace colldsl
