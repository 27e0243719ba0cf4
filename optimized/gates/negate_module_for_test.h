// A module for tests of gates and defects.
#pragma once

#include "spec/ir/module.h"

namespace assay {

// A module with one instruction to be rewritten: negate(x).
struct NegateModule {
  NegateModule() {
    computation = module.AddComputation("main");
    module.set_entry(computation);
    x = computation->AddParameter(0, Shape::Array(ElementType::kS32, {4}));
    target = computation->Add(Opcode::kNegate, x->shape(), {x});
    computation->set_root(target);
  }
  Module module{"m"};
  Computation* computation;
  Instruction *x, *target;
};

}  // namespace assay
