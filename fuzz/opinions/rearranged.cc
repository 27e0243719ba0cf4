// Judges a wrong answer by what the program gives in real numbers.
#include "fuzz/opinions/rearranged.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "fuzz/backends/peer.h"
#include "fuzz/opinions/second_opinion.h"
#include "spec/ir/reading/combiner.h"
#include "spec/numerics/notable_limits.h"
#include "spec/numerics/open_elements.h"
#include "spec/ops/op_table.h"
#include "spec/text/reader.h"
#include "spec/types/float_format.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

bool IsOfFloats(const Literal& leaf) {
  return IsFloat(leaf.element_type()) || IsComplex(leaf.element_type());
}

// True if the op gives floats another order could give otherwise: neither what it only moves,
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

// True if there is any in the module or, where it is known which instruction is wrong, in what it
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
  // Calls within those are rare, and are arithmetic as a rule.
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

double MostUlps(const FloatFormat& format) {
  return std::min(kUlpsOfAnotherOrder, std::exp2(format.precision() / 2.0 - 1));
}

// The distance of neighbouring values of the type at the size of `number`.
long double UlpAt(const FloatFormat& format, long double number) {
  const long double least = format.MinSubnormal();
  if (number == 0) return least;
  return std::max(least, std::ldexp(1.0L, std::ilogb(number) - format.mantissa_bits));
}

// One array of the result in real numbers.
struct RealLeaf {
  const Literal& plain;  // the program's own
  const std::vector<long double>&exact, &rounded;

  bool Fits() const {
    const int64_t wanted = IsOfFloats(plain) ? plain.component_count() : plain.element_count();
    return static_cast<int64_t>(exact.size()) == wanted && rounded.size() == exact.size();
  }

  // Parts of complex numbers are as exact as the number is large.
  long double Size(size_t component) const {
    const long double one = std::fabs(exact[component]);
    if (!IsComplex(plain.element_type())) return one;
    const long double other = std::fabs(exact[component ^ 1]);
    return std::isfinite(other) ? std::hypot(one, other) : one;
  }

  ElementBound BoundOf(int64_t component) const {
    const auto at = static_cast<size_t>(component);
    const double own = plain.GetComponent(component);
    ElementBound bound;
    const bool is_known =
        std::isfinite(own) && std::isfinite(exact[at]) && std::isfinite(rounded[at]);
    // A number that vanished because it was too small for its type is gone, in any order; what a
    // sum swallowed is not.
    if (!is_known || (own == 0 && rounded[at] != 0)) {
      bound.flags = kForced;
      return bound;
    }
    const FloatFormat& format = Format(ComponentType(plain.element_type()));
    bound.centre = static_cast<double>(exact[at]);
    bound.centre_low = static_cast<double>(exact[at] - bound.centre);
    bound.radius =
        static_cast<double>(std::max(MostUlps(format) * UlpAt(format, Size(at)),
                                     kTimesItsOwnError * std::fabs(rounded[at] - exact[at])));
    bound.flags = kZeroSignFree;
    return bound;
  }
};

// The profile of real arithmetic: what any order and number of roundings may give.
ArrayExpectation InAnyOrder(const RealLeaf& leaf) {
  ArrayExpectation any;
  any.plain = leaf.plain;
  if (IsOfFloats(leaf.plain)) {
    for (int64_t k = 0; k < leaf.plain.component_count(); ++k)
      any.bounds.push_back(leaf.BoundOf(k));
    return any;
  }
  for (int64_t i = 0; i < leaf.plain.element_count(); ++i) {
    if (IsPred(leaf.plain.element_type()))
      any.plain.SetBits(i, leaf.exact[static_cast<size_t>(i)] != 0 ? 1 : 0);
    else
      any.plain.SetInteger(i, static_cast<int64_t>(leaf.exact[static_cast<size_t>(i)]));
  }
  return any;
}

// The elements of the leaf that neither allows.
std::vector<int64_t> FailedBoth(const ArrayExpectation& one, const ArrayExpectation& other,
                                const Literal& leaf) {
  const std::vector<int64_t> first = FailedElements(one, leaf),
                             second = FailedElements(other, leaf);
  std::vector<int64_t> both;
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                        std::back_inserter(both));
  return both;
}

// True if an element that is wrong is of another class than the program's own: no order of real
// arithmetic explains it, and nobody has to compute any.
bool HasAnotherClass(const ArrayExpectation& right, const Literal& leaf) {
  if (!IsOfFloats(leaf)) return false;
  const int64_t parts = IsComplex(leaf.element_type()) ? 2 : 1;
  for (const int64_t i : FailedElements(right, leaf)) {
    for (int64_t k = parts * i; k < parts * (i + 1); ++k) {
      if (!AreOfOneClass(leaf.GetComponent(k), right.plain.GetComponent(k))) return true;
    }
  }
  return false;
}

bool Fails(const Expectation& right, const std::vector<const Literal*>& leaves) {
  return JudgeLeaves(right, leaves).verdict == Verdict::kFail;
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

bool IsRearrangedBy(const GuiltyPass& guilty, const CheckSubject& subject, const Module& module,
                    const std::vector<Literal>& inputs, const Literal& answer,
                    const std::string& python) {
  const PassBlame& blame = guilty.blame;
  const Peer& peer = PeerOf(subject.backend.Describe());
  const std::unique_ptr<Module> joined = blame.pass.empty() ? WithAddendsInSums(module) : nullptr;
  const bool may_rearrange = blame.pass.empty()
                                 ? AddsToProducts(module)
                                 : peer.passes_of_real_arithmetic.contains(blame.pass);
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
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (HasAnotherClass(right->leaves[i], *leaves[i])) return false;
  }
  if (joined != nullptr) {
    const absl::StatusOr<Expectation> one_sum =
        subject.oracle.Expect(*joined, arguments, subject.profile, subject.limits);
    if (one_sum.ok() && !Fails(*one_sum, leaves)) return true;
    if (!may_rearrange) return false;
  }

  const std::optional<RealResult> numbers = AskRealResult(python, module, inputs);
  if (!numbers.has_value() || numbers->exact.size() != leaves.size() ||
      numbers->rounded.size() != leaves.size()) {
    return false;
  }
  // The pass's module may be near, and the answer right for it: licences for single ops, such as
  // that of flushing, do the rest.
  std::optional<Expectation> made = ExpectationOf(subject, blame.after, arguments);
  if (made.has_value() && (made->leaves.size() != leaves.size() ||
                           JudgeLeaves(*made, leaves).verdict != Verdict::kPass)) {
    made.reset();
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    const RealLeaf real{right->leaves[i].plain, numbers->exact[i], numbers->rounded[i]};
    if (!real.Fits()) return false;
    const ArrayExpectation any = InAnyOrder(real);
    const std::vector<int64_t> failed = FailedBoth(right->leaves[i], any, *leaves[i]);
    if (failed.empty()) continue;
    if (!made.has_value() || !IsOfFloats(*leaves[i])) return false;
    const std::vector<int64_t> also_made = FailedElements(any, made->leaves[i].plain);
    const bool is_made_wrong = std::any_of(failed.begin(), failed.end(), [&](int64_t element) {
      return std::binary_search(also_made.begin(), also_made.end(), element);
    });
    if (is_made_wrong) return false;
  }
  return true;
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
