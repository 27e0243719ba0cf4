# `cmake --build DIR --target archive`: assay-VERSION-linux-ARCH.tar.gz, which holds the program with every shared library that it needs
# but those of glibc, and so runs where glibc is as new as here, whatever else is installed. The libraries are found beside the program
# (an RPATH, which unlike a RUNPATH holds for the libraries of libraries, too), so that the folder may lie anywhere.
if(NOT TARGET assay OR APPLE OR WIN32)
  return()
endif()
target_link_options(assay PRIVATE -Wl,--disable-new-dtags)
set_target_properties(assay PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")

set(ASSAY_ARCHIVE assay-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
install(RUNTIME_DEPENDENCY_SET assay_libraries COMPONENT bundle EXCLUDE_FROM_ALL DESTINATION lib
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|nsl|anl)\\.so"
  POST_EXCLUDE_REGEXES "/ld-linux[^/]*$" "/lib(c|m|dl|rt|pthread|resolv|util|nsl|anl)\\.so[^/]*$"
  DIRECTORIES ${LLVM_LIBRARY_DIRS})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION share/assay COMPONENT bundle EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/bench/workloads DESTINATION share/assay COMPONENT bundle EXCLUDE_FROM_ALL)

set(stage ${CMAKE_BINARY_DIR}/archive/${ASSAY_ARCHIVE})
set(stage_commands
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${stage}
  COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${stage} --component Unspecified --strip
  COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${stage} --component bundle)
# The folder alone is what the test runs; compressing 200 MB takes longer than all the rest.
add_custom_target(archive_folder ${stage_commands} VERBATIM)
add_dependencies(archive_folder assay completions)
add_custom_target(archive
  COMMAND ${CMAKE_COMMAND} -E chdir ${CMAKE_BINARY_DIR}/archive ${CMAKE_COMMAND} -E tar czf ${ASSAY_ARCHIVE}.tar.gz ${ASSAY_ARCHIVE}
  COMMAND ${CMAKE_COMMAND} -E echo ${CMAKE_BINARY_DIR}/archive/${ASSAY_ARCHIVE}.tar.gz VERBATIM)
add_dependencies(archive archive_folder)

if(ASSAY_TESTS)
  add_test(NAME archive_test COMMAND sh ${CMAKE_SOURCE_DIR}/tools/archive_test.sh ${CMAKE_BINARY_DIR} ${stage} ${CMAKE_COMMAND})
  set_tests_properties(archive_test PROPERTIES TIMEOUT 300 LABELS slow SKIP_RETURN_CODE 77)
endif()
