set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# g++ 12 sees overlapping copies in plain string concatenations (GCC bug 105651).
# No library replaces our functions at load time: they may be inlined though the code is
# position independent.
set(COLLDSL_CODEGEN -fno-semantic-interposition)
# x86-64 without options has no fused multiplication and addition. Numbers do not depend on the machine.
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  list(APPEND COLLDSL_CODEGEN -ffp-contract=off)
endif()
set(COLLDSL_WARNINGS -Wall -Wextra -Wpedantic -Wno-unused-parameter -Wno-restrict $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)

find_program(COLLDSL_CCACHE ccache)
if(COLLDSL_CCACHE)
  # What was compiled in one checkout serves another.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    ${COLLDSL_CCACHE})
endif()

# colldsl_room(NAME [COLD] SOURCES ... LINKS ...): one folder, one target, one alias. Rooms
# are included from the top: #include "ir/Dag.h". COLD: what runs a few times per command, which is compiled
# fast here, and for size in packages.
function(colldsl_room name)
  cmake_parse_arguments(ROOM "COLD" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(colldsl_${name} STATIC ${ROOM_SOURCES})
  add_library(colldsl::${name} ALIAS colldsl_${name})
  target_include_directories(colldsl_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_options(colldsl_${name} PRIVATE ${COLLDSL_CODEGEN} ${COLLDSL_WARNINGS})
  if(ROOM_COLD AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(colldsl_${name} PRIVATE $<IF:$<BOOL:${COLLDSL_PACKAGED}>,-Os,-O1>)
  endif()
  target_link_libraries(colldsl_${name} PUBLIC ${ROOM_LINKS} PRIVATE ${ROOM_PRIVATE_LINKS})
endfunction()

# colldsl_mpi_program(NAME SOURCE...): a program that knows an MPI and nothing of colldsl, once
# for each MPI: NAME-openmpi and NAME-mpich; and for the standard ABI, NAME-mpi_abi.
function(colldsl_mpi_program name)
  foreach(mpi IN LISTS COLLDSL_MPIS COLLDSL_ABIS)
    add_executable(${name}-${mpi} ${ARGN})
    target_include_directories(${name}-${mpi} PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_options(${name}-${mpi} PRIVATE ${COLLDSL_WARNINGS})
    target_link_libraries(${name}-${mpi} PRIVATE mpi::${mpi})
  endforeach()
endfunction()
