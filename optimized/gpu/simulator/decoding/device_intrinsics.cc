// Intrinsics of NVIDIA GPUs.
#include <utility>
#include <vector>

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "optimized/gpu/simulator/decoding/decoder.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Intrinsic::ID;

// The places of a thread, its block and the grid.
absl::StatusOr<Register> ThreadNumber(Decoder& decoder, ID id, bool& is_one) {
  using namespace llvm::Intrinsic;
  ThreadRegisters& threads = decoder.code().threads;
  is_one = true;
  const auto own = [&](Register& place) { return decoder.ThreadRegister(place, false); };
  const auto all = [&](Register& place) { return decoder.ThreadRegister(place, true); };
  switch (id) {
    case nvvm_read_ptx_sreg_tid_x:
      return own(threads.thread[0]);
    case nvvm_read_ptx_sreg_tid_y:
      return own(threads.thread[1]);
    case nvvm_read_ptx_sreg_tid_z:
      return own(threads.thread[2]);
    case nvvm_read_ptx_sreg_ntid_x:
      return all(threads.block_size[0]);
    case nvvm_read_ptx_sreg_ntid_y:
      return all(threads.block_size[1]);
    case nvvm_read_ptx_sreg_ntid_z:
      return all(threads.block_size[2]);
    case nvvm_read_ptx_sreg_ctaid_x:
      return all(threads.block[0]);
    case nvvm_read_ptx_sreg_ctaid_y:
      return all(threads.block[1]);
    case nvvm_read_ptx_sreg_ctaid_z:
      return all(threads.block[2]);
    case nvvm_read_ptx_sreg_nctaid_x:
      return all(threads.grid_size[0]);
    case nvvm_read_ptx_sreg_nctaid_y:
      return all(threads.grid_size[1]);
    case nvvm_read_ptx_sreg_nctaid_z:
      return all(threads.grid_size[2]);
    case nvvm_read_ptx_sreg_laneid:
      return own(threads.lane);
    case nvvm_read_ptx_sreg_warpid:
      return own(threads.warp);
    case nvvm_read_ptx_sreg_lanemask_eq:
      return own(threads.lane_masks[0]);
    case nvvm_read_ptx_sreg_lanemask_le:
      return own(threads.lane_masks[1]);
    case nvvm_read_ptx_sreg_lanemask_lt:
      return own(threads.lane_masks[2]);
    case nvvm_read_ptx_sreg_lanemask_ge:
      return own(threads.lane_masks[3]);
    case nvvm_read_ptx_sreg_lanemask_gt:
      return own(threads.lane_masks[4]);
    case nvvm_read_ptx_sreg_warpsize:
      return decoder.Number(4, kLanes);
    default:
      is_one = false;
      return kNoRegister;
  }
}

struct BarrierRow {
  ID id;
  BarrierMode mode;
  bool has_count;
};
constexpr BarrierRow kBarrierRows[] = {
    {llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, BarrierMode::kSync, false},
    {llvm::Intrinsic::nvvm_barrier_cta_sync_all, BarrierMode::kSync, false},
    {llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_count, BarrierMode::kSync, true},
    {llvm::Intrinsic::nvvm_barrier_cta_sync_count, BarrierMode::kSync, true},
    {llvm::Intrinsic::nvvm_barrier_cta_arrive_aligned_count, BarrierMode::kArrive, true},
    {llvm::Intrinsic::nvvm_barrier_cta_arrive_count, BarrierMode::kArrive, true},
};

struct ShuffleRow {
  ID id;
  ShuffleMode mode;
  bool tells_range;
};
constexpr ShuffleRow kShuffleRows[] = {
    {llvm::Intrinsic::nvvm_shfl_sync_up_i32, ShuffleMode::kUp, false},
    {llvm::Intrinsic::nvvm_shfl_sync_up_f32, ShuffleMode::kUp, false},
    {llvm::Intrinsic::nvvm_shfl_sync_up_i32p, ShuffleMode::kUp, true},
    {llvm::Intrinsic::nvvm_shfl_sync_up_f32p, ShuffleMode::kUp, true},
    {llvm::Intrinsic::nvvm_shfl_sync_down_i32, ShuffleMode::kDown, false},
    {llvm::Intrinsic::nvvm_shfl_sync_down_f32, ShuffleMode::kDown, false},
    {llvm::Intrinsic::nvvm_shfl_sync_down_i32p, ShuffleMode::kDown, true},
    {llvm::Intrinsic::nvvm_shfl_sync_down_f32p, ShuffleMode::kDown, true},
    {llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, ShuffleMode::kButterfly, false},
    {llvm::Intrinsic::nvvm_shfl_sync_bfly_f32, ShuffleMode::kButterfly, false},
    {llvm::Intrinsic::nvvm_shfl_sync_bfly_i32p, ShuffleMode::kButterfly, true},
    {llvm::Intrinsic::nvvm_shfl_sync_bfly_f32p, ShuffleMode::kButterfly, true},
    {llvm::Intrinsic::nvvm_shfl_sync_idx_i32, ShuffleMode::kIndex, false},
    {llvm::Intrinsic::nvvm_shfl_sync_idx_f32, ShuffleMode::kIndex, false},
    {llvm::Intrinsic::nvvm_shfl_sync_idx_i32p, ShuffleMode::kIndex, true},
    {llvm::Intrinsic::nvvm_shfl_sync_idx_f32p, ShuffleMode::kIndex, true},
};

struct VoteRow {
  ID id;
  VoteMode mode;
};
constexpr VoteRow kVoteRows[] = {
    {llvm::Intrinsic::nvvm_vote_all_sync, VoteMode::kAll},
    {llvm::Intrinsic::nvvm_vote_any_sync, VoteMode::kAny},
    {llvm::Intrinsic::nvvm_vote_uni_sync, VoteMode::kUniform},
    {llvm::Intrinsic::nvvm_vote_ballot_sync, VoteMode::kBallot},
};

// Reductions over the lanes of a mask; their operands are (value, lanes).
struct ReduceRow {
  ID id;
  LaneOp op;
};
constexpr ReduceRow kReduceRows[] = {
    {llvm::Intrinsic::nvvm_redux_sync_add, kAdd},   {llvm::Intrinsic::nvvm_redux_sync_and, kAnd},
    {llvm::Intrinsic::nvvm_redux_sync_or, kOr},     {llvm::Intrinsic::nvvm_redux_sync_xor, kXor},
    {llvm::Intrinsic::nvvm_redux_sync_min, kSMin},  {llvm::Intrinsic::nvvm_redux_sync_max, kSMax},
    {llvm::Intrinsic::nvvm_redux_sync_umin, kUMin}, {llvm::Intrinsic::nvvm_redux_sync_umax, kUMax},
};

absl::Status DecodeBarrier(Decoder& decoder, const llvm::IntrinsicInst& call,
                           const BarrierRow& row) {
  ASSAY_ASSIGN_OR_RETURN(const Register number, decoder.ScalarOf(call.getArgOperand(0)));
  Register count = kNoRegister;
  if (row.has_count) {
    ASSAY_ASSIGN_OR_RETURN(count, decoder.ScalarOf(call.getArgOperand(1)));
  }
  Op& op = decoder.writer().Emit(OpKind::kBarrier, static_cast<uint32_t>(row.mode));
  op.a = number;
  op.b = count;
  return absl::OkStatus();
}

absl::Status DecodeShuffle(Decoder& decoder, const llvm::IntrinsicInst& call,
                           const ShuffleRow& row) {
  ShuffleOp op;
  op.mode = row.mode;
  ASSAY_ASSIGN_OR_RETURN(op.lanes, decoder.ScalarOf(call.getArgOperand(0)));
  ASSAY_ASSIGN_OR_RETURN(op.value, decoder.ScalarOf(call.getArgOperand(1)));
  ASSAY_ASSIGN_OR_RETURN(op.offset, decoder.ScalarOf(call.getArgOperand(2)));
  ASSAY_ASSIGN_OR_RETURN(op.clamp, decoder.ScalarOf(call.getArgOperand(3)));
  op.result = decoder.writer().New(4);
  Registers results = {op.result};
  if (row.tells_range) {
    op.in_range = decoder.writer().New(1);
    results.push_back(op.in_range);
  }
  decoder.code().shuffles.push_back(op);
  decoder.writer().Emit(OpKind::kShuffle, decoder.code().shuffles.size() - 1);
  decoder.Define(&call, std::move(results));
  return absl::OkStatus();
}

// An operation of the warp with one result, of operands that are its first registers.
absl::Status DecodeWarpOp(Decoder& decoder, const llvm::IntrinsicInst& call, OpKind kind,
                          uint32_t side, std::pair<int, int> operands) {
  Register a = kNoRegister, b = kNoRegister;
  if (operands.first >= 0) {
    ASSAY_ASSIGN_OR_RETURN(a, decoder.ScalarOf(call.getArgOperand(operands.first)));
  }
  if (operands.second >= 0) {
    ASSAY_ASSIGN_OR_RETURN(b, decoder.ScalarOf(call.getArgOperand(operands.second)));
  }
  Register result = kNoRegister;
  if (!call.getType()->isVoidTy()) {
    ASSAY_ASSIGN_OR_RETURN(const ScalarType type, decoder.Scalar(call.getType()));
    result = decoder.writer().New(type.bytes());
    decoder.Define(&call, {result});
  }
  Op& op = decoder.writer().Emit(kind, side);
  op.a = a;
  op.b = b;
  op.result = result;
  if (result != kNoRegister) op.result_bytes = decoder.writer().BytesOf(result);
  return absl::OkStatus();
}

struct MatrixRow {
  ID id;
  MatrixType a_type, b_type;
  int rows, depth;
};
#define ASSAY_F8_MATRIX(depth, a, b, A, B)                                               \
  {llvm::Intrinsic::nvvm_mma_m16n8k##depth##_row_col_f32_##a##_##b##_f32, MatrixType::A, \
   MatrixType::B, 16, depth}
#define ASSAY_F8_MATRICES(depth)                        \
  ASSAY_F8_MATRIX(depth, e4m3, e4m3, kE4M3, kE4M3),     \
      ASSAY_F8_MATRIX(depth, e4m3, e5m2, kE4M3, kE5M2), \
      ASSAY_F8_MATRIX(depth, e5m2, e4m3, kE5M2, kE4M3), \
      ASSAY_F8_MATRIX(depth, e5m2, e5m2, kE5M2, kE5M2)
constexpr MatrixRow kMatrixRows[] = {
    {llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_f32_f32, MatrixType::kHalf, MatrixType::kHalf, 16,
     8},
    {llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32, MatrixType::kHalf, MatrixType::kHalf, 16,
     16},
    {llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_bf16, MatrixType::kBrain, MatrixType::kBrain, 16, 8},
    {llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16, MatrixType::kBrain, MatrixType::kBrain, 16,
     16},
    {llvm::Intrinsic::nvvm_mma_m16n8k4_row_col_tf32, MatrixType::kTf32, MatrixType::kTf32, 16, 4},
    {llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32, MatrixType::kTf32, MatrixType::kTf32, 16, 8},
    {llvm::Intrinsic::nvvm_mma_m8n8k4_row_col_f64, MatrixType::kDouble, MatrixType::kDouble, 8, 4},
    {llvm::Intrinsic::nvvm_mma_m16n8k4_row_col_f64, MatrixType::kDouble, MatrixType::kDouble, 16,
     4},
    {llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_f64, MatrixType::kDouble, MatrixType::kDouble, 16,
     8},
    {llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f64, MatrixType::kDouble, MatrixType::kDouble, 16,
     16},
    ASSAY_F8_MATRICES(16),
    ASSAY_F8_MATRICES(32),
    {llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_s8, MatrixType::kS8, MatrixType::kS8, 16, 16},
    {llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8, MatrixType::kS8, MatrixType::kS8, 16, 32},
    {llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_s8_u8, MatrixType::kS8, MatrixType::kU8, 16, 16},
    {llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8_u8, MatrixType::kS8, MatrixType::kU8, 16, 32},
    {llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_u8_s8, MatrixType::kU8, MatrixType::kS8, 16, 16},
    {llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8_s8, MatrixType::kU8, MatrixType::kS8, 16, 32},
    {llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_u8, MatrixType::kU8, MatrixType::kU8, 16, 16},
    {llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8, MatrixType::kU8, MatrixType::kU8, 16, 32},
};
#undef ASSAY_F8_MATRICES
#undef ASSAY_F8_MATRIX

// Elements that one operand of the call holds.
unsigned ElementsOfOperand(MatrixType type) {
  switch (type) {
    case MatrixType::kHalf:
    case MatrixType::kBrain:
      return 2;
    case MatrixType::kTf32:
    case MatrixType::kDouble:
      return 1;
    default:
      return 4;
  }
}

absl::Status DecodeMatrix(Decoder& decoder, const llvm::IntrinsicInst& call, const MatrixRow& row) {
  MatrixOp op = {row.a_type, row.b_type, row.rows, row.depth, {}, {}, {}, {}};
  const unsigned each = ElementsOfOperand(row.a_type) * kLanes;
  const unsigned a_count = row.rows * row.depth / each, b_count = 8 * row.depth / each;
  for (unsigned k = 0; k < call.arg_size(); ++k) {
    ASSAY_ASSIGN_OR_RETURN(const Registers part, decoder.ValueOf(call.getArgOperand(k)));
    std::vector<Register>& to = k < a_count ? op.a : k < a_count + b_count ? op.b : op.c;
    to.insert(to.end(), part.begin(), part.end());
  }
  const int bytes = row.a_type == MatrixType::kDouble ? 8 : 4;
  for (int k = 0; k < row.rows / 4; ++k) op.results.push_back(decoder.writer().New(bytes));
  decoder.Define(&call, Registers(op.results.begin(), op.results.end()));
  decoder.code().matrices.push_back(std::move(op));
  decoder.writer().Emit(OpKind::kMatrix, decoder.code().matrices.size() - 1);
  return absl::OkStatus();
}

struct AsyncRow {
  ID id;
  uint32_t bytes;
};
constexpr AsyncRow kAsyncRows[] = {
    {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4, 4},
    {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8, 8},
    {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_16, 16},
    {llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16, 16},
    {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s, 4},
    {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s, 8},
    {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_16_s, 16},
    {llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s, 16},
};

absl::Status DecodeAsync(Decoder& decoder, const llvm::IntrinsicInst& call, const AsyncRow& row) {
  AsyncOp op;
  for (auto [memory, k] : {std::pair{&op.to, 0}, std::pair{&op.from, 1}}) {
    const llvm::Value* pointer = call.getArgOperand(k);
    ASSAY_ASSIGN_OR_RETURN(memory->address, decoder.ScalarOf(pointer));
    memory->space = pointer->getType()->getPointerAddressSpace();
    memory->bytes = memory->alignment = row.bytes;
    memory->reads = k == 1;
    decoder.FindBase(pointer, k == 0, *memory);
  }
  if (call.arg_size() > 2) {
    ASSAY_ASSIGN_OR_RETURN(op.bytes, decoder.ScalarOf(call.getArgOperand(2)));
  }
  decoder.code().asyncs.push_back(std::move(op));
  decoder.writer().Emit(OpKind::kAsyncCopy, decoder.code().asyncs.size() - 1);
  return absl::OkStatus();
}

struct MbarrierRow {
  ID id;
  MbarrierUse use;
  bool has_value;
  bool may_complete = true;
};
constexpr MbarrierRow kMbarrierRows[] = {
    {llvm::Intrinsic::nvvm_mbarrier_init, MbarrierUse::kInit, true},
    {llvm::Intrinsic::nvvm_mbarrier_init_shared, MbarrierUse::kInit, true},
    {llvm::Intrinsic::nvvm_mbarrier_inval, MbarrierUse::kInvalidate, false},
    {llvm::Intrinsic::nvvm_mbarrier_inval_shared, MbarrierUse::kInvalidate, false},
    {llvm::Intrinsic::nvvm_mbarrier_arrive, MbarrierUse::kArrive, false},
    {llvm::Intrinsic::nvvm_mbarrier_arrive_shared, MbarrierUse::kArrive, false},
    {llvm::Intrinsic::nvvm_mbarrier_arrive_scope_cta_space_cta, MbarrierUse::kArrive, true},
    {llvm::Intrinsic::nvvm_mbarrier_arrive_noComplete, MbarrierUse::kArrive, true, false},
    {llvm::Intrinsic::nvvm_mbarrier_arrive_noComplete_shared, MbarrierUse::kArrive, true, false},
    {llvm::Intrinsic::nvvm_mbarrier_arrive_drop, MbarrierUse::kArriveAndDrop, false},
    {llvm::Intrinsic::nvvm_mbarrier_arrive_drop_shared, MbarrierUse::kArriveAndDrop, false},
    {llvm::Intrinsic::nvvm_mbarrier_test_wait, MbarrierUse::kTest, true},
    {llvm::Intrinsic::nvvm_mbarrier_test_wait_shared, MbarrierUse::kTest, true},
    {llvm::Intrinsic::nvvm_mbarrier_test_wait_scope_cta_space_cta, MbarrierUse::kTest, true},
    {llvm::Intrinsic::nvvm_mbarrier_try_wait_scope_cta_space_cta, MbarrierUse::kTest, true},
    {llvm::Intrinsic::nvvm_mbarrier_test_wait_parity_scope_cta_space_cta, MbarrierUse::kTestParity,
     true},
    {llvm::Intrinsic::nvvm_mbarrier_try_wait_parity_scope_cta_space_cta, MbarrierUse::kTestParity,
     true},
    {llvm::Intrinsic::nvvm_cp_async_mbarrier_arrive, MbarrierUse::kCopiesArrive, false},
    {llvm::Intrinsic::nvvm_cp_async_mbarrier_arrive_shared, MbarrierUse::kCopiesArrive, false},
    {llvm::Intrinsic::nvvm_cp_async_mbarrier_arrive_noinc, MbarrierUse::kCopiesCount, false},
    {llvm::Intrinsic::nvvm_cp_async_mbarrier_arrive_noinc_shared, MbarrierUse::kCopiesCount, false},
};

absl::Status DecodeMbarrier(Decoder& decoder, const llvm::IntrinsicInst& call,
                            const MbarrierRow& row) {
  MbarrierOp op;
  op.use = row.use;
  op.may_complete = row.may_complete;
  const llvm::Value* pointer = call.getArgOperand(0);
  ASSAY_ASSIGN_OR_RETURN(op.at.address, decoder.ScalarOf(pointer));
  op.at.space = pointer->getType()->getPointerAddressSpace();
  op.at.bytes = op.at.alignment = 8;
  op.at.reads = false;
  const bool is_plain = row.use == MbarrierUse::kInit || row.use == MbarrierUse::kInvalidate;
  op.at.scope = is_plain ? AtomicScope::kNone : AtomicScope::kBlock;
  decoder.FindBase(pointer, true, op.at);
  if (row.has_value) {
    ASSAY_ASSIGN_OR_RETURN(op.value, decoder.ScalarOf(call.getArgOperand(1)));
  }
  if (!call.getType()->isVoidTy()) {
    op.result = decoder.writer().New(call.getType()->isIntegerTy(1) ? 1 : 8);
    decoder.Define(&call, {op.result});
  }
  decoder.code().mbarriers.push_back(std::move(op));
  decoder.writer().Emit(OpKind::kMbarrier, decoder.code().mbarriers.size() - 1);
  return absl::OkStatus();
}

absl::Status DecodeOther(Decoder& decoder, const llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_bar_warp_sync:
      return DecodeWarpOp(decoder, call, OpKind::kWarpSync, 0, {0, -1});
    case llvm::Intrinsic::nvvm_activemask:
      return DecodeWarpOp(decoder, call, OpKind::kActiveMask, 0, {-1, -1});
    case llvm::Intrinsic::nvvm_match_any_sync_i32:
      return DecodeWarpOp(decoder, call, OpKind::kMatch, 4, {0, 1});
    case llvm::Intrinsic::nvvm_match_any_sync_i64:
      return DecodeWarpOp(decoder, call, OpKind::kMatch, 8, {0, 1});
    case llvm::Intrinsic::nvvm_membar_cta:
    case llvm::Intrinsic::nvvm_membar_gl:
    case llvm::Intrinsic::nvvm_membar_sys:
      decoder.writer().Emit(OpKind::kFence);
      return absl::OkStatus();
    case llvm::Intrinsic::nvvm_cp_async_commit_group:
      decoder.writer().Emit(OpKind::kAsyncCommit);
      return absl::OkStatus();
    case llvm::Intrinsic::nvvm_cp_async_wait_group:
      return DecodeWarpOp(decoder, call, OpKind::kAsyncWait, 0, {0, -1});
    case llvm::Intrinsic::nvvm_cp_async_wait_all:
      return DecodeWarpOp(decoder, call, OpKind::kAsyncWait, 1, {-1, -1});
    case llvm::Intrinsic::nvvm_exit:
      return decoder.Unknown(call, "kernels end by ret");
    default:
      return decoder.Unknown(call);
  }
}

}  // namespace

absl::Status DecodeDeviceIntrinsic(Decoder& decoder, const llvm::IntrinsicInst& call) {
  const ID id = call.getIntrinsicID();
  bool is_thread_number = false;
  ASSAY_ASSIGN_OR_RETURN(const Register number, ThreadNumber(decoder, id, is_thread_number));
  if (is_thread_number) {
    decoder.Define(&call, {number});
    return absl::OkStatus();
  }
  for (const BarrierRow& row : kBarrierRows) {
    if (row.id == id) return DecodeBarrier(decoder, call, row);
  }
  for (const ShuffleRow& row : kShuffleRows) {
    if (row.id == id) return DecodeShuffle(decoder, call, row);
  }
  for (const VoteRow& row : kVoteRows) {
    if (row.id == id) {
      return DecodeWarpOp(decoder, call, OpKind::kVote, static_cast<uint32_t>(row.mode), {0, 1});
    }
  }
  for (const ReduceRow& row : kReduceRows) {
    if (row.id == id) return DecodeWarpOp(decoder, call, OpKind::kReduce, row.op, {1, 0});
  }
  for (const MatrixRow& row : kMatrixRows) {
    if (row.id == id) return DecodeMatrix(decoder, call, row);
  }
  for (const AsyncRow& row : kAsyncRows) {
    if (row.id == id) return DecodeAsync(decoder, call, row);
  }
  for (const MbarrierRow& row : kMbarrierRows) {
    if (row.id == id) return DecodeMbarrier(decoder, call, row);
  }
  return DecodeOther(decoder, call);
}

}  // namespace assay::gpu
