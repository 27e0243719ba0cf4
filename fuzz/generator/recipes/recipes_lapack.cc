// Factorisations and solutions by calls of LAPACK's routines, as JAX writes them (requirement 48):
// all options, batches, sizes around the widths of vectors and of blocks.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

using T = ElementType;

// The letter by which LAPACK's names say the type of numbers.
char LetterOf(ElementType type) {
  switch (type) {
    case T::kF32:
      return 's';
    case T::kF64:
      return 'd';
    case T::kC64:
      return 'c';
    default:
      return 'z';
  }
}

ElementType DrawNumbers(Program& program) {
  constexpr ElementType kTypes[] = {T::kF32, T::kF64, T::kC64, T::kC128};
  const ElementType type = kTypes[program.choices().Weighted({4, 3, 2, 2})];
  return program.options().Takes(type) ? type : T::kF32;
}

// Options of the typed interface: letters by their codes.
class Config {
 public:
  void Letter(std::string_view key, char letter) {
    Add(key, std::to_string(static_cast<int>(letter)) + " : ui8");
  }
  void Flag(std::string_view key, bool value) { Add(key, value ? "true" : "false"); }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  void Add(std::string_view key, const std::string& value) {
    text_ += (text_.empty() ? "" : ", ") + std::string(key) + " = " + value;
  }
  std::string text_;
};

// The operands and results of one call: shapes are batches in front of the routine's own sizes.
class Call {
 public:
  // Few of large ones. `order` is about the largest size of a matrix.
  Call(Program& program, int64_t order) : program_(program), type_(DrawNumbers(program)) {
    constexpr int64_t kMostInBatch = 3, kLarge = 20;
    Choices& choices = program.choices();
    if (order < kLarge && choices.Percent(35)) batch_.push_back(choices.Range(1, kMostInBatch));
  }
  ElementType type() const { return type_; }
  bool is_complex() const { return IsComplex(type_); }
  ElementType real() const { return is_complex() ? ComponentType(type_) : type_; }
  ElementType complex() const {
    if (is_complex()) return type_;
    return type_ == T::kF64 ? T::kC128 : T::kC64;
  }

  Shape ShapeOf(ElementType type, std::initializer_list<int64_t> sizes) const {
    DimVector dimensions = batch_;
    dimensions.insert(dimensions.end(), sizes.begin(), sizes.end());
    return Shape::Array(type, dimensions);
  }
  // Numbers for an operand: mostly some that are far from degenerate.
  Instruction* Numbers(std::initializer_list<int64_t> sizes) {
    const Shape shape = ShapeOf(type_, sizes);
    Choices& choices = program_.choices();
    if (choices.Percent(25)) return program_.OperandLike(shape);
    const ValueFamily family = choices.Pick(
        {ValueFamily::kOrdinary, ValueFamily::kOrdinary, ValueFamily::kWide, ValueFamily::kExact});
    Literal values = LiteralOfFamily(shape, family, choices);
    return program_.scope().entry ? program_.GivenParameter(std::move(values))
                                  : program_.Constant(std::move(values));
  }
  // `scratch`: the results of which nothing is promised, which nobody reads.
  Instruction* Emit(std::string_view routine, absl::Span<Instruction* const> operands,
                    std::vector<Shape> results, const Config& config = {},
                    const std::vector<size_t>& scratch = {}) {
    const std::string target =
        std::string("lapack_") + LetterOf(type_) + std::string(routine) + "_ffi";
    return EmitTarget(target, operands, std::move(results), config.text(), scratch);
  }
  // The call's results become values, the last ones first in the order of their names.
  Instruction* EmitTarget(const std::string& target, absl::Span<Instruction* const> operands,
                          std::vector<Shape> results, const std::string& config,
                          const std::vector<size_t>& scratch = {}) {
    Attributes attributes;
    attributes.Set(Attr::kCustomCallTarget, target);
    if (!config.empty()) attributes.Set(Attr::kBackendConfig, config);
    const bool is_tuple = results.size() > 1;
    const size_t count = results.size();
    Shape shape = is_tuple ? Shape::Tuple(std::move(results)) : std::move(results[0]);
    Instruction* call =
        program_.Emit(Opcode::kCustomCall, std::move(shape), operands, std::move(attributes));
    Instruction* first = call;
    for (size_t k = count; is_tuple && k-- > 0;) {
      const bool is_read = std::find(scratch.begin(), scratch.end(), k) == scratch.end();
      if (is_read) first = program_.GetTupleElement(call, static_cast<int64_t>(k));
    }
    return first;
  }

 private:
  Program& program_;
  ElementType type_;
  DimVector batch_;
};

// Mostly small. Blocked routines begin another block at 64, and the oracle's work grows with the
// cube: that large is rare.
int64_t DrawOrder(Choices& choices, int64_t most) {
  const size_t kind = choices.Weighted({80, 16, 4});
  const int64_t order = kind == 0   ? choices.Range(1, 6)
                        : kind == 1 ? choices.Pick<int64_t>({7, 8, 9, 15, 16, 17, 31, 32, 33})
                                    : choices.Pick<int64_t>({63, 64, 65, 66, 127, 129});
  return std::min(order, most);
}

Shape Info(const Call& call) { return call.ShapeOf(T::kS32, {}); }

// A matrix with numbers on the diagonal that keep it far from singular.
Instruction* WithDiagonal(Program& program, Instruction* matrix, int64_t value) {
  const Shape& shape = matrix->shape();
  const Shape indices = Shape::Array(T::kS32, shape.dimensions());
  Instruction* rows = program.Iota(indices, shape.rank() - 2);
  Instruction* columns = program.Iota(indices, shape.rank() - 1);
  Instruction* same = program.Compare(Direction::kEq, rows, columns);
  const ElementType type = shape.element_type();
  Instruction* on = program.Splat(program.ScalarConstant(type, value), shape.dimensions());
  Instruction* off = program.Splat(program.ScalarConstant(type, 0), shape.dimensions());
  return program.Binary(Opcode::kAdd, matrix, program.Select(same, on, off));
}

Instruction* BuildLu(Program& program, Opcode) {
  Choices& choices = program.choices();
  const int64_t m = DrawOrder(choices, 129);
  const int64_t n = choices.Percent(60) ? m : DrawOrder(choices, 129), k = std::min(m, n);
  Call call(program, std::max(m, n));
  Instruction* a = call.Numbers({m, n});
  const Shape factors = call.ShapeOf(call.type(), {m, n}), pivots = call.ShapeOf(T::kS32, {k});
  if (choices.Percent(20)) {
    const Shape order = call.ShapeOf(T::kS32, {m});
    return call.EmitTarget("LuDecomposition", {a}, {factors, pivots, order}, "");
  }
  return call.Emit("getrf", {a}, {factors, pivots, Info(call)});
}

Instruction* BuildPotrf(Program& program, Opcode) {
  Choices& choices = program.choices();
  const int64_t n = DrawOrder(choices, 129);
  Call call(program, n);
  Instruction* a = call.Numbers({n, n});
  // A matrix whose diagonal outweighs all else has a factor, whichever triangle is read.
  if (!choices.Percent(10)) a = WithDiagonal(program, a, 8 * n + 8);
  if (call.is_complex()) {
    // The diagonal of a Hermitian matrix is real: where it is not, no routine looks.
    const Shape shape = call.ShapeOf(call.type(), {n, n});
    Instruction* real = program.Unary(Opcode::kReal, a);
    Instruction* imaginary = program.Unary(Opcode::kImag, a);
    const Shape indices = Shape::Array(T::kS32, shape.dimensions());
    Instruction* rows = program.Iota(indices, shape.rank() - 2);
    Instruction* columns = program.Iota(indices, shape.rank() - 1);
    Instruction* same = program.Compare(Direction::kEq, rows, columns);
    Instruction* zero = program.Splat(program.ScalarConstant(call.real(), 0), shape.dimensions());
    a = program.Emit(Opcode::kComplex, shape, {real, program.Select(same, zero, imaginary)});
  }
  Config config;
  config.Letter("uplo", choices.Percent(50) ? 'L' : 'U');
  return call.Emit("potrf", {a}, {call.ShapeOf(call.type(), {n, n}), Info(call)}, config);
}

Instruction* BuildTrsm(Program& program, Opcode) {
  Choices& choices = program.choices();
  const int64_t n = DrawOrder(choices, 129), other = choices.Range(1, 5);
  Call call(program, n);
  const bool left = choices.Percent(50), unit = choices.Percent(20);
  const int64_t rows = left ? n : other, columns = left ? other : n;
  Instruction* a = call.Numbers({n, n});
  if (!unit) a = WithDiagonal(program, a, 16);
  Instruction* b = call.Numbers({rows, columns});
  Config config;
  config.Letter("side", left ? 'L' : 'R');
  config.Letter("uplo", choices.Percent(50) ? 'L' : 'U');
  config.Letter("trans_x", choices.Pick({'N', 'T', 'C'}));
  config.Letter("diag", unit ? 'U' : 'N');
  return call.Emit("trsm", {a, b}, {call.ShapeOf(call.type(), {rows, columns})}, config);
}

Instruction* BuildQr(Program& program, Opcode) {
  Choices& choices = program.choices();
  const int64_t m = DrawOrder(choices, 33);
  const int64_t n = choices.Percent(50) ? m : DrawOrder(choices, 33), k = std::min(m, n);
  Call call(program, std::max(m, n));
  Instruction* a = call.Numbers({m, n});
  const Shape factors = call.ShapeOf(call.type(), {m, n}), taus = call.ShapeOf(call.type(), {k});
  const size_t kind = choices.Weighted({40, 20, 40});
  if (kind == 1) {
    Literal marks(call.ShapeOf(T::kS32, {n}));
    for (int64_t i = 0; i < marks.element_count(); ++i)
      marks.SetInteger(i, choices.Percent(30) ? 1 : 0);
    Instruction* first = program.Constant(std::move(marks));
    return call.Emit("geqp3", {a, first}, {factors, call.ShapeOf(T::kS32, {n}), taus});
  }
  Instruction* packed = call.Emit("geqrf", {a}, {factors, taus});
  if (kind == 0) return packed;
  // The reflectors are multiplied out, or onto another matrix.
  Instruction* tau = program.GetTupleElement(packed->operand(0), 1);
  if (choices.Percent(50)) {
    if (n > m) return packed;
    const std::string_view name = call.is_complex() ? "ungqr" : "orgqr";
    return call.Emit(name, {packed, tau}, {factors});
  }
  const int64_t other = choices.Range(1, 4);
  const bool left = choices.Percent(50);
  const int64_t rows = left ? m : other, columns = left ? other : m;
  if (n > m) return packed;
  Instruction* c = call.Numbers({rows, columns});
  Config config;
  config.Flag("left", left);
  config.Flag("transpose", choices.Percent(50));
  const std::string_view name = call.is_complex() ? "unmqr" : "ormqr";
  return call.Emit(name, {packed, tau, c}, {call.ShapeOf(call.type(), {rows, columns})}, config);
}

Instruction* BuildHermitian(Program& program, Opcode) {
  Choices& choices = program.choices();
  const int64_t n = DrawOrder(choices, 17);
  Call call(program, n);
  Instruction* a = call.Numbers({n, n});
  const Shape vectors = call.ShapeOf(call.type(), {n, n}), values = call.ShapeOf(call.real(), {n});
  Config config;
  config.Letter("uplo", choices.Percent(50) ? 'L' : 'U');
  if (choices.Percent(25)) {
    const Shape beside = call.ShapeOf(call.real(), {n - 1});
    const Shape taus = call.ShapeOf(call.type(), {n - 1});
    return call.Emit(call.is_complex() ? "hetrd" : "sytrd", {a},
                     {vectors, values, beside, taus, Info(call)}, config);
  }
  const bool has_vectors = choices.Percent(80);
  config.Letter("mode", has_vectors ? 'V' : 'N');
  const std::string_view name = call.is_complex() ? "heevd" : "syevd";
  if (has_vectors) return call.Emit(name, {a}, {vectors, values, Info(call)}, config);
  return call.Emit(name, {a}, {vectors, values, Info(call)}, config, {0});
}

Instruction* BuildSingular(Program& program, Opcode) {
  Choices& choices = program.choices();
  const int64_t m = DrawOrder(choices, 17), n = DrawOrder(choices, 17), k = std::min(m, n);
  Call call(program, std::max(m, n));
  Instruction* a = call.Numbers({m, n});
  const char mode = choices.Pick({'A', 'S', 'S', 'N'});
  const int64_t u = mode == 'S' ? k : m, v = mode == 'S' ? k : n;
  Config config;
  config.Letter("mode", mode);
  return call.Emit(
      "gesdd", {a},
      {call.ShapeOf(call.type(), {m, n}), call.ShapeOf(call.real(), {k}),
       call.ShapeOf(call.type(), {m, u}), call.ShapeOf(call.type(), {v, n}), Info(call)},
      config, mode == 'N' ? std::vector<size_t>{0, 2, 3} : std::vector<size_t>{0});
}

// Eigenvalues of general matrices, Schur's form, Hessenberg's form.
Instruction* BuildGeneral(Program& program, Opcode) {
  Choices& choices = program.choices();
  const int64_t n = DrawOrder(choices, 9);
  Call call(program, n);
  Instruction* a = call.Numbers({n, n});
  const Shape square = call.ShapeOf(call.type(), {n, n});
  std::vector<Shape> values = {call.ShapeOf(call.type(), {n})};
  if (!call.is_complex()) values.push_back(values[0]);
  std::vector<Shape> results;
  Config config;
  switch (choices.Weighted({40, 30, 30})) {
    case 0: {
      const Shape vectors = call.ShapeOf(call.complex(), {n, n});
      results = values;
      results.insert(results.end(), {vectors, vectors, Info(call)});
      const bool left = choices.Percent(50), right = choices.Percent(70);
      config.Letter("compute_left", left ? 'V' : 'N');
      config.Letter("compute_right", right ? 'V' : 'N');
      std::vector<size_t> scratch;
      if (!left) scratch.push_back(values.size());
      if (!right) scratch.push_back(values.size() + 1);
      return call.Emit("geev", {a}, std::move(results), config, scratch);
    }
    case 1: {
      results = {square, square};
      results.insert(results.end(), values.begin(), values.end());
      results.insert(results.end(), {Info(call), Info(call)});
      const bool vectors = choices.Percent(80);
      config.Letter("mode", vectors ? 'V' : 'N');
      config.Letter("sort", 'N');
      return call.Emit("gees", {a}, std::move(results), config,
                       vectors ? std::vector<size_t>{} : std::vector<size_t>{1});
    }
    default:
      return call.Emit("gehrd", {a}, {square, call.ShapeOf(call.type(), {n - 1}), Info(call)});
  }
}

Instruction* BuildTridiagonalSolve(Program& program, Opcode) {
  Choices& choices = program.choices();
  const int64_t n = DrawOrder(choices, 33), sides = choices.Range(1, 3);
  Call call(program, n);
  std::vector<Instruction*> operands;
  for (int k = 0; k < 3; ++k) operands.push_back(call.Numbers({n}));
  operands.push_back(call.Numbers({n, sides}));
  const Shape row = call.ShapeOf(call.type(), {n});
  return call.Emit("gtsv", operands,
                   {row, row, row, call.ShapeOf(call.type(), {n, sides}), Info(call)}, {},
                   {0, 1, 2});
}

// The largest elements by name: the call that JAX writes for top_k.
Instruction* BuildTopKCall(Program& program, Opcode) {
  Choices& choices = program.choices();
  Call call(program, 1);
  if (call.is_complex()) return nullptr;
  const int64_t n = choices.Percent(50) ? choices.Range(1, 20) : choices.Range(20, 300);
  const int64_t k = std::min(n, choices.Percent(70) ? choices.Range(1, 6) : n);
  Instruction* x = call.Numbers({n});
  return call.EmitTarget("TopK", {x}, {call.ShapeOf(call.type(), {k}), call.ShapeOf(T::kS32, {k})},
                         "");
}

// One of the routines. Together they are one pattern: each is rare in programs, and dear.
Instruction* BuildLapack(Program& program, Opcode opcode) {
  using Build = Instruction* (*)(Program&, Opcode);
  constexpr Build kBuilds[] = {BuildLu,        BuildPotrf,    BuildTrsm,    BuildQr,
                               BuildHermitian, BuildSingular, BuildGeneral, BuildTridiagonalSolve};
  return kBuilds[program.choices().Draw(std::size(kBuilds))](program, opcode);
}

constexpr Recipe kRecipes[] = {
    {Opcode::kCustomCall, "lapack-call", RecipeGroup::kDot, 4, BuildLapack, kNotPortable},
    {Opcode::kCustomCall, "top-k-call", RecipeGroup::kReduce, 1, BuildTopKCall, kNotPortable},
};

}  // namespace

absl::Span<const Recipe> LapackRecipes() { return kRecipes; }

}  // namespace assay
