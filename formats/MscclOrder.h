/// The order of steps. Internal to formats.
///
/// A message is one event on both of its ranks, any other step one of its own. Events get
/// levels: each a higher one than all that it waits for, and than the message before it
/// on its connection. Each threadblock does its steps by level, and within one level
/// first what is local, then sends, then receives. So both ends of a connection see its
/// messages in the same order, and no threadblock waits for ever: of all steps that are
/// not over the first in this order waits for none but those before it.
///
/// Example: a ring, in which all ranks send one chunk on, then what came, and so on. Its
/// rounds are the levels, and every rank sends before it receives.
#pragma once

#include "formats/MscclNodes.h"

namespace colldsl::msccl {

/// Gives messages their channels: as few blocks of peers as the limit allows, of `channelsPerBlock`
/// each. The messages of a pair of ranks take the channels of a block in turn, so that all channels
/// advance alike, and a transport that has one channel for them still takes them in order. Returns
/// the number of channels.
uint32_t assignChannels(Nodes &nodes, uint32_t channelsPerBlock);

/// Gives nodes their levels. False: there is a cycle, and `nodes` has at least one that
/// is on it or behind it, at level UINT32_MAX.
bool assignLevels(Nodes &nodes);

/// The place of a node in the order of its rank. A send that was joined to a receive has the place
/// of the receive.
std::tuple<uint32_t, uint32_t, OpId, uint32_t> placeInOrder(const Nodes &nodes, uint32_t node);

} // namespace colldsl::msccl
