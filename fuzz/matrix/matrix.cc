// Counts the cells and builds them.
#include "fuzz/matrix/matrix.h"

#include <algorithm>
#include <array>
#include <set>

#include "fuzz/generator/recipes/recipes.h"
#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

struct StyleName {
  SizeStyle style;
  std::string_view name;
};
constexpr StyleName kStyles[] = {
    {SizeStyle::kSmall, "small"},       {SizeStyle::kThreshold, "tails"},
    {SizeStyle::kLopsided, "lopsided"}, {SizeStyle::kHighRank, "high-rank"},
    {SizeStyle::kLarge, "large"},       {SizeStyle::kPowers, "powers"},
    {SizeStyle::kOnes, "ones"},         {SizeStyle::kZeros, "zeros"},
};
constexpr ValueFamily kFamilies[] = {ValueFamily::kOrdinary, ValueFamily::kSpecials};

std::string_view NameOf(SizeStyle style) {
  for (const StyleName& one : kStyles)
    if (one.style == style) return one.name;
  return "?";
}

// Element types and the largest array of shapes.
struct Arrays {
  std::set<ElementType> types;
  int64_t elements = 0;

  void Add(const Shape& shape) {
    if (shape.IsArray()) {
      types.insert(shape.element_type());
      elements = std::max(elements, shape.ElementCount());
    }
    if (!shape.IsTuple()) return;
    for (const Shape& element : shape.elements()) Add(element);
  }
};

// A program may show little of an op on a type, or enough.
enum class Showing : uint8_t { kNothing, kLittle, kEnough };

// A pattern that does not take the type draws another one: that is no cell of this type. An op of
// tokens alone has none, and counts for each. Arrays of less than `elements` show little.
Showing Shows(const Module& module, Opcode opcode, ElementType type, int64_t elements) {
  Showing most = Showing::kNothing;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (at->opcode() != opcode) continue;
      Arrays arrays;
      arrays.Add(at->shape());
      for (const Instruction* operand : at->operands()) arrays.Add(operand->shape());
      if (!arrays.types.empty() && !arrays.types.contains(type)) continue;
      const bool is_little = !arrays.types.empty() && arrays.elements < elements;
      most = std::max(most, is_little ? Showing::kLittle : Showing::kEnough);
    }
  }
  return most;
}

// The elements that an array of the style should have.
int64_t ElementsOf(SizeStyle style) {
  if (style == SizeStyle::kOnes || style == SizeStyle::kZeros) return 0;
  return style == SizeStyle::kSmall ? 2 : 5;
}

// Programs draw their form by the seed; the first that shows enough is the cell's, and where none
// does the first that applies.
std::optional<uint64_t> FirstSeed(PatternRequest request) {
  constexpr uint64_t kSeeds = 8;
  std::optional<uint64_t> first;
  for (request.seed = 0; request.seed < kSeeds; ++request.seed) {
    const std::optional<Case> built = CaseOfPattern(request);
    if (!built.has_value() || !Verify(*built->module).ok()) continue;
    const Showing shown = Shows(*built->module, AllRecipes()[request.recipe].opcode, request.type,
                                ElementsOf(request.sizes));
    if (shown == Showing::kEnough) return request.seed;
    if (shown == Showing::kLittle && !first.has_value()) first = request.seed;
  }
  return first;
}

// A smaller tier leaves out what a larger one has.
bool IsIn(MatrixTier tier, const MatrixCell& cell, size_t number) {
  const bool is_plain = cell.mode == MatrixMode::kArguments;
  const bool is_first =
      cell.pattern.sizes == SizeStyle::kSmall && cell.pattern.family == ValueFamily::kOrdinary;
  if (tier == MatrixTier::kFull) return true;
  if (tier == MatrixTier::kSmoke) return is_plain && is_first;
  const bool is_tails = cell.pattern.sizes == SizeStyle::kThreshold;
  const bool is_edge =
      cell.pattern.family == ValueFamily::kOrdinary &&
      (cell.pattern.sizes == SizeStyle::kOnes || cell.pattern.sizes == SizeStyle::kZeros);
  const bool is_turn =
      static_cast<int>(cell.mode) == 1 + static_cast<int>(number % (kMatrixModeCount - 1));
  return (is_plain && (is_first || is_tails || is_edge)) || (is_first && is_turn);
}

// Modes other than that of arguments are for sizes that folding and unrolling take.
bool IsWorthwhile(const MatrixCell& cell) {
  const bool is_small = cell.pattern.sizes == SizeStyle::kSmall ||
                        cell.pattern.sizes == SizeStyle::kHighRank ||
                        cell.pattern.sizes == SizeStyle::kThreshold;
  return cell.mode == MatrixMode::kArguments || is_small;
}

}  // namespace

absl::StatusOr<MatrixTier> MatrixTierOf(std::string_view word) {
  constexpr std::array<std::string_view, 3> kWords = {"smoke", "ci", "full"};
  for (size_t i = 0; i < kWords.size(); ++i)
    if (kWords[i] == word) return static_cast<MatrixTier>(i);
  return absl::InvalidArgumentError(StrCat("no tier '", word, "'; smoke, ci or full"));
}

absl::Span<const ElementType> MatrixTypes() {
  static const auto& types = *[] {
    auto* all = new std::vector<ElementType>(ComputedTypes().begin(), ComputedTypes().end());
    for (const ElementType type : RareTypes())
      if (std::find(all->begin(), all->end(), type) == all->end()) all->push_back(type);
    return all;
  }();
  return types;
}

Opcode MatrixCell::opcode() const { return AllRecipes()[pattern.recipe].opcode; }

std::string MatrixCell::Name() const {
  return StrCat(AllRecipes()[pattern.recipe].name, "/", assay::Name(pattern.type), "/",
                NameOf(pattern.sizes), "/", assay::Name(pattern.family), "/", assay::Name(mode));
}

std::vector<MatrixCell> MatrixCells(MatrixTier tier, int64_t index, int64_t count) {
  std::vector<MatrixCell> cells;
  int64_t pair = 0;
  for (size_t recipe = 0; recipe < AllRecipes().size(); ++recipe) {
    for (const ElementType type : MatrixTypes()) {
      // Shards take whole pairs of pattern and type, so that none builds what is another's.
      if (pair++ % count != index) continue;
      for (const StyleName& style : kStyles) {
        if (tier == MatrixTier::kSmoke && style.style != SizeStyle::kSmall) continue;
        const bool is_edge = style.style == SizeStyle::kOnes || style.style == SizeStyle::kZeros;
        if (tier == MatrixTier::kCi && style.style > SizeStyle::kThreshold && !is_edge) continue;
        const std::optional<uint64_t> seed =
            FirstSeed({recipe, type, style.style, ValueFamily::kOrdinary, 0});
        if (!seed.has_value()) continue;
        for (const ValueFamily family : kFamilies) {
          for (int mode = 0; mode < kMatrixModeCount; ++mode) {
            const MatrixCell cell = {{recipe, type, style.style, family, *seed},
                                     static_cast<MatrixMode>(mode)};
            if (IsWorthwhile(cell) && IsIn(tier, cell, recipe + static_cast<size_t>(type)))
              cells.push_back(cell);
          }
        }
      }
    }
  }
  return cells;
}

std::optional<Case> BuildCell(const MatrixCell& cell) {
  std::optional<Case> built = CaseOfPattern(cell.pattern);
  if (!built.has_value()) return std::nullopt;
  std::unique_ptr<Module> module = InMode(*built->module, cell.mode, built->inputs);
  if (module == nullptr || !Verify(*module).ok()) return std::nullopt;
  built->module = std::move(module);
  built->exact_inputs.clear();
  return built;
}

}  // namespace assay
