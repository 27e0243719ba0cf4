// The search: all rules, then choices steered by error forms, then directions drawn by chance and
// sorted by what they did.
#include "reference/power/choice_search.h"

#include <algorithm>
#include <cmath>

#include "reference/bounds/choices/legal_choices.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/profile.h"

namespace assay::reference {
namespace {

// Searches for evaluations in which the outputs stray far from the plain one.
class Search {
 public:
  Search(const CheckCase& check_case, int64_t steps) : case_(check_case), steps_of_all_(steps) {}

  absl::StatusOr<std::vector<Literal>> Run() {
    ASSAY_ASSIGN_OR_RETURN(plain_, Evaluate(nullptr));
    for (const Literal* leaf : Leaves(plain_)) outputs_.push_back(OutputOf(*leaf));
    for (int rule = 1; rule <= LegalChoices::kRules; ++rule) {
      LegalChoices choices = LegalChoices::OfRule(rule);
      ASSAY_ASSIGN_OR_RETURN(Literal answer, Evaluate(&choices));
      Note(answer);
      answers_.push_back(std::move(answer));
    }
    ASSAY_RETURN_IF_ERROR(FollowErrors());
    ASSAY_RETURN_IF_ERROR(SearchDirections());
    return std::move(answers_);
  }

 private:
  // A float output: how far its elements have strayed, in parts of their size or that of all.
  struct Output {
    std::vector<double> plain, scale;
    std::vector<double> squares;    // of what its elements strayed by in the first trials
    int64_t target = 0;             // the element that is steered
    std::vector<double> of_target;  // by trial
    double worst = 0;
    bool is_steered = false;
  };
  // Elements of an output that are steered by what is known of the choices, at most.
  static constexpr int64_t kMostSteered = 8;
  static constexpr int kTrials = 512, kFirstTrials = 16;

  static Output OutputOf(const Literal& leaf) {
    Output output;
    if (BoundsPerElement(leaf.element_type()) == 0) return output;
    double sum = 0;
    for (int64_t i = 0; i < leaf.component_count(); ++i) {
      output.plain.push_back(leaf.GetComponent(i));
      if (std::isfinite(output.plain.back())) sum += output.plain.back() * output.plain.back();
    }
    const double mean =
        std::sqrt(sum / std::max<double>(1, static_cast<double>(output.plain.size())));
    for (double x : output.plain) output.scale.push_back(std::max(std::fabs(x), mean));
    output.squares.resize(output.plain.size());
    return output;
  }

  absl::StatusOr<Literal> Evaluate(LegalChoices* choices) {
    Budget budget((Limits()));
    DeviceMesh mesh(case_.devices.replicas, case_.devices.partitions);
    const auto plans = std::make_shared<Plans>(/*bounding=*/false);
    std::vector<Literal> results(case_.arguments.size());
    ASSAY_RETURN_IF_ERROR(mesh.Run([&](Device& device) -> absl::Status {
      const auto number = static_cast<size_t>(device.number());
      if (number < case_.infeeds.size())
        device.infeed.assign(case_.infeeds[number].begin(), case_.infeeds[number].end());
      Interpreter interpreter(budget, nullptr, device, plans);
      if (choices != nullptr) interpreter.set_choices(choices);
      ASSAY_ASSIGN_OR_RETURN(const Value value,
                             interpreter.Run(Entry(), ArgumentsOf(number, interpreter)));
      results[number] = ToLiteral(value);
      return absl::OkStatus();
    }));
    steps_ = budget.steps_taken();
    return results.size() == 1 ? std::move(results[0]) : Literal::Tuple(std::move(results));
  }

  const Computation& Entry() const { return *case_.module.entry(); }

  std::vector<Value> ArgumentsOf(size_t device, Interpreter& interpreter) const {
    std::vector<Value> values;
    for (const Literal* argument : case_.arguments[device])
      values.push_back(MakeValue(*argument, interpreter.memory()));
    return values;
  }

  // The number of evaluations of the module that the budget allows.
  int64_t Evaluations() const { return steps_of_all_ / std::max<int64_t>(steps_, 1); }

  static void CollectArrays(const Value& value, std::vector<const Array*>& arrays) {
    if (!value.IsTuple()) return arrays.push_back(value.array.get());
    for (const Value& element : value.elements) CollectArrays(element, arrays);
  }

  // The elements of an output that the choices can move most, in parts of their scale.
  static std::vector<int64_t> MostMovable(const Output& output, const Array& array, int64_t most) {
    std::vector<int64_t> elements;
    for (size_t i = 0; i < output.plain.size() && i < array.facts().forms.size(); ++i)
      if (array.facts().forms[i].terms != nullptr && output.scale[i] > 0)
        elements.push_back(static_cast<int64_t>(i));
    auto reach = [&](int64_t i) { return array.facts().forms[i].Radius() / output.scale[i]; };
    const auto count = std::min<int64_t>(most, static_cast<int64_t>(elements.size()));
    std::partial_sort(elements.begin(), elements.begin() + count, elements.end(),
                      [&](int64_t i, int64_t k) { return reach(i) > reach(k); });
    elements.resize(static_cast<size_t>(count));
    return elements;
  }

  // Errors that are followed from op to op tell to the first order how much each choice moves an
  // element. So all choices are made in its favour, and once more all against it.
  absl::Status FollowErrors() {
    if (case_.arguments.size() != 1) return absl::OkStatus();
    Budget budget((Limits()));
    Interpreter interpreter(budget, &Profile::Xla());
    LegalChoices numbering = LegalChoices::Numbering();
    interpreter.set_choices(&numbering);
    interpreter.FollowErrorsOf(numbering);
    const absl::StatusOr<Value> followed = interpreter.Run(Entry(), ArgumentsOf(0, interpreter));
    if (!followed.ok()) return absl::OkStatus();  // nothing is known
    std::vector<const Array*> arrays;
    CollectArrays(*followed, arrays);
    const int64_t steered = std::clamp<int64_t>(
        Evaluations() / (2 * static_cast<int64_t>(outputs_.size()) + 1), 1, kMostSteered);
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (arrays[k]->literal.element_count() == 0) continue;
      for (int64_t element : MostMovable(outputs_[k], *arrays[k], steered)) {
        outputs_[k].is_steered = true;
        ASSAY_RETURN_IF_ERROR(Steer(arrays[k]->facts().forms[element], numbering.count()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Steer(const ErrorForm& form, int64_t count) {
    for (bool raises : {true, false}) {
      std::vector<bool> up(static_cast<size_t>(count), raises);
      std::vector<bool> matters(up.size());
      for (size_t t = 0; t < form.terms->errors.size(); ++t) {
        const bool raised_by = form.scale * form.terms->coefficients[t] > 0;
        up[form.terms->errors[t]] = raised_by == raises;
        matters[form.terms->errors[t]] = true;
      }
      LegalChoices choices = LegalChoices::OfSteered(&up, &matters);
      ASSAY_ASSIGN_OR_RETURN(Literal answer, Evaluate(&choices));
      Keep(std::move(answer));
    }
    return absl::OkStatus();
  }

  static double Away(const Output& output, const Literal& leaf, size_t i) {
    const double x = output.plain[i], y = leaf.GetComponent(static_cast<int64_t>(i));
    if (!std::isfinite(x) || !std::isfinite(y) || output.scale[i] == 0) return 0;
    return (y - x) / output.scale[i];
  }

  // Notes an answer; true if some output strays further in it than ever.
  bool Note(const Literal& answer) {
    bool is_further = false;
    const std::vector<const Literal*> leaves = Leaves(answer);
    for (size_t k = 0; k < outputs_.size(); ++k) {
      Output& output = outputs_[k];
      for (size_t i = 0; i < output.plain.size(); ++i) {
        const double away = std::fabs(Away(output, *leaves[k], i));
        if (away > output.worst) {
          output.worst = away;
          is_further = true;
        }
      }
    }
    return is_further;
  }

  // Draws every direction by chance, many times over: what a choice does to an element is how often
  // the two go together.
  absl::Status SearchDirections() {
    LegalChoices numbering = LegalChoices::Numbering();
    ASSAY_RETURN_IF_ERROR(Evaluate(&numbering).status());
    const int64_t count = numbering.count();
    if (count == 0) return absl::OkStatus();
    const bool all_steered =
        std::all_of(outputs_.begin(), outputs_.end(),
                    [](const Output& output) { return output.plain.empty() || output.is_steered; });
    const auto trials =
        static_cast<int>(all_steered ? std::min<int64_t>(Evaluations(), 4 * kFirstTrials)
                                     : std::clamp<int64_t>(Evaluations(), kFirstTrials, kTrials));
    if (trials == 0) return absl::OkStatus();
    ASSAY_RETURN_IF_ERROR(TryDrawnDirections(trials));
    if (trials < kFirstTrials) return absl::OkStatus();  // no targets were chosen
    for (const Output& output : outputs_) {
      if (output.plain.empty() || output.squares[output.target] == 0) continue;
      ASSAY_RETURN_IF_ERROR(PushTarget(output, trials, count));
    }
    return absl::OkStatus();
  }

  absl::Status TryDrawnDirections(int trials) {
    std::vector<Literal> early;
    for (int trial = 0; trial < trials; ++trial) {
      LegalChoices choices = LegalChoices::OfDirections(static_cast<uint64_t>(trial), nullptr);
      ASSAY_ASSIGN_OR_RETURN(Literal answer, Evaluate(&choices));
      if (trial < kFirstTrials) {
        early.push_back(std::move(answer));
        if (trial + 1 == kFirstTrials) ChooseTargets(early);
        continue;
      }
      RecordTargets(answer);
      Keep(std::move(answer));
    }
    for (Literal& one : early) Keep(std::move(one));
    return absl::OkStatus();
  }

  // Makes every choice in the direction that went together with the target of an output, and once
  // more in the other.
  absl::Status PushTarget(const Output& output, int trials, int64_t count) {
    std::vector<double> effects(static_cast<size_t>(count));
    for (size_t slot = 0; slot < effects.size(); ++slot) {
      for (int trial = 0; trial < trials; ++trial) {
        const double away = output.of_target[trial];
        const bool was_up =
            DrawnDirection(static_cast<uint64_t>(trial), static_cast<int64_t>(slot));
        effects[slot] += was_up ? away : -away;
      }
    }
    for (bool raises : {true, false}) {
      std::vector<bool> up;
      for (double effect : effects) up.push_back((effect > 0) == raises);
      LegalChoices choices = LegalChoices::OfDirections(0, &up);
      ASSAY_ASSIGN_OR_RETURN(Literal answer, Evaluate(&choices));
      Keep(std::move(answer));
    }
    return absl::OkStatus();
  }

  // The element that strayed furthest in the first trials becomes the target.
  void ChooseTargets(const std::vector<Literal>& early) {
    for (const Literal& answer : early) {
      const std::vector<const Literal*> leaves = Leaves(answer);
      for (size_t k = 0; k < outputs_.size(); ++k) {
        for (size_t i = 0; i < outputs_[k].plain.size(); ++i) {
          const double away = Away(outputs_[k], *leaves[k], i);
          outputs_[k].squares[i] += away * away;
        }
      }
    }
    for (Output& output : outputs_) {
      output.target =
          std::max_element(output.squares.begin(), output.squares.end()) - output.squares.begin();
    }
    for (const Literal& answer : early) RecordTargets(answer);
  }

  void RecordTargets(const Literal& answer) {
    const std::vector<const Literal*> leaves = Leaves(answer);
    for (size_t k = 0; k < outputs_.size(); ++k) {
      Output& output = outputs_[k];
      if (!output.plain.empty())
        output.of_target.push_back(Away(output, *leaves[k], static_cast<size_t>(output.target)));
    }
  }

  void Keep(Literal answer) {
    if (Note(answer)) answers_.push_back(std::move(answer));
  }

  const CheckCase& case_;
  int64_t steps_of_all_;
  Literal plain_;
  std::vector<Output> outputs_;
  std::vector<Literal> answers_;
  int64_t steps_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Literal>> EvaluateWithChoices(const CheckCase& check_case) {
  return SearchChoices(check_case, 120'000'000);
}

absl::StatusOr<std::vector<Literal>> SearchChoices(const CheckCase& check_case, int64_t steps) {
  const auto devices =
      static_cast<size_t>(check_case.devices.replicas * check_case.devices.partitions);
  if (check_case.arguments.size() != devices) {
    return MakeError(ErrorClass::kRejected, StrCat("arguments of ", check_case.arguments.size(),
                                                   " devices for ", devices));
  }
  return Search(check_case, steps).Run();
}

absl::StatusOr<std::vector<Literal>> SearchChoices(const Module& module,
                                                   const std::vector<const Literal*>& arguments,
                                                   int64_t steps) {
  return SearchChoices({module, {arguments}}, steps);
}

}  // namespace assay::reference
