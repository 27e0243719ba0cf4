// Signatures from guilty decisions, from snapshots of passes and from flags.
#include "fuzz/triage/signature.h"

#include "fuzz/triage/blame.h"
#include "fuzz/triage/bucket.h"
#include "fuzz/triage/pass_blame.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

bool IsCrash(Outcome::Kind kind) {
  return kind == Outcome::kCompileCrash || kind == Outcome::kRunCrash || kind == Outcome::kRejected;
}

class Signer {
 public:
  Signer(const CheckSubject& subject, const Module& module, const std::vector<Literal>& inputs,
         const Outcome& outcome)
      : subject_(subject), module_(module), inputs_(inputs), outcome_(outcome) {}

  Signature Run() {
    const BackendDescription& backend = subject_.backend.Describe();
    signature_.text = std::string(Name(outcome_.kind));
    if (IsCrash(outcome_.kind)) {
      StrAppend(&signature_.text, ": ", CrashSignature(outcome_.reason));
    } else if (outcome_.kind == Outcome::kTimeout || outcome_.kind == Outcome::kOutOfMemory) {
      StrAppend(&signature_.text, ": ", Name(outcome_.phase));
    } else if (outcome_.kind == Outcome::kWrong && backend.dumps_passes) {
      SignBySnapshots();
    } else if (backend.has_decisions) {
      const Blame blame = BlameDecision(subject_, module_, inputs_, outcome_.kind);
      StrAppend(&signature_.text, ": ", blame.found ? blame.decision.rule : "no decision");
    }
    return signature_;
  }

 private:
  void SignBySnapshots() {
    const PassBlame blame = FindWrongSnapshot(subject_, module_, inputs_);
    if (!blame.pass.empty() && blame.pass != "import") {
      StrAppend(&signature_.text, ": ", blame.pass, " of ", ChangedOpcodes(blame));
      const std::string flag = "xla_disable_hlo_passes";
      if (StateWithout(flag, blame.pass) == 'f') signature_.unmasking[flag] = blame.pass;
      return;
    }
    std::string states;
    for (const SilencingFlag& flag : UsualFlags()) states += StateWithout(flag.name, flag.value);
    StrAppend(&signature_.text, blame.pass.empty() ? ": code " : ": import ", states, " of ",
              OpcodeAt(outcome_.judgement.first.leaf));
  }

  // 'p': it passes, 'f': it fails as before, 'x': anything else.
  char StateWithout(const std::string& name, const std::string& value) {
    CheckSubject subject{subject_.oracle, subject_.backend, subject_.profile, subject_.options,
                         subject_.limits};
    std::string& flag = subject.options.flags[name];
    flag = flag.empty() || name != "xla_disable_hlo_passes" ? value : StrCat(flag, ",", value);
    const Outcome outcome = CheckIsolated(subject, CheckCase::Of(module_, inputs_)).outcome;
    return outcome.Fails(outcome_.kind) ? 'f' : outcome.IsPass() ? 'p' : 'x';
  }

  // What computes an output leaf, when the root is a tuple of arrays.
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
  Signature signature_;
};

}  // namespace

std::vector<SilencingFlag> UsualFlags() {
  return {{"xla_disable_hlo_passes", "algsimp"},
          {"xla_disable_hlo_passes", "fusion"},
          {"xla_disable_hlo_passes", "constant_folding"},
          {"xla_cpu_use_fusion_emitters", "false"},
          {"xla_backend_optimization_level", "0"}};
}

Signature SignatureOf(const CheckSubject& subject, const Module& module,
                      const std::vector<Literal>& inputs, const Outcome& outcome) {
  return Signer(subject, module, inputs, outcome).Run();
}

}  // namespace assay
