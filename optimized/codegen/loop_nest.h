// Loops that lowerings are made of.
#pragma once

#include <functional>
#include <vector>

#include "optimized/codegen/element_emitter.h"

namespace assay {

// Nested loops over `sizes`, row-major, carrying values.
using NestBody = std::function<absl::StatusOr<ElementValues>(const std::vector<llvm::Value*>& at,
                                                             const ElementValues& carried)>;
absl::StatusOr<ElementValues> Nest(ElementEmitter& emitter, absl::Span<const int64_t> sizes,
                                   ElementValues carried, const NestBody& body);

// `body(carried)` where the scalar `condition` holds, `carried` elsewhere; null means always. Where
// the condition does not hold, the body reads and stores nothing.
using GuardedBody = std::function<absl::StatusOr<ElementValues>(const ElementValues& carried)>;
absl::StatusOr<ElementValues> Guarded(ElementEmitter& emitter, llvm::Value* condition,
                                      ElementValues carried, const GuardedBody& body);

// Both hold; null is true.
llvm::Value* And(ElementEmitter& emitter, llvm::Value* a, llvm::Value* b);

// 0 <= index < size, in one comparison.
llvm::Value* IsInRange(ElementEmitter& emitter, llvm::Value* index, int64_t size);

}  // namespace assay
