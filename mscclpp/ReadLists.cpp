#include "mscclpp/ReadLists.h"

#include "ir/Concat.h"

namespace colldsl::mscclpp {

std::vector<uint32_t> numbers(const Json &list, const JsonPlace &place, uint32_t max,
                              Status &status) {
  std::vector<uint32_t> made;
  for (size_t i = 0; i < list.size() && status; ++i) {
    if (!list[i].is_number_unsigned() || list[i].get<uint64_t>() > max)
      status = place.element(i).error(concat("is no whole number from 0 to ", max));
    else
      made.push_back(list[i].get<uint32_t>());
  }
  return made;
}

std::vector<uint32_t> positions(const Json &list, const JsonPlace &place, size_t count,
                                std::string_view what, Status &status) {
  std::vector<uint32_t> made = numbers(list, place, ~0U, status);
  for (size_t i = 0; i < made.size() && status; ++i)
    if (made[i] >= count)
      status = place.element(i).error(concat("is ", made[i], ", there are ", count, " ", what));
  return status ? made : std::vector<uint32_t>();
}

} // namespace colldsl::mscclpp
