/// A request for the collective that serves a call of a function, and the reasons.
#pragma once

#include "driver/requests/SingleRequest.h"

namespace colldsl::driver {

struct ChoiceRequest {
  SingleRequest single;
  std::optional<uint32_t> root;
  std::string rules; ///< a file of rules that choose in place of those of the library; empty: none
  bool oversubscribed = false;

  void addTo(Fields &fields);
};

} // namespace colldsl::driver
