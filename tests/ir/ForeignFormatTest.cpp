#include "ir/ForeignFormat.h"

#include <gtest/gtest.h>

namespace colldsl {
namespace {

using namespace std::literals;

std::string asText(std::string_view content) { return foreignFormat(content, Readable::Text); }
std::string asJson(std::string_view content) { return foreignFormat(content, Readable::Json); }

TEST(ForeignFormat, ownTextIsNone) {
  for (std::string_view text :
       {""sv, "collective c() {}\n"sv, "// {\"a\": 1}\ncollective c() {}"sv, "0 1\n1 2 7\n"sv,
        "%%MatrixMarket matrix coordinate real general\n"sv, "num_ranks 2\n"sv,
        "<algo name=\"a\"/>"sv, "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- ring -->\n<algo/>"sv,
        "allreduce_ring 1 2 3"sv, "Größe"sv, "{ x }"sv, "[ab"sv, "\x1b[31m 1 2"sv})
    EXPECT_EQ(asText(text), "") << text;
}

TEST(ForeignFormat, jsonByItsMembers) {
  EXPECT_EQ(asText("{\n \"name\": \"a\", \"collective\": \"allreduce\", \"gpus\": []\n}"),
            "JSON, an execution plan of MSCCL++");
  EXPECT_EQ(asText(" [{\"ph\": \"X\"}, {\"traceEvents\": 1}]"),
            "JSON, a trace of Chrome or Perfetto");
  EXPECT_EQ(asText("{\"links\": [[0, 1]]}"), "JSON");
  EXPECT_EQ(asText("{}"), "JSON");
  EXPECT_EQ(asText("[1, 2]"), "JSON");
  EXPECT_EQ(asJson("{\"links\": [[0, 1]]}"), "");
  EXPECT_EQ(asJson("{\"collective\": \"allreduce\", \"gpus\": []}"),
            "JSON, an execution plan of MSCCL++");
}

TEST(ForeignFormat, xmlByItsRoot) {
  EXPECT_EQ(asText("<system version=\"2\"><cpu/></system>"), "XML, a topology of NCCL");
  EXPECT_EQ(asText("<?xml version=\"1.0\"?><!-- a --><graphs version=\"1\"/>"),
            "XML, graphs of NCCL");
  EXPECT_EQ(asText("<!DOCTYPE html>\n<html>"), "XML, a page of HTML");
  EXPECT_EQ(asText("<note/>"), "XML with the root <note>");
}

TEST(ForeignFormat, binaryByItsFirstBytes) {
  EXPECT_EQ(asText("\x1f\x8b\x08\x00\x00"sv), "gzip, compressed data");
  EXPECT_EQ(asText("\x28\xb5\x2f\xfd\x04"sv), "zstd, compressed data");
  EXPECT_EQ(asText("\xfd"
                   "7zXZ\0\0"sv),
            "xz, compressed data");
  EXPECT_EQ(asText("BZh91AY&SY"sv), "bzip2, compressed data");
  EXPECT_EQ(asText("PK\x03\x04\x14"sv), "a zip archive");
  EXPECT_EQ(asText("\x7f"
                   "ELF\x02\x01"sv),
            "ELF, a program or a library");
  EXPECT_EQ(asText("\x89HDF\r\n\x1a\n\0"sv), "HDF5");
  EXPECT_EQ(asText("\x80\x04\x95\x10\0"sv), "a pickle of Python");
  EXPECT_EQ(asText("\xff\xfe<\0"sv), "text in UTF-16");
  EXPECT_EQ(asText("colllib\0\x01"sv), "a schedule library of colldsl");
  EXPECT_EQ(asText(std::string(257, 'a') + "ustar\0"), "a tar archive");
}

TEST(ForeignFormat, protobufByItsFields) {
  std::string_view chakra = "protobuf, as traces of Chakra are";
  EXPECT_EQ(asText("\x08\x0a\x12\x05hello\0"sv), chakra);
  EXPECT_EQ(asText("\x08\x0a\x12\x05hello\x18\x00"sv), chakra);
  // messages behind their lengths: a version, then two nodes
  std::string trace = "\x07\x0a\x05"
                      "0.0.4"s +
                      "\x09\x08\x01\x12\x05"
                      "send0"s +
                      "\x09\x08\x02\x12\x05"
                      "recv0"s;
  EXPECT_EQ(asText(trace), chakra);
  std::string longer;
  while (longer.size() < 100000)
    longer += trace;
  EXPECT_EQ(asText(longer), chakra);
  EXPECT_EQ(asText("\0\x01\x02\x03\xff"sv), "binary data of no known format");
}

} // namespace
} // namespace colldsl
