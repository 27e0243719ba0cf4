// The passes that make library calls, and those that add to them, ask this of instructions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimized/gates/gates.h"
#include "optimized/passes/library/gpu_facts.h"
#include "optimized/passes/pass.h"
#include "spec/library/library_call.h"

namespace assay {

const GpuFacts& FactsOf(const PassContext& context);

// A library call to be: what Add needs.
struct CallPlan {
  LibraryRoutine routine;
  Shape shape;
  std::vector<Instruction*> operands;
  Attributes attributes;  // without target and config
  std::string config;

  // True if the call would read as one (ReadLibraryCall): shapes, types and config fit.
  bool IsSound() const;
  Instruction* AddTo(Computation* into) const;
};

// The call that makes `value`: itself, or the first element of its tuple. Nothing if it is no call
// that reads as one, or if anything but `value` reads it.
struct MadeByCall {
  Instruction* call;
  LibraryCall read;
};
std::optional<MadeByCall> CallBehind(Instruction* value);
// One instruction reads it, and it is not the result of its computation.
bool IsReadOnce(const Instruction* value);
// Copies the call, to be changed.
CallPlan PlanOf(const MadeByCall& made);

// The two operands of a binary op, of which one is made by a call and only read here.
struct CallAndOther {
  MadeByCall made;
  Instruction* value;  // what the call makes
  Instruction* other;
};
std::optional<CallAndOther> SplitByCall(Instruction* binary, LibraryRoutine first,
                                        LibraryRoutine last);

// The finite real number that all elements of a float array are; nothing otherwise.
std::optional<double> FiniteSplat(const Instruction* inst);
// `value` is factor * array, written as a multiplication by a constant that nobody else reads; else
// itself and 1.
struct Scaled {
  Instruction* array;
  double factor;
};
Scaled SplitScale(Instruction* value);

// True if a result of this type may be rounded once instead of after each step: it is wide, or the
// profile lets intermediates be kept in a wider type.
bool MayRoundOnce(ElementType type, const PassContext& context);

}  // namespace assay
