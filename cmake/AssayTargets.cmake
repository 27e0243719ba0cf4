# Two helpers so that every room's CMakeLists.txt reads as a list of what it holds.

add_library(assay_flags INTERFACE)
# For this build alone: whoever uses the installed libraries has flags of their own.
target_compile_options(assay_flags INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Werror;-Wno-missing-field-initializers>")
# libstdc++ 12 implements stable_sort by a function that it marks as deprecated itself; clang says so wherever it is used.
target_compile_options(assay_flags INTERFACE $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>>)
target_include_directories(assay_flags INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
# NaN payloads, signed zeros and rounding are the product's subject: the host compiler may not take liberties.
target_compile_options(assay_flags INTERFACE "$<BUILD_INTERFACE:-ffp-contract=off;-fno-fast-math>")

# assay_library(NAME SOURCES... LINK...): a static library of one room.
function(assay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC assay_flags ${ARG_LINK})
endfunction()

# assay_test(NAME SOURCES... LINK... [ARGS...]): a GoogleTest program registered with CTest.
function(assay_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;ARGS" ${ARGN})
  if(NOT ASSAY_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE ASSAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  if(ARG_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()
