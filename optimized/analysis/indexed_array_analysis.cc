// Follows look-ups through gathers, reshapes and element-wise ops.
#include "optimized/analysis/indexed_array_analysis.h"

#include <algorithm>
#include <utility>

#include "spec/base/strings.h"

namespace assay {
namespace {

int64_t RankOf(const IndexedArrayAnalysis::Array& array) {
  if (!array.IsIndexed()) return array.instruction->shape().rank();
  return RankOf(*array.source) - 1 + static_cast<int64_t>(array.output_dims.size());
}

}  // namespace

IndexedArrayAnalysis::IndexedArrayAnalysis(const Computation& computation) {
  for (const Instruction* inst : computation.PostOrder()) arrays_[inst] = Analyze(inst);
}

const IndexedArrayAnalysis::Array* IndexedArrayAnalysis::Add(Array array) {
  owned_.push_back(std::make_unique<Array>(std::move(array)));
  return owned_.back().get();
}

const IndexedArrayAnalysis::Array* IndexedArrayAnalysis::Analyze(const Instruction* inst) {
  if (inst->opcode() == Opcode::kGather) {
    if (const Array* found = OfGather(inst)) return found;
  }
  return Add({.instruction = inst});
}

// A gather of scalars along one dimension, all others taken whole.
const IndexedArrayAnalysis::Array* IndexedArrayAnalysis::OfGather(const Instruction* gather) {
  const Attributes& attributes = gather->attributes();
  const Shape& source = gather->operand(0)->shape();
  const Shape& indices = gather->operand(1)->shape();
  const auto map = attributes.Integers(Attr::kStartIndexMap);
  const auto collapsed = attributes.Integers(Attr::kCollapsedSliceDims);
  const auto sizes = attributes.Integers(Attr::kSliceSizes);
  if (attributes.Integer(Attr::kIndexVectorDim) != indices.rank() || map.size() != 1 ||
      collapsed != map || !attributes.Integers(Attr::kOperandBatchingDims).empty()) {
    return nullptr;
  }
  for (int64_t d = 0; d < source.rank(); ++d) {
    if (sizes[d] != (d == map[0] ? 1 : source.dimension(d))) return nullptr;
  }
  const auto offset = attributes.Integers(Attr::kOffsetDims);
  std::vector<int64_t> output_dims;
  for (int64_t d = 0; d < gather->shape().rank(); ++d) {
    if (std::find(offset.begin(), offset.end(), d) == offset.end()) output_dims.push_back(d);
  }
  return LookUp(arrays_.at(gather->operand(0)), arrays_.at(gather->operand(1)), map[0],
                std::move(output_dims));
}

const IndexedArrayAnalysis::Array* IndexedArrayAnalysis::LookUp(const Array* source,
                                                                const Array* indices,
                                                                int64_t source_dim,
                                                                std::vector<int64_t> output_dims) {
  // An array that was looked up by a vector is looked up again along the dimension that the vector
  // made: then only the indices are looked up, and the source stays.
  if (source->IsIndexed() && source->output_dims == std::vector<int64_t>{source_dim} &&
      RankOf(*source->indices) == 1) {
    std::vector<int64_t> all;
    for (int64_t d = 0; d < RankOf(*indices); ++d) all.push_back(d);
    const Array* both = LookUp(source->indices, indices, 0, std::move(all));
    return LookUp(source->source, both, source->source_dim, std::move(output_dims));
  }
  return Add({.source = source,
              .indices = indices,
              .source_dim = source_dim,
              .output_dims = std::move(output_dims)});
}

std::string IndexedArrayAnalysis::ToString(const Array& array) {
  if (!array.IsIndexed()) {
    const bool is_constant = array.instruction->opcode() == Opcode::kConstant;
    return is_constant ? StrCat("(constant ", array.instruction->shape().ToString(), ")")
                       : StrCat("%", array.instruction->name());
  }
  const bool of_constant =
      !array.source->IsIndexed() && array.source->instruction->opcode() == Opcode::kConstant;
  std::string out =
      StrCat(of_constant ? "(scalar-indexed-const " : "(scalar-indexed ", ToString(*array.source),
             " ", ToString(*array.indices), " ", array.source_dim, "->[");
  for (size_t i = 0; i < array.output_dims.size(); ++i) {
    StrAppend(&out, i == 0 ? "" : ",", array.output_dims[i]);
  }
  return out + "])";
}

}  // namespace assay
