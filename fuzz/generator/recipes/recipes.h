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

// Of Recipe::portable.
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

// The rows of each group, in the file of the same name.
absl::Span<const Recipe> IndexRecipes();
absl::Span<const Recipe> ElementwiseRecipes();
absl::Span<const Recipe> ReduceRecipes();
absl::Span<const Recipe> DotRecipes();
absl::Span<const Recipe> LinearRecipes();
absl::Span<const Recipe> ControlRecipes();
absl::Span<const Recipe> LayoutRecipes();
absl::Span<const Recipe> CommunicationRecipes();

// A reducer of two scalars of `type` and an initial value that fits it (recipes_reduce.cc).
struct Reducer {
  Computation* computation = nullptr;
  Instruction* init = nullptr;
};
Reducer MakeReducer(Program& program, ElementType type, int64_t reduced_elements);
Reducer MakeReducerOf(Program& program, Opcode opcode, ElementType type);

// The type in which frameworks accumulate values of a type of 8 or 16 bits; itself for all others
// (recipes_reduce.cc).
ElementType WiderType(ElementType type);

// A random permutation of 0..rank-1; 3-cycles and longer preferred.
DimVector RandomPermutation(Choices& choices, int64_t rank);
// A subset of 0..rank-1 in ascending order, not empty if rank > 0.
DimVector RandomSubset(Choices& choices, int64_t rank);

}  // namespace assay
