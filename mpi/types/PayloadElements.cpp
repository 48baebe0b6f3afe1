#include "mpi/types/PayloadElements.h"

#include "mpi/Real.h"

#include <algorithm>
#include <climits>

namespace colldsl::mpi {
namespace {

// The MPI counts by int.
constexpr uint64_t kLongestBlock = uint64_t{1} << 30;

} // namespace

Elements::Elements(const Payload &payload, uint64_t bytes) {
  if (payload.count == 1 && bytes <= INT_MAX) {
    address = payload.pieces[0].iov_base;
    count = static_cast<int>(bytes);
    return;
  }
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (uint32_t i = 0; i < payload.count && bytes > 0; ++i) {
    auto *at = static_cast<std::byte *>(payload.pieces[i].iov_base);
    for (uint64_t left = std::min<uint64_t>(payload.pieces[i].iov_len, bytes); left > 0;) {
      uint64_t block = std::min(left, kLongestBlock);
      lengths.push_back(static_cast<int>(block));
      places.push_back(reinterpret_cast<MPI_Aint>(at));
      at += block;
      left -= block;
      bytes -= block;
    }
  }
  real::Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                             MPI_BYTE, &type);
  real::Type_commit(&type);
}

Elements::~Elements() {
  if (type != MPI_BYTE)
    real::Type_free(&type);
}

} // namespace colldsl::mpi
