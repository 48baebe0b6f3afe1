/// A state word as transports/Rendezvous.h wants it, in a machine whose steps are single accesses.
#pragma once

#include <atomic>
#include <cstdint>

namespace colldsl::test {

struct RendezvousWord {
  uint32_t *value;
  uint32_t load(std::memory_order) const { return *value; }
  void store(uint32_t to, std::memory_order) { *value = to; }
  bool compare_exchange_strong(uint32_t &expected, uint32_t to, std::memory_order,
                               std::memory_order) {
    bool isEqual = *value == expected;
    (isEqual ? *value : expected) = isEqual ? to : *value;
    return isEqual;
  }
};

} // namespace colldsl::test
