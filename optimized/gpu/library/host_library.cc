// One loop over products per family. Nothing here is fast: arrays of tests and campaigns are small.
#include "optimized/gpu/library/host_library.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/types/native.h"

namespace assay::gpu {
namespace {

using enum LibraryRoutine;
using enum ElementType;

// Sums of elements of T are of this type, and epilogues of that one.
template <typename T>
struct SumOf {
  using Type = T;
};
template <>
struct SumOf<Half> {
  using Type = float;
};
template <>
struct SumOf<BFloat16> {
  using Type = float;
};
template <>
struct SumOf<int8_t> {
  using Type = int32_t;
};
template <typename S>
using EpilogueOf = std::conditional_t<std::is_same_v<S, int32_t>, float, S>;

template <typename T, typename S>
S Read(const void* data, int64_t at) {
  return static_cast<S>(static_cast<const T*>(data)[at]);
}

// The number in the result's type, one that saturates if it is a byte.
template <typename S>
void Write(void* data, ElementType type, int64_t at, S value) {
  if constexpr (std::is_same_v<S, std::complex<float>> || std::is_same_v<S, std::complex<double>>) {
    static_cast<S*>(data)[at] = value;
  } else {
    switch (type) {
      case kF16:
        static_cast<Half*>(data)[at] = Half(static_cast<float>(value));
        break;
      case kBF16:
        static_cast<BFloat16*>(data)[at] = BFloat16(static_cast<float>(value));
        break;
      case kF32:
        static_cast<float*>(data)[at] = static_cast<float>(value);
        break;
      case kF64:
        static_cast<double*>(data)[at] = static_cast<double>(value);
        break;
      case kS32:
        static_cast<int32_t*>(data)[at] = static_cast<int32_t>(value);
        break;
      default: {
        const bool is_number = value == value;
        const S cut = std::min<S>(std::max<S>(value, -128), 127);
        static_cast<int8_t*>(data)[at] = is_number ? static_cast<int8_t>(cut) : int8_t{0};
      }
    }
  }
}

template <typename S>
S ReadWide(const void* data, ElementType type, int64_t at) {
  if constexpr (std::is_same_v<S, std::complex<float>> || std::is_same_v<S, std::complex<double>>) {
    return static_cast<const S*>(data)[at];
  } else {
    switch (type) {
      case kF16:
        return Read<Half, S>(data, at);
      case kBF16:
        return Read<BFloat16, S>(data, at);
      case kF32:
        return Read<float, S>(data, at);
      case kF64:
        return Read<double, S>(data, at);
      case kS32:
        return Read<int32_t, S>(data, at);
      default:
        return Read<int8_t, S>(data, at);
    }
  }
}

template <typename S>
S Activate(S x, LibraryActivation activation, double leaky_alpha) {
  if constexpr (!std::is_floating_point_v<S>) {
    return x;
  } else {
    const auto larger = [](S a, S b) {
      // The second of equal numbers: the zero of a rectifier is +0 whichever zero comes in.
      return std::isnan(a) || std::isnan(b) ? a + b : a > b ? a : b;
    };
    switch (activation) {
      case LibraryActivation::kNone:
        return x;
      case LibraryActivation::kSigmoid:
        return 1 / (1 + std::exp(-x));
      case LibraryActivation::kRelu:
        return larger(x, 0);
      case LibraryActivation::kRelu6:
        return std::isnan(x) ? x : std::min<S>(larger(x, 0), 6);
      case LibraryActivation::kTanh:
        return std::tanh(x);
      case LibraryActivation::kElu:
        return x > 0 ? x : std::expm1(x);
      case LibraryActivation::kLeakyRelu:
        return x > 0 ? x : x * static_cast<S>(leaky_alpha);
      case LibraryActivation::kGelu: {
        const S inner =
            (x + x * x * x * static_cast<S>(0.044715)) * static_cast<S>(0.79788456080286541);
        return x * S{0.5} * (std::tanh(inner) + 1);
      }
    }
    return x;
  }
}

// A factor of one leaves infinite parts as they are, where a product with 1 + 0i would make them
// NaN.
template <typename S>
S Times(S value, double real, double imaginary) {
  if (real == 1 && imaginary == 0) return value;
  if constexpr (std::is_same_v<S, std::complex<float>> || std::is_same_v<S, std::complex<double>>) {
    using P = typename S::value_type;
    const P a = value.real(), b = value.imag(), c = static_cast<P>(real),
            d = static_cast<P>(imaginary);
    return {a * c - b * d, a * d + b * c};
  } else {
    static_cast<void>(imaginary);
    return static_cast<S>(value * static_cast<S>(real));
  }
}

template <typename S>
S Product(S x, S y) {
  if constexpr (std::is_same_v<S, std::complex<float>> || std::is_same_v<S, std::complex<double>>) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  } else if constexpr (std::is_integral_v<S>) {
    return static_cast<S>(static_cast<uint32_t>(x) * static_cast<uint32_t>(y));
  } else {
    return x * y;
  }
}

template <typename S>
S Sum(S x, S y) {
  if constexpr (std::is_integral_v<S>) {
    return static_cast<S>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y));
  } else {
    return x + y;
  }
}

template <typename T>
void RunProductOf(const MatrixProduct& product) {
  using S = typename SumOf<T>::Type;
  using E = EpilogueOf<S>;
  const auto at = [](const MatrixView& view, int64_t batch, int64_t i, int64_t j) {
    return batch * view.batch_stride + i * view.row_stride + j * view.column_stride;
  };
  const bool is_plain = product.alpha_real == 1 && product.alpha_imag == 0 && product.beta == 0 &&
                        product.bias == nullptr && product.activation == LibraryActivation::kNone;
  for (int64_t batch = 0; batch < product.batches; ++batch) {
    for (int64_t i = 0; i < product.rows; ++i) {
      for (int64_t j = 0; j < product.columns; ++j) {
        S sum{};
        for (int64_t k = 0; k < product.depth; ++k) {
          const S x = Read<T, S>(product.a.data, at(product.a, batch, i, k));
          sum = Sum(sum, Product(x, Read<T, S>(product.b.data, at(product.b, batch, k, j))));
        }
        const int64_t place = at(product.d, batch, i, j);
        if (is_plain) {
          Write(product.d.data, product.d.type, place, sum);
          continue;
        }
        E value = Times(static_cast<E>(sum), product.alpha_real, product.alpha_imag);
        if (product.beta != 0) {
          const E c = ReadWide<E>(product.c.data, product.c.type, at(product.c, batch, i, j));
          value += Times(c, product.beta, 0);
        }
        if (product.bias != nullptr)
          value += ReadWide<E>(product.bias, product.d.type, product.bias_by_row ? i : j);
        Write(product.d.data, product.d.type, place, Activate(value, product.activation, 0));
      }
    }
  }
}

Int64List StridesOf(const Shape& shape) {
  Int64List strides(static_cast<size_t>(shape.rank()), 1);
  for (int64_t d = shape.rank() - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape.dimension(d + 1);
  return strides;
}

// The dimensions of one side of a product that are neither batch nor contracting.
Int64List FreeDims(const Shape& shape, const Int64List& batch, const Int64List& contracting) {
  Int64List free;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool is_used = std::find(batch.begin(), batch.end(), d) != batch.end() ||
                         std::find(contracting.begin(), contracting.end(), d) != contracting.end();
    if (!is_used) free.push_back(d);
  }
  return free;
}

// Offsets of all places along `dims`, the last one fastest.
std::vector<int64_t> OffsetsAlong(const Shape& shape, const Int64List& dims) {
  const Int64List strides = StridesOf(shape);
  std::vector<int64_t> offsets = {0};
  for (int64_t d : dims) {
    std::vector<int64_t> more;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < shape.dimension(d); ++i) more.push_back(offset + i * strides[d]);
    offsets = std::move(more);
  }
  return offsets;
}

// Copies of the sides with one dimension of each kind: [batch, free, contracting].
template <typename T>
std::vector<T> Arranged(const Shape& shape, const void* data, const Int64List& batch,
                        const Int64List& free, const Int64List& contracting) {
  std::vector<T> arranged;
  const std::vector<int64_t> inner = OffsetsAlong(shape, contracting);
  const std::vector<int64_t> middle = OffsetsAlong(shape, free);
  for (int64_t b : OffsetsAlong(shape, batch))
    for (int64_t f : middle)
      for (int64_t c : inner) arranged.push_back(static_cast<const T*>(data)[b + f + c]);
  return arranged;
}

template <typename T>
void RunGemmOf(const Instruction& at, const LibraryCall& call,
               absl::Span<const void* const> operands, void* result) {
  const GemmConfig& gemm = call.gemm;
  const Shape &lhs = at.operand(0)->shape(), &rhs = at.operand(1)->shape();
  const Int64List lhs_free = FreeDims(lhs, gemm.lhs_batch, gemm.lhs_contracting);
  const Int64List rhs_free = FreeDims(rhs, gemm.rhs_batch, gemm.rhs_contracting);
  const auto size = [](const Shape& shape, const Int64List& dims) {
    int64_t product = 1;
    for (int64_t d : dims) product *= shape.dimension(d);
    return product;
  };
  std::vector<T> a = Arranged<T>(lhs, operands[0], gemm.lhs_batch, lhs_free, gemm.lhs_contracting);
  std::vector<T> b = Arranged<T>(rhs, operands[1], gemm.rhs_batch, rhs_free, gemm.rhs_contracting);
  MatrixProduct product;
  product.batches = size(lhs, gemm.lhs_batch);
  product.rows = size(lhs, lhs_free);
  product.columns = size(rhs, rhs_free);
  product.depth = size(lhs, gemm.lhs_contracting);
  const ElementType type = lhs.element_type(), out = call.result->element_type();
  product.a = {a.data(), type, product.depth, 1, product.rows * product.depth};
  product.b = {b.data(), type, 1, product.depth, product.columns * product.depth};
  product.d = {result, out, product.columns, 1, product.rows * product.columns};
  product.c = product.d;
  if (call.addend >= 0) product.c.data = const_cast<void*>(operands[call.addend]);
  if (call.bias >= 0) product.bias = operands[call.bias];
  product.alpha_real = gemm.alpha_real;
  product.alpha_imag = gemm.alpha_imag;
  product.beta = gemm.beta;
  product.activation = gemm.activation;
  RunProductOf<T>(product);
}

// Calls f(x place, w place, y place) for every product of a forward convolution.
template <typename F>
void ForEachProduct(const Instruction& at, const ConvShapes& shapes, F f) {
  const ConvDimLabels& labels = *at.attributes().DimLabels();
  const absl::Span<const WindowDim> window = at.attributes().Window(Attr::kWindow);
  const int64_t groups = at.attributes().Integer(Attr::kFeatureGroupCount, 1);
  const Shape &x = *shapes.input, &w = *shapes.filter, &y = *shapes.output;
  const Int64List xs = StridesOf(x), ws = StridesOf(w), ys = StridesOf(y);
  const int64_t inputs = w.dimension(labels.kernel_input_feature);
  const int64_t outputs = y.dimension(labels.output_feature), per_group = outputs / groups;
  const auto rank = static_cast<int64_t>(window.size());
  // Places of the spatial dimensions, one after the other.
  const auto spatial = [&](auto&& self, int64_t d, int64_t xo, int64_t wo, int64_t yo) -> void {
    if (d < rank) {
      const WindowDim& dim = window[d];
      for (int64_t o = 0; o < y.dimension(labels.output_spatial[d]); ++o) {
        for (int64_t k = 0; k < dim.size; ++k) {
          const int64_t place = o * dim.stride + k * dim.window_dilation - dim.low;
          if (place < 0 || place >= x.dimension(labels.input_spatial[d])) continue;
          self(self, d + 1, xo + place * xs[labels.input_spatial[d]],
               wo + k * ws[labels.kernel_spatial[d]], yo + o * ys[labels.output_spatial[d]]);
        }
      }
      return;
    }
    for (int64_t b = 0; b < y.dimension(labels.output_batch); ++b) {
      for (int64_t out = 0; out < outputs; ++out) {
        const int64_t first = out / per_group * inputs;
        for (int64_t in = 0; in < inputs; ++in) {
          f(xo + b * xs[labels.input_batch] + (first + in) * xs[labels.input_feature],
            wo + in * ws[labels.kernel_input_feature] + out * ws[labels.kernel_output_feature],
            yo + b * ys[labels.output_batch] + out * ys[labels.output_feature]);
        }
      }
    }
  };
  if (outputs > 0) spatial(spatial, 0, 0, 0, 0);
}

template <typename T>
void RunConvOf(const Instruction& at, const LibraryCall& call,
               absl::Span<const void* const> operands, void* result) {
  using S = typename SumOf<T>::Type;
  using E = EpilogueOf<S>;
  const ConvConfig& conv = call.conv;
  std::vector<S> sums(static_cast<size_t>(call.result->ElementCount()));
  const auto add = [&](int64_t to, int64_t lhs, int64_t rhs) {
    sums[to] = Sum(sums[to], Product(Read<T, S>(operands[0], lhs), Read<T, S>(operands[1], rhs)));
  };
  ForEachProduct(at, ConvShapesOf(call.routine, at, *call.result),
                 [&](int64_t x, int64_t w, int64_t y) {
                   if (call.routine == kConvBackwardInput) {
                     add(x, y, w);
                   } else if (call.routine == kConvBackwardFilter) {
                     add(w, x, y);
                   } else {
                     add(y, x, w);
                   }
                 });
  const ElementType type = call.result->element_type();
  const ElementType bias_type =
      call.bias >= 0 ? at.operand(call.bias)->shape().element_type() : type;
  const bool is_plain = conv.result_scale == 1 && call.bias < 0;
  const Int64List strides = StridesOf(*call.result);
  const int64_t feature = at.attributes().DimLabels()->output_feature;
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    if (is_plain) {
      Write(result, type, place, sums[i]);
      continue;
    }
    E value = Times(static_cast<E>(sums[i]), conv.result_scale, 0);
    if (call.addend >= 0)
      value += Times(ReadWide<E>(operands[call.addend], type, place), conv.side_scale, 0);
    if (call.bias >= 0) {
      const int64_t channel = place / strides[feature] % call.result->dimension(feature);
      value += ReadWide<E>(operands[call.bias], bias_type, channel);
    }
    Write(result, type, place, Activate(value, conv.activation, conv.leaky_alpha));
  }
}

void RunNorm(const Instruction& at, const LibraryCall& call, absl::Span<const void* const> operands,
             absl::Span<void* const> results) {
  const Shape& x = at.operand(0)->shape();
  const int64_t features = x.dimension(call.feature_index), count = x.ElementCount();
  const int64_t step = StridesOf(x)[call.feature_index];
  const auto floats = [&](int64_t k) { return static_cast<const float*>(operands[k]); };
  const auto out = [&](int64_t k) { return static_cast<float*>(results[k]); };
  const auto feature = [&](int64_t i) { return i / step % features; };
  const float epsilon = *floats(at.operand_count() - 2);
  const auto per_feature = features == 0 ? 0.0 : static_cast<double>(count / features);
  if (call.routine == kNormBackward) {
    const float *scale = floats(1), *mean = floats(2), *inverse = floats(3), *dy = floats(4);
    std::vector<double> products(features), sums(features);
    const auto unit = [&](int64_t i) {
      return (floats(0)[i] - mean[feature(i)]) * inverse[feature(i)];
    };
    for (int64_t i = 0; i < count; ++i) {
      products[feature(i)] += dy[i] * unit(i);
      sums[feature(i)] += dy[i];
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t f = feature(i);
      const auto per = static_cast<float>(per_feature);
      const float rest = dy[i] - static_cast<float>(sums[f]) / per -
                         unit(i) * (static_cast<float>(products[f]) / per);
      out(0)[i] = scale[f] * inverse[f] * rest;
    }
    for (int64_t f = 0; f < features; ++f) {
      out(1)[f] = static_cast<float>(products[f]);
      out(2)[f] = static_cast<float>(sums[f]);
    }
    return;
  }
  std::vector<double> mean(features), variance(features);
  if (call.routine == kNormTraining) {
    // Sums have more digits than f32 and no more range: what overflows there does so here.
    const auto close = [&](std::vector<double>& sums) {
      for (double& sum : sums) sum = static_cast<float>(sum) / per_feature;
    };
    for (int64_t i = 0; i < count; ++i) mean[feature(i)] += floats(0)[i];
    close(mean);
    for (int64_t i = 0; i < count; ++i) {
      const double centred = static_cast<float>(floats(0)[i] - mean[feature(i)]);
      variance[feature(i)] += centred * centred;
    }
    close(variance);
  } else {
    for (int64_t f = 0; f < features; ++f) {
      mean[f] = floats(3)[f];
      variance[f] = floats(4)[f];
    }
  }
  // The steps beside the sums are those of f32, whose range an intermediate value may leave.
  const auto inverse = [&](int64_t f) {
    return 1 / std::sqrt(static_cast<float>(variance[f]) + epsilon);
  };
  for (int64_t i = 0; i < count; ++i) {
    const int64_t f = feature(i);
    const float unit = (floats(0)[i] - static_cast<float>(mean[f])) * inverse(f);
    out(0)[i] = unit * floats(1)[f] + floats(2)[f];
  }
  if (call.routine == kNormInference) return;
  for (int64_t f = 0; f < features; ++f) {
    // A mean of nothing is 0/0.
    const bool is_empty = count == 0;
    out(1)[f] = is_empty ? std::nanf("") : static_cast<float>(mean[f]);
    out(2)[f] = is_empty ? std::nanf("") : inverse(f);
  }
}

template <typename T>
T Conjugated(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    return std::conj(value);
  }
}

// The factor in place, by columns; the number of the first minor that is not positive, or 0.
template <typename T>
int32_t Factor(T* a, int64_t n, bool lower) {
  const auto at = [&](int64_t i, int64_t j) -> T& { return lower ? a[i * n + j] : a[j * n + i]; };
  for (int64_t j = 0; j < n; ++j) {
    auto pivot = std::real(at(j, j));
    for (int64_t k = 0; k < j; ++k) pivot -= std::norm(at(j, k));
    if (!(pivot > 0)) return static_cast<int32_t>(j + 1);
    const auto root = std::sqrt(pivot);
    at(j, j) = root;
    for (int64_t i = j + 1; i < n; ++i) {
      T sum = at(i, j);
      // The upper factor is the transpose of the lower one, read the other way round.
      for (int64_t k = 0; k < j; ++k) sum -= at(i, k) * Conjugated(at(j, k));
      at(i, j) = sum / root;
    }
  }
  return 0;
}

template <typename T>
void RunCholeskyOf(const Instruction& at, const LibraryCall& call,
                   absl::Span<const void* const> operands, absl::Span<void* const> results) {
  const Shape& shape = at.operand(0)->shape();
  const int64_t n = shape.dimension(shape.rank() - 1), count = shape.ElementCount();
  const int64_t matrices = at.shape().elements()[2].ElementCount();
  T* factors = static_cast<T*>(results[0]);
  if (count > 0) std::memcpy(factors, operands[0], static_cast<size_t>(shape.ByteSize()));
  for (int64_t k = 0; k < matrices; ++k)
    static_cast<int32_t*>(results[2])[k] = Factor(factors + k * n * n, n, call.lower);
}

}  // namespace

void RunProduct(const MatrixProduct& product) {
  switch (product.a.type) {
    case kF16:
      return RunProductOf<Half>(product);
    case kBF16:
      return RunProductOf<BFloat16>(product);
    case kF32:
      return RunProductOf<float>(product);
    case kF64:
      return RunProductOf<double>(product);
    case kC64:
      return RunProductOf<std::complex<float>>(product);
    case kC128:
      return RunProductOf<std::complex<double>>(product);
    default:
      return RunProductOf<int8_t>(product);
  }
}

void RunOnHost(const Instruction& instruction, const LibraryCall& call,
               absl::Span<const void* const> operands, absl::Span<void* const> results) {
  const Shape& shape = instruction.shape();
  for (size_t k = 1; shape.IsTuple() && k < shape.elements().size(); ++k)
    if (shape.elements()[k].ByteSize() > 0)
      std::memset(results[k], 0, static_cast<size_t>(shape.elements()[k].ByteSize()));
  const auto run = [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (call.routine <= kGemmLt) {
      RunGemmOf<T>(instruction, call, operands, results[0]);
    } else if constexpr (!std::is_same_v<T, std::complex<float>> &&
                         !std::is_same_v<T, std::complex<double>>) {
      RunConvOf<T>(instruction, call, operands, results[0]);
    }
  };
  const ElementType type = instruction.operand(0)->shape().element_type();
  if (call.routine == kCholesky) {
    if (type == kF32) RunCholeskyOf<float>(instruction, call, operands, results);
    if (type == kF64) RunCholeskyOf<double>(instruction, call, operands, results);
    if (type == kC64) RunCholeskyOf<std::complex<float>>(instruction, call, operands, results);
    if (type == kC128) RunCholeskyOf<std::complex<double>>(instruction, call, operands, results);
    return;
  }
  if (call.routine >= kNormInference) {
    RunNorm(instruction, call, operands, results);
    return;
  }
  switch (type) {
    case kF16:
      run(TypeTag<Half>());
      break;
    case kBF16:
      run(TypeTag<BFloat16>());
      break;
    case kF32:
      run(TypeTag<float>());
      break;
    case kF64:
      run(TypeTag<double>());
      break;
    case kC64:
      run(TypeTag<std::complex<float>>());
      break;
    case kC128:
      run(TypeTag<std::complex<double>>());
      break;
    default:
      run(TypeTag<int8_t>());
  }
}

}  // namespace assay::gpu
