// NumPy archives (.npz): zip of .npy, stored or deflated. Hostile until read: sizes are checked
// against the file and a limit before anything is allocated. bf16 and 8-bit or narrower floats are
// stored as unsigned integers of the same width.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/types/literal.h"

namespace assay {

// Says before an array is unpacked whether one of at most `bytes` is wanted under that name.
using NpzAdmission = std::function<absl::Status(std::string_view name, int64_t bytes)>;

// Arrays by name (without ".npy"). Element types as numpy's: bool is pred, float16 is f16,
// complex64 is c64, ... Without `admit` every array is wanted.
absl::StatusOr<std::map<std::string, Literal>> ReadNpz(const std::string& path,
                                                       int64_t byte_limit = kDefaultLiteralLimit,
                                                       const NpzAdmission& admit = nullptr);
absl::StatusOr<std::map<std::string, Literal>> ParseNpz(std::string_view bytes,
                                                        int64_t byte_limit = kDefaultLiteralLimit,
                                                        const NpzAdmission& admit = nullptr);
absl::Status WriteNpz(const std::string& path,
                      const std::vector<std::pair<std::string, const Literal*>>& arrays);
// The inputs of a program as all verbs read them, in the order of its parameters: in0, in1, ...
absl::Status WriteInputs(const std::string& path, const std::vector<Literal>& inputs);

// `array` as a literal of `shape`: same dimensions, same type or the unsigned integer of the same
// width that stands for it (the corpora's convention); an error that names both shapes otherwise.
// Fortran-ordered arrays were reordered when read.
absl::StatusOr<Literal> AsShape(const Literal& array, const Shape& shape);

}  // namespace assay
