#include "tests/mutation/Tally.h"

#include <cstdio>
#include <numeric>

namespace colldsl::mutation {
namespace {

constexpr int kNameWidth = 14;
constexpr int kNumberWidth = 17;

std::string row(std::string_view name, const std::vector<std::string> &cells) {
  std::string text(name);
  text.resize(kNameWidth, ' ');
  for (const std::string &cell : cells)
    text += std::string(std::max<int>(1, kNumberWidth - static_cast<int>(cell.size())), ' ') + cell;
  return text + "\n";
}

std::vector<std::string> outcomes(const Counts &c) {
  std::vector<std::string> cells;
  for (uint64_t n :
       {c.mutants, c.wrong, c.refused + c.malformed, c.allHarmless(), c.proved, c.survivors})
    cells.push_back(std::to_string(n));
  return cells;
}

std::vector<std::string> harmless(const Counts &c) {
  std::vector<std::string> cells;
  for (uint64_t n : c.harmless)
    cells.push_back(std::to_string(n));
  cells.push_back(std::to_string(c.malformed));
  return cells;
}

} // namespace

uint64_t Counts::allHarmless() const {
  return std::accumulate(harmless.begin(), harmless.end(), uint64_t{0});
}

void Counts::add(const Counts &other) {
  mutants += other.mutants;
  malformed += other.malformed;
  refused += other.refused;
  proved += other.proved;
  wrong += other.wrong;
  survivors += other.survivors;
  for (unsigned i = 0; i < kProofs; ++i)
    harmless[i] += other.harmless[i];
}

void Tally::add(const Tally &other) {
  for (unsigned i = 0; i < kKinds; ++i)
    ofKind[i].add(other.ofKind[i]);
}

Counts Tally::total() const {
  Counts all;
  for (const Counts &counts : ofKind)
    all.add(counts);
  return all;
}

std::string Tally::tables() const {
  std::string text =
      row("", {"mutants", "wrong", "refused", "refused harmless", "proved", "proved wrong"});
  for (unsigned i = 0; i < kKinds; ++i)
    text += row(spelling(Kind{static_cast<uint8_t>(i)}), outcomes(ofKind[i]));
  text += row("all", outcomes(total()));
  std::vector<std::string> proofs;
  for (unsigned i = 0; i < kProofs; ++i)
    proofs.emplace_back(spelling(proof::Proof{static_cast<uint8_t>(i)}));
  proofs.push_back("image");
  text += "\nrefused, though no order showed anything wrong, by\n" + row("", proofs);
  for (unsigned i = 0; i < kKinds; ++i)
    text += row(spelling(Kind{static_cast<uint8_t>(i)}), harmless(ofKind[i]));
  return text + row("all", harmless(total()));
}

} // namespace colldsl::mutation
