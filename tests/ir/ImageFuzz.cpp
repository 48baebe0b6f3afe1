// Images that pass the checksum: all that the loader accepts must be safe to
// walk over, decode to a schedule that encodes to the same bytes, and have a text
// form that reads back.

#include "tests/ir/DescribeErrors.h"
#include "tests/ir/Fuzz.h"
#include "tests/ir/Schedules.h"
#include "tests/ir/Walk.h"

#include "ir/Image.h"
#include "ir/ImageLayout.h"
#include "ir/TextForm.h"

#include <cstring>

namespace colldsl {
namespace {

// Without this, all would end at the checksum.
void repair(std::vector<std::byte> &image) {
  if (image.size() < sizeof(ImageHeader) + sizeof(ImageTrailer))
    return;
  image.resize(image.size() / alignof(ImageOp) * alignof(ImageOp));
  std::byte *trailer = image.data() + image.size() - sizeof(ImageTrailer);
  uint64_t size = image.size();
  std::memcpy(trailer + offsetof(ImageTrailer, sizeBytes), &size, sizeof size);
  uint64_t checksum = imageChecksum(image);
  std::memcpy(trailer + offsetof(ImageTrailer, checksum), &checksum, sizeof checksum);
}

bool isOfThisVersion(const std::vector<std::byte> &image) {
  uint16_t minor;
  std::memcpy(&minor, image.data() + offsetof(ImageHeader, minor), sizeof minor);
  return minor == kImageMinor;
}

void checkText(const Schedule &schedule) {
  std::string text = printText(schedule);
  ParsedText back = parseText(text, "fuzz");
  if (!back.errors.empty())
    failFuzz("the text does not read back: " + describeErrors(back.errors, "fuzz") + text);
  if (std::string what = difference(schedule, back.schedule); !what.empty())
    failFuzz("the text reads back as another schedule: " + what + "\n" + text);
}

} // namespace

std::vector<FuzzInput> fuzzCorpus() {
  std::vector<FuzzInput> corpus;
  auto add = [&](const Schedule &schedule) {
    auto bytes = encodeImage(schedule);
    auto begin = reinterpret_cast<const uint8_t *>(bytes.data());
    corpus.emplace_back(begin, begin + bytes.size());
  };
  add(everythingSchedule());
  add(ringSchedule(2));
  for (uint64_t seed = 0; seed < 8; ++seed)
    add(randomSchedule(seed));
  return corpus;
}

} // namespace colldsl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace colldsl;
  auto begin = reinterpret_cast<const std::byte *>(data);
  std::vector<std::byte> bytes(begin, begin + size);
  repair(bytes);
  Result<Image> image = Image::load(bytes);
  if (!image)
    return 0;
  if (std::string what = walk(*image); !what.empty())
    failFuzz("an accepted image has " + what);
  Schedule schedule = image->decode();
  if (isOfThisVersion(bytes) && encodeImage(schedule) != bytes)
    failFuzz("an accepted image encodes to other bytes");
  checkText(schedule);
  return 0;
}
