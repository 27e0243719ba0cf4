// Plainer values: zeros, ones, counting numbers.
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/reduction.h"

namespace assay {
namespace {

constexpr int64_t kMaxSingles = 64;  // literals up to this size are simplified element by element

using Change = std::function<void(Literal&)>;

void SetNumber(Literal& literal, int64_t i, int64_t value) {
  if (IsFloat(literal.element_type())) {
    literal.SetDouble(i, static_cast<double>(value));
  } else {
    literal.SetInteger(i, value);
  }
}

void Fill(Literal& literal, int64_t from, int64_t to, int64_t value) {
  for (int64_t i = from; i < to; ++i) SetNumber(literal, i, value);
}

void Halve(Literal& literal, int64_t i) {
  if (IsFloat(literal.element_type())) {
    double value = literal.GetDouble(i);
    literal.SetDouble(i, std::isfinite(value) ? std::trunc(value / 2) : value > 0 ? 16 : -16);
  } else {
    literal.SetInteger(i, literal.GetInteger(i) / 2);
  }
}

// The literals of a case: inputs, then constants in stored order.
int64_t LiteralCount(const ReduceCase& reduce_case) {
  int64_t count = static_cast<int64_t>(reduce_case.inputs.size());
  for (const Computation* computation : reduce_case.module->computations()) {
    for (const Instruction* at : *computation) count += at->literal() != nullptr;
  }
  return count;
}

const Literal* GetLiteral(const ReduceCase& reduce_case, int64_t number) {
  if (number < static_cast<int64_t>(reduce_case.inputs.size())) return &reduce_case.inputs[number];
  number -= static_cast<int64_t>(reduce_case.inputs.size());
  for (const Computation* computation : reduce_case.module->computations()) {
    for (const Instruction* at : *computation) {
      if (at->literal() != nullptr && number-- == 0) return at->literal();
    }
  }
  return nullptr;
}

bool TryChange(Reduction& reduction, int64_t number, const Change& change) {
  const Literal& old = *GetLiteral(reduction.best(), number);
  Literal literal = old;
  change(literal);
  if (absl::c_equal(literal.bytes(), old.bytes()) || !reduction.Wants()) return false;
  ReduceCase c = reduction.best().Clone();
  const auto inputs = static_cast<int64_t>(c.inputs.size());
  if (number < inputs) {
    c.inputs[number] = std::move(literal);
    return reduction.Try(std::move(c), "plainer values");
  }
  number -= inputs;
  for (Computation* computation : c.module->computations()) {
    for (Instruction* at : *computation) {
      if (at->literal() == nullptr || number-- != 0) continue;
      at->set_literal(std::make_shared<const Literal>(std::move(literal)));
      return reduction.Try(std::move(c), "plainer values");
    }
  }
  return false;
}

bool SimplifyLiteral(Reduction& reduction, int64_t number) {
  auto count = [&] {
    const Literal* literal = GetLiteral(reduction.best(), number);
    return literal == nullptr || !literal->shape().IsArray() || IsComplex(literal->element_type())
               ? 0
               : literal->element_count();
  };
  int64_t n = count();
  if (n == 0) return false;
  bool changed = false;
  for (const Change& change :
       {Change([](Literal& l) { Fill(l, 0, l.element_count(), 0); }),
        Change([](Literal& l) { Fill(l, 0, l.element_count(), 1); }), Change([](Literal& l) {
          for (int64_t i = 0; i < l.element_count(); ++i) {
            SetNumber(l, i, i % 17);
          }
        })}) {
    if (TryChange(reduction, number, change)) {
      changed = true;
      break;
    }
  }
  for (int64_t chunk = n / 2; chunk >= 1; chunk /= 2) {
    if (n / chunk > kMaxSingles) break;
    for (int64_t at = 0; at < n && !reduction.Expired(); at += chunk) {
      int64_t to = std::min(at + chunk, n);
      changed |= TryChange(reduction, number, [&](Literal& l) { Fill(l, at, to, 0); });
    }
  }
  for (int64_t i = 0; i < n && n <= kMaxSingles && !reduction.Expired(); ++i) {
    for (int64_t small : {0, 1, 2, 3, -1}) {
      if (TryChange(reduction, number, [&](Literal& l) { SetNumber(l, i, small); })) {
        changed = true;
        break;
      }
    }
    while (TryChange(reduction, number, [&](Literal& l) { Halve(l, i); })) changed = true;
  }
  return changed;
}

}  // namespace

bool SimplifyValues(Reduction& reduction) {
  bool changed = false;
  for (int64_t i = 0; i < LiteralCount(reduction.best()) && !reduction.Expired(); ++i) {
    changed |= SimplifyLiteral(reduction, i);
  }
  return changed;
}

}  // namespace assay
