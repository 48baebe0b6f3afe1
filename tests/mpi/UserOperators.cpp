// Operators that are functions of the program, on cells of two numbers. One element is several
// cells, wherever its datatype puts them; the datatype carries that knowledge as an attribute.
#include "tests/mpi/Operators.h"

#include <cstring>

namespace conformance {
namespace {

struct Cell {
  int32_t a, b;
};

constexpr int64_t kModulus = 46337;

Cell add(Cell x, Cell y) {
  return {static_cast<int32_t>((x.a + y.a) % kModulus),
          static_cast<int32_t>((x.b + y.b) % kModulus)};
}

// First x, then y, of the functions n -> a n + b: associative, and not commutative.
Cell compose(Cell x, Cell y) {
  return {static_cast<int32_t>(int64_t{x.a} * y.a % kModulus),
          static_cast<int32_t>((int64_t{x.b} * y.a + y.b) % kModulus)};
}

// Where the numbers of an element lie.
struct Places {
  std::vector<MPI_Aint> offsets;
  MPI_Aint extent;
};

bool content = true;

int keyval() {
  static int made = MPI_KEYVAL_INVALID;
  if (made == MPI_KEYVAL_INVALID)
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &made, nullptr);
  return made;
}

template <Cell (*combine)(Cell, Cell)> void apply(void *in, void *inout, int *n, MPI_Datatype *t) {
  Places *places;
  int found;
  MPI_Type_get_attr(*t, keyval(), &places, &found);
  content &= found != 0;
  if (!found)
    return;
  const std::byte *left = static_cast<std::byte *>(in);
  std::byte *right = static_cast<std::byte *>(inout);
  for (int i = 0; i < *n; ++i, left += places->extent, right += places->extent)
    for (size_t k = 0; k < places->offsets.size(); k += 2) {
      Cell x, y;
      MPI_Aint a = places->offsets[k], b = places->offsets[k + 1];
      std::memcpy(&x.a, left + a, 4), std::memcpy(&x.b, left + b, 4);
      std::memcpy(&y.a, right + a, 4), std::memcpy(&y.b, right + b, 4);
      y = combine(x, y);
      std::memcpy(right + a, &y.a, 4), std::memcpy(right + b, &y.b, 4);
    }
}

// Unpacks 1, 2, 3, ... and looks where they went.
Places findPlaces(MPI_Datatype type, int numbers) {
  Bounds bounds = boundsOf(type);
  std::vector<int32_t> counted(numbers);
  for (int i = 0; i < numbers; ++i)
    counted[i] = i + 1;
  std::vector<std::byte> memory(bounds.trueExtent);
  int position = 0;
  MPI_Unpack(counted.data(), numbers * 4, &position, memory.data() - bounds.trueLowerBound, 1, type,
             MPI_COMM_SELF);
  Places places{std::vector<MPI_Aint>(numbers), bounds.extent};
  for (MPI_Aint at = 0; at < bounds.trueExtent; at += 4) {
    int32_t number;
    std::memcpy(&number, memory.data() + at, 4);
    if (number > 0)
      places.offsets[number - 1] = at + bounds.trueLowerBound;
  }
  return places;
}

Datatype drawType(int cells, Random &shared) {
  const Pattern pattern = {MPI_INT, MPI_INT};
  Datatype type =
      shared.oneIn(3) && cells == 1 ? Datatype(MPI_2INT) : makeDatatype(pattern, cells, 0, shared);
  // A predefined type may be used for other things at the same time.
  return type.duplicate();
}

class User : public Operator {
public:
  User(int cells, bool commutative, Random &shared)
      : cells_(cells), combine_(commutative ? add : compose) {
    commutes = commutative;
    name = commutes ? "a commutative function" : "a function that does not commute";
    type = drawType(cells, shared);
    places_ = findPlaces(type.get(), 2 * cells);
    MPI_Type_set_attr(type.get(), keyval(), &places_);
    MPI_Op_create(commutes ? apply<add> : apply<compose>, commutes, &op);
    elementBytes = cells * sizeof(Cell);
  }
  User(const User &) = delete;
  ~User() override { MPI_Op_free(&op); }

  void draw(std::byte *elements, int count, Random &random) const override {
    for (int i = 0; i < count * cells_; ++i) {
      Cell cell{random.between(1, 1000), random.between(0, 1000)};
      std::memcpy(elements + i * sizeof cell, &cell, sizeof cell);
    }
  }
  void fold(const std::byte *left, std::byte *right, int count) const override {
    for (int i = 0; i < count * cells_; ++i) {
      Cell x, y;
      std::memcpy(&x, left + i * sizeof x, sizeof x);
      std::memcpy(&y, right + i * sizeof y, sizeof y);
      y = combine_(x, y);
      std::memcpy(right + i * sizeof y, &y, sizeof y);
    }
  }
  void put(const std::byte *elements, int count, std::byte *memory) const override {
    for (int i = 0; i < count; ++i, memory += places_.extent)
      for (MPI_Aint offset : places_.offsets) {
        std::memcpy(memory + offset, elements, 4);
        elements += 4;
      }
  }
  bool isPadding(size_t) const override { return false; }
  bool isContent() const override { return content; }

private:
  int cells_;
  Cell (*combine_)(Cell, Cell);
  Places places_;
};

} // namespace

std::unique_ptr<Operator> makeUser(Random &shared) {
  int cells = shared.between(1, 4);
  bool commutes = shared.oneIn(3);
  return std::make_unique<User>(cells, commutes, shared);
}

} // namespace conformance
