// Has the formulas emit vectors, or a call of the runtime that computes by the same formulas.
#include "optimized/codegen/functions/double_functions.h"

#include <string>

#include "llvm/IR/Intrinsics.h"
#include "optimized/codegen/functions/lanes.h"
#include "optimized/runtime/functions/formulas.h"

namespace assay {

using llvm::Value;

namespace {

// The operations that formulas are written in. Truths are vectors of i1.
class Doubles : public Lanes {
 public:
  using Number = Value*;
  using Integer = Value*;
  using Truth = Value*;
  using Lanes::Lanes;

  Value* Negate(Value* x) { return ir().CreateFNeg(x); }
  Value* Floor(Value* x) { return ir().CreateUnaryIntrinsic(llvm::Intrinsic::floor, x); }
  Value* Plus(Value* x, Value* y) { return ir().CreateAdd(x, y); }
  Value* Minus(Value* x, Value* y) { return ir().CreateSub(x, y); }
  Value* And(Value* x, Value* y) { return ir().CreateAnd(x, y); }
  Value* Or(Value* x, Value* y) { return ir().CreateOr(x, y); }
  Value* Xor(Value* x, Value* y) { return ir().CreateXor(x, y); }
  Value* ShiftLeft(Value* x, int by) { return ir().CreateShl(x, Int(static_cast<uint64_t>(by))); }
  Value* ShiftRight(Value* x, int by) { return ir().CreateLShr(x, Int(static_cast<uint64_t>(by))); }
  Value* PowerOfTwo(Value* k) { return FromBits(ShiftLeft(Plus(k, Int(1023)), 52)); }

  Value* Less(Value* x, Value* y) { return ir().CreateFCmpOLT(x, y); }
  Value* Equal(Value* x, Value* y) { return ir().CreateFCmpOEQ(x, y); }
  Value* IsSet(Value* x) { return ir().CreateICmpNE(x, Int(0)); }
  Value* Both(Value* x, Value* y) { return ir().CreateAnd(x, y); }
  Value* Either(Value* x, Value* y) { return ir().CreateOr(x, y); }
  Value* Same(Value* x, Value* y) { return ir().CreateNot(ir().CreateXor(x, y)); }
  Value* Not(Value* x) { return ir().CreateNot(x); }

  Value* Library(const std::string& function, Value* far, Value* x, Value* result) {
    return FromLibrary("far_" + function, far, x, result);
  }
  bool Takes(const char* claim) { return builder().bends().Holds(claim, nullptr, false); }
};

using Unary = Value* (Formulas<Doubles>::*)(Value*);

struct Row {
  std::string_view name;
  Unary formula;
};

constexpr Row kRows[] = {
    {"cbrt", &Formulas<Doubles>::Cbrt},   {"cos", &Formulas<Doubles>::Cosine},
    {"erf", &Formulas<Doubles>::Erf},     {"exp", &Formulas<Doubles>::Exp},
    {"expm1", &Formulas<Doubles>::Expm1}, {"log", &Formulas<Doubles>::Log},
    {"log1p", &Formulas<Doubles>::Log1p}, {"logistic", &Formulas<Doubles>::Logistic},
    {"sin", &Formulas<Doubles>::Sine},    {"tan", &Formulas<Doubles>::Tan},
    {"tanh", &Formulas<Doubles>::Tanh},
};

}  // namespace

Value* EmitDoubleFunction(ValueBuilder& b, std::string_view name,
                          llvm::ArrayRef<Value*> arguments) {
  Doubles f(b, arguments[0]);
  const bool by_call = b.calls_functions();
  if (arguments.size() == 2) {
    if (by_call) return f.CallLanes(std::string(name), arguments);
    Formulas<Doubles> formulas(f);
    return name == "pow" ? formulas.Power(arguments[0], arguments[1])
                         : formulas.Atan2(arguments[0], arguments[1]);
  }
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    if (by_call) return f.CallLanes(std::string(name), arguments);
    Formulas<Doubles> formulas(f);
    return (formulas.*row.formula)(arguments[0]);
  }
  return nullptr;
}

}  // namespace assay
