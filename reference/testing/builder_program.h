// Things that tests of the builder share: constants in text form, running what was built, small
// computations.
#pragma once

#include <functional>

#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/builder/xla_builder.h"
#include "spec/text/reader.h"

namespace assay {

inline constexpr ElementType kF32 = ElementType::kF32, kS32 = ElementType::kS32,
                             kU32 = ElementType::kU32;
using Body = std::function<void(XlaBuilder&)>;

// A constant in HLO text form.
inline XlaOp C(XlaBuilder& builder, std::string_view shape, std::string_view value) {
  return builder.ConstantLiteral(*ReadLiteral(*ReadShape(shape), value));
}
inline XlaOp F(XlaBuilder& builder, std::string_view value) { return C(builder, "f32[]", value); }
inline XlaOp I(XlaBuilder& builder, std::string_view value) { return C(builder, "s32[]", value); }

inline std::string Value(const Body& body) {
  XlaBuilder b("b");
  body(b);
  absl::StatusOr<XlaComputation> computation = b.Build();
  if (!computation.ok()) return StrCat("error ", ToStd(computation.status().message()));
  std::unique_ptr<Oracle> oracle = MakeOracle();
  absl::StatusOr<Literal> result = oracle->Evaluate(computation->module(), {}, Limits{});
  return result.ok() ? result->ToString() : StrCat("run: ", ToStd(result.status().message()));
}
inline std::string Rejected(const Body& body) {
  XlaBuilder b("b");
  body(b);
  absl::StatusOr<XlaComputation> computation = b.Build();
  return computation.ok() ? "accepted" : std::string(computation.status().message());
}
inline std::string Both(const Body& good, const Body& bad) {
  return StrCat(Value(good), "; ", Rejected(bad));
}
// Gives the root as built, for ops that one device cannot run alone or that give no fixed value.
inline std::string Root(const Body& body) {
  XlaBuilder b("b");
  body(b);
  absl::StatusOr<XlaComputation> computation = b.Build();
  if (!computation.ok()) return StrCat("error ", ToStd(computation.status().message()));
  const Instruction* root = computation->module().entry()->root();
  return StrCat(Name(root->opcode()), " ", root->shape().ToString());
}

inline XlaComputation Scalar(Opcode opcode, ElementType type = kF32) {
  XlaBuilder b("scalar");
  const XlaOp x = b.Parameter(0, ShapeUtil::MakeShape(type, {}), "x");
  const XlaOp y = b.Parameter(1, ShapeUtil::MakeShape(type, {}), "y");
  b.Binary(opcode, x, y);
  return *b.Build();
}
inline XlaComputation Compare(Direction direction, ElementType type = kF32) {
  XlaBuilder b("compare");
  const XlaOp x = b.Parameter(0, ShapeUtil::MakeShape(type, {}), "x");
  b.Compare(direction, x, b.Parameter(1, ShapeUtil::MakeShape(type, {}), "y"));
  return *b.Build();
}
// Builds a computation of one parameter with the given `body`.
inline XlaComputation Function(const Shape& shape,
                               const std::function<XlaOp(XlaBuilder&, XlaOp)>& body) {
  XlaBuilder b("function");
  const XlaOp x = b.Parameter(0, shape, "x");
  body(b, x);
  return *b.Build();
}
inline const Shape kScalar = Shape::Scalar(kF32);

inline XlaComputation Negate() {
  return Function(kScalar, [](XlaBuilder& b, XlaOp x) { return b.Neg(x); });
}
inline XlaComputation Twice() {
  return Function(kScalar, [](XlaBuilder& b, XlaOp x) { return b.Add(x, x); });
}

inline constexpr char kMatrix[] = "{{1, 2, 3}, {4, 5, 6}}";
inline XlaOp Matrix(XlaBuilder& builder) { return C(builder, "f32[2,3]", kMatrix); }
inline XlaOp Vector(XlaBuilder& builder) { return C(builder, "f32[3]", "{1, 2, 3}"); }

}  // namespace assay
