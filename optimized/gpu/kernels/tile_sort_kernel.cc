// Sorts by blocks: places are compared two by two, in an order that does not hang on what they hold
// (a bitonic network whose comparisons all go upwards, so that lines of any length need no
// padding), in shared memory as long as both places lie in a tile, and in global memory where they
// do not. Whatever the comparator says, elements change places and none is lost. Stable sorts and
// top-k carry the place that an element comes from, which decides where others are equal.
// Document: operation semantics chapters 10 (TopK), 11 (Sort).
#include <algorithm>
#include <vector>

#include "optimized/codegen/functions/sort_key.h"
#include "optimized/gpu/kernels/array_kernels.h"
#include "optimized/gpu/templates/block_builder.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Value;

int64_t CeilOf(int64_t count, int64_t of) { return (count + of - 1) / of; }
int Log2(int64_t power) {
  int log = 0;
  while ((int64_t{1} << log) < power) ++log;
  return log;
}

// The lines of an array, as they lie in tiles.
struct SortShape {
  int64_t length = 1, stride = 1, lines = 1;
  int64_t padded = 1;   // the length, up to a power of two
  int64_t tile = 1;     // places of a block
  bool stable = false;  // places of origin decide between equals

  static SortShape Of(const Shape& shape, int64_t dim, const TemplateChoice& choice) {
    SortShape sizes;
    sizes.length = shape.dimension(dim);
    for (int64_t d = dim + 1; d < shape.rank(); ++d) sizes.stride *= shape.dimension(d);
    sizes.lines = shape.ElementCount() / sizes.length;
    while (sizes.padded < sizes.length) sizes.padded *= 2;
    sizes.tile = choice.part;
    return sizes;
  }
  bool is_long() const { return padded > tile; }
  int64_t lines_of_block() const { return is_long() ? 1 : tile / padded; }
  int64_t tiles_of_line() const { return is_long() ? CeilOf(length, tile) : 1; }
  int64_t blocks() const {
    return is_long() ? lines * tiles_of_line() : CeilOf(lines, lines_of_block());
  }
};

// Which places are compared: of blocks of 2 << first, or only the last steps of a merge.
struct Steps {
  int first = 0, last = 0;  // logarithms of the sizes of runs, before the first merge and at last
  bool only_merge = false;  // the distances of the last merge that are below its size
};

// The network of a block, whose elements the heirs hold.
class Network {
 public:
  Network(DeviceKernelContext& context, const TemplateChoice& choice, SortShape shape)
      : c_(context),
        choice_(choice),
        shape_(shape),
        e_(context.elements),
        ir_(context.ir()),
        block_(context.elements) {}
  virtual ~Network() = default;

 protected:
  // Exchanges what two places of the tile hold if their order is wrong.
  virtual absl::Status Exchange(Value* low, Value* high) = 0;

  int64_t Bent(const char* claim, int64_t known) const {
    return e_.builder().bends().Number(claim, &c_.instruction(), known);
  }
  bool Forgets(const char* claim) const {
    return e_.builder().bends().Holds(claim, &c_.instruction(), false);
  }

  absl::Status Run(const Steps& steps);
  // `body` for each place of the tile that holds an element: its place in shared memory, the
  // element of the line, and the number of the line.
  using PlaceBody = std::function<absl::Status(Value* place, Value* element, Value* line)>;
  absl::Status ForPlaces(const PlaceBody& body);
  // The place of the first element of a line in the array.
  Value* FirstOf(Value* line) {
    Value* outer = ir_.CreateUDiv(line, e_.Index(shape_.stride));
    Value* inner = ir_.CreateURem(line, e_.Index(shape_.stride));
    return ir_.CreateAdd(ir_.CreateMul(outer, e_.Index(shape_.length * shape_.stride)), inner);
  }
  Value* Linear(Value* line, Value* element) {
    return ir_.CreateAdd(FirstOf(line), ir_.CreateMul(element, e_.Index(shape_.stride)));
  }

  DeviceKernelContext& c_;
  const TemplateChoice& choice_;
  const SortShape shape_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  BlockBuilder block_;

 private:
  struct Place {
    Value *element, *line, *exists;
  };
  Place Where(Value* place);
  absl::Status Compare(Value* distance, Value* mask);
  absl::Status ForEach(Value* begin, Value* end, const std::function<absl::Status(Value*)>& body) {
    return e_
        .Loop(begin, end, 1, {},
              [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
                ASSAY_RETURN_IF_ERROR(body(i));
                return ElementValues{};
              })
        .status();
  }
};

// Lines lie one after the other in the tile, each in so many places as a power of two has.
Network::Place Network::Where(Value* place) {
  const int64_t length = Bent("sort-tiles/length", shape_.length);
  if (shape_.is_long()) {
    Value* tiles = e_.Index(shape_.tiles_of_line());
    Value* first = ir_.CreateMul(ir_.CreateURem(c_.block, tiles), e_.Index(shape_.tile));
    Value* element = ir_.CreateAdd(first, place);
    return {element, ir_.CreateUDiv(c_.block, tiles), block_.Below(element, length)};
  }
  Value* padded = e_.Index(shape_.padded);
  Value* element = ir_.CreateURem(place, padded);
  Value* line = ir_.CreateAdd(ir_.CreateMul(c_.block, e_.Index(shape_.lines_of_block())),
                              ir_.CreateUDiv(place, padded));
  Value* exists = ir_.CreateAnd(block_.Below(line, Bent("sort-tiles/lines", shape_.lines)),
                                block_.Below(element, length));
  return {element, line, exists};
}

absl::Status Network::ForPlaces(const PlaceBody& body) {
  const int64_t block = choice_.block_size, lines = shape_.lines_of_block();
  // Neighbouring threads take neighbouring lines if those lie side by side in memory.
  const bool across = shape_.stride > 1 && lines > 1;
  return ForEach(e_.Index(0), e_.Index(CeilOf(shape_.tile, block)), [&](Value* turn) {
    Value* at = ir_.CreateAdd(ir_.CreateMul(turn, e_.Index(block)), c_.thread);
    Value* place = at;
    if (across) {
      place =
          ir_.CreateAdd(ir_.CreateMul(ir_.CreateURem(at, e_.Index(lines)), e_.Index(shape_.padded)),
                        ir_.CreateUDiv(at, e_.Index(lines)));
    }
    const Place where = Where(place);
    Value* exists = where.exists;
    if (shape_.tile % block != 0) exists = ir_.CreateAnd(exists, block_.Below(at, shape_.tile));
    return block_.If(exists, [&] { return body(place, where.element, where.line); });
  });
}

// All pairs of the tile whose places differ as `mask` says; `distance` is its highest bit.
absl::Status Network::Compare(Value* distance, Value* mask) {
  const int64_t pairs = shape_.tile / 2, block = choice_.block_size;
  const auto pair = [&](Value* turn) -> absl::Status {
    Value* at = ir_.CreateAdd(ir_.CreateMul(turn, e_.Index(block)), c_.thread);
    Value* below = ir_.CreateAnd(at, ir_.CreateSub(distance, e_.Index(1)));
    Value* low = ir_.CreateAdd(ir_.CreateShl(ir_.CreateSub(at, below), e_.Index(1)), below);
    Value* high = ir_.CreateXor(low, mask);
    // The low place exists wherever the high one does.
    Value* exists = Where(high).exists;
    if (pairs % block != 0) exists = ir_.CreateAnd(exists, block_.Below(at, pairs));
    return block_.If(exists, [&] { return Exchange(low, high); });
  };
  ASSAY_RETURN_IF_ERROR(ForEach(e_.Index(0), e_.Index(CeilOf(pairs, block)), pair));
  if (!Forgets("sort-tiles/no-barrier")) block_.Barrier();
  return absl::OkStatus();
}

absl::Status Network::Run(const Steps& steps) {
  if (!Forgets("sort-tiles/no-first-barrier")) block_.Barrier();
  Value* one = e_.Index(1);
  const auto merge = [&](Value* size) {
    return ForEach(e_.Index(0), size, [&](Value* step) -> absl::Status {
      Value* distance = ir_.CreateShl(one, ir_.CreateSub(ir_.CreateSub(size, one), step));
      Value* mask = distance;
      if (!steps.only_merge) {
        // The first step of a merge compares both runs from their far ends.
        Value* turned = ir_.CreateSub(ir_.CreateShl(distance, one), one);
        mask = ir_.CreateSelect(ir_.CreateICmpEQ(step, e_.Index(0)), turned, distance);
      }
      return Compare(distance, mask);
    });
  };
  if (steps.only_merge) return merge(e_.Index(steps.last));
  return ForEach(e_.Index(steps.first + 1), e_.Index(Bent("sort-tiles/merges", steps.last) + 1),
                 merge);
}

// The operands of a sort.
class Sorter : public Network {
 public:
  Sorter(DeviceKernelContext& context, const TemplateChoice& choice, const SortShape& shape)
      : Network(context, choice, shape), sort_(context.instruction()) {}

  // Brings tiles into shared memory, runs the network and writes them back. The first of the
  // launches reads the operands, all others what the launch before them wrote.
  absl::Status EmitTiles(const Steps& steps, bool is_first);
  // One comparison of places further apart than a tile: a pair for each thread.
  absl::Status EmitPairs(int64_t distance, int64_t mask);

 private:
  int64_t count() const { return sort_.operand_count(); }
  ElementType TypeOf(int64_t k) const { return sort_.operand(k)->shape().element_type(); }
  bool HasOrigins() const { return shape_.stable; }
  Value* Load(ElementType type, Value* array, Value* at) {
    return e_.builder().Load(type, e_.Address(type, array, at), 1);
  }
  void Store(ElementType type, Value* array, Value* at, Value* value) {
    e_.builder().Store(type, value, e_.Address(type, array, at));
  }
  // An element of all operands, and the place that it comes from.
  ElementValues LoadAll(const std::vector<Value*>& arrays, Value* at);
  void StoreAll(const std::vector<Value*>& arrays, Value* at, const ElementValues& values);
  absl::StatusOr<Value*> IsBefore(const ElementValues& a, const ElementValues& b);
  absl::Status ExchangeIn(const std::vector<Value*>& arrays, Value* low, Value* high);
  absl::Status Exchange(Value* low, Value* high) override { return ExchangeIn(shared_, low, high); }

  const Instruction& sort_;
  std::vector<Value*> shared_;
};

ElementValues Sorter::LoadAll(const std::vector<Value*>& arrays, Value* at) {
  ElementValues values;
  for (int64_t k = 0; k < count(); ++k) values.push_back(Load(TypeOf(k), arrays[k], at));
  if (HasOrigins()) values.push_back(Load(ElementType::kS32, arrays.back(), at));
  return values;
}

void Sorter::StoreAll(const std::vector<Value*>& arrays, Value* at, const ElementValues& values) {
  for (int64_t k = 0; k < count(); ++k) Store(TypeOf(k), arrays[k], at, values[k]);
  if (HasOrigins()) Store(ElementType::kS32, arrays.back(), at, values.back());
}

absl::StatusOr<Value*> Sorter::IsBefore(const ElementValues& a, const ElementValues& b) {
  std::vector<ElementValues> arguments;
  for (int64_t k = 0; k < count(); ++k) {
    arguments.push_back({a[k]});
    arguments.push_back({b[k]});
  }
  ASSAY_ASSIGN_OR_RETURN(const ElementValues is_before,
                         e_.Apply(*sort_.callee(), std::move(arguments), 1));
  return is_before.front();
}

absl::Status Sorter::ExchangeIn(const std::vector<Value*>& arrays, Value* low, Value* high) {
  const ElementValues first = LoadAll(arrays, low), second = LoadAll(arrays, high);
  ASSAY_ASSIGN_OR_RETURN(Value * wrong, IsBefore(second, first));
  if (HasOrigins() && !Forgets("sort-tiles/no-origins")) {
    ASSAY_ASSIGN_OR_RETURN(Value * right, IsBefore(first, second));
    Value* later = ir_.CreateICmpSLT(second.back(), first.back());
    wrong = ir_.CreateOr(wrong, ir_.CreateAnd(ir_.CreateNot(right), later));
  }
  return block_.If(wrong, [&] {
    StoreAll(arrays, low, second);
    StoreAll(arrays, high, first);
    return absl::OkStatus();
  });
}

absl::Status Sorter::EmitTiles(const Steps& steps, bool is_first) {
  std::vector<Value*> from, to = c_.results;
  for (int64_t k = 0; k < count(); ++k) {
    from.push_back(is_first ? c_.operands[k][0] : c_.results[k]);
    shared_.push_back(block_.SharedArray(TypeOf(k), shape_.tile, "tile"));
  }
  if (HasOrigins()) {
    shared_.push_back(block_.SharedArray(ElementType::kS32, shape_.tile, "origins"));
    if (shape_.is_long()) {
      from.push_back(c_.scratch[0]);
      to.push_back(c_.scratch[0]);
    }
  }
  ASSAY_RETURN_IF_ERROR(ForPlaces([&](Value* place, Value* element, Value* line) {
    Value* at = Linear(line, element);
    for (int64_t k = 0; k < count(); ++k)
      Store(TypeOf(k), shared_[k], place, Load(TypeOf(k), from[k], at));
    if (HasOrigins()) {
      Value* origin = is_first ? ir_.CreateTrunc(element, ir_.getInt32Ty())
                               : Load(ElementType::kS32, from.back(), at);
      Store(ElementType::kS32, shared_.back(), place, origin);
    }
    return absl::OkStatus();
  }));
  ASSAY_RETURN_IF_ERROR(Run(steps));
  return ForPlaces([&](Value* place, Value* element, Value* line) {
    Value* at = Linear(line, element);
    for (int64_t k = 0; k < count(); ++k)
      Store(TypeOf(k), to[k], at, Load(TypeOf(k), shared_[k], place));
    if (HasOrigins() && shape_.is_long())
      Store(ElementType::kS32, to.back(), at, Load(ElementType::kS32, shared_.back(), place));
    return absl::OkStatus();
  });
}

absl::Status Sorter::EmitPairs(int64_t distance, int64_t mask) {
  std::vector<Value*> arrays = c_.results;
  if (HasOrigins()) arrays.push_back(c_.scratch[0]);
  const int64_t pairs = shape_.padded / 2;
  Value* pair = ir_.CreateURem(c_.thread, e_.Index(pairs));
  Value* line = ir_.CreateUDiv(c_.thread, e_.Index(pairs));
  Value* below = ir_.CreateAnd(pair, e_.Index(distance - 1));
  Value* low = ir_.CreateAdd(ir_.CreateShl(ir_.CreateSub(pair, below), e_.Index(1)), below);
  Value* high = ir_.CreateXor(low, e_.Index(Bent("sort-tiles/mask", mask)));
  return block_.If(block_.Below(high, Bent("sort-tiles/end", shape_.length)),
                   [&] { return ExchangeIn(arrays, Linear(line, low), Linear(line, high)); });
}

// Keys of a line of top-k, and the places that they come from.
class Ranker : public Network {
 public:
  Ranker(DeviceKernelContext& context, const TemplateChoice& choice, const SortShape& shape)
      : Network(context, choice, shape),
        top_k_(context.instruction()),
        type_(top_k_.operand(0)->shape().element_type()) {}

  absl::Status Emit();

 private:
  Value* At(Value* array, llvm::Type* type, Value* place) {
    return ir_.CreateInBoundsGEP(type, array, place);
  }
  absl::Status Exchange(Value* low, Value* high) override;

  const Instruction& top_k_;
  const ElementType type_;
  llvm::Type* key_type_ = nullptr;
  Value *keys_ = nullptr, *origins_ = nullptr;  // in shared memory
};

absl::Status Ranker::Exchange(Value* low, Value* high) {
  llvm::Type* word = ir_.getInt32Ty();
  Value *keys[2], *origins[2];
  int k = 0;
  for (Value* place : {low, high}) {
    keys[k] = ir_.CreateLoad(key_type_, At(keys_, key_type_, place));
    origins[k++] = ir_.CreateLoad(word, At(origins_, word, place));
  }
  Value* wrong = ir_.CreateOr(
      ir_.CreateICmpULT(keys[1], keys[0]),
      ir_.CreateAnd(ir_.CreateICmpEQ(keys[1], keys[0]), ir_.CreateICmpSLT(origins[1], origins[0])));
  return block_.If(wrong, [&] {
    ir_.CreateStore(keys[1], At(keys_, key_type_, low));
    ir_.CreateStore(keys[0], At(keys_, key_type_, high));
    ir_.CreateStore(origins[1], At(origins_, word, low));
    ir_.CreateStore(origins[0], At(origins_, word, high));
    return absl::OkStatus();
  });
}

absl::Status Ranker::Emit() {
  ValueBuilder& builder = e_.builder();
  const int64_t k = top_k_.attributes().Integer(Attr::kK);
  const bool largest = builder.bends().Holds("optimize-kernel/top-k-largest", &top_k_,
                                             top_k_.attributes().Flag(Attr::kLargest, true));
  const auto element = [&](Value* at) {
    return builder.Load(type_, e_.Address(type_, c_.operands[0][0], at), 1);
  };
  const ElementType code = StorageBytes(type_) == 1   ? ElementType::kU8
                           : StorageBytes(type_) == 2 ? ElementType::kU16
                           : StorageBytes(type_) == 4 ? ElementType::kU32
                                                      : ElementType::kU64;
  key_type_ = builder.RegisterType(code);
  keys_ = block_.SharedArray(code, shape_.tile, "keys");
  origins_ = block_.SharedArray(ElementType::kS32, shape_.tile, "origins");
  ASSAY_RETURN_IF_ERROR(ForPlaces([&](Value* place, Value* number, Value* line) {
    Value* key = EmitSortKey(builder, type_, element(Linear(line, number)),
                             /*total_order=*/true, largest);
    ir_.CreateStore(ir_.CreateZExtOrTrunc(key, key_type_), At(keys_, key_type_, place));
    ir_.CreateStore(ir_.CreateTrunc(number, ir_.getInt32Ty()),
                    At(origins_, ir_.getInt32Ty(), place));
    return absl::OkStatus();
  }));
  ASSAY_RETURN_IF_ERROR(Run({0, Log2(shape_.padded), false}));
  return ForPlaces([&](Value* place, Value* number, Value* line) {
    return block_.If(block_.Below(number, k), [&] {
      Value* origin = ir_.CreateLoad(ir_.getInt32Ty(), At(origins_, ir_.getInt32Ty(), place));
      Value* to = ir_.CreateAdd(ir_.CreateMul(line, e_.Index(k)), number);
      Value* from = Linear(line, ir_.CreateZExt(origin, ir_.getInt64Ty()));
      builder.Store(type_, element(from), e_.Address(type_, c_.results[0], to));
      builder.Store(ElementType::kS32, origin, e_.Address(ElementType::kS32, c_.results[1], to));
      return absl::OkStatus();
    });
  });
}

}  // namespace

WholeKernel SortKernel(const Instruction& sort, const TemplateChoice& choice) {
  SortShape shape = SortShape::Of(sort.operand(0)->shape(),
                                  sort.attributes().Integers(Attr::kDimension)[0], choice);
  shape.stable = sort.attributes().Flag(Attr::kIsStable);
  const int tile = Log2(shape.tile);
  WholeKernel kernel;
  const auto tiles = [&](Steps steps, bool is_first) {
    kernel.stages.push_back({shape.blocks() * choice.block_size,
                             [=](DeviceKernelContext& context) {
                               return Sorter(context, choice, shape).EmitTiles(steps, is_first);
                             },
                             choice.block_size});
  };
  const auto pairs = [&](int64_t distance, int64_t mask) {
    kernel.stages.push_back({shape.lines * shape.padded / 2, [=](DeviceKernelContext& context) {
                               return Sorter(context, choice, shape).EmitPairs(distance, mask);
                             }});
  };
  tiles({0, std::min(tile, Log2(shape.padded)), false}, /*is_first=*/true);
  for (int size = tile + 1; size <= Log2(shape.padded); ++size) {
    for (int step = size - 1; step >= tile; --step) {
      const int64_t distance = int64_t{1} << step;
      pairs(distance, step == size - 1 ? 2 * distance - 1 : distance);
    }
    tiles({0, tile, true}, /*is_first=*/false);
  }
  if (shape.is_long() && shape.stable) kernel.scratch = {shape.lines * shape.length * 4};
  return kernel;
}

WholeKernel TopKernel(const Instruction& top_k, const TemplateChoice& choice) {
  const Shape& operand = top_k.operand(0)->shape();
  const SortShape shape = SortShape::Of(operand, operand.rank() - 1, choice);
  return {{{shape.blocks() * choice.block_size,
            [=](DeviceKernelContext& context) { return Ranker(context, choice, shape).Emit(); },
            choice.block_size}},
          {}};
}

}  // namespace assay::gpu
