// Facts that tell failures apart besides who is guilty: the words of a crash, the ops of a reduced
// program and its types.
#pragma once

#include <set>
#include <string>

#include "spec/backend/outcome.h"
#include "spec/ir/module.h"

namespace assay {

// The part of a crash report that stays equal from case to case: the first telling line without
// numbers, addresses, names in quotes or after '%', and paths.
std::string CrashSignature(const std::string& text);

// Opcodes of a module without parameters and constants. How a scatter combines its elements does
// not count.
std::set<std::string> OpcodeSet(const Module& module);

// Facts that may make another bug of a program with the same bucket: the class of the numbers of
// output `leaf` (of the first one where there is no such), and the types of all indices. "f by s8",
// "i of few bits".
std::string VariantOf(const Module& module, int64_t leaf = 0);

// True of crashes: a smaller program shows the same one only if it keeps their signature.
bool IsCrash(Outcome::Kind kind);

// The kind of numbers: 'f' floats, 'c' complex, 'p' predicates, 'i' integers.
char ClassLetter(ElementType type);
// The class of the output, the first of a tuple.
char ClassLetterOf(const Module& module);
// The class of the output, or of what it is a comparison of.
char ClassLetterOfNumbers(const Module& module);

}  // namespace assay
