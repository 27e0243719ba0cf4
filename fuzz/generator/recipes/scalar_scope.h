// A computation of scalars under construction. While the scope lives, the program adds its
// instructions to that computation.
#pragma once

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "fuzz/generator/program.h"

namespace assay {

class ScalarScope {
 public:
  ScalarScope(Program& program, std::string_view name, absl::Span<const ElementType> parameters)
      : program_(program) {
    scope_.computation = program.NewComputation(name);
    scope_.depth = program.scope().depth + 1;
    outer_ = program.EnterScope(&scope_);
    for (size_t i = 0; i < parameters.size(); ++i)
      at.push_back(program.ScopeParameter(static_cast<int64_t>(i), Shape::Scalar(parameters[i])));
  }
  Computation* Finish(Instruction* root) {
    scope_.computation->set_root(root);
    program_.EnterScope(outer_);
    return scope_.computation;
  }
  std::vector<Instruction*> at;

 private:
  Program& program_;
  Scope scope_;
  Scope* outer_;
};

}  // namespace assay
