// Compiles what a campaign will be made of.
#include "fuzz/peers/probe.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "fuzz/choices.h"
#include "fuzz/generator/generate.h"
#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/peers/pack.h"
#include "fuzz/peers/refusals.h"
#include "fuzz/triage/signature.h"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"
#include "spec/process/cpu_time.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// These are of the processor's time, as on a busy machine the clock on the wall says little; and of
// that clock, for what sleeps.
constexpr double kMostSeconds = 300;
// Compilers use more of a machine of many cores at once.
double MostCpuSeconds() { return std::max(120.0, 15.0 * std::thread::hardware_concurrency()); }
constexpr double kCompileSeconds = 20;
constexpr size_t kTogether = 16;  // questions that are compiled as one
constexpr size_t kFewWithADeath = 4;

enum class Answer : uint8_t { kTaken, kUnsupported, kRejected, kOther };

struct Question {
  std::unique_ptr<Module> module;
  ElementType type;
  Opcode opcode;
  const Recipe* recipe = nullptr;  // nullptr: about the op on the type, and nothing else
  Answer answer = Answer::kTaken;

  bool IsRefused() const { return answer == Answer::kUnsupported || answer == Answer::kRejected; }
};

// The ops that all programs are made of, and those that a compiler of few ops may have. In the
// order in which a type is tried on them.
constexpr Opcode kPlainOps[] = {
    Opcode::kReverse,     Opcode::kCopy,    Opcode::kAdd,       Opcode::kMultiply,
    Opcode::kNegate,      Opcode::kDot,     Opcode::kMaximum,   Opcode::kAnd,
    Opcode::kSubtract,    Opcode::kDivide,  Opcode::kTanh,      Opcode::kExponential,
    Opcode::kNot,         Opcode::kReshape, Opcode::kBroadcast, Opcode::kTranspose,
    Opcode::kConcatenate, Opcode::kSlice,   Opcode::kPad,       Opcode::kSelect,
    Opcode::kCompare,     Opcode::kConvert, Opcode::kConstant,  Opcode::kIota,
    Opcode::kTuple};

constexpr ElementType kAskedTypes[] = {
    ElementType::kF32, ElementType::kF64,  ElementType::kF16, ElementType::kBF16,
    ElementType::kC64, ElementType::kC128, ElementType::kS32, ElementType::kF8E4M3FN,
    ElementType::kS4,  ElementType::kS16,  ElementType::kPred};

// Asks a compiler many questions in few compilations.
class Asker {
 public:
  Asker(Backend& backend, std::map<std::string, std::string> flags) : backend_(backend) {
    compile_.limits.seconds = kCompileSeconds;
    compile_.flags = std::move(flags);
  }

  // With `joins`, several as one where that is possible.
  void Ask(std::vector<Question>& questions, bool joins) {
    std::vector<Question*> together;
    for (Question& question : questions) {
      if (!joins || !CanBeJoined(*question.module)) {
        AskTogether({&question});
        continue;
      }
      together.push_back(&question);
      if (together.size() == kTogether) AskTogether(std::exchange(together, {}));
    }
    AskTogether(std::move(together));
  }
  // Some questions were not asked any more, for lack of time.
  bool gave_up() const { return gave_up_; }
  int64_t compilations() const { return compilations_; }
  // The words about the first program that was not taken.
  const std::string& first_words() const { return first_words_; }
  double seconds() const { return Now() - start_; }

 private:
  // Halves what is not taken as a whole until it is known who is to blame.
  void AskTogether(std::vector<Question*> questions) {
    if (questions.empty()) return;
    std::vector<const Module*> modules;
    for (const Question* question : questions) modules.push_back(question->module.get());
    const bool is_one = questions.size() == 1;
    const Answer answer = AskAbout(is_one ? *modules[0] : *JoinModules(modules));
    if (is_one) questions[0]->answer = answer;
    if (is_one || answer == Answer::kTaken) return;
    // Who dies of a question is asked again in another process, which takes long; it is no refusal,
    // and one may hide beside it.
    if (answer == Answer::kOther && questions.size() <= kFewWithADeath) return;
    const auto middle = questions.begin() + static_cast<std::ptrdiff_t>(questions.size() / 2);
    AskTogether({questions.begin(), middle});
    AskTogether({middle, questions.end()});
  }

  Answer AskAbout(const Module& module) {
    const bool is_late =
        Now() - start_ > kMostSeconds || CpuSecondsOfTree(getpid()) - cpu_start_ > MostCpuSeconds();
    if (is_late) {
      gave_up_ = true;
      return Answer::kTaken;
    }
    ++compilations_;
    const absl::Status status = backend_.Compile(module, compile_).status();
    if (status.ok()) return Answer::kTaken;
    if (first_words_.empty()) first_words_ = ToStd(status.message());
    switch (ClassOf(status)) {
      case ErrorClass::kUnsupported:
        return Answer::kUnsupported;
      case ErrorClass::kRejected:
        return Answer::kRejected;
      default:
        return Answer::kOther;
    }
  }

  Backend& backend_;
  CompileOptions compile_;
  double start_ = Now(), cpu_start_ = CpuSecondsOfTree(getpid());
  int64_t compilations_ = 0;
  std::string first_words_;
  bool gave_up_ = false;
};

// The op on new parameters.
Instruction* AddPlain(Opcode opcode, ElementType type, Program& program) {
  const Shape shape = Shape::Array(type, {3}), scalar = Shape::Scalar(type);
  const auto operand = [&] { return program.Parameter(shape); };
  switch (opcode) {
    case Opcode::kReverse:
      return program.Reverse(operand(), {0});
    case Opcode::kDot: {
      Attributes attributes;
      attributes.Set(Attr::kLhsContractingDims, {0});
      attributes.Set(Attr::kRhsContractingDims, {0});
      return program.Emit(opcode, scalar, {operand(), operand()}, std::move(attributes));
    }
    case Opcode::kReshape:
      return program.Reshape(operand(), {3, 1});
    case Opcode::kBroadcast:
      return program.Splat(program.Parameter(scalar), {3});
    case Opcode::kTranspose:
      return program.Transpose(program.Parameter(Shape::Array(type, {2, 3})), {1, 0});
    case Opcode::kConcatenate:
      return program.Concatenate({operand(), operand()}, 0);
    case Opcode::kSlice:
      return program.Slice(operand(), {{1, 3, 1}});
    case Opcode::kPad:
      return program.Pad(operand(), program.Parameter(scalar), {{1, 1, 0}});
    case Opcode::kSelect:
      return program.Select(program.Parameter(Shape::Array(ElementType::kPred, {3})), operand(),
                            operand());
    case Opcode::kCompare:
      return program.Compare(Direction::kEq, operand(), operand());
    case Opcode::kConvert:
      return program.Convert(operand(),
                             type == ElementType::kF32 ? ElementType::kS32 : ElementType::kF32);
    case Opcode::kConstant:
      return program.Constant(Literal(shape));
    case Opcode::kIota:
      return program.Iota(shape, 0);
    case Opcode::kTuple:
      return program.Tuple({operand(), operand()});
    case Opcode::kCopy:
    case Opcode::kNegate:
    case Opcode::kTanh:
    case Opcode::kExponential:
    case Opcode::kNot:
      return program.Unary(opcode, operand());
    default:
      return program.Binary(opcode, operand(), operand());
  }
}

// The op alone, on arrays of the type; nullptr where it does not take the type.
std::unique_ptr<Module> PlainProgram(Opcode opcode, ElementType type) {
  if (opcode != Opcode::kTuple && opcode != Opcode::kConstant && !Admits(opcode, type)) {
    return nullptr;
  }
  GeneratorOptions options;
  options.portable = true;
  Choices choices = Choices::FromSeed(1);
  Program program(choices, options);
  program.scope().computation->set_root(AddPlain(opcode, type, program));
  std::unique_ptr<Module> module = program.TakeModule();
  return Verify(*module).ok() ? std::move(module) : nullptr;
}

// The op on each of the types that it takes.
std::vector<Question> QuestionsOnOp(Opcode opcode, absl::Span<const ElementType> types) {
  std::vector<Question> questions;
  for (const ElementType type : types) {
    if (std::unique_ptr<Module> module = PlainProgram(opcode, type); module != nullptr)
      questions.push_back({std::move(module), type, opcode});
  }
  return questions;
}

std::vector<ElementType> AllTypes() {
  std::vector<ElementType> types(ComputedTypes().begin(), ComputedTypes().end());
  types.insert(types.end(), RareTypes().begin(), RareTypes().end());
  return types;
}

// Tells the types that are taken, each by the first op that is taken on it, from the rest, and
// which of the plain ops are. A compiler without an op refuses it on every type, which says nothing
// of the types.
class PlainProbe {
 public:
  explicit PlainProbe(Asker& asker) : asker_(asker) {}

  void Run(GeneratorOptions& options) {
    for (const Opcode opcode : kPlainOps) AskTypes(opcode);
    for (const ElementType type : AllTypes()) {
      if (!taken_types_.contains(type) && !unclear_types_.contains(type))
        options.excluded_types.set(static_cast<size_t>(type));
    }
    AskTheRest(options);
    for (const Opcode opcode : kPlainOps) {
      if (refused_ops_.contains(opcode) && !taken_ops_.contains(opcode))
        options.excluded_ops.set(static_cast<size_t>(opcode));
    }
  }
  bool IsAnyTaken() const { return !taken_types_.empty() || !unclear_types_.empty(); }

 private:
  void Take(const std::vector<Question>& questions) {
    for (const Question& question : questions) {
      if (question.answer == Answer::kTaken) {
        taken_types_.insert(question.type);
        taken_ops_.insert(question.opcode);
      } else if (question.IsRefused()) {
        refused_ops_.insert(question.opcode);
      } else {
        unclear_types_.insert(question.type);  // it may be the type that a compiler dies of
      }
    }
    // An op that is taken on another type says something of those on which it is not.
    for (const Question& question : questions) {
      if (question.IsRefused() && taken_ops_.contains(question.opcode)) ++refusals_[question.type];
    }
  }

  void AskTypes(Opcode opcode) {
    constexpr int kEnoughRefusals = 3;
    std::vector<ElementType> open;
    for (const ElementType type : AllTypes()) {
      if (!taken_types_.contains(type) && refusals_[type] < kEnoughRefusals) open.push_back(type);
    }
    std::vector<Question> questions = QuestionsOnOp(opcode, open);
    asker_.Ask(questions, /*joins=*/true);
    Take(questions);
  }

  // The plain ops that nobody needed to ask about yet, on some types that are taken.
  void AskTheRest(const GeneratorOptions& options) {
    constexpr size_t kMostTypes = 4;
    std::vector<Question> questions;
    for (const Opcode opcode : kPlainOps) {
      if (taken_ops_.contains(opcode)) continue;
      std::vector<ElementType> types;
      for (const ElementType type : AllTypes()) {
        const bool is_asked = options.Takes(type) && types.size() < kMostTypes;
        if (is_asked && PlainProgram(opcode, type) != nullptr) types.push_back(type);
      }
      std::vector<Question> more = QuestionsOnOp(opcode, types);
      std::move(more.begin(), more.end(), std::back_inserter(questions));
    }
    asker_.Ask(questions, /*joins=*/true);
    Take(questions);
  }

  Asker& asker_;
  std::set<ElementType> taken_types_, unclear_types_;
  std::set<Opcode> taken_ops_, refused_ops_;
  std::map<ElementType, int> refusals_;  // of ops that are taken on other types
};

// True if the op takes or gives an array of the type.
bool Has(const Module& module, Opcode opcode, ElementType type) {
  for (const Instruction* at : *module.entry()) {
    if (at->opcode() != opcode) continue;
    bool has = at->shape().IsArray() && at->shape().element_type() == type;
    for (const Instruction* operand : at->operands()) {
      has |= operand->shape().IsArray() && operand->shape().element_type() == type;
    }
    if (has) return true;
  }
  return false;
}

// Types that recipes are asked on: usual ones, or of a compiler that takes none of them others.
std::vector<ElementType> TypesToAsk(const GeneratorOptions& options) {
  constexpr size_t kFew = 3;
  std::vector<ElementType> types;
  for (const ElementType type : kAskedTypes) {
    if (options.Takes(type)) types.push_back(type);
  }
  if (!types.empty()) return types;
  for (const ElementType type : AllTypes()) {
    if (options.Takes(type) && types.size() < kFew) types.push_back(type);
  }
  return types;
}

// A small program of the recipe on the type of which the plain parts are taken, from one of the
// seeds from `seed` on; nullptr if there is none.
std::unique_ptr<Module> TakenProgramOf(const Recipe& recipe, ElementType type, uint64_t seed,
                                       const GeneratorOptions& options) {
  constexpr uint64_t kSeeds = 8;
  for (uint64_t i = 0; i < kSeeds; ++i) {
    std::unique_ptr<Module> module = ProgramOf({&recipe.name, 1}, type, seed + i * 100, options);
    const bool is_good =
        module != nullptr && Has(*module, recipe.opcode, type) && Verify(*module).ok();
    if (is_good && IsTaken(*module, options)) return module;
  }
  return nullptr;
}

// One small program per pattern and type to which the pattern applies.
std::vector<Question> QuestionsOnRecipes(const std::vector<const Recipe*>& recipes,
                                         const GeneratorOptions& options, uint64_t seed) {
  std::vector<Question> questions;
  for (const Recipe* recipe : recipes) {
    for (const ElementType type : TypesToAsk(options)) {
      std::unique_ptr<Module> module = TakenProgramOf(*recipe, type, seed, options);
      if (module != nullptr) questions.push_back({std::move(module), type, recipe->opcode, recipe});
    }
  }
  return questions;
}

// Recipes of which every program has something that is not taken.
void ExcludeThoseWithout(const std::vector<Question>& questions,
                         const std::vector<const Recipe*>& recipes, GeneratorOptions& options) {
  if (options.excluded_ops.none()) return;
  std::set<const Recipe*> asked;
  for (const Question& question : questions) asked.insert(question.recipe);
  for (const Recipe* recipe : recipes) {
    if (!asked.contains(recipe)) options.excluded_recipes.emplace(recipe->name);
  }
}

std::vector<const Recipe*> AskableRecipes() {
  std::vector<const Recipe*> recipes;
  for (const Recipe& recipe : AllRecipes()) {
    if (recipe.portable && Info(recipe.opcode).IsDefined()) recipes.push_back(&recipe);
  }
  return recipes;
}

using Types = std::bitset<kElementTypeCount>;

// Notes the types of which no program of a pattern was taken, or all of the pattern.
void NoteRefusals(const std::vector<Question>& questions, GeneratorOptions& options) {
  std::map<const Recipe*, std::pair<Types, Types>> refused_and_taken;
  for (const Question& question : questions) {
    auto& [refused, taken] = refused_and_taken[question.recipe];
    const bool is_refused = question.answer == Answer::kUnsupported;
    (is_refused ? refused : taken).set(static_cast<size_t>(question.type));
  }
  for (const auto& [recipe, both] : refused_and_taken) {
    const Types refused = both.first & ~both.second;
    if (refused.none()) continue;
    if (both.second.none()) {
      options.excluded_recipes.emplace(recipe->name);
    } else {
      options.refused_types.emplace(recipe->name, refused);
    }
  }
}

// The release, and a number for everything that it may be asked.
std::string KeyOf(const Backend& backend, const std::vector<const Recipe*>& recipes) {
  uint64_t hash = 0;
  for (const Opcode opcode : kPlainOps) {
    for (const Question& question : QuestionsOnOp(opcode, AllTypes()))
      hash = MixSeeds(hash, question.module->Hash());
  }
  for (const Question& question : QuestionsOnRecipes(recipes, {}, /*seed=*/1))
    hash = MixSeeds(hash, question.module->Hash());
  const BackendDescription& description = backend.Describe();
  return StrCat(description.name, ", ", description.version, ", questions ", hash);
}

}  // namespace

absl::StatusOr<std::string> ProbePeer(Backend& backend, GeneratorOptions& options) {
  const std::vector<const Recipe*> recipes = AskableRecipes();
  const std::string key = KeyOf(backend, recipes);
  // Other programs behind a pipe may be another one tomorrow under the same name.
  const bool is_release = backend.Describe().dumps_passes;
  if (is_release && ReadRefusals(key, options)) {
    return StrCat("an earlier campaign has asked ", backend.Describe().version, "; see ",
                  RefusalsFile(key));
  }
  Asker asker(backend, CheapFlags(backend));
  PlainProbe plain(asker);
  plain.Run(options);
  if (!plain.IsAnyTaken()) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("it takes none of ", asker.compilations(),
                            " small programs, of any op on any type; of the first it says: ",
                            asker.first_words()));
  }
  std::vector<Question> on_recipes = QuestionsOnRecipes(recipes, options, /*seed=*/1);
  ExcludeThoseWithout(on_recipes, recipes, options);
  const bool joins = options.Takes(Opcode::kTuple);
  asker.Ask(on_recipes, joins);
  // A pattern that only now and then draws what is refused shall stay.
  std::set<const Recipe*> again;
  for (const Question& question : on_recipes) {
    if (question.answer == Answer::kUnsupported) again.insert(question.recipe);
  }
  std::vector<Question> more = QuestionsOnRecipes({again.begin(), again.end()}, options, 2);
  asker.Ask(more, joins);
  std::move(more.begin(), more.end(), std::back_inserter(on_recipes));
  NoteRefusals(on_recipes, options);
  std::string how =
      absl::StrFormat("asked by %d compilations in %.0f s", asker.compilations(), asker.seconds());
  if (asker.gave_up()) return how + ", until time was up";
  if (!is_release) return how;
  KeepRefusals(key, options);
  return StrCat(how, "; the next campaign finds the answers in ", RefusalsFile(key));
}

}  // namespace assay
