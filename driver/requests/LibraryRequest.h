/// A request for a schedule library.
#pragma once

#include "driver/files/FileKind.h"
#include "driver/requests/ProofRequest.h"

namespace colldsl::driver {

struct LibraryRequest {
  ProofRequest proofs; ///< of images, one per number of ranks and size; no ranks: no images
  std::string rules;   ///< a file; empty: those of the standard library, and of imports
  InputForm form;
  bool stdlib = false; ///< also every collective of the standard library
  bool prove = true;

  LibraryRequest();

  void addTo(Fields &fields);
};

} // namespace colldsl::driver
