// The words of the attributes of the kind kWord that code asks about, as enumerators: their values
// are the places of the words in the attribute's list. Document: hlo-format chapter 4.
#pragma once

#include <cstdint>

namespace assay {

enum class Direction : int64_t { kEq, kNe, kGe, kGt, kLe, kLt };
enum class CompareType : int64_t { kFloat, kTotalOrder, kSigned, kUnsigned };
enum class FusionKind : int64_t { kLoop, kInput, kOutput, kCustom };
// transpose_a of triangular-solve. kInvalid can be read and is rejected.
enum class TransposeKind : int64_t { kInvalid, kNone, kTranspose, kAdjoint };
// fft_type: to the spectrum and back, of complex and of real signals.
enum class FftKind : int64_t { kFft, kIfft, kRfft, kIrfft };
// distribution of rng. kInvalid can be read and is rejected.
enum class RngDistribution : int64_t { kInvalid, kUniform, kNormal };
// algorithm of rng-bit-generator.
enum class RngAlgorithm : int64_t { kDefault, kThreeFry, kPhilox };
enum class ConvolutionKind : int64_t { kUnset, kForward, kWeightGradient, kDataGradient };
// operand_precision of sums of products, a word per operand.
enum class OperandPrecision : int64_t { kDefault, kHigh, kHighest, kPackedNibble };

}  // namespace assay
