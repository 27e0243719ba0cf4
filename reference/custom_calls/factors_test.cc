// Factorisations of matrices that are hard on them: of any rank, with equal values and vectors,
// graded over the range of their type, tiny, huge, subnormal. What the oracle computes must be
// right by its own bounds, or open.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/custom_calls/custom_call.h"
#include "reference/testing/random.h"
#include "spec/base/strings.h"
#include "spec/numerics/open_elements.h"
#include "spec/text/reader.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

// A routine's results and options, for matrices of m rows and n columns whose elements are E, with
// parts R, and whose eigenvalues are C; k is the smaller of m and n.
struct Routine {
  const char *name, *results, *config;
  bool square;
};
constexpr Routine kRoutines[] = {
    {"gesdd", "E[m,n], R[k], E[m,m], E[n,n], s32[]", "mode = 65 : ui8", false},
    {"gesdd", "E[m,n], R[k], E[m,k], E[k,n], s32[]", "mode = 83 : ui8", false},
    {"syevd", "E[n,n], R[n], s32[]", "mode = 86 : ui8, uplo = 76 : ui8", true},
    {"geev", "V, C[n,n], C[n,n], s32[]", "compute_left = 86 : ui8, compute_right = 86 : ui8", true},
    {"gees", "E[n,n], E[n,n], V, s32[], s32[]", "mode = 86 : ui8, sort = 78 : ui8", true},
    {"gehrd", "E[n,n], E[j], s32[]", "", true},
    {"sytrd", "E[n,n], R[n], R[j], E[j], s32[]", "uplo = 85 : ui8", true},
    {"geqrf", "E[m,n], E[k]", "", false},
    {"getrf", "E[m,n], s32[k], s32[]", "", false},
    {"potrf", "E[n,n], s32[]", "uplo = 76 : ui8", true},
};

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string TextOf(const Routine& routine, ElementType type, int64_t m, int64_t n) {
  const bool is_complex = IsComplex(type);
  const ElementType part = is_complex ? ComponentType(type) : type;
  const bool is_double = part == ElementType::kF64;
  std::string results = Replaced(routine.results, "V", is_complex ? "E[n]" : "E[n], E[n]");
  results = Replaced(results, "E", std::string(Name(type)));
  results = Replaced(results, "R", std::string(Name(part)));
  results = Replaced(results, "C", is_double ? "c128" : "c64");
  for (const auto& [letter, size] : std::vector<std::pair<char, int64_t>>{
           {'m', m}, {'n', n}, {'k', std::min(m, n)}, {'j', std::max<int64_t>(n - 1, 0)}}) {
    results = Replaced(results, StrCat("[", std::string(1, letter), "]"), StrCat("[", size, "]"));
    results = Replaced(results, StrCat("[", std::string(1, letter), ","), StrCat("[", size, ","));
    results = Replaced(results, StrCat(",", std::string(1, letter), "]"), StrCat(",", size, "]"));
  }
  std::string name = routine.name;
  if (is_complex && name == "syevd") name = "heevd";
  if (is_complex && name == "sytrd") name = "hetrd";
  const char letter = is_complex ? (is_double ? 'z' : 'c') : (is_double ? 'd' : 's');
  return StrCat("HloModule m\nENTRY e {\n  a = ", Name(type), "[", m, ",", n,
                "] parameter(0)\n  ROOT c = (", results,
                ") custom-call(a), custom_call_target=", "\"lapack_", std::string(1, letter), name,
                "_ffi\", backend_config={", routine.config, "}\n}\n");
}

// One part of a matrix of m rows and n columns, by one of the ways to be hard.
std::vector<double> Numbers(Random& random, int64_t m, int64_t n, int64_t kind, int most) {
  std::vector<double> a(static_cast<size_t>(m * n));
  const int64_t rank = random.Below(std::min(m, n) + 1);
  std::vector<double> left(static_cast<size_t>(m * rank)), right(static_cast<size_t>(rank * n));
  for (double& x : left) x = random.Between(-2, 2);
  for (double& x : right) x = random.Between(-2, 2);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double& x = a[i * n + j];
      if (kind == 0)
        for (int64_t k = 0; k < rank; ++k) x += left[i * rank + k] * right[k * n + j];
      if (kind == 1) x = 1.25;
      if (kind == 2) x = static_cast<double>(i);
      if (kind == 3) x = static_cast<double>(random.Below(3) - 1);
      if (kind == 4)
        x = std::ldexp(random.Between(-2, 2), static_cast<int>(random.Below(most)) - most / 2);
      if (kind == 5) x = std::ldexp(random.Between(-2, 2), -static_cast<int>(i * most / 16));
      if (kind == 6) x = j == i + 1 ? 1 : i == j && i % 3 == 0 ? 2 : 0;  // defective
      if (kind == 7) x = i == j ? 3 : 0;
    }
  }
  return a;
}

Literal MatrixOfKind(Random& random, ElementType type, int64_t m, int64_t n) {
  const ElementType part = IsComplex(type) ? ComponentType(type) : type;
  const FloatFormat& format = Format(part);
  const int64_t kind = random.Below(8);
  const int most = std::ilogb(format.MaxFinite());
  constexpr double kSpecial[] = {std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  int scale = 0;
  switch (random.Below(8)) {
    case 0:
      scale = std::ilogb(format.MinNormal()) + 1;
      break;
    case 1:
      scale = std::ilogb(format.MinSubnormal()) + 3;
      break;
    case 2:
      scale = most / 2 - 3;
      break;
    case 3:
      scale = most - 4;
      break;
    default:
      break;
  }
  Literal matrix(Shape::Array(type, {m, n}));
  const int64_t parts = IsComplex(type) ? 2 : 1;
  for (int64_t p = 0; p < parts; ++p) {
    const std::vector<double> numbers = Numbers(random, m, n, kind, most);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double x =
          random.OneIn(2000) ? kSpecial[random.Below(2)] : std::ldexp(numbers[i], scale);
      matrix.SetComponentBits(static_cast<int64_t>(i) * parts + p, EncodeFloat(format, x));
    }
  }
  return matrix;
}

TEST(Factors, OfHardMatricesAreRightOrOpen) {
  constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF64, ElementType::kC64,
                                    ElementType::kC128};
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17};
  Random random(20261123);
  const auto oracle = MakeOracle({});
  int64_t decided = 0, open = 0;
  for (int repeat = 0; repeat < 60; ++repeat) {
    for (const Routine& routine : kRoutines) {
      const ElementType type = kTypes[random.Below(4)];
      const int64_t m = kSizes[random.Below(10)];
      const int64_t n = routine.square || random.Coin() ? m : kSizes[random.Below(10)];
      const std::string text = TextOf(routine, type, m, n);
      const auto module = ReadModule(text);
      ASSERT_TRUE(module.ok()) << module.status() << text;
      const Literal matrix = MatrixOfKind(random, type, m, n);
      const std::vector<const Literal*> inputs = {&matrix};
      const auto value = oracle->Evaluate(**module, inputs, Limits{});
      ASSERT_TRUE(value.ok()) << value.status() << text;
      for (const Profile* profile : {&Profile::Strict(), &Profile::Xla()}) {
        const auto expectation = oracle->Expect(**module, inputs, *profile, Limits{});
        ASSERT_TRUE(expectation.ok()) << expectation.status() << text << matrix.ToString();
        const Judgement judgement = Judge(*expectation, *value);
        EXPECT_NE(judgement.verdict, Verdict::kFail) << judgement.reason << "\n"
                                                     << text << matrix.ToString();
        decided += judgement.passed;
        open += judgement.inconclusive;
      }
    }
  }
  // Open is what is not promised, and what overflows; most of the rest is not.
  EXPECT_GT(decided, open);
}

}  // namespace
}  // namespace assay::reference
