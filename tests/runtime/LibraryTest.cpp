#include "program/library/LibraryLayout.h"

#include "instantiate/Instantiate.h"
#include "ir/Checksum.h"
#include "program/SerializedProgram.h"
#include "select/Chooser.h"
#include "tests/runtime/Libraries.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace colldsl;

namespace {

using Bytes = std::vector<std::byte>;

const Bytes &sound() {
  static const Bytes bytes = encodeLibrary(smallLibrary());
  return bytes;
}

std::unique_ptr<Library> view(const Bytes &bytes) {
  Result<std::unique_ptr<Library>> library = Library::view(bytes);
  EXPECT_TRUE(library.ok()) << (library.ok() ? "" : library.message());
  return library.ok() ? library.take() : nullptr;
}

LibraryHeader &headerOf(Bytes &bytes) { return *reinterpret_cast<LibraryHeader *>(bytes.data()); }

LibrarySection &sectionOf(Bytes &bytes, uint32_t i) {
  return reinterpret_cast<LibrarySection *>(bytes.data() + sizeof(LibraryHeader))[i];
}

void repairHead(Bytes &bytes) { headerOf(bytes).checksum = libraryChecksum(bytes); }

/// Changes rules, images or imports, as an attacker with knowledge of the format might.
template <typename Change> Bytes changed(Change change) {
  LibraryContent content = smallLibrary();
  change(content);
  return encodeLibrary(content);
}

TEST(Library, EverythingComesBack) {
  LibraryContent content = smallLibrary();
  std::unique_ptr<Library> library = view(sound());
  ASSERT_EQ(problemOf(sound()), "");
  EXPECT_EQ((*library->identity())->tool, "colldsl test");
  EXPECT_EQ((*library->identity())->exports, content.identity.exports);
  EXPECT_EQ(serializeProgram(**library->program()), serializeProgram(content.program));
  ASSERT_EQ((*library->sources())->size(), 2u);
  EXPECT_EQ((*library->sources())->front().text, content.sources[0].text);
  ASSERT_EQ((*library->images())->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const LibraryImage &entry = (**library->images())[i];
    Result<const Image *> image = library->image(entry);
    ASSERT_TRUE(image.ok()) << image.message();
    EXPECT_EQ(encodeImage((*image)->decode()), content.imageBytes[i]);
    EXPECT_EQ((*image)->name(), entry.collective);
    EXPECT_EQ((*image)->sizeClass().max, entry.maxElements);
  }
  ASSERT_EQ((*library->imported())->size(), 1u);
  EXPECT_EQ((*library->imported())->front().collective, "star");
  EXPECT_EQ((*library->imported())->front().unit, 2u);
  ASSERT_EQ((*library->textProofs())->size(), 1u);
  const TextProof &stamp = (*library->textProofs())->front();
  EXPECT_EQ(domainInWords(stamp), "all P, for operators that commute, but for 'deterministic'");
  EXPECT_EQ(stamp.structures, std::vector<std::string>{"kary"});
  EXPECT_EQ(stamp.mostRanks, 5u);
  EXPECT_EQ(*library->textProof(DeclId{stamp.collective}), &stamp);
  DeclId star = (*library->program())->find("star", DeclKind::Collective);
  EXPECT_EQ(*library->textProof(star), nullptr);
}

TEST(Library, StampsAreOfItsTexts) {
  auto problemWith = [](auto change) {
    return problemOf(changed([&](LibraryContent &c) { change(c, c.textProofs[0]); }));
  };
  EXPECT_NE(problemWith([](LibraryContent &, TextProof &stamp) { stamp.digest ^= 1; })
                .find("library: proofs: the text of 'shift' is not the one that was proved: its "
                      "digest is "),
            std::string::npos);
  // Another text under the stamp: `x` goes to the rank behind the next one.
  EXPECT_NE(problemWith([](LibraryContent &c, TextProof &) {
              for (Expr &e : c.program.exprs)
                if (e.kind == ExprKind::Add)
                  e.kind = ExprKind::Sub;
            }).find("is not the one that was proved"),
            std::string::npos);
  EXPECT_EQ(problemWith([](LibraryContent &, TextProof &stamp) { stamp.collective = 77; }),
            "library: proofs: declaration 77 is not a collective");
  EXPECT_NE(problemWith([](LibraryContent &c, TextProof &stamp) {
              c.textProofs.push_back(TextProof(stamp));
            }).find(" does not come after "),
            std::string::npos);
}

TEST(Library, TheSameContentGivesTheSameBytes) {
  EXPECT_EQ(encodeLibrary(smallLibrary()), encodeLibrary(smallLibrary()));
}

TEST(Library, InstantiatesWithoutTheCompiler) {
  std::unique_ptr<Library> library = view(sound());
  const Program &program = **library->program();
  InstantiateRequest request;
  request.collective = program.find("shift", DeclKind::Collective);
  request.ranks = 7;
  request.elements = 10;
  request.arguments.assign(3, kNoExpr);
  request.arguments[program.arguments[0].param] = program.arguments[0].value; // by = 2
  Instantiator instantiator(program, request);
  Dag dag;
  ASSERT_TRUE(instantiator.instantiate(Rank{6}, dag).ok());
  EXPECT_EQ(dag.ops[0].peer, Rank{1});
}

TEST(Library, TheFirstRuleThatFitsIsChosen) {
  std::unique_ptr<Library> library = view(sound());
  auto chosen = [&](Situation s) {
    Result<Chooser> chooser = Chooser::of(*library);
    const SelectionRule *rule = chooser ? chooser->choose(s) : nullptr;
    return rule ? rule->function : "none";
  };
  EXPECT_EQ(chosen({"bcast", 2, 4096}), "bcast");
  EXPECT_EQ(chosen({"bcast", 2, 4097}), "none");
  EXPECT_EQ(chosen({"bcast", 2, 1, 1, 2, ElementType::I32, false}), "none");
  EXPECT_EQ(chosen({"shift", 4, 1, 1, 2, ElementType::F32}), "shift");
  EXPECT_EQ(chosen({"shift", 3, 1, 1, 2, ElementType::F32}), "none");
  EXPECT_EQ(chosen({"shift", 4, 1, 2, 2, ElementType::F32}), "none");
  EXPECT_EQ(chosen({"shift", 4, 1, 1, 2, ElementType::F64}), "none");
  EXPECT_EQ(chosen({"reduce", 4, 1}), "none");
  EXPECT_EQ(chosen({"crowd", 4, 1, 1, 2, ElementType::I32, true, true}), "crowd");
  EXPECT_EQ(chosen({"crowd", 4, 1, 1, 2, ElementType::I32, true, false}), "none");
  EXPECT_EQ(chosen({"together", 4, 1, 1, 2, ElementType::I32, true, false, true}), "together");
  EXPECT_EQ(chosen({"together", 4, 1, 1, 2, ElementType::I32, true, false, false}), "none");
  EXPECT_EQ(chosen({"wired", 4, 1, 2, 2, ElementType::I32, true, false, false, true}), "wired");
  EXPECT_EQ(chosen({"wired", 4, 1, 2, 2, ElementType::I32, true, false, false, false}), "none");
}

TEST(Library, EveryFlippedByteIsNoticed) {
  Bytes bytes = sound();
  // Between sections there is padding, which means nothing.
  std::vector<bool> means(bytes.size());
  std::fill_n(means.begin(),
              sizeof(LibraryHeader) + headerOf(bytes).sectionCount * sizeof(LibrarySection), true);
  for (uint32_t i = 0; i < headerOf(bytes).sectionCount; ++i) {
    const LibrarySection &s = sectionOf(bytes, i);
    if (s.kind != kImageBytesSection)
      std::fill_n(means.begin() + static_cast<ptrdiff_t>(s.offset), s.bytes, true);
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{0x40};
    if (means[i])
      EXPECT_NE(problemOf(bytes), "") << "byte " << i;
    else
      (void)problemOf(bytes);
    bytes[i] ^= std::byte{0x40};
  }
}

TEST(Library, EveryCutOffFileIsRefused) {
  for (size_t size = 0; size < sound().size(); size += 1 + size / 40)
    EXPECT_NE(problemOf(Bytes(sound().begin(), sound().begin() + static_cast<ptrdiff_t>(size))), "")
        << size << " bytes";
}

TEST(Library, ANewerMinorVersionWithUnknownSectionsIsRead) {
  Bytes bytes = sound();
  headerOf(bytes).minor = kLibraryMinor + 1;
  sectionOf(bytes, 4).kind = 99; // the rules
  repairHead(bytes);
  std::unique_ptr<Library> library = view(bytes);
  ASSERT_TRUE(library);
  EXPECT_TRUE(library->program().ok());
  ASSERT_FALSE(library->rules().ok());
  EXPECT_EQ(library->rules().message(), "library: rules: it is missing");
}

TEST(Library, TheMinorVersionWithoutImportsAndStampsIsRead) {
  LibraryContent content = smallLibrary();
  content.imported.clear();
  content.textProofs.clear();
  Bytes bytes = encodeLibrary(content);
  EXPECT_EQ(headerOf(bytes).sectionCount, 6u);
  headerOf(bytes).minor = 0;
  repairHead(bytes);
  EXPECT_EQ(problemOf(bytes), "");
  EXPECT_TRUE((*view(bytes)->imported())->empty());
  EXPECT_TRUE((*view(bytes)->textProofs())->empty());
}

TEST(Library, ImportsAreOfItsCollectives) {
  auto problemWith = [](ImportedCollective imported) {
    return problemOf(changed([&](LibraryContent &c) { c.imported = {imported}; }));
  };
  EXPECT_EQ(problemWith({"star", 3}), "");
  EXPECT_EQ(problemWith({"nobody", 1}), "library: imports: there is no collective 'nobody'");
  EXPECT_EQ(problemWith({"star", 0}), "library: imports: the unit of 'star' is 0");
}

TEST(Library, AnotherMajorVersionIsRefusedByName) {
  Bytes bytes = sound();
  headerOf(bytes).major = kLibraryMajor + 1;
  repairHead(bytes);
  EXPECT_EQ(problemOf(bytes), "library: its format has version 5.1, this colldsl reads 4.x");
}

TEST(Library, SectionsMustNotOverlapOrLeaveTheFile) {
  for (uint64_t offset : {uint64_t{0}, uint64_t{64}, uint64_t{1} << 63, UINT64_MAX - 63}) {
    Bytes bytes = sound();
    sectionOf(bytes, 3).offset = offset;
    repairHead(bytes);
    EXPECT_NE(problemOf(bytes).find("cannot lie at"), std::string::npos) << problemOf(bytes);
  }
}

TEST(Library, RulesMustNameCollectivesAndTheirArguments) {
  EXPECT_NE(problemOf(changed([](LibraryContent &c) { c.rules[0].collective = 77; })), "");
  EXPECT_NE(problemOf(changed([](LibraryContent &c) { c.rules[0].arguments = {0}; })), "")
      << "an argument of another collective";
  EXPECT_NE(problemOf(changed([](LibraryContent &c) { c.rules[1].arguments = {5}; })), "");
  EXPECT_NE(problemOf(changed([](LibraryContent &c) { c.identity.exports = {1000}; })), "");
  EXPECT_NE(problemOf(changed([](LibraryContent &c) { c.images[0].ranks = 9; })), "");
}

TEST(Library, OpenReportsTheFaultOfAFile) {
  std::string path = testing::TempDir() + "/colldsl-" + std::to_string(getpid()) + ".cdag";
  auto message = [&] {
    Result<std::unique_ptr<Library>> library = Library::open(path);
    return library.ok() ? "" : library.message();
  };
  EXPECT_EQ(message(), "cannot read '" + path + "': No such file or directory");
  std::ofstream(path).close();
  EXPECT_EQ(message(), "'" + path + "': library: it is empty");
  std::ofstream(path) << "num_ranks 2, and so on, long enough for a header";
  EXPECT_EQ(message(), "'" + path + "': library: it does not begin like one");
  std::filesystem::remove(path);
  EXPECT_EQ(Library::open("/tmp").message(), "'/tmp' is not an ordinary file");
}

/// Opening 100 MB and looking at the rules touches a few pages, not the images.
TEST(Library, ALargeLibraryCostsThePagesThatAreTouched) {
  LibraryContent content = smallLibrary();
  constexpr size_t kLarge = size_t{100} << 20;
  LibraryImage entry = content.images[0];
  entry.collective = "large";
  content.images.push_back(entry);
  content.imageBytes.push_back(Bytes(kLarge, std::byte{7}));
  std::string path = testing::TempDir() + "/colldsl-large-" + std::to_string(getpid()) + ".cdag";
  {
    Bytes bytes = encodeLibrary(content);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    ASSERT_TRUE(file.good());
  }
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  {
    Result<std::unique_ptr<Library>> library = Library::open(path);
    ASSERT_TRUE(library.ok()) << library.message();
    EXPECT_TRUE((*library)->rules().ok());
    EXPECT_TRUE((*library)->image((**(*library)->images())[0]).ok());
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt, 500)
      << "of " << kLarge / 4096 << " pages";
  std::filesystem::remove(path);
}

} // namespace
