// A small computation under construction, of scalars for the most part. Until it is finished, the
// program adds its instructions to that computation.
#pragma once

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "fuzz/generator/program.h"

namespace assay {

class ScalarScope {
 public:
  ScalarScope(Program& program, std::string_view name, absl::Span<const Shape> parameters)
      : program_(program) {
    scope_.computation = program.NewComputation(name);
    scope_.depth = program.scope().depth + 1;
    outer_ = program.EnterScope(&scope_);
    for (size_t i = 0; i < parameters.size(); ++i)
      at.push_back(program.ScopeParameter(static_cast<int64_t>(i), parameters[i]));
  }
  ScalarScope(Program& program, std::string_view name, absl::Span<const ElementType> parameters)
      : ScalarScope(program, name, Scalars(parameters)) {}
  Computation* Finish(Instruction* root) {
    scope_.computation->set_root(root);
    program_.EnterScope(outer_);
    return scope_.computation;
  }
  std::vector<Instruction*> at;

 private:
  static std::vector<Shape> Scalars(absl::Span<const ElementType> types) {
    std::vector<Shape> shapes;
    for (ElementType type : types) shapes.push_back(Shape::Scalar(type));
    return shapes;
  }

  Program& program_;
  Scope scope_;
  Scope* outer_;
};

}  // namespace assay
