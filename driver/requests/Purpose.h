/// The use of the schedules that a request is for, which its front end knows.
#pragma once

#include <cstdint>

namespace colldsl::driver {

enum class Purpose : uint8_t {
  Make,     ///< to be written, or proved
  Simulate, ///< a machine model has an effect without passes, too
  /// On this machine: --topology applies to schedules from files, too, and rules may see fewer
  /// cores than ranks.
  Run,
  Store, ///< in a library: schedules from files are made for other types, too
};

} // namespace colldsl::driver
