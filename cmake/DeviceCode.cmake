# assay_device_code(TARGET SOURCES...): compiles C++ to LLVM IR, joins it, and adds it to the target as an array of bytes
# (kDeviceCode, kDeviceCodeBytes). Clang and llvm-link are those of the LLVM that reads it: other versions' bitcode may differ.
# The sources see no thread, no exception and no memory but what they are given; their arithmetic is that of the host's code.
find_program(ASSAY_CLANG NAMES clang++-${LLVM_VERSION_MAJOR} clang++ HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(ASSAY_LLVM_LINK NAMES llvm-link-${LLVM_VERSION_MAJOR} llvm-link HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
set(ASSAY_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_bytes.cmake)
set(ASSAY_DEVICE_FLAGS -std=c++20 -O2 -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -ffp-contract=off -fno-math-errno
  -fno-trapping-math -fcomplex-arithmetic=improved -fno-exceptions -fno-rtti -fno-stack-protector -fno-asynchronous-unwind-tables -fno-threadsafe-statics
  -Wall -Wno-return-type-c-linkage)
function(assay_device_code target)
  set(parts "")
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME_WE)
    set(part ${CMAKE_CURRENT_BINARY_DIR}/device/${name}.bc)
    add_custom_command(OUTPUT ${part}
      COMMAND ${ASSAY_CLANG} ${ASSAY_DEVICE_FLAGS} -I${CMAKE_SOURCE_DIR} -emit-llvm -c ${source} -o ${part} -MD -MF ${part}.d -MT ${part}
      DEPENDS ${source} DEPFILE ${part}.d COMMENT "Code for GPUs: ${name}" VERBATIM)
    list(APPEND parts ${part})
  endforeach()
  set(code ${CMAKE_CURRENT_BINARY_DIR}/device/device_code.cc)
  add_custom_command(OUTPUT ${code}
    COMMAND ${ASSAY_LLVM_LINK} ${parts} -o ${code}.bc
    COMMAND ${CMAKE_COMMAND} -DFROM=${code}.bc -DTO=${code} -P ${ASSAY_EMBED_SCRIPT}
    DEPENDS ${parts} ${ASSAY_EMBED_SCRIPT} VERBATIM)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/device)
  target_sources(${target} PRIVATE ${code})
  set_source_files_properties(${code} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
