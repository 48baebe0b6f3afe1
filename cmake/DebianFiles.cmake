# What Debian wants in packages beside what is installed; cpack runs this on the folders that become packages.
set(debian_dir ${CPACK_COLLDSL_SOURCE_DIR}/packaging/debian)
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# compress(FROM TO): no name and no time of the file are kept.
function(compress from to)
  get_filename_component(folder ${to} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND gzip -9 -n -c ${from} OUTPUT_FILE ${to} COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD ${to} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

run(${debian_dir}/make-changelog ${CPACK_COLLDSL_SOURCE_DIR}/CHANGELOG.md --release ${CPACK_DEBIAN_PACKAGE_RELEASE}
  --maintainer "${CPACK_PACKAGE_CONTACT}" -o ${CPACK_COLLDSL_DEBIAN_FILES}/changelog)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  set(doc ${root}/usr/share/doc/${package})
  file(COPY ${debian_dir}/copyright DESTINATION ${doc})
  compress(${CPACK_COLLDSL_DEBIAN_FILES}/changelog ${doc}/changelog.Debian.gz)
  compress(${CPACK_COLLDSL_SOURCE_DIR}/CHANGELOG.md ${doc}/changelog.gz)
  if(EXISTS ${debian_dir}/${package}.lintian-overrides)
    file(MAKE_DIRECTORY ${root}/usr/share/lintian/overrides)
    file(COPY_FILE ${debian_dir}/${package}.lintian-overrides ${root}/usr/share/lintian/overrides/${package})
  endif()
  file(GLOB pages ${root}/usr/share/man/man1/*.1)
  foreach(page IN LISTS pages)
    compress(${page} ${page}.gz)
    file(REMOVE ${page})
  endforeach()
endforeach()

# Refuses a library that lacks a symbol of the list, or has one that the list lacks. dpkg-gensymbols of
# Debian 13 wants to read of the package in debian/control.
file(WRITE ${CPACK_COLLDSL_DEBIAN_FILES}/debian/control
  "Source: colldsl\n\nPackage: ${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME}\nArchitecture: any\n")
file(GLOB library ${CPACK_TEMPORARY_DIRECTORY}/library/usr/lib/*/libcolldsl.so.*.*)
execute_process(WORKING_DIRECTORY ${CPACK_COLLDSL_DEBIAN_FILES} COMMAND_ERROR_IS_FATAL ANY
  COMMAND dpkg-gensymbols -c4 -q -p${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} -v${version} -e${library}
    -I${debian_dir}/libcolldsl0.symbols -O${CPACK_COLLDSL_DEBIAN_FILES}/symbols)
