// RapidCheck generators over the same choices as campaigns use, for properties of anything that
// takes HLO: link assay_gen. A value shrinks by shortening and lowering its choice sequence, which
// gives smaller programs without knowing what they are.
#pragma once

#include <memory>
#include <string>

#include <rapidcheck.h>

#include "fuzz/choices.h"
#include "fuzz/generator/generate.h"
#include "spec/text/writer.h"

namespace assay {

// Modules are not copyable; properties share them.
using SharedCase = std::shared_ptr<const Case>;

// Choice sequences of at most `most` numbers.
inline rc::Gen<Choices> AnyChoices(int most = 400) {
  rc::Gen<std::vector<uint64_t>> numbers = rc::gen::resize(
      most, rc::gen::container<std::vector<uint64_t>>(rc::gen::arbitrary<uint32_t>()));
  return rc::gen::map(std::move(numbers), [](std::vector<uint64_t> recording) {
    return Choices::FromRecording(std::move(recording));
  });
}

// A computed element type that `mask` admits.
inline rc::Gen<ElementType> AnyElementType(TypeMask mask = kP | kI | kF) {
  std::vector<ElementType> fitting;
  for (ElementType type : ComputedTypes()) {
    if (Matches(mask, type)) fitting.push_back(type);
  }
  return rc::gen::elementOf(std::move(fitting));
}

// An array shape of computed type and at most a few hundred elements.
inline rc::Gen<Shape> AnyShape(TypeMask mask = kP | kI | kF, int64_t min_rank = 0) {
  return rc::gen::map(AnyChoices(40), [mask, min_rank](Choices choices) {
    Program program(choices, {});
    ElementType type = program.DrawType(mask);
    return Shape::Array(type, program.DrawDimensions(min_rank));
  });
}

// Values of a shape, in any family.
inline rc::Gen<Literal> AnyLiteral(Shape shape) {
  return rc::gen::map(AnyChoices(4), [shape = std::move(shape)](Choices choices) {
    auto family = static_cast<ValueFamily>(choices.Draw(kValueFamilyCount));
    return LiteralOfFamily(shape, family, choices);
  });
}

// A verified module with inputs.
inline rc::Gen<SharedCase> AnyCase(GeneratorOptions options = {}) {
  return rc::gen::map(AnyChoices(), [options](Choices choices) {
    return SharedCase(std::make_shared<Case>(GenerateFrom(choices, options)));
  });
}

}  // namespace assay

// RapidCheck prints these values when a property fails.
namespace rc {
inline void showValue(const assay::SharedCase& value, std::ostream& out) {
  out << assay::WriteModule(*value->module);
}
inline void showValue(const assay::Shape& value, std::ostream& out) { out << value.ToString(); }
inline void showValue(const assay::Literal& value, std::ostream& out) { out << value.ToString(); }
}  // namespace rc
