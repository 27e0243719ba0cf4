// Modules built by hand: names, copies, hashes, orders and removal.
#include "spec/ir/module.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "spec/ir/hlo_module.h"

namespace assay {
namespace {

// add(negate(p0), p0) with a dead sine; shapes by hand so that no rule is needed here.
std::unique_ptr<Module> Sample() {
  auto module = std::make_unique<Module>("sample");
  Computation* entry = module->AddComputation("main");
  Shape shape = Shape::Array(ElementType::kF32, {4});
  Instruction* p = entry->AddParameter(0, shape);
  Instruction* negate = entry->Add(Opcode::kNegate, shape, {p});
  entry->Add(Opcode::kSine, shape, {negate}, {}, {}, "dead");
  entry->set_root(entry->Add(Opcode::kAdd, shape, {negate, p}));
  return module;
}

TEST(Module, KeepsNamesUnique) {
  Module module("m");
  NameUniquer& names = module.instruction_name_uniquer();
  EXPECT_EQ(names.GetUniqueName("x"), "x");
  EXPECT_EQ(names.GetUniqueName("x"), "x.1");
  EXPECT_EQ(names.GetUniqueName("x.1"), "x.2");
  EXPECT_EQ(names.GetUniqueName("x.7"), "x.7");
}

TEST(Module, CloneIsEqualByHashAndIndependent) {
  auto module = Sample();
  auto copy = module->Clone("");
  EXPECT_EQ(module->Hash(), copy->Hash());
  Computation* entry = copy->entry();
  entry->root()->ReplaceOperand(1, entry->root()->operand(0));
  EXPECT_NE(module->Hash(), copy->Hash());
  EXPECT_EQ(module->entry()->root()->operand(1)->opcode(), Opcode::kParameter);
}

TEST(Module, HashIsBlindToNames) {
  auto a = Sample();
  Module b("other");
  Computation* entry = b.AddComputation("somewhere");
  Shape shape = Shape::Array(ElementType::kF32, {4});
  Instruction* p = entry->AddParameter(0, shape, "x");
  Instruction* negate = entry->Add(Opcode::kNegate, shape, {p}, {}, {}, "n");
  entry->Add(Opcode::kSine, shape, {negate});
  entry->set_root(entry->Add(Opcode::kAdd, shape, {negate, p}, {}, {}, "r"));
  EXPECT_EQ(a->Hash(), b.Hash());
}

TEST(Module, HashSeesControlEdgesThreadsAndTheHeader) {
  auto at = [](Module& module, Opcode opcode) {
    for (Instruction* instruction : *module.entry()) {
      if (instruction->opcode() == opcode) return instruction;
    }
    return static_cast<Instruction*>(nullptr);
  };
  const std::function<void(Module&)> changes[] = {
      [&](Module& m) { at(m, Opcode::kSine)->AddControlPredecessor(at(m, Opcode::kAdd)); },
      [](Module& m) { m.entry()->set_execution_thread("parallel"); },
      [](Module& m) { m.config().buffer_donors.push_back({0, {}}); },
      [](Module& m) { m.config().input_output_alias.push_back({{}, 0, {}, false}); },
      [](Module& m) { m.config().input_output_alias.push_back({{}, 0, {}, true}); },
      [](Module& m) { m.config().alias_passthrough_params = true; },
      [](Module& m) { m.config().verbatim.emplace_back("frontend_attributes", "{a=\"1\"}"); },
      [](Module& m) {
        hlo_module::mutable_entry_computation_layout(m)->result =
            Shape::Array(ElementType::kF32, {2, 2});
      },
  };
  std::set<uint64_t> hashes = {Sample()->Hash()};
  for (const auto& change : changes) {
    auto changed = Sample();
    change(*changed);
    EXPECT_TRUE(hashes.insert(changed->Hash()).second) << "change " << &change - changes;
  }
  // Layouts that the header spells out as they are anyway, and the name of the main thread.
  auto same = Sample();
  hlo_module::mutable_entry_computation_layout(*same);
  same->entry()->set_execution_thread("main");
  EXPECT_EQ(same->Hash(), Sample()->Hash());
}

TEST(Module, HashTellsListsApartThatFollowEachOther) {
  auto with = [](std::vector<SliceRange> slice, std::vector<PaddingDim> padding) {
    auto module = Sample();
    module->entry()->root()->mutable_attributes().Set(Attr::kSlice, AttrValue(std::move(slice)));
    module->entry()->root()->mutable_attributes().Set(Attr::kPadding,
                                                      AttrValue(std::move(padding)));
    return module->Hash();
  };
  EXPECT_NE(with({{1, 2, 3}}, {}), with({}, {{1, 2, 3}}));
  EXPECT_NE(with({{1, 2, 3}, {4, 5, 6}}, {{1, 2, 3}}), with({{1, 2, 3}}, {{4, 5, 6}, {1, 2, 3}}));
}

TEST(Computation, PostOrderPutsOperandsFirstAndHoldsEverything) {
  auto module = Sample();
  std::vector<Instruction*> order = module->entry()->PostOrder();
  ASSERT_EQ(order.size(), 4u);
  for (size_t i = 0; i < order.size(); ++i) {
    for (Instruction* operand : order[i]->operands()) {
      EXPECT_LT(std::find(order.begin(), order.end(), operand) - order.begin(),
                static_cast<std::ptrdiff_t>(i));
    }
  }
}

TEST(Computation, RemovalFollowsDeadOperands) {
  auto module = Sample();
  Computation* entry = module->entry();
  Instruction* root = entry->root();
  Instruction* p = entry->parameter(0);
  for (Instruction* instruction : entry->PostOrder()) {
    if (instruction->name() == "dead") entry->Remove(instruction);
  }
  root->ReplaceAllUsesWith(p);
  EXPECT_EQ(entry->root(), p);
  entry->RemoveWithDeadOperands(root);
  EXPECT_EQ(entry->instruction_count(), 1);
  EXPECT_TRUE(p->users().empty());
}

// Read by the sanitizer, too: what a walk holds is memory until it ends.
TEST(Computation, WalksPassOverWhatIsRemovedMeanwhile) {
  Module module("m");
  Computation* entry = module.AddComputation("main");
  const Shape shape = Shape::Scalar(ElementType::kF32);
  Instruction* p = entry->AddParameter(0, shape);
  Instruction* first = entry->Add(Opcode::kNegate, shape, {p});
  Instruction* second = entry->Add(Opcode::kAbs, shape, {first});
  entry->set_root(entry->Add(Opcode::kSign, shape, {second}));
  std::vector<Opcode> seen, inside;
  for (Instruction* each : entry->InPostOrder()) {
    seen.push_back(each->opcode());
    if (each != first) continue;
    second->ReplaceAllUsesWith(first);
    for (Instruction* inner : entry->InPostOrder()) {
      inside.push_back(inner->opcode());
      if (inner == p) entry->Remove(second);
    }
    EXPECT_EQ(second->parent(), nullptr);
  }
  const std::vector<Opcode> left = {Opcode::kParameter, Opcode::kNegate, Opcode::kSign};
  EXPECT_EQ(seen, left);
  EXPECT_EQ(inside, left);
}

TEST(Computation, UsesAreCountedPerSlot) {
  Module module("m");
  Computation* entry = module.AddComputation("main");
  Shape shape = Shape::Scalar(ElementType::kS32);
  Instruction* p = entry->AddParameter(0, shape);
  Instruction* q = entry->AddParameter(1, shape);
  Instruction* twice = entry->Add(Opcode::kAdd, shape, {p, p});
  entry->set_root(twice);
  EXPECT_EQ(p->users().size(), 2u);
  twice->ReplaceOperand(0, q);
  EXPECT_EQ(p->users().size(), 1u);
  p->ReplaceAllUsesWith(q);
  EXPECT_EQ(q->users().size(), 2u);
  EXPECT_EQ(twice->operand(1), q);
}

TEST(Module, ComputationPostOrderPutsCalleesFirst) {
  Module module("m");
  Shape shape = Shape::Scalar(ElementType::kS32);
  Computation* entry = module.AddComputation("main");
  Computation* outer = module.AddComputation("outer");
  Computation* inner = module.AddComputation("inner");
  inner->set_root(inner->AddParameter(0, shape));
  Instruction* op = outer->AddParameter(0, shape);
  outer->set_root(outer->Add(Opcode::kCall, shape, {op}, {}, {inner}));
  Instruction* ep = entry->AddParameter(0, shape);
  entry->set_root(entry->Add(Opcode::kCall, shape, {ep}, {}, {outer}));
  EXPECT_EQ(module.ComputationPostOrder(), (std::vector<Computation*>{inner, outer, entry}));
  Computation* copy = module.CloneComputation(*outer);
  EXPECT_NE(copy->root()->callee(), inner);
  module.RemoveUnusedComputations().IgnoreError();
  EXPECT_EQ(module.computations().size(), 3u);
}

// The computation that is copied may belong to another module, or to none.
TEST(Module, ClonesAComputationFromElsewhere) {
  Module from("from"), to("to");
  const Shape shape = Shape::Scalar(ElementType::kS32);
  Computation* outer = from.AddComputation("outer");
  Computation* inner = from.AddComputation("inner");
  inner->set_root(inner->AddParameter(0, shape));
  outer->set_root(outer->Add(Opcode::kCall, shape, {outer->AddParameter(0, shape)}, {}, {inner}));
  Computation* copy = to.CloneComputation(*outer);
  EXPECT_EQ(to.computation_count(), 2);
  EXPECT_EQ(from.computation_count(), 2);
  EXPECT_EQ(copy->parent(), &to);
  EXPECT_EQ(copy->root()->callee()->parent(), &to);
  EXPECT_TRUE(hlo_module::CheckUniqueNamesAndIdsForComputationsAndInstructions(to).ok());

  std::unique_ptr<Computation> alone = Computation::Create("alone");
  alone->set_root(alone->AddParameter(0, shape));
  EXPECT_EQ(to.CloneComputation(*alone)->name(), "alone.clone");
  EXPECT_EQ(to.computation_count(), 3);
}

TEST(Module, KnowsItsOpsAsComputationsComeAndGo) {
  Module module("m");
  const Shape shape = Shape::Scalar(ElementType::kS32);
  Computation* entry = module.AddComputation("main");
  Instruction* p = entry->AddParameter(0, shape);
  entry->set_root(p);
  EXPECT_TRUE(module.HasAny({Opcode::kAbs, Opcode::kParameter}));
  std::unique_ptr<Computation> alone = Computation::Create("alone");
  alone->set_root(alone->Add(Opcode::kAbs, shape, {alone->AddParameter(0, shape)}));
  EXPECT_FALSE(module.HasAny({Opcode::kAbs}));
  Computation* taken = *module.TakeOver(std::move(alone), Module::Role::kEmbedded);
  EXPECT_TRUE(module.HasAny({Opcode::kAbs}));
  EXPECT_FALSE(entry->has_calls());
  Instruction* call = entry->Add(Opcode::kCall, shape, {p}, {}, {taken});
  EXPECT_TRUE(entry->has_calls());
  EXPECT_TRUE(module.RemoveUnusedComputations().ok());
  EXPECT_TRUE(module.Clone("")->HasAny({Opcode::kAbs}));
  entry->Remove(call);
  EXPECT_FALSE(entry->has_calls());
  EXPECT_FALSE(module.HasAny({Opcode::kCall}));
  EXPECT_TRUE(module.RemoveUnusedComputations().ok());
  EXPECT_EQ(module.computation_count(), 1);
  EXPECT_FALSE(module.HasAny({Opcode::kAbs}));
}

}  // namespace
}  // namespace assay
