/// What the program does when an allocation fails.
#pragma once

namespace colldsl::tools {

/// From now on a failed allocation, of the standard library's or LLVM's, in any thread of
/// this process, ends it with one message and exit code 1, without the files that were being
/// written. In processes that are forked from it, it throws std::bad_alloc as usual.
void endWhenMemoryRunsOut();

/// The same, at once.
[[noreturn]] void endForLackOfMemory();

} // namespace colldsl::tools
