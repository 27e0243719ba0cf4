// Compares answers with goldens, and runs goldens on backends.
#include "conformance/golden.h"

#include <charconv>
#include <cmath>

#include "nlohmann/json.hpp"
#include "spec/backend/check.h"
#include "spec/base/strings.h"
#include "spec/numerics/expectation.h"
#include "spec/process/isolate.h"
#include "spec/process/shared_array.h"
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

namespace {

// The devices with the inputs of a row.
CheckCase CaseOf(const GoldenCase& golden, const GoldenCase::Row& row) {
  const auto parameters = static_cast<size_t>(golden.module->entry()->parameter_count());
  const auto devices = static_cast<size_t>(golden.devices.replicas * golden.devices.partitions);
  std::vector<std::vector<const Literal*>> arguments(devices);
  for (size_t d = 0; d < devices; ++d) {
    for (size_t p = 0; p < parameters; ++p) arguments[d].push_back(&row.inputs[d * parameters + p]);
  }
  return {*golden.module, std::move(arguments), golden.devices, row.infeed};
}

Outcome RunRow(const GoldenCase& golden, const GoldenCase::Row& row, Executable& executable) {
  const absl::StatusOr<RunResult> run = RunOn(executable, CaseOf(golden, row));
  const bool unsupported = !run.ok() && ClassOf(run.status()) == ErrorClass::kUnsupported;
  if (unsupported || (!run.ok() && row.error.empty())) return OutcomeOf(run.status(), Phase::kRun);
  if (row.error.empty()) {
    std::string difference = CompareRun(golden, row, *run);
    const Outcome::Kind kind = difference.empty() ? Outcome::kPassed : Outcome::kWrong;
    return MakeOutcome(kind, Phase::kJudge, std::move(difference));
  }
  const bool says_so =
      !run.ok() && ToStd(run.status().message()).find(row.error) != std::string_view::npos;
  if (says_so) return MakeOutcome(Outcome::kPassed, Phase::kJudge);
  return MakeOutcome(Outcome::kWrong, Phase::kJudge,
                     StrCat("expected an error with \"", row.error, "\", got ",
                            run.ok() ? "an answer" : ToStd(run.status().message())));
}

Outcome RunRows(const GoldenCase& golden, Backend& backend, CompileOptions options,
                std::atomic<Phase>* note) {
  auto enter = [&](Phase phase) {
    if (note != nullptr) note->store(phase);
  };
  enter(Phase::kCompile);
  options.devices = golden.devices;
  const absl::StatusOr<std::unique_ptr<Executable>> executable =
      backend.Compile(*golden.module, options);
  if (!executable.ok()) return OutcomeOf(executable.status(), Phase::kCompile);
  enter(Phase::kRun);
  for (size_t i = 0; i < golden.rows.size(); ++i) {
    Outcome outcome = RunRow(golden, golden.rows[i], **executable);
    if (outcome.kind == Outcome::kPassed) continue;
    if (outcome.kind == Outcome::kWrong) {
      outcome.reason = StrCat("row ", i + 1, ": ", outcome.reason, " (", golden.citation, ")");
    }
    return outcome;
  }
  return MakeOutcome(Outcome::kPassed, Phase::kJudge);
}

}  // namespace

GoldenResult RunGolden(const GoldenCase& golden, Backend& backend, const CompileOptions& options,
                       std::atomic<Phase>* note) {
  return {golden.name, RunRows(golden, backend, options, note)};
}

GoldenResult RunGoldenIsolated(
    const GoldenCase& golden,
    const std::function<absl::StatusOr<std::unique_ptr<Backend>>()>& make_backend,
    const CompileOptions& options) {
  SharedArray<std::atomic<Phase>> phase(1);
  auto in_child = [&] {
    phase[0].store(Phase::kCompile);
    const absl::StatusOr<std::unique_ptr<Backend>> backend = make_backend();
    const Outcome outcome = backend.ok() ? RunRows(golden, **backend, options, &phase[0])
                                         : MakeOutcome(Outcome::kSickMachine, Phase::kStart,
                                                       std::string(backend.status().message()));
    return ToJson(outcome).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  // Compilation and run each have the limit of time to themselves.
  const Isolated child =
      RunIsolated(in_child, {2 * options.limits.seconds, options.limits.memory_bytes, true});
  const nlohmann::json json = nlohmann::json::parse(child.bytes, nullptr, false);
  if (child.ok() && json.is_object()) {
    try {
      return {golden.name, OutcomeFromJson(json)};
    } catch (const nlohmann::json::exception&) {
      // A child whose memory was trampled on may send anything: it counts as its death.
    }
  }
  return {golden.name, OutcomeOfDeath(child, phase[0].load())};
}

}  // namespace assay
