# colldsl_compile(LIBRARY FILE.coll... [OPTIONS OPTION...]): compiles collectives into a schedule
# library in the current binary folder.
function(colldsl_compile library)
  cmake_parse_arguments(C "" "" "OPTIONS" ${ARGN})
  add_custom_command(
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${library}
    COMMAND colldsl::tool compile ${C_UNPARSED_ARGUMENTS} ${C_OPTIONS}
            -o ${CMAKE_CURRENT_BINARY_DIR}/${library}
    DEPENDS colldsl::tool ${C_UNPARSED_ARGUMENTS}
    COMMENT "Compiling ${library}"
    VERBATIM)
endfunction()
