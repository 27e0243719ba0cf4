// Cases: a verified module with inputs, as a function of a seed and an index alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fuzz/choices.h"
#include "fuzz/generator/program.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

// The main subject of a program; shares follow the starting weights of the generator's
// requirements.
enum class Theme : uint8_t { kIndex, kControl, kReduce, kElementwise, kDot, kRare, kLarge };
inline constexpr int kThemeCount = 7;
std::string_view Name(Theme theme);

struct Case {
  std::unique_ptr<Module> module;
  std::vector<Literal> inputs;        // in parameter order
  std::vector<Literal> exact_inputs;  // a second set on which every legal order of float operations
                                      // gives the same bits
  Theme theme = Theme::kIndex;
  std::vector<uint64_t>
      choices;  // the recording: Choices::FromRecording(choices) gives the case again

  std::vector<const Literal*> Arguments() const;
  std::vector<const Literal*> ExactArguments() const;
};

Case GenerateCase(uint64_t seed, uint64_t index, const GeneratorOptions& options = {});
// From any source of choices: mutated recordings, libFuzzer bytes, RapidCheck.
Case GenerateFrom(Choices& choices, const GeneratorOptions& options = {});

// A small program of the given patterns (Recipe::name), each on fresh operands of `type` where it
// takes that; nullptr if none of them applies alone.
std::unique_ptr<Module> ProgramOf(absl::Span<const std::string_view> recipes, ElementType type,
                                  uint64_t seed, const GeneratorOptions& options = {});

// One pattern on one element type, with sizes and inputs of one style.
struct PatternRequest {
  size_t recipe = 0;  // its number in AllRecipes
  ElementType type = ElementType::kF32;
  SizeStyle sizes = SizeStyle::kSmall;
  ValueFamily family = ValueFamily::kOrdinary;
  uint64_t seed = 0;
};
// nullopt if the pattern does not apply there. Its result is the program's.
std::optional<Case> CaseOfPattern(const PatternRequest& request,
                                  const GeneratorOptions& options = {});

// New inputs for any module, in the given family: for re-checks, and for modules that were not
// generated. Scalar integer parameters keep small values whatever the family, since most of them
// are indices.
std::vector<Literal> RandomInputs(const Module& module, ValueFamily family, Choices& choices);

}  // namespace assay
