# Writes a C++ file that holds texts: the standard library as colldsl carries it.
#
#   cmake -D OUTPUT=FILE.cpp -D FILES=a.coll,b.coll -D RULES=a.rules -P Embed.cmake
#
# A text becomes short raw string literals side by side, because compilers bound the length
# of one (MSVC at 16 KiB).
cmake_minimum_required(VERSION 3.25)
set(piece_size 8000)

function(append_literals path out)
  file(READ "${path}" rest)
  string(FIND "${rest}" ")coll\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${path}: contains the end of a raw string, )coll\"")
  endif()
  set(literals "")
  while(NOT rest STREQUAL "")
    string(SUBSTRING "${rest}" 0 ${piece_size} piece)
    string(LENGTH "${piece}" length)
    string(SUBSTRING "${rest}" ${length} -1 rest)
    string(APPEND literals "\n     R\"coll(${piece})coll\"sv")
  endwhile()
  set(${out} "${literals}" PARENT_SCOPE)
endfunction()

set(entries "")
string(REPLACE "," ";" paths "${FILES}")
foreach(path IN LISTS paths)
  get_filename_component(name "${path}" NAME)
  append_literals("${path}" literals)
  string(APPEND entries "    {\"stdlib/${name}\"sv,${literals}},\n")
endforeach()

append_literals("${RULES}" rules)

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

} // namespace colldsl
")
