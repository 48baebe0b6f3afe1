// Stands for MscclRead.cpp where there is no libxml2.

#include "formats/Msccl.h"

namespace colldsl::msccl {

Result<Algorithm> read(std::string_view, ReadOptions) {
  return Status::error("this colldsl was built without libxml2, and cannot read MSCCL XML");
}

} // namespace colldsl::msccl
