// Every generated program verifies, is the same for the same seed, and keeps to its options.
#include "fuzz/generator/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "fuzz/generator/recipes/recipes.h"
#include "spec/backend/check.h"
#include "spec/ops/collective_groups.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// FNV-1a over numbers: nothing of it depends on the writer, the machine or the library.
class Fingerprint {
 public:
  void Add(uint64_t number) {
    for (int i = 0; i < 8; ++i) hash_ = (hash_ ^ ((number >> (8 * i)) & 0xFF)) * 0x100000001B3u;
  }
  void Add(const Literal& literal) {
    for (uint8_t byte : literal.bytes()) Add(byte);
  }
  void Add(const Shape& shape) {
    Add(static_cast<uint64_t>(shape.element_type()));
    for (int64_t size : shape.dimensions()) Add(static_cast<uint64_t>(size));
    for (const Shape& element : shape.elements()) Add(element);
  }
  void Add(const Case& made) {
    for (uint64_t choice : made.choices) Add(choice);
    for (const Literal& input : made.inputs) Add(input);
    for (const Computation* computation : made.module->computations()) {
      std::map<const Instruction*, uint64_t> position;
      for (const Instruction* instruction : *computation) {
        position.emplace(instruction, position.size());
        Add(std::string(Name(instruction->opcode())));
        Add(instruction->shape());
        for (const Instruction* operand : instruction->operands()) Add(position[operand]);
        if (instruction->literal() != nullptr) Add(*instruction->literal());
      }
    }
  }
  uint64_t value() const { return hash_; }

 private:
  void Add(const std::string& text) {
    for (unsigned char c : text) Add(c);
  }
  uint64_t hash_ = 0xCBF29CE484222325u;
};

// Recipes of these ops only: a new op, or a recipe of another one, leaves the pinned programs
// alone.
GeneratorOptions PinnedOps() {
  constexpr Opcode kPinned[] = {Opcode::kAbs,          Opcode::kAdd,
                                Opcode::kAnd,          Opcode::kBroadcast,
                                Opcode::kCall,         Opcode::kClamp,
                                Opcode::kCompare,      Opcode::kConcatenate,
                                Opcode::kConditional,  Opcode::kConvert,
                                Opcode::kDivide,       Opcode::kDot,
                                Opcode::kDynamicSlice, Opcode::kDynamicUpdateSlice,
                                Opcode::kExponential,  Opcode::kFloor,
                                Opcode::kGather,       Opcode::kIota,
                                Opcode::kMap,          Opcode::kMaximum,
                                Opcode::kMinimum,      Opcode::kMultiply,
                                Opcode::kNegate,       Opcode::kNot,
                                Opcode::kOr,           Opcode::kPad,
                                Opcode::kReduce,       Opcode::kReduceWindow,
                                Opcode::kReshape,      Opcode::kReverse,
                                Opcode::kScatter,      Opcode::kSelect,
                                Opcode::kShiftLeft,    Opcode::kSlice,
                                Opcode::kSort,         Opcode::kSubtract,
                                Opcode::kTanh,         Opcode::kTranspose,
                                Opcode::kTuple,        Opcode::kWhile,
                                Opcode::kXor};
  GeneratorOptions options;
  options.excluded_ops.set();
  for (Opcode opcode : kPinned) options.excluded_ops.reset(static_cast<size_t>(opcode));
  return options;
}

// Programs and inputs are pinned: another compiler, machine or library must give the same. A change
// of the generator, or of the types that an op admits, changes the number below on purpose.
TEST(GenerateTest, FirstProgramsAreTheSameEverywhere) {
  Fingerprint fingerprint;
  for (uint64_t i = 0; i < 200; ++i) fingerprint.Add(GenerateCase(1, i, PinnedOps()));
  EXPECT_EQ(fingerprint.value(), 18282369205751359910u);
}

// Programs generated before, and the addresses of the memory they freed, have no influence.
TEST(GenerateTest, TheOrderOfCasesDoesNotMatter) {
  std::vector<uint64_t> forward(400), backward(400);
  for (uint64_t i = 0; i < 400; ++i) {
    Fingerprint fingerprint;
    fingerprint.Add(GenerateCase(13, i));
    forward[i] = fingerprint.value();
  }
  for (uint64_t i = 400; i-- > 0;) {
    Fingerprint fingerprint;
    std::vector<Case> alive;
    for (uint64_t k = 0; k < i % 3; ++k) alive.push_back(GenerateCase(14, k));
    fingerprint.Add(GenerateCase(13, i));
    backward[i] = fingerprint.value();
  }
  EXPECT_EQ(forward, backward);
}

TEST(GenerateTest, EveryProgramVerifies) {
  for (uint64_t i = 0; i < 20000; ++i) {
    GeneratorOptions options;
    options.portable = i % 4 == 0;
    Case made = GenerateCase(7, i, options);
    absl::Status status = Verify(*made.module);
    ASSERT_TRUE(status.ok()) << "case " << i << ": " << status << "\n" << WriteModule(*made.module);
    ASSERT_TRUE(Unsupported(*made.module).empty()) << WriteModule(*made.module);
    ASSERT_EQ(made.inputs.size(), static_cast<size_t>(made.module->entry()->parameter_count()));
    for (size_t p = 0; p < made.inputs.size(); ++p) {
      ASSERT_TRUE(Compatible(made.inputs[p].shape(), made.module->entry()->parameter(p)->shape()));
    }
  }
}

// The random bits have the width of the operand, which may be one of 4 or 8 bits.
TEST(GenerateTest, StochasticConvertsVerifyOnFloatsOfEveryWidth) {
  const Recipe* recipe = nullptr;
  for (const Recipe& row : AllRecipes())
    if (row.name == "stochastic-convert") recipe = &row;
  ASSERT_NE(recipe, nullptr);
  std::set<int> widths;
  for (ElementType type : {ElementType::kF4E2M1FN, ElementType::kF8E4M3B11FNUZ,
                           ElementType::kF8E5M2, ElementType::kBF16, ElementType::kF64}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Choices choices = Choices::FromSeed(seed);
      Program program(choices, {});
      program.Parameter(Shape::Array(type, {3, 5}));
      Instruction* made = recipe->build(program, recipe->opcode);
      if (made == nullptr) continue;
      program.scope().computation->set_root(made);
      const absl::Status status = Verify(program.module());
      ASSERT_TRUE(status.ok()) << status;
      widths.insert(BitWidth(made->operand(0)->shape().element_type()));
    }
  }
  EXPECT_TRUE(widths.contains(4) && widths.contains(8) && widths.contains(16));
}

// Without a token between them two items may go out in either order, and none could be called
// wrong.
TEST(GenerateTest, OutfeedsHaveAnOrder) {
  const Recipe* recipe = nullptr;
  for (const Recipe& row : AllRecipes())
    if (row.opcode == Opcode::kOutfeed) recipe = &row;
  ASSERT_NE(recipe, nullptr);
  int64_t pairs = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Choices choices = Choices::FromSeed(seed);
    Program program(choices, {});
    program.Parameter(Shape::Array(ElementType::kS32, {3}));
    for (int i = 0; i < 3; ++i) recipe->build(program, recipe->opcode);
    std::set<const Instruction*> after;  // what waits for the outfeed before
    bool is_first = true;
    for (const Instruction* at : *program.scope().computation) {
      const bool waits = std::any_of(at->operands().begin(), at->operands().end(),
                                     [&](const Instruction* x) { return after.contains(x); });
      if (waits) after.insert(at);
      if (at->opcode() != Opcode::kOutfeed) continue;
      EXPECT_TRUE(is_first || waits) << "seed " << seed;
      pairs += is_first ? 0 : 1;
      is_first = false;
      after = {at};
    }
  }
  EXPECT_GT(pairs, 10);
}

TEST(GenerateTest, AnyChoicesGiveAVerifiedProgram) {
  RandomStream noise(3);
  for (int i = 0; i < 300; ++i) {
    std::vector<uint8_t> bytes(noise.Next() % 2000);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(noise.Next() >> 56);
    Choices choices = Choices::FromBytes(bytes);
    Case made = GenerateFrom(choices);
    absl::Status status = Verify(*made.module);
    ASSERT_TRUE(status.ok()) << status << "\n" << WriteModule(*made.module);
  }
}

TEST(GenerateTest, ARecordingGivesTheCaseAgain) {
  for (uint64_t i = 0; i < 200; ++i) {
    const GeneratorOptions options{.portable = i % 2 == 1};
    Case made = GenerateCase(5, i, options);
    Choices replay = Choices::FromRecording(made.choices);
    Case again = GenerateFrom(replay, options);
    ASSERT_EQ(WriteModule(*made.module), WriteModule(*again.module));
    ASSERT_EQ(made.inputs.size(), again.inputs.size());
    for (size_t p = 0; p < made.inputs.size(); ++p) {
      ASSERT_TRUE(made.inputs[p].BitwiseEqual(again.inputs[p]));
    }
  }
}

TEST(GenerateTest, EveryDefinedOpHasARecipe) {
  std::set<Opcode> with_recipe;
  std::set<std::string> names;
  for (const Recipe& recipe : AllRecipes()) {
    with_recipe.insert(recipe.opcode);
    EXPECT_TRUE(names.insert(std::string(recipe.name)).second) << recipe.name << " appears twice";
  }
  for (const OpInfo& info : AllOps()) {
    if (info.IsDefined()) {
      EXPECT_TRUE(with_recipe.contains(info.opcode))
          << info.name << " has no recipe in fuzz/generator";
    }
  }
}

// Groups of one device show nothing of who sends to whom.
TEST(GenerateTest, SomeProgramsAreForSeveralDevices) {
  constexpr uint64_t kPrograms = 6000;
  int64_t programs = 0;
  std::set<Opcode> met;        // in groups of several members
  std::set<size_t> groupings;  // numbers of groups beside each other
  for (uint64_t i = 0; i < kPrograms; ++i) {
    const Case made = GenerateCase(11, i);
    const DeviceAssignment devices = DevicesOf(*made.module);
    if (devices.replicas * devices.partitions == 1) continue;
    ++programs;
    for (const Instruction* at : *made.module->entry()) {
      if (at->attributes().Groups(Attr::kReplicaGroups) == nullptr) continue;
      const auto groups =
          ProcessGroups(at->opcode(), at->attributes(), devices.replicas, devices.partitions);
      ASSERT_TRUE(groups.ok()) << groups.status() << "\n" << WriteModule(*made.module);
      if ((*groups)[0].size() < 2) continue;
      met.insert(at->opcode());
      groupings.insert(groups->size());
    }
  }
  EXPECT_GT(programs, static_cast<int64_t>(kPrograms / 50));
  for (Opcode opcode : {Opcode::kAllReduce, Opcode::kAllGather, Opcode::kReduceScatter,
                        Opcode::kAllToAll, Opcode::kCollectiveBroadcast}) {
    EXPECT_TRUE(met.contains(opcode)) << Name(opcode);
  }
  EXPECT_TRUE(groupings.contains(1) && groupings.contains(2) && groupings.contains(3));
}

TEST(GenerateTest, PortableProgramsKeepToWhatAllPromise) {
  for (uint64_t i = 0; i < 2000; ++i) {
    Case made = GenerateCase(9, i, {.portable = true});
    for (const Computation* computation : made.module->computations()) {
      for (const Instruction* instruction : *computation) {
        ASSERT_NE(instruction->opcode(), Opcode::kFusion);
        ASSERT_NE(instruction->opcode(), Opcode::kBitcast);
      }
    }
  }
}

}  // namespace
}  // namespace assay
