// Functions against MPFR at 200 bits: the plain value is nearly correctly rounded, everything
// within the budget passes, anything a little beyond it fails.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>

#include "reference/interpreter/interpreter.h"
#include "reference/testing/random.h"
#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

constexpr mpfr_prec_t kBits = 200;
constexpr int64_t kArguments = 400;

class Real {
 public:
  Real() { mpfr_init2(value_, kBits); }
  explicit Real(double x) : Real() { mpfr_set_d(value_, x, MPFR_RNDN); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

using TrueFunction = void (*)(mpfr_ptr result, mpfr_ptr x);

void Logistic(mpfr_ptr result, mpfr_ptr x) {
  mpfr_neg(result, x, MPFR_RNDN);
  mpfr_exp(result, result, MPFR_RNDN);
  mpfr_add_ui(result, result, 1, MPFR_RNDN);
  mpfr_ui_div(result, 1, result, MPFR_RNDN);
}

struct FunctionCase {
  Opcode opcode;
  TrueFunction truth;
  double low, high;  // of the arguments that are tried
};
const FunctionCase kFunctions[] = {
    {Opcode::kExponential, [](mpfr_ptr r, mpfr_ptr x) { mpfr_exp(r, x, MPFR_RNDN); }, -8, 8},
    {Opcode::kExponentialMinusOne, [](mpfr_ptr r, mpfr_ptr x) { mpfr_expm1(r, x, MPFR_RNDN); }, -4,
     4},
    {Opcode::kLog, [](mpfr_ptr r, mpfr_ptr x) { mpfr_log(r, x, MPFR_RNDN); }, 1e-3, 50},
    {Opcode::kLogPlusOne, [](mpfr_ptr r, mpfr_ptr x) { mpfr_log1p(r, x, MPFR_RNDN); }, -0.9, 20},
    {Opcode::kTanh, [](mpfr_ptr r, mpfr_ptr x) { mpfr_tanh(r, x, MPFR_RNDN); }, -4, 4},
    {Opcode::kLogistic, Logistic, -8, 8},
    {Opcode::kErf, [](mpfr_ptr r, mpfr_ptr x) { mpfr_erf(r, x, MPFR_RNDN); }, -3, 3},
    {Opcode::kRsqrt, [](mpfr_ptr r, mpfr_ptr x) { mpfr_rec_sqrt(r, x, MPFR_RNDN); }, 1e-3, 1e3},
    {Opcode::kCbrt, [](mpfr_ptr r, mpfr_ptr x) { mpfr_cbrt(r, x, MPFR_RNDN); }, -1e3, 1e3},
    {Opcode::kSqrt, [](mpfr_ptr r, mpfr_ptr x) { mpfr_sqrt(r, x, MPFR_RNDN); }, 0.1, 1e3},
    {Opcode::kSine, [](mpfr_ptr r, mpfr_ptr x) { mpfr_sin(r, x, MPFR_RNDN); }, -1e4, 1e4},
    {Opcode::kCosine, [](mpfr_ptr r, mpfr_ptr x) { mpfr_cos(r, x, MPFR_RNDN); }, -1e4, 1e4},
    {Opcode::kTan, [](mpfr_ptr r, mpfr_ptr x) { mpfr_tan(r, x, MPFR_RNDN); }, -100, 100},
};

// Spacing of the type at `value`, which is normal.
double UlpAt(const FloatFormat& format, double value) {
  return std::ldexp(1.0, std::ilogb(value) - format.mantissa_bits);
}

double BudgetOf(Opcode opcode, ElementType type, const Profile& profile) {
  const NumericContract& contract = Info(opcode).numeric;
  const UlpBudget& budget = profile.IsXla() ? contract.xla : contract.strict;
  switch (type) {
    case ElementType::kF16:
      return budget.f16;
    case ElementType::kBF16:
      return budget.bf16;
    case ElementType::kF32:
      return budget.f32;
    default:
      return budget.f64;
  }
}

class FunctionsTest : public testing::TestWithParam<ElementType> {};

TEST_P(FunctionsTest, PlainIsNearlyRoundedAndTheBoundIsTheBudget) {
  const ElementType type = GetParam();
  const FloatFormat& format = Format(type);
  const Shape shape = Shape::Array(type, {kArguments});
  auto oracle = MakeOracle();
  for (const FunctionCase& function : kFunctions) {
    SCOPED_TRACE(std::string(Name(function.opcode)));
    Random random(static_cast<uint64_t>(function.opcode) * 100 + static_cast<uint64_t>(type));
    Module module("function");
    Computation* entry = module.AddComputation("main");
    module.set_entry(entry);
    entry->set_root(entry->Add(function.opcode, shape, {entry->AddParameter(0, shape)}));
    Literal input(shape);
    for (int64_t i = 0; i < kArguments; ++i)
      input.SetDouble(i, random.Between(function.low, function.high));
    for (const Profile* profile : {&Profile::Strict(), &Profile::Xla()}) {
      absl::StatusOr<Expectation> expectation =
          oracle->Expect(module, {&input}, *profile, Limits{});
      ASSERT_TRUE(expectation.ok()) << expectation.status();
      const ArrayExpectation& leaf = expectation->leaves[0];
      const double budget = BudgetOf(function.opcode, type, *profile);
      double worst_plain = 0, widest = 0;
      Literal least = leaf.plain, most = leaf.plain, beyond = leaf.plain;
      for (int64_t i = 0; i < kArguments; ++i) {
        Real x(input.GetDouble(i)), truth, distance;
        function.truth(truth.get(), x.get());
        const double plain = leaf.plain.GetDouble(i);
        const double ulp = UlpAt(format, mpfr_get_d(truth.get(), MPFR_RNDN));
        mpfr_sub_d(distance.get(), truth.get(), plain, MPFR_RNDN);
        worst_plain = std::max(worst_plain, std::fabs(mpfr_get_d(distance.get(), MPFR_RNDN)) / ulp);
        if (!leaf.bounds.empty() && (leaf.bounds[i].flags & kForced) == 0)
          widest = std::max(widest, leaf.bounds[i].radius / ulp);
        const auto steps = static_cast<uint64_t>(budget);
        const uint64_t code = leaf.plain.GetBits(i);
        // Tanh and erf end at 1, whatever the budget.
        const auto move = [&](Literal& to, uint64_t moved) {
          const double value = DecodeFloat(format, moved);
          const bool ends = function.opcode == Opcode::kTanh || function.opcode == Opcode::kErf ||
                            function.opcode == Opcode::kLogistic ||
                            function.opcode == Opcode::kSine || function.opcode == Opcode::kCosine;
          if (!ends || std::fabs(value) <= 1) to.SetBits(i, moved);
        };
        move(least, code - steps);
        move(most, code + steps);
        beyond.SetBits(i, code + static_cast<uint64_t>(2 * budget) + 3);
      }
      EXPECT_LE(worst_plain, 0.51);
      // The units of the rounded value and of its neighbour may differ by a factor of 2, where a
      // power of two lies between them.
      EXPECT_LE(widest, 2.001 * (budget + 0.5)) << profile->name();
      EXPECT_NE(Judge(*expectation, least).verdict, Verdict::kFail) << profile->name();
      EXPECT_NE(Judge(*expectation, most).verdict, Verdict::kFail) << profile->name();
      EXPECT_EQ(Judge(*expectation, beyond).failed, kArguments) << profile->name();
      std::printf("%-6s %-24s %-4s plain off by %.4f ulp, budget %.0f, bound %.2f ulp\n",
                  std::string(profile->name()).c_str(), std::string(Name(function.opcode)).c_str(),
                  std::string(Name(type)).c_str(), worst_plain, budget, widest);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FunctionsTest,
                         testing::Values(ElementType::kF32, ElementType::kF64, ElementType::kF16,
                                         ElementType::kBF16),
                         [](const auto& info) { return std::string(Name(info.param)); });

// Tightness of sums: the worst order of the worst data comes close to the bound.
TEST(Tightness, OfSums) {
  auto oracle = MakeOracle();
  for (int64_t n : {16, 256, 4096}) {
    const Shape shape = Shape::Array(ElementType::kF32, {n});
    const Shape scalar = Shape::Scalar(ElementType::kF32);
    Module module("sum");
    Computation* add = module.AddComputation("add");
    Instruction* a = add->AddParameter(0, scalar);
    Instruction* b = add->AddParameter(1, scalar);
    add->set_root(add->Add(Opcode::kAdd, scalar, {a, b}));
    Computation* entry = module.AddComputation("main");
    module.set_entry(entry);
    Instruction* x = entry->AddParameter(0, shape);
    Instruction* zero = entry->AddConstant(Literal(scalar));
    entry->set_root(entry->Add(Opcode::kReduce, scalar, {x, zero},
                               Attributes().Set(Attr::kDimensions, {int64_t{0}}), {&add, 1}));
    // Each small term is just under half a unit of the large one and vanishes when added to it.
    Literal input(shape);
    float in_order = 0;
    for (int64_t i = 0; i < n; ++i) {
      input.data<float>()[i] = i == 0 ? 1.0f : 0x1.fffffep-25f;
      in_order += input.data<float>()[i];
    }
    absl::StatusOr<Expectation> expectation =
        oracle->Expect(module, {&input}, Profile::Xla(), Limits{});
    ASSERT_TRUE(expectation.ok()) << expectation.status();
    const ArrayExpectation& leaf = expectation->leaves[0];
    ASSERT_FALSE(leaf.bounds.empty());
    const double deviation = std::fabs(in_order - leaf.bounds[0].centre);
    const double ratio = leaf.bounds[0].radius / deviation;
    std::printf("sum of %lld: bound / worst deviation = %.3f\n", static_cast<long long>(n), ratio);
    EXPECT_LE(ratio, 8);
    EXPECT_GE(ratio, 1);
    const Literal worst = Literal::Scalar(ElementType::kF32, in_order);
    EXPECT_EQ(Judge(*expectation, worst).verdict, Verdict::kPass);
  }
}

}  // namespace
}  // namespace assay::reference
