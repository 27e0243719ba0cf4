// The compact form of a kernel: operations on registers of 32 lanes, in blocks. Values of LLVM are
// cut into scalars, each of which has a place in the register file of its warp, or in the uniform
// one, which all warps of a launch read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "optimized/gpu/simulator/lanes/lane_table.h"

namespace assay::gpu {

// A place of a register: bytes from the start of its file, a multiple of 32; 1 added in the uniform
// file.
using Register = uint32_t;
inline constexpr Register kNoRegister = ~Register{0};

// Addresses are 64 bits wide in every address space and tell theirs by these bits; that of global
// memory has none.
inline constexpr uint64_t kSharedTag = uint64_t{1} << 56, kLocalTag = uint64_t{2} << 56,
                          kConstantTag = uint64_t{3} << 56, kTagMask = uint64_t{255} << 56;

enum class OpKind : uint8_t {
  kLanes,    // result = function(a, b, c)
  kRequire,  // `side` (a Requirement) holds of a, or `function` of b and c is 0, or it is a finding
  kLoad,     // side: MemoryOp
  kStore,    // side: MemoryOp
  kAtomic,   // side: AtomicOp
  kCopyBytes,  // a, b: to and from, c: how many; side: MemoryOp pairs
  kFillBytes,  // a: to, b: the byte, c: how many
  kBarrier,    // a: its number, b: how many threads, or none; side: BarrierMode
  kWarpSync,   // a: the lanes
  kShuffle,    // side: ShuffleOp
  kVote,       // a: the lanes, b: a truth; side: VoteMode
  kReduce,     // a: the lanes, b: an i32; side: a LaneOp
  kMatch,      // a: the lanes, b: a value; side: its bytes
  kActiveMask,
  kMatrix,     // side: MatrixOp
  kAsyncCopy,  // side: AsyncOp
  kAsyncCommit,
  kAsyncWait,  // a: how many groups may be open; none: 0
  kMbarrier,   // side: MbarrierOp
  kFence,
  kJump,    // side: edge
  kBranch,  // a: truth; side: edge if true, side + 1 otherwise
  kSwitch,  // a: value; side: SwitchOp
  kReturn,
  kTrap,  // not to be reached
};

struct Op {
  OpKind kind = OpKind::kLanes;
  // Nothing reads the result in another block, so that lanes that take no part may be written, too.
  bool is_local = false;
  uint8_t result_bytes = 0;
  uint32_t side = 0;
  LaneFunction function = nullptr;
  Register result = kNoRegister, a = kNoRegister, b = kNoRegister, c = kNoRegister;
  uint32_t source = 0;  // the instruction of LLVM
};

enum class BaseKind : uint8_t { kUnknown, kArgument, kShared, kConstant, kLocal };

// A scalar that a load or store moves. `is_local` as for Op.
struct Piece {
  Register place = 0;
  uint16_t bytes = 0;
  uint16_t offset = 0;
  uint64_t mask = ~uint64_t{0};  // of loaded integers of odd widths
  bool is_local = false;
};

enum class AtomicScope : uint8_t { kNone, kBlock, kDevice };

struct MemoryOp {
  Register address = kNoRegister;
  uint8_t space = 0;
  // The pointer is made from this, if from one thing: the argument, or the bytes [low, high) of
  // its space.
  BaseKind base = BaseKind::kUnknown;
  int argument = -1;
  uint64_t low = 0, high = 0;
  uint32_t bytes = 0;
  uint32_t alignment = 1;
  bool reads = true;  // a load, or an atomic that uses what was there
  AtomicScope scope = AtomicScope::kNone;
  std::vector<Piece> pieces;
};

enum class AtomicKind : uint8_t {
  kExchange,
  kAdd,
  kSub,
  kAnd,
  kNand,
  kOr,
  kXor,
  kSMax,
  kSMin,
  kUMax,
  kUMin,
  kFAdd,
  kFSub,
  kFMax,
  kFMin,
  kCompareExchange,
  kIncrement,
  kDecrement,
};
struct AtomicOp {
  MemoryOp memory;  // one piece: the operand
  AtomicKind kind = AtomicKind::kAdd;
  LaneType type = kI32;
  Register expected = kNoRegister, success = kNoRegister, old = kNoRegister;
  bool old_is_local = false, success_is_local = false;
};

enum class ShuffleMode : uint8_t { kUp, kDown, kButterfly, kIndex };
struct ShuffleOp {
  ShuffleMode mode = ShuffleMode::kIndex;
  Register lanes = 0, value = 0, offset = 0, clamp = 0, result = 0, in_range = kNoRegister;
  bool result_is_local = false, in_range_is_local = false;
};
// A product of a matrix of 8 or 16 rows with one of 8 columns, added to a third one: lanes hold
// parts of each (PTX ISA 8.8, section 9.7.14.5). `depth` is how many products are summed. Both
// operands are floats of f16, both bf16, both tf32, both f64, each one of the two f8, or each
// integers of 8 bits.
enum class MatrixType : uint8_t { kHalf, kBrain, kTf32, kE4M3, kE5M2, kDouble, kS8, kU8 };
struct MatrixOp {
  MatrixType a_type = MatrixType::kHalf, b_type = MatrixType::kHalf;
  int rows = 16, depth = 16;
  std::vector<Register> a, b, c, results;
  bool is_local = false;  // all results
};

// Bytes on their way from global to shared memory, until the thread has waited for their group.
struct AsyncOp {
  MemoryOp to, from;
  Register bytes = kNoRegister;  // of the source; zeros follow
};

enum class MbarrierUse : uint8_t {
  kInit,  // value: how many arrive in each phase
  kInvalidate,
  kArrive,         // value: how many at once, or none: 1; gives the phase
  kArriveAndDrop,  // the same, and later phases expect as many less
  kTest,           // value: a phase that an arrival gave; gives whether it is complete
  kTestParity,     // value: 0 for phases 0, 2, ..., 1 for the others
  kCopiesArrive,   // one more arrival, once the copies so far have
  kCopiesCount,    // the same as one of those that are expected
};
struct MbarrierOp {
  MbarrierUse use = MbarrierUse::kInit;
  MemoryOp at;
  Register value = kNoRegister, result = kNoRegister;
  bool result_is_local = false;
  bool may_complete = true;  // the phase, by an arrival
};

enum class VoteMode : uint8_t { kAll, kAny, kUniform, kBallot };
enum class BarrierMode : uint8_t { kSync, kArrive, kPopulation, kAnd, kOr };
enum class Requirement : uint8_t { kTrue, kNoOverflow, kIndexFits };

struct SwitchOp {
  uint8_t bytes = 4;
  std::vector<uint64_t> values;
  uint32_t edges = 0;  // of the values in order, then the default
};

struct EdgeCopy {
  Register to = 0, from = 0;
  uint32_t bytes = 0;  // per lane
};
struct Edge {
  uint32_t block = 0;
  uint32_t first_copy = 0, copies = 0;
};

// Registers of a warp that hold where its threads are; kNoRegister where nothing asks.
struct ThreadRegisters {
  std::array<Register, 3> thread = {kNoRegister, kNoRegister, kNoRegister};
  Register lane = kNoRegister, warp = kNoRegister;
  std::array<Register, 3> block = {kNoRegister, kNoRegister, kNoRegister};       // uniform
  std::array<Register, 3> block_size = {kNoRegister, kNoRegister, kNoRegister};  // uniform
  std::array<Register, 3> grid_size = {kNoRegister, kNoRegister, kNoRegister};   // uniform
  std::array<Register, 5> lane_masks = {kNoRegister, kNoRegister, kNoRegister, kNoRegister,
                                        kNoRegister};  // eq, le, lt, ge, gt
};

struct ArgumentInfo {
  Register place = kNoRegister;
  uint8_t bytes = 0;
  bool is_pointer = false;
  bool is_written = false;  // something is stored through it, as far as one can see
};

struct KernelCode {
  std::string name;
  std::vector<Op> ops;
  std::vector<uint32_t>
      blocks;  // the first operation of each, in an order in which paths meet soonest
  std::vector<Edge> edges;
  std::vector<EdgeCopy> copies;
  std::vector<MemoryOp> memory;
  std::vector<AtomicOp> atomics;
  std::vector<ShuffleOp> shuffles;
  std::vector<SwitchOp> switches;
  std::vector<MatrixOp> matrices;
  std::vector<AsyncOp> asyncs;
  std::vector<MbarrierOp> mbarriers;
  std::vector<ArgumentInfo> arguments;
  ThreadRegisters threads;
  std::vector<std::byte> uniform;  // the first value of the uniform file
  uint32_t register_bytes = 0;     // of a warp
  uint32_t scratch = 0;            // where in it a result waits for its mask: 512 bytes
  uint32_t shared_bytes = 0, dynamic_shared_at = 0, local_bytes = 0;
  std::vector<std::byte> constants;  // constant memory
  std::vector<std::string> sources;  // texts of instructions
  std::vector<uint32_t> lines;       // of their debug locations; 0: none
  bool writes_unknown =
      false;  // something is stored through a pointer that comes from nowhere known
};

}  // namespace assay::gpu
