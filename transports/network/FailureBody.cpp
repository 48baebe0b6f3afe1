// Notifications of failures between ranks.
#include "transports/network/FailureBody.h"

#include <algorithm>
#include <cstring>

namespace colldsl::network {

FailureBody failureBody(bool isOfAll, Rank root, const Fault &fault) {
  FailureBody body = {};
  body.isOfAll = isOfAll;
  body.culprit = fault.peer;
  body.root = root;
  body.kind = fault.kind;
  std::copy_n(fault.reason.begin(), std::min(fault.reason.size(), sizeof body.reason - 1),
              body.reason);
  return body;
}

std::optional<FailureBody> readFailure(std::span<const std::byte> bytes) {
  FailureBody body;
  if (bytes.size() != sizeof body)
    return std::nullopt;
  std::memcpy(&body, bytes.data(), sizeof body);
  body.reason[sizeof body.reason - 1] = '\0';
  if (body.kind > ErrorKind::Overlap)
    return std::nullopt;
  return body;
}

} // namespace colldsl::network
