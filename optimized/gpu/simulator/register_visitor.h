// All registers that an operation names, wherever it does.
#pragma once

#include "optimized/gpu/simulator/kernel_code.h"

namespace assay::gpu {

// Calls `read(register)` for what the operation reads and `write(register, is_local)` for what it
// writes, with references into the code; absent registers are left out. Copies on edges belong to
// the operation that ends the block.
template <class Read, class Write>
class RegisterVisitor {
 public:
  RegisterVisitor(KernelCode& code, Read read, Write write)
      : code_(code), read_(read), write_(write) {}

  void Visit(Op& op) {
    Use(op.a);
    Use(op.b);
    Use(op.c);
    switch (op.kind) {
      case OpKind::kLoad:
        Use(code_.memory[op.side].address);
        for (Piece& piece : code_.memory[op.side].pieces) Set(piece.place, piece.is_local);
        break;
      case OpKind::kStore:
        Use(code_.memory[op.side].address);
        for (Piece& piece : code_.memory[op.side].pieces) Use(piece.place);
        break;
      case OpKind::kAtomic:
        VisitAtomic(code_.atomics[op.side]);
        break;
      case OpKind::kCopyBytes:
      case OpKind::kFillBytes:
        // The addresses are operands of the operation, too.
        Use(code_.memory[op.side].address);
        if (op.kind == OpKind::kCopyBytes) Use(code_.memory[op.side + 1].address);
        break;
      case OpKind::kShuffle:
        VisitShuffle(code_.shuffles[op.side]);
        break;
      case OpKind::kMatrix:
        VisitMatrix(code_.matrices[op.side]);
        break;
      case OpKind::kAsyncCopy:
        Use(code_.asyncs[op.side].to.address);
        Use(code_.asyncs[op.side].from.address);
        Use(code_.asyncs[op.side].bytes);
        break;
      case OpKind::kMbarrier:
        Use(code_.mbarriers[op.side].at.address);
        Use(code_.mbarriers[op.side].value);
        Set(code_.mbarriers[op.side].result, code_.mbarriers[op.side].result_is_local);
        break;
      case OpKind::kJump:
        VisitEdge(op.side);
        break;
      case OpKind::kBranch:
        VisitEdge(op.side);
        VisitEdge(op.side + 1);
        break;
      case OpKind::kSwitch: {
        const SwitchOp& cases = code_.switches[op.side];
        for (uint32_t k = 0; k <= cases.values.size(); ++k) VisitEdge(cases.edges + k);
        break;
      }
      default:
        break;
    }
    Set(op.result, op.is_local);
  }

 private:
  void Use(Register& place) {
    if (place != kNoRegister) read_(place);
  }
  void Set(Register& place, bool& is_local) {
    if (place != kNoRegister) write_(place, is_local);
  }
  void VisitAtomic(AtomicOp& atomic) {
    Use(atomic.memory.address);
    for (Piece& piece : atomic.memory.pieces) Use(piece.place);
    Use(atomic.expected);
    Set(atomic.old, atomic.old_is_local);
    Set(atomic.success, atomic.success_is_local);
  }
  void VisitMatrix(MatrixOp& matrix) {
    for (auto* places : {&matrix.a, &matrix.b, &matrix.c}) {
      for (Register& place : *places) Use(place);
    }
    // One answer for all four.
    matrix.is_local = true;
    for (Register& place : matrix.results) {
      bool is_local = false;
      Set(place, is_local);
      matrix.is_local = matrix.is_local && is_local;
    }
  }
  void VisitShuffle(ShuffleOp& shuffle) {
    Use(shuffle.lanes);
    Use(shuffle.value);
    Use(shuffle.offset);
    Use(shuffle.clamp);
    Set(shuffle.result, shuffle.result_is_local);
    Set(shuffle.in_range, shuffle.in_range_is_local);
  }
  void VisitEdge(uint32_t edge) {
    for (uint32_t k = 0; k < code_.edges[edge].copies; ++k) {
      EdgeCopy& copy = code_.copies[code_.edges[edge].first_copy + k];
      bool is_local = false;
      Use(copy.from);
      Set(copy.to, is_local);
    }
  }

  KernelCode& code_;
  Read read_;
  Write write_;
};

}  // namespace assay::gpu
