/// The fourth proof: at the end of the symbolic run the buffers hold what each `ensures` promises.
/// Bytes that are promised but were never written fail the fifth.
#pragma once

#include "verifier/DiagnosticNames.h"
#include "verifier/Failures.h"
#include "verifier/State.h"
#include "verifier/Usefulness.h"

namespace colldsl::proof {

/// state: at exit. Returns the places of the promises that had bytes to compare, each once.
/// `usefulness`, unless it is null, learns the writers of promised bytes.
std::vector<SourceLoc> checkPostconditions(const Model &model, const Placement &placement,
                                           const State &state, Values &values,
                                           const DiagnosticNames &names, Failures &failures,
                                           Usefulness *usefulness = nullptr);

} // namespace colldsl::proof
