// Statistical tests of numbers that a program drew: which ones come is open, how they are spread is
// not. Document: operation semantics chapter 13, RngUniform and RngNormal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reference/values/property.h"

namespace assay::reference {

// The distribution of draws of one element type.
struct Distribution {
  enum Kind : uint8_t { kUniform, kIntegers, kNormal };
  Kind kind = kUniform;
  ElementType type = ElementType::kF32;
  // [a, b) of kUniform, the `count` integers from a on of kIntegers, mean and deviation of kNormal.
  double a = 0, b = 1;
  uint64_t count = 0;
};

// Tells what is wrong with draws, given in the order of their numbers; empty if nothing shows. An
// integer outside of its range and a normal draw that is not finite are wrong at once. Each test
// calls one set in 10^9 of right draws wrong: Kolmogorov-Smirnov from 100 draws on, chi-square from
// five draws for each of its classes on, and chi-square of pairs of neighbours likewise.
std::string DrawViolation(const Distribution& distribution, absl::Span<const JointElement> draws);

// The draws of one op as elements of a joint choice, numbered in row-major order.
std::shared_ptr<const Joint> JointDraws(const Distribution& distribution);

}  // namespace assay::reference
