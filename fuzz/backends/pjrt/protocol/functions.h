// The functions of the PJRT C API as data: enough to ask each of those that only tell something,
// and to name all. Document: XLA's pjrt_c_api.h, API 0.81; a plug-in that is older has the first
// of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "fuzz/backends/pjrt/abi.h"

namespace assay::pjrt {

// The object that a function is asked about, which stands behind the head of its structure.
enum class Subject : uint8_t {
  kNone,
  kEvent,
  kClient,
  kDevice,
  kDescription,
  kMemory,
  kExecutable,
  kLoaded,
  kBuffer,
  kTopology,
};

// The form of an answer, and where it stands in the structure. `kNotAsked`: the function does more
// than tell, and has cases of its own.
enum class AnswerForm : uint8_t {
  kNotAsked,
  kNothing,
  kText,        // an address and a size
  kObject,      // an address
  kList,        // an address and a count above zero
  kAnyList,     // an address and a count
  kAttributes,  // an address and a count of named values
  kCountFirst,  // a count and an address of named values
  kInteger,     // four bytes
  kNumber,      // eight bytes, none below zero
  kTruth,       // one byte, 0 or 1
  kEvent,       // an event, for the caller to destroy
  kMade,        // an object, for the caller to destroy
  kOthers,      // whatever: only the error counts
};

struct FunctionRow {
  Function function;
  std::string_view name;  // "PJRT_Client_PlatformName"
  Subject subject = Subject::kNone;
  uint8_t size = 0;  // of its structure, to the end of the last field
  AnswerForm form = AnswerForm::kNotAsked;
};

// All, in the order of the table.
absl::Span<const FunctionRow> FunctionRows();

}  // namespace assay::pjrt
