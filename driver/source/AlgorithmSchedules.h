/// The schedules of an algorithm of MSCCL, and the collectives that it really does.
#pragma once

#include "formats/MscclImport.h"

namespace colldsl::driver {

/// One schedule, or two if the algorithm serves calls in place and others: then the second one is
/// out of place, and called NAME_out_of_place. An error as of msccl::toSchedule(); if the algorithm
/// is proved to do another collective than its file says, the hint names that.
Result<std::vector<Schedule>> schedulesOf(const msccl::Algorithm &algorithm,
                                          std::string_view fileName,
                                          const msccl::ImportOptions &options);

/// "its steps do an alltoall: `colldsl import --as alltoall` takes it for that", for collectives
/// other than the one that the file says, whose contract a proof shows. Empty: there is none.
std::string hintOfOther(const msccl::Algorithm &algorithm, const msccl::ImportOptions &options);

} // namespace colldsl::driver
