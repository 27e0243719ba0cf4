// Marks functions that call compiled code through a pointer: clang's check of indirect calls reads
// what a compiler of C++ puts before a function, and code of ours has nothing there.
#pragma once

#ifdef __clang__
#define ASSAY_CALLS_COMPILED_CODE __attribute__((no_sanitize("function")))
#else
#define ASSAY_CALLS_COMPILED_CODE
#endif
