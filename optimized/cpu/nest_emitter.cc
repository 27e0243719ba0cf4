// Loops over the dimensions of a result, vector loops and stores.
#include "optimized/cpu/nest_emitter.h"

#include "llvm/IR/Constants.h"
#include "spec/base/status_macros.h"

namespace assay {

using llvm::Value;

namespace {

// Transposes `rows`, as many vectors as each has lanes, by swapping ever larger blocks.
void Turn(llvm::IRBuilder<>& ir, std::vector<Value*>& rows) {
  const auto width = static_cast<int>(rows.size());
  for (int block = 1; block < width; block *= 2) {
    std::vector<int> low(width), high(width);
    for (int k = 0; k < width; ++k) {
      const bool second = (k & block) != 0;
      low[k] = second ? width + k - block : k;
      high[k] = second ? width + k : k + block;
    }
    for (int i = 0; i < width; ++i) {
      if ((i & block) != 0) continue;
      Value *upper = rows[i], *lower = rows[i + block];
      rows[i] = ir.CreateShuffleVector(upper, lower, low);
      rows[i + block] = ir.CreateShuffleVector(upper, lower, high);
    }
  }
}

}  // namespace

LoopPart NestEmitter::Range(bool is_outermost, int64_t extent) {
  if (is_outermost && part_.begin != nullptr) return part_;
  return {elements_.Index(0), elements_.Index(extent)};
}

void NestEmitter::StoreLanes(ElementType type, Value* value, Value* pointer) {
  ValueBuilder& builder = elements_.builder();
  const int width = ValueBuilder::WidthOf(value);
  if (const std::optional<int64_t> stale = builder.bends().stale_lane; stale && width > 1) {
    const int64_t lane = *stale == KernelBends::kLastLane ? width - 1 : *stale;
    if (lane >= 0 && lane < width) {
      Value* neighbour = builder.ir().CreateExtractElement(value, lane == 0 ? 1 : lane - 1);
      value = builder.ir().CreateInsertElement(value, neighbour, lane);
    }
  }
  builder.Store(type, value, pointer);
}

void NestEmitter::Store(const KernelOutput& output, const ElementIndex& index,
                        const ElementValues& element) {
  for (size_t k = 0; k < output.leaves.size(); ++k) {
    const int leaf = output.leaves[k];
    const Shape& shape = results_.shapes[leaf];
    if (!shape.IsArray()) continue;
    ElementIndex at = index;
    for (size_t d = 0; d < output.starts.size(); ++d) {
      at.dims[d] = elements_.IndexAdd(at.dims[d], output.starts[d]);
    }
    Value* linear = elements_.LinearOf(shape.dimensions(), at);
    StoreLanes(shape.element_type(), element[k],
               elements_.Address(shape.element_type(), results_.pointers[leaf], linear));
  }
}

// All are computed before one is stored: a result may lie where an operand does.
absl::Status NestEmitter::StoreAll(const ElementIndex& index) {
  std::vector<ElementValues> values;
  for (const KernelOutput& output : outputs_) {
    ASSAY_ASSIGN_OR_RETURN(ElementValues element,
                           elements_.Emit(output.frame, output.instruction, index));
    values.push_back(std::move(element));
  }
  for (size_t k = 0; k < outputs_.size(); ++k) Store(outputs_[k], index, values[k]);
  return absl::OkStatus();
}

absl::Status NestEmitter::EmitLaneLoop(int width, LoopPart range, int64_t extent,
                                       const IndexAt& index_at) {
  llvm::IRBuilder<>& ir = elements_.builder().ir();
  const KernelBends& bends = elements_.builder().bends();
  const auto loop = [&](Value* from, Value* to, int step) {
    const auto store = [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
      ASSAY_RETURN_IF_ERROR(StoreAll(index_at(i, step)));
      return ElementValues{};
    };
    return elements_.Loop(from, to, step, {}, store).status();
  };
  Value* offset = bends.loop_bound_offset ? elements_.Index(*bends.loop_bound_offset) : nullptr;
  if (offset != nullptr && !bends.only_vector_loop) range.end = ir.CreateAdd(range.end, offset);
  if (width == 1) return loop(range.begin, range.end, 1);
  Value* length = ir.CreateSub(range.end, range.begin);
  Value* whole = ir.CreateAdd(range.begin, ir.CreateAnd(length, elements_.Index(-int64_t{width})));
  Value* vectors_end = whole;
  if (offset != nullptr && bends.only_vector_loop) {
    vectors_end = ir.CreateAdd(whole, ir.CreateMul(offset, elements_.Index(width)));
  }
  ASSAY_RETURN_IF_ERROR(loop(range.begin, vectors_end, width));
  // Nothing is ever left over where parts and the whole consist of vectors.
  const bool parts_fit = kPartUnit % width == 0 || llvm::isa<llvm::ConstantInt>(length);
  if (offset == nullptr && parts_fit && extent % width == 0) return absl::OkStatus();
  return loop(whole, range.end, 1);
}

absl::Status NestEmitter::EmitDimension(const WalkPlan& walk, const Shape& shape,
                                        ElementIndex index) {
  const auto dim = static_cast<int64_t>(index.dims.size());
  if (dim == shape.rank()) return StoreAll(index);
  if (shape.dimension(dim) == 1) {
    index.dims.push_back(elements_.Index(0));
    return EmitDimension(walk, shape, std::move(index));
  }
  const LoopPart range = Range(dim == OutermostDim(shape), shape.dimension(dim));
  bool innermost = true;
  for (int64_t d = dim + 1; d < shape.rank(); ++d) innermost = innermost && shape.dimension(d) == 1;
  if (innermost) {
    return EmitLaneLoop(walk.width, range, shape.dimension(dim), [&](Value* i, int width) {
      ElementIndex at = index;
      at.dims.push_back(i);
      at.dims.resize(shape.rank(), elements_.Index(0));
      at.width = width;
      at.lane_dim = width > 1 ? walk.lane_dim : -1;
      return at;
    });
  }
  const auto body = [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
    ElementIndex inner = index;
    inner.dims.push_back(i);
    ASSAY_RETURN_IF_ERROR(EmitDimension(walk, shape, std::move(inner)));
    return ElementValues{};
  };
  return elements_.Loop(range.begin, range.end, 1, {}, body).status();
}

LoopPart NestEmitter::TileAt(Value* begin, LoopPart range, int tile) {
  Value* end = elements_.builder().ir().CreateBinaryIntrinsic(
      llvm::Intrinsic::smin, elements_.IndexAdd(begin, elements_.Index(tile)), range.end);
  return {begin, end};
}

absl::Status NestEmitter::EmitTiles(const WalkPlan& walk, const Shape& shape, ElementIndex index,
                                    LoopPart rows) {
  const auto dim = static_cast<int64_t>(index.dims.size());
  if (shape.dimension(dim) == 1) {
    index.dims.push_back(elements_.Index(0));
    return EmitTiles(walk, shape, std::move(index), rows);
  }
  bool innermost = true;
  for (int64_t d = dim + 1; d < shape.rank(); ++d) innermost = innermost && shape.dimension(d) == 1;
  const LoopPart range = Range(dim == OutermostDim(shape), shape.dimension(dim));
  const bool cuts = innermost || dim == walk.lane_dim;
  const auto body = [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
    ElementIndex inner = index;
    inner.dims.push_back(i);
    if (innermost) {
      inner.dims.resize(shape.rank(), elements_.Index(0));
      ASSAY_RETURN_IF_ERROR(EmitTile(walk, dim, inner, rows, TileAt(i, range, walk.tile)));
    } else {
      const LoopPart next = cuts ? TileAt(i, range, walk.tile) : rows;
      ASSAY_RETURN_IF_ERROR(EmitTiles(walk, shape, std::move(inner), next));
    }
    return ElementValues{};
  };
  return elements_.Loop(range.begin, range.end, cuts ? walk.tile : 1, {}, body).status();
}

absl::Status NestEmitter::EmitTurnedSquare(const WalkPlan& walk, int64_t innermost,
                                           const ElementIndex& corner) {
  llvm::IRBuilder<>& ir = elements_.builder().ir();
  ElementIndex at = corner;
  at.width = walk.width;
  const auto place = [&](int64_t dim, int k) {
    at.dims[dim] = elements_.IndexAdd(corner.dims[dim], elements_.Index(k));
  };
  // By output and leaf: a vector along the walk's dimension for each column.
  std::vector<std::vector<std::vector<Value*>>> squares(outputs_.size());
  at.lane_dim = walk.lane_dim;
  for (int c = 0; c < walk.width; ++c) {
    place(innermost, c);
    for (size_t o = 0; o < outputs_.size(); ++o) {
      ASSAY_ASSIGN_OR_RETURN(ElementValues element,
                             elements_.Emit(outputs_[o].frame, outputs_[o].instruction, at));
      squares[o].resize(element.size());
      for (size_t leaf = 0; leaf < element.size(); ++leaf) {
        squares[o][leaf].push_back(element[leaf]);
      }
    }
  }
  at = corner;
  at.width = walk.width;
  at.lane_dim = static_cast<int>(innermost);
  for (size_t o = 0; o < outputs_.size(); ++o) {
    for (std::vector<Value*>& square : squares[o]) Turn(ir, square);
    for (int r = 0; r < walk.width; ++r) {
      place(walk.lane_dim, r);
      ElementValues row;
      for (const std::vector<Value*>& square : squares[o]) row.push_back(square[r]);
      Store(outputs_[o], at, row);
    }
  }
  return absl::OkStatus();
}

absl::Status NestEmitter::EmitTurnedSquares(const WalkPlan& walk, int64_t innermost,
                                            const ElementIndex& index, LoopPart rows,
                                            LoopPart columns) {
  const auto body = [&](Value* r, const ElementValues&) -> absl::StatusOr<ElementValues> {
    const auto square = [&](Value* c, const ElementValues&) -> absl::StatusOr<ElementValues> {
      ElementIndex corner = index;
      corner.dims[walk.lane_dim] = r;
      corner.dims[innermost] = c;
      ASSAY_RETURN_IF_ERROR(EmitTurnedSquare(walk, innermost, corner));
      return ElementValues{};
    };
    return elements_.Loop(columns.begin, columns.end, walk.width, {}, square);
  };
  return elements_.Loop(rows.begin, rows.end, walk.width, {}, body).status();
}

absl::Status NestEmitter::EmitElements(const WalkPlan& walk, int64_t innermost,
                                       const ElementIndex& index, LoopPart rows, LoopPart columns) {
  const auto row = [&](Value* r, const ElementValues&) -> absl::StatusOr<ElementValues> {
    const auto store = [&](Value* c, const ElementValues&) -> absl::StatusOr<ElementValues> {
      ElementIndex at = index;
      at.dims[walk.lane_dim] = r;
      at.dims[innermost] = c;
      ASSAY_RETURN_IF_ERROR(StoreAll(at));
      return ElementValues{};
    };
    return elements_.Loop(columns.begin, columns.end, 1, {}, store);
  };
  return elements_.Loop(rows.begin, rows.end, 1, {}, row).status();
}

absl::Status NestEmitter::EmitTile(const WalkPlan& walk, int64_t innermost,
                                   const ElementIndex& index, LoopPart rows, LoopPart columns) {
  const KernelBends& bends = elements_.builder().bends();
  llvm::IRBuilder<>& ir = elements_.builder().ir();
  if (bends.loop_bound_offset) {
    columns.end = ir.CreateAdd(columns.end, elements_.Index(*bends.loop_bound_offset));
  }
  if (walk.width == 1 || bends.loop_bound_offset) {
    return EmitElements(walk, innermost, index, rows, columns);
  }
  const auto whole = [&](LoopPart range) -> LoopPart {
    Value* length = ir.CreateSub(range.end, range.begin);
    Value* fits = ir.CreateAnd(length, elements_.Index(-int64_t{walk.width}));
    return {range.begin, ir.CreateAdd(range.begin, fits)};
  };
  const LoopPart whole_rows = whole(rows), whole_columns = whole(columns);
  ASSAY_RETURN_IF_ERROR(EmitTurnedSquares(walk, innermost, index, whole_rows, whole_columns));
  if (part_.begin == nullptr ? walk.squares_fit : walk.parts_fit) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(
      EmitElements(walk, innermost, index, rows, {whole_columns.end, columns.end}));
  return EmitElements(walk, innermost, index, {whole_rows.end, rows.end}, whole_columns);
}

absl::Status NestEmitter::Emit(absl::Span<const KernelOutput> outputs, const WalkPlan& walk) {
  outputs_ = outputs;
  const Shape& shape = WrittenShape(*outputs[0].instruction);
  if (walk.kind == WalkPlan::kTiles) return EmitTiles(walk, shape, ElementIndex(), LoopPart());
  if (walk.kind != WalkPlan::kLinear) return EmitDimension(walk, shape, ElementIndex());
  if (shape.ElementCount() == 1) {
    ElementIndex index;
    index.linear = elements_.Index(0);
    return StoreAll(index);
  }
  const LoopPart range = Range(/*is_outermost=*/true, shape.ElementCount());
  return EmitLaneLoop(walk.width, range, shape.ElementCount(), [](Value* i, int width) {
    ElementIndex at;
    at.linear = i;
    at.width = width;
    return at;
  });
}

absl::Status NestEmitter::EmitLine(const WalkPlan& walk, const Shape& shape, int64_t innermost,
                                   int64_t unit, Value* line) {
  llvm::IRBuilder<>& ir = elements_.builder().ir();
  const int64_t extent = shape.dimension(innermost);
  Value* first = elements_.IndexMul(line, extent);
  const LoopPart within = {
      ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, ir.CreateSub(part_.begin, first),
                               elements_.Index(0)),
      ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, ir.CreateSub(part_.end, first),
                               elements_.Index(extent))};
  std::vector<Value*> dims = elements_.Delinearize(shape.dimensions(), first);
  return EmitLaneLoop(walk.width, within, unit, [&](Value* i, int width) {
    ElementIndex at;
    at.dims = dims;
    at.dims[innermost] = i;
    at.width = width;
    at.lane_dim = width > 1 ? walk.lane_dim : -1;
    return at;
  });
}

absl::Status NestEmitter::EmitElementsOfPart(absl::Span<const KernelOutput> outputs,
                                             const WalkPlan& walk, int64_t unit) {
  outputs_ = outputs;
  const Shape& shape = WrittenShape(*outputs[0].instruction);
  if (walk.kind == WalkPlan::kLinear) {
    return EmitLaneLoop(walk.width, part_, unit, [](Value* i, int width) {
      ElementIndex at;
      at.linear = i;
      at.width = width;
      return at;
    });
  }
  int64_t innermost = shape.rank() - 1;
  while (innermost > 0 && shape.dimension(innermost) == 1) --innermost;
  llvm::IRBuilder<>& ir = elements_.builder().ir();
  Value* extent = elements_.Index(shape.dimension(innermost));
  Value* end = ir.CreateSDiv(
      ir.CreateAdd(part_.end, elements_.Index(shape.dimension(innermost) - 1)), extent);
  const auto body = [&](Value* line, const ElementValues&) -> absl::StatusOr<ElementValues> {
    ASSAY_RETURN_IF_ERROR(EmitLine(walk, shape, innermost, unit, line));
    return ElementValues{};
  };
  return elements_.Loop(ir.CreateSDiv(part_.begin, extent), end, 1, {}, body).status();
}

}  // namespace assay
