// Steps that make dimensions smaller together with all that hangs on them.
#include <memory>
#include <utility>
#include <vector>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/links/equivalence.h"
#include "fuzz/reduce/reduction.h"
#include "fuzz/reduce/resize.h"

namespace assay {
namespace {

int64_t SizeOfClass(const Equivalence& sizes, int64_t c) {
  const auto& [at, leaf, dimension] = sizes.MembersOf(c)[0];
  return ShapeLeaves(at->shape())[leaf]->dimension(dimension);
}

// Every dimension larger than `size` becomes `size`.
bool ShrinkAll(Reduction& reduction, int64_t size) {
  const std::shared_ptr<const Equivalence> sizes = reduction.Links(LinkKind::kSizes);
  SizeByClass wanted;
  for (int64_t c = 0; c < sizes->class_count(); ++c) {
    if (SizeOfClass(*sizes, c) > size) wanted[c] = size;
  }
  if (wanted.empty() || !reduction.Wants()) return false;
  std::optional<ReduceCase> candidate = Resize(reduction.best(), *sizes, std::move(wanted));
  return candidate && reduction.Try(*std::move(candidate), "shrink all dimensions");
}

// 0 where there is no such class.
int64_t CurrentSize(Reduction& reduction, int64_t c) {
  const std::shared_ptr<const Equivalence> sizes = reduction.Links(LinkKind::kSizes);
  return c < sizes->class_count() ? SizeOfClass(*sizes, c) : 0;
}

bool ShrinkTo(Reduction& reduction, int64_t c, int64_t size) {
  if (size < 1 || size >= CurrentSize(reduction, c)) return false;
  const std::shared_ptr<const Equivalence> sizes = reduction.Links(LinkKind::kSizes);
  for (bool keep_end : {false, true}) {
    if (!reduction.Wants()) continue;
    std::optional<ReduceCase> candidate = Resize(reduction.best(), *sizes, {{c, size}}, keep_end);
    if (candidate && reduction.Try(*std::move(candidate), "shrink a dimension")) return true;
  }
  return false;
}

// To a small size or a part of what it is.
bool ShrinkFar(Reduction& reduction, int64_t c) {
  const int64_t current = CurrentSize(reduction, c);
  for (int64_t size : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, current / 4, current / 2}) {
    if (ShrinkTo(reduction, c, size)) return true;
  }
  return false;
}

// A bug that needs a size has a least one. If one less will do it is searched for by halving: step
// by step it would take as many compilations as the dimension is long.
bool ShrinkNear(Reduction& reduction, int64_t c) {
  int64_t will_do = CurrentSize(reduction, c) - 1, will_not = will_do / 2;
  if (!ShrinkTo(reduction, c, will_do)) return false;
  while (will_do - will_not > 1 && !reduction.Expired()) {
    const int64_t middle = will_not + (will_do - will_not) / 2;
    (ShrinkTo(reduction, c, middle) ? will_do : will_not) = middle;
  }
  return true;
}

// The sizes that `leaf` and all that hangs on it would have if it were as large as `value`; none if
// it is already, or cannot be.
SizeByClass SizesToFit(const Equivalence& sizes, const Instruction* leaf,
                       const Instruction* value) {
  SizeByClass wanted;
  const Shape &from = leaf->shape(), &to = value->shape();
  if (!from.IsArray() || !to.IsArray() || from.rank() != to.rank()) return {};
  if (from.element_type() != to.element_type()) return {};
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.dimension(d) == to.dimension(d)) continue;
    if (!wanted.try_emplace(sizes.ClassOf(leaf, 0, d), to.dimension(d)).second) return {};
  }
  return wanted;
}

}  // namespace

bool MergeFittedLeaves(Reduction& reduction) {
  // Of what is long there are many pairs, and steps that are as good.
  constexpr int64_t kMostInstructions = 16;
  const Computation* entry = reduction.best().module->entry();
  if (entry->instruction_count() > kMostInstructions) return false;
  const std::shared_ptr<const Equivalence> sizes = reduction.Links(LinkKind::kSizes);
  for (const Instruction* leaf : *entry) {
    if (!IsLeaf(leaf)) continue;
    for (const Instruction* value : *entry) {
      SizeByClass wanted = SizesToFit(*sizes, leaf, value);
      if (wanted.empty()) continue;
      std::optional<ReduceCase> c = Resize(reduction.best(), *sizes, std::move(wanted));
      if (!c.has_value()) continue;
      Instruction* fitted = Counterpart(*c->module, leaf);
      Instruction* with = Counterpart(*c->module, value);
      if (!Compatible(fitted->shape(), with->shape()) || !Substitute(fitted, with)) continue;
      if (reduction.Try(*std::move(c), "merge leaves of other sizes")) return true;
    }
  }
  return false;
}

bool ShrinkEverything(Reduction& reduction) {
  for (int64_t size : {1, 2, 3, 4, 8}) {
    if (ShrinkAll(reduction, size)) return true;
  }
  return false;
}

bool ShrinkDimensions(Reduction& reduction) {
  bool changed = ShrinkEverything(reduction);
  const int64_t classes = reduction.Links(LinkKind::kSizes)->class_count();
  for (int64_t c = 0; c < classes && !reduction.Expired(); ++c) {
    while (ShrinkFar(reduction, c)) changed = true;
    changed |= ShrinkNear(reduction, c);
  }
  return changed;
}

}  // namespace assay
