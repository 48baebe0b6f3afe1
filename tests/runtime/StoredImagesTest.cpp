// Plans take the image of a library that serves their call, and no other one. The image of
// `gathered` here is a schedule of `reversed`, so that the data tells which of both ran.
#include "runtime/StoredImages.h"
#include "compiler/Compile.h"
#include "ir/Concat.h"
#include "program/Operands.h"
#include "protocol/local/LocalEndpoint.h"
#include "runtime/CollectivePlan.h"
#include "runtime/job/LocalRanks.h"
#include "topology/LevelSet.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

constexpr uint32_t kRanks = 3;
constexpr uint64_t kElements = 10;

const Program &program() {
  static const Compilation compilation = compileFiles({COLLDSL_STORED});
  EXPECT_TRUE(compilation.ok());
  return compilation.program();
}

Schedule scheduleOf(const char *collective) {
  InstantiateRequest request;
  request.collective = program().find(collective, DeclKind::Collective);
  request.ranks = kRanks;
  request.elements = kElements;
  Result<Schedule> schedule = instantiateAll(program(), request);
  EXPECT_TRUE(schedule.ok());
  schedule->sizeClass = {kElements, kElements, 2 * kElements};
  return schedule.take();
}

LibraryContent libraryWith(LibraryImage entry, const char *schedules = "reversed") {
  Schedule schedule = scheduleOf(schedules);
  entry.collective = "gathered";
  entry.ranks = kRanks;
  entry.elements = entry.minElements = kElements;
  entry.maxElements = 2 * kElements;
  LibraryContent content;
  content.identity = {"test", 1, {}};
  content.program = program();
  content.images.push_back(entry);
  content.imageBytes.push_back(encodeImage(schedule));
  return content;
}

/// `reversed` has been imported: its image counts pairs of elements. The function `gathers` is
/// served by it, else by `gathered`.
LibraryContent libraryWithImport() {
  Schedule schedule = scheduleOf("reversed");
  for (Dag &dag : schedule.ranks) {
    for (Slice &slice : dag.slices) {
      slice.beginScale *= 2;
      slice.endScale *= 2;
    }
    for (Buffer &buffer : dag.buffers)
      buffer.endScale *= 2;
    dag.contract = {};
  }
  schedule.hasContract = false;
  LibraryContent content = libraryWith({});
  content.images[0].collective = "reversed";
  content.imageBytes[0] = encodeImage(schedule);
  content.imported.push_back({"reversed", 2});
  for (const char *name : {"reversed", "gathered"}) {
    SelectionRule rule;
    rule.function = "gathers";
    rule.collective = index(program().find(name, DeclKind::Collective));
    content.rules.push_back(rule);
  }
  return content;
}

/// A call of `gathered`, and what its settings are.
struct Call {
  uint64_t elements = kElements;
  ElementType type = ElementType::I32;
  std::vector<std::pair<std::string, int64_t>> values = {};
  const char *name = "gathered";
};

/// 'i': the image ran; 'p': the program; else something is wrong, and `why` says what.
Result<std::vector<std::byte>> runOne(Endpoint &endpoint, Library &library, const Call &call) {
  Communicator communicator(endpoint, Topology::flat(endpoint.numRanks()));
  uint32_t ranks = communicator.numRanks(), me = index(communicator.rank());
  std::vector<int32_t> x(call.elements * 2, static_cast<int32_t>(me)), y(x.size() * ranks, -1);
  CollectivePlan plan(communicator, library, call.name);
  uint64_t bytes = call.elements * sizeBytes(call.type);
  for (Status s : {plan.setType(call.type), plan.setElements(call.elements),
                   plan.bind("x", BoundBuffer::in(x.data(), bytes)),
                   plan.bind("y", {y.data(), bytes * ranks})})
    if (!s)
      return s;
  int64_t turn = 0;
  for (const auto &[name, value] : call.values) {
    if (Status s = plan.setValue(name, value); !s)
      return s;
    turn = name == "turn" ? value : turn;
  }
  if (Status s = plan.commit(); !s)
    return s;
  for (Status s : {plan.start(), plan.plan().wait(std::chrono::seconds(20))})
    if (!s)
      return s;
  bool isStored = plan.image() != nullptr;
  for (uint32_t r = 0; r < ranks; ++r) {
    int64_t wanted = isStored ? ranks - 1 - r : (r + turn) % ranks;
    if (y[r * bytes / sizeof y[0]] != wanted)
      return Status::error(concat("block ", r, " is of rank ", y[r * bytes / sizeof y[0]]));
  }
  return std::vector<std::byte>{std::byte(isStored ? 'i' : 'p')};
}

/// What runOne() returned on each rank, in a row, or what was wrong. `libraries`: the last one is
/// that of all further ranks, too.
std::string ranWith(const std::vector<LibraryContent> &libraries, const Call &call,
                    uint32_t ranks) {
  std::vector<std::vector<std::byte>> bytes;
  for (const LibraryContent &library : libraries)
    bytes.push_back(encodeLibrary(library));
  LocalOptions local;
  local.numRanks = ranks;
  local.timeout = std::chrono::seconds(60);
  auto outcomes = runLocalRanks(local, [&](Endpoint &e) -> Result<std::vector<std::byte>> {
    auto library = Library::view(bytes[std::min<size_t>(index(e.rank()), bytes.size() - 1)]);
    if (!library)
      return library.status();
    return runOne(e, **library, call);
  });
  if (!outcomes.ok())
    return outcomes.message();
  if (Status s = firstFailure(*outcomes); !s)
    return s.message();
  std::string marks;
  for (const RankOutcome &outcome : *outcomes)
    marks += static_cast<char>(outcome.bytes.at(0));
  return marks;
}

std::string ran(const LibraryImage &entry, const Call &call = {}, uint32_t ranks = kRanks) {
  return ranWith({libraryWith(entry)}, call, ranks);
}

constexpr const char *kImage = "iii", *kProgram = "ppp";

TEST(StoredImages, serveTheCallThatTheyWereMadeFor) {
  EXPECT_EQ(ran({}), kImage);
  EXPECT_EQ(ran({}, {.elements = 2 * kElements}), kImage);
  EXPECT_EQ(ran({}, {.values = {{"turn", 0}}}), kImage); // as its default
}

TEST(StoredImages, serveNoOtherCall) {
  EXPECT_EQ(ran({}, {}, 2), "pp");
  EXPECT_EQ(ran({}, {.elements = kElements - 1}), kProgram);
  EXPECT_EQ(ran({}, {.elements = 2 * kElements + 1}), kProgram);
  EXPECT_EQ(ran({}, {.type = ElementType::F32}), kProgram);
  LibraryImage ofFloats, inPlace, ofNoCall;
  ofFloats.type = ElementType::F32;
  inPlace.inPlace = true;
  ofNoCall.servesCalls = false;
  for (const LibraryImage &entry : {ofFloats, inPlace, ofNoCall})
    EXPECT_EQ(ran(entry), kProgram);
}

TEST(StoredImages, serveElementsOfTheirLengthThatHaveNoType) {
  std::vector<std::byte> bytes = encodeLibrary(libraryWith({}));
  auto library = Library::view(bytes);
  ASSERT_TRUE(library.ok());
  InstantiateRequest request;
  request.collective = program().find("gathered", DeclKind::Collective);
  request.ranks = kRanks;
  request.elements = kElements;
  request.type = ElementType::U8;
  for (uint64_t elementBytes : {4, 8, 3}) {
    request.elementBytes = elementBytes;
    Result<const LibraryImage *> found = findImage(**library, request, 1);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found != nullptr, elementBytes == sizeBytes(ElementType::I32)) << elementBytes;
  }
}

TEST(StoredImages, haveTheArgumentsOfTheCall) {
  LibraryImage turned;
  turned.arguments = {{"turn", 1}};
  EXPECT_EQ(ran(turned), kProgram);
  EXPECT_EQ(ran(turned, {.values = {{"turn", 2}}}), kProgram);
  EXPECT_EQ(ran(turned, {.values = {{"turn", 1}}}), kImage);
  EXPECT_EQ(ran({}, {.values = {{"turn", 1}}}), kProgram);
  // What the caller tunes stays as it wants it.
  EXPECT_EQ(ran({}, {.values = {{"segment", 2048}}}), kProgram);
}

TEST(StoredImages, serveRanksThatSitAsTheirs) {
  LibraryImage entry;
  LevelSet nodes;
  nodes.add(Level::Node);
  Result<Topology> two = Topology::make("node:2 core:2", kRanks),
                   sockets = Topology::make("package:2 core:2", kRanks);
  ASSERT_TRUE(two.ok() && sockets.ok());
  for (LevelSet levels : {nodes, LevelSet::wholeMachine()}) {
    entry.topologyHash = signatureOf(Topology::flat(kRanks), levels);
    EXPECT_EQ(ran(entry), kImage);
    entry.topologyHash = signatureOf(*two, levels);
    EXPECT_EQ(ran(entry), kProgram);
    entry.topologyHash = signatureOf(*sockets, levels);
    EXPECT_EQ(ran(entry), levels == nodes ? kImage : kProgram);
  }
}

TEST(StoredImages, dependOnTheTopologyWhereTheProgramLooksAtIt) {
  for (auto [name, uses] : {std::pair("gathered", false), {"from_leaders", true}}) {
    InstantiateRequest request;
    request.collective = program().find(name, DeclKind::Collective);
    request.ranks = kRanks;
    request.elements = kElements;
    Result<Schedule> schedule = instantiateAll(program(), request);
    ASSERT_TRUE(schedule.ok()) << schedule.message();
    EXPECT_EQ(schedule->usesTopology, uses) << name;
  }
}

TEST(ImportedCollectives, serveWhatTheirImagesDo) {
  auto gathers = [](uint64_t elements, uint32_t ranks = kRanks,
                    ElementType type = ElementType::I32) {
    return ranWith({libraryWithImport()}, {.elements = elements, .type = type, .name = "gathers"},
                   ranks);
  };
  EXPECT_EQ(gathers(2 * kElements), kImage);
  EXPECT_EQ(gathers(4 * kElements), kImage);
  EXPECT_EQ(gathers(2 * kElements + 1), kProgram); // no pairs
  EXPECT_EQ(gathers(2 * kElements - 2), kProgram); // not that few
  EXPECT_EQ(gathers(4 * kElements + 2), kProgram);
  EXPECT_EQ(gathers(2 * kElements, 2), "pp");
  EXPECT_EQ(gathers(2 * kElements, kRanks, ElementType::F32), kProgram);
}

// They have no program, so there is nothing else that could serve the call.
TEST(ImportedCollectives, serveNothingElseByTheirNames) {
  auto named = [](uint64_t elements) {
    return ranWith({libraryWithImport()}, {.elements = elements, .name = "reversed"}, kRanks);
  };
  EXPECT_EQ(named(2 * kElements), kImage);
  EXPECT_NE(
      named(2 * kElements + 1)
          .find("'reversed' was imported; it serves 3 ranks, n = 20..40 in multiples of 2, i32"),
      std::string::npos)
      << named(2 * kElements + 1);
}

// If no other rule fits, the call learns why the imported collective does not serve it.
TEST(ImportedCollectives, sayWhyTheyDoNotServeACallOfTheirFunction) {
  LibraryContent content = libraryWithImport();
  content.rules.pop_back();
  auto gathers = [&](uint64_t elements, std::vector<std::pair<std::string, int64_t>> values) {
    return ranWith({content}, {.elements = elements, .values = values, .name = "gathers"}, kRanks);
  };
  EXPECT_EQ(gathers(2 * kElements, {}), kImage);
  std::string odd = gathers(2 * kElements + 1, {}), unknown = gathers(2 * kElements, {{"pace", 1}});
  EXPECT_NE(odd.find("'reversed' was imported; it serves"), std::string::npos) << odd;
  EXPECT_NE(unknown.find("'pace'"), std::string::npos) << unknown;
}

std::string contractOf(const char *collective) {
  const Decl &decl = program().decl(program().find(collective, DeclKind::Collective));
  std::vector<bool> isIn = contractParams(program(), decl);
  std::string names;
  for (size_t p = 0; p < isIn.size(); ++p)
    if (isIn[p])
      names += program().nameOf(decl.params[p]) + ' ';
  return names;
}

TEST(Contracts, nameTheParametersThatCallersRelyOn) {
  EXPECT_EQ(contractOf("gathered"), "turn ");
  EXPECT_EQ(contractOf("by_defaults"), "k root t ");
  EXPECT_EQ(contractOf("without"), "k ");
}

TEST(StoredImages, takeThePlaceOfWhatARuleTunesIfTheyAreTuned) {
  for (bool isTuned : {false, true}) {
    LibraryImage entry;
    entry.isTuned = isTuned;
    LibraryContent content = libraryWith(entry);
    InstantiateRequest request;
    request.collective = program().find("gathered", DeclKind::Collective);
    request.ranks = kRanks;
    request.elements = kElements;
    std::vector<std::byte> bytes = encodeLibrary(content);
    auto library = Library::view(bytes);
    ASSERT_TRUE(library.ok());
    const std::vector<Param> &params = program().decl(request.collective).params;
    EXPECT_NE(*findImage(**library, request, 1), nullptr);
    request.arguments.assign(params.size(), kNoExpr);
    request.arguments[3] = params[3].defaultValue; // segment, as a rule gives it
    EXPECT_EQ(*findImage(**library, request, 1) != nullptr, isTuned);
    request.arguments.clear();
    request.values.resize(params.size());
    request.values[3] = int64_t{1024}; // as the caller gives it, though it is the default
    EXPECT_EQ(*findImage(**library, request, 1), nullptr);
  }
}

TEST(StoredImages, areTheSameOnAllRanks) {
  LibraryContent without = libraryWith({});
  without.images.clear();
  without.imageBytes.clear();
  EXPECT_EQ(ranWith({without}, {}, kRanks), kProgram);
  // The same messages, so that nothing but the checksums differs.
  for (const LibraryContent &other : {without, libraryWith({}, "gathered")}) {
    std::string refused = ranWith({libraryWith({}), other}, {}, kRanks);
    EXPECT_NE(refused.find("disagree"), std::string::npos) << refused;
  }
}

TEST(StoredImages, haveTheBuffersOfTheirCollective) {
  LibraryContent content = libraryWith({});
  Result<Image> image = Image::load(content.imageBytes[0]);
  ASSERT_TRUE(image.ok());
  Schedule renamed = image->decode();
  renamed.names[renamed.ranks[0].buffers[0].name] = "z";
  content.imageBytes[0] = encodeImage(renamed);
  std::string refused = ranWith({content}, {}, kRanks);
  EXPECT_NE(refused.find("image of 'gathered' for 3 ranks has other buffers than the collective"),
            std::string::npos)
      << refused;
}

TEST(StoredImages, areRefusedWhereTheyAreNotWhatTheirEntrySays) {
  LibraryContent content = libraryWith({});
  content.images[0].maxElements = 3 * kElements;
  std::vector<std::byte> bytes = encodeLibrary(content);
  auto library = Library::view(bytes);
  ASSERT_TRUE(library.ok());
  auto images = (*library)->images();
  ASSERT_TRUE(images.ok());
  Result<const Image *> image = (*library)->image((**images)[0]);
  EXPECT_EQ(image.message(),
            "library: the image of 'gathered' holds for 10..20 elements, its entry "
            "says 10..30");
}

} // namespace
} // namespace colldsl
