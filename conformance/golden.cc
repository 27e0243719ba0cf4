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

namespace {

// `got` against the values of `expected` from `first` on.
std::string CompareLeaves(const GoldenCase& golden, const std::vector<Literal>& expected,
                          size_t first, size_t count, const std::vector<const Literal*>& leaves,
                          std::string_view what) {
  if (leaves.size() != count) {
    return StrCat("the result has ", leaves.size(), " leaves, expected ", count);
  }
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const Literal& want = expected[first + leaf];
    if (!Compatible(leaves[leaf]->shape(), want.shape())) {
      return StrCat(what, leaf, " is ", leaves[leaf]->shape().ToString(), ", expected ",
                    want.shape().ToString());
    }
    for (int64_t i = 0; i < want.element_count(); ++i) {
      if (SameElement(golden, want, *leaves[leaf], i)) continue;
      return StrCat(what, leaf, " element ", i, " is ", ElementText(*leaves[leaf], i),
                    ", expected ", ElementText(want, i),
                    golden.comparison == GoldenComparison::kUlp
                        ? StrCat(" within ", golden.ulps, " ulps")
                        : "");
    }
  }
  return "";
}

std::string CompareRun(const GoldenCase& golden, const GoldenCase::Row& row, const RunResult& run) {
  const size_t devices = run.outputs.size();
  const int64_t wanted = golden.devices.replicas * golden.devices.partitions;
  if (static_cast<int64_t>(devices) != wanted)
    return StrCat("there are outputs of ", devices, " devices, expected ", wanted);
  const size_t leaves = row.expected.size() / devices;
  for (size_t d = 0; d < devices; ++d) {
    std::string difference =
        CompareLeaves(golden, row.expected, d * leaves, leaves, Leaves(run.outputs[d]), "out");
    if (difference.empty() && !row.outfeed.empty()) {
      std::vector<const Literal*> items;
      if (d < run.outfeeds.size()) {
        for (const Literal& item : run.outfeeds[d])
          for (const Literal* leaf : Leaves(item)) items.push_back(leaf);
      }
      difference =
          CompareLeaves(golden, row.outfeed[d], 0, row.outfeed[d].size(), items, "outfeed");
    }
    if (!difference.empty())
      return devices == 1 ? difference : StrCat("device ", d, ": ", difference);
  }
  return "";
}

}  // namespace

std::string CompareGolden(const GoldenCase& golden, const GoldenCase::Row& row,
                          const Literal& got) {
  return CompareLeaves(golden, row.expected, 0, row.expected.size(), Leaves(got), "out");
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
  CompileOptions compile = options;
  compile.devices = golden.devices;
  absl::StatusOr<std::unique_ptr<Executable>> executable = backend.Compile(*golden.module, compile);
  if (!executable.ok()) return failed_with(executable.status());
  const auto parameters = static_cast<size_t>(golden.module->entry()->parameter_count());
  for (size_t i = 0; i < golden.rows.size(); ++i) {
    const GoldenCase::Row& row = golden.rows[i];
    std::vector<std::vector<const Literal*>> arguments(
        static_cast<size_t>(golden.devices.replicas * golden.devices.partitions));
    for (size_t d = 0; d < arguments.size(); ++d)
      for (size_t p = 0; p < parameters; ++p)
        arguments[d].push_back(&row.inputs[d * parameters + p]);
    if (!row.infeed.empty()) {
      const absl::Status fed = (*executable)->SetInfeed(row.infeed);
      if (!fed.ok()) return failed_with(fed);
    }
    absl::StatusOr<RunResult> run = (*executable)->Run(arguments);
    std::string difference;
    if (!row.error.empty()) {
      if (!run.ok() && ClassOf(run.status()) == ErrorClass::kUnsupported)
        return failed_with(run.status());
      const bool says_so =
          !run.ok() && ToStd(run.status().message()).find(row.error) != std::string_view::npos;
      if (!says_so) {
        difference = StrCat("expected an error with \"", row.error, "\", got ",
                            run.ok() ? "an answer" : ToStd(run.status().message()));
      }
    } else if (!run.ok()) {
      return failed_with(run.status());
    } else {
      difference = CompareRun(golden, row, *run);
    }
    if (difference.empty()) continue;
    result.status = "failed";
    result.detail = StrCat("row ", i + 1, ": ", difference, " (", golden.citation, ")");
    return result;
  }
  result.status = "passed";
  return result;
}

}  // namespace assay
