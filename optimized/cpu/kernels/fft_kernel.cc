// Fft: a call of the runtime. Document: operation semantics chapter 11.
#include <array>

#include "optimized/cpu/kernels/array_kernels.h"
#include "spec/base/strings.h"

namespace assay {

absl::Status EmitFft(ArrayKernelContext& c) {
  const Attributes& attributes = c.instruction.attributes();
  const absl::Span<const int64_t> lengths = attributes.Integers(Attr::kFftLength);
  const Shape& shape = c.instruction.shape();
  const auto rank = static_cast<int64_t>(lengths.size());
  int64_t batch = 1;
  for (int64_t d = 0; d + rank < shape.rank(); ++d) batch *= shape.dimension(d);
  std::array<int64_t, 3> sizes = {1, 1, 1};
  for (int64_t d = 0; d < rank; ++d) sizes[d] = lengths[d];
  ElementEmitter& e = c.elements;
  c.CallRuntime(
      StrCat("assay_fft_", Name(ComponentType(shape.element_type()))).c_str(),
      {c.operands[0][0], c.results[0], e.Index(attributes.Integer(Attr::kFftType)), e.Index(batch),
       e.Index(rank), e.Index(sizes[0]), e.Index(sizes[1]), e.Index(sizes[2])});
  return absl::OkStatus();
}

}  // namespace assay
