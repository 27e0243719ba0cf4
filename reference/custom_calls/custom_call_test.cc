// Custom calls of functions that a user gives, and those that nobody knows.
#include "reference/custom_calls/custom_call.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "spec/base/error.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"
#include "spec/numerics/open_elements.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

// The worked example of the documents: z[0][0] = x[1] + y[1][0].
void MyFunction(void* out, const void** in) {
  const auto* x = static_cast<const float*>(in[0]);
  const auto* y = static_cast<const float*>(in[1]);
  static_cast<float*>(out)[0] = x[1] + y[1 * 3 + 0];
}

// (a, b) -> (b, a), all by pointers to arrays.
void Swap(void* out, const void** in) {
  auto* results = static_cast<void**>(out);
  auto* pair = static_cast<void* const*>(in[0]);
  *static_cast<int32_t*>(results[0]) = *static_cast<const int32_t*>(pair[1]);
  *static_cast<int32_t*>(results[1]) = *static_cast<const int32_t*>(pair[0]);
}

std::string Text(const absl::StatusOr<Literal>& value) {
  return value.ok() ? value->ToString() : std::string(value.status().message());
}

// An array, a scalar and a tuple, of four types.
void Mixed(void* out, const void** in) {
  const auto* array = static_cast<const float*>(in[0]);
  const auto* pair = static_cast<void* const*>(in[2]);
  *static_cast<double*>(out) = array[1] * *static_cast<const int8_t*>(in[1]) +
                               *static_cast<const int64_t*>(pair[0]) +
                               *static_cast<const double*>(pair[1]);
}
int calls = 0;
void CountCalls(void* out, const void** in) {
  ++calls;
  *static_cast<int32_t*>(out) = *static_cast<const int32_t*>(in[0]) + 1;
}
void NoArguments(void* out, const void**) { *static_cast<double*>(out) = 2.5; }

const CustomCallFunctions kFunctions = {{"myfunc", MyFunction},
                                        {"swap", Swap},
                                        {"mixed", Mixed},
                                        {"count", CountCalls},
                                        {"none", NoArguments}};

absl::StatusOr<Literal> ValueOf(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  if (!module.ok()) return module.status();
  auto oracle = MakeOracle(kFunctions);
  absl::StatusOr<Expectation> expectation =
      oracle->Expect(**module, {}, Profile::Strict(), Limits{});
  absl::StatusOr<Literal> value = oracle->Evaluate(**module, {}, Limits{});
  if (value.ok()) {
    EXPECT_TRUE(expectation.ok()) << expectation.status();
    if (expectation.ok()) {
      EXPECT_EQ(Judge(*expectation, *value).verdict, Verdict::kPass);
    }
  }
  return value;
}

// Tests what the documents say of custom calls: each line of testdata/custom_call_rows.txt is one
// test.
TEST(CustomCallRows, EveryRowOfTheDocuments) {
  Observations see;
  see["ex-custom-call-myfunc"] = [] {
    absl::StatusOr<Literal> z = ValueOf(R"(HloModule m
ENTRY e {
  x = f32[2] constant({1, 2})
  y = f32[2,3] constant({{10, 20, 30}, {40, 50, 60}})
  ROOT z = f32[3,3] custom-call(x, y), custom_call_target="myfunc"
})");
    return StrCat(z->shape().ToString(), " z[0][0] = ", z->data<float>()[0]);
  };
  see["attr-custom-call-args"] = [] {
    return Text(ValueOf(R"(HloModule m
ENTRY e {
  x = f32[2] constant({1, 1.5})
  n = s8[] constant(-2)
  a = s64[] constant(1000)
  b = f64[] constant(0.25)
  t = (s64[], f64[]) tuple(a, b)
  ROOT r = f64[] custom-call(x, n, t), custom_call_target="mixed"
})"));
  };
  see["attr-custom-call-target-name"] = [] {
    const std::string of = R"(HloModule m
ENTRY e {
  a = s32[] constant(41)
  ROOT r = s32[] custom-call(a), custom_call_target=)";
    const auto read = ReadModule(StrCat(of, "\"count\"\n}"));
    const absl::StatusOr<Literal> unknown = ValueOf(StrCat(of, "\"nobody\"\n}"));
    return StrCat((*read)->entry()->root()->attributes().String(Attr::kCustomCallTarget), " ",
                  Text(ValueOf(StrCat(of, "\"count\"\n}"))), "; ", Name(ClassOf(unknown.status())),
                  ": ", Text(unknown));
  };
  // One C type for functions of none, of one and of two arguments, of scalars, arrays and tuples.
  see["shape-custom-call-signature"] = [] {
    static_assert(std::is_same_v<CustomCallFunction, void (*)(void*, const void**)>);
    return StrCat(Text(ValueOf(R"(HloModule m
ENTRY e {
  ROOT r = f64[] custom-call(), custom_call_target="none"
})")),
                  " ", Text(ValueOf(R"(HloModule m
ENTRY e {
  a = s32[] constant(41)
  ROOT r = s32[] custom-call(a), custom_call_target="count"
})")),
                  " ", Text(ValueOf(R"(HloModule m
ENTRY e {
  a = s32[] constant(1)
  b = s32[] constant(2)
  t = (s32[], s32[]) tuple(a, b)
  ROOT r = (s32[], s32[]) custom-call(t), custom_call_target="swap"
})")));
  };
  // Without users it need not be called; with two it may be called as often as one likes.
  see["shape-custom-call-pure"] = [] {
    calls = 0;
    const std::string unused = Text(ValueOf(R"(HloModule m
ENTRY e {
  a = s32[] constant(1)
  dead = s32[] custom-call(a), custom_call_target="count"
  ROOT r = s32[] negate(a)
})"));
    const int without_users = calls;
    const std::string twice = Text(ValueOf(R"(HloModule m
ENTRY e {
  a = s32[] constant(1)
  b = s32[] custom-call(a), custom_call_target="count"
  c = s32[] custom-call(a), custom_call_target="count"
  ROOT r = s32[] multiply(b, c)
})"));
    return StrCat(unused, " after ", without_users, " calls; ", twice, " after ",
                  calls > 0 ? "some" : "no", " calls");
  };
  CheckRowTable("reference/testdata/custom_call_rows.txt", see);
}

// Shapes and options that do not fit the target, a case of testdata/custom_call_rejected.txt each:
// an error, whatever the values.
TEST(CustomCallTest, WhatDoesNotFitIsAnError) {
  CasesForTest cases("reference/testdata/custom_call_rejected.txt",
                     {"operands", "result", "target", "options", "expect"});
  EXPECT_GT(cases.blocks().size(), 15u);
  for (const CaseBlock& block : cases.blocks()) {
    SCOPED_TRACE(block.name);
    ASSERT_NE(block.Find("expect"), nullptr);
    std::string body, names;
    int count = 0;
    for (std::string rest(block.Value("operands")); !rest.empty();) {
      const size_t end = rest.find("], ");
      const std::string shape = rest.substr(0, end == std::string::npos ? end : end + 1);
      rest = end == std::string::npos ? "" : rest.substr(end + 3);
      const std::string rank_zero = shape.substr(0, shape.find('['));
      StrAppend(&body, "  z", count, " = ", rank_zero,
                rank_zero[0] == 'c' ? "[] constant((0, 0))\n  a" : "[] constant(0)\n  a", count,
                " = ", shape, " broadcast(z", count, "), dimensions={}\n");
      StrAppend(&names, count == 0 ? "" : ", ", "a", count);
      ++count;
    }
    const std::string text =
        StrCat("HloModule m\nENTRY e {\n", body, "  ROOT r = ", block.Value("result"),
               " custom-call(", names, "), custom_call_target=\"", block.Value("target"), "\"",
               block.Value("options"), "\n}");
    const absl::StatusOr<Literal> value = ValueOf(text);
    ASSERT_FALSE(value.ok());
    EXPECT_EQ(ClassOf(value.status()), ErrorClass::kUnsupported) << value.status();
    if (ToStd(value.status().message()).find(block.Value("expect")) == std::string_view::npos)
      cases.ExpectValue(*block.Find("expect"), std::string(value.status().message()));
  }
}

// Signs of eigenvectors are free, what they are is not.
TEST(CustomCallTest, EigenvectorsAreJudgedByTheirProperty) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(R"(HloModule m
ENTRY e {
  a = f64[3,3] constant({{4, 1, 0}, {1, 3, 2}, {0, 2, -5}})
  c = (f64[3,3], f64[3], s32[]) custom-call(a), custom_call_target="lapack_dsyevd_ffi", backend_config={mode = 86 : ui8, uplo = 76 : ui8}
  v = f64[3,3] get-tuple-element(c), index=0
  ROOT t = f64[3,3] transpose(v), dimensions={1,0}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  auto oracle = MakeOracle();
  const auto expectation = oracle->Expect(**module, {}, Profile::Xla(), Limits{});
  absl::StatusOr<Literal> value = oracle->Evaluate(**module, {}, Limits{});
  ASSERT_TRUE(expectation.ok() && value.ok()) << expectation.status() << value.status();
  EXPECT_EQ(Judge(*expectation, *value).verdict, Verdict::kPass);
  Literal flipped = *value;
  for (int64_t i = 0; i < 3; ++i) flipped.SetDouble(i, -flipped.GetDouble(i));
  EXPECT_EQ(Judge(*expectation, flipped).verdict, Verdict::kPass);
  Literal moved = *value;
  moved.SetDouble(4, moved.GetDouble(4) + 1e-12);
  EXPECT_EQ(Judge(*expectation, moved).verdict, Verdict::kFail);
  Literal exchanged = *value;
  for (int64_t i = 0; i < 3; ++i) {
    exchanged.SetDouble(i, value->GetDouble(3 + i));
    exchanged.SetDouble(3 + i, value->GetDouble(i));
  }
  EXPECT_EQ(Judge(*expectation, exchanged).verdict, Verdict::kFail);
}

// Counts the elements of the results of the root that are open, and those that are wrong, where
// they were seen inside a program, with `change` added to one element of the first.
std::pair<int64_t, int64_t> OpenAndWrongInside(const std::string& text, int64_t element,
                                               double change) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  auto oracle = MakeOracle();
  const absl::StatusOr<Literal> value = oracle->Evaluate(**module, {}, Limits{});
  EXPECT_TRUE(value.ok()) << value.status();
  Captures captures;
  captures.keeps_open = true;
  for (const Literal* leaf : Leaves(*value)) {
    const auto number = static_cast<int64_t>(captures.values.size());
    captures.values.push_back({(*module)->entry()->root(), number, *leaf});
  }
  Literal& first = captures.values[0].values;
  first.SetDouble(element, first.GetDouble(element) + change);
  int64_t open = 0, wrong = 0;
  captures.visit = [&](const CaptureVisit& visit) {
    const auto undecided =
        static_cast<int64_t>(UndecidedElements(visit.expected, *visit.seen).size());
    open += undecided;
    wrong += static_cast<int64_t>(OpenElements(visit.expected, *visit.seen).size()) - undecided;
  };
  const auto expected = oracle->ExpectFrom(**module, {}, captures, Profile::Xla(), Limits{});
  EXPECT_TRUE(expected.ok()) << expected.status();
  return {open, wrong};
}

using OpenAndWrong = std::pair<int64_t, int64_t>;

// Eigenvectors that were seen inside a program have their property or are wrong.
TEST(CustomCallTest, SeenEigenvectorsAreSettledByTheirProperty) {
  constexpr char kEigenvectors[] = R"(HloModule m
ENTRY e {
  a = f64[3,3] constant({{4, 1, 0}, {1, 3, 2}, {0, 2, -5}})
  ROOT c = (f64[3,3], f64[3], s32[]) custom-call(a), custom_call_target="lapack_dsyevd_ffi", backend_config={mode = 86 : ui8, uplo = 76 : ui8}
})";
  EXPECT_EQ(OpenAndWrongInside(kEigenvectors, 4, 0), OpenAndWrong(0, 0));
  EXPECT_EQ(OpenAndWrongInside(kEigenvectors, 4, 1e-12), OpenAndWrong(0, 9));
  // The property says nothing of infinities.
  EXPECT_EQ(OpenAndWrongInside(kEigenvectors, 4, HUGE_VAL), OpenAndWrong(9, 0));
}

// Either element of the first column could be the pivot, so nothing is known of factors and pivots
// one by one, yet l u is p a.
TEST(CustomCallTest, SeenFactorsAreSettledByTheirProduct) {
  constexpr char kFactors[] = R"(HloModule m
ENTRY e {
  a = f64[2,2] constant({{1, 2}, {-1, 1}})
  ROOT c = (f64[2,2], s32[2], s32[]) custom-call(a), custom_call_target="lapack_dgetrf_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={}
})";
  EXPECT_EQ(OpenAndWrongInside(kFactors, 3, 0), OpenAndWrong(0, 0));
  // The pivots by themselves may be right.
  EXPECT_EQ(OpenAndWrongInside(kFactors, 3, 1e-12), OpenAndWrong(3, 4));
}

// Solutions grow with every row, and their errors with them, while l x stays as near to b as it is
// granted.
TEST(CustomCallTest, SeenSolutionsAreSettledByTheirResidual) {
  constexpr char kSystem[] = R"(HloModule m
ENTRY e {
  row = s32[64,64] iota(), iota_dimension=0
  column = s32[64,64] iota(), iota_dimension=1
  below = pred[64,64] compare(row, column), direction=GT
  on = pred[64,64] compare(row, column), direction=EQ
  part = f32[] constant(-0.75)
  parts = f32[64,64] broadcast(part), dimensions={}
  one = f32[] constant(1)
  ones = f32[64,64] broadcast(one), dimensions={}
  zero = f32[] constant(0)
  zeros = f32[64,64] broadcast(zero), dimensions={}
  rest = f32[64,64] select(below, parts, zeros)
  l = f32[64,64] select(on, ones, rest)
  b = f32[64,1] broadcast(one), dimensions={}
  ROOT x = f32[64,1] triangular-solve(l, b), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE
})";
  EXPECT_EQ(OpenAndWrongInside(kSystem, 0, 0), OpenAndWrong(0, 0));
  EXPECT_EQ(OpenAndWrongInside(kSystem, 0, 0.5), OpenAndWrong(64, 0));
}

// The verdict on an answer of one array with its elements in place of the oracle's.
Verdict VerdictOn(const std::string& text, absl::Span<const double> parts) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  const auto expectation = MakeOracle()->Expect(**module, {}, Profile::Strict(), Limits{});
  EXPECT_TRUE(expectation.ok()) << expectation.status();
  Literal answer = expectation->leaves[0].plain;
  EXPECT_EQ(answer.component_count(), static_cast<int64_t>(parts.size()));
  for (size_t k = 0; k < parts.size(); ++k)
    answer.SetComponentBits(static_cast<int64_t>(k), std::bit_cast<uint64_t>(parts[k]));
  return Judge(*expectation, answer).verdict;
}

// Eigenvalues 2 + i, 2 - i and 5, in any order; real and imaginary parts come in two arrays.
constexpr char kEigenvalues[] = R"(HloModule m
ENTRY e {
  a = f64[3,3] constant({{2, -1, 7}, {1, 2, 3}, {0, 0, 5}})
  c = (f64[3], f64[3], c128[3,3], c128[3,3], s32[]) custom-call(a), custom_call_target="lapack_dgeev_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={compute_left = 78 : ui8, compute_right = 78 : ui8}
  wr = f64[3] get-tuple-element(c), index=0
  wi = f64[3] get-tuple-element(c), index=1
  ROOT w = c128[3] complex(wr, wi)
})";

TEST(CustomCallTest, EigenvaluesComeInAnyOrder) {
  EXPECT_EQ(VerdictOn(kEigenvalues, {5, 0, 2, -1, 2, 1}), Verdict::kPass);
  EXPECT_EQ(VerdictOn(kEigenvalues, {2, 1, 2, -1, 5, 0}), Verdict::kPass);
}

TEST(CustomCallTest, WrongEigenvaluesFail) {
  EXPECT_EQ(VerdictOn(kEigenvalues, {5.0001, 0, 2, -1, 2, 1}), Verdict::kFail);
  // Each is an eigenvalue, together they are not all of them.
  EXPECT_EQ(VerdictOn(kEigenvalues, {5, 0, 5, 0, 2, 1}), Verdict::kFail);
  EXPECT_EQ(VerdictOn(kEigenvalues, {2, 1, 2, 1, 5, 0}), Verdict::kFail);
  EXPECT_EQ(VerdictOn(kEigenvalues, {0, 0, 0, 0, 0, 0}), Verdict::kFail);
}

// The Schur form of a matrix that has it already: the signs of off-diagonal elements are free, the
// diagonal is not.
TEST(CustomCallTest, SchurFormIsJudgedByItsProperty) {
  constexpr char kSchur[] = R"(HloModule m
ENTRY e {
  a = f64[2,2] constant({{2, 3}, {0, 4}})
  c = (f64[2,2], f64[2,2], f64[2], f64[2], s32[], s32[]) custom-call(a), custom_call_target="lapack_dgees_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : ui8, sort = 78 : ui8}
  ROOT t = f64[2,2] get-tuple-element(c), index=0
})";
  EXPECT_EQ(VerdictOn(kSchur, {2, 3, 0, 4}), Verdict::kPass);
  EXPECT_EQ(VerdictOn(kSchur, {2, -3, 0, 4}), Verdict::kPass);
  EXPECT_EQ(VerdictOn(kSchur, {4, 3, 0, 2}), Verdict::kPass);
  EXPECT_EQ(VerdictOn(kSchur, {2, 3.001, 0, 4}), Verdict::kFail);
  EXPECT_EQ(VerdictOn(kSchur, {2, 3, 0, 4.001}), Verdict::kFail);
  EXPECT_EQ(VerdictOn(kSchur, {2, 3, 1e-9, 4}), Verdict::kFail);
}

// Columns that are nearly dependent: no element of q's second column or of r's corner is known,
// yet q r is a.
constexpr char kDependentColumns[] = R"(HloModule m
ENTRY e {
  a = f64[3,2] constant({{3, 3}, {4, 4}, {0, 0}})
  c = (f64[3,2], f64[2]) custom-call(a), custom_call_target="lapack_dgeqrf_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={}
  f = f64[3,2] get-tuple-element(c), index=0
  t = f64[2] get-tuple-element(c), index=1
  q = f64[3,2] custom-call(f, t), custom_call_target="lapack_dorgqr_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={}
  i = s32[2,2] iota(), iota_dimension=0
  j = s32[2,2] iota(), iota_dimension=1
  u = pred[2,2] compare(i, j), direction=LE
  s = f64[2,2] slice(f), slice={[0:2], [0:2]}
  z = f64[] constant(0)
  o = f64[2,2] broadcast(z), dimensions={}
  r = f64[2,2] select(u, s, o)
  ROOT x = f64[5,2] concatenate(q, r), dimensions={0}
})";

TEST(CustomCallTest, FactorsOfDependentColumnsAreJudgedByTheirProduct) {
  const std::vector<double> factors = {-.6, -.8, -.8, .6, 0, 0, -5, -5, 0, 1e-16};
  EXPECT_EQ(VerdictOn(kDependentColumns, factors), Verdict::kPass);
  EXPECT_EQ(VerdictOn(kDependentColumns, {-.6, 0, -.8, 0, 0, 1, -5, -5, 0, 0}), Verdict::kPass);
  // q's second column may turn out of the plane of a; all else counts.
  for (size_t k : {0, 1, 2, 3, 4, 6, 7, 8, 9}) {
    std::vector<double> moved = factors;
    moved[k] += 1e-12;
    EXPECT_EQ(VerdictOn(kDependentColumns, moved), Verdict::kFail) << k;
  }
}

// A pivot that may be lost in rounding: the corner is anything small, or there is no factor at all.
constexpr char kNearlySingular[] = R"(HloModule m
ENTRY e {
  a = f64[2,2] constant({{1, 7}, {1, 1.0000000000000002}})
  c = (f64[2,2], s32[]) custom-call(a), custom_call_target="lapack_dpotrf_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}
  l = f64[2,2] get-tuple-element(c), index=0
  info = s32[] get-tuple-element(c), index=1
  z = s32[] constant(0)
  p = pred[] compare(info, z), direction=EQ
  b = pred[2,2] broadcast(p), dimensions={}
  nan = f64[] constant(nan)
  n = f64[2,2] broadcast(nan), dimensions={}
  ROOT x = f64[2,2] select(b, l, n)
})";

TEST(CustomCallTest, FactorsOfNearlySingularMatricesAreJudgedByTheirProduct) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double other : {0.0, 7.0}) {
    EXPECT_EQ(VerdictOn(kNearlySingular, {1, other, 1, 1.4901161193847656e-08}), Verdict::kPass);
    EXPECT_EQ(VerdictOn(kNearlySingular, {1, other, 1, 3e-08}), Verdict::kPass);
    EXPECT_EQ(VerdictOn(kNearlySingular, {1, other, 1, 1e-06}), Verdict::kFail);
    EXPECT_EQ(VerdictOn(kNearlySingular, {1, other, 1 + 1e-12, 1e-08}), Verdict::kFail);
  }
  EXPECT_EQ(VerdictOn(kNearlySingular, {nan, nan, nan, nan}), Verdict::kPass);
  EXPECT_EQ(VerdictOn(kNearlySingular, {1, 8, 1, 1e-08}), Verdict::kFail);
  EXPECT_EQ(VerdictOn(kNearlySingular, {1, 0, 1, -1e-08}), Verdict::kFail);
}

}  // namespace
}  // namespace assay
