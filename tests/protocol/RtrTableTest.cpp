#include "protocol/remote/RemoteContext.h"

#include <gtest/gtest.h>

namespace colldsl::protocol {
namespace {

// Nothing is called through it.
RemoteReceiver *const kReceiver = reinterpret_cast<RemoteReceiver *>(8);

RtrTable::Entry rtrFor(uint32_t run) {
  RtrTable::Entry rtr;
  rtr.receiver = kReceiver;
  rtr.tag.run = run;
  return rtr;
}

TEST(RtrTable, anIdIsOfOneUse) {
  RtrTable table;
  uint32_t place = table.add(rtrFor(1), {});
  uint32_t id = table.idOf(place);
  EXPECT_EQ(table.take(id).tag.run, 1u);
  EXPECT_EQ(table.take(id).receiver, nullptr) << "twice";
  uint32_t again = table.add(rtrFor(2), {});
  EXPECT_EQ(again, place);
  EXPECT_NE(table.idOf(again), id);
  EXPECT_EQ(table.take(id).receiver, nullptr) << "of the use before";
  EXPECT_EQ(table.take(0xffffffff).receiver, nullptr) << "of no place";
  EXPECT_EQ(table.take(table.idOf(again)).tag.run, 2u);
}

TEST(RtrTable, retiringTwiceFreesOnce) {
  RtrTable table;
  uint32_t first = table.add(rtrFor(1), {});
  table.retire(first);
  table.retire(first);
  EXPECT_NE(table.add(rtrFor(2), {}), table.add(rtrFor(3), {}));
}

TEST(RtrTable, keysAreIds) {
  RtrTable table;
  EXPECT_EQ(table.idOf(table.add(rtrFor(1), 5)), 5u);
  EXPECT_EQ(table.take(5).tag.run, 1u);
  EXPECT_EQ(table.take(5).receiver, nullptr);
}

TEST(RtrTable, anRtrThatStaysKeepsItsId) {
  RtrTable table;
  RtrTable::Entry staying = rtrFor(1);
  staying.stays = true;
  uint32_t place = table.add(staying, {}), id = table.idOf(place);
  EXPECT_EQ(table.take(id).tag.run, 1u);
  staying.tag.run = 2;
  table.renew(place, staying);
  EXPECT_EQ(table.idOf(place), id);
  EXPECT_EQ(table.take(id).tag.run, 2u);
  EXPECT_EQ(table.numInUse(), 1u);
  table.retire(place);
  EXPECT_EQ(table.take(id).receiver, nullptr);
  EXPECT_EQ(table.numInUse(), 0u);
}

TEST(RtrTable, isFullBeforeIdsRunOut) {
  RtrTable table;
  uint32_t added = 0;
  for (; table.hasRoom() && added <= 1u << 20; ++added)
    table.add(rtrFor(added), {});
  EXPECT_EQ(added, 1u << 20);
  EXPECT_EQ(table.take(table.idOf(added - 1)).tag.run, added - 1);
  EXPECT_TRUE(table.hasRoom());
}

} // namespace
} // namespace colldsl::protocol
