/// How a rank comes to an endpoint over a network. Internal to the transports that have one.
#pragma once

#include "transports/network/NetworkEndpoint.h"
#include "transports/shm/World.h"

namespace colldsl::network {

/// A rank of those that a bootstrap brings together. Waits for all others; if one cannot come, none
/// can, and all are told why: `carrier` is an error where this one cannot.
Result<std::unique_ptr<Endpoint>> attach(Bootstrap &bootstrap, Rank rank, uint32_t numRanks,
                                         const Options &options,
                                         Result<std::unique_ptr<Carrier>> carrier);

/// A rank of a world of this machine, which is used to find the others and for nothing else.
/// `attach` joins the bootstrap.
Result<std::unique_ptr<Endpoint>>
attachTo(shm::World &world, Rank rank,
         const std::function<Result<std::unique_ptr<Endpoint>>(Bootstrap &)> &attach);

} // namespace colldsl::network
