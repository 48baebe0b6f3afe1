// Any bytes as GOAL in binary, or, if they begin with '<', as MSCCL XML, or, if with 'A', as
// the choices of someone who makes up an algorithm: they end in an error or in a schedule that
// has an image; and what is written of that reads back.

#include "tests/ir/Fuzz.h"
#include "tests/ir/Schedules.h"

#include "formats/GoalBinary.h"
#include "formats/MscclExport.h"
#include "formats/MscclImport.h"
#include "ir/Image.h"

namespace colldsl {
namespace {

constexpr const char *kPair =
    R"(<algo name="pair" proto="LL" nchannels="2" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1">
<gpu id="0" i_chunks="2" o_chunks="2" s_chunks="2">
<tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
<step s="1" type="rrc" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="1"/>
</tb><tb id="1" send="1" recv="1" chan="1">
<step s="0" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0" depid="0" deps="0" hasdep="0"/>
<step s="1" type="s" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="0" deps="1" hasdep="0"/>
<step s="2" type="r" srcbuf="o" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb></gpu>
<gpu id="1" i_chunks="2" o_chunks="2" s_chunks="2">
<tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
</tb><tb id="1" send="0" recv="0" chan="1">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="s" dstoff="1" cnt="1" depid="0" deps="2" hasdep="0"/>
<step s="1" type="s" srcbuf="s" srcoff="1" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="r" srcbuf="o" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb></gpu></algo>)";

void checkImage(const Schedule &schedule) {
  auto bytes = encodeImage(schedule);
  if (Result<Image> image = Image::load(bytes); !image)
    failFuzz("a file that reads has an image that does not load: " + image.message());
}

void tryGoal(std::string_view text) {
  Result<Schedule> schedule = decodeGoal(std::as_bytes(std::span(text)), "fuzz");
  if (!schedule)
    return;
  checkImage(*schedule);
  Result<std::string> goal = printGoal(*schedule);
  Result<std::vector<std::byte>> bytes = encodeGoal(*schedule);
  if (!goal || !bytes)
    failFuzz("GOAL that reads cannot be written");
  Result<Schedule> back = decodeGoal(*bytes, "fuzz");
  if (!back)
    failFuzz("what was written does not read back: " + back.message());
  if (Result<std::string> again = printGoal(*back); !again || *again != *goal)
    failFuzz("what was written reads back as something else:\n" + *goal + *again);
}

// Also what no verifier has seen.
void tryAlgorithm(const msccl::Algorithm &algorithm) {
  Result<Schedule> schedule = msccl::toSchedule(algorithm, "fuzz");
  if (!schedule)
    return;
  checkImage(*schedule);
  Result<msccl::Algorithm> written = msccl::fromSchedule(*schedule);
  if (!written)
    return;
  std::string xml = msccl::print(*written);
  Result<msccl::Algorithm> back = msccl::read(xml);
  if (!back || msccl::print(*back) != xml)
    failFuzz("what was written does not read back: " + back.message() + "\n" + xml);
  if (Result<Schedule> again = msccl::toSchedule(*back, "fuzz"); !again)
    failFuzz("what was written is no schedule: " + again.message() + "\n" + xml);
}

void tryMsccl(std::string_view text) {
  if (Result<msccl::Algorithm> algorithm = msccl::read(text))
    tryAlgorithm(*algorithm);
}

/// Makes up an algorithm, byte by byte.
class Inventor {
public:
  explicit Inventor(std::string_view bytes) : bytes_(bytes) {}

  msccl::Algorithm algorithm() {
    msccl::Algorithm algorithm;
    algorithm.collective = msccl::Collective{static_cast<uint8_t>(below(7))};
    algorithm.inPlace = below(2) != 0;
    algorithm.channels = 2;
    algorithm.gpus.resize(1 + below(3));
    auto ranks = static_cast<uint32_t>(algorithm.gpus.size());
    algorithm.chunksPerLoop = ranks * (1 + below(2));
    algorithm.root = static_cast<int32_t>(below(ranks + 1)) - 1;
    for (uint32_t g = 0; g < ranks; ++g)
      fill(algorithm.gpus[g], g, algorithm);
    return algorithm;
  }

private:
  uint32_t below(uint32_t limit) {
    uint8_t byte = at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_]) : 0;
    ++at_;
    return byte % limit;
  }

  // What reading makes sure of holds here, too.
  void fill(msccl::Gpu &gpu, uint32_t rank, const msccl::Algorithm &algorithm) {
    auto ranks = static_cast<uint32_t>(algorithm.gpus.size());
    gpu.inputChunks = gpu.outputChunks =
        algorithm.collective == msccl::Collective::Custom ? algorithm.chunksPerLoop : 0;
    gpu.scratchChunks = below(3);
    gpu.blocks.resize(below(4));
    auto peer = [&] {
      auto other = static_cast<int32_t>(below(ranks + 1)) - 1;
      return other == static_cast<int32_t>(rank) ? -1 : other;
    };
    for (msccl::Threadblock &block : gpu.blocks) {
      block.sendPeer = peer();
      block.recvPeer = peer();
      block.channel = below(2);
      block.steps.resize(below(6));
      for (msccl::Step &step : block.steps)
        fill(step, block, algorithm);
    }
  }

  void fill(msccl::Step &step, const msccl::Threadblock &block, const msccl::Algorithm &algorithm) {
    auto place = [&] {
      return msccl::Place{msccl::Memory{static_cast<uint8_t>(below(3))},
                          static_cast<int32_t>(below(algorithm.chunksPerLoop))};
    };
    step.kind = msccl::StepKind{static_cast<uint8_t>(below(9))};
    if ((sends(step.kind) && block.sendPeer < 0) || (receives(step.kind) && block.recvPeer < 0))
      step.kind = msccl::StepKind::Copy;
    step.source = place();
    step.target = place();
    step.count = step.kind == msccl::StepKind::Nop ? 0 : 1 + below(2);
    step.isAwaited = below(4) != 0;
    if (below(3) == 0) {
      step.waitBlock = static_cast<int32_t>(below(3));
      step.waitStep = static_cast<int32_t>(below(5));
    }
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

} // namespace

std::vector<FuzzInput> fuzzCorpus() {
  std::vector<FuzzInput> corpus;
  auto add = [&](std::string_view text) { corpus.emplace_back(text.begin(), text.end()); };
  add(kPair);
  if (Result<msccl::Algorithm> ring = msccl::fromSchedule(ringSchedule(3)))
    add(msccl::print(*ring));
  auto addGoal = [&](const Schedule &schedule) {
    if (auto bytes = encodeGoal(schedule, {.localOpsAsCalc = true}))
      add({reinterpret_cast<const char *>(bytes->data()), bytes->size()});
  };
  for (int seed = 0; seed < 8; ++seed) {
    std::string choices = "A";
    for (int i = 0; i < 200; ++i)
      choices += static_cast<char>((i * 37 + seed * 101) * 2654435761u >> 24);
    add(choices);
  }
  addGoal(ringSchedule(2));
  for (uint64_t seed = 0; seed < 6; ++seed)
    addGoal(randomSchedule(seed));
  return corpus;
}

} // namespace colldsl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  if (text.starts_with("<"))
    colldsl::tryMsccl(text);
  else if (text.starts_with("A"))
    colldsl::tryAlgorithm(colldsl::Inventor(text.substr(1)).algorithm());
  else
    colldsl::tryGoal(text);
  return 0;
}
