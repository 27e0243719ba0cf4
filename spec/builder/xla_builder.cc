// The builder itself: recording, operands, imported computations, Build. The ops are in
// builder_ops.cc (values, elements, data movement), builder_compute.cc and builder_devices.cc.
#include "spec/builder/xla_builder.h"

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/builder/builder_internal.h"
#include "spec/ops/shape_checks.h"
#include "spec/types/float_format.h"
#include "spec/verifier/verifier.h"

namespace assay {

namespace ShapeUtil {
Shape MakeShape(ElementType type, absl::Span<const int64_t> dimensions) {
  return Shape::Array(type, dimensions);
}
}  // namespace ShapeUtil

namespace LiteralUtil {
absl::StatusOr<Literal> MinValue(ElementType type) {
  if (!IsArrayType(type) || IsComplex(type)) {
    return absl::InvalidArgumentError(StrCat(Name(type), " has no lowest value"));
  }
  Literal literal(Shape::Scalar(type));
  if (IsSigned(type)) {
    literal.SetInteger(0, -(int64_t{1} << (BitWidth(type) - 1)));
  } else if (IsFloat(type)) {
    const FloatFormat& format = Format(type);
    const double infinity = std::numeric_limits<double>::infinity();
    // The lowest of all codes: -infinity if the format has it.
    double lowest = infinity;
    uint64_t code = 0;
    if (format.bits() > 16) {
      literal.SetDouble(0, -infinity);
      return literal;
    }
    for (uint64_t candidate = 0; candidate < uint64_t{1} << format.bits(); ++candidate) {
      if (IsNanCode(format, candidate)) continue;
      const double value = DecodeFloat(format, candidate);
      if (value < lowest) {
        lowest = value;
        code = candidate;
      }
    }
    literal.SetBits(0, code);
  }
  return literal;
}
}  // namespace LiteralUtil

XlaBuilder::XlaBuilder(std::string name)
    : name_(std::move(name)), module_(std::make_unique<Module>(name_)) {
  entry_ = module_->AddComputation(name_);
}

absl::StatusOr<OperandVector> XlaBuilder::Resolve(Ops ops) const {
  OperandVector operands;
  for (const XlaOp& op : ops) {
    if (op.builder_ != this || op.instruction_ == nullptr) {
      return absl::InvalidArgumentError(
          StrCat("operand ", operands.size(), " is no op of builder ", name_));
    }
    operands.push_back(op.instruction_);
  }
  return operands;
}

XlaBuilder::Result XlaBuilder::AddOp(Opcode opcode, absl::Span<Instruction* const> operands,
                                     Attributes attributes, absl::Span<Computation* const> callees,
                                     const Shape* written) {
  return entry_->AddInferred(opcode, operands, std::move(attributes), callees, written);
}

XlaOp XlaBuilder::Simple(Opcode opcode, Ops operands, Attributes attributes,
                         std::vector<const XlaComputation*> callees, const Shape* written) {
  return Record(assay::Name(opcode), [&]() -> Result {
    ASSAY_ASSIGN_OR_RETURN(const OperandVector resolved, Resolve(operands));
    std::vector<Computation*> imported;
    for (const XlaComputation* callee : callees) {
      ASSAY_ASSIGN_OR_RETURN(imported.emplace_back(), Import(*callee));
    }
    return AddOp(opcode, resolved, attributes, imported, written);
  });
}

absl::StatusOr<Computation*> XlaBuilder::Import(const XlaComputation& computation) {
  if (computation.IsNull()) return absl::InvalidArgumentError("a computation is not built");
  const Module& source = computation.module();
  auto at = imported_.find(&source);
  if (at != imported_.end()) return at->second.second;
  absl::flat_hash_map<const Computation*, Computation*> copies;
  for (const Computation* original : source.ComputationPostOrder()) {
    Computation* copy = module_->AddComputation(original->name());
    copy->set_root(
        copy->CopyFrom(*original, {}, [&](Computation* callee) { return copies.at(callee); }));
    copies[original] = copy;
  }
  Computation* entry = copies.at(source.entry());
  imported_[&source] = {computation.shared_module(), entry};
  return entry;
}

absl::StatusOr<Shape> XlaBuilder::GetShape(XlaOp op) const {
  ASSAY_ASSIGN_OR_RETURN(const OperandVector operand, Resolve({op}));
  return operand[0]->shape();
}

absl::StatusOr<XlaComputation> XlaBuilder::Build() {
  if (!error_.ok()) return error_;
  if (last_ == nullptr) {
    return absl::FailedPreconditionError(StrCat("builder ", name_, " holds no op"));
  }
  return Build(XlaOp(this, last_));
}

absl::StatusOr<XlaComputation> XlaBuilder::Build(XlaOp root) {
  if (!error_.ok()) return error_;
  ASSAY_ASSIGN_OR_RETURN(const OperandVector result, Resolve({root}));
  entry_->set_root(result[0]);
  for (int64_t number = 0; number < entry_->parameter_count(); ++number) {
    if (entry_->parameter(number) != nullptr) continue;
    return absl::InvalidArgumentError(StrCat("builder ", name_, ": there is no parameter ", number,
                                             " of ", entry_->parameter_count()));
  }
  ASSAY_RETURN_IF_ERROR(module_->RemoveUnusedComputations());
  if (absl::Status valid = Verify(*module_); !valid.ok()) {
    return absl::Status(valid.code(), StrCat("builder ", name_, ": ", ToStd(valid.message())));
  }
  error_ = absl::FailedPreconditionError(StrCat("builder ", name_, " has been built"));
  return XlaComputation(std::shared_ptr<const Module>(std::move(module_)));
}

Computation* XlaBuilder::ScalarBinary(Opcode opcode, ElementType type, Attributes attributes) {
  Computation* computation = module_->AddComputation(assay::Name(opcode));
  const Shape scalar = Shape::Scalar(type);
  Instruction* x = computation->AddParameter(0, scalar, "x");
  Instruction* y = computation->AddParameter(1, scalar, "y");
  const Shape result = opcode == Opcode::kCompare ? Shape::Scalar(ElementType::kPred) : scalar;
  computation->set_root(computation->Add(opcode, result, {x, y}, std::move(attributes)));
  return computation;
}

}  // namespace assay
