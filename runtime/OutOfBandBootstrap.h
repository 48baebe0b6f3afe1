/// Bootstrap over what a launcher offers, for ranks that share nothing. Each exchange is two
/// allgathers: of lengths, and of what all ranks have for each other, of which alike parcels for
/// neighbouring ranks are one. How long it takes is bounded by the launcher.
#pragma once

#include "runtime/WireUp.h"
#include "transports/Bootstrap.h"

namespace colldsl {

class OutOfBandBootstrap : public Bootstrap {
public:
  /// The launcher outlives it.
  explicit OutOfBandBootstrap(const OutOfBand &launcher) : launcher_(launcher) {}

  Status exchange(std::span<const Parcel> out, std::span<Parcel> in) override;
  Status barrier() override;

private:
  const OutOfBand &launcher_;
};

} // namespace colldsl
