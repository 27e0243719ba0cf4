// Convolutions in the order of dimensions that people read most easily: batch, places, features of
// the input and the output, and places, input features, output features of the kernel.
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/reduction.h"

namespace assay {
namespace {

enum class Part : uint8_t { kInput, kKernel, kOutput };
constexpr Part kParts[] = {Part::kInput, Part::kKernel, Part::kOutput};

// The dimensions of one array of a convolution in the order that is standard for it: pointers to
// where they are now.
std::vector<int64_t*> StandardOrder(ConvDimLabels& labels, Part part) {
  std::vector<int64_t*> order;
  if (part == Part::kInput) order.push_back(&labels.input_batch);
  if (part == Part::kOutput) order.push_back(&labels.output_batch);
  for (int64_t& place : part == Part::kInput    ? labels.input_spatial
                        : part == Part::kKernel ? labels.kernel_spatial
                                                : labels.output_spatial) {
    order.push_back(&place);
  }
  if (part == Part::kKernel) {
    order.push_back(&labels.kernel_input_feature);
    order.push_back(&labels.kernel_output_feature);
  } else {
    order.push_back(part == Part::kInput ? &labels.input_feature : &labels.output_feature);
  }
  return order;
}

// Brings the labels of one array into the standard order; what they were, in that order.
Int64List Standardize(ConvDimLabels& labels, Part part) {
  Int64List before;
  for (int64_t* label : StandardOrder(labels, part)) {
    const auto number = static_cast<int64_t>(before.size());
    before.push_back(std::exchange(*label, number));
  }
  return before;
}

Shape Permuted(const Shape& shape, const Int64List& order) {
  DimVector dimensions;
  for (int64_t d : order) dimensions.push_back(shape.dimension(d));
  return Shape::Array(shape.element_type(), dimensions);
}

Literal Permuted(const Literal& literal, const Int64List& order) {
  const Shape shape = Permuted(literal.shape(), order);
  return ElementsOf(literal, shape, [&order](const auto& index, auto& source) {
    for (size_t d = 0; d < order.size(); ++d) source[order[d]] = index[d];
  });
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
  ConvDimLabels labels = *at->attributes().DimLabels();
  const Int64List order = Standardize(labels, part);
  if (labels == *at->attributes().DimLabels() || !reduction.Wants()) return false;
  const Instruction* array = part == Part::kOutput ? at : at->operand(part == Part::kInput ? 0 : 1);
  ReduceCase c = reduction.best().Clone();
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
  return absl::c_count_if(kParts, [&labels](Part part) {
    ConvDimLabels standard = labels;
    Standardize(standard, part);
    return !(standard == labels);
  });
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
