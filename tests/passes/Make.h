/// Schedules for tests: instantiated from text, with sizes and a model to time them.
#pragma once

#include "compiler/Compile.h"
#include "passes/Pass.h"

namespace colldsl {

/// The standard library; never fails.
Compilation &stdlibForTests();

/// What instantiates a collective of the standard library, with arguments as `--set` has them.
Result<InstantiateRequest>
requestForTest(const std::string &name, uint32_t ranks, uint64_t elements,
               const std::vector<std::pair<std::string, std::string>> &arguments = {},
               const Topology *topology = nullptr);

/// A collective of the standard library, with arguments as `--set` has them. An error: it cannot
/// be had so.
Result<Schedule> makeForTest(const std::string &name, uint32_t ranks, uint64_t elements,
                             const std::vector<std::pair<std::string, std::string>> &arguments = {},
                             const Topology *topology = nullptr);

std::vector<Sizes> sizesForTest(const Schedule &schedule);

/// By the simulator, with flat parameters; fails the test if it cannot run.
uint64_t timeForTest(const Schedule &schedule, const LogGop &parameters = {});

/// Empty, or why the schedule is refused.
std::string refusalForTest(const Schedule &schedule);

} // namespace colldsl
