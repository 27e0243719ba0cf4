# Installs the libraries into a folder of the build, builds the project beside this file against
# them, runs it.
set(prefix ${BUILD}/install_test/prefix)
set(outside ${BUILD}/install_test/build)
file(REMOVE_RECURSE ${BUILD}/install_test)
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
endfunction()
step(${CMAKE_COMMAND} --install ${BUILD} --component library --prefix ${prefix})
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${outside} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS})
step(${CMAKE_COMMAND} --build ${outside})
execute_process(COMMAND ${outside}/outside OUTPUT_VARIABLE output RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT output STREQUAL "{40, 41, 42}\n")
  message(FATAL_ERROR "the outside program ended with ${result} and said: ${output}")
endif()
