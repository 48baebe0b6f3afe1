/// Options of the transport over TCP.
#pragma once

#include "transports/network/NetworkOptions.h"

namespace colldsl::tcp {

struct Options : network::Options {};

} // namespace colldsl::tcp
