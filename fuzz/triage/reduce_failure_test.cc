// Reduction of what a compiler fails on in more ways than one.
#include "fuzz/triage/reduce_failure.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fuzz/reduce/testing/negates_nothing.h"
#include "fuzz/reduce/testing/slice_of_slice.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/check.h"
#include "spec/backend/fake_backend.h"
#include "spec/base/error.h"
#include "spec/numerics/profile.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

constexpr int64_t kInstructions = 9;

bool Has(const Module& module, Opcode opcode) {
  return std::any_of(module.entry()->begin(), module.entry()->end(),
                     [opcode](const Instruction* at) { return at->opcode() == opcode; });
}

// The number of instructions that are left of the program, which fails as `kind` where `compile` is
// part of a compiler that does not negate.
int64_t LeftOf(Outcome::Kind kind, decltype(FakeBackend::Script::compile) compile) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  FakeBackend::Script script = NegatesNothing(*oracle);
  script.description.dumps_passes = true;
  script.compile = std::move(compile);
  FakeBackend backend(std::move(script));
  ReduceCase whole{ReadModule(kSliceOfSlice).value(), InputsOfSliceOfSlice()};
  EXPECT_EQ(whole.module->InstructionCount(), kInstructions);
  const CheckSubject subject{*oracle, backend, Profile::Strict(), {}, Limits()};
  const absl::StatusOr<ReduceResult> reduced =
      ReduceFailure(subject, whole, kind, "", TriageOptions());
  EXPECT_TRUE(reduced.ok()) << reduced.status();
  return reduced.ok() ? reduced->reduced.module->InstructionCount() : -1;
}

// Likewise when a compiler dies of each that slices: in the words that `words` gives.
int64_t LeftOfWhatDies(
    const std::function<const char*(const Module&, const CompileOptions&)>& words) {
  return LeftOf(Outcome::kCompileCrash,
                [&words](const Module& module, const CompileOptions& options) -> absl::Status {
                  if (!Has(module, Opcode::kDynamicSlice)) return absl::OkStatus();
                  return MakeError(ErrorClass::kCompileCrash, words(module, options));
                });
}

TEST(ReduceFailure, OfTheWholeItDiesAtFirstAsOfNothingElse) {
  int of_whole = 0;
  EXPECT_LE(LeftOfWhatDies([&of_whole](const Module& module, const CompileOptions& options) {
              const bool is_rare = options.flags.empty() &&
                                   module.InstructionCount() == kInstructions && ++of_whole <= 3;
              return is_rare ? "rare.cc: bad" : "usual.cc: gone";
            }),
            3);
}

TEST(ReduceFailure, UnderCheapFlagsItDiesOfNothingSmallerAlike) {
  EXPECT_LE(LeftOfWhatDies([](const Module& module, const CompileOptions& options) {
              const bool is_other =
                  module.InstructionCount() < kInstructions && !options.flags.empty();
              return is_other ? "other.cc: gone" : "first.cc: bad";
            }),
            3);
}

// Compiled cheaply, nothing smaller is wrong.
TEST(ReduceFailure, WrongValuesThatStayLargeUnderCheapFlagsAreReducedWithoutThem) {
  const auto refuses = [](const Module& module, const CompileOptions& options) -> absl::Status {
    // A negate of floats is what asks whether the flags are known.
    const bool is_part = module.InstructionCount() < kInstructions &&
                         !IsFloat(module.entry()->root()->shape().element_type());
    if (options.flags.empty() || !is_part) return absl::OkStatus();
    return MakeError(ErrorClass::kUnsupported, "only the whole");
  };
  const int64_t left = LeftOf(Outcome::kWrong, refuses);
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 3);
}

// Memory that a program wrote over shows in what is compiled next: of the whole the compiler dies
// two times of three.
TEST(ReduceFailure, WhatIsWrongAtOneTimeDiesAtAnother) {
  int of_whole = 0;
  const auto dies_often = [&of_whole](const Module& module, const CompileOptions&) -> absl::Status {
    const bool is_whole = module.InstructionCount() == kInstructions;
    if (!is_whole || ++of_whole % 3 == 0) return absl::OkStatus();
    return MakeError(ErrorClass::kCompileCrash, "the worker died of SIGSEGV");
  };
  const int64_t left = LeftOf(Outcome::kWrong, dies_often);
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 3);
}

}  // namespace
}  // namespace assay
