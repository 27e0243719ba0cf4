#include "reference/bounds/forms.h"
#include "reference/bounds/liberties.h"
#include "reference/interpreter/interpreter.h"
#include "spec/numerics/profile.h"

namespace assay::reference {
namespace {

// Searches for evaluations in which the outputs stray far from the plain one.
class Search {
 public:
  Search(const Module& module, const std::vector<const Literal*>& arguments, int64_t steps)
      : module_(module), arguments_(arguments), steps_of_all_(steps) {}

  absl::StatusOr<std::vector<Literal>> Run() {
    absl::StatusOr<Literal> plain = Evaluate(nullptr);
    if (!plain.ok()) return plain.status();
    plain_ = *std::move(plain);
    for (const Literal* leaf : Leaves(plain_)) outputs_.push_back(OutputOf(*leaf));
    for (int rule = 1; rule <= Liberties::kRules; ++rule) {
      Liberties liberties = Liberties::OfRule(rule);
      absl::StatusOr<Literal> answer = Evaluate(&liberties);
      if (!answer.ok()) return answer.status();
      Note(*answer);
      answers_.push_back(*std::move(answer));
    }
    if (absl::Status status = FollowLeads(); !status.ok()) return status;
    if (absl::Status status = SearchDirections(); !status.ok()) return status;
    return std::move(answers_);
  }

 private:
  // A float output: how far its elements have strayed, in parts of their size or that of all.
  struct Output {
    std::vector<double> plain, scale;
    std::vector<double> squares;    // of what its elements strayed by in the first trials
    int64_t target = 0;             // the element that is led astray
    std::vector<double> of_target;  // by trial
    double worst = 0;
    bool has_lead = false;
  };
  // Elements of an output that are led astray by what is known of the choices, at most.
  static constexpr int64_t kLeads = 8;
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

  absl::StatusOr<Literal> Evaluate(Liberties* liberties) {
    Budget budget((Limits()));
    Interpreter interpreter(budget, nullptr);
    if (liberties != nullptr) interpreter.set_liberties(liberties);
    std::vector<Value> values;
    for (const Literal* argument : arguments_)
      values.push_back(MakeValue(*argument, interpreter.memory()));
    absl::StatusOr<Value> value = interpreter.Run(*module_.entry(), values);
    if (!value.ok()) return value.status();
    steps_ = budget.steps_taken();
    return ToLiteral(*value);
  }

  // How often the module may be evaluated.
  int64_t Evaluations() const { return steps_of_all_ / std::max<int64_t>(steps_, 1); }

  static void CollectArrays(const Value& value, std::vector<const Array*>& arrays) {
    if (!value.IsTuple()) return arrays.push_back(value.array.get());
    for (const Value& element : value.elements) CollectArrays(element, arrays);
  }

  // The elements of an output that the choices can move most, in parts of their scale.
  static std::vector<int64_t> MostMovable(const Output& output, const Array& array, int64_t most) {
    std::vector<int64_t> elements;
    for (size_t i = 0; i < output.plain.size() && i < array.forms.size(); ++i)
      if (array.forms[i].terms != nullptr && output.scale[i] > 0)
        elements.push_back(static_cast<int64_t>(i));
    auto reach = [&](int64_t i) { return array.forms[i].Radius() / output.scale[i]; };
    const auto count = std::min<int64_t>(most, static_cast<int64_t>(elements.size()));
    std::partial_sort(elements.begin(), elements.begin() + count, elements.end(),
                      [&](int64_t i, int64_t k) { return reach(i) > reach(k); });
    elements.resize(static_cast<size_t>(count));
    return elements;
  }

  // How much each choice moves an element is known, to the first order, where errors are followed
  // from op to op: all choices are made in its favour, or all against it.
  absl::Status FollowLeads() {
    Budget budget((Limits()));
    Interpreter interpreter(budget, &Profile::Xla());
    Liberties numbering = Liberties::Numbering();
    interpreter.set_liberties(&numbering);
    interpreter.freedoms().errors->FollowChoices(numbering);
    std::vector<Value> values;
    for (const Literal* argument : arguments_)
      values.push_back(MakeValue(*argument, interpreter.memory()));
    const absl::StatusOr<Value> followed = interpreter.Run(*module_.entry(), values);
    if (!followed.ok()) return absl::OkStatus();  // nothing is known
    std::vector<const Array*> arrays;
    CollectArrays(*followed, arrays);
    const int64_t leads = std::clamp<int64_t>(
        Evaluations() / (2 * static_cast<int64_t>(outputs_.size()) + 1), 1, kLeads);
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (arrays[k]->literal.element_count() == 0) continue;
      for (int64_t element : MostMovable(outputs_[k], *arrays[k], leads)) {
        outputs_[k].has_lead = true;
        if (absl::Status status = Lead(arrays[k]->forms[element], numbering.choices());
            !status.ok())
          return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status Lead(const ErrorForm& form, int64_t choices) {
    for (bool raises : {true, false}) {
      std::vector<bool> up(static_cast<size_t>(choices), raises);
      std::vector<bool> matters(up.size());
      for (size_t t = 0; t < form.terms->errors.size(); ++t) {
        const bool raised_by = form.scale * form.terms->coefficients[t] > 0;
        up[form.terms->errors[t]] = raised_by == raises;
        matters[form.terms->errors[t]] = true;
      }
      Liberties liberties = Liberties::OfLead(&up, &matters);
      absl::StatusOr<Literal> answer = Evaluate(&liberties);
      if (!answer.ok()) return answer.status();
      Keep(*std::move(answer));
    }
    return absl::OkStatus();
  }

  static double Away(const Output& output, const Literal& leaf, size_t i) {
    const double x = output.plain[i], y = leaf.GetComponent(static_cast<int64_t>(i));
    if (!std::isfinite(x) || !std::isfinite(y) || output.scale[i] == 0) return 0;
    return (y - x) / output.scale[i];
  }

  // Whether some output strays further than ever.
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

  absl::Status SearchDirections() {
    // Every direction by chance, many times over: what a choice does to an element is how the two
    // go together.
    Liberties first = Liberties::Numbering();
    absl::StatusOr<Literal> answer = Evaluate(&first);
    if (!answer.ok()) return answer.status();
    const int64_t choices = first.choices();
    if (choices == 0) return absl::OkStatus();
    const bool all_led = std::all_of(outputs_.begin(), outputs_.end(), [](const Output& output) {
      return output.plain.empty() || output.has_lead;
    });
    const auto trials =
        static_cast<int>(all_led ? std::min<int64_t>(Evaluations(), 4 * kFirstTrials)
                                 : std::clamp<int64_t>(Evaluations(), kFirstTrials, kTrials));
    if (trials == 0) return absl::OkStatus();
    std::vector<Literal> early;
    for (int trial = 0; trial < trials; ++trial) {
      Liberties liberties = Liberties::OfDirections(static_cast<uint64_t>(trial), nullptr);
      answer = Evaluate(&liberties);
      if (!answer.ok()) return answer.status();
      if (trial < kFirstTrials) {
        early.push_back(*std::move(answer));
        if (trial + 1 == kFirstTrials) ChooseTargets(early);
        continue;
      }
      RecordTargets(*answer);
      Keep(*std::move(answer));
    }
    for (Literal& one : early) Keep(std::move(one));
    if (trials < kFirstTrials) return absl::OkStatus();  // no targets were chosen
    for (Output& output : outputs_) {
      if (output.plain.empty() || output.squares[output.target] == 0) continue;
      std::vector<double> effects(static_cast<size_t>(choices));
      for (size_t slot = 0; slot < effects.size(); ++slot) {
        for (int trial = 0; trial < trials; ++trial) {
          const double away = output.of_target[trial];
          effects[slot] += DrawnDirection(static_cast<uint64_t>(trial), static_cast<int64_t>(slot))
                               ? away
                               : -away;
        }
      }
      for (bool raises : {true, false}) {
        std::vector<bool> up;
        for (double effect : effects) up.push_back((effect > 0) == raises);
        Liberties liberties = Liberties::OfDirections(0, &up);
        answer = Evaluate(&liberties);
        if (!answer.ok()) return answer.status();
        Keep(*std::move(answer));
      }
    }
    return absl::OkStatus();
  }

  // The element that strayed furthest in the first trials is led on.
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

  const Module& module_;
  const std::vector<const Literal*>& arguments_;
  int64_t steps_of_all_;
  Literal plain_;
  std::vector<Output> outputs_;
  std::vector<Literal> answers_;
  int64_t steps_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Literal>> EvaluateWithLiberties(
    const Module& module, const std::vector<const Literal*>& arguments) {
  return SearchLiberties(module, arguments, 120'000'000);
}

absl::StatusOr<std::vector<Literal>> SearchLiberties(const Module& module,
                                                     const std::vector<const Literal*>& arguments,
                                                     int64_t steps) {
  return Search(module, arguments, steps).Run();
}

}  // namespace assay::reference
