// Functions on element types, as modules that a backend runs: what one sweep measures.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/accuracy/complex_truth.h"
#include "conformance/accuracy/functions.h"
#include "spec/attributes/opcode.h"
#include "spec/types/element_type.h"

namespace assay::accuracy {

enum class SubjectKind : uint8_t {
  kReal,     // floats, judged by true values
  kComplex,  // likewise, by the norm
  kBits,     // integers of at most eight bits: whatever the oracle says
};

struct Subject {
  SubjectKind kind = SubjectKind::kReal;
  std::string name;  // "exponential", "convert"; "exp2", which is made of several ops
  int arity = 1;
  const TrueFunction* function = nullptr;    // kReal
  const ComplexFunction* complex = nullptr;  // kComplex
  ElementType argument = ElementType::kF32, result = ElementType::kF32;
  std::string op;      // written between the result's shape and the operands
  std::string module;  // whole module of one array of kModuleSize instead

  // "exponential f32", "convert f16 f8e5m2"
  std::string Name() const;
  // HLO text on arrays of `size` elements; modules have the size that they have.
  std::string Text(int64_t size) const;
};

// Names of functions that are whole modules begin with it: "jax.exp2".
inline constexpr std::string_view kJaxPrefix = "jax.";
inline constexpr int64_t kModuleSize = 65536;

struct SubjectFilter {
  std::vector<std::string> ops;    // names; empty: all
  std::vector<std::string> types;  // of arguments; empty: all
};

// From the op table: all unary and binary element-wise ops of floats, conversions between floats,
// complex functions, and ops of small integers.
std::vector<Subject> OpSubjects(const SubjectFilter& filter);
// NAME.TYPE.hlo of a folder, written by jax_functions.py. Errors: names that no function has.
absl::StatusOr<std::vector<Subject>> ModuleSubjects(const std::string& folder,
                                                    const SubjectFilter& filter);

}  // namespace assay::accuracy
