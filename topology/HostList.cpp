#include "topology/HostList.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"

namespace colldsl {

Status HostList::fail(size_t at, std::string message) {
  column_ = at + 1;
  return Status::error(std::move(message));
}

// Names end at commas outside of brackets.
Status HostList::expand(std::string_view list) {
  size_t begin = 0;
  bool isOpen = false;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[')
      isOpen = true;
    if (i < list.size() && list[i] == ']')
      isOpen = false;
    if (i < list.size() && (list[i] != ',' || isOpen))
      continue;
    if (Status s = parseName(list, begin, i); !s)
      return s;
    begin = i + 1;
  }
  return {};
}

Status HostList::parseName(std::string_view list, size_t begin, size_t end) {
  if (begin == end)
    return fail(begin, "a host has no name");
  std::vector<Part> parts;
  for (size_t at = begin; at < end;) {
    size_t open = std::min(list.find('[', at), end);
    if (size_t stray = list.find(']', at); stray < open)
      return fail(stray, "']' without '['");
    Part part{list.substr(at, open - at), {}};
    at = open;
    if (open < end) {
      size_t close = list.find_first_of("[]", open + 1);
      if (close >= end)
        return fail(open, "'[' is not closed");
      if (list[close] == '[')
        return fail(close, "'[' within brackets");
      if (Status s = parseRanges(list, open + 1, close, part.ranges); !s)
        return s;
      at = close + 1;
    }
    parts.push_back(std::move(part));
  }
  return addNames(parts, begin);
}

/// Parses the ranges between brackets: "001-003,017".
Status HostList::parseRanges(std::string_view list, size_t begin, size_t end,
                             std::vector<Range> &ranges) {
  for (size_t at = begin; at <= end;) {
    size_t next = std::min(list.find(',', at), end);
    std::string_view text = list.substr(at, next - at);
    size_t dash = text.find('-');
    std::string_view low = text.substr(0, dash);
    std::optional<uint64_t> first = parseWhole<uint64_t>(low);
    std::optional<uint64_t> last =
        dash == text.npos ? first : parseWhole<uint64_t>(text.substr(dash + 1));
    if (!first || !last || *first > *last)
      return fail(at, concat("cannot make sense of '", text,
                             "' in brackets: numbers and ranges such as 001-003 stand there"));
    ranges.push_back({*first, *last, low.size()});
    at = next + 1;
  }
  return {};
}

Status HostList::addNames(const std::vector<Part> &parts, size_t begin) {
  uint64_t count = 1;
  for (const Part &part : parts) {
    uint64_t choices = part.ranges.empty() ? 1 : 0;
    for (const Range &range : part.ranges) {
      bool isLarge = range.last - range.first >= limit_ || choices > limit_;
      choices = isLarge ? uint64_t{limit_} + 1 : choices + (range.last - range.first + 1);
    }
    bool overflows = __builtin_mul_overflow(count, choices, &count);
    if (overflows || count > limit_ - names_.size())
      return fail(begin, concat("more than ", limit_, " hosts"));
  }
  std::string name;
  addFrom(parts, 0, name);
  return {};
}

/// Adds all names that begin with `name` and go on with the parts from this one on.
void HostList::addFrom(const std::vector<Part> &parts, size_t part, std::string &name) {
  if (part == parts.size()) {
    names_.push_back(name);
    return;
  }
  size_t length = name.size();
  name += parts[part].text;
  size_t beforeNumber = name.size();
  if (parts[part].ranges.empty())
    addFrom(parts, part + 1, name);
  for (const Range &range : parts[part].ranges)
    for (uint64_t number = range.first;; ++number) {
      std::string digits = std::to_string(number);
      name.resize(beforeNumber);
      name.append(digits.size() < range.width ? range.width - digits.size() : 0, '0');
      name += digits;
      addFrom(parts, part + 1, name);
      if (number == range.last)
        break;
    }
  name.resize(length);
}

} // namespace colldsl
