// The ways in which values of LLVM's types are held: in which registers, and in how many pieces.
#pragma once

#include "llvm/IR/Constants.h"
#include "llvm/IR/Type.h"

namespace assay::direct {

// Bytes of a register for vectors.
inline constexpr int kPieceBytes = 32;

// Scalars have one piece, structs of two equal floats one per member, vectors as many as they fill.
// Integers and pointers are held in general registers, zero-extended to 64 bits; so are scalars of
// f16, as their bits. Lanes of vectors have at least a byte; a truth among them is all ones or all
// zeros, as wide as the lanes of the comparison that it comes from.
struct Kind {
  bool is_known = false;
  bool is_vector = false;
  bool is_float = false;    // of 32 or 64 bits
  bool in_general = false;  // held in a general register
  int lanes = 1;            // of a struct its members
  int bits = 0;             // of a lane
  int bytes = 0;            // of a lane in memory

  bool is_truth() const { return bits == 1; }
  bool is_struct() const { return !is_vector && lanes == 2; }
  int pieces(int lane_bytes) const {
    return is_vector ? (lanes * lane_bytes + kPieceBytes - 1) / kPieceBytes : lanes;
  }
  int piece_bytes() const { return is_vector ? kPieceBytes : 8; }
  bool is_whole() const { return bits == 8 * bytes; }
};

// Not known: a type that only LLVM's way can translate.
Kind KindOf(const llvm::Type* type);

// The bits of lane (or member) `lane` of a constant; false for what is not plain data.
bool ConstantBits(const llvm::Constant& constant, int lane, uint64_t& bits);

}  // namespace assay::direct
