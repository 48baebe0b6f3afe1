// MSCCL XML as text: what is read, and what is refused.

#include "formats/Msccl.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace colldsl::msccl {
namespace {

std::string readInput(const std::string &name) {
  std::ifstream file(std::string(COLLDSL_FORMAT_FILES) + "/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "line:column: message"; empty if there is no error.
std::string errorOf(std::string_view xml, ReadOptions options = {}) {
  Result<Algorithm> algorithm = read(xml, options);
  if (algorithm)
    return "";
  SourceLoc loc = algorithm.status().diagnostic().loc;
  return std::to_string(loc.line) + ":" + std::to_string(loc.column) + ": " + algorithm.message();
}

constexpr const char *kAlgo =
    R"(<algo name="a" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="0">)";
constexpr const char *kGpu0 = R"(<gpu id="0" i_chunks="2" o_chunks="2" s_chunks="0">)";
constexpr const char *kGpu1 = R"(<gpu id="1" i_chunks="2" o_chunks="2" s_chunks="0"></gpu>)";

/// A file of two gpus, the first with these threadblocks.
std::string withBlocks(const std::string &blocks) {
  return std::string(kAlgo) + "\n" + kGpu0 + "\n  " + blocks + "\n</gpu>" + kGpu1 + "</algo>";
}
/// ... with one, that sends to gpu 1, and has these steps.
std::string withSteps(const std::string &steps) {
  return withBlocks(R"(<tb id="0" send="1" recv="-1" chan="0">)" + steps + "</tb>");
}

std::string stepText(const std::string &s, const std::string &type, const std::string &count,
                     const std::string &wait = "-1", const std::string &waitStep = "-1") {
  return "<step s=\"" + s + "\" type=\"" + type +
         "\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"1\" cnt=\"" + count + "\" depid=\"" +
         wait + "\" deps=\"" + waitStep + "\" hasdep=\"0\"/>";
}

TEST(MscclRead, ReadsInitialCopies) {
  auto with = [](const std::string &copies) {
    return std::string(kAlgo) + "\n" + kGpu0 + "\n" + copies +
           "\n<tb id=\"0\" send=\"1\" recv=\"-1\" "
           "chan=\"0\"></tb></gpu>" +
           kGpu1 + "</algo>";
  };
  Result<Algorithm> read = msccl::read(with("<copy i_off=\"0\" o_off=\"1\"/>"));
  ASSERT_TRUE(read) << read.message();
  ASSERT_EQ(read->gpus[0].copies.size(), 1u);
  EXPECT_EQ(read->gpus[0].copies[0].source, 0);
  EXPECT_EQ(read->gpus[0].copies[0].target, 1);
  EXPECT_EQ(read->gpus[0].blocks.size(), 1u);
  EXPECT_EQ(errorOf(with("<copy i_off=\"0\"/>")), "3:1: <copy> has no attribute 'o_off'");
  EXPECT_EQ(errorOf(with("<copy i_off=\"0\" o_off=\"1\">\n<step/></copy>")),
            "4:1: <step> stands in <copy>, which holds nothing");
  EXPECT_EQ(errorOf(withBlocks("<cpy/>")), "3:3: <cpy> stands in <gpu>, which holds tb and copy");
}

// Steps as SCCL's ncclize wrote them in 2021, with the attributes of that time.
TEST(MscclRead, ReadsOpsOf2021) {
  auto with = [](const std::string &op) {
    return "<algo name=\"a\" nchannels=\"1\">\n<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"2\" "
           "s_chunks=\"0\"><tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n" +
           op +
           "</tb></gpu>\n<gpu id=\"1\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\"></gpu></algo>";
  };
  ReadOptions options;
  options.collective = Collective::Allgather;
  Result<Algorithm> read =
      msccl::read(with("<op step=\"0\" type=\"s\" buf=\"i\" off=\"0\" cnt=\"2\"/>"
                       "<op step=\"1\" type=\"rrc\" buf=\"o\" off=\"1\" hasdep=\"1\"/>"
                       "<op step=\"2\" type=\"nop\" depid=\"0\" deps=\"1\"/>"),
                  options);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->protocol, "Simple");
  EXPECT_EQ(read->chunksPerLoop, 2u);
  const std::vector<Step> &steps = read->gpus[0].blocks[0].steps;
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].source.memory, Memory::Input);
  EXPECT_EQ(steps[0].count, 2u);
  EXPECT_EQ(steps[1].kind, StepKind::RecvReduceCopy);
  EXPECT_EQ(steps[1].source.offset, 1);
  EXPECT_EQ(steps[1].target.offset, 1);
  EXPECT_EQ(steps[1].target.memory, Memory::Output);
  EXPECT_EQ(steps[1].count, 1u);
  EXPECT_TRUE(steps[1].isAwaited);
  EXPECT_EQ(steps[2].waitStep, 1);
  auto error = [&](const std::string &op) { return msccl::read(with(op), options).message(); };
  EXPECT_EQ(error("<op step=\"0\" type=\"rcs\" buf=\"o\" off=\"0\"/>"),
            "an <op> of type rcs has two places, there are s r rrc nop");
  EXPECT_EQ(error("<op step=\"0\" type=\"r\" off=\"0\"/>"), "<op> has no attribute 'buf'");
  EXPECT_EQ(error("<op s=\"0\" type=\"nop\"/>"), "<op> has no attribute 'step'");
}

TEST(MscclRead, ReadsAFile) {
  Result<Algorithm> read = msccl::read(readInput("ring-allreduce.xml"));
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->name, "ring_allreduce");
  EXPECT_EQ(read->protocol, "Simple");
  EXPECT_EQ(read->collective, Collective::Allreduce);
  EXPECT_TRUE(read->inPlace);
  EXPECT_EQ(read->chunksPerLoop, 4u);
  EXPECT_EQ(read->root, -1);
  ASSERT_EQ(read->gpus.size(), 4u);
  EXPECT_EQ(read->gpus[0].inputChunks, 4u);
  ASSERT_EQ(read->gpus[0].blocks.size(), 1u);
  const Threadblock &block = read->gpus[0].blocks[0];
  EXPECT_EQ(block.sendPeer, 1);
  EXPECT_EQ(block.recvPeer, 3);
  ASSERT_EQ(block.steps.size(), 7u);
  EXPECT_EQ(block.steps[3].kind, StepKind::RecvReduceCopySend);
  EXPECT_EQ(block.steps[3].target.memory, Memory::Input);
  EXPECT_EQ(block.steps[3].target.offset, 1);
  EXPECT_EQ(block.steps[3].waitBlock, -1);
  EXPECT_EQ(block.steps[3].loc, (SourceLoc{9, 7, 0}));
}

TEST(MscclRead, RoundTrips) {
  for (const char *name : {"ring-allreduce.xml", "direct-allgather.xml"}) {
    std::string xml = readInput(name);
    Result<Algorithm> algorithm = read(xml);
    ASSERT_TRUE(algorithm) << algorithm.message();
    EXPECT_EQ(print(*algorithm), xml.substr(xml.find("<algo"))) << name;
  }
}

TEST(MscclRead, NamesAreQuoted) {
  Algorithm algorithm;
  algorithm.name = "a<b>&\"c\"\n";
  algorithm.chunksPerLoop = 1;
  algorithm.gpus.resize(1);
  Result<Algorithm> back = read(print(algorithm));
  ASSERT_TRUE(back) << back.message();
  EXPECT_EQ(back->name, "a<b>&\"c\" ");
}

TEST(MscclRead, IdsMayComeInAnyOrder) {
  std::string gpu1 = R"(<gpu id="1" i_chunks="2" o_chunks="2" s_chunks="0">)"
                     R"(<tb id="1" send="-1" recv="-1" chan="0"/>)"
                     R"(<tb id="0" send="0" recv="-1" chan="0"/></gpu>)";
  Result<Algorithm> read = msccl::read(kAlgo + gpu1 + kGpu0 + "</gpu></algo>");
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->gpus[1].blocks[0].sendPeer, 0);
  EXPECT_EQ(read->gpus[1].blocks[1].sendPeer, -1);
}

TEST(MscclRead, RefusesBytesThatAreNoXml) {
  EXPECT_EQ(errorOf(""), "0:0: the file is no XML in UTF-8, which begins with '<'");
  EXPECT_EQ(errorOf("algo"), "0:0: the file is no XML in UTF-8, which begins with '<'");
  EXPECT_EQ(errorOf(std::string_view("<\0a\0", 4)),
            "0:0: the file is no XML in UTF-8, which begins with '<'");
  EXPECT_EQ(errorOf("<!-- nothing -->"), "1:1: XML: extra content at the end of the document");
  EXPECT_EQ(errorOf(std::string(kAlgo) + "\n" + kGpu0),
            "2:1: XML: extra content at the end of the document");
  EXPECT_EQ(errorOf("<algo>\n</tb>"), "1:1: <algo> has no attribute 'name'");
  EXPECT_EQ(errorOf(std::string(kAlgo) + "\n</tb>"),
            "2:1: XML: opening and ending tag mismatch: algo line 1 and tb");
  EXPECT_EQ(errorOf(std::string(kAlgo) + kGpu1 + "<", {.maxBytes = 10}),
            "0:0: the file has 160 bytes, the limit for MSCCL XML is 10");
}

// Billions of laughs begin with a document type.
TEST(MscclRead, RefusesEntities) {
  std::string refused =
      "0:0: the file has a document type: MSCCL XML has none, and needs no entities";
  EXPECT_EQ(errorOf("<!DOCTYPE algo [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>"
                    "<algo name=\"&b;\"/>"),
            refused);
  EXPECT_EQ(
      errorOf("<?xml version=\"1.0\"?>\n<!DOCTYPE algo SYSTEM \"file:///etc/passwd\"><algo/>"),
      refused);
  EXPECT_EQ(errorOf("<algo name=\"&b;\"/>"), "1:1: XML: entity 'b' not defined");
}

TEST(MscclRead, EncodingsAreNotBelieved) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n" + withBlocks("");
  EXPECT_EQ(errorOf(xml), "");
}

TEST(MscclRead, RefusesOtherElements) {
  EXPECT_EQ(errorOf("<html/>"), "1:1: <html> stands in the file, which holds algo");
  EXPECT_EQ(errorOf(std::string(kAlgo) + "\n  <tb/></algo>"),
            "2:3: <tb> stands in <algo>, which holds gpu");
  std::string step = stepText("0", "s", "1");
  step.replace(step.find("/>"), 2, "><a/></step>");
  EXPECT_EQ(errorOf(withSteps("\n" + step)), "4:1: <a> stands in <step>, which holds nothing");
}

// Depth is bounded by the elements that there are.
TEST(MscclRead, RefusesDeepNesting) {
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "<algo>";
  EXPECT_EQ(errorOf(deep), "1:1: <algo> has no attribute 'name'");
  EXPECT_EQ(errorOf(kAlgo + deep), "1:1: <algo> stands in <algo>, which holds gpu");
}

TEST(MscclRead, RefusesAttributes) {
  auto algo = [&](const std::string &from, const std::string &to) {
    std::string text = withBlocks("");
    text.replace(text.find(from), from.size(), to);
    return errorOf(text);
  };
  EXPECT_EQ(algo("nchannels=\"1\" ", ""), "1:1: <algo> has no attribute 'nchannels'");
  EXPECT_EQ(algo("nchunksperloop=\"2\" ", "nchunksperloop=\"0\" "),
            "1:1: <algo> has nchunksperloop=\"0\", it lies between 1 and 32767");
  EXPECT_EQ(algo("Simple", "LL64"), "1:1: <algo> has proto=\"LL64\", there are Simple LL LL128");
  EXPECT_EQ(algo("allreduce", "gossip"),
            "1:1: <algo> has coll=\"gossip\", there are allreduce allgather "
            "reduce_scatter alltoall broadcast reduce custom");
  EXPECT_EQ(algo("nchannels=\"1\"", "nchannels=\"129\""),
            "1:1: <algo> has nchannels=\"129\", it lies between 1 and 128");
  EXPECT_EQ(algo("ngpus=\"2\"", "ngpus=\"two\""), "1:1: <algo> has ngpus=\"two\", not a number");
  EXPECT_EQ(algo("ngpus=\"2\"", "ngpus=\"99999999999999999999\""),
            "1:1: <algo> has ngpus=\"99999999999999999999\", not a number");
  EXPECT_EQ(algo("ngpus=\"2\"", "ngpus=\"3\""), "1:1: ngpus is 3, there are 2");
  EXPECT_EQ(algo("gpu id=\"1\"", "gpu id=\"0\""), "4:1: gpu 0 is there twice");
  EXPECT_EQ(algo("gpu id=\"1\"", "gpu id=\"2\""),
            "4:1: <gpu> has id=\"2\", it lies between 0 and 1");
  EXPECT_EQ(algo("inplace=\"0\"", "inplace=\"0\" root=\"2\""),
            "1:1: <algo> has root=\"2\", it lies between -1 and 1");
  EXPECT_EQ(algo("s_chunks=\"0\"", "s_chunks=\"32768\""),
            "2:1: <gpu> has s_chunks=\"32768\", it lies between 0 and 32767");
}

TEST(MscclRead, CollectivesInAnySpelling) {
  auto collectiveOf = [](const std::string &attribute, ReadOptions options = {}) {
    std::string text = withBlocks("");
    std::string known = " coll=\"allreduce\"";
    text.replace(text.find(known), known.size(), attribute);
    Result<Algorithm> read = msccl::read(text, options);
    return read ? std::string(spelling(read->collective)) : read.message();
  };
  for (const char *word : {"reduce_scatter", "reducescatter", "ReduceScatter", "REDUCE-SCATTER"})
    EXPECT_EQ(collectiveOf(std::string(" coll=\"") + word + "\""), "reduce_scatter") << word;
  EXPECT_EQ(collectiveOf(" coll=\"AllToAll\""), "alltoall");
  EXPECT_EQ(collectiveOf(""), "<algo> has no attribute 'coll'");
  ReadOptions as;
  as.collective = Collective::Allgather;
  for (const char *attribute : {"", " coll=\"Allreduce\"", " coll=\"gossip\""})
    EXPECT_EQ(collectiveOf(attribute, as), "allgather") << attribute;
}

// As compilers of 2021 and people wrote them.
TEST(MscclRead, GpusAreCountedWhereTheFileDoesNot) {
  auto without = [](const std::string &attribute, std::string text) {
    text.erase(text.find(attribute), attribute.size());
    return text;
  };
  std::string old = without(" inplace=\"0\"", without(" ngpus=\"2\"", withSteps("")));
  Result<Algorithm> read = msccl::read(old);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->gpus.size(), 2u);
  EXPECT_FALSE(read->inPlace);
  std::string send = "send=\"1\"";
  old.replace(old.find(send), send.size(), "send=\"2\"");
  EXPECT_EQ(errorOf(old), "3:3: gpu 0 has the peer 2, there are 2 gpus");
  EXPECT_EQ(errorOf(without(" ngpus=\"2\"", std::string(kAlgo) + "</algo>")),
            "1:1: there is no gpu");
  std::string rooted = without(" ngpus=\"2\"", withBlocks(""));
  rooted.insert(rooted.find(" inplace"), " root=\"2\"");
  EXPECT_EQ(errorOf(rooted), "1:1: root is 2, there are 2 gpus");
}

TEST(MscclRead, RefusesThreadblocks) {
  EXPECT_EQ(errorOf(withBlocks(R"(<tb id="0" send="2" recv="-1" chan="0"/>)")),
            "3:3: <tb> has send=\"2\", it lies between -1 and 1");
  EXPECT_EQ(errorOf(withBlocks(R"(<tb id="0" send="0" recv="-1" chan="0"/>)")),
            "3:3: gpu 0, tb 0: a gpu is no peer of its own");
  EXPECT_EQ(errorOf(withBlocks(R"(<tb id="0" send="1" recv="-1" chan="1"/>)")),
            "3:3: <tb> has chan=\"1\", it lies between 0 and 0");
  EXPECT_EQ(errorOf(withBlocks(R"(<tb id="1" send="1" recv="-1" chan="0"/>)")),
            "3:3: gpu 0: tb 0 is missing, there is 1");
  EXPECT_EQ(errorOf(withBlocks(R"(<tb id="128" send="1" recv="-1" chan="0"/>)")),
            "3:3: <tb> has id=\"128\", it lies between 0 and 127");
}

TEST(MscclRead, RefusesSteps) {
  EXPECT_EQ(errorOf(withSteps(stepText("0", "s", "1"))), "");
  EXPECT_EQ(errorOf(withSteps(stepText("1", "s", "1"))),
            "3:3: gpu 0, tb 0: step 1 stands here, step 0 must come next");
  EXPECT_EQ(errorOf(withSteps(stepText("256", "s", "1"))),
            "3:3: <step> has s=\"256\", it lies between 0 and 255");
  EXPECT_EQ(errorOf(withSteps(stepText("0", "x", "1"))),
            "3:3: <step> has type=\"x\", there are s r rcs rrs rrc rrcs cpy re nop");
  EXPECT_EQ(errorOf(withSteps(stepText("0", "s", "72"))),
            "3:3: <step> has cnt=\"72\", it lies between 0 and 71");
  EXPECT_EQ(errorOf(withSteps(stepText("0", "s", "0"))),
            "3:3: gpu 0, tb 0, step 0: s moves no chunk");
  EXPECT_EQ(errorOf(withSteps(stepText("0", "r", "1"))),
            "3:3: gpu 0, tb 0, step 0: r receives, its tb has recv=\"-1\"");
  EXPECT_EQ(errorOf(withBlocks(R"(<tb id="0" send="-1" recv="1" chan="0">)" +
                               stepText("0", "rcs", "1") + "</tb>")),
            "3:3: gpu 0, tb 0, step 0: rcs sends, its tb has send=\"-1\"");
  EXPECT_EQ(errorOf(withSteps(stepText("0", "s", "1", "0"))),
            "3:3: gpu 0, tb 0, step 0: depid is 0 and deps is -1, both or neither name a step");
}

TEST(MscclRead, RefusesManyAttributes) {
  std::string many = "<algo";
  for (int i = 0; i < 65; ++i)
    many += " a" + std::to_string(i) + "=\"\"";
  EXPECT_EQ(errorOf(many + "/>"), "1:1: <algo> has 65 attributes, the limit is 64");
}

} // namespace
} // namespace colldsl::msccl
