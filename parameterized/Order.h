/// Deadlock, for all ranks at once: a time for each message and each local operation, as a list of
/// numbers that are compared one after the other. Every operation waits for earlier times only, so
/// nothing waits for itself.
#pragma once

#include "parameterized/Messages.h"

namespace colldsl::parameterized {

/// Proves that there are such times. Both ends of a message have one time, as if neither finished
/// before the other started; the messages from one rank to another have times in the order of the
/// text, as if they passed through a channel of one slot.
void proveOrder(Body &body, const Messages &messages, Prover &prover, const Axioms &axioms,
                const Ranks &ranks);

} // namespace colldsl::parameterized
