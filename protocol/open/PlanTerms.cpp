#include "protocol/open/PlanTerms.h"

#include "ir/Concat.h"

#include <cstdio>

namespace colldsl::protocol {
namespace {

constexpr std::string_view kRest = "other values";
constexpr size_t kRestBytes = kRest.size() + 20; // '=', '#', 16 digits, end of line, one spare
constexpr size_t kLongestValue = 56;
constexpr size_t kKeptOfValue = 32;

std::string hashWord(uint64_t hash) {
  char word[24];
  std::snprintf(word, sizeof word, "#%016llx", static_cast<unsigned long long>(hash));
  return word;
}

/// The next line, which is taken from the text.
std::string_view takeLine(std::string_view &text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::string_view nameOf(std::string_view line) { return line.substr(0, line.find('=')); }
std::string_view valueOf(std::string_view line) {
  size_t sign = line.find('=');
  return sign == line.npos ? std::string_view() : line.substr(sign + 1);
}

/// Empty: there is none.
std::string_view findLine(std::string_view text, std::string_view name) {
  while (!text.empty())
    if (std::string_view line = takeLine(text); nameOf(line) == name)
      return line;
  return {};
}

std::string side(Rank rank, std::string_view line) {
  std::string_view value = line.empty() ? std::string_view("none") : valueOf(line);
  return concat(value, " on rank ", index(rank));
}

} // namespace

void PlanTerms::add(std::string_view name, std::string_view value) {
  std::string line(name);
  line += '=';
  line += value.size() <= kLongestValue
              ? std::string(value)
              : concat(value.substr(0, kKeptOfValue), "... ", hashWord(hashOfTerms(value)));
  line += '\n';
  hasRest_ |= text_.size() + line.size() + kRestBytes > kMaxBytes;
  if (hasRest_)
    restHash_ = hashOfTerms(line) ^ (restHash_ * 0x100000001b3u);
  else
    text_ += line;
}

std::string PlanTerms::text() const {
  return hasRest_ ? concat(text_, kRest, "=", hashWord(restHash_), "\n") : text_;
}

// FNV-1a.
uint64_t hashOfTerms(std::string_view terms) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : terms)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// A term that only the other side has differs too.
Status compareTerms(Rank a, std::string_view ofA, Rank b, std::string_view ofB) {
  if (ofA == ofB)
    return {};
  std::string_view name;
  for (std::string_view rest = ofA; !rest.empty() && name.empty();)
    if (std::string_view line = takeLine(rest); findLine(ofB, nameOf(line)) != line)
      name = nameOf(line);
  for (std::string_view rest = ofB; !rest.empty() && name.empty();)
    if (std::string_view line = takeLine(rest); findLine(ofA, nameOf(line)).empty())
      name = nameOf(line);
  return Status::error(concat("rank ", index(a), " and rank ", index(b), " disagree on the ", name,
                              ": ", side(a, findLine(ofA, name)), ", ",
                              side(b, findLine(ofB, name))));
}

} // namespace colldsl::protocol
