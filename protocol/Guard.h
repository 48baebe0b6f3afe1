/// The lock of a worker that several threads may use.
#pragma once

#include <mutex>

namespace colldsl::protocol {

/// Locks the guard; holds nothing if there is none.
inline std::unique_lock<std::mutex> lockIf(std::mutex *guard) {
  return guard ? std::unique_lock(*guard) : std::unique_lock<std::mutex>();
}

} // namespace colldsl::protocol
