// Arguments, results and calls, by the calling convention of the System V ABI for AMD64.
#include <algorithm>
#include <array>

#include "optimized/cpu/native/direct/function_translator.h"

namespace assay::direct {
namespace {

constexpr std::array kArguments = {Gpr::kRdi, Gpr::kRsi, Gpr::kRdx, Gpr::kRcx, Gpr::kR8, Gpr::kR9};
constexpr size_t kFloatArguments = 8;
constexpr int32_t kMostOutgoing = 8;  // words on the stack

bool InMemory(const Kind& kind) { return kind.is_vector; }

// Finds the places of a call's arguments, one after the other.
class Places {
 public:
  struct Place {
    enum Where { kGeneral, kVector, kStack } where;
    int number;
  };
  Place Next(const Kind& kind) {
    if (kind.in_general || InMemory(kind)) {
      return general_ < kArguments.size() ? Place{Place::kGeneral, int(general_++)} : OnStack();
    }
    return vector_ < kFloatArguments ? Place{Place::kVector, int(vector_++)} : OnStack();
  }
  void SkipPointer() { ++general_; }

 private:
  Place OnStack() { return {Place::kStack, stack_++}; }
  size_t general_ = 0, vector_ = 0;
  int stack_ = 0;
};

}  // namespace

void FunctionTranslator::ReceiveArguments() {
  Places places;
  const Kind result = direct::KindOf(function_.getReturnType());
  if (InMemory(result)) {
    result_pointer_ = values_.NewFrameBytes(8, 8);
    a_.Int(kMovStore, 64, kArguments[0], Address::At(Gpr::kRbp, result_pointer_));
    places.SkipPointer();
  }
  for (const llvm::Argument& argument : function_.args()) {
    const Kind kind = direct::KindOf(argument.getType());
    if (!kind.is_known || kind.is_struct()) return Refuse("an argument of this type");
    const Places::Place place = places.Next(kind);
    if (argument.use_empty()) continue;
    if (place.where == Places::Place::kVector) {
      a_.Vex(kind.bits == 32 ? kMovSsStore : kMovSdStore, 128, static_cast<Vec>(place.number),
             values_.Slot(argument));
    } else {
      Gpr from = kScratch;
      if (place.where == Places::Place::kGeneral) {
        from = kArguments[place.number];
      } else {
        a_.Int(kMov, 64, kScratch2, Address::At(Gpr::kRbp, -8));
        a_.Int(kMov, 64, from, Address::At(kScratch2, 16 + 8 * place.number));
      }
      if (InMemory(kind)) {
        ReceiveVector(argument, from);
        continue;
      }
      if (kind.is_float) return Refuse("many arguments");
      Canonical(from, kind.bits == 32 ? -32 : kind.bits);
      a_.Int(kMovStore, 64, from, values_.Slot(argument));
    }
    values_.DefineInSlot(argument);
  }
}

void FunctionTranslator::ReceiveVector(const llvm::Argument& argument, Gpr pointer) {
  has_vectors_ = true;
  for (int k = 0; k < values_.Pieces(argument); ++k) {
    // The first registers may hold arguments that come later.
    constexpr Vec kPassing = static_cast<Vec>(15);
    a_.Vex(kMovUps, 256, kPassing, Address::At(pointer, k * kPieceBytes));
    a_.Vex(kMovUpsStore, 256, kPassing, values_.Slot(argument).Plus(k * kPieceBytes));
  }
  values_.DefineInSlot(argument);
}

void FunctionTranslator::Return(const llvm::ReturnInst& ret) {
  if (const Value* value = ret.getReturnValue()) {
    const Kind kind = values_.KindOf(*value);
    if (!kind.is_known) return Refuse("a result of this type");
    if (InMemory(kind)) {
      if (kind.is_truth()) return Refuse("truths as a result");
      a_.Int(kMov, 64, kScratch, Address::At(Gpr::kRbp, result_pointer_));
      for (int k = 0; k < values_.Pieces(*value); ++k) {
        values_.Load(ScratchVec(0), *value, k);
        a_.Vex(kMovUpsStore, 256, ScratchVec(0), Address::At(kScratch, k * kPieceBytes));
      }
    } else if (kind.in_general) {
      values_.Load(Gpr::kRax, *value);
    } else {
      for (int k = 0; k < kind.lanes; ++k) values_.Load(ScratchVec(k), *value, k);
    }
  }
  a_.Jump(leave_);
}

void FunctionTranslator::PassArguments(const llvm::CallInst& call, bool has_result_pointer) {
  Places places;
  if (has_result_pointer) places.SkipPointer();
  for (const llvm::Use& use : call.args()) {
    const Value& argument = *use;
    const Kind kind = values_.KindOf(argument);
    if (!kind.is_known || kind.is_struct()) return Refuse("an argument of this type");
    if (InMemory(kind) && kind.is_truth()) return Refuse("truths as an argument");
    const Places::Place place = places.Next(kind);
    if (place.where == Places::Place::kStack && place.number >= kMostOutgoing) {
      return Refuse("many arguments");
    }
    if (place.where == Places::Place::kVector) {
      values_.Load(static_cast<Vec>(place.number), argument);
      continue;
    }
    const bool on_stack = place.where == Places::Place::kStack;
    const Gpr to = on_stack ? kScratch : kArguments[place.number];
    if (InMemory(kind)) {
      a_.Int(kLea, 64, to, values_.InMemory(argument));
    } else if (kind.is_float) {
      return Refuse("many arguments");
    } else {
      values_.Load(to, argument);
    }
    if (on_stack) a_.Int(kMovStore, 64, to, Address::At(Gpr::kRsp, 8 * place.number));
  }
}

void FunctionTranslator::TakeResult(const llvm::CallInst& call, int32_t result_place) {
  const Kind kind = values_.KindOf(call);
  if (InMemory(kind)) {
    for (int k = 0; k < values_.Pieces(call); ++k) {
      const Vec to = values_.NewVector();
      a_.Vex(kMovUps, 256, to, Address::At(Gpr::kRbp, result_place + k * kPieceBytes));
      values_.Define(call, k, to);
      values_.ReleasePins();
    }
  } else if (kind.in_general) {
    const Gpr to = values_.NewGeneral();
    a_.Move(to, Gpr::kRax);
    Canonical(to, kind.bits == 32 ? -32 : kind.bits);
    values_.Define(call, to);
  } else {
    for (int k = 0; k < kind.lanes; ++k) {
      const Vec to = values_.NewVector();
      a_.Vex(kMovAps, 128, to, ScratchVec(k));
      values_.Define(call, k, to);
    }
  }
}

void FunctionTranslator::Call(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || callee->isVarArg()) return Refuse("a call of a pointer");
  const Kind result = direct::KindOf(call.getType());
  if (!result.is_known && !call.getType()->isVoidTy()) return Refuse("a result of this type");
  values_.LeaveForCall();
  int32_t result_place = 0;
  if (InMemory(result)) {
    if (result.is_truth()) return Refuse("truths as a result");
    has_vectors_ = true;
    result_place = Area(result.pieces(result.bytes) * kPieceBytes).displacement;
    a_.Int(kLea, 64, kArguments[0], Address::At(Gpr::kRbp, result_place));
  }
  PassArguments(call, InMemory(result));
  if (callee->isDeclaration()) {
    void* address = Links::Runtime(callee->getName());
    const bool is_plain = std::none_of(call.arg_begin(), call.arg_end(), [&](const llvm::Use& use) {
      return InMemory(values_.KindOf(*use));
    });
    if (address == nullptr || !is_plain || InMemory(result)) return Refuse("a function");
    if (has_vectors_) a_.ZeroUpper();
    a_.MoveImmediate(Gpr::kRax, reinterpret_cast<uintptr_t>(address));
    a_.Call(Gpr::kRax);
  } else {
    a_.Call(links_.LabelOf(*callee));
  }
  if (!call.getType()->isVoidTy() && !call.use_empty()) TakeResult(call, result_place);
}

// memcpy, memmove and memset are functions of the runtime; few bytes are copied here.
bool FunctionTranslator::CopyMemory(const llvm::CallInst& call) {
  const auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&call);
  if (copy == nullptr) return false;
  constexpr uint64_t kFewBytes = 64;
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy->getLength());
  if (llvm::isa<llvm::MemCpyInst>(copy) && length != nullptr &&
      length->getZExtValue() <= kFewBytes) {
    const Gpr to = values_.General(*copy->getRawDest());
    const Gpr from = values_.General(*call.getArgOperand(1));
    const auto bytes = static_cast<int32_t>(length->getZExtValue());
    int32_t at = 0;
    for (; at + 16 <= bytes; at += 16) {
      a_.Vex(kMovUps, 128, ScratchVec(0), Address::At(from, at));
      a_.Vex(kMovUpsStore, 128, ScratchVec(0), Address::At(to, at));
    }
    for (int32_t size = 8; size > 0; size /= 2) {
      for (; at + size <= bytes; at += size) {
        LoadPiece(ScratchVec(0), Address::At(from, at), size);
        StorePiece(Address::At(to, at), ScratchVec(0), size);
      }
    }
    return true;
  }
  const char* name = llvm::isa<llvm::MemSetInst>(copy)    ? "memset"
                     : llvm::isa<llvm::MemMoveInst>(copy) ? "memmove"
                                                          : "memcpy";
  values_.LeaveForCall();
  for (unsigned k = 0; k < 3; ++k) values_.Load(kArguments[k], *call.getArgOperand(k));
  if (has_vectors_) a_.ZeroUpper();
  a_.MoveImmediate(Gpr::kRax, reinterpret_cast<uintptr_t>(Links::Runtime(name)));
  a_.Call(Gpr::kRax);
  return true;
}

}  // namespace assay::direct
