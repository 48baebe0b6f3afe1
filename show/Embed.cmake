# Writes a C++ file that holds the files of web/ as colldsl carries them.
#
#   cmake -D OUTPUT=FILE.cpp -D FILES=style.css,main.js -P Embed.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/TextLiterals.cmake)

set(entries "")
string(REPLACE "," ";" paths "${FILES}")
foreach(path IN LISTS paths)
  get_filename_component(name "${path}" NAME)
  append_literals("${path}" literals)
  string(APPEND entries "    {\"${name}\"sv,${literals}},\n")
endforeach()

file(WRITE "${OUTPUT}" "// Made by show/Embed.cmake from the files of web/.
#include \"show/Page.h\"

namespace colldsl::show {
namespace {

using namespace std::literals;

constexpr WebFile kFiles[] = {
${entries}};

} // namespace

std::span<const WebFile> webFiles() { return kFiles; }

} // namespace colldsl::show
")
