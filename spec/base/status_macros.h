// Early return of errors.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define ASSAY_STATUS_CONCAT_IMPL(a, b) a##b
#define ASSAY_STATUS_CONCAT(a, b) ASSAY_STATUS_CONCAT_IMPL(a, b)

// Returns the status of `expression` unless it is OK.
#define ASSAY_RETURN_IF_ERROR(expression)                     \
  do {                                                        \
    if (absl::Status status_ = (expression); !status_.ok()) { \
      return status_;                                         \
    }                                                         \
  } while (false)

// `target` = the value of the StatusOr `expression`, whose error is returned.
#define ASSAY_ASSIGN_OR_RETURN(target, expression) \
  ASSAY_ASSIGN_OR_RETURN_IMPL(ASSAY_STATUS_CONCAT(status_or_, __LINE__), target, expression)
#define ASSAY_ASSIGN_OR_RETURN_IMPL(holder, target, expression) \
  auto holder = (expression);                                   \
  if (!holder.ok()) return holder.status();                     \
  target = *std::move(holder)
