// Recipes: how the generator makes one instruction, or a short pattern around one, from what a
// program holds already. Adding an op to Assay means adding a row here; a test names the defined
// ops without one.
//
// A recipe draws from the program's choices in separate statements only: the order in which a C++
// compiler evaluates arguments is its own business, and a program is a function of its seed.
#pragma once

#include "absl/types/span.h"
#include "fuzz/generator/program.h"

namespace assay {

enum class RecipeGroup : uint8_t {
  kIndex,
  kElementwise,
  kReduce,
  kDot,
  kControl,
  kLayout,
  kCommunication
};
inline constexpr int kRecipeGroupCount = 7;

// A value for Recipe::portable that reads well in the tables.
inline constexpr bool kNotPortable = false;

struct Recipe {
  Opcode opcode;          // the op that it is about; the function receives it
  std::string_view name;  // of the pattern, unique
  RecipeGroup group;
  int weight;  // within the group
  // Adds to the program's scope and returns the last array added; nullptr if it does not apply now
  // (nothing harmful was added).
  Instruction* (*build)(Program& program, Opcode opcode);
  bool portable = true;  // false: not for GeneratorOptions::portable
};

absl::Span<const Recipe> AllRecipes();

// One step of the given group; false if the recipe drawn did not apply.
bool ApplyRecipe(Program& program, RecipeGroup group);

// One step by the pattern of this number in AllRecipes; false if it does not apply, or is not for
// this program.
bool ApplyRecipeNumber(Program& program, size_t number);

// The rows, in the file of the family of the op: recipes_FAMILY.cc.
absl::Span<const Recipe> MovementRecipes();
absl::Span<const Recipe> DynamicSizeRecipes();  // recipes_movement.cc
absl::Span<const Recipe> LayoutRecipes();       // recipes_movement.cc
absl::Span<const Recipe> ElementwiseRecipes();
absl::Span<const Recipe> ReductionRecipes();
absl::Span<const Recipe> WindowRecipes();  // recipes_reduction.cc
absl::Span<const Recipe> ContractionRecipes();
absl::Span<const Recipe> LinearAlgebraRecipes();
absl::Span<const Recipe> RandomRecipes();
absl::Span<const Recipe> IndexingRecipes();
absl::Span<const Recipe> SortingRecipes();
absl::Span<const Recipe> ControlRecipes();
absl::Span<const Recipe> CommunicationRecipes();
absl::Span<const Recipe> BaitRecipes();
absl::Span<const Recipe> PairRecipes();
absl::Span<const Recipe> GridRecipes();
absl::Span<const Recipe> LapackRecipes();
absl::Span<const Recipe> EdgeRecipes();
absl::Span<const Recipe> JointRecipes();
absl::Span<const Recipe> ExactRecipes();
absl::Span<const Recipe> LibraryRecipes();
absl::Span<const Recipe> FormRecipes();
absl::Span<const Recipe> LayerRecipes();

// An array given as it is: larger than other arrays of the program (recipes_contraction.cc).
Instruction* LargeOperand(Program& program, ElementType type, const DimVector& dimensions);

// A reducer of two scalars of `type` and an initial value that fits it (recipes_reduction.cc).
struct Reducer {
  Computation* computation = nullptr;
  Instruction* init = nullptr;
};
Reducer MakeReducer(Program& program, ElementType type, int64_t reduced_elements);
Reducer MakeReducerOf(Program& program, Opcode opcode, ElementType type);

// A reducer of (value, place) pairs: the greatest or least value and its place; of equal values the
// one with the smaller place wins, NaN over all (recipes_reduction.cc).
Computation* ArgReducer(Program& program, ElementType type, ElementType index_type, bool greatest);

// The type in which frameworks accumulate values of a type of 8 or 16 bits; itself for all others
// (recipes_reduction.cc).
ElementType WiderType(ElementType type);

// The product of sizes that a program holds, which is small.
int64_t Product(absl::Span<const int64_t> sizes);

// A random permutation of 0..rank-1; 3-cycles and longer preferred.
DimVector RandomPermutation(Choices& choices, int64_t rank);
// A subset of 0..rank-1 in ascending order, not empty if rank > 0.
DimVector RandomSubset(Choices& choices, int64_t rank);

}  // namespace assay
