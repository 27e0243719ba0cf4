// Bends the outputs of a module one by one and counts those that the judge convicts.
#include "conformance/power.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/element_sizes.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// Spacing of the format at a magnitude.
double UnitAt(const FloatFormat& format, double magnitude) {
  if (magnitude == 0) return format.MinSubnormal();
  return std::max(std::exp2(std::ilogb(magnitude) - format.precision() + 1), format.MinSubnormal());
}

// Bends outputs of one module and has them judged.
class PowerMeter {
 public:
  PowerMeter(const Expectation& expectation, uint64_t seed)
      : expectation_(expectation), random_(seed) {
    for (const ArrayExpectation& leaf : expectation.leaves) outputs_.push_back(&leaf.plain);
    deviations_.resize(outputs_.size());
  }

  // Takes notice of an answer that is legal for sure.
  void NoteLegal(const std::vector<const Literal*>& answer) {
    ++power_.legal;
    const Judgement judgement = JudgeLeaves(expectation_, answer);
    if (judgement.verdict == Verdict::kFail) {
      ++power_.legal_rejected;
      power_.missed.push_back(StrCat("a legal evaluation is rejected: ", judgement.reason,
                                     ", first of output ", judgement.first.leaf, ", element ",
                                     judgement.first.element));
    }
    Note(answer);
  }

  // Takes notice of an answer, if it is a legal one.
  void Note(const std::vector<const Literal*>& answer) {
    if (answer.size() != outputs_.size()) return;
    if (JudgeLeaves(expectation_, answer).verdict == Verdict::kFail) return;
    for (size_t k = 0; k < answer.size(); ++k) {
      if (BoundsPerElement(outputs_[k]->element_type()) == 0) continue;
      const FloatFormat& format = Format(ComponentType(outputs_[k]->element_type()));
      const double scale = RootMeanSquare(*outputs_[k]);
      for (int64_t i = 0; i < outputs_[k]->component_count(); ++i) {
        const double x = outputs_[k]->GetComponent(i), y = answer[k]->GetComponent(i);
        if (!std::isfinite(x) || !std::isfinite(y)) continue;
        const double units = std::fabs(y - x) / UnitAt(format, std::max(std::fabs(x), scale));
        deviations_[k] = std::max(deviations_[k], units);
      }
    }
  }

  ModulePower Measure() {
    for (size_t k = 0; k < outputs_.size(); ++k) Bend(k);
    return std::move(power_);
  }

 private:
  enum class Kind { kNone, kForced, kBounded };

  Kind KindOf(const ArrayExpectation& leaf, int64_t slot) const {
    const ElementType type = leaf.plain.element_type();
    const int64_t parts = BoundsPerElement(type);
    if (leaf.choices.contains(parts == 0 ? slot : slot / parts)) return Kind::kNone;
    if (parts == 0) return Kind::kForced;
    const double x = leaf.plain.GetComponent(slot);
    if (!std::isfinite(x) || x == 0) return Kind::kNone;
    const uint32_t flags = leaf.bounds.empty() ? uint32_t{kForced} : leaf.bounds[slot].flags;
    if ((flags & kForced) != 0) return Kind::kForced;
    return (flags & kByProperty) != 0 ? Kind::kNone : Kind::kBounded;
  }

  void Bend(size_t k) {
    const ArrayExpectation& leaf = expectation_.leaves[k];
    const Literal& plain = leaf.plain;
    const bool is_float = BoundsPerElement(plain.element_type()) != 0;
    const int64_t slots = is_float ? plain.component_count() : plain.element_count();
    std::vector<int64_t> order(static_cast<size_t>(slots));
    for (int64_t i = 0; i < slots; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    auto at = std::find_if(order.begin(), order.end(),
                           [&](int64_t slot) { return KindOf(leaf, slot) != Kind::kNone; });
    if (at == order.end()) {
      ++power_.skipped;
      return;
    }
    Literal bent = plain;
    std::string how;
    const bool is_moved = KindOf(leaf, *at) == Kind::kBounded;
    const uint64_t code = is_float ? plain.GetComponentBits(*at) : plain.GetBits(*at);
    uint64_t other;
    if (is_moved) {
      const double units = 16 * std::max(1.0, deviations_[k]);
      other = Moved(plain, *at, units);
      how = StrCat("moved by ", units, " units");
    } else {
      const ElementType type = plain.element_type();
      const int bits = IsPred(type) ? 1 : static_cast<int>(BitWidth(ComponentType(type)));
      const auto bit = static_cast<int>(random_() % static_cast<uint64_t>(bits));
      other = code ^ (uint64_t{1} << bit);
      how = StrCat("bit ", bit, " flipped");
    }
    if (is_float) {
      bent.SetComponentBits(*at, other);
    } else {
      bent.SetBits(*at, other);
    }
    std::vector<const Literal*> answer = outputs_;
    answer[k] = &bent;
    const bool caught = JudgeLeaves(expectation_, answer).verdict == Verdict::kFail;
    ++(is_moved ? power_.moved : power_.flipped);
    if (caught) ++(is_moved ? power_.moved_caught : power_.flipped_caught);
    if (is_moved) {
      const double unit = UnitOf(plain, *at);
      power_.outputs.push_back(
          {static_cast<int64_t>(k), deviations_[k], leaf.bounds[*at].radius / unit, caught});
    }
    if (!caught) power_.missed.push_back(StrCat("output ", k, ", element ", *at, ": ", how));
  }

  static double UnitOf(const Literal& plain, int64_t slot) {
    return UnitAt(Format(ComponentType(plain.element_type())),
                  std::max(std::fabs(plain.GetComponent(slot)), RootMeanSquare(plain)));
  }

  // The code of the slot's value moved by so many units, up or down.
  uint64_t Moved(const Literal& plain, int64_t slot, double units) {
    const FloatFormat& format = Format(ComponentType(plain.element_type()));
    const double x = plain.GetComponent(slot);
    double step = units * UnitOf(plain, slot);
    if ((random_() & 1) != 0) step = -step;
    if (!(std::fabs(x + step) <= format.MaxFinite())) step = -step;
    return EncodeFloat(format, x + step);
  }

  const Expectation& expectation_;
  std::mt19937_64 random_;
  std::vector<const Literal*> outputs_;
  std::vector<double> deviations_;  // per output, in units
  ModulePower power_;
};

std::vector<const Literal*> LeavesOf(const std::vector<Literal>& values) {
  std::vector<const Literal*> leaves;
  for (const Literal& value : values)
    for (const Literal* leaf : Leaves(value)) leaves.push_back(leaf);
  return leaves;
}

}  // namespace

absl::StatusOr<ModulePower> MeasurePower(const CaseFile& file, Oracle& oracle, Backend* backend,
                                         const LegalAnswers& legal, const CheckOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadCaseModule(file));
  ASSAY_ASSIGN_OR_RETURN(CaseArrays arrays, LoadArrays(*module, file.arrays_path, options.seed));
  const CheckCase c = CaseOf(*module, arrays);
  ASSAY_ASSIGN_OR_RETURN(CaseExpectation expectation,
                         ExpectOn(oracle, c, *options.profile, options.compile.limits));
  PowerMeter meter(expectation.results, options.seed);
  meter.Note(LeavesOf(arrays.stored));
  if (legal != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> answers, legal(c));
    for (const Literal& answer : answers) meter.NoteLegal(Leaves(answer));
  }
  if (backend != nullptr) {
    CompileOptions compile = options.compile;
    compile.devices = arrays.devices;
    auto executable = backend->Compile(*module, compile);
    if (executable.ok()) {
      absl::StatusOr<RunResult> run = RunOn(**executable, c);
      if (run.ok()) meter.Note(LeavesOf(run->outputs));
    }
  }
  ModulePower power = meter.Measure();
  power.name = file.name;
  return power;
}

}  // namespace assay
