/// Bootstrap over out-of-band collectives, for ranks that share nothing. Each exchange is two
/// allgathers: of lengths, and of what all ranks have for each other, of which the same bytes for
/// neighbouring ranks are sent once. How long it takes is bounded by it.
#pragma once

#include "wireup/Bootstrap.h"
#include "wireup/Oob.h"

namespace colldsl {

class OobBootstrap : public Bootstrap {
public:
  /// `oob` outlives it.
  explicit OobBootstrap(const Oob &oob) : oob_(oob) {}

  Status exchange(std::span<const BootstrapData> out, std::span<BootstrapData> in) override;
  Status barrier() override;

private:
  const Oob &oob_;
};

} // namespace colldsl
