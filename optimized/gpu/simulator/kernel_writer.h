// Writes the compact form of a kernel: numbers registers while operations are written, and gives
// them places at the end.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "optimized/gpu/simulator/kernel_code.h"

namespace assay::gpu {

class KernelWriter {
 public:
  explicit KernelWriter(KernelCode& code) : code_(code) {}

  // Until Finish, a Register is a number.
  Register New(int bytes);
  // One value for all lanes, the same number for the same value.
  Register Constant(int bytes, unsigned __int128 value);
  // One value for all lanes, which each launch or block sets.
  Register Uniform(int bytes);
  int BytesOf(Register number) const { return infos_[number].bytes; }
  // The value of a constant; false where the register is none.
  bool IsConstant(Register number, uint64_t& value) const;

  void BeginBlock() { code_.blocks.push_back(code_.ops.size()); }
  void set_source(uint32_t source) { source_ = source; }
  Op& Emit(OpKind kind, uint32_t side = 0);
  // result = op(a, b, c), in a new register of `bytes`. The table must have the operation.
  Register Lanes(LaneFunction function, int bytes, Register a, Register b = kNoRegister,
                 Register c = kNoRegister);
  // Like Lanes, into a register that is there.
  void LanesTo(Register result, LaneFunction function, Register a, Register b = kNoRegister,
               Register c = kNoRegister);

  // Gives every register its place and writes these into the code.
  absl::Status Finish();

 private:
  struct Info {
    int bytes = 4;
    bool is_uniform = false;
    bool crosses = false;  // is read in another block, or written more than once
    int64_t block = -1;    // where it is written
    uint32_t last_use = 0;
    Register place = kNoRegister;
  };
  void FindLives();
  void PlaceLocals();
  void RewriteAll();
  Register Take(int bytes);

  KernelCode& code_;
  std::vector<Info> infos_;
  std::map<std::pair<int, unsigned __int128>, Register> constants_;
  std::map<Register, uint64_t> constant_values_;
  std::vector<Register> free_[17];  // by bytes
  uint32_t source_ = 0;
};

}  // namespace assay::gpu
