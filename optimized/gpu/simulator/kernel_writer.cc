// Registers and their places.
#include "optimized/gpu/simulator/kernel_writer.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_format.h"
#include "optimized/gpu/simulator/register_visitor.h"

namespace assay::gpu {
namespace {

constexpr uint32_t kMostRegisterBytes = 1 << 26;

}  // namespace

Register KernelWriter::New(int bytes) {
  infos_.push_back({.bytes = bytes});
  return infos_.size() - 1;
}

Register KernelWriter::Uniform(int bytes) {
  Info info = {.bytes = bytes, .is_uniform = true};
  info.place = static_cast<Register>(code_.uniform.size()) | 1;
  code_.uniform.resize(code_.uniform.size() + static_cast<size_t>(bytes) * kLanes);
  infos_.push_back(info);
  return infos_.size() - 1;
}

Register KernelWriter::Constant(int bytes, unsigned __int128 value) {
  const auto [found, is_new] = constants_.try_emplace({bytes, value}, 0);
  if (!is_new) return found->second;
  const Register number = Uniform(bytes);
  std::byte* to = code_.uniform.data() + (infos_[number].place & ~1u);
  for (int lane = 0; lane < kLanes; ++lane) std::memcpy(to + lane * bytes, &value, bytes);
  constant_values_[number] = static_cast<uint64_t>(value);
  return found->second = number;
}

bool KernelWriter::IsConstant(Register number, uint64_t& value) const {
  const auto found = constant_values_.find(number);
  if (found == constant_values_.end()) return false;
  value = found->second;
  return true;
}

Op& KernelWriter::Emit(OpKind kind, uint32_t side) {
  Op op;
  op.kind = kind;
  op.side = side;
  op.source = source_;
  code_.ops.push_back(op);
  return code_.ops.back();
}

Register KernelWriter::Lanes(LaneFunction function, int bytes, Register a, Register b, Register c) {
  const Register result = New(bytes);
  LanesTo(result, function, a, b, c);
  return result;
}

void KernelWriter::LanesTo(Register result, LaneFunction function, Register a, Register b,
                           Register c) {
  Op& op = Emit(OpKind::kLanes);
  op.function = function;
  op.result = result;
  op.result_bytes = infos_[result].bytes;
  op.a = a;
  op.b = b;
  op.c = c;
}

Register KernelWriter::Take(int bytes) {
  if (!free_[bytes].empty()) {
    const Register place = free_[bytes].back();
    free_[bytes].pop_back();
    return place;
  }
  const Register place = code_.register_bytes;
  code_.register_bytes += bytes * kLanes;
  return place;
}

// Which registers live within one block, and until where.
void KernelWriter::FindLives() {
  int64_t block = -1;
  uint32_t at = 0;
  const auto read = [&](Register& number) {
    Info& info = infos_[number];
    if (info.is_uniform) return;
    if (info.block != block) info.crosses = true;
    info.last_use = at;
  };
  const auto write = [&](Register& number, bool&) {
    Info& info = infos_[number];
    if (info.block >= 0) info.crosses = true;
    info.block = block;
    info.last_use = at;
  };
  RegisterVisitor visitor(code_, read, write);
  for (; at < code_.ops.size(); ++at) {
    if (static_cast<size_t>(block + 1) < code_.blocks.size() && code_.blocks[block + 1] == at) {
      ++block;
    }
    visitor.Visit(code_.ops[at]);
  }
  // Values of phis are written from several blocks, though a phi of one edge is not.
  for (const EdgeCopy& copy : code_.copies) infos_[copy.to].crosses = true;
}

// A register that crosses has a place of its own; the others share theirs one after the other.
void KernelWriter::PlaceLocals() {
  for (Info& info : infos_) {
    if (!info.is_uniform && (info.crosses || info.block < 0)) info.place = Take(info.bytes);
  }
  std::vector<Register> ending;
  uint32_t at = 0;
  const auto end_here = [&](Register number) {
    const Info& info = infos_[number];
    if (!info.is_uniform && !info.crosses && info.last_use == at) ending.push_back(number);
  };
  RegisterVisitor visitor(
      code_, [&](Register& number) { end_here(number); },
      [&](Register& number, bool&) {
        Info& info = infos_[number];
        if (info.place == kNoRegister) info.place = Take(info.bytes);
        end_here(number);
      });
  for (; at < code_.ops.size(); ++at) {
    visitor.Visit(code_.ops[at]);
    // Only now: a result never shares its place with an operand.
    std::sort(ending.begin(), ending.end());
    ending.erase(std::unique(ending.begin(), ending.end()), ending.end());
    for (const Register number : ending) {
      free_[infos_[number].bytes].push_back(infos_[number].place);
    }
    ending.clear();
  }
}

void KernelWriter::RewriteAll() {
  RegisterVisitor visitor(
      code_, [&](Register& number) { number = infos_[number].place; },
      [&](Register& number, bool& is_local) {
        is_local = !infos_[number].crosses;
        number = infos_[number].place;
      });
  // Edges are visited with the operation that ends their block, each once.
  for (Op& op : code_.ops) visitor.Visit(op);
  const auto rewrite = [&](Register& number) {
    if (number != kNoRegister) number = infos_[number].place;
  };
  ThreadRegisters& threads = code_.threads;
  for (auto* places : {&threads.thread, &threads.block, &threads.block_size, &threads.grid_size}) {
    for (Register& place : *places) rewrite(place);
  }
  for (Register& place : threads.lane_masks) rewrite(place);
  rewrite(threads.lane);
  rewrite(threads.warp);
  for (ArgumentInfo& argument : code_.arguments) rewrite(argument.place);
}

absl::Status KernelWriter::Finish() {
  FindLives();
  PlaceLocals();
  code_.scratch = code_.register_bytes;
  code_.register_bytes += 16 * kLanes;
  if (code_.register_bytes > kMostRegisterBytes) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("kernel \"%s\" needs %d bytes of registers per warp; the simulator has %d",
                        code_.name, code_.register_bytes, kMostRegisterBytes));
  }
  RewriteAll();
  return absl::OkStatus();
}

}  // namespace assay::gpu
