#include "protocol/RemoteContext.h"

#include <gtest/gtest.h>

namespace colldsl::protocol {
namespace {

// Nothing is called through it.
RemoteReceiver *const kReceiver = reinterpret_cast<RemoteReceiver *>(8);

TicketTable::Ticket ticketFor(uint32_t run) {
  TicketTable::Ticket ticket;
  ticket.receiver = kReceiver;
  ticket.tag.run = run;
  return ticket;
}

TEST(TicketTable, aNameIsOfOneUse) {
  TicketTable table;
  uint32_t place = table.add(ticketFor(1), {});
  uint32_t name = table.nameOf(place);
  EXPECT_EQ(table.take(name).tag.run, 1u);
  EXPECT_EQ(table.take(name).receiver, nullptr) << "twice";
  uint32_t again = table.add(ticketFor(2), {});
  EXPECT_EQ(again, place);
  EXPECT_NE(table.nameOf(again), name);
  EXPECT_EQ(table.take(name).receiver, nullptr) << "of the use before";
  EXPECT_EQ(table.take(0xffffffff).receiver, nullptr) << "of no place";
  EXPECT_EQ(table.take(table.nameOf(again)).tag.run, 2u);
}

TEST(TicketTable, retiringTwiceFreesOnce) {
  TicketTable table;
  uint32_t first = table.add(ticketFor(1), {});
  table.retire(first);
  table.retire(first);
  EXPECT_NE(table.add(ticketFor(2), {}), table.add(ticketFor(3), {}));
}

TEST(TicketTable, keysNameThemselves) {
  TicketTable table;
  EXPECT_EQ(table.nameOf(table.add(ticketFor(1), 5)), 5u);
  EXPECT_EQ(table.take(5).tag.run, 1u);
  EXPECT_EQ(table.take(5).receiver, nullptr);
}

TEST(TicketTable, isFullBeforeNamesRunOut) {
  TicketTable table;
  uint32_t added = 0;
  for (; table.hasRoom() && added <= 1u << 20; ++added)
    table.add(ticketFor(added), {});
  EXPECT_EQ(added, 1u << 20);
  EXPECT_EQ(table.take(table.nameOf(added - 1)).tag.run, added - 1);
  EXPECT_TRUE(table.hasRoom());
}

} // namespace
} // namespace colldsl::protocol
