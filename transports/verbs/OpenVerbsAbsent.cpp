// Replaces the transport in a build without libibverbs or librdmacm.
#include "transports/verbs/OpenVerbs.h"

namespace colldsl::verbs {
namespace {

const char kAbsent[] =
    "this colldsl was built without libibverbs and librdmacm, and has no transport verbs";

} // namespace

bool isBuiltIn() { return false; }

std::string whyNot(const Options &) { return kAbsent; }

Result<std::unique_ptr<network::Transport>> open(uint32_t, const Options &) {
  return Status::error(kAbsent);
}

} // namespace colldsl::verbs
