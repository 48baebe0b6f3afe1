/// Bootstrap over out-of-band collectives, for ranks that share nothing. Each exchange is two
/// allgathers: of lengths, and of the bytes of all ranks for each other; equal bytes for
/// neighbouring ranks are sent once. The collectives bound the time that an exchange takes.
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
