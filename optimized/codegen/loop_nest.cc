#include "optimized/codegen/loop_nest.h"

namespace assay {

using llvm::Value;

namespace {
absl::StatusOr<ElementValues> NestFrom(ElementEmitter& e, absl::Span<const int64_t> sizes,
                                       std::vector<Value*> at, ElementValues carried,
                                       const NestBody& body) {
  if (at.size() == sizes.size()) return body(at, carried);
  int64_t size = sizes[at.size()];
  if (size == 1) {
    at.push_back(e.Index(0));
    return NestFrom(e, sizes, at, std::move(carried), body);
  }
  return e.Loop(e.Index(0), e.Index(size), 1, std::move(carried),
                [&](Value* i, const ElementValues& now) {
                  std::vector<Value*> inner = at;
                  inner.push_back(i);
                  return NestFrom(e, sizes, inner, now, body);
                });
}
}  // namespace

absl::StatusOr<ElementValues> Nest(ElementEmitter& e, absl::Span<const int64_t> sizes,
                                   ElementValues carried, const NestBody& body) {
  return NestFrom(e, sizes, {}, std::move(carried), body);
}

// A loop of one trip or none: values emitted inside are not reused outside.
absl::StatusOr<ElementValues> Guarded(ElementEmitter& e, Value* condition, ElementValues carried,
                                      const GuardedBody& body) {
  if (condition == nullptr) return body(carried);
  llvm::IRBuilder<>& ir = e.builder().ir();
  return e.Loop(e.Index(0), ir.CreateZExt(condition, ir.getInt64Ty()), 1, std::move(carried),
                [&](Value*, const ElementValues& now) { return body(now); });
}

Value* And(ElementEmitter& e, Value* a, Value* b) {
  if (a == nullptr) return b;
  return b == nullptr ? a : e.builder().ir().CreateAnd(a, b);
}

Value* IsInRange(ElementEmitter& e, Value* index, int64_t size) {
  return e.builder().ir().CreateICmpULT(index, e.Index(size));
}

}  // namespace assay
