// Smaller dimensions, together with all that has to change with them, and fewer: a dimension that
// is one element everywhere goes away from every shape and attribute.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/resize.h"
#include "fuzz/reduce/steps.h"

namespace assay {
namespace {

using Mask = std::vector<bool>;  // per dimension of an array: it goes

// Position of dimension `d` when the masked ones before it are gone; nullopt if it goes itself.
std::optional<int64_t> Renumber(const Mask& mask, int64_t d) {
  if (d < 0 || d >= static_cast<int64_t>(mask.size()) || mask[d]) return std::nullopt;
  return d - std::count(mask.begin(), mask.begin() + d, true);
}

template <typename T>
std::vector<T> Kept(absl::Span<const T> list, const Mask& mask) {
  std::vector<T> kept;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i >= mask.size() || !mask[i]) kept.push_back(list[i]);
  }
  return kept;
}

// Dimension numbers that stay, renumbered.
Int64List KeptNumbers(absl::Span<const int64_t> list, const Mask& mask) {
  Int64List kept;
  for (int64_t d : list) {
    if (std::optional<int64_t> number = Renumber(mask, d)) kept.push_back(*number);
  }
  return kept;
}

Shape WithoutDims(const Shape& shape, const Mask& mask) {
  Shape kept = Shape::Array(shape.element_type(), Kept<int64_t>(shape.dimensions(), mask));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const std::optional<int64_t> number = Renumber(mask, d);
    if (number && shape.is_dynamic(d)) kept.set_dynamic(*number, true);
  }
  return kept;
}

Literal WithoutDims(const Literal& literal, const Mask& mask) {
  Literal result(WithoutDims(literal.shape(), mask));
  std::copy(literal.bytes().begin(), literal.bytes().end(), result.bytes().begin());
  return result;
}

class Dropper {
 public:
  Dropper(const ReduceCase& original, const Equivalence& positions, int64_t wanted)
      : original_(original), positions_(positions), wanted_(wanted), c_(original.Clone()) {}

  std::optional<ReduceCase> Run() {
    const Module& module = *original_.module;
    for (size_t k = 0; k < module.computations().size(); ++k) {
      std::vector<Instruction*> clones(c_.module->computations()[k]->begin(),
                                       c_.module->computations()[k]->end());
      size_t i = 0;
      for (const Instruction* at : *module.computations()[k]) {
        if (!Edit(at, clones[i++])) return std::nullopt;
      }
    }
    for (const Instruction* at : *module.entry()) {
      if (at->opcode() != Opcode::kParameter || !at->shape().IsArray()) continue;
      Literal& input = c_.inputs[at->parameter_number()];
      input = WithoutDims(input, MaskOf(at, 0));
    }
    return std::move(c_);
  }

 private:
  Mask MaskOf(const Instruction* at, int64_t leaf) const {
    const Shape& shape = *ShapeLeaves(at->shape())[leaf];
    Mask mask(shape.IsArray() ? shape.rank() : 0, false);
    for (size_t d = 0; d < mask.size(); ++d) {
      mask[d] = positions_.ClassOf(at, leaf, static_cast<int64_t>(d)) == wanted_;
    }
    return mask;
  }

  bool Edit(const Instruction* original, Instruction* changed) {
    std::vector<Shape*> leaves = MutableLeaves(changed->mutable_shape());
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      if (!leaves[leaf]->IsArray()) continue;
      Mask mask = MaskOf(original, static_cast<int64_t>(leaf));
      if (std::count(mask.begin(), mask.end(), true) == 0) continue;
      *leaves[leaf] = WithoutDims(*leaves[leaf], mask);
    }
    if (changed->literal() != nullptr && changed->shape().IsArray()) {
      changed->set_literal(
          std::make_shared<const Literal>(WithoutDims(*changed->literal(), MaskOf(original, 0))));
    }
    return EditAttributes(original, changed);
  }

  void SetNumbers(Instruction* changed, Attr attr, const Mask& mask) {
    Int64List kept = KeptNumbers(changed->attributes().Integers(attr), mask);
    changed->mutable_attributes().Set(attr, AttrValue(std::move(kept)));
  }

  // A dimension that stays in the operand stays in the result.
  static bool EditBroadcast(const Instruction* original, Instruction* changed, const Mask& operand,
                            const Mask& result) {
    Int64List dims;
    const absl::Span<const int64_t> old = original->attributes().Integers(Attr::kDimensions);
    for (size_t i = 0; i < old.size(); ++i) {
      if (operand[i]) continue;
      const std::optional<int64_t> number = Renumber(result, old[i]);
      if (!number) return false;
      dims.push_back(*number);
    }
    changed->mutable_attributes().Set(Attr::kDimensions, AttrValue(std::move(dims)));
    return true;
  }

  // A place goes from all three arrays or none; the batch and the features stay.
  bool EditConvolution(const Instruction* original, Instruction* changed) {
    if (original->attributes().DimLabels() == nullptr) return false;
    ConvDimLabels labels = *original->attributes().DimLabels();
    const Mask input = MaskOf(original->operand(0), 0), kernel = MaskOf(original->operand(1), 0);
    const Mask output = MaskOf(original, 0);
    Mask places;
    for (size_t i = 0; i < labels.input_spatial.size(); ++i) {
      places.push_back(input[labels.input_spatial[i]]);
      if (kernel[labels.kernel_spatial[i]] != places[i]) return false;
      if (output[labels.output_spatial[i]] != places[i]) return false;
    }
    labels.input_spatial = KeptNumbers(labels.input_spatial, input);
    labels.kernel_spatial = KeptNumbers(labels.kernel_spatial, kernel);
    labels.output_spatial = KeptNumbers(labels.output_spatial, output);
    for (const auto& [number, mask] :
         {std::pair(&labels.input_batch, &input), std::pair(&labels.input_feature, &input),
          std::pair(&labels.kernel_input_feature, &kernel),
          std::pair(&labels.kernel_output_feature, &kernel),
          std::pair(&labels.output_batch, &output), std::pair(&labels.output_feature, &output)}) {
      const std::optional<int64_t> kept = Renumber(*mask, *number);
      if (!kept) return false;
      *number = *kept;
    }
    Attributes& attributes = changed->mutable_attributes();
    std::vector<WindowDim> windows =
        Kept<WindowDim>(original->attributes().Window(Attr::kWindow), places);
    attributes.Set(Attr::kDimLabels, AttrValue(std::move(labels)));
    if (windows.empty()) {
      attributes.Remove(Attr::kWindow);
    } else {
      attributes.Set(Attr::kWindow, AttrValue(std::move(windows)));
    }
    return true;
  }

  bool EditAttributes(const Instruction* original, Instruction* changed) {
    if (original->operand_count() == 0 && original->opcode() != Opcode::kIota) return true;
    Attributes& attributes = changed->mutable_attributes();
    const Mask result = original->shape().IsArray() ? MaskOf(original, 0) : Mask();
    const Mask first = original->operand_count() > 0 && original->operand(0)->shape().IsArray()
                           ? MaskOf(original->operand(0), 0)
                           : Mask();
    switch (original->opcode()) {
      case Opcode::kBroadcast:
        return EditBroadcast(original, changed, first, result);
      case Opcode::kTranspose:
      case Opcode::kReverse:
      case Opcode::kReduce:
      case Opcode::kAllGather:
      case Opcode::kAllToAll:
      case Opcode::kReduceScatter:
        for (Attr numbers : {Attr::kDimension, Attr::kDimensions}) {
          if (attributes.Has(numbers)) SetNumbers(changed, numbers, first);
        }
        return true;
      case Opcode::kConcatenate:
      case Opcode::kSort:
        SetNumbers(changed, Attr::kDimension, first);
        return attributes.Integers(Attr::kDimension).size() == 1;
      case Opcode::kIota: {
        std::optional<int64_t> number = Renumber(result, attributes.Integer(Attr::kIotaDimension));
        if (!number) return false;
        attributes.Set(Attr::kIotaDimension, AttrValue(*number));
        return true;
      }
      case Opcode::kSlice:
        attributes.Set(
            Attr::kSlice,
            AttrValue(Kept<SliceRange>(original->attributes().SliceRanges(Attr::kSlice), result)));
        return true;
      case Opcode::kPad:
        attributes.Set(
            Attr::kPadding,
            AttrValue(Kept<PaddingDim>(original->attributes().Padding(Attr::kPadding), result)));
        return true;
      case Opcode::kDynamicSlice:
        attributes.Set(Attr::kDynamicSliceSizes,
                       AttrValue(Kept<int64_t>(
                           original->attributes().Integers(Attr::kDynamicSliceSizes), result)));
        return DropStarts(changed, 1, result);
      case Opcode::kDynamicUpdateSlice:
        return DropStarts(changed, 2, result);
      case Opcode::kDynamicReshape:
        return DropStarts(changed, 1, result);
      case Opcode::kDot:
        SetNumbers(changed, Attr::kLhsBatchDims, first);
        SetNumbers(changed, Attr::kLhsContractingDims, first);
        SetNumbers(changed, Attr::kRhsBatchDims, MaskOf(original->operand(1), 0));
        SetNumbers(changed, Attr::kRhsContractingDims, MaskOf(original->operand(1), 0));
        return true;
      case Opcode::kConvolution:
        return EditConvolution(original, changed);
      case Opcode::kReduceWindow:
      case Opcode::kSelectAndScatter:
        attributes.Set(Attr::kWindow, AttrValue(Kept<WindowDim>(
                                          original->attributes().Window(Attr::kWindow), first)));
        return true;
      default:
        return true;
    }
  }

  // Removes the start indices, or the sizes, of the dimensions that go from an op.
  bool DropStarts(Instruction* changed, int64_t data, const Mask& mask) {
    std::vector<Instruction*> operands;
    for (int64_t i = 0; i < changed->operand_count(); ++i) {
      if (i < data || i - data >= static_cast<int64_t>(mask.size()) || !mask[i - data]) {
        operands.push_back(changed->operand(i));
      }
    }
    if (static_cast<int64_t>(operands.size()) == changed->operand_count()) return true;
    Instruction* shorter = changed->parent()->Add(changed->opcode(), changed->shape(), operands,
                                                  changed->attributes());
    changed->ReplaceAllUsesWith(shorter);
    changed->parent()->Remove(changed);
    return true;
  }

  const ReduceCase& original_;
  const Equivalence& positions_;
  int64_t wanted_;
  ReduceCase c_;
};

int64_t SizeOfClass(const Equivalence& sizes, int64_t c) {
  const auto& [at, leaf, dimension] = sizes.MembersOf(c)[0];
  return ShapeLeaves(at->shape())[leaf]->dimension(dimension);
}

// Dimensions of class `c` get a smaller size, by their first elements or by their last.
void OfferSize(Candidates& to, int64_t c, int64_t now, int64_t size) {
  for (bool keep_end : {false, true}) {
    to.Offer([&]() -> std::optional<ReduceCase> {
      if (size < 1 || size >= now) return std::nullopt;
      return Resize(to.best(), to.Links(LinkKind::kSizes), {{c, size}}, keep_end);
    });
  }
}

}  // namespace

void ShrinkEverything(Candidates& to) {
  const Equivalence& sizes = to.Links(LinkKind::kSizes);
  for (int64_t size : {1, 2, 3, 4, 8}) {
    SizeByClass wanted;
    for (int64_t c = 0; c < sizes.class_count(); ++c) {
      if (SizeOfClass(sizes, c) > size) wanted[c] = size;
    }
    to.Offer([&]() -> std::optional<ReduceCase> {
      if (wanted.empty()) return std::nullopt;
      return Resize(to.best(), sizes, std::move(wanted));
    });
  }
}

// A bug that needs a size has a least one. From each accepted size on, the same and smaller parts
// of what is left are taken away, which finds it as fast as halving does.
void ShrinkDimensions(Candidates& to) {
  ShrinkEverything(to);
  const Equivalence& sizes = to.Links(LinkKind::kSizes);
  for (int64_t c = 0; c < sizes.class_count() && !to.IsOver(); ++c) {
    const int64_t now = SizeOfClass(sizes, c);
    for (int64_t size : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, now / 4})
      OfferSize(to, c, now, size);
    for (int64_t part = now - now / 2; part > 0; part /= 2) OfferSize(to, c, now, now - part);
  }
}

void DropDimensions(Candidates& to) {
  const Equivalence& positions = to.Links(LinkKind::kPositions);
  for (int64_t number = 0; number < positions.class_count(); ++number) {
    const bool one = absl::c_all_of(positions.MembersOf(number), [](const auto& member) {
      const auto& [at, leaf, dimension] = member;
      return ShapeLeaves(at->shape())[leaf]->dimension(dimension) == 1;
    });
    if (one) to.Offer([&] { return Dropper(to.best(), positions, number).Run(); });
  }
}

}  // namespace assay
