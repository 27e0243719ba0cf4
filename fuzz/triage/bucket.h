// Groups findings that are the same bug. A fingerprint names the guilty rule where it is known;
// else it is made of the crash or of the structure of the reduced program.
#pragma once

#include <string>
#include <string_view>

#include "fuzz/finding.h"
#include "spec/ir/module.h"

namespace assay {

struct BucketKey {
  Outcome::Kind kind = Outcome::kWrong;
  std::string backend_family;  // "cpu", "xla": a name without its options
  std::string rule;            // guilty decision: enough by itself
  std::string pass;            // guilty pass: many rules wide, so it counts what it changed
  std::string notable;         // what is only notable ("sign of a zero"); "" of a failure
  std::string flags;           // without a guilty pass: which flags silence it ("fffpf")
  std::string crash;           // what a crash left behind
  const Module* reduced = nullptr;
};

// "cpu/wrong value/ds-of-ds", "xla/wrong value/algsimp/dynamic-slice+pad": the rule, or the pass
// and the opcodes without which it does not fail; where no pass is guilty, also what kind of
// numbers the result has and what silences it. Usable as a folder name after '/' is replaced.
std::string BucketOf(const BucketKey& key);

// The part of a crash report that stays equal from case to case: the first telling line without
// numbers, addresses, names in quotes or after '%', and paths.
std::string CrashSignature(const std::string& text);

// The part of a signature that says that a worker died, before what it wrote last: "the worker died
// of SIGABRT;". "" if it does not say so.
std::string_view DeathIn(std::string_view signature);

// Opcodes of a module without parameters and constants, sorted, each once: "dynamic-slice+pad". How
// a scatter combines its elements does not count.
std::string OpcodeSet(const Module& module);

// What may make another bug of a program with the same bucket: the class of the numbers of output
// `leaf` (of the first one where there is no such), and the types of all indices. "f by s8",
// "i of few bits".
std::string VariantOf(const Module& module, int64_t leaf = 0);

// Stands beside the opcodes of a finding whose program HasNarrowIndex.
inline constexpr char kNarrowIndex[] = "narrow-index";
// True if an op says where it begins in a type that does not hold all sizes of its operand.
bool HasNarrowIndex(const Module& module);

// Stands beside the opcodes of a finding whose answer has NaN in the place of a zero, in a type
// that has no zero of negative sign and NaN under its code.
inline constexpr char kNanForZero[] = "nan-for-zero";

// Stands beside the opcodes of a finding whose program HasUnsignedLoop.
inline constexpr char kUnsignedLoop[] = "unsigned-loop";
// True if a loop goes on as long as a comparison of unsigned integers holds.
bool HasUnsignedLoop(const Module& module);

// Stands beside the opcodes of a finding whose program HasFewBits.
inline constexpr char kFewBits[] = "few-bits";
// True if an array or a scalar is of numbers of fewer than 8 bits, which are packed in memory.
bool HasFewBits(const Module& module);

// Stands beside the opcodes of a finding whose program HasOneZero.
inline constexpr char kOneZero[] = "one-zero";
// True if an array or a scalar is of 8-bit floats without a zero of negative sign ("fnuz").
bool HasOneZero(const Module& module);

// Stands beside the opcodes of a finding whose program HasOrderOfBrainFloats.
inline constexpr char kOrderOfBrainFloats[] = "order-of-bf16";
// True if bf16 numbers are compared by total order, as topk does. XLA:CPU compares them as f32
// numbers, whose subnormals are zeros.
bool HasOrderOfBrainFloats(const Module& module);

// True of crashes: a smaller program shows the same one only if it keeps their signature.
bool IsCrash(Outcome::Kind kind);

// The kind of numbers: 'f' floats, 'c' complex, 'p' predicates, 'i' integers.
char ClassLetter(ElementType type);
// Of the output, the first of a tuple.
char ClassLetterOf(const Module& module);
// Of the output, or of what it is a comparison of.
char ClassLetterOfNumbers(const Module& module);

// "cpu:threads=1" -> "cpu"
std::string BackendFamily(const std::string& name);

}  // namespace assay
