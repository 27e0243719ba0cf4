// Compares a wrong answer with the program's value in real numbers.
#include "fuzz/opinions/rearranged.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "fuzz/opinions/second_opinion.h"
#include "spec/ir/reading/combiner.h"
#include "spec/ops/op_table.h"
#include "spec/text/reader.h"
#include "spec/types/float_format.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

bool IsOfFloats(const Literal& leaf) {
  return IsFloat(leaf.element_type()) || IsComplex(leaf.element_type());
}

// Whether the op gives floats another order could give otherwise: neither what it only moves,
// chooses or converts, nor what it makes of nothing.
bool IsArithmetic(const Instruction& at) {
  static constexpr Opcode kOthers[] = {Opcode::kParameter, Opcode::kConstant,
                                       Opcode::kIota,      Opcode::kConvert,
                                       Opcode::kSelect,    Opcode::kClamp,
                                       Opcode::kMaximum,   Opcode::kMinimum,
                                       Opcode::kAbs,       Opcode::kNegate,
                                       Opcode::kSign,      Opcode::kFloor,
                                       Opcode::kCeil,      Opcode::kRoundNearestEven,
                                       Opcode::kReal,      Opcode::kRoundNearestAfz,
                                       Opcode::kImag,      Opcode::kReducePrecision,
                                       Opcode::kComplex};
  bool has_floats = false;
  ForEachLeaf(at.shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
    has_floats |=
        leaf.IsArray() && (IsFloat(leaf.element_type()) || IsComplex(leaf.element_type()));
  });
  const ComparisonClass comparison = Info(at.opcode()).numeric.comparison;
  return has_floats && comparison != ComparisonClass::kBits &&
         comparison != ComparisonClass::kBody &&
         std::find(std::begin(kOthers), std::end(kOthers), at.opcode()) == std::end(kOthers);
}

bool HasArithmetic(const Computation& computation) {
  return std::any_of(computation.begin(), computation.end(),
                     [](const Instruction* at) { return IsArithmetic(*at); });
}

// Whether there is any in the module or, where it is known which instruction is wrong, in what it
// is made of.
bool HasArithmetic(const Module& module, const Instruction* wrong) {
  if (wrong == nullptr) {
    const auto& all = module.computations();
    return std::any_of(all.begin(), all.end(),
                       [](const Computation* one) { return HasArithmetic(*one); });
  }
  std::set<const Instruction*> seen = {wrong};
  std::vector<const Instruction*> open = {wrong};
  std::set<const Computation*> callees;
  while (!open.empty()) {
    const Instruction* at = open.back();
    open.pop_back();
    if (IsArithmetic(*at)) return true;
    for (const Computation* callee : at->callees()) callees.insert(callee);
    for (const Instruction* operand : at->operands()) {
      if (seen.insert(operand).second) open.push_back(operand);
    }
  }
  // What those call in turn is rare, and is arithmetic as a rule.
  return std::any_of(callees.begin(), callees.end(), [](const Computation* one) {
    return HasArithmetic(*one) || std::any_of(one->begin(), one->end(), [](const Instruction* at) {
             return !at->callees().empty();
           });
  });
}

// Code for a product of matrices may start its sums from what the program adds to the product.
bool AddsToProducts(const Module& module) {
  const auto is_product = [](const Instruction* at) {
    while (at->operand_count() == 1 &&
           Info(at->opcode()).numeric.comparison == ComparisonClass::kBits) {
      at = at->operand(0);
    }
    return at->opcode() == Opcode::kDot || at->opcode() == Opcode::kConvolution;
  };
  const auto adds = [&](const Instruction* at) {
    const bool is_sum = at->opcode() == Opcode::kAdd || at->opcode() == Opcode::kSubtract;
    const auto& operands = at->operands();
    return is_sum && std::any_of(operands.begin(), operands.end(), is_product);
  };
  const auto& all = module.computations();
  return std::any_of(all.begin(), all.end(), [&](const Computation* one) {
    return std::any_of(one->begin(), one->end(), adds);
  });
}

// The reduction that `add` adds to, if nothing else reads it; null if there is none.
Instruction* SumUnder(const Instruction& add, int64_t which) {
  Instruction* sum = add.operand(which);
  const bool is_sum = add.opcode() == Opcode::kAdd && sum->opcode() == Opcode::kReduce &&
                      sum->shape().IsArray() && IsFloat(sum->shape().element_type()) &&
                      BitWidth(sum->shape().element_type()) >= 16 &&
                      sum->operand(0)->shape().ElementCount() > 0;
  const bool is_alone = sum->users().size() == 1 && add.operand(0) != add.operand(1);
  return is_sum && is_alone && ReadCombiner(*sum->callee()) == Opcode::kAdd ? sum : nullptr;
}

// The reduction of what `sum` reduces and of `addend`, which stands behind it: in one place of the
// dimensions that are reduced, with zeros that change nothing in the others.
Instruction* SumWith(const Instruction& sum, Instruction* addend) {
  Computation* computation = addend->parent();
  Instruction* terms = sum.operand(0);
  const ElementType type = terms->shape().element_type();
  const absl::Span<const int64_t> reduced = sum.attributes().Integers(Attr::kDimensions);
  Shape once = Shape::Array(type, terms->shape().dimensions());
  for (const int64_t d : reduced) once.set_dimension(d, 1);
  Shape slab = Shape::Array(type, terms->shape().dimensions());
  slab.set_dimension(reduced[0], 1);
  std::vector<PaddingDim> padding(static_cast<size_t>(once.rank()));
  for (int64_t d = 0; d < once.rank(); ++d)
    padding[static_cast<size_t>(d)].high = slab.dimensions()[d] - once.dimensions()[d];
  Shape all = slab;
  all.set_dimension(reduced[0], terms->shape().dimensions()[reduced[0]] + 1);
  Literal zero(Shape::Scalar(type));
  zero.SetDouble(0, -0.0);
  Attributes by_padding, along;
  by_padding.Set(Attr::kPadding, AttrValue(std::move(padding)));
  along.Set(Attr::kDimension, {reduced[0]});
  Instruction* reshaped = computation->Add(Opcode::kReshape, once, {addend});
  Instruction* padded =
      computation->Add(Opcode::kPad, slab, {reshaped, computation->AddConstant(std::move(zero))},
                       std::move(by_padding));
  return computation->Add(Opcode::kConcatenate, all, {terms, padded}, std::move(along));
}

// The program in which reductions that add begin with what is added to their results, as libraries
// that make one kernel of both have it; null if there is no such reduction.
std::unique_ptr<Module> WithAddendsInSums(const Module& module) {
  std::unique_ptr<Module> made = module.Clone("");
  bool has_any = false;
  for (Computation* computation : made->computations()) {
    const std::vector<Instruction*> all(computation->begin(), computation->end());
    for (Instruction* add : all) {
      for (const int64_t which : {0, 1}) {
        if (add->operand_count() != 2) break;
        Instruction* sum = SumUnder(*add, which);
        if (sum == nullptr || sum->attributes().Integers(Attr::kDimensions).empty()) continue;
        sum->ReplaceOperand(0, SumWith(*sum, add->operand(1 - which)));
        add->ReplaceAllUsesWith(sum);
        has_any = true;
        break;
      }
    }
  }
  return has_any && Verify(*made).ok() ? std::move(made) : nullptr;
}

// A difference in class is one of meaning, not of size.
bool AreOfOneClass(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return true;
}

// What exp(a)^b loses as exp(a b), and less where that would be more than half of the digits.
double MostUlps(const FloatFormat& format) {
  constexpr double kMost = 1024;
  return std::min(kMost, std::exp2(format.precision() / 2.0 - 1));
}

// The distance of neighbouring values of the type at the size of `number`.
long double UlpAt(const FloatFormat& format, long double number) {
  const long double least = format.MinSubnormal();
  if (number == 0) return least;
  return std::max(least, std::ldexp(1.0L, std::ilogb(number) - format.mantissa_bits));
}

// One array of the result: what the program says, and its numbers without ends.
class RealLeaf {
 public:
  RealLeaf(const Literal& plain, std::vector<long double> exact, std::vector<long double> rounded)
      : plain_(plain), exact_(std::move(exact)), rounded_(std::move(rounded)) {}

  bool Fits() const {
    const int64_t wanted = IsOfFloats(plain_) ? plain_.component_count() : plain_.element_count();
    return static_cast<int64_t>(exact_.size()) == wanted && rounded_.size() == exact_.size();
  }

  // Whether a float, or a part of a complex number, is near enough.
  bool IsNear(int64_t component, double value) const {
    const auto at = static_cast<size_t>(component);
    const double plain = plain_.GetComponent(component);
    if (!std::isfinite(value) || !std::isfinite(plain)) return AreOfOneClass(value, plain);
    if (!std::isfinite(exact_[at]) || !std::isfinite(rounded_[at])) return false;
    // What vanished because it was too small for its type is gone, in any order; what a sum
    // swallowed is not.
    if (plain == 0 && rounded_[at] != 0) return false;
    const FloatFormat& format = Format(ComponentType(plain_.element_type()));
    const long double own = std::fabs(rounded_[at] - exact_[at]);
    const long double most = std::max(MostUlps(format) * UlpAt(format, Size(at)), kTimesOwn * own);
    return std::fabs(value - exact_[at]) <= most;
  }

  // Whether an element of another type is the one that real numbers give.
  bool IsSame(int64_t element, const Literal& answer) const {
    const auto is = IsSigned(answer.element_type())
                        ? static_cast<long double>(answer.GetInteger(element))
                        : static_cast<long double>(answer.GetBits(element));
    return is == exact_[static_cast<size_t>(element)];
  }

 private:
  static constexpr long double kTimesOwn = 4;

  // Parts of complex numbers are as exact as the number is large.
  long double Size(size_t component) const {
    const long double one = std::fabs(exact_[component]);
    if (!IsComplex(plain_.element_type())) return one;
    const long double other = std::fabs(exact_[component ^ 1]);
    return std::isfinite(other) ? std::hypot(one, other) : one;
  }

  const Literal& plain_;
  std::vector<long double> exact_, rounded_;
};

// Leaves with the program's own value where `is_explained(leaf, component or element)`.
template <typename Condition>
std::vector<Literal> Mended(const Expectation& right, const std::vector<const Literal*>& leaves,
                            Condition is_explained) {
  std::vector<Literal> mended;
  for (size_t i = 0; i < leaves.size(); ++i) {
    Literal& leaf = mended.emplace_back(*leaves[i]);
    const Literal& plain = right.leaves[i].plain;
    const bool floats = IsOfFloats(leaf);
    const int64_t count = floats ? leaf.component_count() : leaf.element_count();
    for (int64_t k = 0; k < count; ++k) {
      const bool differs = floats ? leaf.GetComponentBits(k) != plain.GetComponentBits(k)
                                  : leaf.GetBits(k) != plain.GetBits(k);
      if (!differs || !is_explained(i, k)) continue;
      if (floats)
        leaf.SetComponentBits(k, plain.GetComponentBits(k));
      else
        leaf.SetBits(k, plain.GetBits(k));
    }
  }
  return mended;
}

bool Fails(const Expectation& right, const std::vector<const Literal*>& leaves) {
  return JudgeLeaves(right, leaves).verdict == Verdict::kFail;
}
bool Fails(const Expectation& right, const std::vector<Literal>& leaves) {
  std::vector<const Literal*> pointers;
  for (const Literal& leaf : leaves) pointers.push_back(&leaf);
  return Fails(right, pointers);
}

// The oracle's word on what the pass made of the program, if that reads.
std::optional<Expectation> ExpectationOf(const CheckSubject& subject, const std::string& text,
                                         const std::vector<const Literal*>& arguments) {
  const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  if (!module.ok() || !Verify(**module).ok() || !Unsupported(**module).empty()) return std::nullopt;
  absl::StatusOr<Expectation> expectation =
      subject.oracle.Expect(**module, arguments, subject.profile, subject.limits);
  if (!expectation.ok()) return std::nullopt;
  return *std::move(expectation);
}

}  // namespace

bool MayRearrange(std::string_view pass) {
  static constexpr std::string_view kPasses[] = {"algsimp",
                                                 "batchnorm_expander",
                                                 "cholesky_expander",
                                                 "dot_decomposer",
                                                 "logistic-expander",
                                                 "reduce-window-rewriter",
                                                 "tree_reduction_rewriter",
                                                 "triangular_solve_expander"};
  return std::find(std::begin(kPasses), std::end(kPasses), pass) != std::end(kPasses);
}

bool IsRearrangedBy(const GuiltyPass& guilty, const CheckSubject& subject, const Module& module,
                    const std::vector<Literal>& inputs, const Literal& answer,
                    const std::string& python) {
  const PassBlame& blame = guilty.blame;
  const std::unique_ptr<Module> joined = blame.pass.empty() ? WithAddendsInSums(module) : nullptr;
  const bool may_rearrange = blame.pass.empty() ? AddsToProducts(module) : MayRearrange(blame.pass);
  if ((!may_rearrange && joined == nullptr) || !answer.shape().IsValid()) return false;
  if (!HasArithmetic(module, guilty.wrong)) return false;
  const CheckCase check_case = CheckCase::Of(module, inputs);
  if (check_case.arguments.size() != 1) return false;
  const std::vector<const Literal*>& arguments = check_case.arguments[0];
  const absl::StatusOr<Expectation> right =
      subject.oracle.Expect(module, arguments, subject.profile, subject.limits);
  const std::vector<const Literal*> leaves = Leaves(answer);
  if (!right.ok() || right->leaves.size() != leaves.size() || !right->inconclusive.empty())
    return false;
  if (!Fails(*right, leaves)) return false;
  // What is of another class is not explained by any real number: nobody has to compute them.
  const auto is_of_one_class = [&](size_t leaf, int64_t k) {
    return !IsOfFloats(*leaves[leaf]) ||
           AreOfOneClass(leaves[leaf]->GetComponent(k), right->leaves[leaf].plain.GetComponent(k));
  };
  if (Fails(*right, Mended(*right, leaves, is_of_one_class))) return false;
  if (joined != nullptr) {
    const absl::StatusOr<Expectation> one_sum =
        subject.oracle.Expect(*joined, arguments, subject.profile, subject.limits);
    if (one_sum.ok() && !Fails(*one_sum, leaves)) return true;
    if (!may_rearrange) return false;
  }

  std::optional<RealResult> numbers = AskRealResult(python, module, inputs);
  if (!numbers.has_value() || numbers->exact.size() != leaves.size() ||
      numbers->rounded.size() != leaves.size()) {
    return false;
  }
  std::vector<RealLeaf> real;
  for (size_t i = 0; i < leaves.size(); ++i) {
    real.emplace_back(right->leaves[i].plain, std::move(numbers->exact[i]),
                      std::move(numbers->rounded[i]));
    if (!real.back().Fits()) return false;
  }
  const auto is_near = [&](size_t leaf, int64_t k) {
    return IsOfFloats(*leaves[leaf]) ? real[leaf].IsNear(k, leaves[leaf]->GetComponent(k))
                                     : real[leaf].IsSame(k, *leaves[leaf]);
  };
  if (!Fails(*right, Mended(*right, leaves, is_near))) return true;

  // What the pass made is near, and the answer is right for it: licences for single ops, such as
  // that of flushing, do the rest.
  const std::optional<Expectation> made = ExpectationOf(subject, blame.after, arguments);
  const bool is_right_for_it = made.has_value() && made->leaves.size() == leaves.size() &&
                               JudgeLeaves(*made, leaves).verdict == Verdict::kPass;
  if (!is_right_for_it) return false;
  const auto is_made_near = [&](size_t leaf, int64_t k) {
    if (is_near(leaf, k)) return true;
    return IsOfFloats(*leaves[leaf]) &&
           real[leaf].IsNear(k, made->leaves[leaf].plain.GetComponent(k));
  };
  return !Fails(*right, Mended(*right, leaves, is_made_near));
}

bool IsRearranged(const CheckSubject& subject, const ReduceCase& program,
                  const std::string& python) {
  if (python.empty() || !subject.backend.Describe().dumps_passes) return false;
  const CheckCase check_case = CheckCase::Of(*program.module, program.inputs);
  Checker checker(subject, check_case);
  if (!checker.Check().outcome.Fails(Outcome::kWrong)) return false;
  const PassBlame blame = FindWrongSnapshot(subject, *program.module, program.inputs);
  return IsRearrangedBy({blame}, subject, *program.module, program.inputs, checker.answer(),
                        python);
}

}  // namespace assay
