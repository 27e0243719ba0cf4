// Convolution. Document: operation semantics chapter 11, Conv to ConvGeneralDilated.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/bounds/elements.h"
#include "reference/bounds/products.h"
#include "reference/ops/contraction/products.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_inference.h"

namespace assay::reference {
namespace {

// The sizes of one spatial dimension. The window at output place o reads, for each kernel place k,
// the input place (o * stride + k * window_dilation - low) / base_dilation, unless that is a hole
// or padding.
struct SpatialDim {
  WindowDim window;
  int64_t input_size, input_step;  // step: arranged elements from one place to the next
  int64_t kernel_step;
  int64_t output_size, output_stride;

  // The input and kernel places that the window at `o` multiplies.
  std::vector<ProductSums::Run> Reads(int64_t o) const {
    std::vector<ProductSums::Run> reads;
    for (int64_t k = 0; k < window.size; ++k) {
      const int64_t dilated = o * window.stride + k * window.window_dilation - window.low;
      if (dilated < 0 || dilated % window.base_dilation != 0) continue;
      const int64_t place = dilated / window.base_dilation;
      if (place >= input_size) break;
      const int64_t kernel_place = window.reversal ? window.size - 1 - k : k;
      reads.push_back({place * input_step, kernel_place * kernel_step});
    }
    return reads;
  }
};

// The sizes of a convolution whose input is arranged as [batch, spatial..., feature] and whose
// kernel as [output feature, spatial..., input feature].
struct Convolution {
  std::vector<SpatialDim> spatial;
  int64_t groups, feature_groups, batch_groups;
  int64_t output_batch, output_batch_stride;
  int64_t group_outputs, output_feature_stride;  // output features per group
  int64_t group_inputs;                          // input features per group
  int64_t image_size, column_size;               // arranged elements per batch, per output feature

  // Calls f with the blocks of one window place, whose runs are `runs`.
  void ForEachBlock(absl::Span<const ProductSums::Run> runs, int64_t result,
                    absl::FunctionRef<void(const ProductSums::Block&)> f) const {
    for (int64_t b = 0; b < output_batch; ++b) {
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t input_batch = batch_groups > 1 ? g * output_batch + b : b;
        const int64_t first_feature = feature_groups > 1 ? g * group_inputs : 0;
        const int64_t first_output = g * group_outputs;
        f({.lhs = input_batch * image_size + first_feature,
           .rhs = first_output * column_size,
           .columns = group_outputs,
           .result = result + b * output_batch_stride + first_output * output_feature_stride,
           .result_step = output_feature_stride,
           .runs = runs});
      }
    }
  }

  // Calls f with the blocks of all places of the window, the last spatial dimension fastest.
  void ForEachPlace(absl::FunctionRef<void(const ProductSums::Block&)> f) const {
    if (group_inputs == 0) return;  // empty sums
    DimVector sizes, place(spatial.size(), 0);
    for (const SpatialDim& dim : spatial) sizes.push_back(dim.output_size);
    for (int64_t size : sizes)
      if (size == 0) return;
    std::vector<ProductSums::Run> runs, longer;
    do {
      runs.assign(1, {});
      int64_t result = 0;
      for (size_t d = 0; d < spatial.size(); ++d) {
        longer.clear();
        const std::vector<ProductSums::Run> reads = spatial[d].Reads(place[d]);
        for (const ProductSums::Run& run : runs)
          for (const ProductSums::Run& read : reads)
            longer.push_back({run.lhs + read.lhs, run.rhs + read.rhs});
        runs.swap(longer);
        result += place[d] * spatial[d].output_stride;
      }
      ForEachBlock(runs, result, f);
    } while (NextIndex(sizes, absl::MakeSpan(place)));
  }
};

const ConvDimLabels& LabelsOf(const OpContext& op) {
  return *op.instruction.attributes().DimLabels();
}

// The kernel's dimensions as they are arranged.
DimList KernelDims(const OpContext& op) {
  const ConvDimLabels& labels = LabelsOf(op);
  const Shape& kernel = op.literal(1).shape();
  DimList dims;
  dims.Add(kernel, labels.kernel_output_feature);
  for (int64_t d : labels.kernel_spatial) dims.Add(kernel, d);
  dims.Add(kernel, labels.kernel_input_feature);
  return dims;
}

Convolution ConvolutionOf(const OpContext& op) {
  const Attributes& attributes = op.instruction.attributes();
  const ConvDimLabels& labels = LabelsOf(op);
  const absl::Span<const WindowDim> window = attributes.Window(Attr::kWindow);
  const Shape &input = op.literal(0).shape(), &kernel = op.literal(1).shape();
  // A sample has the shape of a list.
  const Shape& output = op.analysis.sample != nullptr ? op.instruction.shape() : op.shape;
  const DimVector result_strides = RowMajorStrides(output.dimensions());
  Convolution convolution;
  convolution.feature_groups = attributes.Integer(Attr::kFeatureGroupCount, 1);
  convolution.batch_groups = attributes.Integer(Attr::kBatchGroupCount, 1);
  convolution.groups = convolution.feature_groups * convolution.batch_groups;
  convolution.output_batch = output.dimension(labels.output_batch);
  convolution.output_batch_stride = result_strides[labels.output_batch];
  convolution.group_outputs = output.dimension(labels.output_feature) / convolution.groups;
  convolution.output_feature_stride = result_strides[labels.output_feature];
  convolution.group_inputs = kernel.dimension(labels.kernel_input_feature);
  // Steps of the arranged operands, innermost spatial dimension first.
  convolution.spatial.resize(window.size());
  int64_t input_step = input.dimension(labels.input_feature);
  int64_t kernel_step = convolution.group_inputs;
  for (size_t d = window.size(); d-- > 0;) {
    const int64_t place = labels.output_spatial[d];
    const int64_t input_size = input.dimension(labels.input_spatial[d]);
    convolution.spatial[d] = {window[d],
                              input_size,
                              input_step,
                              kernel_step,
                              output.dimension(place),
                              result_strides[place]};
    input_step *= input_size;
    kernel_step *= window[d].size;
  }
  convolution.image_size = input_step;
  convolution.column_size = kernel_step;
  return convolution;
}

ProductSums SumsOfConvolution(const OpContext& op) {
  const Convolution convolution = ConvolutionOf(op);
  const ConvDimLabels& labels = LabelsOf(op);
  const Shape& input = op.literal(0).shape();
  ProductSums sums;
  sums.lhs.Add(input, labels.input_batch);
  for (int64_t d : labels.input_spatial) sums.lhs.Add(input, d);
  sums.lhs.Add(input, labels.input_feature);
  sums.rhs = KernelDims(op);
  sums.length = convolution.group_inputs;
  sums.column_size = convolution.column_size;
  sums.for_each_block = [convolution](absl::FunctionRef<void(const ProductSums::Block&)> f) {
    convolution.ForEachPlace(f);
  };
  return op.analysis.sample != nullptr ? sums.Only(*op.analysis.sample) : sums;
}

absl::Status EvaluateConvolutionSums(const OpContext& op, Literal& sums) {
  return EvaluateProductSums(op, SumsOfConvolution(op), sums);
}

absl::Status EvaluateConvolution(const OpContext& op, Literal& result) {
  if (!IsPlainConvolution(op.instruction.attributes())) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat(op.instruction.name(),
                            ": the oracle does not evaluate backward or sparse convolutions"));
  }
  return EvaluateInTypes(op, EvaluateConvolutionSums, result);
}

bool MayBeInfiniteOrNan(const Array& array, int64_t i) {
  constexpr uint32_t kSpecial = kMayBeNan | kMayBePosInf | kMayBeNegInf | kUndecided;
  const int64_t width = BoundsPerElement(array.literal.element_type());
  for (int64_t slot = i * width; slot < (i + 1) * width; ++slot) {
    if (!std::isfinite(array.literal.GetComponent(slot))) return true;
    if (!array.facts().bounds.empty() && (array.facts().bounds[slot].flags & kSpecial) != 0)
      return true;
  }
  return false;
}

bool IsSurelyNan(const Array& array, int64_t i) {
  if (!IsFloat(array.literal.element_type()) || !std::isnan(array.literal.GetComponent(i)))
    return false;
  const uint32_t flags = array.facts().BoundOf(i).flags;
  return flags == kForced || flags == (kNotFinite | kMayBeNan);
}

// Makes results undecided for which an infinity or NaN of the kernel stands over padding or a hole.
// UNSPECIFIED(operation semantics 11, Conv): whether padding and holes are zeros that are
// multiplied, which gives NaN, or take no part.
class SpecialsOverHoles {
 public:
  explicit SpecialsOverHoles(const OpContext& op)
      : convolution_(ConvolutionOf(op)), sample_(op.analysis.sample) {
    int64_t at = 0;
    KernelDims(op).ForEachPlace([&](int64_t element) {
      if (MayBeInfiniteOrNan(op.array(1), element)) Include(at);
      ++at;
    });
  }

  void Bound(Array& result) const {
    if (specials_.empty() || result.literal.element_count() == 0) return;
    const std::vector<SpatialDim>& spatial = convolution_.spatial;
    DimVector sizes, place(spatial.size(), 0);
    for (const SpatialDim& dim : spatial) sizes.push_back(dim.output_size);
    do {
      int64_t first = 0;
      std::vector<std::vector<bool>> reads;
      for (size_t d = 0; d < spatial.size(); ++d) {
        reads.emplace_back(spatial[d].window.size, false);
        for (const ProductSums::Run& run : spatial[d].Reads(place[d]))
          reads[d][run.rhs / spatial[d].kernel_step] = true;
        first += place[d] * spatial[d].output_stride;
      }
      for (const Special& special : specials_) {
        bool is_read = true;
        for (size_t d = 0; d < spatial.size(); ++d) is_read = is_read && reads[d][special.place[d]];
        if (!is_read) BoundBatch(first, special.output_feature, result);
      }
    } while (NextIndex(sizes, absl::MakeSpan(place)));
  }

 private:
  // A place of the kernel that holds an infinity or NaN for an output feature.
  struct Special {
    int64_t output_feature;
    DimVector place;
    bool operator==(const Special& other) const {
      return output_feature == other.output_feature && place == other.place;
    }
  };

  // Notes the place of arranged kernel element `at`.
  void Include(int64_t at) {
    Special special{at / convolution_.column_size, {}};
    for (const SpatialDim& dim : convolution_.spatial)
      special.place.push_back(at / dim.kernel_step % dim.window.size);
    if (specials_.empty() || !(specials_.back() == special)) specials_.push_back(special);
  }

  void BoundBatch(int64_t first, int64_t feature, Array& result) const {
    for (int64_t b = 0; b < convolution_.output_batch; ++b) {
      int64_t at = first + b * convolution_.output_batch_stride +
                   feature * convolution_.output_feature_stride;
      if (sample_ != nullptr) {
        const auto found = std::lower_bound(sample_->begin(), sample_->end(), at);
        if (found == sample_->end() || *found != at) continue;
        at = found - sample_->begin();
      }
      if (!IsSurelyNan(result, at)) SetUndecided(result, at);
    }
  }

  Convolution convolution_;
  const std::vector<int64_t>* sample_;  // of which `result` is a list; nullptr: of all elements
  std::vector<Special> specials_;
};

absl::Status BoundConvolutionSums(const OpContext& op, Array& sums) {
  BoundProductSums(op, SumsOfConvolution(op), sums);
  SpecialsOverHoles(op).Bound(sums);
  return absl::OkStatus();
}

absl::Status BoundConvolution(const OpContext& op, Array& result) {
  return BoundInTypes(op, EvaluateConvolutionSums, BoundConvolutionSums, result);
}

// Number of products, those with padding and holes included, which are tried too.
int64_t ConvolutionCost(const OpContext& op) {
  const Shape& kernel = op.literal(1).shape();
  const ConvDimLabels& labels = LabelsOf(op);
  double cost = static_cast<double>(op.count());
  for (int64_t d = 0; d < kernel.rank(); ++d) {
    if (d != labels.kernel_output_feature)
      cost *= static_cast<double>(std::max<int64_t>(kernel.dimension(d), 1));
  }
  return cost > 9e18 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(cost);
}

}  // namespace

absl::Span<const OpEvaluation> ConvolutionEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kConvolution,
       .evaluate = EvaluateConvolution,
       .bound = BoundConvolution,
       .cost = ConvolutionCost},
  };
  return kRows;
}

}  // namespace assay::reference
