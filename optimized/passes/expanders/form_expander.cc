// Pads, slices, converts and takes elements around the usual forms.
#include "optimized/passes/expanders/form_expander.h"

#include <algorithm>

#include "optimized/passes/util/module_util.h"
#include "optimized/passes/util/rule_util.h"
#include "optimized/passes/util/while_util.h"
#include "spec/ops/factor_type.h"

namespace assay {
namespace {

DimVector TransformedSizes(const Instruction& fft) {
  const absl::Span<const int64_t> given = fft.operand(0)->shape().dimensions();
  const absl::Span<const int64_t> lengths = fft.attributes().Integers(Attr::kFftLength);
  DimVector sizes(given.begin(), given.end());
  std::copy(lengths.begin(), lengths.end(), sizes.end() - static_cast<int64_t>(lengths.size()));
  return sizes;
}

bool IsResized(const Instruction& fft) {
  const auto kind = fft.attributes().Word<FftKind>(Attr::kFftType);
  return (kind == FftKind::kFft || kind == FftKind::kIfft) &&
         absl::MakeConstSpan(TransformedSizes(fft)) != fft.operand(0)->shape().dimensions();
}

// `value` cut to `sizes`, or padded with zeros, behind its last elements.
Instruction* Resized(Instruction* value, const DimVector& sizes) {
  std::vector<PaddingDim> padding(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    padding[d].high = sizes[d] - value->shape().dimension(static_cast<int64_t>(d));
  }
  const ElementType type = value->shape().element_type();
  Instruction* zero = value->parent()->AddConstant(Literal(Shape::Array(type, {})));
  return value->parent()->Add(Opcode::kPad, Shape::Array(type, sizes), {value, zero},
                              Attributes().Set(Attr::kPadding, AttrValue(std::move(padding))));
}

Instruction* ExpandFft(Instruction* fft) {
  const DimVector sizes = TransformedSizes(*fft);
  const absl::Span<const int64_t> back = fft->shape().dimensions();
  Instruction* transformed =
      fft->parent()->Add(Opcode::kFft, Shape::Array(fft->shape().element_type(), sizes),
                         {Resized(fft->operand(0), sizes)}, fft->attributes());
  return Resized(transformed, DimVector(back.begin(), back.end()));
}

Instruction* ExpandRandomBits(Instruction* bits) {
  const Shape pair = Shape::Tuple({bits->operand(0)->shape(), bits->shape()});
  return AddElement(
      bits->parent(),
      bits->parent()->Add(Opcode::kRngBitGenerator, pair, {bits->operand(0)}, bits->attributes()),
      1);
}

bool IsProductSum(Opcode opcode) {
  return opcode == Opcode::kDot || opcode == Opcode::kConvolution || opcode == Opcode::kRaggedDot;
}

ElementType FactorTypeOf(const Instruction& sums, int64_t side) {
  return FactorType(sums.operand(side)->shape().element_type(),
                    sums.operand(1 - side)->shape().element_type(), sums.shape().element_type());
}

ElementType SumTypeOf(const Instruction& sums) {
  return SumType(sums.operand(0)->shape().element_type(), sums.operand(1)->shape().element_type(),
                 sums.shape().element_type());
}

bool MixesClasses(const Instruction& sums) {
  return FactorTypeOf(sums, 0) != sums.operand(0)->shape().element_type() ||
         FactorTypeOf(sums, 1) != sums.operand(1)->shape().element_type() ||
         SumTypeOf(sums) != sums.shape().element_type();
}

Instruction* Converted(Instruction* value, ElementType type) {
  if (value->shape().element_type() == type) return value;
  return value->parent()->Add(Opcode::kConvert, Shape::Array(type, value->shape().dimensions()),
                              {value});
}

Instruction* ExpandProductSum(Instruction* sums) {
  OperandVector operands(sums->operands().begin(), sums->operands().end());
  for (int64_t side : {0, 1}) {
    Instruction*& operand = operands[static_cast<size_t>(side)];
    operand = Converted(operand, FactorTypeOf(*sums, side));
  }
  const ElementType type = SumTypeOf(*sums);
  const Shape shape = type == sums->shape().element_type()
                          ? sums->shape()
                          : Shape::Array(type, sums->shape().dimensions());
  return Converted(sums->parent()->Add(sums->opcode(), shape, operands, sums->attributes()),
                   sums->shape().element_type());
}

struct Form {
  std::string_view rule;
  Instruction* (*expand)(Instruction*);
};

// Chooses how the instruction is expanded; an empty rule: it has the usual form.
Form FormOf(const Instruction& inst) {
  if (inst.opcode() == Opcode::kFft && IsResized(inst)) return {"expand-fft-length", ExpandFft};
  if (inst.opcode() == Opcode::kRngBitGenerator && inst.shape().IsArray())
    return {"expand-random-bits", ExpandRandomBits};
  if (IsProductSum(inst.opcode()) && MixesClasses(inst))
    return {"expand-factor-types", ExpandProductSum};
  return {"", nullptr};
}

}  // namespace

absl::StatusOr<bool> FormExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kFft, Opcode::kRngBitGenerator, Opcode::kDot, Opcode::kConvolution,
                      Opcode::kRaggedDot})) {
    return false;
  }
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      const Form form = FormOf(*inst);
      if (form.expand == nullptr) continue;
      Rewrite rewrite(context.gates, form.rule, inst, /*required=*/true);
      changed |= rewrite.Replace(form.expand(inst));
    }
  }
  return changed;
}

}  // namespace assay
