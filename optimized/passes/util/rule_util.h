// Helpers of local rewrites: reading constants, adding instructions beside the target.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "optimized/passes/util/rule_context.h"

namespace assay {

// Same type, dimensions and layout: one may stand for the other whoever uses it.
bool SameShape(const Instruction* a, const Instruction* b);

// The target is replaced by `with`, which exists already, if the shapes are the same.
bool ReplaceByExisting(Instruction* inst, Instruction* with, RuleContext& context,
                       std::string_view rule);

// Constants with a value, alone or broadcast from a scalar.
const Literal* ConstantValue(const Instruction* inst);         // of a constant array
const Literal* SplatElement(const Instruction* inst);          // element 0 stands for all of them
std::optional<int64_t> SplatInteger(const Instruction* inst);  // integers and pred; u64 as its bits
std::optional<double> SplatFloat(const Instruction* inst);     // floats; NaN and -0 as they are
bool IsSplat(const Instruction* inst,
             double value);  // of either kind; zeros match by sign for floats
// Both are the same instruction, or constants of the same type and bits.
bool SameValue(const Instruction* a, const Instruction* b);

// Smallest and largest value of an integer type; u64's largest does not fit and is INT64_MAX here.
int64_t MinInteger(ElementType type);
int64_t MaxInteger(ElementType type);

Instruction* AddScalarInteger(Computation* computation, ElementType type, int64_t value);
Instruction* AddScalarFloat(Computation* computation, ElementType type, double value);
// `scalar` itself for rank 0, else its broadcast to `shape`.
Instruction* AddSplat(Computation* computation, const Shape& shape, Instruction* scalar);
// An array of `shape` whose elements all are `value` (integers and pred; floats: the nearest).
Instruction* AddSplatInteger(Computation* computation, const Shape& shape, int64_t value);

Attributes DimensionsAttr(absl::Span<const int64_t> dimensions);
Attributes SliceAttr(std::vector<SliceRange> ranges);
// The slice with as few elements as asked: `limit` just behind the last element taken.
SliceRange TightRange(int64_t start, int64_t stride, int64_t size);

// Replaces `inst` by a new instruction of the same shape.
bool ReplaceByNew(Rewrite& rewrite, Instruction* inst, Opcode opcode,
                  std::initializer_list<Instruction*> operands, Attributes attributes = {});
// Asks the gate first; else like ReplaceByNew.
bool RewriteTo(Instruction* inst, RuleContext& context, std::string_view rule, Opcode opcode,
               std::initializer_list<Instruction*> operands, Attributes attributes = {});

// The called computation is root = op(p0, p1) on two scalar parameters of one type, in either
// order; that op. Operation semantics chapter 10, "recognised combiners", without the converts.
std::optional<Opcode> RecognisedCombiner(const Computation* computation);

}  // namespace assay
