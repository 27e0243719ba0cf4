// Ops whose kernels are functions in C++ (optimized/runtime/device), one after the other: each
// thread calls a function with pointers to arrays, numbers, and its own number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optimized/defects/bends.h"
#include "spec/ir/module.h"

namespace assay::gpu {

// An array of a step: a leaf of an operand or of the result, or memory that it needs besides.
struct StepArray {
  enum Kind : uint8_t { kOperand, kResult, kScratch } kind = kOperand;
  int64_t number = 0;  // of the operand (its first leaf), of the leaf of the result, of the scratch
};

struct CalledStage {
  std::string function;  // "assay_device_fft_pass"
  std::vector<StepArray> arrays;
  std::vector<int64_t> numbers;
  int64_t threads = 0;  // 0: nothing to do
};

struct CalledKernel {
  std::vector<CalledStage> stages;  // each a launch
  std::vector<int64_t> scratch;     // bytes, shared by all stages
};

bool IsCalledKernel(Opcode opcode);
// `instruction` is one of those ops. `bends`: of planted defects.
CalledKernel CalledKernelOf(const Instruction& instruction, const KernelBends& bends);

}  // namespace assay::gpu
