#include "mpi/types/Datatype.h"

#include "mpi/Real.h"
#include "mpi/types/Flatten.h"

#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <mutex>

namespace colldsl::mpi {
namespace {

/// Layouts of predefined types, by handle; these are never freed. Read without a lock, one writer
/// at a time.
class NamedTypes {
public:
  const SharedLayout *find(MPI_Datatype type) const {
    for (size_t at = hash(type);; at = next(at)) {
      const SharedLayout *layout = slots_[at].layout.load(std::memory_order_acquire);
      if (!layout || slots_[at].type == type)
        return layout;
    }
  }

  void add(MPI_Datatype type, SharedLayout layout) {
    ++size_;
    assert(2 * size_ < kSlots && "more predefined types than any MPI has");
    size_t at = hash(type);
    while (slots_[at].layout.load(std::memory_order_relaxed))
      at = next(at);
    slots_[at].type = type;
    slots_[at].layout.store(new SharedLayout(std::move(layout)), std::memory_order_release);
  }

private:
  static constexpr unsigned kBits = 9;
  static constexpr size_t kSlots = 1 << kBits;

  /// The writer stores `layout` last, which releases the type and the layout to readers, which
  /// acquire. It reads relaxed, as the lock orders writers.
  struct Slot {
    std::atomic<const SharedLayout *> layout = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };

  /// Handles are small numbers or addresses of objects of one size: Fibonacci hashing.
  static size_t hash(MPI_Datatype type) {
    uint64_t bits = 0;
    std::memcpy(&bits, &type, sizeof(type));
    return bits * 0x9e3779b97f4a7c15 >> (64 - kBits);
  }
  static size_t next(size_t at) { return (at + 1) % kSlots; }

  std::array<Slot, kSlots> slots_;
  size_t size_ = 0;
};

/// Layouts of all other types: attributes of the types, which are deleted with them.
class Attributes {
public:
  const SharedLayout *find(MPI_Datatype type) const {
    int keyval = keyval_.load(std::memory_order_acquire);
    void *value = nullptr;
    int found = 0;
    if (keyval == MPI_KEYVAL_INVALID ||
        real::Type_get_attr(type, keyval, &value, &found) != MPI_SUCCESS || !found)
      return nullptr;
    return static_cast<const SharedLayout *>(value);
  }

  Status add(MPI_Datatype type, SharedLayout layout) {
    int keyval = keyval_.load(std::memory_order_relaxed);
    if (keyval == MPI_KEYVAL_INVALID) {
      if (Status s =
              mpiStatus(real::Type_create_keyval(MPI_TYPE_NULL_COPY_FN, &drop, &keyval, nullptr),
                        "MPI_Type_create_keyval");
          !s)
        return s;
      keyval_.store(keyval, std::memory_order_release);
    }
    auto kept = std::make_unique<const SharedLayout>(std::move(layout));
    if (Status s =
            mpiStatus(real::Type_set_attr(type, keyval, const_cast<SharedLayout *>(kept.get())),
                      "MPI_Type_set_attr");
        !s)
      return s;
    (void)kept.release(); // drop() deletes it
    return {};
  }

private:
  static int drop(MPI_Datatype, int, void *value, void *) {
    delete static_cast<const SharedLayout *>(value);
    return MPI_SUCCESS;
  }

  /// Released once the MPI has made it, to threads that pass it to the MPI. Writers are ordered by
  /// a lock.
  std::atomic<int> keyval_ = MPI_KEYVAL_INVALID;
};

NamedTypes namedTypes;
Attributes attributes;
std::mutex making; // one thread flattens, the others wait for it
uint64_t lastId = 0;

const SharedLayout *find(MPI_Datatype type) {
  const SharedLayout *named = namedTypes.find(type);
  return named ? named : attributes.find(type);
}

Result<SharedLayout> make(MPI_Datatype type) {
  Result<TypeLayout> layout = flatten(type);
  if (!layout)
    return layout.status();
  layout->id = ++lastId;
  auto made = std::make_shared<const TypeLayout>(layout.take());
  if (made->isNamed)
    namedTypes.add(type, made);
  return SharedLayout(std::move(made));
}

/// Bindings of MPIs may leave entries of lists untouched: in new memory, all bits are zero.
bool isNone(MPI_Datatype type) { return type == MPI_DATATYPE_NULL || type == MPI_Datatype{}; }

} // namespace

const TypeLayout *knownLayoutOf(MPI_Datatype type) {
  if (isNone(type))
    return nullptr;
  const SharedLayout *known = find(type);
  return known ? known->get() : nullptr;
}

Result<SharedLayout> layoutOf(MPI_Datatype type) {
  if (isNone(type))
    return Status::error("MPI_DATATYPE_NULL describes no memory");
  if (const SharedLayout *known = find(type))
    return *known;
  std::lock_guard lock(making);
  if (const SharedLayout *known = find(type))
    return *known;
  Result<SharedLayout> made = make(type);
  if (made && !(*made)->isNamed)
    if (Status s = attributes.add(type, *made); !s)
      return s;
  return made;
}

// Elements of derived types need not be kept: MPI hands out handles that are freed at once.
Result<SharedLayout> elementOf(MPI_Datatype type) {
  const SharedLayout *known = find(type);
  return known ? *known : make(type);
}

} // namespace colldsl::mpi
