# What is installed, in components that are packages of Packages.cmake: the program, the library, what
# programs are built with, the libraries of MPIs. That of Python is in python/CMakeLists.txt.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/colldsl)
set(data_dir ${CMAKE_INSTALL_DATADIR}/colldsl)

add_executable(colldsl::tool ALIAS colldsl)
set_target_properties(colldsl PROPERTIES EXPORT_NAME tool)
include(ColldslCompile)

# The program, with the texts that are built into it, pages and completion.
install(TARGETS colldsl EXPORT colldsl RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/stdlib DESTINATION ${data_dir} COMPONENT program
  FILES_MATCHING PATTERN *.coll PATTERN *.rules)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/topology/models DESTINATION ${data_dir} COMPONENT program)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/editors DESTINATION ${data_dir} COMPONENT program)

add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/share/man/man1/colldsl.1
  COMMAND ${CMAKE_COMMAND} -D TOOL=$<TARGET_FILE:colldsl> -D COMMANDS=${CMAKE_SOURCE_DIR}/tools/Commands.def
    -D DIR=${CMAKE_BINARY_DIR}/share -P ${CMAKE_SOURCE_DIR}/cmake/Pages.cmake
  DEPENDS colldsl ${CMAKE_SOURCE_DIR}/cmake/Pages.cmake VERBATIM)
add_custom_target(colldsl-pages ALL DEPENDS ${CMAKE_BINARY_DIR}/share/man/man1/colldsl.1)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program OPTIONAL)
# Debian's zsh reads vendor-completions below /usr.
set(COLLDSL_ZSH_COMPLETIONS zsh/site-functions CACHE STRING
  "where completion for zsh is installed, below the data folder")
foreach(shell IN ITEMS
    bash-completion/completions:bash-completion/completions
    zsh/site-functions:${COLLDSL_ZSH_COMPLETIONS}
    fish/vendor_completions.d:fish/vendor_completions.d)
  string(REPLACE ":" ";" shell ${shell})
  list(GET shell 0 from)
  list(GET shell 1 to)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/${from}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${to}
    COMPONENT program OPTIONAL)
endforeach()

install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CITATION.cff
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs ${CMAKE_SOURCE_DIR}/examples
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
  PATTERN __pycache__ EXCLUDE PATTERN .ipynb_checkpoints EXCLUDE)

# The library, and what programs are built with.
install(TARGETS colldsl_shared EXPORT colldsl
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/colldsl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development)
install(EXPORT colldsl NAMESPACE colldsl:: DESTINATION ${package_dir} FILE colldslTargets.cmake
  COMPONENT development)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/colldslConfig.cmake.in
  ${CMAKE_BINARY_DIR}/colldslConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/colldslConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_BINARY_DIR}/colldslConfig.cmake ${CMAKE_BINARY_DIR}/colldslConfigVersion.cmake
  ${CMAKE_SOURCE_DIR}/cmake/ColldslCompile.cmake
  DESTINATION ${package_dir} COMPONENT development)
if(COLLDSL_PACKAGED)
  set(prefix ${CMAKE_INSTALL_PREFIX}) # so that pkg-config leaves out the folders of the system
else()
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix/)
  set(prefix "\${pcfiledir}/${up}")
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/colldsl.pc.in ${CMAKE_BINARY_DIR}/colldsl.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/colldsl.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

# The libraries that are loaded before an MPI: `colldsl mpi` finds them, the linker does not.
foreach(mpi IN LISTS COLLDSL_MPIS COLLDSL_ABIS)
  install(TARGETS colldsl_${mpi}_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/colldsl COMPONENT ${mpi})
endforeach()
foreach(mpi IN LISTS COLLDSL_MPIS)
  install(TARGETS colldsl-measure-${mpi}
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/colldsl COMPONENT ${mpi})
endforeach()
