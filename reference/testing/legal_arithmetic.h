// The numbers of the legal evaluator: arithmetic on single elements in which a seeded generator
// makes every choice that a profile leaves open.
#pragma once

#include <vector>

#include "reference/testing/random.h"
#include "spec/ir/module.h"
#include "spec/numerics/profile.h"
#include "spec/types/float_format.h"

namespace assay::reference {

// One element: its value in its type, and what a fused consumer could use instead.
struct Cell {
  double value = 0;
  double unrounded = 0;  // narrow types: as kept in f32, or in f16 where it holds all of them
  bool is_product = false;
  double factor_a = 0, factor_b = 0;
};
using Cells = std::vector<Cell>;

class LegalArithmetic {
 public:
  LegalArithmetic(const Profile& profile, Random& random)
      : profile_(profile),
        random_(random),
        flush_(profile.Grants(ClauseId::kFlushSubnormals) && random.Coin()) {}

  static bool IsNarrow(ElementType type) { return BitWidth(type) < 32; }

  static bool IsTiny(ElementType type) { return BitWidth(type) <= 8; }
  // Such floats may be computed in f16. It lacks the largest powers of f8e8m0fnu.
  static bool FitsHalf(ElementType type) { return IsTiny(type) && type != ElementType::kF8E8M0FNU; }
  bool Grants(ClauseId clause) const { return profile_.Grants(clause); }

  double Flush(ElementType type, double x) const;
  // Rounds to the type, once.
  double Round(ElementType type, long double x) const;

  // A finished result: `exact` to be rounded to the type, perhaps by way of f16.
  Cell Finish(ElementType type, long double exact);

  // An operand as an arithmetic op reads it.
  double Read(ElementType type, const Cell& cell, bool excess) const {
    return Flush(type, excess && IsNarrow(type) ? cell.unrounded : cell.value);
  }

  double Perturb(ElementType type, double value, double ulps);
  Cell Function(const Instruction& op, double x);
  double UlpsOf(ElementType type, Opcode opcode) const;
  // The function's value, rounded and moved within its budget.
  Cell Perturbed(const Instruction& op, long double y, bool exact_point, double low, double high);

  // A quotient or root that GPUs compute in f32 to within `ulps` of that type.
  Cell Approximate(ElementType type, long double exact, double ulps);

  // A sum in f32 that is rounded to the neighbour nearer to zero, unless it overflows.
  static double TowardsZero(long double exact);

  // A value between the steps of an op that is made in another form. Floats of at most 8 bits are
  // computed in a wider type there.
  double Intermediate(ElementType type, long double exact);

  // x * y, which an addition may read unrounded.
  Cell Product(ElementType type, double x, double y);

  // x * rsqrt(y), for an op that is x / sqrt(y).
  Cell TimesReciprocalRoot(const Instruction& op, const Cell& dividend, const Cell& radicand,
                           bool excess);

  Cell Unary(const Instruction& op, const Cell& operand, bool excess);

  static double Extremum(double a, double b, bool maximum);
  // The larger or smaller of two numbers; a product stays one.
  Cell Chosen(const Instruction& op, const Cell& a, const Cell& b, bool excess);

  // a * b + c or the like with one rounding.
  Cell Fused(ElementType type, double a, double b, double c);

  Cell Sum(const Instruction& op, const Cell& a, const Cell& b, bool excess, bool contract);

  Cell Binary(const Instruction& op, const Cell& a, const Cell& b, bool excess, bool contract,
              bool reciprocal);

  bool Compare(Direction direction, double a, double b);
  // Between float types, and to and from s32.
  Cell Convert(ElementType from, ElementType to, const Cell& operand, bool excess);
  // Rounded to a format with so many bits.
  Cell ReducePrecision(const Instruction& op, double x);

  // Accumulator of narrow types is f32, or f16.
  ElementType AccumulatorOf(ElementType type);

  double Combine(Opcode opcode, ElementType type, double a, double b) const;

  // Adds in an order of four kinds: as they come, one sign after the other from the largest or from
  // the smallest on (partial sums are large), or random pairs until one is left.
  double CombineAll(Opcode opcode, ElementType type, std::vector<double> terms);

 protected:
  const Profile& profile_;
  Random& random_;
  bool flush_;
};

}  // namespace assay::reference
