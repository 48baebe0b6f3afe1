// Any bytes as GOAL in binary, or, if they begin with '<', as MSCCL XML: they end in an
// error or in a schedule that has an image; and what is written of that reads back.

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
void tryMsccl(std::string_view text) {
  Result<msccl::Algorithm> algorithm = msccl::read(text);
  if (!algorithm)
    return;
  Result<Schedule> schedule = msccl::toSchedule(*algorithm, "fuzz");
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
  else
    colldsl::tryGoal(text);
  return 0;
}
