// Links dimensions that stand for each other, op by op.
#include "fuzz/reduce/links/equivalence.h"

#include <algorithm>

#include "spec/ops/op_table.h"

namespace assay {
namespace {

template <typename S>
void Collect(S& shape, std::vector<S*>& out) {
  if (!shape.IsTuple()) {
    out.push_back(&shape);
    return;
  }
  if constexpr (std::is_const_v<S>) {
    for (const Shape& element : shape.elements()) Collect<S>(element, out);
  } else {
    for (Shape& element : shape.mutable_elements()) Collect<S>(element, out);
  }
}

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Dimensions of an operand of `rank` that are in neither list, ascending.
std::vector<int64_t> FreeDims(int64_t rank, absl::Span<const int64_t> a,
                              absl::Span<const int64_t> b) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(a, d) && !Contains(b, d)) free.push_back(d);
  }
  return free;
}

}  // namespace

std::vector<Shape*> MutableLeaves(Shape& shape) {
  std::vector<Shape*> leaves;
  Collect<Shape>(shape, leaves);
  return leaves;
}

std::vector<const Shape*> ShapeLeaves(const Shape& shape) {
  std::vector<const Shape*> leaves;
  Collect<const Shape>(shape, leaves);
  return leaves;
}

Equivalence::Equivalence(const Module& module, LinkKind kind) : kind_(kind) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      Place& place = places_[at];
      place.first = static_cast<int64_t>(variables_.size());
      std::vector<const Shape*> leaves = ShapeLeaves(at->shape());
      for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        place.leaf_offset.push_back(static_cast<int64_t>(variables_.size()) - place.first);
        int64_t count = kind == LinkKind::kTypes  ? 1
                        : leaves[leaf]->IsArray() ? leaves[leaf]->rank()
                                                  : 0;
        for (int64_t d = 0; d < count; ++d)
          variables_.push_back({at, static_cast<int64_t>(leaf), d});
      }
      place.leaf_offset.push_back(static_cast<int64_t>(variables_.size()) - place.first);
    }
  }
  parent_.resize(variables_.size());
  for (size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int64_t>(i);
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) Link(at);
  }
  classes_.assign(variables_.size(), -1);
  for (size_t i = 0; i < variables_.size(); ++i) {
    int64_t root = Root(static_cast<int64_t>(i));
    if (classes_[root] < 0) classes_[root] = class_count_++;
    classes_[i] = classes_[root];
  }
  CollectMembers();
}

void Equivalence::CollectMembers() {
  first_member_.assign(static_cast<size_t>(class_count_) + 1, 0);
  for (int64_t c : classes_) ++first_member_[c + 1];
  for (int64_t c = 0; c < class_count_; ++c) first_member_[c + 1] += first_member_[c];
  std::vector<int64_t> next = first_member_;
  members_.resize(variables_.size());
  for (size_t i = 0; i < variables_.size(); ++i) members_[next[classes_[i]]++] = variables_[i];
}

int64_t Equivalence::ClassOf(const Instruction* at, int64_t leaf, int64_t dimension) const {
  const Place& place = places_.at(at);
  return classes_[place.first + place.leaf_offset[leaf] + dimension];
}

int64_t Equivalence::Root(int64_t variable) {
  while (parent_[variable] != variable) {
    parent_[variable] = parent_[parent_[variable]];
    variable = parent_[variable];
  }
  return variable;
}

void Equivalence::Join(int64_t a, int64_t b) {
  a = Root(a);
  b = Root(b);
  // The smaller root wins, so that a class is named after its first variable.
  parent_[std::max(a, b)] = std::min(a, b);
}

void Equivalence::JoinLeaf(const Instruction* a, int64_t leaf_a, const Instruction* b,
                           int64_t leaf_b) {
  const Place &pa = places_.at(a), &pb = places_.at(b);
  if (leaf_a + 1 >= static_cast<int64_t>(pa.leaf_offset.size())) return;
  if (leaf_b + 1 >= static_cast<int64_t>(pb.leaf_offset.size())) return;
  int64_t count_a = pa.leaf_offset[leaf_a + 1] - pa.leaf_offset[leaf_a];
  int64_t count_b = pb.leaf_offset[leaf_b + 1] - pb.leaf_offset[leaf_b];
  if (count_a != count_b) return;  // a scalar beside an array
  for (int64_t i = 0; i < count_a; ++i) {
    Join(pa.first + pa.leaf_offset[leaf_a] + i, pb.first + pb.leaf_offset[leaf_b] + i);
  }
}

void Equivalence::JoinDim(const Instruction* a, int64_t dim_a, const Instruction* b,
                          int64_t dim_b) {
  if (dim_a < 0 || dim_b < 0 || dim_a >= a->shape().rank() || dim_b >= b->shape().rank()) return;
  Join(places_.at(a).first + dim_a, places_.at(b).first + dim_b);
}

void Equivalence::JoinDims(const Instruction* a, absl::Span<const int64_t> dims_a,
                           const Instruction* b, absl::Span<const int64_t> dims_b) {
  for (size_t i = 0; i < std::min(dims_a.size(), dims_b.size()); ++i)
    JoinDim(a, dims_a[i], b, dims_b[i]);
}

void Equivalence::JoinLeaves(const Instruction* a, int64_t first, const Instruction* b) {
  int64_t count = static_cast<int64_t>(places_.at(b).leaf_offset.size()) - 1;
  for (int64_t i = 0; i < count; ++i) JoinLeaf(a, first + i, b, i);
}

void Equivalence::Link(const Instruction* at) {
  LinkFlow(at);
  if (kind_ == LinkKind::kTypes) {
    LinkTypes(at);
  } else {
    LinkSizes(at);
    if (kind_ == LinkKind::kPositions) LinkPositions(at);
  }
}

// Values that pass unchanged: tuples and calls.
void Equivalence::LinkFlow(const Instruction* at) {
  switch (at->opcode()) {
    case Opcode::kTuple: {
      int64_t first = 0;
      for (const Instruction* operand : at->operands()) {
        JoinLeaves(at, first, operand);
        first += LeafCount(operand->shape());
      }
      return;
    }
    case Opcode::kGetTupleElement: {
      int64_t first = 0;
      for (int64_t i = 0; i < at->tuple_index(); ++i) {
        first += LeafCount(at->operand(0)->shape().elements()[i]);
      }
      JoinLeaves(at->operand(0), first, at);
      return;
    }
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kMap: {
      const Computation* callee = at->callee(0);
      bool whole = at->opcode() != Opcode::kMap || kind_ == LinkKind::kTypes;
      for (int64_t i = 0; whole && i < std::min(at->operand_count(), callee->parameter_count());
           ++i) {
        JoinLeaves(at->operand(i), 0, callee->parameter(i));
      }
      if (whole) JoinLeaves(at, 0, callee->root());
      return;
    }
    case Opcode::kWhile:
      JoinLeaves(at, 0, at->operand(0));
      JoinLeaves(at, 0, at->callee(0)->parameter(0));
      JoinLeaves(at, 0, at->callee(1)->parameter(0));
      JoinLeaves(at, 0, at->callee(1)->root());
      return;
    case Opcode::kConditional:
      for (size_t i = 0; i < at->callees().size(); ++i) {
        JoinLeaves(at->operand(static_cast<int64_t>(i) + 1), 0, at->callee(i)->parameter(0));
        JoinLeaves(at, 0, at->callee(i)->root());
      }
      return;
    default:
      return;
  }
}

void Equivalence::LinkSizes(const Instruction* at) {
  const Attributes& attributes = at->attributes();
  switch (at->opcode()) {
    case Opcode::kBroadcast: {
      absl::Span<const int64_t> dims = attributes.Integers(Attr::kDimensions);
      for (size_t i = 0; i < dims.size(); ++i) JoinDim(at->operand(0), i, at, dims[i]);
      return;
    }
    case Opcode::kTranspose: {
      absl::Span<const int64_t> dims = attributes.Integers(Attr::kDimensions);
      for (size_t i = 0; i < dims.size(); ++i) JoinDim(at, i, at->operand(0), dims[i]);
      return;
    }
    case Opcode::kConcatenate: {
      absl::Span<const int64_t> axis = attributes.Integers(Attr::kDimension);
      for (const Instruction* operand : at->operands()) {
        for (int64_t d = 0; d < at->shape().rank(); ++d) {
          if (!Contains(axis, d)) JoinDim(at, d, operand, d);
        }
      }
      return;
    }
    case Opcode::kReverse:
    case Opcode::kCopy:
    case Opcode::kDynamicUpdateSlice:
      JoinLeaf(at, 0, at->operand(0), 0);
      return;
    case Opcode::kDot:
      LinkDot(at);
      return;
    case Opcode::kReduce:
      LinkReduce(at);
      return;
    case Opcode::kReduceWindow:
      for (int64_t k = 1; k < at->operand_count() / 2; ++k)
        JoinLeaf(at->operand(0), 0, at->operand(k), 0);
      return;
    case Opcode::kGather:
      JoinDims(at->operand(0), attributes.Integers(Attr::kOperandBatchingDims), at->operand(1),
               attributes.Integers(Attr::kStartIndicesBatchingDims));
      return;
    case Opcode::kScatter:
      return LinkScatter(at);
    case Opcode::kScan:
      return LinkScan(at);
    case Opcode::kCholesky:
      return LinkSquare(at->operand(0));
    case Opcode::kTriangularSolve:
      return LinkSolve(at);
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
    case Opcode::kBatchNormGrad:
      return LinkBatchNorm(at);
    case Opcode::kReshape:
    case Opcode::kDynamicReshape:
      LinkReshape(at);
      return;
    case Opcode::kSort:
      for (const Instruction* operand : at->operands()) JoinLeaf(at->operand(0), 0, operand, 0);
      for (int64_t i = 0; i < at->operand_count(); ++i) JoinLeaf(at, i, at->operand(0), 0);
      return;
    default:
      if (!Info(at->opcode()).Is(kElementwise) && at->opcode() != Opcode::kMap) return;
      for (const Instruction* operand : at->operands()) {
        if (operand->shape().IsArray() && at->shape().IsArray()) JoinLeaf(at, 0, operand, 0);
      }
  }
}

void Equivalence::LinkDot(const Instruction* at) {
  const Attributes& attributes = at->attributes();
  const Instruction *lhs = at->operand(0), *rhs = at->operand(1);
  auto lhs_batch = attributes.Integers(Attr::kLhsBatchDims);
  auto rhs_batch = attributes.Integers(Attr::kRhsBatchDims);
  auto lhs_sum = attributes.Integers(Attr::kLhsContractingDims);
  auto rhs_sum = attributes.Integers(Attr::kRhsContractingDims);
  for (size_t i = 0; i < std::min(lhs_sum.size(), rhs_sum.size()); ++i) {
    JoinDim(lhs, lhs_sum[i], rhs, rhs_sum[i]);
  }
  int64_t out = 0;
  for (size_t i = 0; i < std::min(lhs_batch.size(), rhs_batch.size()); ++i) {
    JoinDim(lhs, lhs_batch[i], rhs, rhs_batch[i]);
    JoinDim(at, out++, lhs, lhs_batch[i]);
  }
  for (int64_t d : FreeDims(lhs->shape().rank(), lhs_batch, lhs_sum)) JoinDim(at, out++, lhs, d);
  for (int64_t d : FreeDims(rhs->shape().rank(), rhs_batch, rhs_sum)) JoinDim(at, out++, rhs, d);
}

// Arrays that are scattered together, and their updates, agree; so do the places that are named
// and what goes there.
void Equivalence::LinkScatter(const Instruction* at) {
  const Attributes& attributes = at->attributes();
  const int64_t count = at->operand_count() / 2;
  for (int64_t k = 0; k < count; ++k) {
    JoinLeaf(at->operand(0), 0, at->operand(k), 0);
    JoinLeaf(at->operand(count + 1), 0, at->operand(count + 1 + k), 0);
  }
  const Instruction *indices = at->operand(count), *updates = at->operand(count + 1);
  const std::vector<int64_t> named =
      FreeDims(indices->shape().rank(), {}, {attributes.Integer(Attr::kIndexVectorDim)});
  const std::vector<int64_t> places =
      FreeDims(updates->shape().rank(), {}, attributes.Integers(Attr::kUpdateWindowDims));
  JoinDims(indices, named, updates, places);
  JoinDims(at->operand(0), attributes.Integers(Attr::kInputBatchingDims), indices,
           attributes.Integers(Attr::kScatterIndicesBatchingDims));
}

// Inputs, and what they become, without the dimension that is gone through; carries as a whole.
void Equivalence::LinkScan(const Instruction* at) {
  const Computation* body = at->callee(0);
  const absl::Span<const int64_t> along = at->attributes().Integers(Attr::kDimension);
  const int64_t carries = at->attributes().Integer(Attr::kNumCarries);
  const int64_t inputs = at->operand_count() - carries;
  const int64_t results = LeafCount(body->root()->shape());
  if (inputs < 0 || results < carries || body->parameter_count() != at->operand_count()) return;
  for (int64_t k = 0; k < inputs; ++k) {
    JoinDims(at->operand(0), along, at->operand(k), along);
    JoinDims(at->operand(k), FreeDims(at->operand(k)->shape().rank(), along, {}),
             body->parameter(k), FreeDims(body->parameter(k)->shape().rank(), {}, {}));
  }
  for (int64_t k = 0; k < carries; ++k) {
    JoinLeaf(at->operand(inputs + k), 0, body->parameter(inputs + k), 0);
    JoinLeaf(at->operand(inputs + k), 0, body->root(), results - carries + k);
  }
}

// The matrices have as many rows as columns.
void Equivalence::LinkSquare(const Instruction* matrices) {
  const int64_t rank = matrices->shape().rank();
  JoinDim(matrices, rank - 2, matrices, rank - 1);
}

void Equivalence::LinkSolve(const Instruction* at) {
  const Instruction *a = at->operand(0), *b = at->operand(1);
  const int64_t rank = a->shape().rank();
  LinkSquare(a);
  for (int64_t d = 0; d + 2 < rank; ++d) JoinDim(a, d, b, d);
  JoinDim(a, rank - 1, b, at->attributes().Flag(Attr::kLeftSide) ? rank - 2 : rank - 1);
}

// Each feature has a scale, an offset, a mean and a variance.
void Equivalence::LinkBatchNorm(const Instruction* at) {
  const Instruction* data = at->operand(0);
  const int64_t feature = at->attributes().Integer(Attr::kFeatureIndex);
  for (const Instruction* operand : at->operands()) {
    if (operand->shape().rank() == 1) JoinDim(data, feature, operand, 0);
    if (operand->shape().rank() == data->shape().rank()) JoinLeaf(data, 0, operand, 0);
  }
}

void Equivalence::LinkReduce(const Instruction* at) {
  auto dims = at->attributes().Integers(Attr::kDimensions);
  int64_t count = at->operand_count() / 2;
  std::vector<int64_t> kept = FreeDims(at->operand(0)->shape().rank(), dims, {});
  for (int64_t k = 0; k < count; ++k) {
    JoinLeaf(at->operand(0), 0, at->operand(k), 0);
    JoinLeaf(at, 0, at, k);
  }
  if (at->shape().IsArray() || !at->shape().elements().empty()) {
    const Place& result = places_.at(at);
    for (size_t i = 0; i < kept.size(); ++i) {
      Join(result.first + static_cast<int64_t>(i), places_.at(at->operand(0)).first + kept[i]);
    }
  }
}

// One dimension to one dimension of the same size, beside dimensions of size one.
void Equivalence::LinkReshape(const Instruction* at) {
  if (kind_ == LinkKind::kPositions) return;
  const Shape &in = at->operand(0)->shape(), &out = at->shape();
  int64_t i = 0, o = 0;
  while (i < in.rank() && o < out.rank()) {
    if (in.dimension(i) == out.dimension(o)) {
      if (in.dimension(i) != 1) JoinDim(at->operand(0), i, at, o);
      ++i, ++o;
    } else if (in.dimension(i) == 1) {
      ++i;
    } else if (out.dimension(o) == 1) {
      ++o;
    } else {
      return;
    }
  }
}

void Equivalence::LinkPositions(const Instruction* at) {
  switch (at->opcode()) {
    case Opcode::kSlice:
    case Opcode::kPad:
    case Opcode::kDynamicSlice:
    case Opcode::kBitcastConvert:
      JoinLeaf(at, 0, at->operand(0), 0);
      return;
    case Opcode::kDynamicUpdateSlice:
      JoinLeaf(at, 0, at->operand(1), 0);
      return;
    case Opcode::kConcatenate:
      for (const Instruction* operand : at->operands()) JoinLeaf(at, 0, operand, 0);
      return;
    case Opcode::kSelectAndScatter:
      JoinLeaf(at, 0, at->operand(0), 0);
      JoinLeaf(at, 0, at->operand(1), 0);
      return;
    case Opcode::kReduceWindow:
      for (int64_t k = 0; k < at->operand_count() / 2; ++k) JoinLeaf(at, k, at->operand(k), 0);
      return;
    case Opcode::kConvolution:
      if (const ConvDimLabels* labels = at->attributes().DimLabels(); labels != nullptr) {
        JoinDims(at, labels->output_spatial, at->operand(0), labels->input_spatial);
        JoinDims(at, labels->output_spatial, at->operand(1), labels->kernel_spatial);
      }
      return;
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kReduceScatter:
      if (LeafCount(at->shape()) != at->operand_count()) return;
      for (int64_t k = 0; k < at->operand_count(); ++k) JoinLeaf(at, k, at->operand(k), 0);
      return;
    default:
      return;
  }
}

// Result k of an op that combines, operand k, operand `second` + k, and what its computation takes
// and gives in their place.
void Equivalence::LinkCombined(const Instruction* at, const Computation* combiner, int64_t count,
                               int64_t second) {
  for (int64_t k = 0; k < count; ++k) {
    JoinLeaf(at, k, at->operand(k), 0);
    JoinLeaf(at, k, at->operand(second + k), 0);
    JoinLeaf(at, k, combiner->root(), k);
    for (int64_t p : {k, count + k}) {
      if (p < combiner->parameter_count()) JoinLeaf(at, k, combiner->parameter(p), 0);
    }
  }
}

// The types of what an op gives to the computations that it calls.
void Equivalence::LinkCallee(const Instruction* at) {
  const int64_t operands = at->operand_count();
  switch (at->opcode()) {
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return LinkCombined(at, at->callee(0), operands / 2, operands / 2);
    case Opcode::kScatter:  // arrays, indices, updates
      return LinkCombined(at, at->callee(0), operands / 2, operands / 2 + 1);
    case Opcode::kSelectAndScatter:
      LinkCombined(at, at->callee(1), 1, 1);
      JoinLeaf(at, 0, at->operand(2), 0);
      for (const Instruction* parameter : at->callee(0)->parameters())
        JoinLeaf(at, 0, parameter, 0);
      return;
    case Opcode::kSort:
      for (int64_t k = 0; k < operands; ++k) {
        JoinLeaf(at, k, at->operand(k), 0);
        JoinLeaf(at, k, at->callee(0)->parameter(2 * k), 0);
        JoinLeaf(at, k, at->callee(0)->parameter(2 * k + 1), 0);
      }
      return;
    case Opcode::kScan: {
      const int64_t results = LeafCount(at->shape());
      const int64_t carries = at->attributes().Integer(Attr::kNumCarries);
      for (int64_t k = 0; k < operands; ++k)
        JoinLeaf(at->operand(k), 0, at->callee(0)->parameter(k), 0);
      for (int64_t k = 0; k < results; ++k) JoinLeaf(at, k, at->callee(0)->root(), k);
      for (int64_t k = 1; k <= std::min({carries, results, operands}); ++k)
        JoinLeaf(at, results - k, at->operand(operands - k), 0);
      return;
    }
    default:
      return;
  }
}

void Equivalence::LinkTypes(const Instruction* at) {
  switch (at->opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kMap:
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
      return;
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
    case Opcode::kSort:
    case Opcode::kScan:
      LinkCallee(at);
      return;
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter:
      if (LeafCount(at->shape()) != at->operand_count()) return;
      for (int64_t k = 0; k < at->operand_count(); ++k) {
        JoinLeaf(at, k, at->operand(k), 0);
        JoinLeaf(at, k, at->callee(0)->root(), 0);
        for (const Instruction* parameter : at->callee(0)->parameters())
          JoinLeaf(at, k, parameter, 0);
      }
      return;
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
      if (LeafCount(at->shape()) != at->operand_count()) return;
      for (int64_t k = 0; k < at->operand_count(); ++k) JoinLeaf(at, k, at->operand(k), 0);
      return;
    case Opcode::kTopK:  // the places have a type of their own
      JoinLeaf(at, 0, at->operand(0), 0);
      return;
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice: {
      int64_t data = at->opcode() == Opcode::kDynamicSlice ? 1 : 2;
      for (int64_t i = 0; i < data; ++i) JoinLeaf(at, 0, at->operand(i), 0);
      for (int64_t i = data; i < at->operand_count(); ++i) {
        JoinLeaf(at->operand(data), 0, at->operand(i), 0);
      }
      return;
    }
    default:
      break;
  }
  // Operands of one type stay of one type (select's predicate and clamp's bounds included), and so
  // does the result.
  for (const Instruction* a : at->operands()) {
    if (!a->shape().IsArray()) return;
    for (const Instruction* b : at->operands()) {
      if (b->shape().element_type() == a->shape().element_type()) JoinLeaf(a, 0, b, 0);
    }
    if (at->opcode() == Opcode::kCompare || !at->shape().IsArray()) continue;
    if (at->opcode() == Opcode::kSelect && a == at->operand(0)) continue;
    if (at->shape().element_type() == a->shape().element_type()) JoinLeaf(at, 0, a, 0);
  }
}

}  // namespace assay
