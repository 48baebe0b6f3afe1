/// Proves what `synchronizes` promises: no rank finishes before all have started.
///
/// A rank *has heard of* another one where it has waited, directly or not, for a message that the
/// other rank started. A claim says of which ranks each operation has heard when it ends. Claims
/// are proved from those of the operations that end before: the sender's, and those that
/// `requires` names. Order.h has shown that no operation waits for itself, so this is an induction.
#pragma once

#include "parameterized/Messages.h"

namespace colldsl::parameterized {

/// True if every rank has heard of all others when it finishes.
bool synchronizes(const Body &body, const Messages &messages, Prover &prover, const Axioms &axioms,
                  const Ranks &ranks);

/// The ranks of which a rank has heard when it finishes: those below it in the tree, the root.
std::set<Heard> heardAlong(const Tree &tree, const Body &body, const Messages &messages,
                           Prover &prover, const Axioms &axioms, const Ranks &ranks);

} // namespace colldsl::parameterized
