// The steps of a reduction. Each offers what it can make of the best case, in the same order
// whatever becomes of it; the file that it is in says what it is about.
#pragma once

#include "fuzz/reduce/reduction.h"

namespace assay {

// structure.cc
void DropHeader(Candidates& to);         // annotations, aliases, layouts of the caller
void DropOutputs(Candidates& to);        // elements of a root tuple
void DropEffects(Candidates& to);        // unread instructions that have effects
void EarlierRoot(Candidates& to);        // an intermediate value as the only output
void OutputsByOperands(Candidates& to);  // an operand of an output in its place
void WholeResult(Candidates& to);        // a tuple in place of its elements that are outputs
void CutOperands(Candidates& to);        // a parameter or constant in place of what computes it
void ForwardTuples(Candidates& to);      // get-tuple-element of tuple
void ReplaceByOperand(Candidates& to);   // an instruction by one of its operands
void MergeLeaves(Candidates& to);        // another value in place of a parameter or constant
// calls.cc
void InlineCalls(Candidates& to);        // also a branch of a conditional and a trip of a while
void LiftCallee(Candidates& to);         // the body of a called computation as the only output
void MergeComputations(Candidates& to);  // another computation of the same form is called
void SimplifyCallees(Candidates& to);    // constants in called computations
// state.cc
void PruneLoopState(Candidates& to);  // elements of the tuple that a while carries
void PruneBranches(Candidates& to);   // elements of the tuple that a branch takes
void ReadElements(Candidates& to);    // an earlier element of a tuple in place of another
// operands.cc
void DropOperands(Candidates& to);  // arrays of a sort, reduce, map, call or concatenate
// types.cc
void NumbersToTruth(Candidates& to);  // numbers that are only compared become truth values
void SimplifyTypes(Candidates& to);   // s32 and f32
// dimensions.cc, attributes.cc, values.cc
void ShrinkEverything(Candidates& to);  // all dimensions at once: small programs are quick to try
void ShrinkDimensions(Candidates& to);
void DropDimensions(Candidates& to);      // those of one element
void SimplifyAttributes(Candidates& to);  // windows, padding, slices, optional attributes
void SimplifyValues(Candidates& to);      // zeros, ones, small numbers

}  // namespace assay
