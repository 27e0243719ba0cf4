// Records and backends as a script has them, for the tests of campaigns.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/tally.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spec/backend/fake_backend.h"
#include "spec/base/strings.h"
#include "spec/numerics/profile.h"

namespace assay {

// Options of a tally that no process works for.
inline CampaignOptions TallyOptions() {
  CampaignOptions options;
  options.backends = {"one", "two"};
  return options;
}

inline BackendRecord Ended(Outcome::Kind kind, std::string text = "") {
  BackendRecord record;
  record.kind = kind;
  record.text = std::move(text);
  return record;
}

inline CaseRecord CaseOf(std::vector<BackendRecord> backends, int64_t index = 0) {
  CaseRecord record;
  record.index = index;
  record.backends = std::move(backends);
  return record;
}

// One suspect of the kind, taken back from the tally.
inline Suspect SuspectOf(Tally& tally, Outcome::Kind kind, std::string text = "") {
  tally.TakeRecord(CaseOf({Ended(kind, std::move(text))}, 7));
  return tally.NextSuspect();
}

inline ConfirmRecord Confirmed(int64_t fails, int64_t runs, Outcome::Kind kind = Outcome::kWrong) {
  ConfirmRecord confirm;
  confirm.fails = fails;
  confirm.runs = runs;
  confirm.record = Ended(kind, "of the second check");
  return confirm;
}

// A confirmed wrong value with this signature; its number.
inline size_t AddWrong(Tally& tally, const std::string& signature,
                       const std::string& notable = "") {
  const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
  ConfirmRecord confirm = Confirmed(3, 3);
  confirm.instructions = 2;
  confirm.signature = signature;
  confirm.notable = notable;
  tally.TakeConfirm(suspect, confirm);
  return static_cast<size_t>(tally.summary().findings) - 1;
}

// An array of the shape: all zeros, or with one element that is not zero.
inline Literal Answer(const Shape& shape, bool wrong) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) elements.push_back(Answer(element, wrong));
    return Literal::Tuple(std::move(elements));
  }
  Literal literal(Shape::Array(shape.element_type(), shape.dimensions()));
  if (wrong && literal.element_count() > 0) literal.SetBits(0, 1);
  return literal;
}

// For this oracle every program returns zeros, exactly.
class ZeroOracle : public Oracle {
 public:
  absl::StatusOr<Literal> Evaluate(const Module& module, const std::vector<const Literal*>&,
                                   const Limits&) override {
    return Answer(module.entry()->root()->shape(), false);
  }
  absl::StatusOr<Expectation> Expect(const Module& module, const std::vector<const Literal*>&,
                                     const Profile&, const Limits&) override {
    Expectation expectation;
    Literal zeros = Answer(module.entry()->root()->shape(), false);
    for (const Literal* leaf : Leaves(zeros)) {
      ArrayExpectation array;
      array.plain = *leaf;
      expectation.leaves.push_back(std::move(array));
    }
    return expectation;
  }
  absl::StatusOr<std::vector<DeviceExpectation>> ExpectDevices(
      const Module& module, const DeviceAssignment& devices,
      const std::vector<DeviceInputs>& inputs, const Profile& profile,
      const Limits& limits) override {
    // Nobody knows what the backend would have to say of items that go out.
    for (const Computation* computation : module.computations()) {
      for (const Instruction* at : *computation) {
        if (at->opcode() != Opcode::kOutfeed) continue;
        return Oracle::ExpectDevices(module, devices, inputs, profile, limits);
      }
    }
    std::vector<DeviceExpectation> all(inputs.size());
    for (DeviceExpectation& one : all) one.result = *Expect(module, {}, profile, limits);
    return all;
  }
};

inline int64_t OutputElements(const Module& module) {
  int64_t count = 0;
  ForEachLeaf(module.entry()->root()->shape(),
              [&](const Shape& leaf, absl::Span<const int64_t>) { count += leaf.ElementCount(); });
  return count;
}

using RunScript = std::function<absl::StatusOr<RunResult>(const Module&)>;

inline FakeBackend::Script Script(RunScript run) {
  FakeBackend::Script script;
  script.description.name = "fake";
  script.description.version = "1";
  script.description.profile = &Profile::Strict();
  script.run = [run](const Module& module, const CompileOptions&,
                     const std::vector<std::vector<const Literal*>>& arguments) {
    absl::StatusOr<RunResult> result = run(module);
    while (result.ok() && !result->outputs.empty() && result->outputs.size() < arguments.size())
      result->outputs.push_back(result->outputs[0]);
    return result;
  };
  return script;
}

inline absl::StatusOr<RunResult> Right(const Module& module) {
  RunResult result;
  result.outputs.push_back(Answer(module.entry()->root()->shape(), false));
  return result;
}

inline absl::StatusOr<RunResult> Wrong(const Module& module) {
  RunResult result;
  bool wrong = OutputElements(module) > 0;
  result.outputs.push_back(Answer(module.entry()->root()->shape(), wrong));
  return result;
}

inline CampaignTools ToolsFor(const FakeBackend::Script& script) {
  CampaignTools tools;
  tools.make_oracle = [] { return std::make_unique<ZeroOracle>(); };
  tools.make_backend = [script](const std::string&) -> absl::StatusOr<std::unique_ptr<Backend>> {
    return std::make_unique<FakeBackend>(script);
  };
  return tools;
}

inline CampaignOptions Options(int64_t count) {
  CampaignOptions options;
  options.seed = 11;
  options.count = count;
  options.jobs = 2;
  options.backends = {"fake"};
  options.case_seconds = 5;
  return options;
}

inline CampaignSummary Fuzz(const CampaignOptions& options, const FakeBackend::Script& script) {
  absl::StatusOr<CampaignSummary> summary = RunCampaign(options, ToolsFor(script));
  EXPECT_TRUE(summary.ok()) << summary.status();
  return summary.ok() ? *std::move(summary) : CampaignSummary();
}

inline int64_t KindCount(const CampaignSummary& summary, Outcome::Kind kind) {
  auto found = summary.kinds.find(std::string(Name(kind)));
  return found == summary.kinds.end() ? 0 : found->second;
}

// Why programs were not compared, apart from what the oracle of scripts has no answer for.
inline std::map<std::string, int64_t> RefusedByBackend(const CampaignSummary& summary) {
  std::map<std::string, int64_t> reasons;
  for (const auto& [reason, count] : summary.unsupported_reasons) {
    if (reason.rfind("oracle: ", 0) != 0) reasons[reason] = count;
  }
  return reasons;
}

// Findings are of one kind alone, and there are some.
inline void ExpectOnly(const CampaignSummary& summary, Outcome::Kind kind) {
  EXPECT_GT(summary.findings, 0) << Name(kind);
  EXPECT_EQ(KindCount(summary, kind), summary.findings) << summary.ToJson().dump(1);
  EXPECT_EQ(summary.unchecked, 0);
}

// Every fifth program or so, by structure alone.
inline bool Picked(const Module& module) {
  return module.Hash() % 5 == 0 && OutputElements(module) > 0;
}

inline std::string FreshFolder(const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / (name + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  return folder.string();
}

}  // namespace assay
