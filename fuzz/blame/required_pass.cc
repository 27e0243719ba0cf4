// Goes through the prefixes of the passes that change a module without a decision.
#include "fuzz/blame/required_pass.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "spec/base/strings.h"
#include "spec/ir/module.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

struct Pass {
  std::string name;
  bool changed = false;
  int64_t decisions = 0;
};

// From the statistics of a traced compilation, "pass.NNN.NAME.changed" and "... .decisions", in
// order of their numbers.
std::vector<Pass> PassesIn(const std::map<std::string, double>& statistics) {
  std::vector<Pass> passes;
  for (const auto& [key, value] : statistics) {
    const std::vector<std::string> parts = absl::StrSplit(key, '.');
    if (parts.size() != 4 || parts[0] != "pass") continue;
    size_t number = 0;
    constexpr size_t kMostPasses = 10000;
    if (!absl::SimpleAtoi(parts[1], &number) || number >= kMostPasses) continue;
    if (passes.size() <= number) passes.resize(number + 1);
    passes[number].name = parts[2];
    if (parts[3] == "changed") passes[number].changed = value != 0;
    if (parts[3] == "decisions") passes[number].decisions = static_cast<int64_t>(value);
  }
  return passes;
}

class Search {
 public:
  Search(const CheckSubject& subject, const Module& module, const std::vector<Literal>& inputs)
      : subject_(subject), module_(module), inputs_(inputs) {}

  std::optional<RequiredPass> Run() {
    const absl::StatusOr<CaseExpectation> right = ExpectOn(
        subject_.oracle, CheckCase::Of(module_, inputs_), subject_.profile, subject_.limits);
    const std::unique_ptr<Executable> whole = Compile("trace", "on");
    if (!right.ok() || whole == nullptr) return std::nullopt;
    const std::vector<Pass> passes = PassesIn(whole->Statistics());
    if (passes.empty()) return std::nullopt;
    RequiredPass found;
    found.before = WriteModule(module_, WriteOptions::Short());
    int64_t decided = 0;
    for (size_t k = 0; k < passes.size(); ++k) {
      const int64_t first = decided + 1;
      decided += passes[k].decisions;
      if (!passes[k].changed) continue;
      const std::unique_ptr<Module> after = ModuleAfter(k + 1);
      if (after == nullptr) return std::nullopt;
      found.after = WriteModule(*after, WriteOptions::Short());
      const absl::StatusOr<Literal> value =
          EvaluateOn(subject_.oracle, CheckCase::Of(*after, inputs_), subject_.limits);
      if (!value.ok()) continue;  // it cannot be told
      if (Judge(right->results, *value).verdict != Verdict::kFail) {
        found.before = std::move(found.after);
        continue;
      }
      found.pass = passes[k].name;
      found.decision = DecisionOf(passes[k], whole->decisions(), first);
      return found;
    }
    found.before.clear();
    found.after.clear();
    const WrongArray wrong = FirstWrongArray(subject_, module_, inputs_);
    if (wrong.instruction != nullptr) found.code = OpWithFolds(*wrong.instruction);
    return found;
  }

 private:
  // With every decision refused.
  std::unique_ptr<Executable> Compile(const std::string& option, const std::string& value) {
    CompileOptions options = subject_.options;
    options.decision_limit = 0;
    options.limits = subject_.limits;
    options.devices = DevicesOf(module_);
    options.flags[option] = value;
    absl::StatusOr<std::unique_ptr<Executable>> compiled =
        subject_.backend.Compile(module_, options);
    return compiled.ok() ? *std::move(compiled) : nullptr;
  }

  std::unique_ptr<Module> ModuleAfter(size_t passes) {
    const std::unique_ptr<Executable> prefix = Compile("until", StrCat(passes));
    if (prefix == nullptr) return nullptr;
    absl::StatusOr<std::unique_ptr<Module>> module = prefix->OptimizedModule();
    return module.ok() ? *std::move(module) : nullptr;
  }

  static Decision DecisionOf(const Pass& pass, const std::vector<Decision>& decisions,
                             int64_t first) {
    for (const Decision& decision : decisions) {
      const bool is_of_pass = decision.number >= first && decision.number < first + pass.decisions;
      // All others were refused.
      if (is_of_pass && decision.taken) return decision;
    }
    return {0, DecisionKind::kRequired, pass.name, "", true};
  }

  const CheckSubject& subject_;
  const Module& module_;
  const std::vector<Literal>& inputs_;
};

}  // namespace

std::optional<RequiredPass> FindRequiredPass(const CheckSubject& subject, const Module& module,
                                             const std::vector<Literal>& inputs) {
  return Search(subject, module, inputs).Run();
}

}  // namespace assay
