# Debian packages, made by CPack of the components that Install.cmake and python/ install.
# scripts/build-debs configures a build for them and runs cpack; packaging/README.md has the packages.
set(COLLDSL_DEBIAN_RELEASE 1 CACHE STRING "what follows the version in the versions of Debian packages")
set(COLLDSL_MAINTAINER "The colldsl authors <colldsl@users.noreply.github.com>" CACHE STRING
  "name and address in Debian packages")
set(debian_dir ${CMAKE_SOURCE_DIR}/packaging/debian)
set(debian_files ${CMAKE_BINARY_DIR}/debian) # control files that are made

set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_CONTACT "${COLLDSL_MAINTAINER}")
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON) # of exactly this version
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE none) # packaging/debian/finish-package compresses
set(CPACK_DEBIAN_PACKAGE_RELEASE ${COLLDSL_DEBIAN_RELEASE})
set(CPACK_DEBIAN_PACKAGE_SOURCE colldsl)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# Compressed pages, copyright, changelogs, symbols: what Debian wants beside what is installed.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/DebianFiles.cmake)
set(CPACK_COLLDSL_SOURCE_DIR ${CMAKE_SOURCE_DIR})
set(CPACK_COLLDSL_DEBIAN_FILES ${debian_files})

# debian_package(COMPONENT NAME SECTION SUMMARY text TEXT line... [EXACT component...] [FIELD text]...
#   [CONTROL file...]): EXACT are the components that it needs in its own version.
macro(debian_package component name section)
  cmake_parse_arguments(D "" "SUMMARY;RECOMMENDS;SUGGESTS;DEPENDS;MULTIARCH" "TEXT;EXACT;CONTROL" ${ARGN})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  list(JOIN D_TEXT "\n" text)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${D_SUMMARY}\n${text}")
  set(CPACK_COMPONENT_${upper}_DEPENDS ${D_EXACT})
  foreach(field IN ITEMS DEPENDS RECOMMENDS SUGGESTS MULTIARCH) # CMake 3.31 writes the last one
    set(CPACK_DEBIAN_${upper}_PACKAGE_${field} "${D_${field}}")
  endforeach()
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${D_CONTROL})
endmacro()

# The packages of libraries that are loaded when they are needed, as this system calls them.
function(debian_packages_of out)
  set(packages)
  foreach(library IN LISTS ARGN)
    execute_process(COMMAND dpkg-query -S */${CMAKE_LIBRARY_ARCHITECTURE}/${library}
      OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND found MATCHES "^([^:, \n]+)")
      list(APPEND packages ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES packages)
  list(JOIN packages ", " packages)
  set(${out} "${packages}" PARENT_SCOPE)
endfunction()
debian_packages_of(networks libfabric.so.1 libibverbs.so.1 librdmacm.so.1)
debian_packages_of(launchers libpmix.so.2)

set(about
  "colldsl is a language for communication schedules: collectives, halo"
  "exchanges, any pattern of messages between ranks. Schedules are proved correct,"
  "improved by passes, simulated, and run over shared memory, libfabric, verbs or"
  "UDP."
  "")
debian_package(program colldsl devel
  SUMMARY "compiler, verifier and simulator of communication schedules"
  TEXT ${about} "This package has the program colldsl, which does all of that from the command"
       "line."
  RECOMMENDS "${networks}" SUGGESTS "colldsl-openmpi, colldsl-mpich, libcolldsl-dev, python3-colldsl")
debian_package(library libcolldsl${PROJECT_VERSION_MAJOR} libs
  SUMMARY "communication schedules as plans of programs"
  TEXT ${about} "This package has the library, with which programs make plans of schedules and"
       "start them."
  RECOMMENDS "${networks}" SUGGESTS "${launchers}" MULTIARCH same
  CONTROL ${debian_dir}/triggers ${debian_files}/shlibs ${debian_files}/symbols)
debian_package(development libcolldsl-dev libdevel
  SUMMARY "communication schedules as plans of programs (headers)"
  TEXT ${about} "This package has the headers for C and C++, and the files for pkg-config and"
       "CMake, whose colldsl_compile() makes libraries of schedules."
  EXACT library program)
foreach(mpi IN LISTS COLLDSL_MPIS COLLDSL_ABIS)
  list(APPEND CPACK_COMPONENTS_ALL ${mpi})
  set(title_openmpi "Open MPI")
  set(title_mpich "MPICH")
  set(title_mpi_abi "any MPI of the standard ABI")
  string(REPLACE _ - suffix ${mpi})
  debian_package(${mpi} colldsl-${suffix} libs
    SUMMARY "communication schedules under programs of ${title_${mpi}}"
    TEXT ${about} "This package has the library that colldsl mpi loads before ${title_${mpi}}:"
         "collectives and neighbourhood collectives of unchanged programs then run"
         "through colldsl."
    EXACT program RECOMMENDS "${networks}")
endforeach()
file(WRITE ${debian_files}/shlibs
  "libcolldsl ${PROJECT_VERSION_MAJOR} libcolldsl${PROJECT_VERSION_MAJOR} (>= ${PROJECT_VERSION})\n")

if(pybind11_FOUND)
  list(APPEND CPACK_COMPONENTS_ALL python)
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  debian_package(python python3-colldsl python
    SUMMARY "communication schedules in Python"
    TEXT ${about} "This package has the compiler, the verifier, the simulator and the plans for"
         "Python 3."
    EXACT library SUGGESTS "python3-pandas, python3-matplotlib, python3-mpi4py"
    DEPENDS "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next}), python3-numpy"
    CONTROL ${debian_dir}/python/postinst ${debian_dir}/python/prerm)
endif()
include(CPack)
