// Joins the recipes of all families and draws among them by weight.
#include "fuzz/generator/recipes/recipes.h"

#include <algorithm>
#include <array>
#include <vector>

#include "fuzz/generator/recipes/bodies.h"

namespace assay {
namespace {

std::vector<Recipe> RecipesOfAllFamilies() {
  std::vector<Recipe> all;
  // A seed means a program by the order of the rows of each group: rows are added at the end of a
  // table, and tables keep their places.
  for (absl::Span<const Recipe> rows :
       {MovementRecipes(),      ElementwiseRecipes(), ReductionRecipes(), ContractionRecipes(),
        LinearAlgebraRecipes(), RandomRecipes(),      IndexingRecipes(),  SortingRecipes(),
        WindowRecipes(),        DynamicSizeRecipes(), ControlRecipes(),   LayoutRecipes(),
        CommunicationRecipes(), BaitRecipes(),        PairRecipes(),      GridRecipes(),
        LapackRecipes(),        EdgeRecipes(),        JointRecipes(),     ExactRecipes(),
        LibraryRecipes(),       FormRecipes(),        LayerRecipes()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

// Rows and weights of one group, of the ops that are defined.
struct GroupRows {
  std::vector<const Recipe*> rows;
  std::vector<int> all_weights, portable_weights;
};

std::array<GroupRows, kRecipeGroupCount> SplitByGroup() {
  std::array<GroupRows, kRecipeGroupCount> groups;
  for (const Recipe& recipe : AllRecipes()) {
    if (!Info(recipe.opcode).IsDefined()) continue;
    GroupRows& group = groups[static_cast<size_t>(recipe.group)];
    group.rows.push_back(&recipe);
    group.all_weights.push_back(recipe.weight);
    group.portable_weights.push_back(recipe.portable ? recipe.weight : 0);
  }
  return groups;
}

// The recipe on types that are not refused.
bool BuildOnTypes(Program& program, const Recipe& recipe) {
  const auto& refused = program.options().refused_types;
  const auto types = refused.find(recipe.name);
  if (types == refused.end()) return recipe.build(program, recipe.opcode) != nullptr;
  const std::bitset<kElementTypeCount> before = program.AvoidTypes(types->second);
  const bool is_built = recipe.build(program, recipe.opcode) != nullptr;
  program.AvoidTypes(before);
  return is_built;
}

bool Build(Program& program, const Recipe& recipe) {
  const int64_t before = program.scope().computation->instruction_count();
  const bool is_built = BuildOnTypes(program, recipe);
  if (is_built) SayBodiesInMoreWords(program, before);
  return is_built;
}

bool Takes(const GeneratorOptions& options, const Recipe& recipe) {
  return options.Takes(recipe.opcode) && !options.excluded_recipes.contains(recipe.name);
}

}  // namespace

absl::Span<const Recipe> AllRecipes() {
  static const auto& all = *new std::vector<Recipe>(RecipesOfAllFamilies());
  return all;
}

bool ApplyRecipe(Program& program, RecipeGroup group) {
  static const auto& groups = *new std::array<GroupRows, kRecipeGroupCount>(SplitByGroup());
  const GroupRows& from = groups[static_cast<size_t>(group)];
  if (from.rows.empty()) return false;
  const GeneratorOptions& options = program.options();
  const std::vector<int>& weights = options.portable ? from.portable_weights : from.all_weights;
  size_t at;
  // Some groups have nothing for compilers that are not ours.
  if (std::all_of(weights.begin(), weights.end(), [](int weight) { return weight == 0; }))
    return false;
  if (options.excluded_ops.none() && options.excluded_recipes.empty()) {
    at = program.choices().Weighted(weights);
  } else {
    std::vector<int> kept = weights;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (!Takes(options, *from.rows[i])) kept[i] = 0;
    }
    if (std::all_of(kept.begin(), kept.end(), [](int weight) { return weight == 0; })) return false;
    at = program.choices().Weighted(kept);
  }
  return Build(program, *from.rows[at]);
}

bool ApplyRecipeNumber(Program& program, size_t number) {
  const Recipe& recipe = AllRecipes()[number];
  const GeneratorOptions& options = program.options();
  const bool fits = Info(recipe.opcode).IsDefined() && recipe.weight > 0 &&
                    (recipe.portable || !options.portable) && Takes(options, recipe);
  return fits && Build(program, recipe);
}

int64_t Product(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

DimVector RandomPermutation(Choices& choices, int64_t rank) {
  DimVector permutation;
  for (int64_t i = 0; i < rank; ++i) permutation.push_back(i);
  if (rank >= 3 && choices.Percent(60)) {
    // Rotation: not its own inverse.
    int64_t by = choices.Range(1, rank - 1);
    std::rotate(permutation.begin(), permutation.begin() + by, permutation.end());
    return permutation;
  }
  for (int64_t i = rank - 1; i > 0; --i) {
    std::swap(permutation[i], permutation[choices.Draw(i + 1)]);
  }
  return permutation;
}

DimVector RandomSubset(Choices& choices, int64_t rank) {
  DimVector subset;
  for (int64_t i = 0; i < rank; ++i) {
    if (choices.Percent(45)) subset.push_back(i);
  }
  if (subset.empty() && rank > 0) subset.push_back(static_cast<int64_t>(choices.Draw(rank)));
  return subset;
}

}  // namespace assay
