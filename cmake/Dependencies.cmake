# What colldsl is built from; scripts/packages.txt lists the Debian packages.
find_package(Threads REQUIRED)
# LLVM accepts no other minor version than the one asked for.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/cmake)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
find_package(Java REQUIRED COMPONENTS Runtime)
find_program(ANTLR4_TOOL antlr4 REQUIRED)
find_path(ANTLR4_INCLUDE_DIR antlr4-runtime.h PATH_SUFFIXES antlr4-runtime REQUIRED)
find_library(ANTLR4_LIBRARY NAMES libantlr4-runtime.a antlr4-runtime REQUIRED)
if(COLLDSL_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_program(COLLDSL_PYTHON python3 HINTS /usr/bin REQUIRED)
endif()
if(COLLDSL_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()

# LLVM's ADT and Support, static, for the folders that may use them.
llvm_map_components_to_libnames(COLLDSL_LLVM_LIBRARIES support)
add_library(colldsl_llvm INTERFACE)
add_library(colldsl::llvm ALIAS colldsl_llvm)
target_include_directories(colldsl_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(colldsl_llvm INTERFACE ${COLLDSL_LLVM_LIBRARIES})
