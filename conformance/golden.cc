#include "conformance/golden.h"

#include <charconv>
#include <cmath>

#include "conformance/case_files.h"
#include "spec/base/strings.h"
#include "spec/numerics/expectation.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

bool HasNan(const Literal& literal, int64_t component) {
  return BoundsPerElement(literal.element_type()) != 0 &&
         IsNanCode(Format(literal.element_type()), literal.GetComponentBits(component));
}

bool SameBits(const GoldenCase& golden, const Literal& want, const Literal& got, int64_t k) {
  if (want.GetComponentBits(k) == got.GetComponentBits(k)) return true;
  return golden.comparison != GoldenComparison::kBits && HasNan(want, k) && HasNan(got, k);
}

// Within so many units of the modulus.
bool IsNear(const Literal& want, const Literal& got, int64_t i, double ulps) {
  const double distance = std::hypot(got.GetComponent(2 * i) - want.GetComponent(2 * i),
                                     got.GetComponent(2 * i + 1) - want.GetComponent(2 * i + 1));
  const double modulus = std::hypot(want.GetComponent(2 * i), want.GetComponent(2 * i + 1));
  return distance <= ulps * std::ldexp(modulus, 1 - Format(want.element_type()).precision());
}

bool SameElement(const GoldenCase& golden, const Literal& want, const Literal& got, int64_t i) {
  const bool is_complex = IsComplex(want.element_type());
  if (is_complex) {
    if (SameBits(golden, want, got, 2 * i) && SameBits(golden, want, got, 2 * i + 1)) return true;
    return golden.comparison == GoldenComparison::kUlp &&
           IsNear(want, got, i, static_cast<double>(golden.ulps));
  }
  if (SameBits(golden, want, got, i)) return true;
  if (golden.comparison != GoldenComparison::kUlp || !IsFloat(want.element_type())) return false;
  if (HasNan(want, i) || HasNan(got, i)) return false;
  // Infinities and zeros are special values, not neighbours of what lies beside them.
  double value = want.GetDouble(i);
  if (value == 0 || std::isinf(value) || std::isinf(got.GetDouble(i))) return false;
  return UlpDistance(Format(want.element_type()), want.GetBits(i), got.GetBits(i)) <= golden.ulps;
}

std::string ElementText(const Literal& literal, int64_t i) {
  Literal one(Shape::Scalar(literal.element_type()));
  const size_t width = static_cast<size_t>(StorageBytes(literal.element_type()));
  std::memcpy(one.bytes().data(), literal.bytes().data() + static_cast<size_t>(i) * width, width);
  return one.ToString();
}

}  // namespace

std::string CompareGolden(const GoldenCase& golden, const GoldenCase::Row& row,
                          const Literal& got) {
  std::vector<const Literal*> leaves = Leaves(got);
  if (leaves.size() != row.expected.size()) {
    return StrCat("the result has ", leaves.size(), " leaves, expected ", row.expected.size());
  }
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const Literal& want = row.expected[leaf];
    if (!Compatible(leaves[leaf]->shape(), want.shape())) {
      return StrCat("out", leaf, " is ", leaves[leaf]->shape().ToString(), ", expected ",
                    want.shape().ToString());
    }
    for (int64_t i = 0; i < want.element_count(); ++i) {
      if (SameElement(golden, want, *leaves[leaf], i)) continue;
      return StrCat("out", leaf, " element ", i, " is ", ElementText(*leaves[leaf], i),
                    ", expected ", ElementText(want, i),
                    golden.comparison == GoldenComparison::kUlp
                        ? StrCat(" within ", golden.ulps, " ulps")
                        : "");
    }
  }
  return "";
}

GoldenResult RunGolden(const GoldenCase& golden, Backend& backend, const CompileOptions& options) {
  GoldenResult result;
  result.name = golden.name;
  auto failed_with = [&](const absl::Status& status) {
    ErrorClass error = ClassOf(status);
    result.status = error == ErrorClass::kUnsupported ? "unsupported"
                    : error == ErrorClass::kRejected  ? "failed"
                                                      : "crashed";
    result.detail = StrCat(Name(error), ": ", ToStd(status.message()));
    return result;
  };
  absl::StatusOr<std::unique_ptr<Executable>> executable = backend.Compile(*golden.module, options);
  if (!executable.ok()) return failed_with(executable.status());
  for (size_t i = 0; i < golden.rows.size(); ++i) {
    absl::StatusOr<RunResult> run = (*executable)->Run({Pointers(golden.rows[i].inputs)});
    if (!run.ok()) return failed_with(run.status());
    std::string difference = CompareGolden(golden, golden.rows[i], run->outputs[0]);
    if (difference.empty()) continue;
    result.status = "failed";
    result.detail = StrCat("row ", i + 1, ": ", difference, " (", golden.citation, ")");
    return result;
  }
  result.status = "passed";
  return result;
}

}  // namespace assay
