// Preconditions of the API. A violated one is a bug of the caller, not an input: it ends the
// program with the condition and what to do. Input is answered with absl::Status instead.
#pragma once

#include <cstdio>
#include <cstdlib>

#define ASSAY_CHECK(condition, message)                                                     \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", __FILE__, __LINE__, #condition, \
                   message);                                                                \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)
