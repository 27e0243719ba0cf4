// Passes that make library calls know this of a GPU and of the libraries on it, as data.
// Documents: HLO passes, GPU group; CUDA C++ Programming Guide, "Compute Capabilities"; the release
// notes of cuDNN 7.5 (epsilon of batch normalisation).
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "spec/ir/instruction.h"
#include "spec/types/element_type.h"

namespace assay {

struct GpuFacts {
  std::string_view name;  // "sm_90"
  // Sizes of matrices that tensor cores take whole, by type; 0: there are none.
  int64_t half_multiple, byte_multiple;
  // Features of convolutions of bytes come in so many.
  int64_t byte_features;
  bool has_bf16;
  double least_norm_epsilon;
  int64_t most_workspace_bytes;  // that we give one convolution

  // True for calls that a library of the machine takes; null: for all.
  bool (*takes)(const Instruction& call) = nullptr;

  // The multiple for products of elements of a type; 0: tensor cores do not take it.
  int64_t MultipleOf(ElementType type) const;

  static const GpuFacts* Find(std::string_view name);  // nullptr: unknown
  static const GpuFacts& Default();                    // of sm_90
};
absl::Span<const GpuFacts> AllGpuFacts();

}  // namespace assay
