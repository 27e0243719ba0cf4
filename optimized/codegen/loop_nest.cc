// Nested loops and guarded bodies, made of ElementEmitter::Loop.
#include "optimized/codegen/loop_nest.h"

#include "spec/base/status_macros.h"

namespace assay {

using llvm::Value;

namespace {
absl::StatusOr<ElementValues> NestFrom(ElementEmitter& emitter, absl::Span<const int64_t> sizes,
                                       std::vector<Value*> at, ElementValues carried,
                                       const NestBody& body) {
  if (at.size() == sizes.size()) return body(at, carried);
  int64_t size = sizes[at.size()];
  if (size == 1) {
    at.push_back(emitter.Index(0));
    return NestFrom(emitter, sizes, at, std::move(carried), body);
  }
  // A loop of so few steps would take longer than they do.
  constexpr int64_t kMaxUnrolled = 4;
  int64_t steps = 1;
  for (size_t d = 0; d < sizes.size() && steps <= kMaxUnrolled; ++d) steps *= sizes[d];
  if (0 < steps && steps <= kMaxUnrolled) {
    at.push_back(nullptr);
    for (int64_t i = 0; i < size; ++i) {
      at.back() = emitter.Index(i);
      ASSAY_ASSIGN_OR_RETURN(carried, NestFrom(emitter, sizes, at, std::move(carried), body));
    }
    return carried;
  }
  return emitter.Loop(emitter.Index(0), emitter.Index(size), 1, std::move(carried),
                      [&](Value* i, const ElementValues& now) {
                        std::vector<Value*> inner = at;
                        inner.push_back(i);
                        return NestFrom(emitter, sizes, inner, now, body);
                      });
}
}  // namespace

absl::StatusOr<ElementValues> Nest(ElementEmitter& emitter, absl::Span<const int64_t> sizes,
                                   ElementValues carried, const NestBody& body) {
  return NestFrom(emitter, sizes, {}, std::move(carried), body);
}

// A loop of one trip or none: values emitted inside are not reused outside.
absl::StatusOr<ElementValues> Guarded(ElementEmitter& emitter, Value* condition,
                                      ElementValues carried, const GuardedBody& body) {
  if (condition == nullptr) return body(carried);
  llvm::IRBuilder<>& ir = emitter.builder().ir();
  return emitter.Loop(emitter.Index(0), ir.CreateZExt(condition, ir.getInt64Ty()), 1,
                      std::move(carried),
                      [&](Value*, const ElementValues& now) { return body(now); });
}

Value* And(ElementEmitter& emitter, Value* a, Value* b) {
  if (a == nullptr) return b;
  return b == nullptr ? a : emitter.builder().ir().CreateAnd(a, b);
}

Value* IsInRange(ElementEmitter& emitter, Value* index, int64_t size) {
  return emitter.builder().ir().CreateICmpULT(index, emitter.Index(size));
}

}  // namespace assay
