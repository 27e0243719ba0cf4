// The table of functions that compiled code may call.
#include "optimized/runtime/symbols.h"

#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include "optimized/runtime/collectives.h"
#include "optimized/runtime/compiled_call.h"
#include "optimized/runtime/functions/integer_functions.h"
#include "optimized/runtime/functions/real_functions.h"
#include "optimized/runtime/host_queues.h"
#include "optimized/runtime/kernels/contraction.h"
#include "optimized/runtime/kernels/fft.h"
#include "optimized/runtime/linear_algebra/lapack.h"
#include "optimized/runtime/linear_algebra/triangular.h"
#include "optimized/runtime/random.h"
#include "optimized/runtime/sort.h"
#include "spec/types/native.h"

namespace assay {

namespace {

void ParallelFor(const RunContext* context, void (*kernel)(void**, int64_t, int64_t), void** table,
                 int64_t extent, int64_t grain) {
  context->pool->Run(extent, grain, [&](int64_t begin, int64_t end) ASSAY_CALLS_COMPILED_CODE {
    kernel(table, begin, end);
  });
}

// Asked by loops now and then: nonzero ends them.
uint8_t IsOutOfTime(RunContext* context) {
  if (std::chrono::steady_clock::now() < context->deadline) return 0;
  context->out_of_time = true;
  return 1;
}

// The instruction selector calls these for f16 where the machine has no instruction.
float ExtendHalf(_Float16 value) { return static_cast<float>(value); }
_Float16 TruncateFloat(float value) { return static_cast<_Float16>(value); }

// The code of `value` in a float type of at most eight bits.
uint8_t EncodeTinyFloat(float value, int32_t type) {
  return static_cast<uint8_t>(EncodeFloat(Format(static_cast<ElementType>(type)), value));
}

template <typename F>
void* Address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

absl::Span<const RuntimeSymbol> RuntimeSymbols() {
  using Unary = double(double);
  using UnaryF = float(float);
  using Binary = double(double, double);
  using BinaryF = float(float, float);
  static const auto& symbols = *new std::vector<RuntimeSymbol>([] {
    std::vector<RuntimeSymbol> all = {
        {"assay_power_u64", Address(PowerU64)},
        {"assay_encode_tiny_float", Address(EncodeTinyFloat)},
        {"assay_parallel_for", Address(ParallelFor)},
        {"assay_is_out_of_time", Address(IsOutOfTime)},
        {"assay_collective", Address(RunCollective)},
        {"assay_replica_id", Address(ReplicaId)},
        {"assay_partition_id", Address(PartitionId)},
        {"assay_contract", Address(Contract)},
        {"assay_contract_then", Address(ContractThen)},
        {"assay_sort_lines", Address(SortLines)},
        {"assay_sort_lines_by_key", Address(SortLinesByKey)},
        {"assay_select_lines_by_key", Address(SelectLinesByKey)},
        {"assay_infeed", Address(TakeInfeed)},
        {"assay_outfeed", Address(SendOutfeed)},
        {"assay_lapack", Address(RunLapack)},
        {"assay_cholesky_f32", Address(Cholesky<float>)},
        {"assay_triangular_solve_f32", Address(TriangularSolve<float>)},
        {"assay_cholesky_f64", Address(Cholesky<double>)},
        {"assay_triangular_solve_f64", Address(TriangularSolve<double>)},
        {"assay_cholesky_f16", Address(Cholesky<Half>)},
        {"assay_triangular_solve_f16", Address(TriangularSolve<Half>)},
        {"assay_cholesky_bf16", Address(Cholesky<BFloat16>)},
        {"assay_triangular_solve_bf16", Address(TriangularSolve<BFloat16>)},
        {"assay_cholesky_c64", Address(Cholesky<std::complex<float>>)},
        {"assay_triangular_solve_c64", Address(TriangularSolve<std::complex<float>>)},
        {"assay_cholesky_c128", Address(Cholesky<std::complex<double>>)},
        {"assay_triangular_solve_c128", Address(TriangularSolve<std::complex<double>>)},
        {"assay_three_fry_bits", Address(ThreeFryBits)},
        {"assay_philox_bits", Address(PhiloxBits)},
        {"assay_next_random_state", Address(NextRandomState)},
        {"assay_fft_f32", Address(Fft<float>)},
        {"assay_fft_f64", Address(Fft<double>)},
        {"__extendhfsf2", Address(ExtendHalf)},
        {"__truncsfhf2", Address(TruncateFloat)},
        {"memcpy", Address<void*(void*, const void*, size_t)>(std::memcpy)},
        {"memmove", Address<void*(void*, const void*, size_t)>(std::memmove)},
        {"memset", Address<void*(void*, int, size_t)>(std::memset)},
        {"assay_fmod", Address<Binary>(::fmod)},
        {"assay_fmodf", Address<BinaryF>(::fmodf)},
        {"fma", Address<double(double, double, double)>(::fma)},
        {"floor", Address<Unary>(::floor)},
        {"floorf", Address<UnaryF>(::floorf)},
        {"ceil", Address<Unary>(::ceil)},
        {"ceilf", Address<UnaryF>(::ceilf)},
        {"trunc", Address<Unary>(::trunc)},
        {"truncf", Address<UnaryF>(::truncf)},
        {"round", Address<Unary>(::round)},
        {"roundf", Address<UnaryF>(::roundf)},
        {"rint", Address<Unary>(::rint)},
        {"rintf", Address<UnaryF>(::rintf)},
        {"nearbyint", Address<Unary>(::nearbyint)},
        {"nearbyintf", Address<UnaryF>(::nearbyintf)},
        // The rounding mode is never changed: rint rounds ties to even.
        {"roundeven", Address<Unary>(::rint)},
        {"roundevenf", Address<UnaryF>(::rintf)},
    };
    for (const RuntimeSymbol& symbol : RealFunctions()) all.push_back(symbol);
    return all;
  }());
  return symbols;
}

}  // namespace assay
