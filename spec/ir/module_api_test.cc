// The members of the HloModule document, one line of testdata/module_rows.txt each: here those
// about computations.
#include <set>

#include "spec/ir/hash.h"
#include "spec/ir/testing/module_api_observations.h"
#include "spec/verifier/verifier.h"

namespace assay::module_api {

using namespace hlo_module;  // the names of the document

namespace {

// Callees before callers in 50 random acyclic call graphs.
std::string RandomPostOrders() {
  Module source("m");
  int right = 0;
  for (int graph = 0; graph < 50; ++graph) {
    Module module("g");
    std::vector<Computation*> made;
    for (int i = 0; i < 12; ++i) {
      auto computation = Computation::Create(StrCat("c", i));
      Instruction* value = computation->AddParameter(0, kF4);
      for (Computation* callee : made) {
        if (source.RandomNew64() % 4 != 0) continue;
        value = computation->Add(Opcode::kCall, kF4, {value}, {}, {callee});
      }
      computation->set_root(value);
      made.push_back(*AddEmbeddedComputation(module, std::move(computation)));
    }
    module.set_entry(made.back());
    std::set<const Computation*> before;
    bool good = true;
    for (Computation* computation : MakeComputationPostOrder(module)) {
      for (Instruction* instruction : computation->instructions()) {
        for (Computation* callee : instruction->callees()) good = good && before.contains(callee);
      }
      before.insert(computation);
    }
    right += good && before.size() == made.size();
  }
  return StrCat(right, " of 50 graphs");
}

std::string Outlined() {
  auto module = Sample();
  const uint64_t inner = HashComputation(*module->GetComputationWithName("inner"));
  auto call = OutlineExpressionFromComputation(*module, {Find(*module, "k"), Find(*module, "s")},
                                               "expression", module->entry());
  if (!call.ok()) return Text(call);
  return StrCat(
      (*call)->ToString(), "; root ", Name((*call)->callee()->root()->opcode()), "; ",
      Text(Verify(*module)), "; inner ",
      inner == HashComputation(*module->GetComputationWithName("inner")) ? "kept" : "changed");
}

std::string TwoOutputs() {
  auto module = *ReadModule(kTwoOrders);
  return Text(OutlineExpressionFromComputation(*module, {Find(*module, "x"), Find(*module, "y")},
                                               "two", module->entry()));
}

}  // namespace

void ObserveComputations(Observations& see) {
  see["api-hlo-module"] = [] {
    auto module = Sample();
    return StrCat(module->computation_count(), " computations, entry ", module->entry()->name());
  };
  see["api-hlo-computation"] = [] {
    auto module = Sample();
    return StrCat(module->entry()->instruction_count(), " instructions, root ",
                  root_instruction(*module->entry())->name());
  };
  see["api-hlo-instruction"] = [] {
    auto module = Sample();
    return StrCat(Find(*module, "k")->callee()->name(), " is what ", Find(*module, "k")->name(),
                  " calls");
  };
  see["api-ctor"] = [] {
    Module module("m", ModuleConfig());
    return StrCat(module.name(), ", ", module.computation_count(), " computations, replicas ",
                  module.config().replica_count);
  };
  see["api-add-entry-computation"] = [] {
    Module module("m");
    auto first = AddEntryComputation(module, Unary("main"));
    auto second = AddEntryComputation(module, Unary("again"));
    return StrCat((*first)->name(), "; ", Text(second), "; ", module.computation_count());
  };
  see["api-add-entry-computation-with-layouts"] = [] {
    Module module("m");
    auto computation = Computation::Create("main");
    Shape shape = Shape::Array(ElementType::kF32, {2, 3});
    shape.set_layout(Layout({0, 1}));
    computation->set_root(computation->AddParameter(0, shape));
    AddEntryComputationWithLayouts(module, std::move(computation)).status().IgnoreError();
    return entry_computation_layout(module).result.ToString(true);
  };
  see["api-replace-entry-computation"] = [] {
    auto module = Sample();
    Module other("other");
    Computation* foreign = *AddEntryComputation(other, Unary("x"));
    const std::string wrong = Text(ReplaceEntryComputation(*module, foreign));
    const std::string right =
        Text(ReplaceEntryComputation(*module, module->GetComputationWithName("outer")));
    return StrCat(wrong, "; ", right, "; ", module->entry()->name());
  };
  see["api-add-embedded-computation"] = [] {
    auto module = Sample();
    auto added = AddEmbeddedComputation(*module, Unary("inner"));
    return StrCat((*added)->name(), " ", module->computation_count(), " ", module->entry()->name());
  };
  see["api-remove-embedded-computation"] = [] {
    auto module = Sample();
    Module other("other");
    Computation* foreign = *AddEntryComputation(other, Unary("x"));
    Computation* unused = *AddEmbeddedComputation(*module, Unary("unused"));
    return StrCat(Text(RemoveEmbeddedComputation(*module, foreign)), "; ",
                  Text(RemoveEmbeddedComputation(*module, module->entry())), "; ",
                  Text(RemoveEmbeddedComputation(*module, module->GetComputationWithName("inner"))),
                  "; ", Text(RemoveEmbeddedComputation(*module, unused)));
  };
  see["api-remove-unused-computations"] = [] {
    auto module = Sample();
    AddEmbeddedComputation(*module, Unary("unused")).status().IgnoreError();
    const std::string status = Text(module->RemoveUnusedComputations());
    return StrCat(status, "; ", Names(module->computations()));
  };
  see["api-replace-computations"] = [] {
    auto module = Sample();
    Computation* other = *AddEmbeddedComputation(*module, Unary("other", Opcode::kSine));
    Computation* main = *AddEmbeddedComputation(*module, Unary("main2"));
    ReplaceComputations(
        *module, {{module->GetComputationWithName("inner"), other}, {module->entry(), main}});
    return StrCat(Find(*module, "c")->callee()->name(), " ", module->entry()->name());
  };
  see["api-clone-suffix"] = [] {
    auto module = Sample();
    auto clone = module->Clone();
    std::string text = clone->ToString();
    clone->set_name(module->name());
    return StrCat(text.substr(0, text.find('\n')), "; otherwise ",
                  clone->ToString() == module->ToString() ? "equal" : "different", "; ",
                  module->Clone("x")->name());
  };
  see["api-deep-clone-computation"] = [] {
    auto module = Sample();
    CloneContext context;
    Computation* outer = module->GetComputationWithName("outer");
    Computation* clone = DeepCloneComputation(*module, outer, &context);
    Computation* inner = module->GetComputationWithName("inner");
    return StrCat(clone->name(), " calls ", clone->root()->callee()->name(), "; inner is ",
                  context.computations.at(inner)->name(), "; ", context.instructions.size(),
                  " instructions; ", Bool(clone->Equal(*outer)));
  };
  see["api-entry-computation"] = [] {
    Module empty("m");
    return StrCat(entry_computation(*Sample())->name(), "; without one ",
                  Fate([&] { entry_computation(empty); }));
  };
  see["api-has-entry-computation"] = [] {
    Module module("m");
    const bool before = has_entry_computation(module);
    AddEntryComputation(module, Unary("main")).status().IgnoreError();
    return StrCat(Bool(before), " ", Bool(has_entry_computation(module)));
  };
  see["api-result-shape"] = [] {
    Module empty("m");
    return StrCat(result_shape(*Sample()).ToString(), "; without one ",
                  Fate([&] { result_shape(empty); }));
  };
  see["api-compute-computation-layout"] = [] {
    auto module = *ReadModule(
        "HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{1,0}}\n"
        "ENTRY e { ROOT a = f32[2,3]{0,1} parameter(0) }");
    return compute_computation_layout(*module).result.ToString(true);
  };
  see["api-mutable-entry-computation-layout"] = [] {
    auto module = Sample();
    mutable_entry_computation_layout(*module)->result = Shape::Array(ElementType::kF32, {7});
    return entry_computation_layout(*module).result.ToString();
  };
  see["api-entry-computation-layout"] = [] {
    auto module = Sample();
    mutable_entry_computation_layout(*module);
    return HeaderOf(**ReadModule(module->ToString()));
  };
  see["api-computations-const"] = [] {
    const auto module = Sample();
    std::string names;
    for (const Computation* c : std::as_const(*module).computations()) names += c->name() + " ";
    return names;
  };
  see["api-computation-instructions"] = [] { return Names(Sample()->entry()->instructions()); };
  see["api-computations-mutable"] = [] {
    auto module = Sample();
    for (Computation* c : module->computations()) c->set_execution_thread("t");
    return StrCat(MakeComputationPostOrder(*module, {"t"}).size(), " of ",
                  module->computation_count());
  };
  see["api-get-computation-with-name"] = [] {
    auto module = Sample();
    return StrCat(module->GetComputationWithName("inner")->name(), " ",
                  Bool(module->GetComputationWithName("none") == nullptr));
  };
  see["api-computation-count"] = [] { return StrCat(Sample()->computation_count()); };
  see["api-mutable-computation"] = [] {
    auto module = Sample();
    return StrCat(mutable_computation(*module, 0)->name(), "; 4 ",
                  Fate([&] { mutable_computation(*module, 4); }), "; -1 ",
                  Fate([&] { mutable_computation(*module, -1); }));
  };
  see["api-instruction-count"] = [] { return StrCat(instruction_count(*Sample())); };
  see["api-cleanup"] = [] {
    auto module = Sample();
    int64_t removed = 0;
    for (Computation* c : module->computations()) {
      Instruction* dead = c->Add(Opcode::kAbs, kF4, {c->parameter(0)});
      c->RemoveInstruction(dead).IgnoreError();
      removed += c->removed_count();
    }
    Cleanup(*module);
    int64_t left = 0;
    for (Computation* c : module->computations()) left += c->removed_count();
    return StrCat(removed, " then ", left);
  };
  see["api-make-computation-post-order"] = RandomPostOrders;
  see["api-make-computation-sorted"] = [] {
    // Both modules hold the same computations, in another stored order and under other names.
    Module a("a"), b("b");
    for (Opcode op : {Opcode::kNegate, Opcode::kSine, Opcode::kCosine}) {
      AddEmbeddedComputation(a, Unary("x", op)).status().IgnoreError();
    }
    for (Opcode op : {Opcode::kCosine, Opcode::kNegate, Opcode::kSine}) {
      AddEmbeddedComputation(b, Unary("y", op)).status().IgnoreError();
    }
    std::string first, second;
    for (Computation* c : MakeComputationSorted(a)) first += Name(c->root()->opcode());
    for (Computation* c : MakeComputationSorted(b)) second += Name(c->root()->opcode());
    return StrCat(MakeComputationSorted(a).size(), " ", first == second ? "same" : "other",
                  " order");
  };
  see["api-make-nonfusion-computations"] = [] {
    auto module = Sample();
    std::string names;
    for (Computation* c : module->MakeNonfusionComputations()) {
      AddEmbeddedComputation(*module, Unary("new")).status().IgnoreError();
      StrAppend(&names, c->name(), " ");
    }
    return names;
  };
  see["api-make-nonfusion-computations-sorted"] = [] {
    auto module = Sample();
    auto sorted = MakeNonfusionComputationsSorted(*module);
    // The order is that of the content: the same for computations that were added in another order
    // under other names.
    std::string orders;
    for (bool reverse : {false, true}) {
      Module other("other");
      std::vector<Opcode> opcodes = {Opcode::kNegate, Opcode::kSine, Opcode::kCosine, Opcode::kTan};
      if (reverse) std::reverse(opcodes.begin(), opcodes.end());
      for (Opcode opcode : opcodes) {
        const std::string name = StrCat(reverse ? "z" : "a", orders.size(), Name(opcode));
        AddEmbeddedComputation(other, Unary(name, opcode)).status().IgnoreError();
      }
      for (Computation* c : MakeNonfusionComputationsSorted(other))
        StrAppend(&orders, " ", Name(c->root()->opcode()));
      orders += reverse ? "" : " |";
    }
    return StrCat(sorted.size(), " ",
                  Bool(std::none_of(sorted.begin(), sorted.end(),
                                    [](Computation* c) { return c->IsFusionComputation(); })),
                  orders);
  };
  see["api-outline-expression"] = [] { return StrCat(Outlined(), "; ", TwoOutputs()); };
  see["api-add-computation-internal"] = [] {
    // Without layouts of its own an entry gets the default ones, with them it keeps them.
    std::string out;
    for (bool keep : {false, true}) {
      Module module("m");
      auto computation = Computation::Create("main");
      Shape shape = Shape::Array(ElementType::kF32, {2, 3});
      shape.set_layout(Layout({0, 1}));
      computation->set_root(computation->AddParameter(0, shape));
      auto added = keep ? AddComputationAndUnifyNamesAndIds(module, std::move(computation), true)
                        : AddEntryComputation(module, std::move(computation));
      StrAppend(&out, entry_computation_layout(module).result.ToString(true), " ");
    }
    // A name that is taken becomes another on either way into the module.
    for (bool unify : {false, true}) {
      Module module("m");
      AddEmbeddedComputation(module, Unary("f")).status().IgnoreError();
      auto second = unify
                        ? AddComputationAndUnifyNamesAndIds(module, Unary("f"), /*is_entry=*/false)
                        : AddEmbeddedComputation(module, Unary("f"));
      StrAppend(&out, unify ? "unified " : "embedded ",
                second.ok() ? (*second)->name() : Text(second.status()), " ");
    }
    return out;
  };
  see["api-field-entry-computation"] = [] { return Bool(Module("m").entry() == nullptr); };
  see["api-field-computations"] = [] {
    Module module("m");
    Computation* added = *AddEmbeddedComputation(module, Unary("x"));
    return Bool(added->parent() == &module);
  };
  see["api-computation-cleanup"] = [] {
    auto module = Sample();
    Computation* inner = module->GetComputationWithName("inner");
    Instruction* dead = inner->Add(Opcode::kAbs, kF4, {inner->parameter(0)});
    const std::string used = Text(inner->RemoveInstruction(inner->parameter(0)));
    const std::string root = Text(inner->RemoveInstruction(inner->root()));
    inner->RemoveInstruction(dead).IgnoreError();
    const std::string still = dead->name();
    inner->Cleanup();
    return StrCat(used, "; ", root, "; ", still, " kept until Cleanup; ", inner->removed_count());
  };
  see["api-is-fusion-computation"] = [] {
    auto module = Sample();
    std::string out;
    for (Computation* c : module->computations()) {
      StrAppend(&out, c->name(), " ", Bool(c->IsFusionComputation()), " ");
    }
    return out;
  };
  see["api-root-instruction"] = [] {
    auto module = Sample();
    set_root_instruction(*module->entry(), Find(*module, "s"));
    return root_instruction(*module->entry())->name();
  };
}

}  // namespace assay::module_api

namespace assay {
namespace {

TEST(ModuleApi, EveryMemberOfTheDocument) {
  Observations see;
  module_api::ObserveComputations(see);
  module_api::ObserveIdentity(see);
  module_api::ObserveAnnotations(see);
  CheckRowTable("spec/ir/testdata/module_rows.txt", see);
}

}  // namespace
}  // namespace assay
