// The errors that uncertain elements have in common. The error of a float element is written as a
// sum over the errors of the sums (dot, convolution, reduce) that it was computed from, each once,
// and a rest:
//   value = centre + scale * (c1 e1 + c2 e2 + ...) + loose * e,  every e in [-1, 1].
// So errors cancel where the same sum is read twice, which intervals cannot see (affine
// arithmetic). Results of sums are taken to be the same for all their readers. An element-wise op
// may be computed anew for each of them: its own error is one of the others if nothing but such
// values decides about it (an addition of sums, a root, a quotient by no broadcast), and loose if
// there is a freedom in it (a budget, contraction, flushing, a reciprocal). Design: "Tolerances are
// derived, not guessed".
#pragma once

#include <atomic>
#include <memory>

#include "reference/values/fold_terms.h"
#include "reference/values/product_sums.h"

namespace assay::reference {

// Numbers the errors of one run and limits what all forms of it take.
class ErrorNumbers {
 public:
  // From now on the errors are the choices, under their numbers, those of element-wise ops too.
  // Forms then tell how much each choice moves an element, and bounds do not matter.
  void FollowChoices(const LegalChoices& choices);
  bool follows_choices() const { return choices_ != nullptr; }
  // A new error, that of result i of an op; -1 when there are enough.
  int32_t Next(int64_t i);
  // A form of more terms becomes one of a single, new error. Fewer when what is left gets scarce: a
  // program without any forms after a point would be worse off than one with short ones.
  size_t most_terms() const;
  // True if so many more terms may be looked at; they count from then on.
  bool Take(int64_t terms);
  void Spend(int64_t terms) { left_ -= terms; }
  // Empty terms to write, until they are stored; for one use at a time.
  ErrorTerms& Scratch();
  // True if the terms, and one more, can be kept beside all others that are alive.
  bool HasRoom(const ErrorTerms& terms) const;
  // The terms to keep; null if there is no room.
  std::shared_ptr<const ErrorTerms> Store(const ErrorTerms& terms);
  // Scratch sums by the number of the error; all zero between two uses.
  std::vector<double>& sums() { return sums_; }
  std::vector<uint8_t>& seen() { return seen_; }

 private:
  // Terms to look at, and to hold at a time.
  static constexpr int64_t kLeft = int64_t{1} << 30, kRoom = int64_t{1} << 24;

  const LegalChoices* choices_ = nullptr;
  int32_t next_ = 0;
  int64_t left_ = kLeft;
  // The terms of all forms that are alive; they may outlive this object.
  std::shared_ptr<std::atomic<int64_t>> held_ = std::make_shared<std::atomic<int64_t>>(0);
  ErrorTerms scratch_;
  std::vector<double> sums_;
  std::vector<uint8_t> seen_;
};

// Narrows the bounds of `result` of an element-wise op, or of a sum, where its operands' errors
// have terms in common, and writes its own error down. The bounds are those of the op's rule.
void NarrowElementwise(const OpContext& op, Array& result);
void NarrowProductSums(const OpContext& op, const ProductSums& sums, Array& result);

// Narrows the bounds of `result` of a fold whose sums are made term by term.
void NarrowFold(const OpContext& op, const Array& input, const Array& init, const FoldTerms& lists,
                Array& result);

}  // namespace assay::reference
