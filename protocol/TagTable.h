/// Records by their tags, linked through a field of theirs: to add, find and remove one takes the
/// same time however many there are.
///
///   TagTable<Request> posted;
///   posted.add(request);
///   Request *match = posted.take(tag);
///
/// Among records with one tag the oldest is found first.
#pragma once

#include "transports/Tag.h"

#include <cstddef>
#include <vector>

namespace colldsl::protocol {

/// Record: has a `tag`, and a `Record *next`, which is the table's while it is in there. Allocates
/// only where there are more records than ever before. Not thread safe.
template <typename Record> class TagTable {
public:
  TagTable() : chains_(kLeastChains) {}

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  /// Makes room: so many records then fit without allocating.
  void reserve(size_t records) {
    size_t chains = chains_.size();
    while (chains < records)
      chains *= 2;
    if (chains > chains_.size())
      rehash(chains);
  }

  void add(Record &record) {
    if (++size_ > chains_.size())
      reserve(size_);
    append(record);
  }

  /// The oldest record with this tag; null: there is none.
  Record *find(const Tag &tag) const {
    Record *at = chains_[chainOf(tag)];
    while (at && at->tag != tag)
      at = at->next;
    return at;
  }

  /// Variant of find() that removes the record.
  Record *take(const Tag &tag) {
    for (Record **link = &chains_[chainOf(tag)]; *link; link = &(*link)->next)
      if ((*link)->tag == tag)
        return unlink(link);
    return nullptr;
  }

  /// Removes the records for which take(record) is true. Returns their number. take may put the
  /// record elsewhere.
  template <typename Take> uint32_t removeIf(Take take) {
    uint32_t taken = 0;
    for (Record *&chain : chains_)
      for (Record **link = &chain; *link;) {
        Record *next = (*link)->next;
        if (!take(**link)) {
          link = &(*link)->next;
          continue;
        }
        *link = next;
        --size_;
        ++taken;
      }
    return taken;
  }

  template <typename See> void forEach(See see) const {
    for (const Record *chain : chains_)
      for (const Record *at = chain; at; at = at->next)
        see(*at);
  }

private:
  static constexpr size_t kLeastChains = 16;

  // Messages of one run differ in their last field, and runs follow each other.
  size_t chainOf(const Tag &tag) const {
    return (tag.message + tag.run * 0x9e3779b1u + tag.stream * 0x85ebca6bu +
            tag.context * 0xc2b2ae35u) &
           (chains_.size() - 1);
  }
  void append(Record &record) {
    Record **link = &chains_[chainOf(record.tag)];
    while (*link)
      link = &(*link)->next;
    record.next = nullptr;
    *link = &record;
  }
  Record *unlink(Record **link) {
    Record *record = *link;
    *link = record->next;
    --size_;
    return record;
  }
  void rehash(size_t chains) {
    std::vector<Record *> before(chains);
    before.swap(chains_);
    for (Record *record : before)
      while (record) {
        Record *next = record->next;
        append(*record);
        record = next;
      }
  }

  std::vector<Record *> chains_; ///< a power of two
  size_t size_ = 0;
};

} // namespace colldsl::protocol
