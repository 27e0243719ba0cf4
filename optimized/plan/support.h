// Tells what a target has code for: the one place that answers it, for the capability table of its
// backend and for each instruction of a module.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "optimized/target/target.h"
#include "spec/ir/module.h"

namespace assay {

// True if there is code for the op, at least for some of its forms.
bool IsCompiled(const Target& target, Opcode opcode);
// True if the op has code where its operands have this element type.
bool IsCompiledFor(const Target& target, Opcode opcode, ElementType type);
// An unsupported error that names the first instruction, and what of it has no code; OK otherwise.
absl::Status CheckSupported(const Target& target, const Module& module);

// Forms that the shared element emitters have no code for, as OpSupport::missing tells them: empty
// where the form is another one.
// The parameters of a combiner have the operands' types: no code converts between them.
std::string CombinesOwnType(const Instruction& instruction);
std::string IsForwardConvolution(const Instruction& instruction);

// Forms that the functions of the runtime do not take.
std::string MovesWholeArrays(const Instruction& collective);  // of one type, in and out
std::string HasNoTinyFloats(const Instruction& instruction);
std::string GivesWholeWords(const Instruction& random_bits);

}  // namespace assay
