// Small random programs on floats, for the property tests of the bounds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reference/testing/random.h"
#include "spec/ir/module.h"

namespace assay::reference {

struct FloatProgram {
  std::unique_ptr<Module> module;
  std::vector<Literal> inputs;

  std::vector<const Literal*> Arguments() const {
    std::vector<const Literal*> arguments;
    for (const Literal& input : inputs) arguments.push_back(&input);
    return arguments;
  }
  std::string DescribeInputs() const {
    std::string text;
    for (const Literal& input : inputs) text += "input " + input.ToString() + "\n";
    return text;
  }
};

// `type` is the element type of most of the program. Shapes are rank 1 of `size` elements and
// scalars.
FloatProgram RandomFloatProgram(Random& random, ElementType type, int64_t size, int instructions);

// A value with the spread of real inputs: mostly moderate, some whole, few special.
double RandomValue(Random& random, ElementType type);

}  // namespace assay::reference
