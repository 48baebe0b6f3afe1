/// Random datatypes, nested, of every constructor that MPI has.
#pragma once

#include "mpi/Mpi.h"

#include <random>
#include <string>

namespace colldsl::mpi::test {

/// Frees the datatype, where it may be freed.
class OwnedType {
public:
  OwnedType() = default;
  explicit OwnedType(MPI_Datatype type, std::string text, bool isNamed = false)
      : type_(type), text_(std::move(text)), isNamed_(isNamed) {}
  OwnedType(OwnedType &&other) noexcept { *this = std::move(other); }
  OwnedType &operator=(OwnedType &&other) noexcept {
    std::swap(type_, other.type_);
    std::swap(text_, other.text_);
    std::swap(isNamed_, other.isNamed_);
    return *this;
  }
  ~OwnedType() {
    if (type_ != MPI_DATATYPE_NULL && !isNamed_)
      MPI_Type_free(&type_);
  }

  MPI_Datatype get() const { return type_; }
  const std::string &text() const { return text_; } ///< how it was made

private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::string text_;
  bool isNamed_ = true;
};

/// Committed. Types that it was made of are freed already.
OwnedType randomType(std::mt19937 &random, int depth);

} // namespace colldsl::mpi::test
