// Signatures from guilty decisions, from snapshots of passes and from flags.
#include "fuzz/triage/signature.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/str_split.h"
#include "fuzz/blame/blame.h"
#include "fuzz/blame/pass_blame.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "fuzz/triage/bucket.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

FlagState StateUnder(const CheckSubject& subject, const PeerFlag& flag, const Module& module,
                     const std::vector<Literal>& inputs, Outcome::Kind kind) {
  const auto is_set = subject.options.flags.find(flag.name);
  if (is_set != subject.options.flags.end() && is_set->second == flag.value)
    return FlagState::kFails;  // it does with the flag as it is
  CheckSubject silenced{subject.oracle, subject.backend, subject.profile, subject.options,
                        subject.limits};
  flag.AddTo(silenced.options.flags);
  const Outcome outcome = CheckIsolated(silenced, CheckCase::Of(module, inputs)).outcome;
  if (kind == Outcome::kWrong && outcome.Fails(Outcome::kRunCrash)) return FlagState::kByChance;
  return outcome.Fails(kind) ? FlagState::kFails
         : outcome.IsPass()  ? FlagState::kPasses
                             : FlagState::kOtherwise;
}

// True if a release has the flags.
bool Takes(Backend& backend, const std::map<std::string, std::string>& flags) {
  CompileOptions compile;
  compile.flags = flags;
  Module module("probe");
  Computation* entry = module.AddComputation("main");
  const Shape shape = Shape::Array(ElementType::kF32, {4});
  Instruction* x = entry->AddParameter(0, shape);
  entry->set_root(entry->Add(Opcode::kNegate, shape, {x}));
  module.set_entry(entry);
  return backend.Compile(module, compile).ok();
}

class SignatureMaker {
 public:
  SignatureMaker(const CheckSubject& subject, const Module& module,
                 const std::vector<Literal>& inputs, const Outcome& outcome,
                 const SigningHints& hints)
      : subject_(subject), module_(module), inputs_(inputs), outcome_(outcome), hints_(hints) {}

  Signature Run() {
    const BackendDescription& backend = subject_.backend.Describe();
    Culprit& culprit = signature_.culprit;
    culprit.peer = BackendFamily(backend.name);
    culprit.kind = outcome_.kind;
    signature_.variant = VariantOf(module_, outcome_.judgement.first.leaf);
    if (IsCrash(outcome_.kind)) {
      culprit.words = CrashSignature(outcome_.reason);
    } else if (outcome_.kind == Outcome::kTimeout || outcome_.kind == Outcome::kOutOfMemory) {
      culprit.words = std::string(Name(outcome_.phase));
    } else if (outcome_.kind == Outcome::kWrong && backend.dumps_passes) {
      SignBySnapshots();
    } else if (backend.has_decisions) {
      const Blame blame = BlameDecision(subject_, module_, inputs_, outcome_.kind);
      culprit.decision = blame.found          ? blame.decision.rule
                         : blame.code.empty() ? "no decision"
                                              : StrCat("code of ", blame.code);
    }
    signature_.text = SignatureText(culprit);
    return std::move(signature_);
  }

 private:
  void SignBySnapshots() {
    Culprit& culprit = signature_.culprit;
    const Instruction* wrong = hints_.first.has_value()
                                   ? hints_.first->instruction
                                   : FirstWrongArray(subject_, module_, inputs_).instruction;
    signature_.wrong = wrong;
    if (wrong != nullptr) {
      signature_.place = PlaceOfWrongValue(*wrong);
      const auto known = hints_.familiar.culprits.find(signature_.place);
      if (known != hints_.familiar.culprits.end()) {
        culprit = known->second;
        return;
      }
    }
    const PassBlame& blame = signature_.blame = FindWrongSnapshot(subject_, module_, inputs_);
    culprit.pass = blame.pass;
    const bool is_of_pass = !blame.pass.empty() && blame.pass != "import";
    if (!is_of_pass) culprit.states = StatesUnderFlags(subject_, module_, inputs_, outcome_.kind);
    if (wrong == nullptr) {
      culprit.ops = is_of_pass ? ChangedOpcodes(blame)
                               : std::set<std::string>{OpcodeAt(outcome_.judgement.first.leaf)};
      return;
    }
    NameOp(*wrong);
    // A pass folds constants whatever computed them.
    const bool is_folding = is_of_pass && blame.pass == "constant_folding";
    // If no pass is to blame, what gives an op its operands matters little: only element-wise ops
    // are fused with them, and an import looks at one instruction at a time.
    const bool is_alone = is_of_pass
                              ? is_folding || FailsAlone(*wrong)
                              : !Info(wrong->opcode()).Is(kElementwise) || FailsAlone(*wrong);
    if (is_alone) culprit.operands.clear();
  }

  // A function of floats and one of complex numbers are two things, while what moves elements cares
  // little about what they are.
  void NameOp(const Instruction& wrong) {
    Culprit& culprit = signature_.culprit;
    culprit.op = std::string(Name(wrong.opcode()));
    culprit.operands = TellingOperands(wrong);
    if (Info(wrong.opcode()).Is(kElementwise))
      culprit.numbers = std::string(1, ClassLetter(wrong.shape().element_type()));
  }

  // True if the op is wrong by itself, of whatever its operands are made. That is known before the
  // program is reduced, which costs a hundred times as much.
  bool FailsAlone(const Instruction& wrong) const {
    const EvaluateFunction evaluate = [this](const Module& module,
                                             const std::vector<Literal>& inputs) {
      return subject_.oracle.Evaluate(module, CheckCase::Of(module, inputs).arguments[0],
                                      subject_.limits);
    };
    if (signature_.culprit.operands.empty()) return true;
    const ReduceCase whole{module_.Clone(""), inputs_};
    const std::vector<ReduceCase> around =
        ProgramsAround(whole, Counterpart(*whole.module, &wrong), evaluate);
    if (around.empty()) return false;
    const CheckCase alone = CheckCase::Of(*around[0].module, around[0].inputs);
    return CheckIsolated(subject_, alone).outcome.Fails(outcome_.kind);
  }

  // Names the op that computes an output leaf, when the root is a tuple of arrays.
  std::string OpcodeAt(int64_t leaf) const {
    const Instruction* at = module_.entry()->root();
    if (at->opcode() == Opcode::kTuple && leaf >= 0 && leaf < at->operand_count()) {
      at = at->operand(leaf);
    }
    while (at->opcode() == Opcode::kGetTupleElement) at = at->operand(0);
    return std::string(Name(at->opcode()));
  }

  const CheckSubject& subject_;
  const Module& module_;
  const std::vector<Literal>& inputs_;
  const Outcome& outcome_;
  const SigningHints& hints_;
  Signature signature_;
};

// "right without algsimp or fusion"; "" where no flag silences the bug.
std::string StatesInWords(const Culprit& culprit) {
  const std::vector<PeerFlag>& flags = PeerOfFamily(culprit.peer).telling;
  std::string words;
  for (size_t k = 0; k < flags.size() && k < culprit.states.size(); ++k) {
    if (culprit.states[k] != FlagState::kPasses) continue;
    StrAppend(&words, words.empty() ? "right " : " or ",
              flags[k].lists_passes ? StrCat("without ", flags[k].value)
                                    : StrCat("with ", flags[k].name, "=", flags[k].value));
  }
  return words;
}

// The last words of a dying process, without the numbers that a signature leaves open.
std::string LastWords(std::string_view written) {
  std::string words;
  for (absl::string_view word : absl::StrSplit(ToAbsl(written), ' ', absl::SkipEmpty())) {
    const bool is_number = word.find('#') != word.npos &&
                           std::none_of(word.begin(), word.end(),
                                        [](unsigned char c) { return std::islower(c) != 0; });
    if (!is_number) StrAppend(&words, words.empty() ? "" : " ", ToStd(word));
  }
  return words;
}

}  // namespace

std::string InWords(const Culprit& culprit) {
  const std::string kind = StrCat(Name(culprit.kind), ": ");
  if (const std::string_view death = DeathIn(culprit.words); !death.empty()) {
    const size_t how = death.find(" of ");
    const std::string of =
        how == death.npos ? "" : std::string(death.substr(how, death.find(';') - how));
    const std::string last = LastWords(std::string_view(culprit.words).substr(death.size()));
    return StrCat(kind, "the process died", of, last.empty() ? "" : ": ", last);
  }
  if (culprit.states.empty() && culprit.numbers.empty()) return SignatureText(culprit);
  Culprit plain = culprit;
  plain.states.clear();
  plain.numbers.clear();
  plain.pass = !culprit.pass.empty() ? culprit.pass : "no pass to blame";
  if (const std::string silent = StatesInWords(culprit); !silent.empty())
    StrAppend(&plain.pass, ", ", silent, ",");
  static const std::map<std::string, std::string> kNumbers = {{"f", " of floats"},
                                                              {"c", " of complex numbers"},
                                                              {"p", " of predicates"},
                                                              {"i", " of integers"}};
  const auto numbers = kNumbers.find(culprit.numbers);
  return StrCat(SignatureText(plain), numbers == kNumbers.end() ? "" : numbers->second);
}

std::map<std::string, std::string> CheapFlags(Backend& backend) {
  if (!backend.Describe().dumps_passes || !backend.Describe().can_run) return {};
  const Flags& wanted = PeerOf(backend.Describe()).cheap;
  if (Takes(backend, wanted)) return wanted;
  std::map<std::string, std::string> known;
  for (const auto& flag : wanted) {
    if (Takes(backend, {flag})) known.insert(flag);
  }
  return known;
}

CheckSubject UnderCheapFlags(const CheckSubject& subject, const CheckCase& check_case,
                             Outcome::Kind kind, const std::map<std::string, std::string>& flags) {
  CompileOptions options = subject.options;
  options.flags.insert(flags.begin(), flags.end());
  const CheckSubject cheap{subject.oracle, subject.backend, subject.profile,
                           options,        subject.limits,  subject.oracle_steps};
  const bool fails = !flags.empty() && CheckIsolated(cheap, check_case).outcome.Fails(kind);
  return fails ? cheap : subject;
}

std::vector<FlagState> StatesUnderFlags(const CheckSubject& subject, const Module& module,
                                        const std::vector<Literal>& inputs, Outcome::Kind kind) {
  std::vector<FlagState> states;
  const std::vector<PeerFlag>& flags = PeerOf(subject.backend.Describe()).telling;
  for (const PeerFlag& flag : flags) {
    states.push_back(StateUnder(subject, flag, module, inputs, kind));
    if (states.back() == FlagState::kByChance)
      return std::vector<FlagState>(flags.size(), FlagState::kByChance);
  }
  return states;
}

std::string PlaceOfWrongValue(const Instruction& wrong) {
  const std::string place = StrCat(Name(Outcome::kWrong), " at ", PlaceOf(wrong));
  if (!Info(wrong.opcode()).Is(kElementwise)) return place;
  return StrCat(place, " ", std::string(1, ClassLetter(wrong.shape().element_type())));
}

Signature SignatureOf(const CheckSubject& subject, const Module& module,
                      const std::vector<Literal>& inputs, const Outcome& outcome,
                      const SigningHints& hints) {
  return SignatureMaker(subject, module, inputs, outcome, hints).Run();
}

}  // namespace assay
