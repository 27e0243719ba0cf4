// Tests that programs mean together what they mean alone.
#include "fuzz/peers/pack.h"

#include <algorithm>
#include <set>

#include "fuzz/generator/input_sets.h"
#include "gtest/gtest.h"
#include "reference/interpreter/interpreter.h"
#include "spec/backend/fake_backend.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

constexpr uint64_t kSeed = 20261122;
constexpr int64_t kSets = 3;

std::vector<Case> SomeCases(uint64_t from, uint64_t count) {
  GeneratorOptions options;
  options.portable = true;
  std::vector<Case> cases;
  for (uint64_t i = from; i < from + count; ++i) {
    Case made = GenerateCase(kSeed, i, options);
    if (CanBeJoined(*made.module)) cases.push_back(std::move(made));
  }
  return cases;
}

std::vector<PackMember> MembersOf(const std::vector<Case>& cases) {
  std::vector<PackMember> members;
  for (size_t i = 0; i < cases.size(); ++i) {
    PackMember member{cases[i].module.get(), {}};
    for (int64_t set = 0; set < kSets; ++set) {
      member.sets.push_back(InputSet(cases[i], kSeed, i, set));
    }
    members.push_back(std::move(member));
  }
  return members;
}

// A backend that asks the oracle and counts its runs.
struct Interpreter {
  std::unique_ptr<Oracle> oracle = MakeOracle();
  std::unique_ptr<FakeBackend> backend;

  Interpreter() {
    FakeBackend::Script script;
    script.run = [this](const Module& module, const CompileOptions&,
                        const std::vector<std::vector<const Literal*>>& arguments)
        -> absl::StatusOr<RunResult> {
      absl::StatusOr<Literal> value = oracle->Evaluate(module, arguments[0], Limits());
      if (!value.ok()) return value.status();
      RunResult result;
      result.outputs.push_back(*std::move(value));
      return result;
    };
    backend = std::make_unique<FakeBackend>(std::move(script));
  }
};

std::vector<const Literal*> Pointers(const std::vector<Literal>& literals) {
  std::vector<const Literal*> pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  return pointers;
}

TEST(Pack, MembersAnswerAsTheyDoAlone) {
  Interpreter interpreter;
  for (uint64_t from = 0; from < 60; from += 6) {
    const std::vector<Case> cases = SomeCases(from, 6);
    ASSERT_GE(cases.size(), 2u);
    const std::unique_ptr<Pack> pack =
        Pack::Run(*interpreter.backend, CompileOptions(), MembersOf(cases));
    ASSERT_NE(pack, nullptr);
    const int runs = interpreter.backend->runs();
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::unique_ptr<Executable> executable =
          *pack->BackendOf(i).Compile(*cases[i].module, CompileOptions());
      for (int64_t set = 0; set <= kSets; ++set) {
        // The last round is of inputs that the pack has not seen.
        const std::vector<Literal> inputs = InputSet(cases[i], kSeed, i, set);
        const absl::StatusOr<RunResult> together = executable->Run({Pointers(inputs)});
        const absl::StatusOr<Literal> alone =
            interpreter.oracle->Evaluate(*cases[i].module, Pointers(inputs), Limits());
        ASSERT_TRUE(together.ok() && alone.ok());
        EXPECT_TRUE(together->outputs[0].BitwiseEqual(*alone)) << from + i << ", set " << set;
      }
    }
    EXPECT_LE(interpreter.backend->runs(), runs + static_cast<int>(cases.size()))
        << "what was run already is not run again";
  }
}

TEST(Pack, JoinedProgramsVerifyAndAreRead) {
  for (uint64_t from = 100; from < 200; from += 10) {
    std::vector<const Module*> modules;
    const std::vector<Case> cases = SomeCases(from, 10);
    for (const Case& made : cases) modules.push_back(made.module.get());
    const std::unique_ptr<Module> joint = JoinModules(modules);
    EXPECT_TRUE(Verify(*joint).ok()) << Verify(*joint);
    EXPECT_TRUE(ReadModule(WriteModule(*joint)).ok());
  }
}

TEST(Pack, AFlatResultHasTheSameLeaves) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  for (uint64_t from = 0; from < 60; from += 4) {
    const std::vector<Case> cases = SomeCases(from, 4);
    std::vector<const Module*> modules;
    std::vector<const Literal*> arguments;
    for (const Case& made : cases) {
      modules.push_back(made.module.get());
      for (const Literal& input : made.inputs) arguments.push_back(&input);
    }
    const std::unique_ptr<Module> nested = JoinModules(modules), flat = nested->Clone("");
    FlattenResult(*flat);
    EXPECT_TRUE(Verify(*flat).ok()) << Verify(*flat);
    for (const Shape& leaf : flat->entry()->root()->shape().elements())
      EXPECT_FALSE(leaf.IsTuple());
    const absl::StatusOr<Literal> first = oracle->Evaluate(*nested, arguments, Limits());
    const absl::StatusOr<Literal> second = oracle->Evaluate(*flat, arguments, Limits());
    ASSERT_EQ(first.ok(), second.ok()) << first.status() << second.status();
    if (!first.ok()) continue;
    const std::vector<const Literal*> leaves = Leaves(*first), flat_leaves = Leaves(*second);
    ASSERT_EQ(leaves.size(), flat_leaves.size());
    for (size_t i = 0; i < leaves.size(); ++i) {
      EXPECT_EQ(leaves[i]->shape(), flat_leaves[i]->shape());
      EXPECT_TRUE(std::equal(leaves[i]->bytes().begin(), leaves[i]->bytes().end(),
                             flat_leaves[i]->bytes().begin(), flat_leaves[i]->bytes().end()));
    }
  }
}

TEST(Pack, ThereIsNoneOfWhatDoesNotCompile) {
  FakeBackend::Script script;
  script.compile = [](const Module&, const CompileOptions&) {
    return MakeError(ErrorClass::kCompileCrash, "not this one");
  };
  FakeBackend backend(script);
  EXPECT_EQ(Pack::Run(backend, CompileOptions(), MembersOf(SomeCases(0, 3))), nullptr);
}

TEST(Pack, WhatTalksToOthersOrHasAHeaderStaysAlone) {
  const auto read = [](const char* text) { return *ReadModule(text); };
  EXPECT_TRUE(CanBeJoined(*read("HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }")));
  EXPECT_FALSE(CanBeJoined(*read("HloModule m\nENTRY e { ROOT p = (f32[2]) parameter(0) }")));
  EXPECT_FALSE(
      CanBeJoined(*read("HloModule m, replica_count=2\nENTRY e { ROOT p = f32[2] parameter(0) }")));
  EXPECT_FALSE(
      CanBeJoined(*read("HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] "
                        "parameter(1)\n ROOT s = f32[] add(a, b) }\nENTRY e { p = f32[2] "
                        "parameter(0)\n ROOT r = f32[2] all-reduce(p), to_apply=add }")));
}

struct Asked {
  size_t first, count;
  bool taken;
};

// The questions about a row of `count` of which those are not taken.
std::vector<Asked> AskedAbout(size_t count, const std::set<size_t>& to_blame) {
  std::vector<Asked> asked;
  AskInHalves(count, [&](size_t first, size_t some) {
    const auto at = to_blame.lower_bound(first);
    asked.push_back({first, some, at == to_blame.end() || *at >= first + some});
    return asked.back().taken;
  });
  return asked;
}

TEST(AskInHalves, TakesAllButOneNeighbourOfTheOneToBlame) {
  for (const size_t count : {2, 3, 7, 16, 31}) {
    for (size_t to_blame = 0; to_blame < count; ++to_blame) {
      std::set<size_t> taken;
      for (const Asked& asked : AskedAbout(count, {to_blame})) {
        EXPECT_GE(asked.count, 2U);
        EXPECT_LE(asked.first + asked.count, count);
        for (size_t i = 0; i < asked.count && asked.taken; ++i) {
          EXPECT_TRUE(taken.insert(asked.first + i).second) << "taken twice";
        }
      }
      EXPECT_FALSE(taken.contains(to_blame));
      EXPECT_GE(taken.size() + 3, count) << to_blame << " of " << count;
    }
  }
}

TEST(AskInHalves, WhatMustBeToBlameIsNoQuestion) {
  std::vector<std::pair<size_t, size_t>> questions;
  for (const Asked& asked : AskedAbout(16, {15})) {
    EXPECT_TRUE(asked.taken) << asked.first;
    questions.emplace_back(asked.first, asked.count);
  }
  EXPECT_EQ(questions, (std::vector<std::pair<size_t, size_t>>{{0, 8}, {8, 4}, {12, 2}}));
}

TEST(AskInHalves, FindsSeveralToBlame) {
  std::set<size_t> taken;
  for (const Asked& asked : AskedAbout(16, {1, 14})) {
    for (size_t i = 0; i < asked.count && asked.taken; ++i) taken.insert(asked.first + i);
  }
  EXPECT_EQ(taken.size(), 12U) << "all but the two and a neighbour of each";
}

}  // namespace
}  // namespace assay
