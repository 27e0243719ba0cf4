// Dots and convolutions: a call of the runtime where they are large, a blocked nest where calls and
// packing would cost more than the products.
#include "optimized/cpu/kernels/dot_kernel.h"

#include "absl/algorithm/container.h"
#include "llvm/IR/Intrinsics.h"
#include "optimized/analysis/walks/contractions.h"
#include "optimized/codegen/elementwise.h"
#include "optimized/cpu/kernels/array_kernels.h"
#include "optimized/cpu/kernels/contraction_plan.h"
#include "spec/base/status_macros.h"

namespace assay {

using llvm::Value;

namespace {

constexpr int64_t kMinWork =
    1 << 14;  // products below which tiles cost more to compile than they gain
constexpr double kMinRuntimeWork = 1 << 16;  // below which packing costs more than it gains
// Products of one element of a batch that a nest makes faster than tiles.
constexpr int64_t kMaxNestWork = 1 << 15;

// Dimensions of a dot by role, with the strides of each array in elements.
struct Dim {
  int64_t size = 1;
  int64_t lhs_stride = 0, rhs_stride = 0, result_stride = 0;
  int64_t result_dim = -1;
};
struct Roles {
  std::vector<Dim> outer;       // batch dimensions, and all but the last free one of each side
  Dim m, n;                     // the last free dimension of lhs and of rhs
  std::vector<Dim> contracted;  // in the order of the attribute
};

Roles RolesOf(const Instruction& dot) {
  const Attributes& a = dot.attributes();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  DimVector lhs_strides = RowMajorStrides(lhs.dimensions());
  DimVector rhs_strides = RowMajorStrides(rhs.dimensions());
  DimVector strides = RowMajorStrides(dot.shape().dimensions());
  absl::Span<const int64_t> lhs_batch = a.Integers(Attr::kLhsBatchDims);
  absl::Span<const int64_t> rhs_batch = a.Integers(Attr::kRhsBatchDims);
  absl::Span<const int64_t> lhs_sum = a.Integers(Attr::kLhsContractingDims);
  absl::Span<const int64_t> rhs_sum = a.Integers(Attr::kRhsContractingDims);
  Roles roles;
  int64_t next = 0;
  auto in_result = [&](Dim dim) {
    dim.result_dim = next;
    dim.result_stride = strides[next++];
    return dim;
  };
  for (size_t k = 0; k < lhs_batch.size(); ++k) {
    roles.outer.push_back(in_result(
        {lhs.dimension(lhs_batch[k]), lhs_strides[lhs_batch[k]], rhs_strides[rhs_batch[k]]}));
  }
  auto free = [&](const Shape& shape, const DimVector& of, absl::Span<const int64_t> batch,
                  absl::Span<const int64_t> sum, int64_t Dim::* stride, Dim& last) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (absl::c_linear_search(batch, d) || absl::c_linear_search(sum, d)) continue;
      if (last.result_dim >= 0) roles.outer.push_back(last);
      Dim dim;
      dim.size = shape.dimension(d);
      dim.*stride = of[d];
      last = in_result(dim);
    }
  };
  free(lhs, lhs_strides, lhs_batch, lhs_sum, &Dim::lhs_stride, roles.m);
  free(rhs, rhs_strides, rhs_batch, rhs_sum, &Dim::rhs_stride, roles.n);
  for (size_t k = 0; k < lhs_sum.size(); ++k) {
    roles.contracted.push_back(
        {lhs.dimension(lhs_sum[k]), lhs_strides[lhs_sum[k]], rhs_strides[rhs_sum[k]]});
  }
  return roles;
}

int64_t Terms(const Roles& roles) {
  int64_t terms = 1;
  for (const Dim& dim : roles.contracted) terms *= dim.size;
  return terms;
}

int64_t Work(const Instruction& dot, const Roles& roles) {
  return dot.shape().ElementCount() * Terms(roles);
}

// The result dimension that threads may cut; -1: none that is worth it.
int64_t SplitDimOf(const Roles& roles) {
  for (const Dim& dim : roles.outer) {
    if (dim.size > 1) return dim.result_dim;
  }
  return roles.m.size > 1 ? roles.m.result_dim : -1;
}

// The dimension along which the vectors of a tile run.
enum class Along : uint8_t { kNone, kColumns, kContraction };

Along VectorsAlong(const Instruction& dot, const Roles& roles, int lanes) {
  if (lanes < 2 || roles.contracted.empty() || IsPred(DotAccumulator(dot))) return Along::kNone;
  if (roles.n.size >= lanes && roles.n.rhs_stride == 1 && roles.n.result_stride == 1) {
    return Along::kColumns;
  }
  const Dim& k = roles.contracted.back();
  if (k.size >= lanes && k.lhs_stride == 1 && k.rhs_stride == 1) return Along::kContraction;
  return Along::kNone;
}

class DotEmitter {
 public:
  DotEmitter(ElementEmitter& emitter, const Instruction& dot, Value* lhs, Value* rhs, Value* result,
             DotKernelRange range)
      : e_(emitter),
        b_(emitter.builder()),
        dot_(dot),
        roles_(RolesOf(dot)),
        accumulator_(DotAccumulator(dot)),
        lanes_(emitter.vector_width(accumulator_)),
        split_(SplitDimOf(roles_)),
        lhs_(lhs),
        rhs_(rhs),
        result_(result),
        range_(range) {
    along_ = VectorsAlong(dot, roles_, lanes_);
  }

  absl::Status Run() { return Outer(0, {e_.Index(0), e_.Index(0), e_.Index(0)}); }

 private:
  // Element offsets into the three arrays.
  struct Offsets {
    Value *lhs, *rhs, *result;
  };
  Offsets Move(Offsets at, const Dim& dim, Value* index) {
    at.lhs = e_.IndexAdd(at.lhs, e_.IndexMul(index, dim.lhs_stride));
    at.rhs = e_.IndexAdd(at.rhs, e_.IndexMul(index, dim.rhs_stride));
    at.result = e_.IndexAdd(at.result, e_.IndexMul(index, dim.result_stride));
    return at;
  }
  std::pair<Value*, Value*> Bounds(const Dim& dim) {
    if (dim.result_dim >= 0 && dim.result_dim == split_) return {range_.begin, range_.end};
    return {e_.Index(0), e_.Index(dim.size)};
  }
  // for (i = begin; i + step <= end; i += step), then single steps; body(i, step).
  using TileBody = std::function<absl::Status(Value*, int)>;
  absl::Status Tiled(Value* begin, Value* end, std::vector<int> steps, const TileBody& body) {
    llvm::IRBuilder<>& ir = b_.ir();
    for (int step : steps) {
      Value* length = ir.CreateSub(end, begin);
      Value* whole = end;
      if (step > 1) {
        whole = ir.CreateAdd(begin,
                             ir.CreateMul(ir.CreateSDiv(length, e_.Index(step)), e_.Index(step)));
      }
      auto* known = llvm::dyn_cast<llvm::ConstantInt>(length);
      if (known != nullptr && known->getSExtValue() < step) continue;
      absl::Status status =
          e_.Loop(begin, whole, step, {},
                  [&](Value* i, const ElementValues&) -> absl::StatusOr<ElementValues> {
                    ASSAY_RETURN_IF_ERROR(body(i, step));
                    return ElementValues{};
                  })
              .status();
      if (!status.ok()) return status;
      begin = whole;
    }
    return absl::OkStatus();
  }

  absl::Status Outer(size_t depth, Offsets at) {
    if (depth == roles_.outer.size()) return Columns(at);
    const Dim& dim = roles_.outer[depth];
    auto [begin, end] = Bounds(dim);
    return Tiled(begin, end, {1},
                 [&](Value* i, int) { return Outer(depth + 1, Move(at, dim, i)); });
  }

  absl::Status Columns(Offsets at) {
    auto [begin, end] = Bounds(roles_.n);
    std::vector<int> steps = {4, 1};
    if (along_ == Along::kColumns) steps = {2 * lanes_, lanes_, 1};
    return Tiled(begin, end, steps,
                 [&](Value* j, int columns) { return Rows(Move(at, roles_.n, j), columns); });
  }

  absl::Status Rows(Offsets at, int columns) {
    auto [begin, end] = Bounds(roles_.m);
    return Tiled(begin, end, {4, 1}, [&, columns](Value* i, int rows) {
      return Tile(Move(at, roles_.m, i), rows, columns);
    });
  }

  Value* LoadAs(const Instruction* operand, Value* pointer, Value* offset, int width) {
    ElementType type = operand->shape().element_type();
    return b_.Convert(type, accumulator_, b_.Load(type, e_.Address(type, pointer, offset), width));
  }
  Value* MultiplyAdd(Value* x, Value* y, Value* sum) {
    if (IsFloat(accumulator_)) return b_.MultiplyAdd(x, y, sum);
    return EmitAdd(b_, accumulator_, sum, EmitMultiply(b_, accumulator_, x, y));
  }

  // The sums of rows x columns elements over the contracted dimensions from `depth` on.
  absl::StatusOr<ElementValues> Contract(
      size_t depth, Offsets at, ElementValues sums,
      const std::function<ElementValues(Offsets, int width, ElementValues)>& step) {
    const Dim& dim = roles_.contracted[depth];
    bool last = depth + 1 == roles_.contracted.size();
    auto loop = [&](int64_t from, int64_t to, int width, ElementValues carried) {
      return e_.Loop(
          e_.Index(from), e_.Index(to), width, std::move(carried),
          [&, width](Value* k, const ElementValues& now) -> absl::StatusOr<ElementValues> {
            Offsets inner = Move(at, dim, k);
            if (!last) return Contract(depth + 1, inner, now, step);
            return step(inner, width, now);
          });
    };
    if (!last || along_ != Along::kContraction) return loop(0, dim.size, 1, std::move(sums));
    int64_t whole = dim.size / lanes_ * lanes_;
    absl::StatusOr<ElementValues> vectors = loop(0, whole, lanes_, std::move(sums));
    if (!vectors.ok() || whole == dim.size) return vectors;
    const int64_t end = b_.bends().Number("blocked-dot/tail", &dot_, dim.size);
    return loop(whole, end, 1, *std::move(vectors));
  }

  absl::Status Tile(Offsets at, int rows, int columns) {
    const bool across = along_ == Along::kColumns && columns >= lanes_;
    const int width = across ? lanes_ : 1;
    const int groups = across ? columns / lanes_ : columns;
    const int sum_width = along_ == Along::kContraction ? lanes_ : width;
    llvm::IRBuilder<>& ir = b_.ir();
    Value* zero = llvm::Constant::getNullValue(b_.RegisterType(accumulator_, sum_width));
    ElementValues sums(rows * groups, zero);
    auto step = [&](Offsets inner, int k_width, ElementValues now) {
      ElementValues columns_of;
      for (int c = 0; c < groups; ++c) {
        Value* offset = e_.IndexAdd(inner.rhs, e_.Index(int64_t{c} * width * roles_.n.rhs_stride));
        columns_of.push_back(LoadAs(dot_.operand(1), rhs_, offset, across ? width : k_width));
      }
      for (int r = 0; r < rows; ++r) {
        Value* offset = e_.IndexAdd(inner.lhs, e_.Index(int64_t{r} * roles_.m.lhs_stride));
        Value* x = LoadAs(dot_.operand(0), lhs_, offset, k_width);
        if (across) x = b_.Splat(x, width);
        for (int c = 0; c < groups; ++c) {
          Value*& sum = now[r * groups + c];
          if (sum_width > 1 && !across && k_width == 1) {  // the tail goes into the first lane
            Value* first = ir.CreateExtractElement(sum, uint64_t{0});
            sum = ir.CreateInsertElement(sum, MultiplyAdd(x, columns_of[c], first), uint64_t{0});
          } else {
            sum = MultiplyAdd(x, columns_of[c], sum);
          }
        }
      }
      return now;
    };
    ASSAY_ASSIGN_OR_RETURN(ElementValues total, Contract(0, at, std::move(sums), step));
    ElementType type = dot_.shape().element_type();
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < groups; ++c) {
        Value* sum = total[r * groups + c];
        if (sum_width > 1 && !across) sum = FoldSum(sum);
        Value* offset = e_.IndexAdd(
            at.result, e_.Index(r * roles_.m.result_stride + c * width * roles_.n.result_stride));
        b_.Store(type, b_.Convert(accumulator_, type, sum), e_.Address(type, result_, offset));
      }
    }
    return absl::OkStatus();
  }

  Value* FoldSum(Value* vector) {
    for (int width = b_.WidthOf(vector); width > 1; width /= 2) {
      std::vector<int> low, high;
      for (int i = 0; i < width / 2; ++i) {
        low.push_back(i);
        high.push_back(i + width / 2);
      }
      Value* upper = b_.ir().CreateShuffleVector(vector, high);
      vector = EmitAdd(b_, accumulator_, b_.ir().CreateShuffleVector(vector, low), upper);
    }
    return b_.ir().CreateExtractElement(vector, uint64_t{0});
  }

  ElementEmitter& e_;
  ValueBuilder& b_;
  const Instruction& dot_;
  Roles roles_;
  ElementType accumulator_;
  int lanes_;
  int64_t split_;
  Value *lhs_, *rhs_, *result_;
  DotKernelRange range_;
  Along along_ = Along::kNone;
};

// The lanes of vectors of sums, whatever the machine.
int LanesOfSums(const Instruction& contraction, const Target& target) {
  return std::max(1, target.vector_bits / std::max(8, BitWidth(DotAccumulator(contraction))));
}

// The plan of what the runtime does better than a nest; nullopt: nothing, or it has no code for it.
std::optional<ContractionPlan> RuntimePlan(const Instruction& instruction, const Target& target,
                                           KernelIsa isa, const NumberBend& bend = nullptr) {
  std::optional<ContractionPlan> plan = PlanContraction(instruction, isa, bend);
  if (!plan.has_value()) return std::nullopt;
  // The dot of a fusion had such a plan by itself; otherwise nothing would have been fused with it.
  if (instruction.opcode() == Opcode::kFusion) {
    return ProductsOf(*plan) >= kMinRuntimeWork ? plan : std::nullopt;
  }
  if (instruction.opcode() == Opcode::kConvolution) {
    return ProductsOf(*plan) >= static_cast<double>(kMinWork) ? plan : std::nullopt;
  }
  if (ProductsOf(*plan) < kMinRuntimeWork) return std::nullopt;
  // A product with a vector reads its matrix once: along the contraction it is read as it lies.
  const Roles roles = RolesOf(instruction);
  const int lanes = LanesOfSums(instruction, target);
  const bool is_thin = roles.outer.empty() && std::min(roles.m.size, roles.n.size) == 1;
  const Along along = VectorsAlong(instruction, roles, lanes);
  if (is_thin && along == Along::kContraction) return std::nullopt;
  // Very many very small ones: packing would cost more than their products.
  if (along == Along::kColumns && !roles.outer.empty() && roles.n.size % lanes == 0 &&
      roles.m.size * roles.n.size * Terms(roles) <= kMaxNestWork) {
    return std::nullopt;
  }
  return plan;
}

// Applies what a planted defect changes in the plan.
void Bend(const KernelBends& bends, const Instruction& dot, ContractionPlan& plan) {
  if (bends.loop_bound_offset.has_value() && plan.sum_count > 0) {
    int64_t& terms = plan.sum[plan.sum_count - 1].size;
    terms = std::max<int64_t>(0, terms + *bends.loop_bound_offset);
  }
  const auto bend = [&](std::string_view claim, int64_t& number) {
    number = bends.Number(claim, &dot, number);
  };
  if (plan.m_count > 0) bend("blocked-dot/rows", plan.m[plan.m_count - 1].size);
  if (plan.n_count > 0) bend("blocked-dot/columns", plan.n[plan.n_count - 1].size);
  if (plan.sum_count > 0) bend("blocked-dot/lhs-step", plan.sum[plan.sum_count - 1].lhs);
  for (int64_t d = 0; d < plan.window_count; ++d) {
    ContractionWindow& window = plan.windows[d];
    bend("blocked-dot/window-low", window.low);
    bend("blocked-dot/window-stride", window.stride);
    bend("blocked-dot/window-dilation", window.dilation);
    bend("blocked-dot/base-dilation", window.base_dilation);
  }
}

}  // namespace

std::optional<ContractionCode> ContractionCodeOf(const Instruction& instruction,
                                                 const Target& target) {
  const bool is_dot = instruction.opcode() == Opcode::kDot;
  if (!is_dot && instruction.opcode() != Opcode::kConvolution &&
      instruction.opcode() != Opcode::kFusion) {
    return std::nullopt;
  }
  if (!instruction.shape().IsArray() || instruction.shape().ElementCount() == 0) {
    return std::nullopt;
  }
  // The runtime splits its own work.
  if (RuntimePlan(instruction, target, KernelIsa::kBaseline).has_value()) {
    return ContractionCode{"assay_contract", -1};
  }
  if (!is_dot) return std::nullopt;
  const Roles roles = RolesOf(instruction);
  if (Work(instruction, roles) < kMinWork ||
      VectorsAlong(instruction, roles, LanesOfSums(instruction, target)) == Along::kNone) {
    return std::nullopt;
  }
  return ContractionCode{"", SplitDimOf(roles)};
}

std::pair<int64_t, int64_t> OperandsOfContraction(const Instruction& kernel) {
  if (kernel.opcode() != Opcode::kFusion) return {0, 1};
  const std::optional<ContractionView> view = ViewContraction(kernel);
  return {view->lhs_source->parameter_number(), view->rhs_source->parameter_number()};
}

absl::Status EmitDotKernel(ElementEmitter& emitter, const Instruction& dot, DotArrays arrays,
                           DotKernelRange range, DotEpilogue epilogue) {
  const auto [lhs, rhs, result] = arrays;
  const KernelBends& bends = emitter.builder().bends();
  const auto bend = [&](std::string_view claim, const Instruction& op, int64_t known) {
    return bends.Number(claim, &op, known);
  };
  std::optional<ContractionPlan> plan = RuntimePlan(dot, *emitter.target(), IsaFor(emitter), bend);
  if (!plan.has_value()) return DotEmitter(emitter, dot, lhs, rhs, result, range).Run();
  Bend(bends, dot, *plan);
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  llvm::Module& module = *function->getParent();
  llvm::Type* pointer = ir.getPtrTy();
  plan->sums_apart = epilogue.sums_apart ? 1 : 0;
  plan->epilogue_unit = epilogue.unit;
  Value* table = function->getArg(0);
  llvm::SmallVector<Value*, 7> arguments = {LoadContext(ir, table), PlanData(module, *plan), lhs,
                                            rhs, result};
  if (epilogue.function != nullptr) {
    arguments.push_back(epilogue.function);
    arguments.push_back(table);
  }
  const llvm::SmallVector<llvm::Type*, 7> types(arguments.size(), pointer);
  ir.CreateCall(module.getOrInsertFunction(
                    epilogue.function == nullptr ? "assay_contract" : "assay_contract_then",
                    llvm::FunctionType::get(ir.getVoidTy(), types, false)),
                arguments);
  return absl::OkStatus();
}

}  // namespace assay
