// Requests are data: text sets their fields, and they can be printed and compared.

#include "driver/requests/ChoiceRequest.h"
#include "driver/requests/LibraryRequest.h"
#include "driver/requests/PageRequest.h"
#include "driver/requests/ProofRequest.h"
#include "driver/requests/SimulationRequest.h"

#include <gtest/gtest.h>

#include <utility>

namespace colldsl::driver {
namespace {

using Keywords = std::vector<std::pair<std::string, std::string>>;

template <Request T> T made(const Keywords &keywords) {
  T request;
  Fields fields;
  request.addTo(fields);
  for (const auto &[keyword, value] : keywords) {
    Status s = fields.set(keyword, value);
    EXPECT_TRUE(s) << s.message();
  }
  SinkText messages;
  Status s = fields.check(messages);
  EXPECT_TRUE(s) << s.message();
  return request;
}

template <Request T> std::string mistake(const Keywords &keywords) {
  T request;
  Fields fields;
  request.addTo(fields);
  for (const auto &[keyword, value] : keywords)
    if (Status s = fields.set(keyword, value); !s)
      return s.message();
  SinkText messages;
  return fields.check(messages).message();
}

TEST(Requests, ShowOnlyWhatIsNotUsual) {
  EXPECT_EQ(textOf(ProofRequest()), "");
  EXPECT_EQ(textOf(made<ProofRequest>({{"ranks", "3,1,2"}, {"in_place", ""}, {"type", "f64"}})),
            "--ranks 1..3 --in-place --type f64");
  EXPECT_EQ(textOf(made<SimulationRequest>({{"ranks", "8"}, {"bytes", "4KiB"}, {"L", "1us"}})),
            "-n 8 --bytes 4096 -L 1us");
  EXPECT_EQ(
      textOf(made<ProofRequest>({{"parameters", "root=3"}, {"parameters", "g=torus([2, 4])"}})),
      "--set root=3 --set 'g=torus([2, 4])'");
}

TEST(Requests, AreEqualIfTheirFieldsAre) {
  using P = ProofRequest;
  EXPECT_EQ(made<P>({{"bytes", "1KiB"}}), made<P>({{"bytes", "1024"}}));
  EXPECT_EQ(made<P>({{"ranks", "1..3"}, {"seed", "2"}}),
            made<P>({{"seed", "2"}, {"ranks", "1,2,3"}}));
  EXPECT_FALSE(made<P>({{"bytes", "1KiB"}}) == made<P>({{"bytes", "1025"}}));
  EXPECT_FALSE(made<P>({{"topology", "flat"}}) == P());        // P varies the machine
  EXPECT_FALSE(made<P>({{"max_line_bytes", "16384"}}) == P()); // usual for one of the readers
}

struct Table : Fields {
  void expectValues() const {
    EXPECT_FALSE(all().empty());
    for (const Field &field : all())
      EXPECT_NE(!field.values, field.help.rfind("the same as", 0) != 0) << field.name;
  }
};

template <Request T> void expectValues() {
  T request;
  Table table;
  request.addTo(table);
  table.expectValues();
}

TEST(Requests, AreComparedByAllFields) {
  expectValues<ChoiceRequest>();
  expectValues<LibraryRequest>();
  expectValues<MakeRequest>();
  expectValues<PageRequest>();
  expectValues<ProofRequest>();
  expectValues<SimulationRequest>();
}

// The bindings name all fields, so that a new one needs a line here.
TEST(Requests, HaveEachFieldInATable) {
  SimulationRequest request;
  ProofRequest proofs;
  std::string before;
  auto shows = [&] {
    std::string old = std::exchange(before, textOf(request) + textOf(proofs));
    return old != before;
  };
  auto &[names, type, reduction, settings, topology, inPlace, noWarn, machine, passes, compile,
         text, instantiate, invariants] = request.single.schedule;
  names = {"ring"};
  EXPECT_TRUE(shows());
  type = ElementType::I32; // the usual one
  EXPECT_TRUE(shows());
  reduction = Reduction::Max;
  EXPECT_TRUE(shows());
  settings = {{"root", "3"}};
  EXPECT_TRUE(shows());
  topology = "node:4";
  EXPECT_TRUE(shows());
  inPlace = true;
  EXPECT_TRUE(shows());
  proofs.schedule.noWarn = !proofs.schedule.noWarn; // simulations never warn
  EXPECT_TRUE(shows());
  machine = made<SimulationRequest>({{"model", "cluster"}}).single.schedule.machine;
  EXPECT_TRUE(shows());
  passes = made<SimulationRequest>({{"passes", "fuse"}}).single.schedule.passes;
  EXPECT_TRUE(shows());
  compile.limits.maxTokens = 7;
  EXPECT_TRUE(shows());
  text.maxErrors = 7;
  EXPECT_TRUE(shows());
  instantiate.maxSteps = 7;
  EXPECT_TRUE(shows());
  invariants = Invariants::Copied; // by the command, not by a field
  EXPECT_FALSE(shows());
  auto &[schedule, ranks, bytes, multicast, tcp] = request.single;
  ranks = 8;
  EXPECT_TRUE(shows());
  bytes = kUsualBytes;
  EXPECT_TRUE(shows());
  multicast = tcp = true; // of choices alone
  EXPECT_FALSE(shows());
}

TEST(Requests, TellMistakesWithTheirField) {
  EXPECT_EQ(mistake<ProofRequest>({{"ranks", "0"}}), "--ranks: 0 is less than 1");
  EXPECT_EQ(mistake<ProofRequest>({{"rank", "0"}}), "there is no 'rank'");
  EXPECT_EQ(mistake<ProofRequest>({{"seed", "1"}, {"seed", "2"}}),
            "--seed is given twice, again as '2'");
  EXPECT_EQ(mistake<ProofRequest>({{"roots", "1"}, {"parameters", "root=2"}}),
            "--roots: --set gives root its value");
  EXPECT_EQ(
      mistake<SimulationRequest>({{"model", "cluster"}, {"L", "3"}}),
      "--model and -L: parameters come from the model or from the command line, not from both");
}

TEST(Requests, HaveTheMachineAfterTheirCheck) {
  SimulationRequest request = made<SimulationRequest>({{"model", "L=7"}, {"receive_slots", "3"}});
  EXPECT_EQ(request.model().model.distances[kOtherNode].L, 7u);
  EXPECT_EQ(request.model().receiveSlots, 3u);
  request = made<SimulationRequest>({{"L", "8"}, {"o", "9"}, {"noise", "random:10us,2us"}});
  EXPECT_EQ(request.model().model.distances[kOtherNode].L, 8u);
  EXPECT_EQ(request.model().model.distances[kOtherNode].o, 9u);
  EXPECT_EQ(request.model().noise.periodNs, 10'000u);
  EXPECT_EQ(mistake<SimulationRequest>({{"noise", "loud"}}),
            "--noise: 'loud' is none of periodic:PERIOD,LENGTH, random:MEAN,LENGTH, trace:FILE");
}

TEST(Requests, OfLibrariesHaveTheirOwnDefaults) {
  EXPECT_EQ(textOf(LibraryRequest()), "");
  EXPECT_EQ(LibraryRequest().proofs.bytes, std::vector<uint64_t>{64 << 10});
  EXPECT_EQ(made<LibraryRequest>({{"type", "f32"}}).proofs.schedule.type, ElementType::F32);
  EXPECT_FALSE(made<LibraryRequest>({{"type", "i32"}}) ==
               LibraryRequest()); // of imports: all types
  EXPECT_FALSE(made<LibraryRequest>({{"passes", "fuse"}}).proofs.variesMachine);
}

} // namespace
} // namespace colldsl::driver
