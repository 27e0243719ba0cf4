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
set(ASSAY_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory> <optional> <set> <sstream>
  <string> <string_view> <utility> <vector> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
  <absl/container/inlined_vector.h> <absl/status/statusor.h> <absl/strings/str_format.h> <absl/strings/str_join.h>
  <absl/strings/str_split.h> <absl/types/span.h> <nlohmann/json.hpp>
  ${CMAKE_SOURCE_DIR}/spec/base/strings.h ${CMAKE_SOURCE_DIR}/spec/base/status_macros.h
  ${CMAKE_SOURCE_DIR}/spec/base/error.h ${CMAKE_SOURCE_DIR}/spec/types/literal.h
  ${CMAKE_SOURCE_DIR}/spec/ir/module.h ${CMAKE_SOURCE_DIR}/spec/ops/op_table.h)
function(assay_precompile name kind)
  if(NOT ASSAY_PCH)
    return()
  endif()
  # GCC forgets that precompiled headers are system headers, and then has false alarms about absl and the library.
  target_compile_options(${name} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-restrict>")
  get_property(owner GLOBAL PROPERTY ASSAY_PCH_OWNER_${kind})
  if(owner)
    target_precompile_headers(${name} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${name} PRIVATE ${ASSAY_COMMON_HEADERS} ${ARGN})
    set_property(GLOBAL PROPERTY ASSAY_PCH_OWNER_${kind} ${name})
  endif()
endfunction()

# assay_library(NAME SOURCES... LINK... [PRECOMPILE...]): a static library of one room.
# PRECOMPILE: headers that only this library reads all over; it then has precompiled headers of its own.
function(assay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRECOMPILE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC assay_flags ${ARG_LINK})
  if(ARG_PRECOMPILE)
    assay_precompile(${name} ${name} ${ARG_PRECOMPILE})
  else()
    assay_precompile(${name} library)
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
