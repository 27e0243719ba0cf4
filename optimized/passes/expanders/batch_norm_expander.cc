// The three batch norms in terms of reductions and element-wise ops.
#include "optimized/passes/expanders/batch_norm_expander.h"

#include <vector>

#include "optimized/passes/util/rule_util.h"
#include "spec/types/literal.h"

namespace assay {
namespace {

// The instructions that stand for one op, in the wider type of its arithmetic.
class Expansion {
 public:
  explicit Expansion(Instruction* op)
      : op_(*op),
        into_(op->parent()),
        narrow_(op->operand(0)->shape().element_type()),
        wide_(narrow_ == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32),
        feature_(op->attributes().Integer(Attr::kFeatureIndex)),
        all_(Shape::Array(wide_, op->operand(0)->shape().dimensions())),
        features_(Shape::Array(wide_, {op->operand(0)->shape().dimension(feature_)})) {
    const int64_t features = features_.dimension(0);
    count_ = features == 0 ? 0 : all_.ElementCount() / features;
  }

  Instruction* Training() {
    Instruction* x = Wide(0);
    Instruction* mean = Mean(x);
    Instruction* deviation = Binary(Opcode::kSubtract, x, Spread(mean));
    Instruction* variance = Mean(Binary(Opcode::kMultiply, deviation, deviation));
    Instruction* y = Normal(Spread(Wide(1)), deviation, Spread(Root(variance)), Spread(Wide(2)));
    return Tuple({y, mean, variance});
  }

  Instruction* Inference() {
    Instruction* deviation = Binary(Opcode::kSubtract, Wide(0), Spread(Wide(3)));
    return Narrow(Normal(Spread(Wide(1)), deviation, Spread(Root(Wide(4))), Spread(Wide(2))));
  }

  Instruction* Gradient() {
    Instruction *scale = Wide(1), *gradient = Wide(4);
    Instruction* deviation = Binary(Opcode::kSubtract, Wide(0), Spread(Wide(2)));
    Instruction* shifted = AddEpsilon(Wide(3));
    Instruction* root = into_->Add(Opcode::kSqrt, features_, {shifted});
    Instruction* products = Sum(Binary(Opcode::kMultiply, gradient, deviation));
    Instruction* offset = Sum(gradient);
    Instruction* d = Binary(Opcode::kDivide, offset, Number(static_cast<double>(count_)));
    Instruction* c =
        Binary(Opcode::kDivide, products,
               Binary(Opcode::kMultiply, Number(static_cast<double>(count_)), shifted));
    Instruction* centred = Binary(Opcode::kSubtract, gradient, Spread(d));
    centred = Binary(Opcode::kSubtract, centred, Binary(Opcode::kMultiply, Spread(c), deviation));
    Instruction* operand =
        Binary(Opcode::kMultiply, Spread(Binary(Opcode::kDivide, scale, root)), centred);
    return Tuple({operand, Binary(Opcode::kDivide, products, root), offset});
  }

 private:
  Instruction* Wide(int64_t operand) {
    Instruction* value = op_.operand(operand);
    if (narrow_ == wide_) return value;
    return into_->Add(Opcode::kConvert, Shape::Array(wide_, value->shape().dimensions()), {value});
  }
  Instruction* Narrow(Instruction* value) {
    if (narrow_ == wide_) return value;
    return into_->Add(Opcode::kConvert, Shape::Array(narrow_, value->shape().dimensions()),
                      {value});
  }
  Instruction* Tuple(std::initializer_list<Instruction*> values) {
    std::vector<Instruction*> elements;
    for (Instruction* value : values) elements.push_back(Narrow(value));
    return into_->Add(Opcode::kTuple, op_.shape(), elements);
  }
  Instruction* Binary(Opcode opcode, Instruction* x, Instruction* y) {
    return into_->Add(opcode, x->shape(), {x, y});
  }
  Instruction* Spread(Instruction* per_feature) {
    const int64_t dimensions[] = {feature_};
    return into_->Add(Opcode::kBroadcast, all_, {per_feature}, DimensionsAttr(dimensions));
  }
  // An array of one number per feature, all equal to `value`.
  Instruction* Number(double value) {
    return AddSplat(into_, features_, AddScalarFloat(into_, wide_, value));
  }
  Instruction* Sum(Instruction* operand) {
    Computation* add = into_->parent()->AddComputation("sum");
    const Shape scalar = Shape::Array(wide_, {});
    Instruction* left = add->AddParameter(0, scalar);
    add->set_root(add->Add(Opcode::kAdd, scalar, {left, add->AddParameter(1, scalar)}));
    std::vector<int64_t> others;
    for (int64_t d = 0; d < all_.rank(); ++d) {
      if (d != feature_) others.push_back(d);
    }
    return into_->Add(Opcode::kReduce, features_, {operand, AddScalarFloat(into_, wide_, 0)},
                      DimensionsAttr(others), {&add, 1});
  }
  Instruction* Mean(Instruction* operand) {
    return Binary(Opcode::kDivide, Sum(operand), Number(static_cast<double>(count_)));
  }
  // Epsilon as a number of the operand's type.
  Instruction* AddEpsilon(Instruction* variance) {
    Instruction* epsilon = AddScalarFloat(into_, narrow_, op_.attributes().Float(Attr::kEpsilon));
    if (narrow_ != wide_) {
      epsilon = into_->Add(Opcode::kConvert, Shape::Array(wide_, {}), {epsilon});
    }
    return Binary(Opcode::kAdd, variance, AddSplat(into_, features_, epsilon));
  }
  Instruction* Root(Instruction* variance) {
    return into_->Add(Opcode::kSqrt, features_, {AddEpsilon(variance)});
  }
  Instruction* Normal(Instruction* scale, Instruction* deviation, Instruction* root,
                      Instruction* offset) {
    Instruction* scaled = Binary(Opcode::kMultiply, scale, deviation);
    return Binary(Opcode::kAdd, Binary(Opcode::kDivide, scaled, root), offset);
  }

  const Instruction& op_;
  Computation* into_;
  ElementType narrow_, wide_;
  int64_t feature_;
  Shape all_, features_;
  int64_t count_ = 0;  // elements per feature
};

Instruction* Expand(Instruction* op) {
  switch (op->opcode()) {
    case Opcode::kBatchNormTraining:
      return Expansion(op).Training();
    case Opcode::kBatchNormInference:
      return Expansion(op).Inference();
    default:
      return Expansion(op).Gradient();
  }
}

}  // namespace

absl::StatusOr<bool> BatchNormExpander::Run(Module& module, PassContext& context) {
  if (!module.HasAny(
          {Opcode::kBatchNormTraining, Opcode::kBatchNormInference, Opcode::kBatchNormGrad}))
    return false;
  bool changed = false;
  for (Computation* computation : module.ComputationPostOrder()) {
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() != Opcode::kBatchNormTraining &&
          inst->opcode() != Opcode::kBatchNormInference &&
          inst->opcode() != Opcode::kBatchNormGrad) {
        continue;
      }
      Rewrite rewrite(context.gates, "expand-batch-norm", inst, /*required=*/true);
      changed |= rewrite.Replace(Expand(inst));
    }
  }
  return changed;
}

}  // namespace assay
