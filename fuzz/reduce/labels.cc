// Convolutions in the order of dimensions that people read most easily: batch, places, features of
// the input and the output, and places, input features, output features of the kernel.
#include <cstring>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/reduction.h"

namespace assay {
namespace {

enum class Part : uint8_t { kInput, kKernel, kOutput };
constexpr Part kParts[] = {Part::kInput, Part::kKernel, Part::kOutput};

// The dimensions of one array of a convolution in the order that is standard for it: where they
// are now.
Int64List StandardOrder(const ConvDimLabels& labels, Part part) {
  Int64List order;
  if (part == Part::kInput) order.push_back(labels.input_batch);
  if (part == Part::kOutput) order.push_back(labels.output_batch);
  const Int64List& places = part == Part::kInput    ? labels.input_spatial
                            : part == Part::kKernel ? labels.kernel_spatial
                                                    : labels.output_spatial;
  for (int64_t place : places) order.push_back(place);
  if (part == Part::kKernel) {
    order.push_back(labels.kernel_input_feature);
    order.push_back(labels.kernel_output_feature);
  } else {
    order.push_back(part == Part::kInput ? labels.input_feature : labels.output_feature);
  }
  return order;
}

bool IsStandard(const Int64List& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

void SetStandard(ConvDimLabels& labels, Part part) {
  Int64List& places = part == Part::kInput    ? labels.input_spatial
                      : part == Part::kKernel ? labels.kernel_spatial
                                              : labels.output_spatial;
  const auto count = static_cast<int64_t>(places.size());
  const int64_t first = part == Part::kKernel ? 0 : 1;
  for (int64_t i = 0; i < count; ++i) places[i] = first + i;
  if (part == Part::kInput) {
    labels.input_batch = 0;
    labels.input_feature = count + 1;
  } else if (part == Part::kKernel) {
    labels.kernel_input_feature = count;
    labels.kernel_output_feature = count + 1;
  } else {
    labels.output_batch = 0;
    labels.output_feature = count + 1;
  }
}

Shape Permuted(const Shape& shape, const Int64List& order) {
  DimVector dimensions;
  for (int64_t d : order) dimensions.push_back(shape.dimension(d));
  return Shape::Array(shape.element_type(), dimensions);
}

// Element by element, whatever the layouts.
Literal Permuted(const Literal& literal, const Int64List& order) {
  Literal result(Permuted(literal.shape(), order));
  if (result.element_count() == 0) return result;
  const DimVector strides = RowMajorStrides(literal.shape().dimensions());
  std::vector<int64_t> index(order.size(), 0), source(order.size(), 0);
  const int64_t width = StorageBytes(literal.element_type());
  int64_t at = 0;
  do {
    for (size_t d = 0; d < order.size(); ++d) source[order[d]] = index[d];
    std::memcpy(result.bytes().data() + at++ * width,
                literal.bytes().data() + LinearIndex(strides, source) * width, width);
  } while (NextIndex(result.shape().dimensions(), absl::MakeSpan(index)));
  return result;
}

// The array itself comes in that order: an input, a constant or the result. False where a
// dimension is of run-time size.
bool Reorder(ReduceCase& reduce_case, Instruction* array, const Int64List& order) {
  if (!array->shape().IsArray() || array->shape().HasDynamicDimension()) return false;
  if (array->opcode() == Opcode::kParameter) {
    Literal& input = reduce_case.inputs[static_cast<size_t>(array->parameter_number())];
    input = Permuted(input, order);
  } else if (array->literal() != nullptr) {
    array->set_literal(std::make_shared<const Literal>(Permuted(*array->literal(), order)));
  }
  array->mutable_shape() = Permuted(array->shape(), order);
  return true;
}

// Nothing else reads the array, or nothing at all and it is the result.
bool IsFree(const Instruction* at, const Instruction* array) {
  const bool is_result = array == at->parent()->root();
  if (array == at) return is_result && at->users().empty();
  return IsLeaf(array) && array->users().size() == 1 && at->operand(0) != at->operand(1) &&
         !is_result;
}

// The array in another order, or the same array read in another order, which may do as well.
bool TryStandard(Reduction& reduction, const Instruction* at, Part part) {
  const Int64List order = StandardOrder(*at->attributes().DimLabels(), part);
  if (IsStandard(order) || !reduction.Wants()) return false;
  const Instruction* array = part == Part::kOutput ? at : at->operand(part == Part::kInput ? 0 : 1);
  ReduceCase c = reduction.best().Clone();
  ConvDimLabels labels = *at->attributes().DimLabels();
  SetStandard(labels, part);
  Counterpart(*c.module, at)
      ->mutable_attributes()
      .Set(Attr::kDimLabels, AttrValue(std::move(labels)));
  if (IsFree(at, array)) {
    c.module->config().entry_layout.reset();
    c.module->config().input_output_alias.clear();
    if (!Reorder(c, Counterpart(*c.module, array), order)) return false;
  }
  return reduction.Try(std::move(c), "standard labels");
}

}  // namespace

int64_t OtherThanStandard(const ConvDimLabels& labels) {
  int64_t count = 0;
  for (Part part : kParts) count += !IsStandard(StandardOrder(labels, part));
  return count;
}

bool StandardLabels(Reduction& reduction) {
  bool changed = false;
  for (bool again = true; std::exchange(again, false);) {
    for (const Instruction* at : *reduction.best().module->entry()) {
      if (at->opcode() != Opcode::kConvolution || at->attributes().DimLabels() == nullptr) continue;
      again = absl::c_any_of(kParts, [&](Part part) { return TryStandard(reduction, at, part); });
      if (again) break;  // the best case has changed under the iterator
    }
    changed |= again;
  }
  return changed;
}

}  // namespace assay
