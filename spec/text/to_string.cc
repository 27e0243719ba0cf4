// The members ToString of literals, instructions, computations and modules. They are declared with
// their classes and defined here, so that the rooms below do not include the writer.
#include "spec/text/writer.h"

namespace assay {

std::string Literal::ToString() const { return WriteLiteral(*this); }

std::string Instruction::ToString() const { return WriteInstruction(*this); }

std::string Computation::ToString() const { return WriteComputation(*this); }

std::string Module::ToString() const { return ToString(WriteOptions()); }

std::string Module::ToString(const WriteOptions& options) const {
  return WriteModule(*this, options);
}

}  // namespace assay
