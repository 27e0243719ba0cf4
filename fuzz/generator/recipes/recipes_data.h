// Rows of recipes_data.cc, of the groups kIndex and kReduce.
#pragma once

#include "fuzz/generator/recipes/recipes.h"

namespace assay {

absl::Span<const Recipe> DataRecipes();

}  // namespace assay
