/// The end of the program when an allocation fails.
#pragma once

namespace colldsl::tools {

/// From now on a failed allocation, of the standard library or LLVM, in any thread of this
/// process, ends it with one message and exit code 1, and removes the files that were being
/// written. In forked processes it throws std::bad_alloc as usual.
void endWhenMemoryRunsOut();

/// Ends the process at once, with the message, exit code and clean-up of endWhenMemoryRunsOut().
[[noreturn]] void endForLackOfMemory();

} // namespace colldsl::tools
