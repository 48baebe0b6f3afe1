# append_literals(PATH OUT): the text of a file as C++ literals side by side, in OUT.
#
# A text becomes short raw string literals, because compilers bound the length of one (MSVC at
# 16 KiB).
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
