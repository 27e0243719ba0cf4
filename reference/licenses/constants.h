// The constants of a module once a compiler has inlined and folded: what is made of literals alone,
// also through calls, branches and loops. Their values are found by whoever evaluates ops.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "reference/values/value.h"
#include "spec/ir/module.h"

namespace assay::reference {

// The instructions that run each computation, as far as compilers may put it in their place: calls,
// fusions, maps, loops of few trips, scans of few steps, conditionals whose choice is known.
using InliningCallers = absl::flat_hash_map<const Computation*, std::vector<const Instruction*>>;
InliningCallers FindInliningCallers(const Module& module);

// An argument that an inlined caller gives to a computation.
struct InlinedArgument {
  const Instruction* value;
  int64_t element = -1;  // of the value, if that is a tuple; -1: all of it
};
// The values that an inlined caller gives for parameter `number` of a computation: where a loop or
// a scan goes on, the root of its body as well.
std::vector<InlinedArgument> ArgumentsOf(const Instruction& caller, const Computation& computation,
                                         int64_t number);
// Counts the operands of a scan that are inputs, and its results that are no carries.
int64_t InputsOf(const Instruction& scan);
int64_t OutputsOf(const Instruction& scan);

class Constants {
 public:
  // Gives the plain value of one op, with a result of that shape; none where it would cost too much
  // or is refused.
  using Evaluate = std::function<std::optional<Value>(const Instruction&, const Shape&,
                                                      absl::Span<const Value* const>)>;

  // Without `evaluate` only what literals hold is known.
  explicit Constants(const InliningCallers& callers, Evaluate evaluate = nullptr)
      : callers_(callers), evaluate_(std::move(evaluate)) {}

  const InliningCallers& callers() const { return callers_; }

  // True if the value is made of literals alone, for one of the callers of its computation at
  // least.
  bool IsConstant(const Instruction& value);
  // The largest magnitude of the finite elements of such a value, of complex numbers that of a
  // part; infinite if it was too much to find out. Negative if it is no constant, or is NaN.
  double Magnitude(const Instruction& value);
  // True if the value is a constant whose elements are all of this kind. Complex numbers are not
  // asked about, but for those that are equal to a real number.
  bool IsEverywhere(const Instruction& value, double number);
  bool IsNowhereNegative(const Instruction& value);

  // Forgets the values, which take memory.
  void Forget() { known_[0].clear(), known_[1].clear(); }

 private:
  // A constant, with the values that it may have, for several callers or trips of a loop; none: its
  // values are not known. One number may stand for an array of it.
  struct Folded {
    bool is_constant = false;
    std::vector<Value> values;
  };
  // Says if values are wanted, or only if there are any.
  enum class Ask : uint8_t { kWhether, kValues };
  // Which element of a tuple is looked for, and of that one which; innermost first.
  using Path = std::vector<int64_t>;

  Folded FoldFor(const Instruction& value, Ask ask);
  bool HasOnly(const Instruction& value, const std::function<bool(const Literal&)>& has);
  Folded Fold(const Instruction& value, Path path);
  Folded FoldUnknown(const Instruction& value, Path path);
  Folded FoldLiteral(const Instruction& constant, const Path& path) const;
  Folded FoldOp(const Instruction& value, const Path& path);
  Folded FoldBody(const Instruction& caller, const Computation& body, const Path& path);
  Folded FoldParameter(const Instruction& parameter, const Path& path);
  Folded FoldArguments(const Instruction& caller, const Instruction& parameter, const Path& path);
  std::optional<Value> EvaluateOp(const Instruction& value, std::vector<Value> operands) const;

  const InliningCallers& callers_;
  Evaluate evaluate_;
  Ask ask_ = Ask::kWhether;
  int left_ = 0;  // of the instructions that one question looks at
  // The callers that the walk has entered, innermost last, and the loops whose bodies it follows.
  std::vector<const Instruction*> calls_;
  absl::flat_hash_set<const Instruction*> loops_;
  absl::flat_hash_map<const Instruction*, Folded> known_[2];  // by what was asked
};

}  // namespace assay::reference
