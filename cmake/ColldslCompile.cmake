# colldsl_compile(TARGET FILE.coll... [OUTPUT LIBRARY] [OPTIONS OPTION...] [DEPENDS FILE...])
#
# Compiles collectives into a schedule library, TARGET.cdag in the current binary folder or OUTPUT. It is
# made again when one of the files changes, a file that they import, or the file of --rules among the
# options of `colldsl compile`; DEPENDS names what else it is made of, such as files of graphs.
#
# TARGET is an interface library. A program that links it is built after the schedule library, and gets
# its path as the macro <TARGET>_CDAG, a string, in upper case with _ for what no identifier has.
# The property COLLDSL_LIBRARY of TARGET is that path, too.
cmake_policy(VERSION 3.25) # for the functions here, whatever the project that includes this file asks for
function(colldsl_compile target)
  cmake_parse_arguments(PARSE_ARGV 1 C "" "OUTPUT" "OPTIONS;DEPENDS")
  if(NOT C_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "colldsl_compile(${target}): no .coll file is named")
  endif()
  if(C_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "colldsl_compile(${target}): nothing follows ${C_KEYWORDS_MISSING_VALUES}")
  endif()
  foreach(source IN LISTS C_UNPARSED_ARGUMENTS)
    if(NOT source MATCHES "[.]coll$")
      message(FATAL_ERROR "colldsl_compile(${target}): '${source}' is neither a .coll file nor one of the "
        "keywords OUTPUT, OPTIONS and DEPENDS")
    endif()
  endforeach()
  if(NOT C_OUTPUT)
    set(C_OUTPUT ${target}.cdag)
  endif()
  get_filename_component(library ${C_OUTPUT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  get_filename_component(folder ${library} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  set(sources)
  foreach(source IN LISTS C_UNPARSED_ARGUMENTS)
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  add_custom_command(
    OUTPUT ${library}
    COMMAND colldsl::tool compile ${sources} ${C_OPTIONS} -o ${library} --depfile ${library}.d
    DEPENDS colldsl::tool ${sources} ${C_DEPENDS}
    DEPFILE ${library}.d
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Compiling ${C_OUTPUT}"
    VERBATIM)
  add_library(${target} INTERFACE ${library} ${sources})
  string(MAKE_C_IDENTIFIER "${target}_CDAG" macro)
  string(TOUPPER ${macro} macro)
  target_compile_definitions(${target} INTERFACE ${macro}="${library}")
  set_target_properties(${target} PROPERTIES COLLDSL_LIBRARY ${library})
endfunction()
