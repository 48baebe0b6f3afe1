/// A machine that runs algorithms of MSCCL as its runtime does, step by step, in an order
/// that chance decides. It shares no code with what reads and writes them.
#pragma once

#include "formats/Msccl.h"

#include <string>

namespace colldsl::msccl {

/// Runs the algorithm: chunks are sums of entry values, a channel holds two of them, a
/// step of several chunks moves one after the other, and a step that waits for another one reads
/// the semaphore of its threadblock. Returns what is wrong: that nothing can go on, or a chunk that
/// violates the postcondition of the collective; empty if nothing is.
std::string runMachine(const Algorithm &algorithm, uint64_t seed);

} // namespace colldsl::msccl
