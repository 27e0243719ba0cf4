// The stages of each op, with the numbers that their functions take.
#include "optimized/gpu/kernels/called_kernels.h"

#include <algorithm>

#include "optimized/runtime/device/fourier.h"
#include "optimized/runtime/linear_algebra/triangular.h"
#include "optimized/runtime/random.h"
#include "spec/attributes/attribute_words.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_inference.h"

namespace assay::gpu {
namespace {

constexpr int64_t kLanes = 32;

StepArray Operand(int64_t k) { return {StepArray::kOperand, k}; }
StepArray Result(int64_t k) { return {StepArray::kResult, k}; }
StepArray Scratch(int64_t k) { return {StepArray::kScratch, k}; }

std::string OfType(const char* function, ElementType type) {
  return StrCat("assay_device_", function, "_", Name(type));
}

int64_t MatrixCount(const Shape& shape) {
  int64_t count = 1;
  for (int64_t d = 0; d + 2 < shape.rank(); ++d) count *= shape.dimension(d);
  return count;
}

// Bytes of a number in the type that is computed in.
int64_t WorkingBytes(ElementType type) { return std::max<int64_t>(4, StorageBytes(type)); }

CalledKernel RandomBits(const Instruction& random, const KernelBends& bends) {
  const Shape& shape = random.shape().elements()[1];
  const int bits = BitWidth(shape.element_type());
  const int64_t count = bends.Number("optimize-kernel/random-count", &random, shape.ElementCount());
  const int64_t mask = bends.Number("optimize-kernel/random-mask", &random,
                                    bits >= 64 ? -1 : (int64_t{1} << bits) - 1);
  CalledStage stage{"assay_device_philox",
                    {Operand(0), Result(0), Result(1)},
                    {count, StorageBytes(shape.element_type()), mask},
                    std::max<int64_t>(1, shape.ElementCount())};
  if (random.attributes().Word<RngAlgorithm>(Attr::kRngAlgorithm) == RngAlgorithm::kThreeFry) {
    int64_t size = 1, inner = 1;
    if (shape.rank() > 0) {
      const int64_t split = ThreeFrySplitDimension(shape.dimensions());
      size = shape.dimension(split);
      for (int64_t d = split + 1; d < shape.rank(); ++d) inner *= shape.dimension(d);
    }
    stage.function = "assay_device_three_fry";
    stage.numbers.insert(stage.numbers.end(), {size, inner});
  } else {
    stage.numbers.push_back(random.operand(0)->shape().ElementCount());
  }
  return {{stage}, {}};
}

CalledKernel Cholesky(const Instruction& cholesky, const KernelBends& bends) {
  const Shape& shape = cholesky.shape();
  const int64_t order = shape.dimension(shape.rank() - 1);
  const bool lower = bends.Holds("optimize-kernel/cholesky-lower", &cholesky,
                                 cholesky.attributes().Flag(Attr::kLower));
  const int64_t matrices =
      bends.Number("optimize-kernel/cholesky-matrices", &cholesky, MatrixCount(shape));
  const int64_t used = bends.Number("optimize-kernel/cholesky-order", &cholesky, order);
  return {{{OfType("cholesky", shape.element_type()),
            {Operand(0), Result(0), Scratch(0)},
            {used, lower ? int64_t{kSolveLower} : 0},
            order == 0 ? 0 : matrices * kLanes}},
          {MatrixCount(shape) * order * order * WorkingBytes(shape.element_type())}};
}

CalledKernel TriangularSolve(const Instruction& solve, const KernelBends& bends) {
  const Attributes& attributes = solve.attributes();
  const Shape &a = solve.operand(0)->shape(), &b = solve.shape();
  const bool is_left = attributes.Flag(Attr::kLeftSide);
  const auto transpose = attributes.Word<TransposeKind>(Attr::kTransposeA);
  const bool is_plain =
      transpose != TransposeKind::kTranspose && transpose != TransposeKind::kAdjoint;
  int64_t form = 0;
  const auto add = [&](const char* claim, bool holds, SolveForm bit) {
    if (bends.Holds(claim, &solve, holds)) form |= bit;
  };
  add("optimize-kernel/solve-left", is_left, kSolveLeft);
  add("optimize-kernel/solve-lower", attributes.Flag(Attr::kLower), kSolveLower);
  add("optimize-kernel/solve-unit-diagonal", attributes.Flag(Attr::kUnitDiagonal),
      kSolveUnitDiagonal);
  if (!bends.Holds("optimize-kernel/solve-not-transposed", &solve, is_plain)) {
    form |= kSolveTransposed;
  }
  if (transpose == TransposeKind::kAdjoint &&
      !bends.Holds("optimize-kernel/solve-not-conjugated", &solve, false)) {
    form |= kSolveConjugated;
  }
  const int64_t order = a.dimension(a.rank() - 1);
  const int64_t columns = b.dimension(b.rank() - (is_left ? 1 : 2));
  const int64_t matrices = bends.Number("optimize-kernel/solve-matrices", &solve, MatrixCount(a));
  return {{{OfType("triangular_solve", b.element_type()),
            {Operand(0), Operand(1), Result(0), Scratch(0)},
            {order, columns, form},
            order == 0 ? 0 : matrices * columns}},
          {MatrixCount(a) * columns * order * WorkingBytes(b.element_type())}};
}

// Small factors are done four at a time.
std::vector<int64_t> FactorsOf(int64_t n) {
  std::vector<int64_t> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

CalledKernel Fourier(const Instruction& fft, const KernelBends& bends) {
  const Attributes& attributes = fft.attributes();
  const absl::Span<const int64_t> lengths = attributes.Integers(Attr::kFftLength);
  const Shape& shape = fft.shape();
  const auto rank = static_cast<int64_t>(lengths.size());
  FourierShape whole;
  whole.kind = bends.Number("optimize-kernel/fft-kind", &fft, attributes.Integer(Attr::kFftType));
  int64_t batch = 1, count = 1, longest = 1;
  for (int64_t d = 0; d + rank < shape.rank(); ++d) batch *= shape.dimension(d);
  batch = bends.Number("optimize-kernel/fft-batch", &fft, batch);
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t length = bends.Number("optimize-kernel/fft-length", &fft, lengths[d]);
    whole.size[3 - rank + d] = length;
    count *= length;
    longest = std::max(longest, length);
  }
  constexpr int64_t kNumber = 16;  // bytes of a complex double
  CalledKernel kernel{{}, {batch * count * kNumber, batch * count * kNumber, longest * kNumber}};
  if (shape.ElementCount() == 0) return kernel;
  const ElementType part = ComponentType(shape.element_type());
  const std::vector<int64_t> numbers = {whole.kind, whole.size[0], whole.size[1], whole.size[2]};
  kernel.stages.push_back(
      {OfType("fft_lay_out", part), {Operand(0), Scratch(0)}, numbers, batch * count});
  const bool is_inverse =
      whole.kind == FourierShape::kInverse || whole.kind == FourierShape::kToReal;
  int64_t at = 0, stride = 1;
  const int64_t dimensions = bends.Number("optimize-kernel/fft-rank", &fft, rank);
  for (int64_t d = 2; d > 2 - dimensions; --d) {
    const int64_t n = whole.size[d];
    const std::vector<int64_t> factors = FactorsOf(n);
    if (!factors.empty()) {
      kernel.stages.push_back({"assay_device_fft_roots", {Scratch(2)}, {n, is_inverse ? 1 : 0}, n});
    }
    int64_t done = 1;
    for (int64_t p : factors) {
      kernel.stages.push_back({"assay_device_fft_pass",
                               {Scratch(at), Scratch(1 - at), Scratch(2)},
                               {n, stride, p, done},
                               batch * count});
      done *= p;
      at = 1 - at;
    }
    stride *= n;
  }
  const int64_t results = shape.ElementCount();
  kernel.stages.push_back({OfType("fft_take", part), {Scratch(at), Result(0)}, numbers, results});
  return kernel;
}

struct Row {
  Opcode opcode;
  CalledKernel (*make)(const Instruction& instruction, const KernelBends& bends);
};
constexpr Row kRows[] = {
    {Opcode::kCholesky, Cholesky},
    {Opcode::kFft, Fourier},
    {Opcode::kRngBitGenerator, RandomBits},
    {Opcode::kTriangularSolve, TriangularSolve},
};

const Row* FindRow(Opcode opcode) {
  for (const Row& row : kRows) {
    if (row.opcode == opcode) return &row;
  }
  return nullptr;
}

}  // namespace

bool IsCalledKernel(Opcode opcode) { return FindRow(opcode) != nullptr; }

CalledKernel CalledKernelOf(const Instruction& instruction, const KernelBends& bends) {
  return FindRow(instruction.opcode())->make(instruction, bends);
}

}  // namespace assay::gpu
