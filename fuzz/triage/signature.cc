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

// What a run that writes where it must not does is another thing under each flag, and by chance.
constexpr char kDies = 'c';

char StateUnder(const CheckSubject& subject, const SilencingFlag& flag, const Module& module,
                const std::vector<Literal>& inputs, Outcome::Kind kind) {
  // It fails with the flag as it is.
  const auto is_set = subject.options.flags.find(flag.name);
  if (is_set != subject.options.flags.end() && is_set->second == flag.value) return 'f';
  CheckSubject silenced{subject.oracle, subject.backend, subject.profile, subject.options,
                        subject.limits};
  flag.AddTo(silenced.options.flags);
  const Outcome outcome = CheckIsolated(silenced, CheckCase::Of(module, inputs)).outcome;
  if (kind == Outcome::kWrong && outcome.Fails(Outcome::kRunCrash)) return kDies;
  return outcome.Fails(kind) ? 'f' : outcome.IsPass() ? 'p' : 'x';
}

// Whether a release has the flags.
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

// " at log(exponential) f": a function of floats and one of complex numbers are two things, while
// what moves elements cares little about what they are.
std::string At(const Instruction& wrong, bool is_alone = false) {
  const std::string place =
      StrCat(" at ", is_alone ? std::string(Name(wrong.opcode())) : PlaceOf(wrong));
  if (!Info(wrong.opcode()).Is(kElementwise)) return place;
  return StrCat(place, " ", std::string(1, ClassLetter(wrong.shape().element_type())));
}

class SignatureMaker {
 public:
  SignatureMaker(const CheckSubject& subject, const Module& module,
                 const std::vector<Literal>& inputs, const Outcome& outcome,
                 const SigningHints& hints)
      : subject_(subject), module_(module), inputs_(inputs), outcome_(outcome), hints_(hints) {}

  Signature Run() {
    const BackendDescription& backend = subject_.backend.Describe();
    signature_.text = std::string(Name(outcome_.kind));
    signature_.variant = VariantOf(module_, outcome_.judgement.first.leaf);
    if (IsCrash(outcome_.kind)) {
      StrAppend(&signature_.text, ": ", CrashSignature(outcome_.reason));
    } else if (outcome_.kind == Outcome::kTimeout || outcome_.kind == Outcome::kOutOfMemory) {
      StrAppend(&signature_.text, ": ", Name(outcome_.phase));
    } else if (outcome_.kind == Outcome::kWrong && backend.dumps_passes) {
      SignBySnapshots();
    } else if (backend.has_decisions) {
      const Blame blame = BlameDecision(subject_, module_, inputs_, outcome_.kind);
      StrAppend(&signature_.text, ": ",
                blame.found          ? blame.decision.rule
                : blame.code.empty() ? "no decision"
                                     : StrCat("code of ", blame.code));
    }
    return signature_;
  }

 private:
  void SignBySnapshots() {
    const Instruction* wrong = hints_.first.has_value()
                                   ? hints_.first->instruction
                                   : FirstWrongArray(subject_, module_, inputs_).instruction;
    signature_.wrong = wrong;
    if (wrong != nullptr) {
      signature_.place = PlaceOfWrongValue(*wrong);
      const auto known = hints_.familiar.signatures.find(signature_.place);
      if (known != hints_.familiar.signatures.end()) {
        signature_.text = known->second;
        return;
      }
    }
    const PassBlame& blame = signature_.blame = FindWrongSnapshot(subject_, module_, inputs_);
    if (!blame.pass.empty() && blame.pass != "import") {
      // What computed the constants that an op is folded of, matters as little.
      const bool is_folding = blame.pass == "constant_folding";
      StrAppend(&signature_.text, ": ", blame.pass,
                wrong == nullptr ? StrCat(" of ", ChangedOpcodes(blame))
                                 : At(*wrong, is_folding || FailsAlone(*wrong)));
      return;
    }
    const std::string states = StatesUnderFlags(subject_, module_, inputs_, outcome_.kind);
    StrAppend(
        &signature_.text, blame.pass.empty() ? ": code " : ": import ", states,
        wrong == nullptr ? StrCat(" of ", OpcodeAt(outcome_.judgement.first.leaf)) : Alone(*wrong));
  }

  // Whether the op is wrong by itself, of whatever its operands are made. That is known before the
  // program is reduced, which costs a hundred times as much.
  bool FailsAlone(const Instruction& wrong) const {
    const EvaluateFunction evaluate = [this](const Module& module,
                                             const std::vector<Literal>& inputs) {
      return subject_.oracle.Evaluate(module, CheckCase::Of(module, inputs).arguments[0],
                                      subject_.limits);
    };
    if (PlaceOf(wrong) == Name(wrong.opcode())) return true;
    const ReduceCase whole{module_.Clone(""), inputs_};
    const std::vector<ReduceCase> around =
        ProgramsAround(whole, Counterpart(*whole.module, &wrong), evaluate);
    if (around.empty()) return false;
    const CheckCase alone = CheckCase::Of(*around[0].module, around[0].inputs);
    return CheckIsolated(subject_, alone).outcome.Fails(outcome_.kind);
  }

  // Where no pass is to blame, what gives an op its operands matters little: only element-wise ops
  // are fused with them, and an import looks at one instruction at a time.
  std::string Alone(const Instruction& wrong) const {
    if (Info(wrong.opcode()).Is(kElementwise)) return At(wrong, FailsAlone(wrong));
    return StrCat(" at ", Name(wrong.opcode()));
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

// "right without algsimp and fusion" for "ppfff"; "" where no flag silences the bug.
std::string StatesInWords(std::string_view states) {
  std::string words;
  const std::vector<SilencingFlag> flags = UsualFlags();
  for (size_t k = 0; k < flags.size() && k < states.size(); ++k) {
    if (states[k] != 'p') continue;
    const bool is_pass = flags[k].name == "xla_disable_hlo_passes";
    StrAppend(&words, words.empty() ? "right " : " or ",
              is_pass ? StrCat("without ", flags[k].value)
                      : StrCat("with ", flags[k].name, "=", flags[k].value));
  }
  return words;
}

// What a dying process wrote, without the numbers that a signature leaves open.
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

std::string SignatureInWords(const std::string& text) {
  if (const std::string_view death = DeathIn(text); !death.empty()) {
    const size_t at = static_cast<size_t>(death.data() - text.data());
    const std::string last = LastWords(std::string_view(text).substr(at + death.size()));
    const size_t how = death.find(" of ");
    const std::string of =
        how == death.npos ? "" : std::string(death.substr(how, death.find(';') - how));
    return StrCat(text.substr(0, at), "the process died", of, last.empty() ? "" : ": ", last);
  }
  std::string words = text;
  for (const std::string_view guilty : {": code ", ": import "}) {
    const size_t at = text.find(guilty), states = at + guilty.size();
    if (at == std::string::npos || text.size() < states + UsualFlags().size()) continue;
    const std::string silent = StatesInWords(text.substr(states, UsualFlags().size()));
    const char* first = guilty == ": code " ? ": no pass to blame" : ": import";
    words = StrCat(text.substr(0, at), first, silent.empty() ? "" : ", ", silent,
                   silent.empty() ? "" : ",", text.substr(states + UsualFlags().size()));
  }
  if (words.size() < 2 || words[words.size() - 2] != ' ') return words;
  const std::map<char, std::string> classes = {
      {'f', "floats"}, {'c', "complex numbers"}, {'p', "predicates"}, {'i', "integers"}};
  const auto found = classes.find(words.back());
  if (found == classes.end()) return words;
  words.pop_back();
  return StrCat(words, "of ", found->second);
}

std::map<std::string, std::string> CheapFlags(Backend& backend) {
  if (!backend.Describe().dumps_passes || !backend.Describe().can_run) return {};
  // The last one keeps all functions in one module of LLVM's, instead of one module for each.
  const std::map<std::string, std::string> wanted = {{"xla_backend_optimization_level", "0"},
                                                     {"xla_cpu_use_fusion_emitters", "false"},
                                                     {"xla_cpu_parallel_codegen_split_count", "1"}};
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

std::vector<SilencingFlag> UsualFlags() {
  return {{"xla_disable_hlo_passes", "algsimp"},
          {"xla_disable_hlo_passes", "fusion"},
          {"xla_disable_hlo_passes", "constant_folding"},
          {"xla_cpu_use_fusion_emitters", "false"},
          {"xla_backend_optimization_level", "0"}};
}

void SilencingFlag::AddTo(std::map<std::string, std::string>& flags) const {
  std::string& flag = flags[name];
  const bool adds = name == "xla_disable_hlo_passes" && !flag.empty();
  flag = adds ? StrCat(flag, ",", value) : value;
}

std::string StatesUnderFlags(const CheckSubject& subject, const Module& module,
                             const std::vector<Literal>& inputs, Outcome::Kind kind) {
  std::string states;
  for (const SilencingFlag& flag : UsualFlags()) {
    states += StateUnder(subject, flag, module, inputs, kind);
    if (states.back() == kDies) return std::string(UsualFlags().size(), kDies);
  }
  return states;
}

std::string PlaceOfWrongValue(const Instruction& wrong) {
  return StrCat(Name(Outcome::kWrong), At(wrong));
}

Signature SignatureOf(const CheckSubject& subject, const Module& module,
                      const std::vector<Literal>& inputs, const Outcome& outcome,
                      const SigningHints& hints) {
  return SignatureMaker(subject, module, inputs, outcome, hints).Run();
}

}  // namespace assay
