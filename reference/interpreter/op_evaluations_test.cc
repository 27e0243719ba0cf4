// Every op that the op table defines has an evaluation and a bound.
#include "reference/values/op_context.h"

#include <gtest/gtest.h>

#include "spec/ops/op_table.h"

namespace assay::reference {
namespace {

TEST(OpEvaluations, EveryDefinedOpHasAnEvaluationAndABound) {
  int defined = 0;
  for (const OpInfo& info : AllOps()) {
    if (!info.IsDefined()) continue;
    ++defined;
    const OpEvaluation* row = FindEvaluation(info.opcode);
    ASSERT_NE(row, nullptr) << info.name << " is defined and has no row in reference/";
    const bool complete =
        row->apply != nullptr || (row->evaluate != nullptr && row->bound != nullptr);
    EXPECT_TRUE(complete) << info.name << " lacks an evaluation or a bound in reference/";
  }
  EXPECT_GE(defined, 40);
}

}  // namespace
}  // namespace assay::reference
