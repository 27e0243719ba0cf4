// Compiles what a campaign will be made of.
#include "fuzz/campaign/probe.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "fuzz/generator/generate.h"
#include "fuzz/generator/recipes/recipes.h"
#include "fuzz/triage/signature.h"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

constexpr double kMostSeconds = 60;
constexpr double kCompileSeconds = 20;

enum class Answer : uint8_t { kTaken, kUnsupported, kRejected, kOther };

class Prober {
 public:
  Prober(Backend& backend, GeneratorOptions& options) : backend_(backend), options_(options) {}

  void Types() {
    std::vector<ElementType> types(ComputedTypes().begin(), ComputedTypes().end());
    types.insert(types.end(), RareTypes().begin(), RareTypes().end());
    for (ElementType type : types) {
      Module module("probe");
      Computation* entry = module.AddComputation("main");
      const Shape shape = Shape::Array(type, {3});
      Instruction* x = entry->AddParameter(0, shape);
      Attributes attributes;
      attributes.Set(Attr::kDimensions, {0});
      entry->set_root(entry->Add(Opcode::kReverse, shape, {x}, std::move(attributes)));
      module.set_entry(entry);
      const Answer answer = Ask(module);
      if (answer == Answer::kUnsupported || answer == Answer::kRejected) {
        options_.excluded_types.set(static_cast<size_t>(type));
      }
    }
  }

  void Recipes() {
    constexpr size_t kBatch = 8;
    const absl::Span<const Recipe> all = AllRecipes();
    for (size_t from = 0; from < all.size(); from += kBatch) {
      std::vector<std::string_view> names;
      for (size_t i = from; i < std::min(from + kBatch, all.size()); ++i) {
        if (all[i].portable && Info(all[i].opcode).IsDefined()) names.push_back(all[i].name);
      }
      // Floats of the usual widths do not stand for each other, and nothing stands for the rest.
      bool all_taken = true;
      for (ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kC64}) {
        all_taken = all_taken && AskAbout(names, type, 1) == Answer::kTaken;
      }
      if (all_taken) continue;
      for (size_t i = from; i < std::min(from + kBatch, all.size()); ++i) {
        if (std::find(names.begin(), names.end(), all[i].name) != names.end()) OneRecipe(all[i]);
      }
    }
  }

 private:
  // Notes the types of which no program that was tried was taken, or all of the recipe.
  void OneRecipe(const Recipe& recipe) {
    std::bitset<kElementTypeCount> refused, taken;
    for (ElementType type :
         {ElementType::kF32, ElementType::kF64, ElementType::kF16, ElementType::kBF16,
          ElementType::kC64, ElementType::kC128, ElementType::kS32, ElementType::kF8E4M3FN}) {
      if (!options_.Takes(type)) continue;
      for (uint64_t seed = 1; seed <= 2 && !taken[static_cast<size_t>(type)]; ++seed) {
        const std::unique_ptr<Module> module = ProgramOf({&recipe.name, 1}, type, seed);
        if (module == nullptr || !Has(*module, recipe.opcode, type)) continue;
        const Answer answer = Verify(*module).ok() ? Ask(*module) : Answer::kOther;
        const bool is_unsupported = answer == Answer::kUnsupported;
        (is_unsupported ? refused : taken).set(static_cast<size_t>(type));
      }
    }
    refused &= ~taken;
    if (refused.none()) return;
    if (taken.none()) {
      options_.excluded_recipes.emplace(recipe.name);
    } else {
      options_.refused_types.emplace(recipe.name, refused);
    }
  }

  // Whether the op takes or gives an array of the type.
  static bool Has(const Module& module, Opcode opcode, ElementType type) {
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

  Answer AskAbout(absl::Span<const std::string_view> names, ElementType type, uint64_t seed) {
    const std::unique_ptr<Module> module = ProgramOf(names, type, seed);
    if (module == nullptr || !Verify(*module).ok()) return Answer::kOther;
    return Ask(*module);
  }

  Answer Ask(const Module& module) {
    if (Now() - start_ > kMostSeconds) return Answer::kTaken;
    CompileOptions compile;
    compile.limits.seconds = kCompileSeconds;
    const absl::Status status = backend_.Compile(module, compile).status();
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
  GeneratorOptions& options_;
  double start_ = Now();
};

}  // namespace

void ProbePeer(Backend& backend, GeneratorOptions& options) {
  Prober prober(backend, options);
  prober.Types();
  prober.Recipes();
}

std::map<std::string, std::string> ScreeningFlags(Backend& backend) {
  if (!backend.Describe().dumps_passes || !backend.Describe().can_run) return {};
  CompileOptions compile;
  compile.flags = CheapFlags();
  Module module("probe");
  Computation* entry = module.AddComputation("main");
  const Shape shape = Shape::Array(ElementType::kF32, {4});
  Instruction* x = entry->AddParameter(0, shape);
  entry->set_root(entry->Add(Opcode::kNegate, shape, {x}));
  module.set_entry(entry);
  return backend.Compile(module, compile).ok() ? compile.flags
                                               : std::map<std::string, std::string>();
}

}  // namespace assay
