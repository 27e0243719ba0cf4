// Matrices on which elimination is exact whatever its order: products of sparse triangles of small
// dyadic numbers whose diagonals outweigh the rest, with rows exchanged late. What is made of them
// has one answer to the last bit, also where a routine works in blocks (requirements 45 and 48).
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

// A lower triangle by its rows: (column, value), the diagonal last.
using SparseRows = std::vector<std::vector<std::pair<int64_t, double>>>;

// Two numbers at most stand beside a diagonal at least as large as both: what is computed with it
// stays as small as it is.
SparseRows DrawTriangle(RandomStream& stream, int64_t order, bool is_unit) {
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(stream.Next() % static_cast<uint64_t>(bound));
  };
  SparseRows rows(static_cast<size_t>(order));
  for (int64_t i = 0; i < order; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    for (int64_t more = i == 0 ? 0 : below(3); more > 0; --more) {
      // Near the diagonal, or anywhere.
      const int64_t column = below(2) == 0 ? i - 1 - below(std::min<int64_t>(i, 4)) : below(i);
      const double value = (below(2) == 0 ? 1 : -1) * (is_unit ? 0.5 : 1);
      const bool is_new = std::none_of(row.begin(), row.end(),
                                       [&](const auto& entry) { return entry.first == column; });
      if (is_new) row.emplace_back(column, value);
    }
    const double size = is_unit ? 1 : below(2) == 0 ? 2 : 4;
    row.emplace_back(i, size);
  }
  return rows;
}

// Rows of a matrix in the order in which they stand: exchanged in the second half, at one place, or
// all over.
std::vector<int64_t> DrawRowOrder(Choices& choices, int64_t order) {
  std::vector<int64_t> rows(static_cast<size_t>(order));
  for (int64_t i = 0; i < order; ++i) rows[static_cast<size_t>(i)] = i;
  RandomStream stream = choices.Fork();
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(stream.Next() % static_cast<uint64_t>(bound));
  };
  const auto mix_from = [&](int64_t first) {
    for (int64_t i = order - 1; i > first; --i)
      std::swap(rows[static_cast<size_t>(i)],
                rows[static_cast<size_t>(first + below(i - first + 1))]);
  };
  switch (choices.Weighted({4, 3, 2, 1})) {
    case 0:
      mix_from(order / 2);
      break;
    case 1: {  // one late pivot
      const int64_t late = std::max<int64_t>(order - 1 - below(4), 0);
      std::swap(rows[static_cast<size_t>(late)], rows[static_cast<size_t>(order - 1)]);
      break;
    }
    case 2:
      mix_from(0);
      break;
    default:
      std::reverse(rows.begin(), rows.end());
  }
  return rows;
}

Literal Filled(ElementType type, int64_t rows, int64_t columns, const std::vector<double>& values) {
  Literal literal(Shape::Array(type, {rows, columns}));
  for (int64_t i = 0; i < literal.element_count(); ++i)
    literal.SetDouble(i, values[static_cast<size_t>(i)]);
  return literal;
}

Instruction* Given(Program& program, Literal value) {
  return program.GivenParameter(std::move(value));
}

int64_t DrawOrder(Choices& choices) {
  switch (choices.Weighted({52, 28, 18, 2})) {
    case 0:
      return choices.Range(3, 18);
    case 1:
      return choices.Pick<int64_t>({31, 32, 33});
    case 2:
      return choices.Pick<int64_t>({63, 64, 65, 66});
    default:
      return choices.Pick<int64_t>({96, 100, 127, 128, 129, 130});
  }
}

Attributes CallOf(ElementType type, std::string_view routine, const std::string& options) {
  Attributes attributes;
  const std::string letter = type == ElementType::kF32 ? "s" : "d";
  attributes.Set(Attr::kCustomCallTarget, "lapack_" + letter + std::string(routine) + "_ffi");
  attributes.Set(Attr::kBackendConfig, "{" + options + "}");
  return attributes;
}

std::string Letter(const std::string& key, char letter) {
  return key + " = " + std::to_string(static_cast<int>(letter)) + " : ui8";
}

// p l u: each pivot is twice as large as what it is chosen from, or larger.
Instruction* FactorLu(Program& program, ElementType type, int64_t order) {
  Choices& choices = program.choices();
  RandomStream stream = choices.Fork();
  const SparseRows lower = DrawTriangle(stream, order, /*is_unit=*/true);
  const SparseRows upper = DrawTriangle(stream, order, /*is_unit=*/false);  // read by its columns
  const std::vector<int64_t> place = DrawRowOrder(choices, order);
  SparseRows rows_of_upper(static_cast<size_t>(order));
  for (int64_t j = 0; j < order; ++j)
    for (const auto& [i, value] : upper[static_cast<size_t>(j)])
      rows_of_upper[static_cast<size_t>(i)].emplace_back(j, value);
  std::vector<double> values(static_cast<size_t>(order * order));
  for (int64_t i = 0; i < order; ++i) {
    const auto row = static_cast<size_t>(place[static_cast<size_t>(i)] * order);
    for (const auto& [k, left] : lower[static_cast<size_t>(i)])
      for (const auto& [j, right] : rows_of_upper[static_cast<size_t>(k)])
        values[row + static_cast<size_t>(j)] += left * right;
  }
  Instruction* a = Given(program, Filled(type, order, order, values));
  const Shape info = Shape::Scalar(ElementType::kS32);
  const Shape result = Shape::Tuple({a->shape(), Shape::Array(ElementType::kS32, {order}), info});
  Instruction* call = program.Emit(Opcode::kCustomCall, result, {a}, CallOf(type, "getrf", ""));
  program.GetTupleElement(call, 2);
  program.AlwaysShow(program.GetTupleElement(call, 1));
  return program.GetTupleElement(call, 0);
}

// l lᵀ, by the op or by the call.
Instruction* FactorCholesky(Program& program, ElementType type, int64_t order, bool is_call) {
  Choices& choices = program.choices();
  RandomStream stream = choices.Fork();
  const SparseRows lower = DrawTriangle(stream, order, /*is_unit=*/false);
  std::vector<double> dense(static_cast<size_t>(order * order)), values(dense.size());
  for (int64_t i = 0; i < order; ++i)
    for (const auto& [j, value] : lower[static_cast<size_t>(i)])
      dense[static_cast<size_t>(i * order + j)] = value;
  for (int64_t i = 0; i < order; ++i) {
    for (int64_t j = 0; j < order; ++j) {
      double& sum = values[static_cast<size_t>(i * order + j)];
      for (const auto& [k, value] : lower[static_cast<size_t>(i)])
        sum += value * dense[static_cast<size_t>(j * order + k)];
    }
  }
  Instruction* a = Given(program, Filled(type, order, order, values));
  const bool is_lower = choices.Percent(50);
  if (is_call) {
    const Shape result = Shape::Tuple({a->shape(), Shape::Scalar(ElementType::kS32)});
    Instruction* call = program.Emit(Opcode::kCustomCall, result, {a},
                                     CallOf(type, "potrf", Letter("uplo", is_lower ? 'L' : 'U')));
    program.GetTupleElement(call, 1);
    return program.GetTupleElement(call, 0);
  }
  Attributes attributes;
  if (is_lower) attributes.Set(Attr::kLower, AttrValue(true));
  Instruction* factor = program.Emit(Opcode::kCholesky, a->shape(), {a}, std::move(attributes));
  // Nothing is promised of the other triangle.
  const Shape indices = Shape::Array(ElementType::kS32, {order, order});
  Instruction* rows = program.Iota(indices, 0);
  Instruction* columns = program.Iota(indices, 1);
  Instruction* kept = program.Compare(is_lower ? Direction::kGe : Direction::kLe, rows, columns);
  Instruction* zero = program.Splat(program.ScalarConstant(type, 0), {order, order});
  std::erase(program.scope().values, factor);
  return program.Select(kept, factor, zero);
}

// op(t) x = b or x op(t) = b, of which x is whole numbers.
Instruction* SolveTriangle(Program& program, ElementType type, int64_t order, bool is_call) {
  Choices& choices = program.choices();
  RandomStream stream = choices.Fork();
  const bool is_unit = choices.Percent(30), is_left = choices.Percent(50);
  const bool is_lower = choices.Percent(50), is_turned = choices.Percent(50);
  const int64_t sides = choices.Range(1, 4);
  const SparseRows triangle = DrawTriangle(stream, order, is_unit);
  std::vector<double> dense(static_cast<size_t>(order * order));
  const auto place_of = [&](int64_t i, int64_t j) {
    return static_cast<size_t>(is_lower ? i * order + j : j * order + i);
  };
  for (int64_t i = 0; i < order; ++i)
    for (const auto& [j, value] : triangle[static_cast<size_t>(i)]) dense[place_of(i, j)] = value;
  std::vector<double> x(static_cast<size_t>(order * sides)), b(x.size());
  for (double& value : x) value = static_cast<double>(stream.Next() % 7) - 3;
  // Element (i, k) of op(t); x and b have a row for each unknown, or a column.
  const auto at = [&](int64_t i, int64_t k) {
    return dense[static_cast<size_t>(is_turned ? k * order + i : i * order + k)];
  };
  const auto place = [&](int64_t unknown, int64_t side) {
    return static_cast<size_t>(is_left ? unknown * sides + side : side * order + unknown);
  };
  for (int64_t i = 0; i < order; ++i)
    for (int64_t k = 0; k < order; ++k) {
      const double factor = is_left ? at(i, k) : at(k, i);
      if (factor == 0) continue;
      for (int64_t side = 0; side < sides; ++side) b[place(i, side)] += factor * x[place(k, side)];
    }
  // Elements that are not referred to would show if they were read.
  for (int64_t i = 0; i < order; ++i) {
    for (int64_t j = i + 1; j < order; ++j) dense[place_of(i, j)] = 7;
    if (is_unit) dense[place_of(i, i)] = 3;
  }
  Instruction* a = Given(program, Filled(type, order, order, dense));
  Instruction* right =
      Given(program, is_left ? Filled(type, order, sides, b) : Filled(type, sides, order, b));
  if (is_call) {
    const std::string options =
        Letter("side", is_left ? 'L' : 'R') + ", " + Letter("uplo", is_lower ? 'L' : 'U') + ", " +
        Letter("trans_x", is_turned ? 'T' : 'N') + ", " + Letter("diag", is_unit ? 'U' : 'N');
    return program.Emit(Opcode::kCustomCall, right->shape(), {a, right},
                        CallOf(type, "trsm", options));
  }
  Attributes attributes;
  if (is_left) attributes.Set(Attr::kLeftSide, AttrValue(true));
  if (is_lower) attributes.Set(Attr::kLower, AttrValue(true));
  if (is_unit) attributes.Set(Attr::kUnitDiagonal, AttrValue(true));
  const TransposeKind kind = is_turned ? TransposeKind::kTranspose : TransposeKind::kNone;
  attributes.Set(Attr::kTransposeA, AttrValue(static_cast<int64_t>(kind)));
  return program.Emit(Opcode::kTriangularSolve, right->shape(), {a, right}, std::move(attributes));
}

Instruction* BuildExactFactors(Program& program, Opcode) {
  if (!program.scope().entry) return nullptr;
  Choices& choices = program.choices();
  const bool is_double = choices.Percent(50) && program.options().Takes(ElementType::kF64);
  const ElementType type = is_double ? ElementType::kF64 : ElementType::kF32;
  const int64_t order = DrawOrder(choices);
  const bool may_call = !program.options().portable && program.options().Takes(Opcode::kCustomCall);
  const bool may_factor = program.options().Takes(Opcode::kCholesky);
  switch (choices.Weighted(
      {may_call ? 40 : 0, may_factor ? 20 : 0, may_call ? 10 : 0, 20, may_call ? 10 : 0})) {
    case 0:
      return FactorLu(program, type, order);
    case 1:
      return FactorCholesky(program, type, order, /*is_call=*/false);
    case 2:
      return FactorCholesky(program, type, order, /*is_call=*/true);
    case 3:
      return SolveTriangle(program, type, order, /*is_call=*/false);
    default:
      return SolveTriangle(program, type, order, /*is_call=*/true);
  }
}

constexpr Recipe kRecipes[] = {
    {Opcode::kTriangularSolve, "exact-factors", RecipeGroup::kDot, 3, BuildExactFactors},
};

}  // namespace

absl::Span<const Recipe> ExactRecipes() { return kRecipes; }

}  // namespace assay
