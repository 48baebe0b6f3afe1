# Writes a C++ file that holds texts: the standard library as colldsl carries it.
#
#   cmake -D OUTPUT=FILE.cpp -D FILES=a.coll,b.coll -D RULES=a.rules -D PROOFS=a.txt -P Embed.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/TextLiterals.cmake)

set(entries "")
string(REPLACE "," ";" paths "${FILES}")
foreach(path IN LISTS paths)
  get_filename_component(name "${path}" NAME)
  append_literals("${path}" literals)
  string(APPEND entries "    {\"stdlib/${name}\"sv,${literals}},\n")
endforeach()

append_literals("${RULES}" rules)
append_literals("${PROOFS}" proofs)

file(WRITE "${OUTPUT}" "// Made by stdlib/Embed.cmake from the *.coll files there.
#include \"stdlib/StdlibFiles.h\"

namespace colldsl {
namespace {

using namespace std::literals;

constexpr StdlibFile kFiles[] = {
${entries}};

} // namespace

std::span<const StdlibFile> stdlibFiles() { return kFiles; }

std::string_view selectionRules() {
  return ${rules};
}

std::string_view stdlibProofs() {
  return ${proofs};
}

} // namespace colldsl
")
