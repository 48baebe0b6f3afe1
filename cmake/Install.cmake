# What is installed: the program, the library with its headers, and what finds them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/colldsl)

add_executable(colldsl::tool ALIAS colldsl)
set_target_properties(colldsl PROPERTIES EXPORT_NAME tool)
include(ColldslCompile)

install(TARGETS colldsl colldsl_shared EXPORT colldsl
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/colldsl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT colldsl NAMESPACE colldsl:: DESTINATION ${package_dir} FILE colldslTargets.cmake)

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/colldslConfig.cmake.in
  ${CMAKE_BINARY_DIR}/colldslConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/colldslConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_BINARY_DIR}/colldslConfig.cmake ${CMAKE_BINARY_DIR}/colldslConfigVersion.cmake
  ${CMAKE_SOURCE_DIR}/cmake/ColldslCompile.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix/)
configure_file(${CMAKE_SOURCE_DIR}/cmake/colldsl.pc.in ${CMAKE_BINARY_DIR}/colldsl.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/colldsl.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/share/man/man1/colldsl.1
  COMMAND ${CMAKE_COMMAND} -D TOOL=$<TARGET_FILE:colldsl> -D COMMANDS=${CMAKE_SOURCE_DIR}/tools/Commands.def
    -D DIR=${CMAKE_BINARY_DIR}/share -P ${CMAKE_SOURCE_DIR}/cmake/Pages.cmake
  DEPENDS colldsl ${CMAKE_SOURCE_DIR}/cmake/Pages.cmake VERBATIM)
add_custom_target(colldsl-pages ALL DEPENDS ${CMAKE_BINARY_DIR}/share/man/man1/colldsl.1)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL)

foreach(mpi IN LISTS COLLDSL_MPIS COLLDSL_ABIS)
  install(TARGETS colldsl_${mpi}_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
foreach(mpi IN LISTS COLLDSL_MPIS)
  install(TARGETS colldsl-measure-${mpi} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
