// One op, one place: the row that parser, printer, verifier, generator, reducer, coverage tables
// and documentation read. Documents: operation semantics (meaning, types, comparison class),
// hlo-format chapter 4 (attributes, shapes).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/attributes/attributes.h"
#include "spec/attributes/opcode.h"
#include "spec/types/shape.h"

namespace assay {

// The kind of work that an op does. The files that treat an op have the name of its family in every
// room; rows_FAMILY.h holds its row.
enum class OpFamily : uint8_t {
  kElementwise,    // results computed element by element, conversions included
  kMovement,       // elements moved, repeated, left out or counted
  kIndexing,       // elements addressed by arrays of indices or by comparison
  kReduction,      // elements combined along dimensions or in windows
  kContraction,    // sums of products
  kLinearAlgebra,  // factorisations, solutions and transforms
  kSorting,
  kRandom,
  kControl,        // control flow, calls, tuples, barriers, asynchronous work
  kCommunication,  // between devices and with the host
};
std::string_view Name(OpFamily family);  // "linear_algebra"

// An op takes from `min` to `max` operands, or any number from `min` on.
inline constexpr int kAnyNumber = -1;
struct OperandCount {
  int min = 0;
  int max = 0;  // or kAnyNumber

  bool IsFixed() const { return min == max; }
  bool Allows(int64_t count) const { return count >= min && (max == kAnyNumber || count <= max); }
};

// One attribute of an op, in print order.
struct AttrSpec {
  Attr attr;
  enum Presence : uint8_t {
    kRequired,  // the reader insists on it; always stored and printed
    kAlways,    // may be left out when reading (an empty list or the default is stored); always
                // printed
    kOptional,  // stored and printed only when it differs from the default below
  } presence = kRequired;
  int64_t default_value =
      0;  // of a flag, integer or word that is kOptional or kAlways; lists default to empty
};

// The computations that an op calls, and how they are written.
enum class CalleeForm : uint8_t {
  kNone,
  kToApply,        // to_apply=%f
  kCalls,          // calls=%f
  kConditionBody,  // condition=%c, body=%b           callees: [condition, body]
  kSelectScatter,  // select=%s, scatter=%t           callees: [select, scatter]
  kBranches,  // true_computation/false_computation or branch_computations, by the type of operand 0
  kCalledComputations  // called_computations={%a, %b}
};

// Classes of element types, as a bit set.
using TypeMask = uint8_t;
inline constexpr TypeMask kP = 1, kS = 2, kU = 4, kF = 8, kC = 16;
inline constexpr TypeMask kI = kS | kU, kAnyArray = kP | kI | kF | kC;
bool Matches(TypeMask mask, ElementType type);

// The way in which a correct result may differ from the mathematical one (operation semantics 0.3).
enum class ComparisonClass : uint8_t {
  kBits,         // data movement: every bit, NaN payloads included
  kExact,        // correctly rounded or exact: one answer, any NaN for NaN
  kUlp,          // within a number of ulps of the correctly rounded value
  kOrder,        // a sum or product whose order is free
  kBody,         // whatever the called computations' ops say
  kResidual,     // judged by a defining property
  kSet,          // one of a finite set
  kStatistical,  // random
  kUnspecified,
};

// Ulps granted to one op per profile and element type; 0 means correctly rounded. "narrow": f16,
// bf16 and smaller.
// `complex` is k of the class NORM(k): |computed - exact| <= k (eps |exact| + tiny).
struct UlpBudget {
  double f32 = 0, f64 = 0, f16 = 0, bf16 = 0, complex = 0;
};
struct NumericContract {
  ComparisonClass comparison = ComparisonClass::kExact;
  UlpBudget strict;
  UlpBudget xla;
  std::string_view
      xla_source;  // citation or measurement behind every number of `xla` that exceeds `strict`
};

enum OpFlag : uint32_t {
  kElementwise =
      1u << 0,  // result[i] depends on operand[i] alone (scalars allowed where the op says so)
  kCommutative = 1u << 1,   // op(a, b) == op(b, a), bits included except NaN payload
  kAssociative = 1u << 2,   // on integers and predicates, exactly
  kDataMovement = 1u << 3,  // moves bits, computes none
  kSideEffect = 1u << 4,    // must not be dropped, merged or moved across its kind
  kCollective = 1u << 5,
  kShapeInferable = 1u << 6,   // HLO text may leave the result shape out
  kMixesFloatTypes = 1u << 7,  // operands of different float types are legal
  kTakesAccuracy = 1u << 8,    // result_accuracy other than the default is legal (hlo-format 4.0.1)
  kForwardsLayout =
      1u
      << 9,  // layout-sensitive verification compares written and inferred layouts (hlo-format 4.5)
};

// The part of a called computation that shape inference sees.
struct CalleeSignature {
  std::string_view name;
  absl::InlinedVector<const Shape*, 4> parameters;  // by number; nullptr: there is none
  const Shape* result = nullptr;                    // nullptr: there is no root yet

  int64_t parameter_count() const { return static_cast<int64_t>(parameters.size()); }
};

// The part of an instruction that shape inference sees, whether it exists already or is being read
// or built.
struct OpSite {
  Opcode opcode;
  absl::Span<const Shape* const> operands;
  const Attributes& attributes;
  absl::Span<const CalleeSignature> callees;
  const Shape* written =
      nullptr;  // the shape in the text or asked of the builder; nullptr when left out
};
// Checks every constraint of the op and returns its result shape. For ops whose result is "as
// written" the written shape is checked and returned. Errors are invalid-argument and name operand,
// dimension and both sizes.
using InferFn = absl::StatusOr<Shape> (*)(const OpSite& site);

struct OpInfo {
  Opcode opcode;
  std::string_view name;
  OpFamily family = OpFamily::kElementwise;  // said by the group of the row
  OperandCount operands;
  TypeMask types = kAnyArray;  // of the data operands
  std::vector<AttrSpec> attributes;
  CalleeForm callees = CalleeForm::kNone;
  uint32_t flags = 0;
  InferFn infer = nullptr;  // nullptr: the op is read, printed and kept, but has no meaning here;
                            // users are told so by name
  NumericContract numeric;
  std::string_view chapter;  // of operation semantics
  std::string_view summary;  // one line for `assay explain`

  bool Is(OpFlag flag) const { return (flags & flag) != 0; }
  // True when Assay gives the op a meaning: a shape rule, and with it an evaluation, a bound, a
  // lowering, a recipe, a golden.
  bool IsDefined() const { return infer != nullptr; }
};

// The row of `opcode`. Total: every opcode has exactly one, checked at compile time.
const OpInfo& Info(Opcode opcode);
// All rows, in enumerator order.
absl::Span<const OpInfo> AllOps();

// True for the attributes that every instruction may carry (hlo-format 3.4); no row lists them.
inline bool IsCommon(Attr attr) { return attr >= Attr::kSharding; }

// The comparison type that an absent `type` attribute of compare stands for (hlo-format 4.0.2). The
// row gives the attribute the default -1: readers drop a written type that equals this one, so that
// equal programs are equal.
CompareType DefaultCompareType(ElementType type);

}  // namespace assay
