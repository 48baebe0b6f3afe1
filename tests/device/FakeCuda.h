/// The fake device as libcuda.so.1: what tests call beside the driver's functions.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// Begins anew, in an order of this seed.
void fakeCudaReset(uint64_t seed);
/// Begins anew: this copy fails as it runs, and its stream with it.
void fakeCudaFailStreamAt(uint64_t copy);
/// Begins anew: this call of the driver fails this time that it is called.
void fakeCudaFailCall(const char *symbol, uint64_t at);
/// Begins anew: no context can open memory of others.
void fakeCudaResetAlone();
/// Memory of the device, which stays.
void *fakeCudaMemory(size_t bytes);
/// Memory of this context, and of pools, which have no handles.
void *fakeCudaMemoryOf(size_t bytes, uint32_t context);
void *fakeCudaPoolMemory(size_t bytes);
/// Makes the device's first context current in this thread.
void fakeCudaContext();
/// Nonzero: the work of the stream can go on no further.
int fakeCudaSynchronize(void *stream);
/// Empty, or a misuse of the driver; valid until the next call.
const char *fakeCudaMisuse();
uint64_t fakeCudaCopies();
uint64_t fakeCudaBytesToHost();
}
