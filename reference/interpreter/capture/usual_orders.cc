// Evaluates single elements of a reduction in a few fixed orders.
#include "reference/interpreter/capture/usual_orders.h"

#include <algorithm>

#include "reference/values/index_map.h"
#include "spec/ir/reading/combiner.h"

namespace assay::reference {
namespace {

constexpr int64_t kBlockSteps = 32;

std::vector<int64_t> PlacesOf(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides) {
  std::vector<int64_t> places;
  DimVector index(sizes.size(), 0);
  do {
    places.push_back(LinearIndex(strides, index));
  } while (NextIndex(sizes, absl::MakeSpan(index)));
  return places;
}

// The blocks of a dimension: the first step of each, and at the end the number of steps.
std::vector<int64_t> BlocksOf(int64_t size) {
  std::vector<int64_t> starts = {0};
  const int64_t blocks = (size + kBlockSteps - 1) / kBlockSteps,
                missing = blocks * kBlockSteps - size;
  for (int64_t k = 1; k < blocks; ++k) starts.push_back(k * kBlockSteps - missing / 2);
  starts.push_back(size);
  return starts;
}

}  // namespace

std::optional<UsualSums> UsualSums::Of(const Instruction& instruction,
                                       absl::Span<const Value* const> operands) {
  if (instruction.opcode() != Opcode::kReduce || operands.size() != 2) return std::nullopt;
  if (operands[0]->IsTuple() || operands[1]->IsTuple()) return std::nullopt;
  const Array& input = *operands[0]->array;
  const Shape& shape = input.literal.shape();
  const ElementType type = shape.element_type();
  if (type != ElementType::kBF16 && type != ElementType::kF16) return std::nullopt;
  if (shape.ElementCount() == 0 ||
      shape.dimensions() != instruction.operand(0)->shape().dimensions())
    return std::nullopt;
  if (operands[1]->array->literal.GetDouble(0) != 0) return std::nullopt;
  if (ReadCombiner(*instruction.callee()) != Opcode::kAdd) return std::nullopt;
  UsualSums sums;
  sums.input_ = &input;
  sums.format_ = &Format(type);
  const DimVector strides = RowMajorStrides(shape.dimensions());
  const absl::Span<const int64_t> reduced = instruction.attributes().Integers(Attr::kDimensions);
  DimVector kept_sizes, kept_strides, reduced_strides;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
    (is_reduced ? sums.reduced_sizes_ : kept_sizes).push_back(shape.dimension(d));
    (is_reduced ? reduced_strides : kept_strides).push_back(strides[d]);
  }
  sums.bases_ = PlacesOf(kept_sizes, kept_strides);
  sums.offsets_ = PlacesOf(sums.reduced_sizes_, reduced_strides);
  return sums;
}

bool UsualSums::Give(int64_t element, double value) const {
  std::vector<double> terms;
  for (int64_t offset : offsets_)
    terms.push_back(input_->literal.GetDouble(bases_[element] + offset));
  return InSequence(terms) == value || RoundedOnce(terms) == value ||
         InBlocks(terms, reduced_sizes_) == value;
}

double UsualSums::InSequence(absl::Span<const double> terms) const {
  double sum = 0;
  for (double term : terms) sum = Rounded(sum + term);
  return sum;
}

double UsualSums::RoundedOnce(absl::Span<const double> terms) const {
  float sum = 0;
  for (double term : terms) sum += static_cast<float>(term);
  return Rounded(sum);
}

double UsualSums::InBlocks(std::vector<double> terms, DimVector sizes) const {
  while (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > kBlockSteps; })) {
    std::vector<std::vector<int64_t>> starts;
    DimVector blocks;
    for (int64_t size : sizes) {
      starts.push_back(BlocksOf(size));
      blocks.push_back(static_cast<int64_t>(starts.back().size()) - 1);
    }
    const DimVector strides = RowMajorStrides(sizes);
    std::vector<double> sums;
    DimVector block(sizes.size(), 0);
    do {
      DimVector within;
      int64_t first = 0;
      for (size_t d = 0; d < sizes.size(); ++d) {
        within.push_back(starts[d][block[d] + 1] - starts[d][block[d]]);
        first += starts[d][block[d]] * strides[d];
      }
      double sum = 0;
      for (int64_t place : PlacesOf(within, strides)) sum = Rounded(sum + terms[first + place]);
      sums.push_back(sum);
    } while (NextIndex(blocks, absl::MakeSpan(block)));
    terms = std::move(sums);
    sizes = blocks;
  }
  return InSequence(terms);
}

}  // namespace assay::reference
