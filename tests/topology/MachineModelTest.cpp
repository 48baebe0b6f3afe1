#include "topology/KnownModels.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace colldsl {
namespace {

std::string readModel(const std::string &name) {
  std::ifstream in(std::string(COLLDSL_MODELS "/") + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string errorOf(std::string_view json) {
  Result<MachineModel> model = MachineModel::parse(json);
  return model ? "none" : model.message();
}

TEST(MachineModelTest, flatIsTheDefault) {
  Result<MachineModel> model = MachineModel::parse(readModel("flat.json"));
  ASSERT_TRUE(model.ok()) << model.message();
  EXPECT_EQ(*model, MachineModel::flat());
  EXPECT_TRUE(model->isFlat());
}

TEST(MachineModelTest, readyModelsReadBack) {
  for (const char *name : {"flat.json", "cluster.json", "ethernet.json", "fugaku.json",
                           "leonardo.json", "lumi.json", "mare_nostrum.json", "nvlink.json"}) {
    Result<MachineModel> model = MachineModel::parse(readModel(name));
    ASSERT_TRUE(model.ok()) << name << ": " << model.message();
    Result<MachineModel> again = MachineModel::parse(model->toJson());
    ASSERT_TRUE(again.ok()) << again.message();
    EXPECT_EQ(*again, *model) << name;
  }
}

// The program has all models that are installed as files, under the files' names.
TEST(MachineModelTest, readyModelsAreKnownByName) {
  std::set<std::string> files, known;
  for (const auto &file : std::filesystem::directory_iterator(COLLDSL_MODELS))
    files.insert(file.path().stem());
  for (std::string_view name : knownModelNames()) {
    known.emplace(name);
    Result<MachineModel> model = MachineModel::parse(readModel(std::string(name) + ".json"));
    ASSERT_TRUE(model.ok() && findKnownModel(name)) << name;
    EXPECT_EQ(*findKnownModel(name), *model) << name;
  }
  EXPECT_EQ(files, known);
  EXPECT_EQ(findKnownModel("clustr"), nullptr);
  EXPECT_EQ(knownModel(KnownModel::Cluster), *findKnownModel("cluster"));
  EXPECT_EQ(knownModel(KnownModel::Ethernet), *findKnownModel("ethernet"));
  EXPECT_EQ(knownModel(KnownModel::Flat), *findKnownModel("flat"));
}

TEST(MachineModelTest, classesDiffer) {
  Result<MachineModel> model = MachineModel::parse(readModel("cluster.json"));
  ASSERT_TRUE(model.ok());
  EXPECT_FALSE(model->isFlat());
  EXPECT_EQ(model->distances[4], model->distances[3]);
  EXPECT_LT(model->distances[1].endToEndNs(8), model->distances[7].endToEndNs(8));
  EXPECT_EQ(model->copy.ns(1'000'000), 20u + 83'000);
}

TEST(MachineModelTest, noticesAreFreeUnlessTheyAreGivenACost) {
  Result<MachineModel> model =
      MachineModel::parse(R"({"distances": {"0..6": {}, "7": {"notice": 5}}})");
  ASSERT_TRUE(model.ok()) << model.message();
  EXPECT_EQ(model->distances[8], model->distances[7]) << "without a class of its own";
  EXPECT_EQ(model->distances[6].notice, 0u);
  EXPECT_EQ(model->distances[7].notice, 5u);
  EXPECT_EQ(*MachineModel::parse(model->toJson()), *model);
}

TEST(MachineModelTest, interfacesAreSpreadOverRanksOrMessages) {
  auto node = [](const char *members) {
    return "{\"distances\": {\"0..7\": {}}, \"node\": {" + std::string(members) + "}}";
  };
  Result<MachineModel> usual = MachineModel::parse(node("\"interfaces\": 6"));
  Result<MachineModel> model =
      MachineModel::parse(node("\"interfaces\": 6, \"spread\": \"messages\""));
  ASSERT_TRUE(usual.ok() && model.ok()) << model.message();
  EXPECT_EQ(usual->node.spread, Spread::Ranks);
  EXPECT_EQ(model->node.spread, Spread::Messages);
  EXPECT_EQ(*MachineModel::parse(model->toJson()), *model);
  EXPECT_NE(*usual, *model);
  EXPECT_EQ(errorOf(node("\"spread\": \"bytes\"")),
            "machine model: node.spread is neither \"ranks\" nor \"messages\"");
}

TEST(MachineModelTest, membersThatAreGivenTwice) {
  EXPECT_EQ(errorOf(R"({"distances": {"0..7": {"L": 1}, "0..7": {"L": 2}}})"),
            "machine model: distances.0..7 is given twice");
  EXPECT_EQ(errorOf(R"({"copy": {}, "distances": {"0..7": {"L": 1, "g": 2, "L": 1}}})"),
            "machine model: distances.0..7.L is given twice");
  EXPECT_EQ(errorOf(R"({"distances": {"0..6": {"L": 1}, "7": {"L": 2}}})"), "none");
}

TEST(MachineModelTest, objectsWithManyMembers) {
  auto members = [](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i)
      text += (i ? ", \"" : "\"") + std::to_string(i) + "\": 0";
    return errorOf("{" + text + "}");
  };
  EXPECT_EQ(members(10001),
            "machine model: an object has more than 10000 members, which is the limit");
  EXPECT_NE(members(10000), members(10001));
}

TEST(MachineModelTest, costsOfMessages) {
  LogGop p;
  EXPECT_EQ(p.endToEndNs(8), 2 * 1500u + 2500 + 7 * 6);
  EXPECT_EQ(p.endToEndNs(1), p.endToEndNs(0)); // no bytes cost what one costs
  p.O = PerByte::fromNs(10);
  EXPECT_EQ(p.receiveNs(101), 1500u + 1000);
  EXPECT_EQ(p.gapNs(101), 1000u + 600);
  EXPECT_EQ(PerByte::fromNs(6).times(UINT64_MAX / 8), UINT64_MAX / 8 * 6);
}

TEST(MachineModelTest, mistakesNameTheirPlace) {
  EXPECT_NE(errorOf("{\"distances\": {\n  0..7\n}}").find("line 2"), std::string::npos);
  EXPECT_EQ(errorOf("[]"), "machine model: the text is no object");
  EXPECT_EQ(errorOf("{}"), "machine model: distances is missing");
  EXPECT_EQ(errorOf(R"({"distances": {"0..6": {}}})"),
            "machine model: distance 7 is missing in distances");
  EXPECT_EQ(errorOf(R"({"distances": {"0..7": {}, "3": {}}})"),
            "machine model: distance 3 is given twice, again in distances.3");
  EXPECT_EQ(errorOf(R"({"distances": {"0..9": {}}})"),
            "machine model: distances.0..9 names no classes: they are 0 to 8, as in \"7\" or "
            "\"1..4\"");
  EXPECT_EQ(errorOf(R"({"distances": {"0..7": {"L": -1}}})"),
            "machine model: distances.0..7.L is no whole number from 0 on");
  EXPECT_EQ(errorOf(R"({"distances": {"0..7": {"G": "fast"}}})"),
            "machine model: distances.0..7.G is no number from 0 on");
  EXPECT_EQ(errorOf(R"({"distances": {"0..7": {"L": 1e30}}})"),
            "machine model: distances.0..7.L is no whole number from 0 on");
  EXPECT_EQ(errorOf(R"({"distances": {"0..7": {"G": 1e30}}})"),
            "machine model: distances.0..7.G is more than 4294967296");
  EXPECT_EQ(errorOf(R"({"distances": {"0..7": {"H": 1}}})"),
            "machine model: distances.0..7.H is not known here");
  EXPECT_EQ(errorOf(R"({"distances": {"0..7": {}}, "copy": 3})"),
            "machine model: copy is no object");
  EXPECT_EQ(errorOf(R"({"distances": {"0..7": {}}, "memory": {}})"),
            "machine model: memory is not known here");
  EXPECT_NE(errorOf(std::string(3 << 20, ' ')), "none");
  EXPECT_NE(errorOf(std::string(1 << 19, '[')), "none");
}

} // namespace
} // namespace colldsl
