/// The plans that this rank has open, of those that all ranks of a world open together in the same
/// order. Other ranks read them: no rank needs the failure of a plan that none has open, or will
/// open. Not thread safe.
#pragma once

#include "transports/shm/World.h"

#include <new>
#include <vector>

namespace colldsl::shm {

class OpenPlans {
public:
  OpenPlans(World &world, Rank self) : world_(world), control_(world.control(self)) {}

  /// Opens the next plan. `allocate(bytes)` returns an offset of shared memory of this rank, kNone
  /// if there is none.
  template <typename Allocate> void open(uint32_t plan, Allocate allocate) {
    OpenPlan *entry = free_.empty() ? make(allocate) : free_.back();
    if (!entry)
      return; // opened() stays behind: this rank may need all that follow
    if (!free_.empty())
      free_.pop_back();
    entry->number.store(plan + 1, std::memory_order_release);
    open_.push_back(entry);
    if (control_.plansOpened.load(std::memory_order_relaxed) == plan)
      control_.plansOpened.store(plan + 1, std::memory_order_release);
  }

  void close(uint32_t plan) {
    for (OpenPlan *&entry : open_)
      if (entry->number.load(std::memory_order_relaxed) == plan + 1) {
        entry->number.store(0, std::memory_order_release);
        free_.push_back(entry);
        entry = open_.back();
        open_.pop_back();
        return;
      }
  }

  static constexpr uint64_t kNone = UINT64_MAX;

private:
  template <typename Allocate> OpenPlan *make(Allocate allocate) {
    uint64_t offset = allocate(sizeof(OpenPlan));
    if (offset == kNone)
      return nullptr;
    auto *entry = new (world_.at(offset)) OpenPlan();
    entry->next = control_.openPlans.load(std::memory_order_relaxed);
    control_.openPlans.store(offset, std::memory_order_release);
    return entry;
  }

  World &world_;
  RankControl &control_;
  std::vector<OpenPlan *> open_, free_;
};

} // namespace colldsl::shm
