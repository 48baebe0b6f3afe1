// Chakra's traces where colldsl was built without protobuf.
#include "formats/Chakra.h"

namespace colldsl::chakra {
namespace {

Status absent() {
  return Status::error("traces of Chakra take protobuf, without which colldsl was built");
}

} // namespace

bool isTrace(std::string_view) { return false; }

Result<std::vector<std::string>> encode(const Schedule &, GoalOptions) { return absent(); }

Result<Schedule> decode(std::span<const std::string_view>, std::string_view, TextLimits) {
  return absent();
}

} // namespace colldsl::chakra
