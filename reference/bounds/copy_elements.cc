// Copies codes, bounds, choices, errors and origins of single elements and of whole arrays.
#include "reference/bounds/copy_elements.h"

#include <cstring>

#include "reference/bounds/elements.h"
#include "reference/values/lines.h"
#include "reference/values/pick_bytes.h"

namespace assay::reference {

void CopyElements(const Array& source, int64_t from, Array& result, int64_t to, int64_t count) {
  if (count == 0) return;
  const size_t width = StorageBytes(source.literal.element_type());
  std::memcpy(result.literal.bytes().data() + to * width,
              source.literal.bytes().data() + from * width, count * width);
  if (source.Certain() && result.Certain()) return;
  for (int64_t k = 0; k < count; ++k) MoveBound(source, from + k, result, to + k);
}

void CopySteps(const Array& source, const StepRange& steps, Array& result) {
  const Lines source_lines(source.literal.shape(), steps.d);
  const Lines result_lines(result.literal.shape(), steps.d);
  for (int64_t o = 0; o < source_lines.outer; ++o) {
    CopyElements(source, source_lines.Block(o, steps.from), result, result_lines.Block(o, steps.to),
                 steps.count * source_lines.inner);
  }
}

void MoveBounds(const Array& operand, const IndexMap& map, Array& result) {
  MakeBounds(result);
  for (size_t i = 0; i < map.size(); ++i)
    MoveBound(operand, map[i], result, static_cast<int64_t>(i));
}

Value PickElements(const Array& source, absl::Span<const int64_t> map, MemoryMeter& memory) {
  const auto count = static_cast<int64_t>(map.size());
  Array picked{Literal(Shape::Array(source.literal.element_type(), {count}))};
  const size_t width = StorageBytes(source.literal.element_type());
  PickBytes(
      source.literal.bytes().data(), width, count, [map](int64_t i) { return map[i]; },
      picked.literal.bytes().data());
  for (int64_t i = 0; !source.Certain() && i < count; ++i) MoveBound(source, map[i], picked, i);
  return MakeValue(std::move(picked), memory);
}

}  // namespace assay::reference
