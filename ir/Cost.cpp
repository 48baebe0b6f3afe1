#include "ir/Cost.h"

namespace colldsl {

std::string_view spelling(Cost cost) {
  switch (cost) {
#define COLLDSL_COST(Name, spelling, unit, summary)                                                \
  case Cost::Name:                                                                                 \
    return spelling;
#include "ir/Costs.def"
  }
  return {};
}

std::string_view unit(Cost cost) {
  switch (cost) {
#define COLLDSL_COST(Name, spelling, unit, summary)                                                \
  case Cost::Name:                                                                                 \
    return unit;
#include "ir/Costs.def"
  }
  return {};
}

std::optional<Cost> parseCost(std::string_view text) {
#define COLLDSL_COST(Name, spelling, unit, summary)                                                \
  if (text == spelling)                                                                            \
    return Cost::Name;
#include "ir/Costs.def"
  return std::nullopt;
}

} // namespace colldsl
