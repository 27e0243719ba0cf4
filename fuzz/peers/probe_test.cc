// Tests what a compiler of few ops and types is asked, and what it then gets.
#include "fuzz/peers/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fuzz/backends/process_backend.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/generator/generate.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/fake_backend.h"
#include "spec/base/error.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// Takes programs of these ops and types alone.
class Partial {
 public:
  Partial(std::set<Opcode> ops, std::set<ElementType> types)
      : ops_(std::move(ops)), types_(std::move(types)) {}

  absl::Status Compile(const Module& module) const {
    for (const Computation* computation : module.computations()) {
      for (const Instruction* at : *computation) {
        if (at->opcode() != Opcode::kParameter && !ops_.contains(at->opcode()))
          return MakeError(ErrorClass::kUnsupported, "no such op");
        absl::Status status;
        ForEachLeaf(at->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
          if (!types_.contains(leaf.element_type()))
            status = MakeError(ErrorClass::kUnsupported, "no such type");
        });
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  std::unique_ptr<Backend> Make() const {
    FakeBackend::Script script;
    script.description.name = "partial";
    script.description.in_process = false;
    script.compile = [*this](const Module& module, const CompileOptions&) {
      return Compile(module);
    };
    return std::make_unique<FakeBackend>(script);
  }

 private:
  std::set<Opcode> ops_;
  std::set<ElementType> types_;
};

GeneratorOptions Portable() {
  GeneratorOptions options;
  options.portable = true;
  return options;
}

using T = ElementType;

struct PartialCase {
  std::set<Opcode> ops;
  std::set<ElementType> types;
};

// Ops and types are told apart, whichever ops there are; the programs that are then made are legal,
// and nearly all are taken.
TEST(ProbeTest, ACompilerOfFewOpsGetsProgramsOfThose) {
  const std::set<Opcode> kElementwise = {Opcode::kAdd, Opcode::kMultiply, Opcode::kNegate};
  for (const PartialCase& one :
       {PartialCase{{Opcode::kAdd, Opcode::kMultiply, Opcode::kDot}, {T::kF32, T::kS32}},
        PartialCase{{Opcode::kDot}, {T::kF32, T::kF64, T::kBF16}},
        PartialCase{{Opcode::kTanh, Opcode::kTuple, Opcode::kConstant}, {T::kF16}},
        PartialCase{kElementwise, {T::kU8}},
        PartialCase{{Opcode::kAnd, Opcode::kNot, Opcode::kCompare, Opcode::kSelect},
                    {T::kPred, T::kS64, T::kU32}},
        PartialCase{{Opcode::kReshape, Opcode::kTranspose, Opcode::kBroadcast, Opcode::kReverse,
                     Opcode::kTuple},
                    {T::kC64, T::kF8E5M2}}}) {
    const Partial partial(one.ops, one.types);
    GeneratorOptions options = Portable();
    const absl::StatusOr<std::string> how = ProbePeer(*partial.Make(), options);
    ASSERT_TRUE(how.ok()) << how.status();
    for (const absl::Span<const ElementType>& types : {ComputedTypes(), RareTypes()}) {
      for (const ElementType type : types)
        EXPECT_EQ(options.Takes(type), one.types.contains(type)) << Name(type) << " " << *how;
    }
    int64_t taken = 0;
    std::set<Opcode> seen;
    constexpr int64_t kPrograms = 300;
    for (int64_t index = 0; index < kPrograms; ++index) {
      const Case made = GenerateCase(3, static_cast<uint64_t>(index), options);
      EXPECT_TRUE(Verify(*made.module).ok()) << index;
      if (!partial.Compile(*made.module).ok()) continue;
      ++taken;
      for (const Instruction* at : *made.module->entry()) seen.insert(at->opcode());
    }
    EXPECT_GE(taken, kPrograms * 9 / 10) << *how;
    for (const Opcode opcode : one.ops) {
      const bool is_told = opcode == Opcode::kTuple || opcode == Opcode::kConstant;
      EXPECT_TRUE(is_told || seen.contains(opcode)) << Name(opcode) << " " << *how;
    }
  }
}

TEST(ProbeTest, ACompilerThatTakesEverythingKeepsEverything) {
  FakeBackend::Script script;
  script.description.in_process = false;
  FakeBackend all(script);
  GeneratorOptions options = Portable();
  ASSERT_TRUE(ProbePeer(all, options).ok());
  EXPECT_TRUE(options.excluded_ops.none());
  EXPECT_TRUE(options.excluded_types.none());
  EXPECT_TRUE(options.excluded_recipes.empty());
}

TEST(ProbeTest, ACompilerThatTakesNothingSaysWhy) {
  const Partial nothing({}, {});
  GeneratorOptions options = Portable();
  const absl::Status status = ProbePeer(*nothing.Make(), options).status();
  EXPECT_EQ(ClassOf(status), ErrorClass::kUnsupported);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("it says: no such"));
}

ProcessBackendOptions Vendor() {
  ProcessBackendOptions worker;
  worker.name = "vendor";
  worker.argv = {"python3", std::string(ASSAY_SOURCE_DIR) + "/fuzz/testdata/vendor_worker.py"};
  return worker;
}

// The fixture of a vendor: what it greets with, takes and refuses comes through the pipe.
TEST(ProbeTest, AVendorsWorkerBehindAPipeIsProbed) {
  absl::StatusOr<std::unique_ptr<Backend>> vendor = MakeProcessBackend(Vendor());
  ASSERT_TRUE(vendor.ok()) << vendor.status();
  GeneratorOptions options = Portable();
  const absl::StatusOr<std::string> how = ProbePeer(**vendor, options);
  ASSERT_TRUE(how.ok()) << how.status();
  EXPECT_TRUE(options.Takes(T::kF32) && options.Takes(T::kS32)) << *how;
  EXPECT_FALSE(options.Takes(T::kF64) || options.Takes(T::kPred));
  EXPECT_FALSE(options.Takes(Opcode::kTuple) || options.Takes(Opcode::kReverse));
  int64_t taken = 0;
  for (uint64_t index = 0; index < 100; ++index) {
    const Case made = GenerateCase(5, index, options);
    taken += (*vendor)->Compile(*made.module, {}).ok() ? 1 : 0;
  }
  EXPECT_GE(taken, 85) << *how;
}

// The whole way: programs of what it takes, and its wrong multiplication found and nothing else.
TEST(ProbeTest, ACampaignOnAVendorsWorkerFindsItsBug) {
  CampaignTools tools;
  tools.make_oracle = []() -> absl::StatusOr<std::unique_ptr<Oracle>> { return MakeOracle(); };
  tools.make_backend = [](const std::string&) { return MakeProcessBackend(Vendor()); };
  CampaignOptions options;
  options.count = 300;
  options.jobs = 1;
  options.backends = {"vendor"};
  const absl::StatusOr<CampaignSummary> summary = RunCampaign(options, tools);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->illegal, 0);
  EXPECT_LT(summary->unsupported, 45) << summary->ToJson()["unsupported_reasons"];
  EXPECT_GT(summary->Failures(), 0) << summary->ToJson();
  for (const CampaignFinding& finding : summary->found) {
    EXPECT_EQ(finding.kind, Outcome::kWrong) << finding.text;
  }
}

}  // namespace
}  // namespace assay
