// Steps that make dimensions smaller together with all that hangs on them.
#include <utility>
#include <vector>

#include "fuzz/reduce/links/equivalence.h"
#include "fuzz/reduce/reduction.h"
#include "fuzz/reduce/resize.h"

namespace assay {
namespace {

std::vector<int64_t> SizesOfClasses(const Equivalence& sizes) {
  std::vector<int64_t> result(sizes.class_count(), 0);
  sizes.ForEach([&](const Instruction* at, int64_t leaf, int64_t dimension, int64_t c) {
    result[c] = ShapeLeaves(at->shape())[leaf]->dimension(dimension);
  });
  return result;
}

// Every dimension larger than `size` becomes `size`.
bool ShrinkAll(Reduction& reduction, int64_t size) {
  Equivalence sizes(*reduction.best().module, LinkKind::kSizes);
  SizeByClass wanted;
  std::vector<int64_t> current = SizesOfClasses(sizes);
  for (size_t c = 0; c < current.size(); ++c) {
    if (current[c] > size) wanted[static_cast<int64_t>(c)] = size;
  }
  if (wanted.empty()) return false;
  std::optional<ReduceCase> candidate = Resize(reduction.best(), sizes, std::move(wanted));
  return candidate && reduction.Try(*std::move(candidate), "shrink all dimensions");
}

// 0 where there is no such class.
int64_t SizeOfClass(const Reduction& reduction, int64_t c) {
  const Equivalence sizes(*reduction.best().module, LinkKind::kSizes);
  return c < sizes.class_count() ? SizesOfClasses(sizes)[static_cast<size_t>(c)] : 0;
}

bool ShrinkTo(Reduction& reduction, int64_t c, int64_t size) {
  const Equivalence sizes(*reduction.best().module, LinkKind::kSizes);
  if (c >= sizes.class_count() || size < 1) return false;
  if (size >= SizesOfClasses(sizes)[static_cast<size_t>(c)]) return false;
  for (bool keep_end : {false, true}) {
    std::optional<ReduceCase> candidate = Resize(reduction.best(), sizes, {{c, size}}, keep_end);
    if (candidate && reduction.Try(*std::move(candidate), "shrink a dimension")) return true;
  }
  return false;
}

// To a small size or a part of what it is.
bool ShrinkFar(Reduction& reduction, int64_t c) {
  const int64_t current = SizeOfClass(reduction, c);
  for (int64_t size : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, current / 4, current / 2}) {
    if (ShrinkTo(reduction, c, size)) return true;
  }
  return false;
}

// A bug that needs a size has a least one. If one less will do it is searched for by halving: step
// by step it would take as many compilations as the dimension is long.
bool ShrinkNear(Reduction& reduction, int64_t c) {
  int64_t will_do = SizeOfClass(reduction, c) - 1, will_not = will_do / 2;
  if (!ShrinkTo(reduction, c, will_do)) return false;
  while (will_do - will_not > 1 && !reduction.Expired()) {
    const int64_t middle = will_not + (will_do - will_not) / 2;
    (ShrinkTo(reduction, c, middle) ? will_do : will_not) = middle;
  }
  return true;
}

}  // namespace

bool ShrinkEverything(Reduction& reduction) {
  for (int64_t size : {1, 2, 3, 4, 8}) {
    if (ShrinkAll(reduction, size)) return true;
  }
  return false;
}

bool ShrinkDimensions(Reduction& reduction) {
  bool changed = ShrinkEverything(reduction);
  int64_t classes = Equivalence(*reduction.best().module, LinkKind::kSizes).class_count();
  for (int64_t c = 0; c < classes && !reduction.Expired(); ++c) {
    while (ShrinkFar(reduction, c)) changed = true;
    changed |= ShrinkNear(reduction, c);
  }
  return changed;
}

}  // namespace assay
