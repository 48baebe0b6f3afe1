/// Which MPI runs, and which of its versions: programs of the standard ABI learn it there alone.
#pragma once

namespace conformance {

/// As one number, 40104 for 4.1.4; 0: it is another MPI.
int openMpiVersion();
int mpichVersion();

inline bool isOpenMpi() { return openMpiVersion() != 0; }

} // namespace conformance
