// Finds the arrays that are another array looked up by scalars: element o of the result is the
// source at indices[o restricted to the output dimensions] along one dimension, and at o elsewhere
// (indices out of bounds are clamped as gather does). Look-ups of look-ups are one look-up where
// they follow each other along the same dimension. Document: optimization passes, Indexed array
// analysis.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spec/ir/module.h"

namespace assay {

class IndexedArrayAnalysis {
 public:
  struct Array {
    const Instruction* instruction = nullptr;  // itself, when nothing more is known
    // A look-up:
    const Array* source = nullptr;
    const Array* indices = nullptr;
    int64_t source_dim = 0;
    std::vector<int64_t> output_dims;

    bool IsIndexed() const { return source != nullptr; }
  };

  explicit IndexedArrayAnalysis(const Computation& computation);
  const Array& Of(const Instruction* inst) const { return *arrays_.at(inst); }
  // "(scalar-indexed %source %indices 0->[0])"; -const where the source is a constant.
  static std::string ToString(const Array& array);

 private:
  const Array* Add(Array array);
  const Array* Analyze(const Instruction* inst);
  const Array* OfGather(const Instruction* gather);
  const Array* LookUp(const Array* source, const Array* indices, int64_t source_dim,
                      std::vector<int64_t> output_dims);

  absl::flat_hash_map<const Instruction*, const Array*> arrays_;
  std::vector<std::unique_ptr<Array>> owned_;
};

}  // namespace assay
