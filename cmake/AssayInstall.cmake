# cmake --install: the program, and for other projects the headers and libraries of spec and
# reference with a CMake package. `--component library` installs the latter alone.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Assay)
set_target_properties(assay_spec PROPERTIES EXPORT_NAME spec)
set_target_properties(assay_reference PROPERTIES EXPORT_NAME reference)
install(TARGETS assay_flags assay_proto assay_spec assay_reference EXPORT AssayTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay)
install(EXPORT AssayTargets NAMESPACE Assay:: DESTINATION ${package_dir} COMPONENT library)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/spec ${CMAKE_SOURCE_DIR}/reference
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay COMPONENT library
  FILES_MATCHING PATTERN "*.h" PATTERN "*_for_test.h" EXCLUDE PATTERN "testing" EXCLUDE PATTERN "testdata" EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/generated/spec/proto/hlo.pb.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay/spec/proto COMPONENT library)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/AssayConfig.cmake.in
  ${CMAKE_BINARY_DIR}/AssayConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/AssayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/AssayConfig.cmake ${CMAKE_BINARY_DIR}/AssayConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT library)

# An outside project of ten lines uses what is installed.
if(ASSAY_TESTS)
  add_test(NAME install_test COMMAND ${CMAKE_COMMAND}
    -DBUILD=${CMAKE_BINARY_DIR} -DSOURCE=${CMAKE_SOURCE_DIR}/cmake/install_test
    -DCOMPILER=${CMAKE_CXX_COMPILER} -DFLAGS=${CMAKE_CXX_FLAGS} -DGENERATOR=${CMAKE_GENERATOR}
    -P ${CMAKE_SOURCE_DIR}/cmake/install_test/run.cmake)
  set_tests_properties(install_test PROPERTIES TIMEOUT 300 LABELS slow)
endif()
