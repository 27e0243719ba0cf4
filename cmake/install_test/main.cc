// A program outside the tree: builds a computation and asks the oracle for its value.
#include <iostream>

#include "reference/interpreter/interpreter.h"
#include "spec/builder/xla_builder.h"

int main() {
  assay::XlaBuilder b("outside");
  b.Add(b.Iota(assay::ShapeUtil::MakeShape(assay::ElementType::kS32, {3}), 0),
        b.ConstantLiteral(assay::Literal::Scalar(assay::ElementType::kS32, 40)));
  auto value = assay::MakeOracle()->Evaluate(b.Build()->module(), {}, {});
  std::cout << value->ToString() << "\n";
}
