# What colldsl is built from; scripts/packages.txt lists the Debian packages.
find_package(Threads REQUIRED)
# LLVM accepts no other minor version than the one asked for.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/cmake)
# The compiler of the same version, for kernels of device memory.
find_program(COLLDSL_DEVICE_CLANG clang-19 HINTS ${LLVM_TOOLS_BINARY_DIR})
if(NOT COLLDSL_DEVICE_CLANG)
  message(STATUS "clang 19 is missing: reductions of device memory will run on the host")
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(XXHASH REQUIRED libxxhash) # its header; what it declares is inlined
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(Z3 REQUIRED IMPORTED_TARGET z3)
pkg_check_modules(PMIX REQUIRED pmix) # its header; the library is loaded when it is needed
pkg_check_modules(LIBXML2 IMPORTED_TARGET libxml-2.0)
if(NOT LIBXML2_FOUND)
  message(STATUS "libxml2 is missing: colldsl will write MSCCL XML, but not read it")
endif()
find_package(Protobuf)
if(NOT Protobuf_FOUND)
  message(STATUS "protobuf is missing: colldsl will neither read nor write traces of Chakra")
endif()
pkg_check_modules(LIBFABRIC libfabric)
if(NOT LIBFABRIC_FOUND)
  message(STATUS "libfabric is missing: there will be no transport ofi")
endif()
pkg_check_modules(LIBIBVERBS libibverbs librdmacm)
if(NOT LIBIBVERBS_FOUND)
  message(STATUS "libibverbs or librdmacm is missing: there will be no transport verbs")
endif()
find_package(nlohmann_json REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Java REQUIRED COMPONENTS Runtime)
find_program(ANTLR4_TOOL antlr4 REQUIRED)
find_path(ANTLR4_INCLUDE_DIR antlr4-runtime.h PATH_SUFFIXES antlr4-runtime REQUIRED)
find_library(ANTLR4_LIBRARY NAMES libantlr4-runtime.a antlr4-runtime REQUIRED)
find_library(ANTLR4_SHARED_LIBRARY NAMES antlr4-runtime REQUIRED)
if(COLLDSL_PACKAGED)
  set(ANTLR4_LIBRARY ${ANTLR4_SHARED_LIBRARY})
endif()
if(COLLDSL_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_program(COLLDSL_PYTHON python3 HINTS /usr/bin REQUIRED)
  find_file(COLLDSL_LIT lit.py HINTS ${LLVM_TOOLS_BINARY_DIR}/../build/utils/lit REQUIRED)
endif()
if(COLLDSL_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
if(COLLDSL_BUILD_PYTHON)
  if(NOT Python_EXECUTABLE) # a wheel names its own
    find_program(COLLDSL_PYTHON python3 HINTS /usr/bin)
    set(Python_EXECUTABLE ${COLLDSL_PYTHON})
  endif()
  find_package(Python COMPONENTS Interpreter Development.Module)
  find_package(pybind11 2.10 CONFIG)
  if(NOT pybind11_FOUND OR NOT Python_Development.Module_FOUND)
    set(pybind11_FOUND FALSE)
    message(STATUS "pybind11 or Python's headers are missing: there will be no Python package")
  endif()
endif()

# LLVM's ADT and Support, static, for the folders that may use them; what reads ELF, for tools.
llvm_map_components_to_libnames(COLLDSL_LLVM_LIBRARIES support)
llvm_map_components_to_libnames(COLLDSL_LLVM_OBJECT object)
add_library(colldsl_llvm INTERFACE)
add_library(colldsl::llvm ALIAS colldsl_llvm)
target_include_directories(colldsl_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(colldsl_llvm INTERFACE ${COLLDSL_LLVM_LIBRARIES})

# The MPIs that mpi/ is built for, both at once: mpi::openmpi, mpi::mpich, and how each starts
# programs. COLLDSL_MPIS lists those that are here.
function(colldsl_find_mpi mpi name header_folders library_folders library)
  string(TOUPPER ${mpi} variable)
  find_path(${variable}_INCLUDE_DIR mpi.h NO_CACHE PATHS /usr/lib /usr/include
    PATH_SUFFIXES ${header_folders} NO_DEFAULT_PATH)
  find_library(${variable}_LIBRARY ${library} NO_CACHE PATHS /usr/lib
    PATH_SUFFIXES ${library_folders} NO_DEFAULT_PATH)
  find_program(${variable}_LAUNCHER NAMES mpirun.${mpi} mpiexec.${mpi})
  if(NOT ${variable}_INCLUDE_DIR OR NOT ${variable}_LIBRARY)
    message(STATUS "${name} is missing: there will be no libcolldsl-${mpi}.so")
    return()
  endif()
  add_library(mpi::${mpi} SHARED IMPORTED GLOBAL)
  set_target_properties(mpi::${mpi} PROPERTIES
    IMPORTED_LOCATION ${${variable}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${${variable}_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS "OMPI_SKIP_MPICXX;MPICH_SKIP_MPICXX") # C++ names of MPI 2
  set(COLLDSL_MPIS ${COLLDSL_MPIS} ${mpi} PARENT_SCOPE)
endfunction()
set(COLLDSL_MPIS)
set(arch ${CMAKE_LIBRARY_ARCHITECTURE})
colldsl_find_mpi(openmpi "Open MPI" ${arch}/openmpi/include ${arch}/openmpi/lib mpi)
# The constants of Open MPI 6 are in a library of their own.
find_library(OPENMPI_CONSTANTS open_mpi NO_CACHE PATHS /usr/lib PATH_SUFFIXES ${arch}/openmpi/lib
  NO_DEFAULT_PATH)
if(TARGET mpi::openmpi AND OPENMPI_CONSTANTS)
  target_link_libraries(mpi::openmpi INTERFACE ${OPENMPI_CONSTANTS})
endif()
colldsl_find_mpi(mpich "MPICH" ${arch}/mpich ${arch} mpich)
# The standard ABI of MPI 5: one library for all MPIs that have it, mpi::mpi_abi. COLLDSL_ABIS lists
# it, if it is here; COLLDSL_ABI_MPIS lists the MPIs that have it, and <MPI>_ABI_LIBRARY is that of each.
set(mpis ${COLLDSL_MPIS})
colldsl_find_mpi(mpi_abi "the standard ABI of MPI"
  "${arch}/mpi_abi_mpich/include;${arch}/openmpi/include/standard_abi" ${arch} mpi_abi)
set(COLLDSL_ABIS ${COLLDSL_MPIS})
list(REMOVE_ITEM COLLDSL_ABIS ${mpis})
set(COLLDSL_MPIS ${mpis})
set(COLLDSL_ABI_MPIS)
foreach(mpi IN LISTS COLLDSL_MPIS)
  string(TOUPPER ${mpi} variable)
  file(GLOB found /usr/lib/${arch}/libmpi_abi_${mpi}.so.1*)
  if(COLLDSL_ABIS AND found)
    list(GET found 0 ${variable}_ABI_LIBRARY)
    list(APPEND COLLDSL_ABI_MPIS ${mpi})
  endif()
endforeach()

# Fortran's side of them, for tests. Open MPI's package does not say where its modules are.
if(COLLDSL_BUILD_TESTS AND COLLDSL_MPIS)
  pkg_check_modules(OPENMPI_FORTRAN REQUIRED IMPORTED_TARGET ompi-fort)
  execute_process(COMMAND mpifort.openmpi --showme:incdirs OUTPUT_VARIABLE OPENMPI_FORTRAN_MODULES
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(OPENMPI_FORTRAN_MODULES)
  find_library(MPICH_FORTRAN_LIBRARY mpichfort REQUIRED)
endif()
