#include "mscclpp/PlanResult.h"

#include "ir/Concat.h"

namespace colldsl::mscclpp {

Result<Contract> Contract::of(const Plan &plan) {
  Contract made;
  made.numGpus_ = plan.numGpus();
  const std::string &name = plan.collective;
  made.kind_ = name == "allreduce"                                   ? Kind::AllReduce
               : name == "allgather"                                 ? Kind::AllGather
               : name == "reducescatter" || name == "reduce_scatter" ? Kind::ReduceScatter
               : name == "alltoall"                                  ? Kind::AllToAll
               : name == "sendrecv"                                  ? Kind::SendRecv
               : name == "broadcast"                                 ? Kind::Broadcast
                                                                     : Kind::Nothing;
  if (made.kind_ == Kind::Nothing)
    return made;
  for (uint32_t gpu = 0; gpu < plan.numGpus(); ++gpu) {
    const Gpu &g = plan.gpus[gpu];
    uint64_t in = g.inputChunks, out = g.outputChunks;
    bool gathers = made.kind_ == Kind::AllGather, scatters = made.kind_ == Kind::ReduceScatter;
    bool shared = made.kind_ == Kind::AllToAll;
    bool fits = gathers    ? out == in * plan.numGpus()
                : scatters ? in == out * plan.numGpus()
                           : in == out;
    fits &= !shared || in % plan.numGpus() == 0;
    uint32_t share = static_cast<uint32_t>(shared ? in / plan.numGpus() : std::min(in, out));
    fits &= gpu == 0 || share == made.share_;
    if (!fits)
      return Status::error(concat("plan: gpu ", gpu, " has ", in, " chunks of input and ", out,
                                  " of output, which is no ", name, " among ", plan.numGpus()));
    made.share_ = share;
  }
  return made;
}

Value Contract::expected(Values &values, uint32_t launch, uint32_t gpu, uint32_t chunk,
                         uint32_t part, uint32_t perChunk, uint32_t root) const {
  auto input = [&](uint32_t from, uint32_t c) {
    return values.input(launch, from, c * perChunk + part);
  };
  auto sum = [&](uint32_t c) {
    Value all = input(0, c);
    for (uint32_t from = 1; from < numGpus_; ++from)
      all = values.sum(all, input(from, c));
    return all;
  };
  switch (kind_) {
  case Kind::Nothing:
    return Values::kUndefined;
  case Kind::AllReduce:
    return sum(chunk);
  case Kind::AllGather:
    return input(chunk / share_, chunk % share_);
  case Kind::ReduceScatter:
    return sum(gpu * share_ + chunk);
  case Kind::AllToAll:
    return input(chunk / share_, gpu * share_ + chunk % share_);
  case Kind::SendRecv:
    return input((gpu + numGpus_ - 1) % numGpus_, chunk);
  case Kind::Broadcast:
    return input(root, chunk);
  }
  return Values::kUndefined;
}

} // namespace colldsl::mscclpp
