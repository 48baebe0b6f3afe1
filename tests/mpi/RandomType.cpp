#include "tests/mpi/RandomType.h"

#include <vector>

namespace colldsl::mpi::test {
namespace {

class Maker {
public:
  explicit Maker(std::mt19937 &random) : random_(random) {}

  OwnedType make(int depth) {
    if (depth == 0)
      return named();
    OwnedType element = make(depth - 1);
    using Make = OwnedType (Maker::*)(const OwnedType &);
    static constexpr Make kMakes[] = {
        &Maker::contiguous,    &Maker::vector,       &Maker::hvector,       &Maker::indexed,
        &Maker::hindexed,      &Maker::indexedBlock, &Maker::hindexedBlock, &Maker::structure,
        &Maker::subarray,      &Maker::darray,       &Maker::resized,       &Maker::duplicate,
#ifdef COLLDSL_MPI_LARGE_COUNTS
        &Maker::largeVector,   &Maker::largeHvector, &Maker::largeHindexed, &Maker::largeStructure,
        &Maker::largeSubarray, &Maker::largeResized,
#endif
    };
    return (this->*kMakes[pick(0, std::size(kMakes) - 1)])(element);
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  std::vector<int> picks(int howMany, int low, int high) {
    std::vector<int> values(howMany);
    for (int &value : values)
      value = pick(low, high);
    return values;
  }

  static MPI_Aint extentOf(MPI_Datatype type) {
    MPI_Aint lb = 0, extent = 0;
    MPI_Type_get_extent(type, &lb, &extent);
    return extent;
  }

  OwnedType named() {
    // No long doubles: MPICH moves them as numbers, and what fills them up to 16 bytes is lost.
    static const MPI_Datatype kTypes[] = {
        MPI_CHAR,
        MPI_SHORT,
        MPI_INT,
        MPI_DOUBLE,
        MPI_2INT,
        MPI_DOUBLE_INT,
        MPI_BYTE,
        MPI_INTEGER,
        MPI_REAL8,
        MPI_SHORT_INT,
        MPI_FLOAT_INT,
        MPI_PACKED,
        MPI_C_BOOL,
        MPI_UINT16_T,
        MPI_2DOUBLE_PRECISION,
        MPI_C_DOUBLE_COMPLEX,
    };
    static constexpr int kF90 = 3, kComplex = std::size(kTypes) - 1, kF90Complex = kComplex + 3;
    int which = pick(0, std::size(kTypes) - 1 + kF90);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (which == std::size(kTypes))
      MPI_Type_create_f90_real(12, 200, &type);
    else if (which == std::size(kTypes) + 1)
      MPI_Type_create_f90_integer(7, &type);
    else if (which == std::size(kTypes) + 2)
      MPI_Type_create_f90_complex(5, 20, &type);
    else
      type = kTypes[which];
    bool isComplex = which == kComplex || which == kF90Complex;
    return OwnedType(type, (isComplex ? "complex " : "named ") + std::to_string(which), true);
  }

  OwnedType contiguous(const OwnedType &element) {
    MPI_Datatype type;
    MPI_Type_contiguous(pick(1, 5), element.get(), &type);
    return OwnedType(type, "contiguous of " + element.text());
  }
  OwnedType vector(const OwnedType &element) {
    MPI_Datatype type;
    MPI_Type_vector(pick(1, 5), pick(1, 3), pick(-2, 6), element.get(), &type);
    return OwnedType(type, "vector of " + element.text());
  }
  OwnedType hvector(const OwnedType &element) {
    MPI_Datatype type;
    MPI_Type_create_hvector(pick(1, 5), pick(1, 3), pick(-64, 128), element.get(), &type);
    return OwnedType(type, "hvector of " + element.text());
  }
  OwnedType indexed(const OwnedType &element) {
    int n = pick(1, 4);
    std::vector<int> lengths = picks(n, 1, 3), places = picks(n, -3, 8);
    MPI_Datatype type;
    MPI_Type_indexed(n, lengths.data(), places.data(), element.get(), &type);
    return OwnedType(type, "indexed of " + element.text());
  }
  OwnedType hindexed(const OwnedType &element) {
    int n = pick(1, 4);
    std::vector<int> lengths = picks(n, 1, 3), places = picks(n, -99, 99);
    MPI_Datatype type;
    MPI_Type_create_hindexed(n, lengths.data(),
                             std::vector<MPI_Aint>(places.begin(), places.end()).data(),
                             element.get(), &type);
    return OwnedType(type, "hindexed of " + element.text());
  }
  OwnedType indexedBlock(const OwnedType &element) {
    int n = pick(1, 4);
    MPI_Datatype type;
    MPI_Type_create_indexed_block(n, pick(1, 3), picks(n, -3, 8).data(), element.get(), &type);
    return OwnedType(type, "indexed block of " + element.text());
  }
  OwnedType hindexedBlock(const OwnedType &element) {
    int n = pick(1, 4);
    std::vector<int> places = picks(n, -99, 99);
    MPI_Datatype type;
    MPI_Type_create_hindexed_block(n, pick(1, 3),
                                   std::vector<MPI_Aint>(places.begin(), places.end()).data(),
                                   element.get(), &type);
    return OwnedType(type, "hindexed block of " + element.text());
  }
  OwnedType structure(const OwnedType &element) {
    int n = pick(1, 4);
    std::vector<int> lengths = picks(n, 1, 3), places = picks(n, -99, 199);
    OwnedType other = named();
    std::vector<MPI_Datatype> types;
    for (int i = 0; i < n; ++i)
      types.push_back(pick(0, 1) ? element.get() : other.get());
    MPI_Datatype type;
    MPI_Type_create_struct(n, lengths.data(),
                           std::vector<MPI_Aint>(places.begin(), places.end()).data(), types.data(),
                           &type);
    return OwnedType(type, "struct of " + other.text() + " and " + element.text());
  }

  struct Part {
    std::vector<int> sizes, taken, first;
  };
  Part part() {
    Part p;
    for (int d = pick(1, 3); d > 0; --d) {
      p.sizes.push_back(pick(1, 5));
      p.taken.push_back(pick(1, p.sizes.back()));
      p.first.push_back(pick(0, p.sizes.back() - p.taken.back()));
    }
    return p;
  }
  int order() { return pick(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

  OwnedType subarray(const OwnedType &element) {
    Part p = part();
    MPI_Datatype type;
    MPI_Type_create_subarray(p.sizes.size(), p.sizes.data(), p.taken.data(), p.first.data(),
                             order(), element.get(), &type);
    return OwnedType(type, "subarray of " + element.text());
  }
  OwnedType darray(const OwnedType &element) {
    std::vector<int> sizes, how, arguments, grid;
    int places = 1;
    for (int d = pick(1, 3); d > 0; --d) {
      static const int kHow[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
      how.push_back(kHow[pick(0, 2)]);
      grid.push_back(how.back() == MPI_DISTRIBUTE_NONE ? 1 : pick(1, 3));
      sizes.push_back(pick(grid.back() * 2, 9));
      bool isDefault = how.back() == MPI_DISTRIBUTE_NONE || pick(0, 1);
      int least = how.back() == MPI_DISTRIBUTE_BLOCK ? (sizes.back() - 1) / grid.back() + 1 : 1;
      arguments.push_back(isDefault ? MPI_DISTRIBUTE_DFLT_DARG : pick(least, least + 1));
      places *= grid.back();
    }
    MPI_Datatype type;
    MPI_Type_create_darray(places, pick(0, places - 1), sizes.size(), sizes.data(), how.data(),
                           arguments.data(), grid.data(), order(), element.get(), &type);
    return OwnedType(type, "darray of " + element.text());
  }
  OwnedType resized(const OwnedType &element) {
    MPI_Datatype type;
    MPI_Type_create_resized(element.get(), pick(-16, 16), pick(1, 200), &type);
    return OwnedType(type, "resized of " + element.text());
  }
  OwnedType duplicate(const OwnedType &element) {
    MPI_Datatype type;
    MPI_Type_dup(element.get(), &type);
    return OwnedType(type, "dup of " + element.text());
  }

#ifdef COLLDSL_MPI_LARGE_COUNTS
  std::vector<MPI_Count> large(const std::vector<int> &values) {
    return {values.begin(), values.end()};
  }
  OwnedType largeVector(const OwnedType &element) {
    MPI_Datatype type;
    MPI_Type_vector_c(pick(1, 5), pick(1, 3), pick(-2, 6), element.get(), &type);
    return OwnedType(type, "vector_c of " + element.text());
  }
  OwnedType largeHvector(const OwnedType &element) {
    MPI_Datatype type;
    MPI_Type_create_hvector_c(pick(1, 5), pick(1, 3), pick(-64, 128), element.get(), &type);
    return OwnedType(type, "hvector_c of " + element.text());
  }
  OwnedType largeHindexed(const OwnedType &element) {
    int n = pick(1, 4);
    MPI_Datatype type;
    MPI_Type_create_hindexed_c(n, large(picks(n, 1, 3)).data(), large(picks(n, -99, 99)).data(),
                               element.get(), &type);
    return OwnedType(type, "hindexed_c of " + element.text());
  }
  OwnedType largeStructure(const OwnedType &element) {
    int n = pick(1, 4);
    std::vector<MPI_Datatype> types(n, element.get());
    MPI_Datatype type;
    MPI_Type_create_struct_c(n, large(picks(n, 1, 3)).data(), large(picks(n, -99, 199)).data(),
                             types.data(), &type);
    return OwnedType(type, "struct_c of " + element.text());
  }
  OwnedType largeSubarray(const OwnedType &element) {
    Part p = part();
    MPI_Datatype type;
    MPI_Type_create_subarray_c(p.sizes.size(), large(p.sizes).data(), large(p.taken).data(),
                               large(p.first).data(), order(), element.get(), &type);
    return OwnedType(type, "subarray_c of " + element.text());
  }
  OwnedType largeResized(const OwnedType &element) {
    MPI_Datatype type;
    MPI_Type_create_resized_c(element.get(), pick(-16, 16), pick(1, 200), &type);
    return OwnedType(type, "resized_c of " + element.text());
  }
#endif

  std::mt19937 &random_;
};

} // namespace

OwnedType randomType(std::mt19937 &random, int depth) {
  OwnedType type = Maker(random).make(depth);
  MPI_Datatype handle = type.get();
  if (depth > 0)
    MPI_Type_commit(&handle);
  return type;
}

} // namespace colldsl::mpi::test
