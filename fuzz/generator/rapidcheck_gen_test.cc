// Generated programs in properties of RapidCheck.
#include "fuzz/generator/rapidcheck_gen.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

RC_GTEST_PROP(GeneratedModules, VerifyAndReadBack, ()) {
  SharedCase made = *AnyCase();
  RC_ASSERT(Verify(*made->module).ok());
  std::string text = WriteModule(*made->module);
  absl::StatusOr<std::unique_ptr<Module>> again = ReadModule(text);
  RC_ASSERT(again.ok());
  RC_ASSERT((*again)->Hash() == made->module->Hash());
  RC_ASSERT(WriteModule(**again) == text);
}

RC_GTEST_PROP(GeneratedModules, CloneIsEqual, ()) {
  SharedCase made = *AnyCase();
  RC_ASSERT(made->module->Clone("")->Hash() == made->module->Hash());
}

RC_GTEST_PROP(GeneratedLiterals, HaveTheirShapeAndReadBack, ()) {
  Shape shape = *AnyShape();
  Literal literal = *AnyLiteral(shape);
  RC_ASSERT(Compatible(literal.shape(), shape));
  RC_ASSERT(literal.element_count() == shape.ElementCount());
  absl::StatusOr<Literal> again = ReadLiteral(shape, literal.ToString());
  RC_ASSERT(again.ok());
  RC_ASSERT(again->BitwiseEqual(literal));
}

RC_GTEST_PROP(GeneratedTypes, ObeyTheirMask, ()) {
  RC_ASSERT(IsFloat(*AnyElementType(kF)));
  RC_ASSERT(IsInteger(*AnyElementType(kI)));
}

}  // namespace
}  // namespace assay
