// Each thread takes the next few ranks, makes and packs them, and hands them over in order.
#include "passes/PackProgram.h"

#include "ir/Concat.h"
#include "ir/Threads.h"
#include "simulator/RankPacker.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace colldsl {
namespace {

class ProgramPacker {
public:
  ProgramPacker(const Program &program, const InstantiateRequest &request,
                const sim::WorkloadOptions &options)
      : program_(program), request_(request), options_(options), builder_(request.ranks, options) {}

  Result<sim::Workload> run(unsigned threads);

private:
  void work();
  std::optional<sim::WorkloadBuilder::Place>
  takeTurn(uint32_t begin, uint32_t end, const sim::PackedRanks &packed, const Status &made);
  Status pack(Instantiator &instantiator, sim::RankPacker &packer, Dag &dag, uint32_t begin,
              uint32_t end, sim::PackedRanks &into) const;
  Status checkBuffers(const Dag &dag) const;

  const Program &program_;
  const InstantiateRequest &request_;
  const sim::WorkloadOptions &options_;
  sim::WorkloadBuilder builder_;
  std::atomic<uint32_t> nextToMake_{0};
  std::mutex mutex_; ///< guards what follows
  std::condition_variable turn_;
  uint32_t nextToAdd_ = 0;
  Status error_; ///< of the first rank that failed
};

Status ProgramPacker::checkBuffers(const Dag &dag) const {
  for (const Buffer &buffer : dag.buffers)
    if (buffer.layout == Layout::CallTime)
      return Status::error(program_.decl(request_.collective).loc,
                           "it has blocks whose length is known at call time only");
  return {};
}

Status ProgramPacker::pack(Instantiator &instantiator, sim::RankPacker &packer, Dag &dag,
                           uint32_t begin, uint32_t end, sim::PackedRanks &into) const {
  Sizes sizes{request_.elements, {}};
  for (uint32_t r = begin; r < end; ++r) {
    Status s = instantiator.instantiate(Rank{r}, dag);
    if (s)
      s = checkBuffers(dag);
    if (s)
      s = packer.add(Rank{r}, dag, sizes, into);
    if (!s)
      return s;
  }
  return {};
}

void ProgramPacker::work() {
  Instantiator instantiator(program_, request_);
  sim::RankPacker packer(request_.ranks, options_);
  Dag dag;
  sim::PackedRanks packed(options_.topology);
  for (;;) {
    uint32_t begin = nextToMake_.fetch_add(sim::kStride);
    if (begin >= request_.ranks)
      return;
    uint32_t end = std::min(request_.ranks, begin + sim::kStride);
    packed.clear();
    Status made = pack(instantiator, packer, dag, begin, end, packed);
    std::optional<sim::WorkloadBuilder::Place> place = takeTurn(begin, end, packed, made);
    if (!place)
      return;
    builder_.fill(*place, packed);
  }
}

/// Waits until all ranks before these have their place. Returns nothing if some rank failed.
std::optional<sim::WorkloadBuilder::Place> ProgramPacker::takeTurn(uint32_t begin, uint32_t end,
                                                                   const sim::PackedRanks &packed,
                                                                   const Status &made) {
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return nextToAdd_ == begin || !error_; });
  if (!error_)
    return std::nullopt;
  Result<sim::WorkloadBuilder::Place> place = made ? builder_.makeRoom(packed) : made;
  error_ = place.status();
  nextToAdd_ = end;
  turn_.notify_all();
  return place ? std::optional(*place) : std::nullopt;
}

Result<sim::Workload> ProgramPacker::run(unsigned threads) {
  onThreads(threads, [this] { work(); });
  if (!error_)
    return error_;
  auto maker = std::make_shared<Instantiator>(program_, request_);
  auto dag = std::make_shared<Dag>();
  auto describe = [maker, dag, made = kNoRank](Rank rank, OpId op) mutable -> Result<Op> {
    if (made != rank)
      if (Status s = maker->instantiate(rank, *dag); !s)
        return s;
    made = rank;
    return dag->op(op);
  };
  return builder_.finish(describe, program_.files, threads);
}

} // namespace

Result<sim::Workload> packProgram(const Program &program, const InstantiateRequest &request,
                                  const sim::WorkloadOptions &options, unsigned threads) {
  if (request.ranks == 0 || request.ranks > request.limits.maxRanks)
    return Status::error(
        concat(request.ranks, " ranks are not between 1 and ", request.limits.maxRanks));
  return ProgramPacker(program, request, options).run(std::max(1u, threads));
}

Result<size_t> opsOfFirstRank(const Program &program, const InstantiateRequest &request) {
  Dag dag;
  Status s = Instantiator(program, request).instantiate(Rank{0}, dag);
  if (!s)
    return s;
  return dag.ops.size();
}

} // namespace colldsl
