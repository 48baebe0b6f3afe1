/// Tells if a run is over on this rank, which then needs nothing more for it.
#pragma once

#include "transports/Tag.h"

namespace colldsl::protocol {

class RunStatus {
public:
  virtual bool isOverHere(const Tag &tag) const = 0;

protected:
  ~RunStatus() = default;
};

} // namespace colldsl::protocol
