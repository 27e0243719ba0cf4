// Draws inputs until a program fails on them.
#include "tools/assay/findings/known_inputs.h"

#include "fuzz/choices.h"
#include "fuzz/generator/generate.h"
#include "fuzz/generator/values.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int64_t kMostSimplified = 64;  // elements of an input that are made simple one by one

// Every third set has edges alone, every other third is of one family.
std::vector<Literal> Draw(const Module& module, int64_t set, Choices& choices) {
  const auto family = static_cast<ValueFamily>((set / 3) % kValueFamilyCount);
  std::vector<Literal> inputs = RandomInputs(module, family, choices);
  for (Literal& input : inputs) {
    const bool is_computed = input.shape().IsArray();
    if (!is_computed || set % 3 == 0) continue;
    if (set % 3 == 1) {
      input =
          LiteralWithEdges(input.shape(), 0, 1 + static_cast<int64_t>(choices.Draw(3)), choices);
    } else {
      input = LiteralOfFamily(input.shape(), family, choices);
    }
  }
  return inputs;
}

bool Fails(Checker& checker, const Module& module, const std::vector<Literal>& inputs) {
  return checker.CheckAgain(CheckCase::Of(module, inputs).arguments).outcome.IsFailure();
}

// Puts small numbers in the place of each element that may be one.
void Simplify(Checker& checker, const Module& module, std::vector<Literal>& inputs) {
  for (Literal& input : inputs) {
    if (!input.shape().IsArray() || input.element_count() > kMostSimplified) continue;
    if (IsComplex(input.element_type())) continue;
    for (int64_t i = 0; i < input.element_count(); ++i) {
      for (const double simple : {0.0, 1.0, 2.0, -1.0}) {
        const Literal before = input;
        input.SetDouble(i, simple);
        if (Fails(checker, module, inputs)) break;
        input = before;
      }
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<Literal>> FindFailingInputs(const CheckSubject& subject,
                                                       const Module& module, int64_t sets) {
  Choices choices = Choices::FromSeed(1);
  std::vector<Literal> inputs = RandomInputs(module, ValueFamily::kOrdinary, choices);
  Checker checker(subject, CheckCase::Of(module, inputs));
  const Outcome first = checker.Check().outcome;
  if (first.IsFailure()) return inputs;
  if (checker.executable() == nullptr || inputs.empty()) {
    return absl::NotFoundError(StrCat("it does not fail on ", subject.backend.Describe().name, ": ",
                                      StateWord(first), " ", first.Describe()));
  }
  for (int64_t set = 0; set < sets; ++set) {
    inputs = Draw(module, set, choices);
    if (!Fails(checker, module, inputs)) continue;
    Simplify(checker, module, inputs);
    return inputs;
  }
  return absl::NotFoundError(
      StrCat("it does not fail on ", subject.backend.Describe().name, " with any of ", sets,
             " sets of inputs; give it the inputs that do, as program.npz beside it"));
}

}  // namespace assay
