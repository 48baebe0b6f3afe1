#include "tests/explorer/weak/WeakMemory.h"

#include <algorithm>
#include <cstring>

namespace colldsl::test::weak {

uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9u;
  return a ^ (a >> 29);
}

void Memory::restart(uint32_t threads) {
  ++execution_;
  words_.clear();
  wordOf_.clear();
  threads_.assign(threads, {});
  for (uint32_t t = 0; t < threads; ++t)
    threads_[t].now.clock[t] = 1;
  fences_ = {};
  wrong_.clear();
  isVoid_ = false;
  shadowDigest_ = 0;
}

void Memory::share(const void *begin, size_t bytes) {
  size_t shadow = ranges_.empty() ? 0 : ranges_.back().shadow + ranges_.back().bytes;
  ranges_.push_back({reinterpret_cast<uintptr_t>(begin), bytes, shadow});
  shadows_.resize(std::max(shadows_.size(), shadow + bytes));
}

const Memory::Range *Memory::find(uintptr_t at) const {
  for (const Range &range : ranges_)
    if (at - range.begin < range.bytes)
      return &range;
  return nullptr;
}

uint64_t Memory::nameOf(uintptr_t at) const {
  const Range *range = find(at);
  return range ? range->shadow + (at - range->begin) : 0;
}

void Memory::blame(const std::string &what) {
  if (wrong_.empty())
    wrong_ = what;
}

// A word begins with what memory holds.
uint32_t Memory::wordAt(uintptr_t at, uint32_t bytes) {
  auto found = wordOf_.find(at);
  if (found != wordOf_.end() && words_[found->second].bytes == bytes)
    return found->second;
  endWords(at, bytes);
  Word word;
  word.at = at;
  word.bytes = bytes;
  word.stores.resize(1);
  word.order = {0};
  std::memcpy(&word.stores[0].value, reinterpret_cast<const void *>(at), bytes);
  words_.push_back(std::move(word));
  return wordOf_[at] = static_cast<uint32_t>(words_.size() - 1);
}

void Memory::endWords(uintptr_t at, size_t bytes) {
  for (auto i = wordOf_.begin(); i != wordOf_.end();) {
    Word &word = words_[i->second];
    bool isHit = word.at < at + bytes && at < word.at + word.bytes;
    word.isOver |= isHit;
    i = isHit ? wordOf_.erase(i) : std::next(i);
  }
}

Memory::StoreId Memory::oldestOf(const View &view, uint32_t word) const {
  return word < view.oldest.size() ? view.oldest[word] : 0;
}

void Memory::setOldest(View &view, uint32_t word, StoreId store) const {
  if (word >= view.oldest.size())
    view.oldest.resize(word + 1);
  const Word &of = words_[word];
  if (of.stores[store].place > of.stores[view.oldest[word]].place)
    view.oldest[word] = store;
}

void Memory::joinOrder(View &into, const View &from) const {
  for (uint32_t word = 0; word < from.oldest.size(); ++word)
    if (from.oldest[word] != 0)
      setOldest(into, word, from.oldest[word]);
}

void Memory::take(View &into, const View &from) const {
  joinOrder(into, from);
  for (uint32_t t = 0; t < kMostThreads; ++t)
    into.clock[t] = std::max(into.clock[t], from.clock[t]);
}

std::vector<Memory::StoreId> Memory::readable(uint32_t thread, uint32_t word) const {
  const Word &of = words_[word];
  uint32_t first = of.stores[oldestOf(threads_[thread].now, word)].place;
  return {of.order.rbegin(), of.order.rend() - first}; // the newest first
}

uint64_t Memory::readStore(uint32_t thread, uint32_t word, StoreId id, Order order) {
  Thread &own = threads_[thread];
  const Store &store = words_[word].stores[id];
  own.isReordered = false;
  own.hasLearned |= oldestOf(own.now, word) != id;
  setOldest(own.now, word, id);
  take(own.ifAcquired, store.view);
  if (acquires(order))
    take(own.now, store.view);
  own.history = mix(mix(own.history, nameOf(words_[word].at)), mix(store.name, store.value));
  own.roundWords.push_back(word);
  return store.value;
}

// Behind a store that a read-modify-write has read stands what that has stored.
void Memory::addStore(uint32_t thread, uint32_t word, uint64_t value, Order order, uint32_t place,
                      const View *replaced) {
  Thread &own = threads_[thread];
  Word &of = words_[word];
  Store store;
  store.value = value;
  store.name = mix(thread + 1, ++own.stores);
  auto id = static_cast<StoreId>(of.stores.size());
  of.stores.push_back(std::move(store));
  of.order.insert(of.order.begin() + place, id);
  for (uint32_t i = place; i < of.order.size(); ++i)
    of.stores[of.order[i]].place = i;
  setOldest(own.now, word, id);
  Store &made = of.stores[id];
  made.view = releases(order) ? own.now : own.released;
  if (replaced)
    take(made.view, *replaced);
  setOldest(made.view, word, id);
  std::memcpy(reinterpret_cast<void *>(of.at), &of.stores[of.order.back()].value, of.bytes);
  ++own.now.clock[thread];
  own.hasStored = true;
}

uint64_t Memory::load(uint32_t thread, uintptr_t at, uint32_t bytes, Order order) {
  uint32_t word = wordAt(at, bytes);
  std::vector<StoreId> all = readable(thread, word);
  uint64_t value = readStore(thread, word, all[choose_(static_cast<uint32_t>(all.size()))], order);
  touch(thread, at, bytes, false, true);
  return value;
}

void Memory::store(uint32_t thread, uintptr_t at, uint32_t bytes, uint64_t value, Order order) {
  uint32_t word = wordAt(at, bytes);
  touch(thread, at, bytes, true, true);
  std::vector<uint32_t> places;
  for (StoreId before : readable(thread, word))
    if (!words_[word].stores[before].isReplaced)
      places.push_back(words_[word].stores[before].place + 1);
  addStore(thread, word, value, order, places[choose_(static_cast<uint32_t>(places.size()))],
           nullptr);
}

uint64_t Memory::modify(uint32_t thread, uintptr_t at, uint32_t bytes, Order order,
                        const std::function<uint64_t(uint64_t)> &change) {
  uint32_t word = wordAt(at, bytes);
  std::vector<StoreId> all = readable(thread, word);
  std::erase_if(all, [&](StoreId id) { return words_[word].stores[id].isReplaced; });
  StoreId read = all[choose_(static_cast<uint32_t>(all.size()))];
  uint64_t value = readStore(thread, word, read, order);
  touch(thread, at, bytes, true, true);
  words_[word].stores[read].isReplaced = true;
  View before = words_[word].stores[read].view;
  addStore(thread, word, change(value), order, words_[word].stores[read].place + 1, &before);
  return value;
}

bool Memory::compareExchange(uint32_t thread, uintptr_t at, uint32_t bytes, uint64_t &expected,
                             uint64_t value, Order success, Order failure) {
  uint32_t word = wordAt(at, bytes);
  std::vector<StoreId> all = readable(thread, word);
  std::erase_if(all, [&](StoreId id) {
    const Store &store = words_[word].stores[id];
    return store.value == expected && store.isReplaced;
  });
  StoreId read = all[choose_(static_cast<uint32_t>(all.size()))];
  bool isEqual = words_[word].stores[read].value == expected;
  expected = readStore(thread, word, read, isEqual ? success : failure);
  touch(thread, at, bytes, isEqual, true);
  if (!isEqual)
    return false;
  words_[word].stores[read].isReplaced = true;
  View before = words_[word].stores[read].view;
  addStore(thread, word, value, success, words_[word].stores[read].place + 1, &before);
  return true;
}

// What fences order is what may be read, and no access to plain bytes.
void Memory::fence(uint32_t thread, Order order) {
  Thread &own = threads_[thread];
  compilerFence(thread);
  if (acquires(order))
    take(own.now, own.ifAcquired);
  if (order == Order::SeqCst) {
    joinOrder(fences_, own.now);
    joinOrder(own.now, fences_);
  }
  if (releases(order)) {
    own.released = own.now;
    ++own.now.clock[thread];
  }
}

void Memory::compilerFence(uint32_t thread) {
  isVoid_ |= threads_[thread].isReordered;
  threads_[thread].hasStored = false;
}

void Memory::barrierOnAll() {
  for (Thread &thread : threads_)
    thread.isReordered = thread.isReordered || (thread.hasStored && choose_(2) == 1);
  for (uint32_t pass = 0; pass < 2; ++pass) // all tell, then all know
    for (uint32_t t = 0; t < threads_.size(); ++t) {
      Thread &own = threads_[t];
      bool hadStored = own.hasStored;
      if (!own.isReordered)
        fence(t, Order::SeqCst);
      own.hasStored = hadStored;
    }
}

uint64_t Memory::loadNewest(uint32_t thread, uintptr_t at, uint32_t bytes) {
  uint32_t word = wordAt(at, bytes);
  return readStore(thread, word, words_[word].order.back(), Order::Relaxed);
}

void Memory::setTime(uint32_t &field, uint32_t time, uint64_t name) {
  if (field != 0)
    shadowDigest_ -= mix(name, field);
  field = time;
  if (time != 0)
    shadowDigest_ += mix(name, time);
}

// Who has written plainly before must be known, and what others read or wrote before a plain write.
void Memory::touch(uint32_t thread, uintptr_t at, size_t bytes, bool isWrite, bool isAtomic) {
  const View &now = threads_[thread].now;
  const Range *range = find(at);
  if (!range)
    return blame("a word outside the shared ranges");
  bytes = std::min(bytes, range->begin + range->bytes - at);
  uint64_t name = range->shadow + (at - range->begin);
  for (size_t i = 0; i < bytes; ++i, ++name) {
    Shadow &shadow = shadows_[name];
    if (shadow.execution != execution_)
      shadow = {execution_};
    bool isKnown = shadow.plainWrite <= now.clock[shadow.writer];
    for (uint32_t t = 0; t < threads_.size(); ++t) {
      isKnown &= isAtomic || shadow.writes[t] <= now.clock[t];
      isKnown &= !isWrite || shadow.plainReads[t] <= now.clock[t];
      isKnown &= !isWrite || isAtomic || shadow.reads[t] <= now.clock[t];
    }
    if (!isKnown)
      return blame(std::string("a race: a thread ") + (isWrite ? "writes" : "reads") +
                   " what another one accesses");
    uint32_t time = now.clock[thread];
    if (isAtomic) {
      setTime(isWrite ? shadow.writes[thread] : shadow.reads[thread], time,
              mix(name, (isWrite ? 16 : 32) + thread));
    } else if (!isWrite) {
      setTime(shadow.plainReads[thread], time, mix(name, 48 + thread));
    } else {
      setTime(shadow.plainWrite, 0, mix(name, 64 + shadow.writer));
      shadow.writer = static_cast<uint8_t>(thread);
      setTime(shadow.plainWrite, time, mix(name, 64 + thread));
    }
  }
}

void Memory::plain(uint32_t thread, uintptr_t at, size_t bytes, bool isWrite) {
  touch(thread, at, bytes, isWrite, false);
  if (isWrite) {
    endWords(at, bytes);
    threads_[thread].hasStored = true;
  }
}

void Memory::beginRound(uint32_t thread) {
  Thread &own = threads_[thread];
  own.roundHistory = own.history;
  own.roundStores = own.stores;
  own.hasLearned = false;
  own.roundWords.clear();
}

bool Memory::endRoundInVain(uint32_t thread) {
  Thread &own = threads_[thread];
  if (own.stores != own.roundStores)
    return false;
  own.history = own.roundHistory;
  return !own.hasLearned;
}

bool Memory::hasNews(uint32_t thread) const {
  const Thread &own = threads_[thread];
  return std::any_of(own.roundWords.begin(), own.roundWords.end(), [&](uint32_t word) {
    return words_[word].isOver || words_[word].order.back() != oldestOf(own.now, word);
  });
}

uint64_t Memory::digestOf(const View &view) const {
  uint64_t digest = 0;
  for (uint32_t word = 0; word < view.oldest.size(); ++word)
    if (view.oldest[word] != 0 && !words_[word].isOver)
      digest += mix(nameOf(words_[word].at), words_[word].stores[view.oldest[word]].name);
  for (uint32_t time : view.clock)
    digest = mix(digest, time);
  return digest;
}

uint64_t Memory::digest() const {
  uint64_t digest = mix(shadowDigest_, digestOf(fences_));
  for (const Thread &thread : threads_) {
    digest = mix(digest, thread.history);
    digest = mix(digest, thread.stores * 4 + thread.hasStored * 2 + thread.isReordered);
    for (const View *view : {&thread.now, &thread.ifAcquired, &thread.released})
      digest = mix(digest, digestOf(*view));
  }
  uint64_t all = 0;
  for (const Word &word : words_) {
    if (word.isOver)
      continue;
    uint64_t stores = nameOf(word.at);
    for (StoreId id : word.order)
      stores = mix(mix(stores, word.stores[id].name),
                   mix(digestOf(word.stores[id].view), word.stores[id].isReplaced));
    all += word.order.size() > 1 ? stores : 0; // a word that was only read is as it was
  }
  return mix(digest, all);
}

} // namespace colldsl::test::weak
