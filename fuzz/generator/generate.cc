// Draws themes, programs and inputs.
#include "fuzz/generator/generate.h"

#include <algorithm>
#include <array>

#include "fuzz/generator/recipes/recipes.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, kThemeCount> kThemeNames = {
    "index", "control", "reduce", "elementwise", "dot", "rare", "large"};
constexpr std::array<int, kThemeCount> kThemeShares = {35, 16, 13, 16, 14, 5, 1};

// Per theme, weights of the recipe groups: index, elementwise, reduce, dot, control, layout,
// communication.
constexpr std::array<std::array<int, kRecipeGroupCount>, kThemeCount> kGroupWeights = {{
    {86, 8, 2, 0, 1, 3, 1},
    {25, 22, 5, 2, 44, 2, 1},
    {16, 20, 60, 2, 1, 1, 1},
    {10, 80, 3, 1, 2, 4, 1},
    {12, 16, 10, 60, 1, 1, 1},
    {34, 20, 14, 12, 4, 16, 6},
    {45, 25, 20, 8, 2, 0, 0},
}};

using T = ElementType;

// So many programs of a hundred have one of the rare types.
constexpr int kRarePercent = 16;
constexpr int kRarePercentOfOwn = 7;

std::vector<ElementType> DrawPalette(Choices& choices, Theme theme, bool portable) {
  // Computed types in the order of ComputedTypes(): s32 f32 u8 s8 u32 s64 u64 s16 u16 pred f64 f16
  // bf16.
  constexpr std::array<std::array<int, 13>, kThemeCount> kWeights = {{
      {40, 10, 9, 8, 6, 6, 3, 4, 3, 5, 3, 2, 2},
      {34, 20, 5, 6, 6, 6, 3, 4, 3, 4, 5, 2, 3},
      {22, 22, 6, 6, 5, 5, 4, 4, 3, 6, 6, 5, 6},
      {12, 22, 6, 6, 6, 6, 5, 5, 4, 5, 9, 7, 8},
      {20, 30, 5, 6, 3, 4, 2, 3, 2, 1, 9, 7, 9},
      {18, 20, 6, 6, 5, 5, 4, 5, 4, 5, 8, 7, 7},
      {40, 30, 4, 4, 4, 4, 2, 2, 2, 2, 4, 2, 2},
  }};
  const auto& weights = kWeights[static_cast<size_t>(theme)];
  std::vector<ElementType> palette;
  int64_t count = static_cast<int64_t>(choices.Weighted({62, 30, 8})) + 1;
  for (int64_t i = 0; i < count; ++i) palette.push_back(ComputedTypes()[choices.Weighted(weights)]);
  if (choices.Percent(portable ? kRarePercent : kRarePercentOfOwn)) {
    // The contract fixes how others compute with this type for scales alone; here it is a type like
    // any other.
    constexpr ElementType kScale = ElementType::kF8E8M0FNU;
    const bool is_scale = !portable && choices.Percent(5);
    palette[0] =
        is_scale ? kScale
                 : RareTypes()[choices.Weighted({5, 4, 4, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1})];
  }
  return palette;
}

SizeStyle DrawSizeStyle(Choices& choices, Theme theme, bool portable) {
  if (theme == Theme::kLarge) return SizeStyle::kLarge;
  // Compilers elsewhere cost so much per program that large arrays are nearly free.
  constexpr int kLargePercent = 30;
  if (portable && choices.Percent(kLargePercent)) return SizeStyle::kLarge;
  bool rare = theme == Theme::kRare;
  return static_cast<SizeStyle>(choices.Weighted({57, 24, 8, rare ? 40 : 4, 0, 7}));
}

// Most programs are judged exactly or nearly so; a minority walks the edges of its types.
ValueFamily DrawProgramFamily(Choices& choices, Theme theme) {
  bool wild = theme == Theme::kElementwise || theme == Theme::kIndex;
  return static_cast<ValueFamily>(
      choices.Weighted({6, 54, wild ? 14 : 8, wild ? 10 : 4, 4, 8, 1, 2}));
}

// The number of steps is such that half of the programs stay within eight instructions; elsewhere
// half of them have one, for the same reason.
int64_t DrawSteps(Choices& choices, bool portable) {
  if (portable) {
    constexpr int kOnePercent = 73;
    if (choices.Percent(kOnePercent)) return 1;
    return choices.Percent(75) ? choices.Range(2, 3) : choices.Range(4, 9);
  }
  switch (choices.Weighted({78, 16, 5, 1})) {
    case 0:
      return choices.Range(1, 3);
    case 1:
      return choices.Range(3, 5);
    case 2:
      return choices.Range(5, 9);
    default:
      return choices.Range(10, 20);
  }
}

// A value is telling if it has several elements that may differ.
bool IsTelling(const Program& program, const Instruction* value) {
  return value->shape().ElementCount() >= 4 && !program.IsUniform(value) &&
         !IsPred(value->shape().element_type());
}

std::vector<Instruction*> DrawOutputs(Program& program) {
  Choices& choices = program.choices();
  const std::vector<Instruction*>& values = program.scope().values;
  // Values without users, those of them that are telling, and all telling values; latest first.
  std::vector<Instruction*> ends, telling_ends, telling;
  for (size_t i = values.size(); i-- > 0;) {
    if (values[i]->opcode() == Opcode::kParameter) continue;
    bool tells = IsTelling(program, values[i]);
    if (tells) telling.push_back(values[i]);
    if (values[i]->users().empty()) (tells ? telling_ends : ends).push_back(values[i]);
  }
  // Telling ones first, or in plain order.
  bool telling_first = choices.Percent(90);
  ends.insert(ends.begin(), telling_ends.begin(), telling_ends.end());
  if (!telling_first) {
    std::sort(ends.begin(), ends.end(),
              [](const Instruction* a, const Instruction* b) { return a->id() > b->id(); });
  }
  size_t wanted = choices.Weighted({24, 46, 30}) + 1;
  std::vector<Instruction*> outputs;
  for (Instruction* end : ends) {
    if (outputs.size() < wanted) outputs.push_back(end);
  }
  bool any = std::any_of(outputs.begin(), outputs.end(),
                         [&](Instruction* output) { return IsTelling(program, output); });
  // An intermediate that shows something beside outputs that do not.
  if (!any && !telling.empty() && choices.Percent(95))
    outputs.push_back(telling[choices.Draw(telling.size())]);
  // Intermediates, or a value twice, now and then; something in any case.
  while (outputs.empty() || (outputs.size() < wanted && choices.Percent(75))) {
    const std::vector<Instruction*>& from = telling.empty() ? values : telling;
    outputs.push_back(from[choices.Draw(from.size())]);
  }
  // Later steps may have turned a wrong value into zeros, so an early intermediate (the last ones
  // of `telling`) becomes a result, too.
  if (telling.size() > 1 && choices.Percent(80)) {
    const size_t half = telling.size() / 2;
    outputs.push_back(telling[half + choices.Draw(telling.size() - half)]);
  }
  for (Instruction* shown : program.shown()) {
    if (std::find(outputs.begin(), outputs.end(), shown) == outputs.end()) outputs.push_back(shown);
  }
  return outputs;
}

void SetRoot(Program& program) {
  std::vector<Instruction*> outputs = DrawOutputs(program);
  bool tuple = outputs.size() > 1 || program.choices().Percent(35);
  if (!program.options().Takes(Opcode::kTuple)) tuple = false;
  Instruction* root = tuple ? program.Tuple(outputs) : outputs[0];
  program.scope().computation->set_root(root);
}

using FixedInputs = std::map<int64_t, Program::FixedInput>;

// Removes what no output needs; the fixed inputs follow the numbers of their parameters.
FixedInputs Prune(Module& module, FixedInputs fixed) {
  for (Computation* computation : module.computations()) RemoveDeadInstructions(*computation);
  module.RemoveUnusedComputations().IgnoreError();
  Computation* entry = module.entry();
  for (int64_t number = entry->parameter_count() - 1; number >= 0; --number) {
    Instruction* parameter = entry->parameter(number);
    if (!parameter->users().empty() || parameter == entry->root()) continue;
    entry->RemoveParameter(number);
    FixedInputs shifted;
    for (auto& [at, value] : fixed) {
      if (at != number) shifted.emplace(at > number ? at - 1 : at, std::move(value));
    }
    fixed = std::move(shifted);
  }
  return fixed;
}

std::vector<Literal> DrawInputs(Program& program, const Computation& entry,
                                const FixedInputs& fixed, bool exact) {
  std::vector<Literal> inputs;
  for (Instruction* parameter : entry.parameters()) {
    auto given = fixed.find(parameter->parameter_number());
    if (given != fixed.end() && (given->second.stays || !exact)) {
      inputs.push_back(given->second.value);
      continue;
    }
    ValueFamily family = exact ? ValueFamily::kExact : program.DrawFamily();
    inputs.push_back(LiteralOfFamily(parameter->shape(), family, program.choices()));
  }
  return inputs;
}

// Some programs lend results the memory of parameters of the same shape, which changes no value of
// theirs. It is drawn last, so that it is the same program that lends or does not.
void LendParameters(Choices& choices, Module& module) {
  constexpr int kKeepPercent = 75;
  if (choices.Percent(kKeepPercent)) return;
  const Computation& entry = *module.entry();
  std::vector<bool> is_lent(static_cast<size_t>(entry.parameter_count()));
  ForEachLeaf(entry.root()->shape(), [&](const Shape& leaf, absl::Span<const int64_t> index) {
    for (const Instruction* parameter : entry.parameters()) {
      const int64_t number = parameter->parameter_number();
      if (is_lent[static_cast<size_t>(number)] || !leaf.IsArray() || parameter->shape() != leaf) {
        continue;
      }
      is_lent[static_cast<size_t>(number)] = true;
      module.config().input_output_alias.push_back(
          {Int64List(index.begin(), index.end()), number, {}, false});
      return;
    }
  });
}

// Few programs come with an order in which their instructions are to run. Compilers choose their
// own; it is what else they do with such a module that is looked at.
void DrawSchedule(Choices& choices, Module& module) {
  constexpr int kScheduledPercent = 3;
  if (!choices.Percent(kScheduledPercent)) return;
  module.set_schedule(Schedule::FromStoredOrder(module)).IgnoreError();
}

// The numbers of the patterns that programs for other compilers may have.
const std::vector<size_t>& PortablePatterns() {
  static const auto& numbers = *new std::vector<size_t>([] {
    std::vector<size_t> portable;
    for (size_t i = 0; i < AllRecipes().size(); ++i) {
      const Recipe& recipe = AllRecipes()[i];
      if (recipe.portable && recipe.weight > 0 && Info(recipe.opcode).IsDefined())
        portable.push_back(i);
    }
    return portable;
  }());
  return numbers;
}

// Two to four patterns, each on the value that was made last: any pattern may follow any other. The
// first two are the pair that was asked for, if any.
void Chain(Program& program) {
  Choices& choices = program.choices();
  const std::vector<size_t>& patterns = PortablePatterns();
  const uint64_t count = patterns.size(), pairs = count * count;
  const std::optional<uint64_t> asked = program.options().pair;
  const uint64_t pair =
      asked.has_value() ? choices.Given(*asked % pairs, pairs) : choices.Draw(pairs);
  int64_t links = choices.Weighted({60, 25, 15}) + 2;
  uint64_t number = 0;
  for (int64_t tries = 8 * links; links > 0 && tries > 0 && !program.Exhausted(); --tries) {
    const size_t next = number == 0   ? pair / count
                        : number == 1 ? pair % count
                                      : choices.Draw(count);
    ++number;
    if (!program.scope().values.empty()) program.ChainNext();
    if (ApplyRecipeNumber(program, patterns[next])) --links;
  }
}

// Several replicas, several partitions, or both.
void DrawDevices(Program& program) {
  Choices& choices = program.choices();
  switch (choices.Weighted({5, 3, 2})) {
    case 0:
      return program.set_devices(choices.Range(2, 4), 1);
    case 1:
      return program.set_devices(1, choices.Range(2, 4));
    default:
      return program.set_devices(choices.Range(2, 3), 2);
  }
}

// Steps of the theme; on several devices, half of them are what these do together.
void Compose(Program& program, Theme theme, int64_t steps) {
  std::array<int, kRecipeGroupCount> weights = kGroupWeights[static_cast<size_t>(theme)];
  constexpr int kAllOthers = 100;
  if (program.devices() > 1) weights[static_cast<size_t>(RecipeGroup::kCommunication)] = kAllOthers;
  Choices& choices = program.choices();
  // A recipe that does not apply costs a step of twice as many tries.
  for (int64_t tries = 2 * steps; steps > 0 && tries > 0 && !program.Exhausted(); --tries) {
    if (ApplyRecipe(program, static_cast<RecipeGroup>(choices.Weighted(weights)))) --steps;
  }
}

std::vector<const Literal*> Pointers(const std::vector<Literal>& literals) {
  std::vector<const Literal*> pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  return pointers;
}

Literal RandomOfAnyShape(const Shape& shape, ValueFamily family, Choices& choices) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) {
      elements.push_back(RandomOfAnyShape(element, family, choices));
    }
    return Literal::Tuple(std::move(elements));
  }
  Shape plain = Shape::Array(shape.element_type(), shape.dimensions());
  bool index = plain.IsScalar() && IsInteger(plain.element_type());
  return LiteralOfFamily(plain, index ? ValueFamily::kOrdinary : family, choices);
}

}  // namespace

std::string_view Name(Theme theme) { return kThemeNames[static_cast<size_t>(theme)]; }

std::vector<const Literal*> Case::Arguments() const { return Pointers(inputs); }
std::vector<const Literal*> Case::ExactArguments() const { return Pointers(exact_inputs); }

Case GenerateFrom(Choices& choices, const GeneratorOptions& options) {
  Case result;
  result.theme = static_cast<Theme>(choices.Weighted(kThemeShares));
  Program program(choices, options);
  const bool portable = options.portable;
  program.set_palette(DrawPalette(choices, result.theme, portable));
  program.set_size_style(DrawSizeStyle(choices, result.theme, portable));
  program.set_family(DrawProgramFamily(choices, result.theme));
  program.set_constant_percent(portable ? choices.Pick({0, 0, 0, 0, 0, 0, 50, 100})
                                        : choices.Pick({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 100}));
  constexpr int kBodyPercent = 6;
  program.set_body_percent(kBodyPercent);
  constexpr int kSquarePercent = 12;
  program.set_square(choices.Percent(kSquarePercent));
  constexpr int kSeveralDevicesPercent = 4;
  const bool knows_devices =
      options.Takes(Opcode::kReplicaId) && options.Takes(Opcode::kPartitionId);
  if (!portable && knows_devices && choices.Percent(kSeveralDevicesPercent)) DrawDevices(program);
  constexpr uint64_t kChainOf = 10, kChains = 3;
  const bool is_drawn = portable && !options.counts_pairs;
  const bool chains = portable && (is_drawn ? choices.Draw(kChainOf)
                                            : choices.Given(options.pair.has_value() ? 0 : kChains,
                                                            kChainOf)) < kChains;
  if (chains) {
    Chain(program);
  } else {
    Compose(program, result.theme, DrawSteps(choices, portable));
  }
  if (program.scope().values.empty()) program.Operand(kI);
  SetRoot(program);
  FixedInputs fixed = program.fixed_inputs();
  Module& module = program.module();
  if (!choices.Percent(8)) fixed = Prune(module, std::move(fixed));
  result.inputs = DrawInputs(program, *module.entry(), fixed, false);
  result.exact_inputs = DrawInputs(program, *module.entry(), fixed, true);
  if (!portable) {
    LendParameters(choices, module);
    DrawSchedule(choices, module);
  }
  result.module = program.TakeModule();
  result.choices = choices.recording();
  return result;
}

std::unique_ptr<Module> ProgramOf(absl::Span<const std::string_view> recipes, ElementType type,
                                  uint64_t seed, const GeneratorOptions& options) {
  GeneratorOptions portable = options;
  portable.portable = true;
  Choices choices = Choices::FromSeed(seed);
  Program program(choices, portable);
  program.set_palette({type});
  const absl::Span<const Recipe> all = AllRecipes();
  std::vector<Instruction*> outputs;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool wanted = std::find(recipes.begin(), recipes.end(), all[i].name) != recipes.end();
    if (!wanted || !ApplyRecipeNumber(program, i)) continue;
    outputs.push_back(program.scope().values.back());
  }
  if (outputs.empty()) return nullptr;
  // Not every compiler gives several results.
  program.scope().computation->set_root(outputs.size() == 1 ? outputs[0] : program.Tuple(outputs));
  Prune(program.module(), {});
  return program.TakeModule();
}

std::optional<Case> CaseOfPattern(const PatternRequest& request, const GeneratorOptions& options) {
  // A portable pattern gets portable surroundings.
  GeneratorOptions taken = options;
  taken.portable = AllRecipes()[request.recipe].portable;
  Choices choices = Choices::FromSeed(request.seed);
  Program program(choices, taken);
  program.set_palette({request.type});
  program.set_size_style(request.sizes);
  program.set_family(request.family);
  if (!ApplyRecipeNumber(program, request.recipe)) return std::nullopt;
  program.scope().computation->set_root(program.scope().values.back());
  const FixedInputs fixed = Prune(program.module(), program.fixed_inputs());
  Case result;
  result.inputs = DrawInputs(program, *program.module().entry(), fixed, false);
  result.exact_inputs = DrawInputs(program, *program.module().entry(), fixed, true);
  result.module = program.TakeModule();
  result.choices = choices.recording();
  return result;
}

namespace {

Case GenerateOnce(uint64_t seed, uint64_t index, uint64_t draw, const GeneratorOptions& options) {
  const uint64_t mixed = MixSeeds(seed, index);
  Choices choices = Choices::FromSeed(draw == 0 ? mixed : MixSeeds(mixed, draw));
  if (!options.portable) return GenerateFrom(choices, options);
  // Three programs of ten are pairs. A stride without a factor in common with the number of pairs
  // keeps neighbours apart; where it begins is the seed's affair.
  constexpr uint64_t kOf = 10, kPairs = 3, kEvery = 4, kStride = 1000003;
  constexpr uint64_t kStarts = uint64_t{1} << 40;
  GeneratorOptions counted = options;
  counted.counts_pairs = true;
  const uint64_t number = index / kOf * kPairs + index % kOf / kEvery;
  const bool is_pair = index % kOf % kEvery == 0 && draw == 0;
  if (is_pair) counted.pair = MixSeeds(seed, 0) % kStarts + number * kStride;
  return GenerateFrom(choices, counted);
}

}  // namespace

// A compiler that is not ours may also refuse what recipes put around their op: such a program is
// drawn again.
Case GenerateCase(uint64_t seed, uint64_t index, const GeneratorOptions& options) {
  constexpr uint64_t kMostDraws = 200;
  Case result = GenerateOnce(seed, index, 0, options);
  if (!options.portable) return result;
  for (uint64_t draw = 1; draw < kMostDraws && !IsTaken(*result.module, options); ++draw) {
    result = GenerateOnce(seed, index, draw, options);
  }
  return result;
}

std::vector<Literal> RandomInputs(const Module& module, ValueFamily family, Choices& choices) {
  std::vector<Literal> inputs;
  for (Instruction* parameter : module.entry()->parameters()) {
    inputs.push_back(RandomOfAnyShape(parameter->shape(), family, choices));
  }
  return inputs;
}

}  // namespace assay
