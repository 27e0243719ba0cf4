# Two helpers so that every room's CMakeLists.txt reads as a list of what it holds.

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/tmp)
add_library(assay_flags INTERFACE)
# For this build alone: whoever uses the installed libraries has flags of their own.
target_compile_options(assay_flags INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Werror;-Wno-missing-field-initializers>")
# libstdc++ 12 implements stable_sort by a function that it marks as deprecated itself; clang says so wherever it is used.
target_compile_options(assay_flags INTERFACE $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>>)
target_include_directories(assay_flags INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
# NaN payloads, signed zeros and rounding are the product's subject: the host compiler may not take liberties.
target_compile_options(assay_flags INTERFACE "$<BUILD_INTERFACE:-ffp-contract=off;-fno-fast-math>")

# Reading headers is most of what a small file costs. They are precompiled once for the libraries and once for the programs
# (which differ in -fPIE), unless ccache compiles: it and precompiled headers of GCC do not go together (a stale object was
# seen), and it is what those who build often have. assay_precompile(NAME KIND HEADERS...): the first target of a kind owns them.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(ASSAY_PCH_DEFAULT OFF)
else()
  set(ASSAY_PCH_DEFAULT ON)
endif()
option(ASSAY_PCH "Precompile headers (not together with ccache)" ${ASSAY_PCH_DEFAULT})
# What every file costs by itself (the library's own templates among it) is paid once for five of them.
option(ASSAY_TOGETHER "Compile the sources of spec and of reference five at a time" ${ASSAY_PCH_DEFAULT})
set(ASSAY_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory> <optional> <set> <sstream>
  <string> <string_view> <utility> <vector> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
  <absl/container/inlined_vector.h> <absl/status/statusor.h> <absl/strings/str_format.h> <absl/strings/str_join.h>
  <absl/strings/str_split.h> <absl/types/span.h>
  ${CMAKE_SOURCE_DIR}/spec/base/strings.h ${CMAKE_SOURCE_DIR}/spec/base/status_macros.h
  ${CMAKE_SOURCE_DIR}/spec/base/error.h ${CMAKE_SOURCE_DIR}/spec/types/literal.h
  ${CMAKE_SOURCE_DIR}/spec/ir/module.h ${CMAKE_SOURCE_DIR}/spec/ops/op_table.h)
function(assay_precompile name kind)
  if(NOT ASSAY_PCH)
    return()
  endif()
  # GCC forgets that precompiled headers are system headers, and then has false alarms about absl and the library.
  target_compile_options(${name} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-restrict>")
  get_property(owner GLOBAL PROPERTY ASSAY_PCH_OWNER_${kind})
  if(owner)
    target_precompile_headers(${name} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${name} PRIVATE ${ASSAY_COMMON_HEADERS} ${ARGN})
    set_property(GLOBAL PROPERTY ASSAY_PCH_OWNER_${kind} ${name})
  endif()
endfunction()

# The libraries' precompiled headers belong to none of them, so that none waits for another.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/precompiled.cc CONTENT "// Headers are read with it.\n")
add_library(assay_precompiled OBJECT ${CMAKE_BINARY_DIR}/generated/precompiled.cc)
target_link_libraries(assay_precompiled PRIVATE assay_flags)
assay_precompile(assay_precompiled library)

# assay_library(NAME [TOGETHER] SOURCES... [SLOWLY...] LINK... [PRECOMPILE...]): a static library of one room.
# TOGETHER: its sources are compiled five at a time, so that names in unnamed namespaces are to differ.
# SLOWLY: those of the sources that run once per module, or only when something is wrong. They are built sooner, not faster.
# PRECOMPILE: headers that only this library reads all over; it then has precompiled headers of its own.
function(assay_library name)
  cmake_parse_arguments(ARG "TOGETHER" "" "SOURCES;SLOWLY;LINK;PRECOMPILE" ${ARGN})
  if(ARG_SLOWLY)
    list(REMOVE_ITEM ARG_SOURCES ${ARG_SLOWLY})
    add_library(${name}_slowly OBJECT ${ARG_SLOWLY})
    target_link_libraries(${name}_slowly PRIVATE assay_flags ${ARG_LINK})
    target_compile_options(${name}_slowly PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  set(targets ${name})
  if(ARG_SLOWLY)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_slowly>)
    list(APPEND targets ${name}_slowly)
  endif()
  if(ARG_TOGETHER AND ASSAY_TOGETHER)
    set_target_properties(${targets} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
  endif()
  target_link_libraries(${name} PUBLIC assay_flags ${ARG_LINK})
  if(ARG_PRECOMPILE)
    assay_precompile(${name} ${name} ${ARG_PRECOMPILE})
  else()
    assay_precompile(${name} library)
  endif()
  if(ARG_SLOWLY)
    assay_precompile(${name}_slowly library)
  endif()
endfunction()

# assay_test(NAME SOURCES... LINK... [ARGS...] [TIMEOUT SECONDS] [SLOW]): a GoogleTest program registered with CTest, with
# the label "unit", or "slow" where it takes more than about ten seconds: tools/test --quick leaves those out.
function(assay_test name)
  cmake_parse_arguments(ARG "SLOW" "TIMEOUT" "SOURCES;LINK;ARGS" ${ARGN})
  if(NOT ASSAY_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE ASSAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  # Tests are compiled to be built soon, not to run fast: what they call is optimized.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  assay_precompile(${name} test <gtest/gtest.h> <gmock/gmock.h>)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  # Two build folders may be tested at the same time. Workers that crash on purpose die of the signal, sanitizer or not.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "TEST_TMPDIR=${CMAKE_BINARY_DIR}/tests/tmp;ASAN_OPTIONS=handle_segv=0")
  set(label unit)
  if(ARG_SLOW)
    set(label slow)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label})
  if(ARG_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()
