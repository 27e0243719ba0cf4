// Writes HLO text. read(write(m)) is m for every verified module; canonical text is a fixed point.
// Document: hlo-format chapters 1.4, 3.4, 3.9, 4, 5.4.
#pragma once

#include <string>

#include "spec/ir/module.h"

namespace assay {

struct WriteOptions {
  bool percent = true;          // %names and computation signatures
  bool operand_shapes = false;  // f32[2]{0} %x
  bool metadata = true;         // metadata and the stack frame tables
  bool large_constants = true;  // print every constant in full instead of {...} above 10 elements
  bool index_comments = true;   // /*index=5*/ in lists of operands (tuple shapes always have them)
  bool layouts = true;          // of instruction shapes
  bool async_sugar = false;     // dot-start(...) for an async-start around one dot

  static WriteOptions Long() { return {}; }
  // The style that JAX prints: no percent signs, signatures, metadata; async sugar.
  static WriteOptions Short();
};

std::string WriteModule(const Module& module, const WriteOptions& options = {});
std::string WriteComputation(const Computation& computation, const WriteOptions& options = {});
std::string WriteInstruction(const Instruction& instruction, const WriteOptions& options = {});
std::string WriteLiteral(const Literal& literal);
void AppendLiteral(std::string& out, const Literal& literal);

}  // namespace assay
