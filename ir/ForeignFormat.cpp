#include "ir/ForeignFormat.h"

#include "ir/Concat.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace colldsl {
namespace {

using namespace std::literals;

constexpr size_t kLookedAt = 64 << 10;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Magic {
  std::string_view bytes;
  std::string_view name;
  size_t offset = 0;
};

// Formats that no reader takes, by bytes at a place of theirs.
constexpr Magic kMagics[] = {
    {"colldsl\0"sv, "an image of colldsl"},
    {"colllib\0"sv, "a schedule library of colldsl"},
    {"\x1f\x8b"sv, "gzip, compressed data"},
    {"\x28\xb5\x2f\xfd"sv, "zstd, compressed data"},
    {"\xfd"
     "7zXZ\0"sv,
     "xz, compressed data"},
    {"BZh"sv, "bzip2, compressed data"},
    {"\x04\x22\x4d\x18"sv, "lz4, compressed data"},
    {"PK\x03\x04"sv, "a zip archive"},
    {"PK\x05\x06"sv, "a zip archive"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive"},
    {"ustar"sv, "a tar archive", 257},
    {"\x7f"
     "ELF"sv,
     "ELF, a program or a library"},
    {"\x89HDF\r\n\x1a\n"sv, "HDF5"},
    {"CDF\x01"sv, "NetCDF"},
    {"CDF\x02"sv, "NetCDF"},
    {"\x93NUMPY"sv, "an array of NumPy"},
    {"SQLite format 3\0"sv, "a database of SQLite"},
    {"PAR1"sv, "Parquet"},
    {"ARROW1\0"sv, "Arrow"},
    {"\x80\x02"sv, "a pickle of Python"},
    {"\x80\x03"sv, "a pickle of Python"},
    {"\x80\x04"sv, "a pickle of Python"},
    {"\x80\x05"sv, "a pickle of Python"},
    {"%PDF-"sv, "PDF"},
    {"\x89PNG\r\n"sv, "PNG, a picture"},
    {"\xff\xd8\xff"sv, "JPEG, a picture"},
    {"BC\xc0\xde"sv, "bitcode of LLVM"},
    {"ML\xefR"sv, "bytecode of MLIR"},
    {"\xff\xfe"sv, "text in UTF-16"},
    {"\xfe\xff"sv, "text in UTF-16"},
};

struct Named {
  std::string_view word;
  std::string_view name;
};

// XML, by its first element. <algo> is an algorithm of MSCCL, which is read.
constexpr Named kRoots[] = {
    {"system", "a topology of NCCL"},    {"graphs", "graphs of NCCL"},
    {"topology", "a topology of hwloc"}, {"platform", "a platform of SimGrid"},
    {"html", "a page of HTML"},          {"svg", "a picture"},
};

// JSON, by two of its members.
struct NamedJson {
  std::string_view first, second, name;
};
constexpr NamedJson kJsons[] = {
    {"\"gpus\"", "\"collective\"", "an execution plan of MSCCL++"},
    {"\"traceEvents\"", "\"ph\"", "a trace of Chrome or Perfetto"},
    {"\"nodes\"", "\"ctrl_deps\"", "a trace of Chakra"},
    {"\"cells\"", "\"nbformat\"", "a notebook of Jupyter"},
};

std::string_view withoutBlanks(std::string_view text) {
  if (text.starts_with(kByteOrderMark))
    text.remove_prefix(kByteOrderMark.size());
  size_t first = text.find_first_not_of(" \t\r\n");
  return first == text.npos ? std::string_view() : text.substr(first);
}

std::string_view nameOfMagic(std::string_view content) {
  for (const Magic &magic : kMagics)
    if (content.size() > magic.offset && content.substr(magic.offset).starts_with(magic.bytes))
      return magic.name;
  return "";
}

/// The name of the first element, behind declarations and comments; empty: there is none.
std::string_view rootOf(std::string_view xml) {
  while (xml.starts_with("<?") || xml.starts_with("<!")) {
    std::string_view end = xml.starts_with("<!--") ? "-->" : xml.starts_with("<?") ? "?>" : ">";
    size_t at = xml.find(end);
    xml = at == xml.npos ? std::string_view() : withoutBlanks(xml.substr(at + end.size()));
  }
  if (!xml.starts_with('<'))
    return "";
  xml.remove_prefix(1);
  return xml.substr(0, xml.find_first_of(" \t\r\n/>"));
}

std::string nameOfXml(std::string_view xml) {
  std::string_view root = rootOf(xml);
  if (root.empty() || root == "algo")
    return "";
  for (const Named &known : kRoots)
    if (known.word == root)
      return concat("XML, ", known.name);
  return concat("XML with the root <", root.substr(0, 40), ">");
}

/// True if the text begins as an object or a list, and as nothing else that is read here.
bool isJson(std::string_view text) {
  if (!text.starts_with('{') && !text.starts_with('['))
    return false;
  std::string_view next = withoutBlanks(text.substr(1));
  return !next.empty() &&
         std::string_view(text[0] == '{' ? "\"}" : "{[]\"-0123456789tfn").find(next[0]) !=
             next.npos;
}

std::string nameOfJson(std::string_view json, Readable readable) {
  for (const NamedJson &known : kJsons)
    if (json.find(known.first) != json.npos && json.find(known.second) != json.npos)
      return concat("JSON, ", known.name);
  return readable == Readable::Json ? "" : "JSON";
}

/// Takes a varint of protobuf off the beginning; false: there is none.
bool takeVarint(std::string_view &bytes, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0)
      return true;
  }
  return false;
}

/// True if all bytes are fields of a protobuf message. The last field may be cut off in a part of a
/// file.
bool isMessage(std::string_view bytes, bool isCutOff) {
  size_t fields = 0;
  for (; !bytes.empty(); ++fields) {
    uint64_t key = 0, length = 0;
    if (!takeVarint(bytes, key) || key >> 3 == 0 || key >> 3 > 1000)
      return isCutOff && bytes.empty();
    bool isWhole = true;
    switch (key & 7) {
    case 0:
      isWhole = takeVarint(bytes, length);
      length = 0;
      break;
    case 1:
      length = 8;
      break;
    case 2:
      isWhole = takeVarint(bytes, length);
      break;
    case 5:
      length = 4;
      break;
    default:
      return false;
    }
    if (!isWhole || length > bytes.size())
      return isCutOff;
    bytes.remove_prefix(length);
  }
  return fields > 0;
}

/// Messages one behind the other, each behind its length, as files of traces have them.
bool isListOfMessages(std::string_view bytes, bool isCutOff) {
  size_t messages = 0;
  for (; !bytes.empty(); ++messages) {
    uint64_t length = 0;
    if (!takeVarint(bytes, length))
      return isCutOff && messages > 0;
    if (length > bytes.size())
      return isCutOff && messages > 0 && isMessage(bytes, isCutOff);
    if (!isMessage(bytes.substr(0, length), false))
      return false;
    bytes.remove_prefix(length);
  }
  return messages > 0;
}

bool isControl(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && std::string_view("\t\n\v\f\r\x1b").find(c) == std::string_view::npos;
}

/// Text has no zeros, and hardly a control character.
bool isBinary(std::string_view content) {
  auto controls = static_cast<size_t>(std::count_if(content.begin(), content.end(), isControl));
  return content.find('\0') != content.npos || controls > content.size() / 20 + 2;
}

bool isProtobuf(std::string_view bytes, bool isCutOff) {
  return isMessage(bytes, isCutOff) || isListOfMessages(bytes, isCutOff);
}

/// Files may be filled up with zeros.
std::string nameOfBinary(std::string_view content, bool isCutOff) {
  std::string_view full = content.substr(0, content.find_last_not_of('\0') + 1);
  return isProtobuf(content, isCutOff) || isProtobuf(full, isCutOff)
             ? "protobuf, as traces of Chakra are"
             : "binary data of no known format";
}

} // namespace

std::string foreignFormat(std::string_view content, Readable readable) {
  std::string_view begin = content.substr(0, kLookedAt);
  if (std::string_view name = nameOfMagic(begin); !name.empty())
    return std::string(name);
  std::string_view text = withoutBlanks(begin);
  if (text.starts_with('<'))
    return nameOfXml(text);
  if (isJson(text))
    return nameOfJson(text, readable);
  return isBinary(begin) ? nameOfBinary(begin, begin.size() < content.size()) : "";
}

} // namespace colldsl
