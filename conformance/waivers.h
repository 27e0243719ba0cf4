// Stored answers that are known to be wrong, as data (waivers.json). A waiver is about exactly one
// module with exactly one file of arrays, both pinned by the hash of their bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/case_files.h"

namespace assay {

// One stored element that is wrong.
struct WaivedElement {
  int64_t device = 0, output = 0, element = 0;  // output: leaf of the result; element: row-major
  std::string value;                            // what is stored, as HLO text
};

struct Waiver {
  std::string module;       // name of the module's file without its ending
  std::string module_hash;  // ContentHash of that file
  std::string arrays_hash;  // ContentHash of the file with the stored answer
  std::string backend;      // what gave the answer
  std::string versions;     // of that backend, in which it was seen
  std::vector<WaivedElement> elements;
  std::string issue;           // what is wrong, or where it was reported
  std::string since, expires;  // YYYY-MM-DD; after that day somebody has to look again
  std::string proof;           // why the stored answer is wrong
};

// The rows of a waiver file: a JSON array of objects with the members of Waiver, all of them
// required and no others. Errors name the row and the member.
absl::StatusOr<std::vector<Waiver>> ParseWaivers(std::string_view json);

// The rows of conformance/waivers.json, which are built into the program. No other file is read.
absl::StatusOr<std::vector<Waiver>> BuiltInWaivers();

// FNV-1a of 64 bits, as 16 hexadecimal digits: tells files apart that nobody made to look alike.
std::string ContentHash(std::string_view bytes);

// The proof that the stored answer of this module is wrong; "" if no waiver is about these files.
std::string WaiverOf(const CaseFile& file);

}  // namespace assay
