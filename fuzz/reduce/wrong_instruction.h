// The instruction that computes a wrong value from right ones, and small programs around it: where
// a failure sits, without knowing anything of the compiler.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/reduce/reducer.h"
#include "spec/backend/check.h"

namespace assay {

// The first array of the entry computation, operands first, that the backend gets wrong when all
// arrays are outputs.
struct WrongArray {
  // Null when that program fails in another way or not at all.
  const Instruction* instruction = nullptr;
  int64_t number = -1;  // among the arrays
  Literal answer;       // all arrays as the backend has them; an invalid shape if it gave none
};

// Compiles once, and runs in this process: for backends that run elsewhere.
WrongArray FirstWrongArray(const CheckSubject& subject, const Module& module,
                           const std::vector<Literal>& inputs);

// The ops of its operands that tell something: no leaves, no tuples, no broadcasts.
std::set<std::string> TellingOperands(const Instruction& instruction);
// The instruction and what its operands are, without leaves: "log(exponential)".
std::string PlaceOf(const Instruction& instruction);

// The op that makes the array, where the instruction takes it out of a tuple; and what that folds
// by.
const Instruction& Origin(const Instruction& instruction);
std::set<std::string> FoldsOf(const Instruction& instruction);
// The op that makes the array, and what it folds by: "reduce[maximum]", "while" for an element of
// a loop's state.
std::string OpWithFolds(const Instruction& instruction);

// The number of an instruction of the entry among its arrays, operands first; -1: it is none.
int64_t NumberOfArray(const Module& module, const Instruction* instruction);

// The program in which array `number` of the entry is one more input, with the value that
// `evaluate` gives for it: without what computes it, whatever else is wrong still is. None where
// there is no such array or value, or nothing is left.
std::optional<ReduceCase> WithArrayGiven(const ReduceCase& whole, int64_t number,
                                         const EvaluateFunction& evaluate);

// The op that computes leaf `leaf` of the result, and of an element-wise one the values of its
// operands at `element`: "abs(-1187840956)", "dynamic-slice".
std::string ApplicationOf(const ReduceCase& whole, int64_t leaf, int64_t element,
                          const EvaluateFunction& evaluate);

// Programs that compute `instruction`, of the entry of `whole`, from what is one, two, three, ...
// steps before it, smallest first; those arrays become inputs with the values that `evaluate` gives
// them. None where it gives no values.
std::vector<ReduceCase> ProgramsAround(const ReduceCase& whole, const Instruction* instruction,
                                       const EvaluateFunction& evaluate);

}  // namespace assay
