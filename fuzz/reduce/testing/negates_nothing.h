// A compiler with one mistake, for tests of what looks for it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "spec/backend/fake_backend.h"
#include "spec/backend/oracle.h"
#include "spec/numerics/profile.h"

namespace assay {

// A compiler that gives back the operand of every negate.
inline FakeBackend::Script NegatesNothing(Oracle& oracle) {
  FakeBackend::Script script;
  script.description.name = "fake";
  script.description.in_process = false;
  script.description.profile = &Profile::Strict();
  script.run =
      [&oracle](
          const Module& module, const CompileOptions&,
          const std::vector<std::vector<const Literal*>>& arguments) -> absl::StatusOr<RunResult> {
    const std::unique_ptr<Module> wrong = module.Clone("");
    for (Instruction* at : wrong->entry()->PostOrder()) {
      if (at->opcode() == Opcode::kNegate) at->ReplaceAllUsesWith(at->operand(0));
    }
    absl::StatusOr<Literal> value = oracle.Evaluate(*wrong, arguments[0], {});
    if (!value.ok()) return value.status();
    RunResult result;
    result.outputs.push_back(*std::move(value));
    return result;
  };
  return script;
}

}  // namespace assay
