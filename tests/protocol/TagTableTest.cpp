#include "protocol/TagTable.h"

#include <deque>
#include <gtest/gtest.h>

namespace colldsl::protocol {
namespace {

struct Record {
  Tag tag;
  uint32_t number = 0;
  Record *next = nullptr;
};

std::deque<Record> records(uint32_t count) {
  std::deque<Record> all;
  for (uint32_t i = 0; i < count; ++i)
    all.push_back({{1, 2, i / 100, i % 100}, i});
  return all;
}

TEST(TagTable, TakesEntriesInAnyOrder) {
  auto all = records(1000);
  TagTable<Record> table;
  for (Record &record : all)
    table.add(record);
  EXPECT_EQ(table.size(), 1000u);
  for (uint32_t i = 1000; i-- > 0;) {
    EXPECT_EQ(table.find(all[i].tag), &all[i]);
    EXPECT_EQ(table.take(all[i].tag), &all[i]);
    EXPECT_EQ(table.take(all[i].tag), nullptr);
  }
  EXPECT_TRUE(table.empty());
}

TEST(TagTable, TakesTheOldestOfOneTag) {
  std::deque<Record> all;
  for (uint32_t i = 0; i < 40; ++i)
    all.push_back({{1, 2, 3, 4}, i});
  TagTable<Record> table;
  for (Record &record : all)
    table.add(record);
  for (uint32_t i = 0; i < 40; ++i)
    EXPECT_EQ(table.take({1, 2, 3, 4})->number, i);
}

TEST(TagTable, DistinguishesEachFieldOfATag) {
  TagTable<Record> table;
  Record record{{1, 2, 3, 4}};
  table.add(record);
  for (const Tag &other : {Tag{0, 2, 3, 4}, Tag{1, 0, 3, 4}, Tag{1, 2, 0, 4}, Tag{1, 2, 3, 0}})
    EXPECT_EQ(table.take(other), nullptr);
  EXPECT_EQ(table.take({1, 2, 3, 4}), &record);
}

TEST(TagTable, RemovesSomeOfThem) {
  auto all = records(300);
  TagTable<Record> table;
  for (Record &record : all)
    table.add(record);
  EXPECT_EQ(table.removeIf([](const Record &record) { return record.number % 3 == 0; }), 100u);
  for (Record &record : all)
    EXPECT_EQ(table.take(record.tag), record.number % 3 == 0 ? nullptr : &record);
}

} // namespace
} // namespace colldsl::protocol
