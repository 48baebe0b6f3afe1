#include "program/library/TextProof.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"
#include "ir/OptionList.h"

#include <array>

namespace colldsl {
namespace {

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string> listOf(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty())
    all.emplace_back(trimmed(takePiece(text, ',')));
  return all;
}

/// "'deterministic' and bounds of costs".
std::string wordsOf(const std::vector<std::string> &promises) {
  std::string all;
  for (const std::string &promise : promises)
    all += concat(all.empty() ? "" : " and ", promise);
  return all;
}

std::optional<uint64_t> digestOf(std::string_view word) {
  uint64_t digest = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), digest, 16);
  bool isWhole = error == std::errc() && end == word.data() + word.size();
  return isWhole && word.size() == 16 ? std::optional(digest) : std::nullopt;
}

Result<NamedTextProof> readLine(std::string_view line) {
  std::array<std::string_view, 7> fields;
  for (std::string_view &field : fields)
    field = trimmed(takePiece(line, '|'));
  auto [name, digest, mostRanks, all, commutative, leftOut, structures] = fields;
  NamedTextProof named{std::string(name), {}};
  std::optional<uint64_t> hash = digestOf(digest);
  std::optional<uint32_t> most = parseWhole<uint32_t>(mostRanks);
  if (name.empty() || !hash || !most || !line.empty())
    return Status::error("this is not NAME | DIGEST | RANKS | all | commutative | PROMISES | "
                         "STRUCTURES");
  if ((!all.empty() && all != "all") || (!commutative.empty() && commutative != "commutative"))
    return Status::error(concat("'", all, "' and '", commutative,
                                "' are not 'all' and 'commutative', and not empty"));
  named.proof = {.digest = *hash,
                 .allRanks = !all.empty(),
                 .needsCommutative = !commutative.empty(),
                 .leftOut = listOf(leftOut),
                 .structures = listOf(structures),
                 .mostRanks = *most};
  return named;
}

} // namespace

std::string digestWord(uint64_t digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string word(16, '0');
  for (size_t i = word.size(); i-- > 0; digest >>= 4)
    word[i] = kDigits[digest & 15];
  return word;
}

std::string domainInWords(const TextProof &proof) {
  if (!proof.allRanks)
    return proof.mostRanks == 0 ? ""
                                : concat("1 to ", proof.mostRanks, " ranks, at the values tried");
  return concat("all P", proof.needsCommutative ? ", for operators that commute" : "",
                proof.leftOut.empty() ? "" : ", but for " + wordsOf(proof.leftOut));
}

Result<std::vector<NamedTextProof>> readTextProofs(std::string_view text) {
  std::vector<NamedTextProof> all;
  for (uint32_t number = 1; !text.empty(); ++number) {
    std::string_view line = takePiece(text, '\n');
    if (trimmed(line).empty() || line.starts_with('#'))
      continue;
    Result<NamedTextProof> named = readLine(line);
    if (!named)
      return Status::error(concat("line ", number, ": ", named.message()));
    all.push_back(named.take());
  }
  return all;
}

} // namespace colldsl
