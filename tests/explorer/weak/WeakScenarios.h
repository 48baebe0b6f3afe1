/// What is walked under weak memory: the ends of FIFOs, rendezvous, static messages, sleeps and
/// tables of transports/shm, each by the code that runs.
#pragma once

#include "tests/explorer/weak/WeakExplorer.h"

#include <span>

namespace colldsl::test::weak {

struct NamedScenario {
  const char *name;
  std::unique_ptr<Scenario> (*make)();
};

std::span<const NamedScenario> allScenarios();

} // namespace colldsl::test::weak
