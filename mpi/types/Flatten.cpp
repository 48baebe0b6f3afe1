// Flattening: a type is some copies of its elements, placed.
//
// Every constructor, arrays included, comes down to "n copies of a type, so many bytes apart, from
// there on". Copies of what has no gaps become one run at once, so that the work follows the runs
// of the result, not the elements. MPI-4.0, chapter 5.1.
#include "mpi/types/Flatten.h"

#include "mpi/Real.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>

namespace colldsl::mpi {
namespace {

class RunList {
public:
  void add(MPI_Aint offset, uint64_t length) {
    if (!runs_.empty() &&
        runs_.back().offset + static_cast<MPI_Aint>(runs_.back().length) == offset)
      runs_.back().length += length;
    else
      runs_.push_back({offset, length});
  }

  /// Copies of the type, the first one at `at`.
  void addCopies(std::span<const Run> type, MPI_Aint at, uint64_t copies, MPI_Aint spacing) {
    if (type.empty() || copies == 0)
      return;
    if (type.size() == 1 && spacing == static_cast<MPI_Aint>(type[0].length)) {
      add(at + type[0].offset, copies * type[0].length);
      return;
    }
    for (uint64_t copy = 0; copy < copies; ++copy, at += spacing)
      for (const Run &run : type)
        add(at + run.offset, run.length);
  }

  /// Blocks of copies that touch, as vectors have them.
  void addBlocks(const TypeLayout &type, uint64_t blocks, uint64_t copies, MPI_Aint spacing) {
    if (type.runs.empty() || copies == 0)
      return;
    for (uint64_t block = 0; block < blocks; ++block)
      addCopies(type.runs, static_cast<MPI_Aint>(block) * spacing, copies, type.extent);
  }

  std::vector<Run> take() {
    runs_.shrink_to_fit();
    return std::move(runs_);
  }

private:
  std::vector<Run> runs_;
};

bool isF90(int combiner) {
  return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

/// The number of arguments of each kind that the constructor took.
struct Envelope {
  int combiner = 0;
  MPI_Count numInts = 0;
  MPI_Count numAddresses = 0;
  MPI_Count numCounts = 0; ///< of the constructors for large counts only
  MPI_Count numTypes = 0;

  bool isPredefined() const { return combiner == MPI_COMBINER_NAMED || isF90(combiner); }
};

Result<Envelope> envelopeOf(MPI_Datatype type) {
  Envelope e;
#ifdef COLLDSL_MPI_LARGE_COUNTS
  Status status = mpiStatus(real::Type_get_envelope_c(type, &e.numInts, &e.numAddresses,
                                                      &e.numCounts, &e.numTypes, &e.combiner),
                            "MPI_Type_get_envelope_c");
#else
  int ints = 0, addresses = 0, types = 0;
  Status status = mpiStatus(real::Type_get_envelope(type, &ints, &addresses, &types, &e.combiner),
                            "MPI_Type_get_envelope");
  e.numInts = ints;
  e.numAddresses = addresses;
  e.numTypes = types;
#endif
  if (!status)
    return status;
  return e;
}

/// The constructor's arguments, read in the order in which it took them. Constructors for large
/// counts have their counts and displacements in an array of their own.
class Contents {
public:
  Contents() = default;
  Contents(const Contents &) = delete;
  Contents &operator=(const Contents &) = delete;
  ~Contents();

  Status read(MPI_Datatype type, const Envelope &envelope);

  int integer() { return ints_[nextInt_++]; }
  int64_t count() { return counts_.empty() ? integer() : counts_[nextCount_++]; }
  MPI_Aint bytes() { return counts_.empty() ? addresses_[nextAddress_++] : counts_[nextCount_++]; }
  std::vector<int64_t> counts(size_t howMany) {
    std::vector<int64_t> read(howMany);
    for (int64_t &value : read)
      value = count();
    return read;
  }
  std::vector<int> integers(size_t howMany) {
    std::vector<int> read(howMany);
    for (int &value : read)
      value = integer();
    return read;
  }

  std::span<const MPI_Datatype> types() const { return types_; }

private:
  std::vector<int> ints_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Datatype> types_;
  size_t nextInt_ = 0, nextAddress_ = 0, nextCount_ = 0;
};

Status Contents::read(MPI_Datatype type, const Envelope &e) {
  ints_.resize(e.numInts);
  addresses_.resize(e.numAddresses);
  counts_.resize(e.numCounts);
  std::vector<MPI_Datatype> types(e.numTypes, MPI_DATATYPE_NULL);
#ifdef COLLDSL_MPI_LARGE_COUNTS
  Status status = mpiStatus(real::Type_get_contents_c(type, e.numInts, e.numAddresses, e.numCounts,
                                                      e.numTypes, ints_.data(), addresses_.data(),
                                                      counts_.data(), types.data()),
                            "MPI_Type_get_contents_c");
#else
  Status status = mpiStatus(real::Type_get_contents(type, static_cast<int>(e.numInts),
                                                    static_cast<int>(e.numAddresses),
                                                    static_cast<int>(e.numTypes), ints_.data(),
                                                    addresses_.data(), types.data()),
                            "MPI_Type_get_contents");
#endif
  if (status)
    types_ = std::move(types);
  return status;
}

/// Frees the types that MPI handed out, except predefined ones.
Contents::~Contents() {
  for (MPI_Datatype type : types_) {
    const TypeLayout *known = knownLayoutOf(type);
    if (known && known->isNamed)
      continue;
    if (Result<Envelope> envelope = envelopeOf(type); envelope && !envelope->isPredefined())
      real::Type_free(&type);
  }
}

/// Indices of one dimension that are taken: from `first` on.
struct IndexRange {
  int64_t first;
  int64_t count;
};

struct Dimension {
  int64_t size;
  std::vector<IndexRange> taken;
};

/// A part of an array, whose dimensions are given from the fastest to the slowest.
std::vector<Run> arrayPart(const TypeLayout &element, std::span<const Dimension> dimensions) {
  std::vector<Run> runs = element.runs;
  MPI_Aint spacing = element.extent;
  for (const Dimension &dimension : dimensions) {
    RunList list;
    for (IndexRange range : dimension.taken)
      list.addCopies(runs, range.first * spacing, range.count, spacing);
    runs = list.take();
    spacing *= dimension.size;
  }
  return runs;
}

#ifdef MPI_ABI_VERSION
// Open MPI 6.0.0rc2 returns its own values, not those of the standard ABI.
enum : int { kOwnBlock = 0, kOwnNone = 2, kOwnOrderC = 0, kOwnDefault = -1 };

bool isOrderC(int order) { return order == MPI_ORDER_C || order == kOwnOrderC; }
bool isWhole(int how) { return how == MPI_DISTRIBUTE_NONE || how == kOwnNone; }
bool isInBlocks(int how) { return how == MPI_DISTRIBUTE_BLOCK || how == kOwnBlock; }
/// Each value of `how` belongs to one of the two sets of constants.
bool isDefault(int how, int argument) {
  bool isOwn = how >= kOwnBlock && how <= kOwnNone;
  return argument == (isOwn ? int{kOwnDefault} : int{MPI_DISTRIBUTE_DFLT_DARG});
}
#else
bool isOrderC(int order) { return order == MPI_ORDER_C; }
bool isWhole(int how) { return how == MPI_DISTRIBUTE_NONE; }
bool isInBlocks(int how) { return how == MPI_DISTRIBUTE_BLOCK; }
bool isDefault(int, int argument) { return argument == MPI_DISTRIBUTE_DFLT_DARG; }
#endif

std::vector<Run> subarray(Contents &contents, const TypeLayout &element) {
  size_t rank = contents.integer();
  std::vector<int64_t> sizes = contents.counts(rank), taken = contents.counts(rank),
                       first = contents.counts(rank);
  std::vector<Dimension> dimensions;
  for (size_t d = 0; d < rank; ++d)
    dimensions.push_back({sizes[d], {{first[d], taken[d]}}});
  if (isOrderC(contents.integer()))
    std::reverse(dimensions.begin(), dimensions.end());
  return arrayPart(element, dimensions);
}

/// The part of a dimension that belongs to place `coordinate` of `places`.
std::vector<IndexRange> distribute(int64_t size, int how, int argument, int64_t places,
                                   int64_t coordinate) {
  if (isWhole(how))
    return {{0, size}};
  if (isInBlocks(how)) {
    int64_t block = isDefault(how, argument) ? (size + places - 1) / places : argument;
    int64_t first = coordinate * block;
    return {{first, std::clamp<int64_t>(size - first, 0, block)}};
  }
  std::vector<IndexRange> ranges;
  int64_t block = isDefault(how, argument) ? 1 : argument;
  for (int64_t first = coordinate * block; first < size; first += block * places)
    ranges.push_back({first, std::min(block, size - first)});
  return ranges;
}

std::vector<Run> darray(Contents &contents, const TypeLayout &element) {
  contents.integer(); // the number of places, which is the product of the grid's sizes
  int place = contents.integer();
  size_t rank = contents.integer();
  std::vector<int64_t> sizes = contents.counts(rank);
  std::vector<int> how = contents.integers(rank), arguments = contents.integers(rank),
                   grid = contents.integers(rank);
  std::vector<Dimension> dimensions(rank);
  // Places are numbered in C's order, for arrays of either order.
  for (size_t d = rank; d-- > 0; place /= grid[d])
    dimensions[d] = {sizes[d],
                     distribute(sizes[d], how[d], arguments[d], grid[d], place % grid[d])};
  if (isOrderC(contents.integer()))
    std::reverse(dimensions.begin(), dimensions.end());
  return arrayPart(element, dimensions);
}

std::vector<Run> vectorOf(Contents &contents, const TypeLayout &element, bool strideInBytes) {
  uint64_t blocks = contents.count(), copies = contents.count();
  MPI_Aint stride = strideInBytes ? contents.bytes() : contents.count() * element.extent;
  RunList list;
  list.addBlocks(element, blocks, copies, stride);
  return list.take();
}

std::vector<Run> indexed(Contents &contents, const TypeLayout &element, bool sameLengths,
                         bool inBytes) {
  size_t blocks = contents.count();
  std::vector<int64_t> copies =
      sameLengths ? std::vector<int64_t>(blocks, contents.count()) : contents.counts(blocks);
  RunList list;
  for (int64_t n : copies) {
    MPI_Aint at = inBytes ? contents.bytes() : contents.count() * element.extent;
    list.addCopies(element.runs, at, n, element.extent);
  }
  return list.take();
}

std::vector<Run> contiguous(Contents &contents, const TypeLayout &element) {
  RunList list;
  list.addCopies(element.runs, 0, contents.count(), element.extent);
  return list.take();
}

/// A type that occurs several times is flattened once.
Result<std::vector<Run>> structure(Contents &contents) {
  std::vector<int64_t> copies = contents.counts(contents.count());
  std::unordered_map<MPI_Datatype, SharedLayout> known;
  RunList list;
  for (size_t b = 0; b < copies.size(); ++b) {
    auto [place, isNew] = known.try_emplace(contents.types()[b]);
    if (isNew) {
      Result<SharedLayout> member = elementOf(place->first);
      if (!member)
        return member.status();
      place->second = member.take();
    }
    const TypeLayout &member = *place->second;
    list.addCopies(member.runs, contents.bytes(), copies[b], member.extent);
  }
  return list.take();
}

Result<std::vector<Run>> derived(int combiner, Contents &contents) {
  if (combiner == MPI_COMBINER_STRUCT)
    return structure(contents);
  Result<SharedLayout> found = elementOf(contents.types().front());
  if (!found)
    return found.status();
  const TypeLayout *element = found->get();
  switch (combiner) {
  case MPI_COMBINER_DUP:
  case MPI_COMBINER_RESIZED:
    return element->runs;
  case MPI_COMBINER_CONTIGUOUS:
    return contiguous(contents, *element);
  case MPI_COMBINER_VECTOR:
    return vectorOf(contents, *element, false);
  case MPI_COMBINER_HVECTOR:
    return vectorOf(contents, *element, true);
  case MPI_COMBINER_INDEXED:
    return indexed(contents, *element, false, false);
  case MPI_COMBINER_HINDEXED:
    return indexed(contents, *element, false, true);
  case MPI_COMBINER_INDEXED_BLOCK:
    return indexed(contents, *element, true, false);
  case MPI_COMBINER_HINDEXED_BLOCK:
    return indexed(contents, *element, true, true);
  case MPI_COMBINER_SUBARRAY:
    return subarray(contents, *element);
  case MPI_COMBINER_DARRAY:
    return darray(contents, *element);
  default: // a number from the MPI, no enum of ours
    return Status::error("a datatype of an unknown constructor, combiner " +
                         std::to_string(combiner));
  }
}

/// Predefined types are one run, except the pair of short and int, which has a gap.
Result<std::vector<Run>> predefined(MPI_Datatype type) {
  int size = 0;
  MPI_Aint lb = 0, extent = 0;
  if (Status s = mpiStatus(real::Type_size(type, &size), "MPI_Type_size"); !s)
    return s;
  if (Status s =
          mpiStatus(real::Type_get_true_extent(type, &lb, &extent), "MPI_Type_get_true_extent");
      !s)
    return s;
  RunList list;
  if (type == MPI_SHORT_INT) {
    struct Pair {
      short value;
      int place;
    };
    list.add(offsetof(Pair, value), sizeof(Pair::value));
    list.add(offsetof(Pair, place), sizeof(Pair::place));
  } else if (size > 0) {
    list.add(lb, size);
  }
  return list.take();
}

Result<std::vector<Run>> runsOf(MPI_Datatype type, bool &isNamed) {
  Result<Envelope> envelope = envelopeOf(type);
  if (!envelope)
    return envelope.status();
  isNamed = envelope->combiner == MPI_COMBINER_NAMED;
  if (envelope->isPredefined())
    return predefined(type);
  Contents contents;
  if (Status s = contents.read(type, *envelope); !s)
    return s;
  return derived(envelope->combiner, contents);
}

/// The distance between runs, if all are equally far apart; a single run continues in the next
/// element.
MPI_Aint commonStride(const TypeLayout &layout) {
  const std::vector<Run> &runs = layout.runs;
  if (runs.size() == 1)
    return layout.extent;
  MPI_Aint stride = runs[1].offset - runs[0].offset;
  for (size_t r = 2; r < runs.size(); ++r)
    if (runs[r].offset - runs[r - 1].offset != stride)
      return 0;
  return stride;
}

/// Computes the fields that follow from the runs.
void summarize(TypeLayout &layout) {
  const std::vector<Run> &runs = layout.runs;
  for (const Run &run : runs)
    layout.size += run.length;
  if (runs.empty())
    return;
  bool same = std::all_of(runs.begin(), runs.end(),
                          [&](const Run &run) { return run.length == runs[0].length; });
  if (same) {
    layout.runLength = runs[0].length;
    layout.stride = commonStride(layout);
    return;
  }
  layout.starts.reserve(runs.size());
  uint64_t start = 0;
  for (const Run &run : runs) {
    layout.starts.push_back(start);
    start += run.length;
  }
}

} // namespace

Result<TypeLayout> flatten(MPI_Datatype type) {
  TypeLayout layout;
  if (Status s =
          mpiStatus(real::Type_get_extent(type, &layout.lb, &layout.extent), "MPI_Type_get_extent");
      !s)
    return s;
  Result<std::vector<Run>> runs = runsOf(type, layout.isNamed);
  if (!runs)
    return runs.status();
  layout.runs = runs.take();
  summarize(layout);
  return layout;
}

} // namespace colldsl::mpi
