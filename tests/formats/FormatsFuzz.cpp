// Any bytes as GOAL in binary, or, if they begin with '<', as MSCCL XML, or, if with 'A', as
// the seed of a random algorithm, or, if with 'C', behind that as a trace of Chakra: they end in an
// error or in a schedule that has an image; and what is written of that reads back.

#include "tests/ir/Fuzz.h"
#include "tests/ir/Schedules.h"

#include "formats/Chakra.h"
#include "formats/GoalBinary.h"
#include "formats/MscclExport.h"
#include "formats/MscclImport.h"
#include "ir/Image.h"

#include <algorithm>
#include <random>

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

void tryChakra(std::string_view trace) {
  Result<Schedule> schedule = chakra::decode({{trace}}, "fuzz");
  if (!schedule)
    return;
  checkImage(*schedule);
  Result<std::vector<std::string>> written = chakra::encode(*schedule);
  if (!written)
    return; // of more bytes or of a larger tag than a trace can say
  Result<Schedule> back = chakra::decode({{written->front()}}, "fuzz");
  if (!back)
    failFuzz("what was written does not read back: " + back.message());
  if (Result<std::vector<std::string>> again = chakra::encode(*back); !again || *again != *written)
    failFuzz("what was written reads back as something else");
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

/// Makes up an algorithm; any change of the bytes gives another one.
class Inventor {
public:
  explicit Inventor(std::string_view bytes) : engine_(std::hash<std::string_view>()(bytes)) {}

  msccl::Algorithm algorithm() {
    msccl::Algorithm algorithm;
    algorithm.collective = msccl::Collective{static_cast<uint8_t>(below(7))};
    algorithm.inPlace = below(2) != 0;
    algorithm.channels = 3;
    algorithm.gpus.resize(1 + below(3));
    auto ranks = static_cast<uint32_t>(algorithm.gpus.size());
    algorithm.chunksPerLoop = ranks * (1 + below(2));
    algorithm.root = static_cast<int32_t>(below(ranks + 1)) - 1;
    for (uint32_t g = 0; g < ranks; ++g)
      fill(algorithm.gpus[g], g, algorithm);
    for (uint32_t g = 0; g < ranks; ++g)
      for (msccl::Threadblock &block : algorithm.gpus[g].blocks)
        balance(block, static_cast<int32_t>(g), algorithm);
    for (msccl::Gpu &gpu : algorithm.gpus)
      repairWaits(gpu);
    return algorithm;
  }

private:
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(engine_() % limit); }

  // What reading makes sure of holds here, too.
  void fill(msccl::Gpu &gpu, uint32_t rank, const msccl::Algorithm &algorithm) {
    auto ranks = static_cast<uint32_t>(algorithm.gpus.size());
    gpu.inputChunks = gpu.outputChunks =
        algorithm.collective == msccl::Collective::Custom ? algorithm.chunksPerLoop : 0;
    gpu.scratchChunks = algorithm.chunksPerLoop + below(2);
    // Most send some way around the gpus, and receive from there.
    gpu.blocks.resize(2 + below(2));
    auto peer = [&](uint32_t distance) {
      auto other = static_cast<int32_t>((rank + distance) % ranks);
      return other == static_cast<int32_t>(rank) || below(8) == 0 ? -1 : other;
    };
    for (uint32_t i = 0; i < gpu.blocks.size(); ++i) {
      msccl::Threadblock &block = gpu.blocks[i];
      block.sendPeer = peer(i + 1);
      block.recvPeer = peer(2 * ranks - i - 1);
      block.channel = below(8) == 0 ? below(3) : i;
      block.steps.resize(below(6));
      for (msccl::Step &step : block.steps)
        fill(step, block, algorithm);
    }
  }

  void fill(msccl::Step &step, const msccl::Threadblock &block, const msccl::Algorithm &algorithm) {
    auto place = [&] {
      return msccl::Place{msccl::Memory{static_cast<uint8_t>(below(3))},
                          static_cast<int32_t>(below(16) == 0
                                                   ? below(algorithm.chunksPerLoop + 1)
                                                   : below(algorithm.chunksPerLoop) / 2)};
    };
    step.kind = msccl::StepKind{static_cast<uint8_t>(below(9))};
    if ((sends(step.kind) && block.sendPeer < 0) || (receives(step.kind) && block.recvPeer < 0))
      step.kind = msccl::StepKind::Copy;
    step.source = place();
    step.target = place();
    step.count = step.kind == msccl::StepKind::Nop ? 0 : 1 + below(8) / 7;
    step.isAwaited = below(4) != 0;
    if (below(4) == 0) {
      step.waitBlock = static_cast<int32_t>(below(3));
      step.waitStep = static_cast<int32_t>(below(5));
    }
  }

  // Mostly as many receives as sends, since all else is refused at once.
  void balance(msccl::Threadblock &from, int32_t rank, msccl::Algorithm &algorithm) {
    if (from.sendPeer < 0 || below(16) == 0)
      return;
    auto count = [](const msccl::Threadblock &block, bool (*is)(msccl::StepKind)) {
      return std::ranges::count_if(block.steps, [&](const msccl::Step &s) { return is(s.kind); });
    };
    auto pad = [&](msccl::Threadblock &block, std::ptrdiff_t steps, msccl::StepKind kind) {
      for (; steps > 0; --steps) {
        msccl::Step step;
        fill(step, block, algorithm);
        step.kind = kind;
        step.count = 1;
        block.steps.push_back(step);
      }
    };
    for (msccl::Threadblock &into : algorithm.gpus[static_cast<size_t>(from.sendPeer)].blocks)
      if (into.recvPeer == rank && into.channel == from.channel) {
        std::ptrdiff_t more = count(from, msccl::sends) - count(into, msccl::receives);
        pad(into, more, msccl::StepKind::Recv);
        return pad(from, -more, msccl::StepKind::Send);
      }
    for (msccl::Step &step : from.steps)
      if (sends(step.kind))
        step.kind = msccl::StepKind::Copy;
  }

  void repairWaits(msccl::Gpu &gpu) {
    for (msccl::Threadblock &block : gpu.blocks)
      for (msccl::Step &step : block.steps) {
        auto blockIndex = static_cast<size_t>(step.waitBlock);
        bool exists = step.waitBlock < 0 ||
                      (blockIndex < gpu.blocks.size() &&
                       static_cast<size_t>(step.waitStep) < gpu.blocks[blockIndex].steps.size());
        if (!exists && below(32) != 0)
          step.waitBlock = step.waitStep = -1;
        else if (exists && step.waitBlock >= 0)
          gpu.blocks[blockIndex].steps[static_cast<size_t>(step.waitStep)].isAwaited =
              below(16) != 0;
      }
  }

  std::mt19937_64 engine_;
};

} // namespace

std::vector<FuzzInput> fuzzCorpus() {
  std::vector<FuzzInput> corpus;
  auto add = [&](std::string_view text) { corpus.emplace_back(text.begin(), text.end()); };
  add(kPair);
  ParsedText self = parseText("num_ranks 1\nrank 0 {\nl0: calc 1500\nl1: send 8b to 0 tag 1\n"
                              "l1 requires l0\nl2: recv 8b from 0 tag 1\n}\n",
                              "self.goal");
  if (Result<std::vector<std::string>> traces = chakra::encode(self.schedule))
    add("C" + traces->front());
  if (Result<msccl::Algorithm> ring = msccl::fromSchedule(ringSchedule(3)))
    add(msccl::print(*ring));
  auto addGoal = [&](const Schedule &schedule) {
    if (auto bytes = encodeGoal(schedule, {.localOpsAsCalc = true}))
      add({reinterpret_cast<const char *>(bytes->data()), bytes->size()});
  };
  for (char seed = 'a'; seed <= 'z'; ++seed)
    add(std::string("A") + seed);
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
  else if (text.starts_with("C"))
    colldsl::tryChakra(text.substr(1));
  else
    colldsl::tryGoal(text);
  return 0;
}
