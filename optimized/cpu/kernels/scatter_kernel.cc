// Scatter and select-and-scatter: the result starts as a copy, then updates are combined in, in
// row-major order. Documents: operation semantics chapters 9 (Scatter), 10 (SelectAndScatter).
#include "optimized/codegen/indexing.h"
#include "optimized/codegen/loop_nest.h"
#include "optimized/codegen/windows.h"
#include "optimized/cpu/kernels/array_kernels.h"

namespace assay {

using llvm::Value;

namespace {

std::vector<int64_t> SizesOf(const Shape& shape) {
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

const Shape& LeafShape(const Instruction& instruction, int64_t leaf) {
  return instruction.shape().IsTuple() ? instruction.shape().elements()[leaf] : instruction.shape();
}

// result[at] = combiner(result[at], updates), all leaves together.
absl::Status CombineInto(ArrayKernelContext& context, const Computation& combiner, Value* at,
                         const ElementValues& updates) {
  ValueBuilder& b = context.elements.builder();
  std::vector<ElementValues> arguments;
  std::vector<Value*> addresses;
  for (size_t k = 0; k < updates.size(); ++k) {
    const ElementType type = LeafShape(context.instruction, k).element_type();
    addresses.push_back(context.elements.Address(type, context.results[k], at));
    arguments.push_back({b.Load(type, addresses[k], 1)});
  }
  for (Value* update : updates) arguments.push_back({update});
  absl::StatusOr<ElementValues> combined =
      context.elements.Apply(combiner, std::move(arguments), 1);
  if (!combined.ok()) return combined.status();
  for (size_t k = 0; k < updates.size(); ++k) {
    b.Store(LeafShape(context.instruction, k).element_type(), (*combined)[k], addresses[k]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status EmitScatter(ArrayKernelContext& context) {
  const Instruction& i = context.instruction;
  ElementEmitter& e = context.elements;
  llvm::IRBuilder<>& ir = context.ir();
  const int64_t n = i.operand_count() / 2;
  for (int64_t k = 0; k < n; ++k) {
    llvm::Align align(1);
    ir.CreateMemCpy(context.results[k], align, context.operands[k][0], align,
                    i.operand(k)->shape().ByteSize());
  }
  const Shape &whole = i.operand(0)->shape(), &update = i.operand(n + 1)->shape();
  if (whole.ElementCount() == 0 || update.ElementCount() == 0) return absl::OkStatus();
  const IndexNumbers numbers = IndexNumbers::OfScatter(i);
  const std::vector<int64_t> inside = numbers.WindowDimOf(update.rank(), whole.rank());
  return Nest(e, SizesOf(update), {},
              [&](const std::vector<Value*>& at,
                  const ElementValues&) -> absl::StatusOr<ElementValues> {
                absl::StatusOr<WindowStart> start =
                    EmitWindowStart(e, nullptr, numbers, *i.operand(n), whole.rank(), at);
                if (!start.ok()) return start.status();
                ElementIndex target;
                for (Value* batch : start->batch) {
                  target.dims.push_back(batch != nullptr ? batch : e.Index(0));
                }
                for (int64_t d = 0; d < update.rank(); ++d) {
                  if (inside[d] >= 0) target.dims[inside[d]] = at[d];
                }
                // A negative start with an offset may reach the array: elements are skipped one by
                // one. Only a large unsigned start, read as negative, must not wrap into range.
                Value* exists = nullptr;
                const bool wraps = i.operand(n)->shape().element_type() == ElementType::kU64;
                for (int64_t d = 0; wraps && d < whole.rank(); ++d) {
                  Value* first = start->components[d].value;
                  if (first == nullptr) continue;
                  exists = And(e, exists, IsInRange(e, first, whole.dimension(d)));
                }
                return Guarded(
                    e, exists, {}, [&](const ElementValues&) -> absl::StatusOr<ElementValues> {
                      Value* fits = nullptr;
                      for (int64_t d = 0; d < whole.rank(); ++d) {
                        Value* first = start->components[d].value;
                        if (first == nullptr) continue;
                        target.dims[d] = e.IndexAdd(target.dims[d], first);
                        fits = And(e, fits, IsInRange(e, target.dims[d], whole.dimension(d)));
                      }
                      return Guarded(
                          e, fits, {}, [&](const ElementValues&) -> absl::StatusOr<ElementValues> {
                            ElementIndex source;
                            source.dims = at;
                            ElementValues updates;
                            for (int64_t k = 0; k < n; ++k) {
                              absl::StatusOr<Value*> value =
                                  e.EmitOne(nullptr, i.operand(n + 1 + k), source);
                              if (!value.ok()) return value.status();
                              updates.push_back(*value);
                            }
                            absl::Status status =
                                CombineInto(context, *i.callee(),
                                            e.LinearOf(whole.dimensions(), target), updates);
                            if (!status.ok()) return status;
                            return ElementValues{};
                          });
                    });
              })
      .status();
}

absl::Status EmitSelectAndScatter(ArrayKernelContext& context) {
  const Instruction& i = context.instruction;
  ElementEmitter& e = context.elements;
  ValueBuilder& b = e.builder();
  llvm::IRBuilder<>& ir = b.ir();
  const Shape &whole = i.operand(0)->shape(), &source = i.operand(1)->shape();
  const ElementType type = whole.element_type();
  absl::Span<const WindowDim> window = i.attributes().Window(Attr::kWindow);
  if (whole.ElementCount() == 0) return absl::OkStatus();
  absl::StatusOr<Value*> init = e.EmitOne(nullptr, i.operand(2), ElementIndex());
  if (!init.ok()) return init.status();
  absl::Status status =
      e.Loop(e.Index(0), e.Index(whole.ElementCount()), 1, {},
             [&](Value* at, const ElementValues&) -> absl::StatusOr<ElementValues> {
               b.Store(type, *init, e.Address(type, context.results[0], at));
               return ElementValues{};
             })
          .status();
  if (!status.ok() || source.ElementCount() == 0) return status;

  std::vector<int64_t> sizes;
  for (const WindowDim& w : window) sizes.push_back(w.size);
  const Computation &select = *i.callees()[0], &scatter = *i.callees()[1];
  return Nest(e, SizesOf(source), {},
              [&](const std::vector<Value*>& o,
                  const ElementValues&) -> absl::StatusOr<ElementValues> {
                // Carried: the chosen element's place (-1: none yet) and value.
                absl::StatusOr<ElementValues> choice = Nest(
                    e, sizes, {e.Index(-1), *init},
                    [&](const std::vector<Value*>& k,
                        const ElementValues& carried) -> absl::StatusOr<ElementValues> {
                      ElementIndex at;
                      Value* exists = nullptr;
                      for (size_t d = 0; d < window.size(); ++d) {
                        WindowPlace place = PlaceInWindow(e, window[d], source.dimension(d),
                                                          whole.dimension(d), o[d], k[d]);
                        at.dims.push_back(place.index);
                        exists = And(e, exists, place.exists);
                      }
                      return Guarded(
                          e, exists, carried,
                          [&](const ElementValues& now) -> absl::StatusOr<ElementValues> {
                            absl::StatusOr<Value*> candidate = e.EmitOne(nullptr, i.operand(0), at);
                            if (!candidate.ok()) return candidate.status();
                            absl::StatusOr<ElementValues> keep =
                                e.Apply(select, {{now[1]}, {*candidate}}, 1);
                            if (!keep.ok()) return keep.status();
                            Value* kept =
                                ir.CreateAnd(keep->front(), ir.CreateICmpSGE(now[0], e.Index(0)));
                            Value* linear = e.LinearOf(whole.dimensions(), at);
                            return ElementValues{ir.CreateSelect(kept, now[0], linear),
                                                 ir.CreateSelect(kept, now[1], *candidate)};
                          });
                    });
                if (!choice.ok()) return choice.status();
                Value* chosen = (*choice)[0];
                return Guarded(
                    e, ir.CreateICmpSGE(chosen, e.Index(0)), {},
                    [&](const ElementValues&) -> absl::StatusOr<ElementValues> {
                      ElementIndex at;
                      at.dims = o;
                      absl::StatusOr<Value*> value = e.EmitOne(nullptr, i.operand(1), at);
                      if (!value.ok()) return value.status();
                      absl::Status combined = CombineInto(context, scatter, chosen, {*value});
                      if (!combined.ok()) return combined;
                      return ElementValues{};
                    });
              })
      .status();
}

}  // namespace assay
