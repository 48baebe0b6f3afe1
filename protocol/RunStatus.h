/// Which runs this rank needs nothing more for.
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
