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

// Of the processor, as on a busy machine the clock on the wall says little; and of that clock, for
// what sleeps.
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
  const Recipe* recipe = nullptr;  // nullptr: about the type alone
  Answer answer = Answer::kTaken;
};

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

  void Ask(std::vector<Question>& questions) {
    std::vector<Question*> together;
    for (Question& question : questions) {
      if (!CanBeJoined(*question.module)) {
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
  bool gave_up_ = false;
};

std::vector<Question> QuestionsOnTypes() {
  std::vector<ElementType> types(ComputedTypes().begin(), ComputedTypes().end());
  types.insert(types.end(), RareTypes().begin(), RareTypes().end());
  std::vector<Question> questions;
  for (ElementType type : types) {
    auto module = std::make_unique<Module>("probe");
    Computation* entry = module->AddComputation("main");
    const Shape shape = Shape::Array(type, {3});
    Instruction* x = entry->AddParameter(0, shape);
    Attributes attributes;
    attributes.Set(Attr::kDimensions, {0});
    entry->set_root(entry->Add(Opcode::kReverse, shape, {x}, std::move(attributes)));
    module->set_entry(entry);
    questions.push_back({std::move(module), type});
  }
  return questions;
}

// Whether the op takes or gives an array of the type.
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

// One small program per pattern and type to which the pattern applies.
std::vector<Question> QuestionsOnRecipes(const std::vector<const Recipe*>& recipes,
                                         const GeneratorOptions& options, uint64_t seed) {
  std::vector<Question> questions;
  for (const Recipe* recipe : recipes) {
    for (ElementType type : kAskedTypes) {
      if (!options.Takes(type)) continue;
      std::unique_ptr<Module> module = ProgramOf({&recipe->name, 1}, type, seed);
      const bool is_good =
          module != nullptr && Has(*module, recipe->opcode, type) && Verify(*module).ok();
      if (is_good) questions.push_back({std::move(module), type, recipe});
    }
  }
  return questions;
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

// The release, and a number for everything that it is asked.
std::string KeyOf(const Backend& backend, const std::vector<Question>& on_types,
                  const std::vector<Question>& on_recipes) {
  uint64_t hash = 0;
  for (const std::vector<Question>* questions : {&on_types, &on_recipes}) {
    for (const Question& question : *questions) hash = MixSeeds(hash, question.module->Hash());
  }
  const BackendDescription& description = backend.Describe();
  return StrCat(description.name, ", ", description.version, ", questions ", hash);
}

}  // namespace

std::string ProbePeer(Backend& backend, GeneratorOptions& options) {
  std::vector<Question> on_types = QuestionsOnTypes();
  const std::vector<const Recipe*> recipes = AskableRecipes();
  std::vector<Question> on_recipes = QuestionsOnRecipes(recipes, options, /*seed=*/1);
  const std::string key = KeyOf(backend, on_types, on_recipes);
  // Other programs behind a pipe may be another one tomorrow under the same name.
  const bool is_release = backend.Describe().dumps_passes;
  if (is_release && ReadRefusals(key, options)) {
    return StrCat("an earlier campaign has asked ", backend.Describe().version, "; see ",
                  RefusalsFile(key));
  }
  Asker asker(backend, CheapFlags(backend));
  asker.Ask(on_types);
  for (const Question& question : on_types) {
    if (question.answer == Answer::kUnsupported || question.answer == Answer::kRejected) {
      options.excluded_types.set(static_cast<size_t>(question.type));
    }
  }
  std::erase_if(on_recipes,
                [&](const Question& question) { return !options.Takes(question.type); });
  asker.Ask(on_recipes);
  // A pattern that only now and then draws what is refused shall stay.
  std::set<const Recipe*> again;
  for (const Question& question : on_recipes) {
    if (question.answer == Answer::kUnsupported) again.insert(question.recipe);
  }
  std::vector<Question> more = QuestionsOnRecipes({again.begin(), again.end()}, options, 2);
  asker.Ask(more);
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
