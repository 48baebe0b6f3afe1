#include "driver/source/AlgorithmSchedules.h"

#include "verifier/Verifier.h"

namespace colldsl::driver {
namespace {

constexpr msccl::Collective kWithContract[] = {
    msccl::Collective::Allreduce, msccl::Collective::Allgather, msccl::Collective::ReduceScatter,
    msccl::Collective::Alltoall,  msccl::Collective::Broadcast, msccl::Collective::Reduce};

bool does(msccl::Algorithm algorithm, msccl::Collective collective,
          const msccl::ImportOptions &options) {
  algorithm.collective = collective;
  Result<Schedule> schedule = msccl::toSchedule(algorithm, "", options);
  return schedule && proof::verify(*schedule, {{schedule->sizeClass.elements, {}, 0}}, {}).proved();
}

} // namespace

Result<std::vector<Schedule>> schedulesOf(const msccl::Algorithm &algorithm,
                                          std::string_view fileName,
                                          const msccl::ImportOptions &options) {
  std::vector<Schedule> schedules;
  Result<Schedule> first = msccl::toSchedule(algorithm, fileName, options);
  if (!first) {
    Diagnostic why = first.status().diagnostic();
    if (std::string hint = hintOfOther(algorithm, options); !hint.empty())
      why.hint = hint;
    return why;
  }
  schedules.push_back(first.take());
  if (!algorithm.inPlace || !algorithm.outOfPlace)
    return schedules;
  msccl::Algorithm other = algorithm;
  other.inPlace = false;
  Result<Schedule> second = msccl::toSchedule(other, fileName, options);
  if (!second)
    return second.status();
  schedules.push_back(second.take());
  schedules.back().name += "_out_of_place";
  return schedules;
}

std::string hintOfOther(const msccl::Algorithm &algorithm, const msccl::ImportOptions &options) {
  for (msccl::Collective collective : kWithContract)
    if (collective != algorithm.collective && does(algorithm, collective, options)) {
      std::string word(spelling(collective));
      return "its steps do " + std::string(word.front() == 'a' ? "an " : "a ") + word +
             ": `colldsl import --as " + word + "` takes it for that";
    }
  return "";
}

} // namespace colldsl::driver
