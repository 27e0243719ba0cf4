// Plainer values: zeros, ones, counting numbers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/steps.h"

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

// One of the literals of a case: of an input, or (`at`) of a constant.
struct Place {
  const Literal* literal;
  size_t input;
  const Instruction* at;
};

std::vector<Place> PlacesOf(const ReduceCase& reduce_case) {
  std::vector<Place> places;
  for (size_t i = 0; i < reduce_case.inputs.size(); ++i)
    places.push_back({&reduce_case.inputs[i], i, nullptr});
  for (const Computation* computation : reduce_case.module->computations()) {
    for (const Instruction* at : *computation) {
      if (at->literal() != nullptr) places.push_back({at->literal(), 0, at});
    }
  }
  return places;
}

void OfferChange(Candidates& to, const Place& place, const Change& change) {
  to.Offer([&](ReduceCase& c) {
    Literal literal = *place.literal;
    change(literal);
    if (absl::c_equal(literal.bytes(), place.literal->bytes())) return false;
    if (place.at == nullptr) {
      c.inputs[place.input] = std::move(literal);
    } else {
      Counterpart(*c.module, place.at)
          ->set_literal(std::make_shared<const Literal>(std::move(literal)));
    }
    return true;
  });
}

void CountUp(Literal& literal) {
  for (int64_t i = 0; i < literal.element_count(); ++i) SetNumber(literal, i, i % 17);
}

void OfferPlainer(Candidates& to, const Place& place) {
  const int64_t n = place.literal->element_count();
  for (int64_t value : {0, 1})
    OfferChange(to, place, [n, value](Literal& l) { Fill(l, 0, n, value); });
  OfferChange(to, place, CountUp);
  for (int64_t chunk = n / 2; chunk >= 1 && n / chunk <= kMaxSingles; chunk /= 2) {
    for (int64_t at = 0; at < n; at += chunk)
      OfferChange(to, place, [&](Literal& l) { Fill(l, at, std::min(at + chunk, n), 0); });
  }
  for (int64_t i = 0; i < n && n <= kMaxSingles; ++i) {
    for (int64_t small : {0, 1, 2, 3, -1})
      OfferChange(to, place, [i, small](Literal& l) { SetNumber(l, i, small); });
    OfferChange(to, place, [i](Literal& l) { Halve(l, i); });
  }
}

}  // namespace

void SimplifyValues(Candidates& to) {
  for (const Place& place : PlacesOf(to.best())) {
    const Literal& literal = *place.literal;
    if (literal.shape().IsArray() && !IsComplex(literal.element_type())) OfferPlainer(to, place);
  }
}

}  // namespace assay
