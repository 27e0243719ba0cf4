// The property that cuts rest on: whatever is captured of a legal evaluation, at places chosen at
// random, no stretch fails. Seeds are printed with every failure.
#include <gtest/gtest.h>

#include <cstdio>

#include "conformance/cuts/programs/capture_choice.h"
#include "reference/interpreter/interpreter.h"
#include "reference/testing/float_program.h"
#include "reference/testing/legal_evaluator.h"

namespace assay {
namespace {

using reference::Random;

constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF64, ElementType::kF16,
                                  ElementType::kBF16};

struct Counts {
  int64_t elements = 0, failed = 0, inconclusive = 0, results = 0, open_results = 0;
};

bool IsComputedArray(const Instruction& instruction) {
  return instruction.opcode() != Opcode::kParameter && instruction.opcode() != Opcode::kConstant &&
         instruction.shape().IsArray();
}

// One random program, cut at random places.
class Case {
 public:
  explicit Case(uint64_t seed)
      : random_(seed), profile_(seed % 8 < 6 ? Profile::Xla() : Profile::Strict()) {
    const int64_t size = 1 + random_.Below(8);
    program_ = reference::RandomFloatProgram(random_, kTypes[seed % 4], size,
                                             2 + static_cast<int>(random_.Below(10)));
    flat_ = *Flatten(*program_.module);
    // In every other program, captured values are computed a second time and may differ from those
    // that their readers have.
    if (seed % 2 == 0) {
      ComputeTwice();
      is_computed_twice_ = true;
    }
    for (const Instruction* instruction : *flat_.module->entry())
      if (IsComputedArray(*instruction) && random_.Below(3) == 0 && IsCapturable(*instruction))
        points_.push_back({instruction, 0});
  }

  const Module& module() const { return *flat_.module; }

  // A legal evaluation, and the oracle's word on it, by which programs fail: it follows what all
  // readers have in common.
  absl::Status Judge(Oracle& oracle, Counts& counts, std::string& failure) {
    absl::StatusOr<CaptureModule> made = MakeCaptureModule(flat_, points_, {});
    if (!made.ok()) return made.status();
    const Literal outputs =
        reference::EvaluateLegally(*made->module, program_.Arguments(), profile_, random_);
    const std::vector<const Literal*> leaves = Leaves(outputs);
    TripRoom room;
    absl::StatusOr<std::vector<Capture>> values = ReadCaptures(*made, leaves, room);
    if (!values.ok()) return values.status();
    Captures captures;
    captures.values = *std::move(values);
    for (Capture& capture : captures.values)
      capture.is_followed = IsOneForAllReaders(*capture.instruction);
    captures.visit = [&](const CaptureVisit& visit) {
      Expectation expectation;
      expectation.leaves.push_back(visit.expected);
      const Judgement judgement = JudgeLeaves(expectation, absl::MakeConstSpan(&visit.seen, 1));
      counts.elements += judgement.elements;
      counts.failed += judgement.failed;
      counts.inconclusive += judgement.inconclusive;
      if (judgement.failed > 0 && failure.empty())
        failure =
            visit.instruction.name() + ": " + DescribeFailure(expectation, *visit.seen, judgement);
    };
    absl::StatusOr<Expectation> results =
        oracle.ExpectFrom(*flat_.module, program_.Arguments(), captures, profile_, Limits{});
    if (!results.ok()) return results.status();
    const Judgement judgement = JudgeLeaves(
        *results, absl::MakeConstSpan(leaves).subspan(0, static_cast<size_t>(made->results)));
    counts.results += judgement.elements;
    counts.failed += judgement.failed;
    counts.open_results += judgement.inconclusive;
    if (judgement.failed > 0 && failure.empty())
      failure = DescribeFailure(*results, outputs, judgement);
    return absl::OkStatus();
  }

 private:
  bool IsCapturable(const Instruction& instruction) const {
    if (!is_computed_twice_ || IsOneForAllReaders(instruction)) return true;
    // Only the second computations, which nobody reads.
    return copies_.contains(&instruction);
  }

  // Adds a second computation of each element-wise instruction. It is a result, too: what nobody
  // reads is not evaluated.
  void ComputeTwice() {
    Computation* entry = flat_.module->entry();
    std::vector<Instruction*> results(entry->root()->operands().begin(),
                                      entry->root()->operands().end());
    for (Instruction* instruction : entry->PostOrder()) {
      if (!IsComputedArray(*instruction) || IsOneForAllReaders(*instruction)) continue;
      if (instruction == entry->root()) continue;
      Instruction* copy =
          entry->Add(instruction->opcode(), instruction->shape(), instruction->operands(),
                     instruction->attributes(), instruction->callees());
      copies_.insert(copy);
      results.push_back(copy);
    }
    std::vector<Shape> shapes;
    for (const Instruction* result : results) shapes.push_back(result->shape());
    Instruction* old = entry->root();
    entry->set_root(entry->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), results));
    entry->Remove(old);
    flat_.module->config().entry_layout.reset();
    OrderByUse(*flat_.module);
  }

  Random random_;
  const Profile& profile_;
  reference::FloatProgram program_;
  FlatModule flat_;
  absl::flat_hash_set<const Instruction*> copies_;
  std::vector<CapturePoint> points_;
  bool is_computed_twice_ = false;
};

TEST(CutSoundness, NothingLegalFails) {
  constexpr uint64_t kPrograms = 20000;
  constexpr int kRuns = 2;
  auto oracle = MakeOracle();
  Counts counts;
  int failures = 0;
  for (uint64_t seed = 1; seed <= kPrograms && failures < 5; ++seed) {
    Case c(seed);
    for (int run = 0; run < kRuns; ++run) {
      std::string failure;
      const absl::Status status = c.Judge(*oracle, counts, failure);
      ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status << "\n"
                               << c.module().ToString();
      if (failure.empty()) continue;
      ++failures;
      ADD_FAILURE() << "seed " << seed << " run " << run << "\n"
                    << failure << c.module().ToString();
      break;
    }
  }
  std::printf("cuts: %lld captured elements judged, %.1f %% inconclusive; %lld results, %.1f %%\n",
              static_cast<long long>(counts.elements),
              100.0 * static_cast<double>(counts.inconclusive) / counts.elements,
              static_cast<long long>(counts.results),
              100.0 * static_cast<double>(counts.open_results) / counts.results);
  EXPECT_EQ(counts.failed, 0);
  EXPECT_GT(counts.elements, 50000);
}

}  // namespace
}  // namespace assay
