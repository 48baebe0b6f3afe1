// A type is an element of the pattern, then one or two layers of shapes around it, each of which
// may be resized. All shapes keep one property: the extent is at least the true extent, so that
// the next layer may put copies side by side. Only the outermost one may break it, on purpose:
// `interleave` makes types whose copies lie between each other.
#include "tests/mpi/Datatypes.h"

#include "tests/mpi/Version.h"

#include <algorithm>
#include <numeric>

namespace conformance {

const std::vector<Pattern> &patterns() {
  static const std::vector<Pattern> all = {{MPI_INT},
                                           {MPI_BYTE},
                                           {MPI_DOUBLE},
                                           {MPI_SHORT},
                                           {MPI_CHAR, MPI_INT},
                                           {MPI_INT64_T},
                                           {MPI_SHORT, MPI_DOUBLE, MPI_CHAR}};
  return all;
}

Datatype Datatype::own(MPI_Datatype derived) {
  Datatype type(derived);
  type.owned_ = true;
  MPI_Type_commit(&type.handle_);
  return type;
}

Datatype::Datatype(Datatype &&other) noexcept
    : handle_(other.handle_), owned_(std::exchange(other.owned_, false)) {}

Datatype &Datatype::operator=(Datatype &&other) noexcept {
  release();
  handle_ = other.handle_;
  owned_ = std::exchange(other.owned_, false);
  return *this;
}

Datatype Datatype::duplicate() const {
  MPI_Datatype copy;
  MPI_Type_dup(handle_, &copy);
  return own(copy);
}

void Datatype::release() {
  if (std::exchange(owned_, false))
    MPI_Type_free(&handle_);
}

Bounds boundsOf(MPI_Datatype type) {
  Bounds b;
  MPI_Type_get_extent(type, &b.lowerBound, &b.extent);
  MPI_Type_get_true_extent(type, &b.trueLowerBound, &b.trueExtent);
  return b;
}

namespace {

MPI_Aint roundUp(MPI_Aint value) { return (value + 7) / 8 * 8; }

// Gaps in bytes keep the alignment of all basic types here.
MPI_Aint gapBytes(Random &random) { return 8 * random.below(3); }

Datatype structOf(const Pattern &pattern, Random *random) {
  std::vector<int> lengths(pattern.size(), 1);
  std::vector<MPI_Aint> places(pattern.size());
  std::vector<size_t> order(pattern.size());
  std::iota(order.begin(), order.end(), 0);
  if (random)
    random->shuffle(order);
  MPI_Aint end = 0;
  for (size_t i : order) {
    places[i] = end;
    end += 8 + (random ? gapBytes(*random) : 0);
  }
  MPI_Datatype type;
  MPI_Type_create_struct(static_cast<int>(pattern.size()), lengths.data(), places.data(),
                         pattern.data(), &type);
  Datatype unsized = Datatype::own(type);
  MPI_Type_create_resized(unsized.get(), 0, end, &type);
  return Datatype::own(type);
}

// n in parts of random lengths, each with its place in units, without overlap, in any order.
struct Parts {
  std::vector<int> lengths, places;
};

Parts split(int n, Random &random, int fixedLength = 0) {
  Parts parts;
  for (int left = n; left > 0; left -= parts.lengths.back())
    parts.lengths.push_back(fixedLength ? fixedLength : random.between(1, left));
  std::vector<size_t> order(parts.lengths.size());
  std::iota(order.begin(), order.end(), 0);
  if (random.oneIn(2))
    random.shuffle(order);
  parts.places.resize(order.size());
  int place = random.between(-2, 2);
  for (size_t i : order) {
    parts.places[i] = place;
    place += parts.lengths[i] + random.between(0, 2);
  }
  return parts;
}

std::vector<MPI_Aint> inBytes(const std::vector<int> &places, MPI_Aint extent) {
  std::vector<MPI_Aint> bytes;
  for (int place : places)
    bytes.push_back(place * extent);
  return bytes;
}

// Blocks that touch each other, the last of them first, are taken for the first to the last by Open
// MPI.
bool mayGoBack(bool touches) { return !touches || !isOpenMpi(); }

MPI_Datatype vectorOf(MPI_Datatype inner, int n, Random &random) {
  int block = random.divisor(n);
  int stride = block + random.between(0, 2);
  bool back = random.oneIn(4) && mayGoBack(stride == block);
  MPI_Datatype type;
  MPI_Type_vector(n / block, block, back ? -stride : stride, inner, &type);
  return type;
}

MPI_Datatype hvectorOf(MPI_Datatype inner, int n, Random &random) {
  int block = random.divisor(n);
  MPI_Aint stride = roundUp(block * boundsOf(inner).extent) + gapBytes(random);
  bool back = random.oneIn(4) && mayGoBack(stride == block * boundsOf(inner).extent);
  MPI_Datatype type;
  MPI_Type_create_hvector(n / block, block, back ? -stride : stride, inner, &type);
  return type;
}

MPI_Datatype indexedOf(MPI_Datatype inner, int n, Random &random) {
  Parts parts = split(n, random);
  MPI_Datatype type;
  MPI_Type_indexed(static_cast<int>(parts.lengths.size()), parts.lengths.data(),
                   parts.places.data(), inner, &type);
  return type;
}

MPI_Datatype hindexedOf(MPI_Datatype inner, int n, Random &random) {
  Parts parts = split(n, random);
  std::vector<MPI_Aint> places = inBytes(parts.places, roundUp(boundsOf(inner).extent));
  MPI_Datatype type;
  MPI_Type_create_hindexed(static_cast<int>(places.size()), parts.lengths.data(), places.data(),
                           inner, &type);
  return type;
}

MPI_Datatype indexedBlockOf(MPI_Datatype inner, int n, Random &random) {
  int block = random.divisor(n);
  Parts parts = split(n, random, block);
  MPI_Datatype type;
  MPI_Type_create_indexed_block(static_cast<int>(parts.places.size()), block, parts.places.data(),
                                inner, &type);
  return type;
}

MPI_Datatype hindexedBlockOf(MPI_Datatype inner, int n, Random &random) {
  int block = random.divisor(n);
  std::vector<MPI_Aint> places =
      inBytes(split(n, random, block).places, roundUp(boundsOf(inner).extent));
  MPI_Datatype type;
  MPI_Type_create_hindexed_block(static_cast<int>(places.size()), block, places.data(), inner,
                                 &type);
  return type;
}

MPI_Datatype structPartsOf(MPI_Datatype inner, int n, Random &random) {
  Parts parts = split(n, random);
  std::vector<MPI_Aint> places = inBytes(parts.places, roundUp(boundsOf(inner).extent));
  std::vector<Datatype> owned;
  std::vector<MPI_Datatype> types(parts.lengths.size(), inner);
  for (size_t i = 0; i < types.size(); ++i)
    if (random.oneIn(2)) {
      MPI_Datatype run;
      MPI_Type_contiguous(std::exchange(parts.lengths[i], 1), inner, &run);
      owned.push_back(Datatype::own(run));
      types[i] = run;
    }
  MPI_Datatype type;
  MPI_Type_create_struct(static_cast<int>(places.size()), parts.lengths.data(), places.data(),
                         types.data(), &type);
  return type;
}

int arrayOrder(Random &random) { return random.oneIn(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

MPI_Datatype subarrayOf(MPI_Datatype inner, int n, Random &random) {
  int rows = random.divisor(n);
  int part[2] = {rows, n / rows}, whole[2], start[2];
  for (int d = 0; d < 2; ++d) {
    start[d] = random.between(0, 2);
    whole[d] = start[d] + part[d] + random.between(0, 1);
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(2, whole, part, start, arrayOrder(random), inner, &type);
  return type;
}

// Sizes that divide evenly, so that every process has n.
MPI_Datatype darrayOf(MPI_Datatype inner, int n, Random &random) {
  int mine[2] = {random.divisor(n), 0}, grid[2], whole[2], kind[2], argument[2];
  mine[1] = n / mine[0];
  for (int d = 0; d < 2; ++d) {
    grid[d] = random.between(1, 3);
    whole[d] = mine[d] * grid[d];
    kind[d] = random.oneIn(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
    argument[d] =
        kind[d] == MPI_DISTRIBUTE_BLOCK ? MPI_DISTRIBUTE_DFLT_DARG : random.divisor(mine[d]);
  }
  MPI_Datatype type;
  int processes = grid[0] * grid[1];
  MPI_Type_create_darray(processes, random.between(0, processes - 1), 2, whole, kind, argument,
                         grid, arrayOrder(random), inner, &type);
  return type;
}

MPI_Datatype contiguousOf(MPI_Datatype inner, int n, Random &) {
  MPI_Datatype type;
  MPI_Type_contiguous(n, inner, &type);
  return type;
}

Datatype arrange(const Datatype &inner, int n, Random &random) {
  using Shape = MPI_Datatype (*)(MPI_Datatype, int, Random &);
  static const std::vector<Shape> shapes = {
      contiguousOf,   vectorOf,        hvectorOf,     indexedOf,  hindexedOf,
      indexedBlockOf, hindexedBlockOf, structPartsOf, subarrayOf, darrayOf};
  return Datatype::own(random.oneOf(shapes)(inner.get(), n, random));
}

// Another lower bound, which may be negative, and at least the true extent.
Datatype maybeResize(Datatype type, Random &random) {
  if (!random.oneIn(3))
    return type;
  MPI_Aint lower = 8 * random.between(-4, 2);
  MPI_Datatype resized;
  MPI_Type_create_resized(type.get(), lower,
                          roundUp(boundsOf(type.get()).trueExtent) + gapBytes(random), &resized);
  return Datatype::own(resized);
}

// Elements `reach` apart, and the extent of one element: the extent is less than the true one.
Datatype interleave(const Datatype &element, int n, int reach) {
  MPI_Datatype type;
  MPI_Type_vector(n, 1, reach, element.get(), &type);
  Datatype apart = Datatype::own(type);
  Bounds one = boundsOf(element.get());
  MPI_Type_create_resized(apart.get(), one.lowerBound, one.extent, &type);
  return Datatype::own(type);
}

} // namespace

Datatype makePlain(const Pattern &pattern, int elements) {
  Datatype element = pattern.size() == 1 ? Datatype(pattern[0]) : structOf(pattern, nullptr);
  if (elements == 1)
    return element;
  MPI_Datatype run;
  MPI_Type_contiguous(elements, element.get(), &run);
  return Datatype::own(run);
}

Datatype makeDatatype(const Pattern &pattern, int elements, int reach, Random &random) {
  if (random.oneIn(6))
    return makePlain(pattern, elements);
  Datatype element = pattern.size() == 1 ? Datatype(pattern[0]) : structOf(pattern, &random);
  element = maybeResize(std::move(element), random);
  if (reach > 0 && random.oneIn(4))
    return interleave(element, elements, reach);
  int inner = random.oneIn(2) ? random.divisor(elements) : elements;
  Datatype type = maybeResize(arrange(element, inner, random), random);
  if (inner != elements || random.oneIn(4))
    type = maybeResize(arrange(type, elements / inner, random), random);
  return type;
}

} // namespace conformance
