// Runs the dumps of XLA's passes on the oracle, and XLA without its passes.
#include "fuzz/blame/pass_blame.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "fuzz/backends/peer.h"
#include "spec/backend/loop_notes.h"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"
#include "spec/text/reader.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct Snapshot {
  std::string pipeline, pass;  // from the file name: NNNN.PIPELINE.after_PASS.before_NEXT.txt
  std::string text;
};

std::string Between(const std::string& text, const std::string& from, const std::string& to) {
  size_t begin = text.find(from);
  if (begin == std::string::npos) return "";
  begin += from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

std::vector<Snapshot> ReadSnapshots(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (absl::StrContains(name, ".after_") && absl::EndsWith(name, ".txt")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());  // numbered in order
  std::vector<Snapshot> snapshots;
  for (const std::string& name : names) {
    std::ifstream file(fs::path(folder) / name);
    std::ostringstream text;
    text << file.rdbuf();
    size_t after = name.find(".after_"), dot = name.rfind('.', after - 1);
    snapshots.push_back(
        {name.substr(dot + 1, after - dot - 1), Between(name, ".after_", "."), text.str()});
  }
  return snapshots;
}

class PassSearch {
 public:
  PassSearch(const CheckSubject& subject, const Module& module, const std::vector<Literal>& inputs,
             Outcome::Kind kind)
      : subject_(subject), module_(module), inputs_(inputs), kind_(kind) {
    for (const Literal& input : inputs) arguments_.push_back(&input);
  }

  PassBlame Find() {
    SearchSnapshots();
    return std::move(blame_);
  }

  PassBlame Run() {
    if (kind_ == Outcome::kWrong) SearchSnapshots();
    AskFlags();
    Sum();
    return std::move(blame_);
  }

 private:
  Outcome CheckWith(const std::map<std::string, std::string>& flags) {
    CheckSubject subject{subject_.oracle, subject_.backend, subject_.profile, subject_.options,
                         subject_.limits};
    for (const auto& [name, value] : flags)
      PeerFlag{name, value, name == peer_.pass_flag}.AddTo(subject.options.flags);
    return CheckIsolated(subject, CheckCase::Of(module_, inputs_)).outcome;
  }

  void Dump(const std::string& folder) {
    Flags flags = peer_.dump;
    flags[peer_.dump_folder] = folder;
    Flags with_newer = flags;
    with_newer.insert(peer_.dump_newer.begin(), peer_.dump_newer.end());
    if (CheckWith(with_newer).Fails(Outcome::kRejected)) CheckWith(flags);
  }

  void SearchSnapshots() {
    const TemporaryFolder folder("assay-dump");
    if (!folder.ok()) {
      blame_.verdict = "no temporary folder for the dumps";
      return;
    }
    Dump(folder.path());
    std::vector<Snapshot> snapshots = ReadSnapshots(folder.path());
    const Limits& limits = subject_.limits;
    absl::StatusOr<Expectation> expectation =
        subject_.oracle.Expect(module_, arguments_, subject_.profile, limits);
    if (!expectation.ok()) return;
    const Snapshot* last_right = nullptr;
    const std::string* last_text = nullptr;
    for (const Snapshot& snapshot : snapshots) {
      ++blame_.snapshots;
      // Most passes change nothing.
      if (last_text != nullptr && snapshot.text == *last_text) continue;
      if (last_text != nullptr) NoteChange(snapshot.pass);
      last_text = &snapshot.text;
      absl::StatusOr<Literal> value = Evaluate(snapshot.text, limits);
      if (!value.ok()) {
        ++blame_.unreadable;
        continue;
      }
      if (Judge(*expectation, *value).verdict != Verdict::kFail) {
        blame_.note = WrongNote(snapshot.text, *expectation);
        if (blame_.note.empty()) {
          last_right = &snapshot;
          continue;
        }
      }
      // The first snapshot is what XLA made of the text (through StableHLO) before any pass.
      bool imported = last_right == nullptr && blame_.unreadable == 0;
      blame_.pass = imported ? "import" : snapshot.pass;
      blame_.pipeline = imported ? "" : snapshot.pipeline;
      blame_.before = last_right == nullptr ? "" : last_right->text;
      blame_.after = snapshot.text;
      return;
    }
  }

  // Each once, in the order of their last changes. The ends of pipelines are no passes.
  void NoteChange(const std::string& pass) {
    if (absl::StartsWith(pass, "pipeline-")) return;
    std::erase(changing_, pass);
    changing_.push_back(pass);
  }

  // Returns the note about a loop in the snapshot by which the answer is wrong; else "".
  std::string WrongNote(const std::string& text, const Expectation& expectation) {
    const absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
    if (!module.ok()) return "";
    return WrongLoopNote(**module, [&](const Module& noted) {
      const absl::StatusOr<Literal> value = EvaluateModule(noted, subject_.limits);
      return value.ok() && Judge(expectation, *value).verdict == Verdict::kFail;
    });
  }

  absl::StatusOr<Literal> Evaluate(const std::string& text, const Limits& limits) {
    ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadModule(text));
    return EvaluateModule(*module, limits);
  }

  absl::StatusOr<Literal> EvaluateModule(const Module& module, const Limits& limits) {
    if (const std::vector<std::string> missing = Unsupported(module); !missing.empty()) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat("the oracle does not evaluate ", absl::StrJoin(missing, ", ")));
    }
    ASSAY_RETURN_IF_ERROR(Verify(module));
    return subject_.oracle.Evaluate(module, arguments_, limits);
  }

  Outcome Flag(const Flags& flags) {
    Outcome outcome = CheckWith(flags);
    // Without a pass that it needs, a compiler may die of what it compiles otherwise.
    const bool fails_otherwise = outcome.IsFailure() && !outcome.Fails(kind_);
    blame_.checks.emplace_back(StrCat("--", absl::StrJoin(flags, " --", absl::PairFormatter("="))),
                               fails_otherwise ? Name(outcome.kind) : StateWord(outcome));
    return outcome;
  }

  // One after the other, and not by halves: with many at once hardly any program is compiled. The
  // last is the nearest to what is wrong, as the code that another pass made may only be what a
  // later one goes wrong on.
  void DisablePasses() {
    constexpr double kMostSeconds = 60;
    const double begun = Now();
    for (auto pass = changing_.rbegin(); pass != changing_.rend(); ++pass) {
      if (Now() - begun > kMostSeconds) return;
      if (!CheckWith({{peer_.pass_flag, *pass}}).IsPass()) continue;
      blame_.silencing = *pass;
      blame_.checks.emplace_back(StrCat("--", peer_.pass_flag, "=", *pass), "pass");
      return;
    }
  }

  void AskFlags() {
    if (!blame_.pass.empty() && blame_.pass != "import")
      without_pass_ = Flag({{peer_.pass_flag, blame_.pass}});
    passes_matter_ = Flag(peer_.no_passes).IsPass();
    llvm_matters_ = Flag(peer_.no_optimization).IsPass();
    if (kind_ == Outcome::kWrong && blame_.pass.empty() && !llvm_matters_) DisablePasses();
  }

  void Sum() {
    if (!blame_.verdict.empty()) return;
    if (blame_.pass == "import") {
      blame_.verdict =
          "the module is wrong before the first pass: it is the import of the program, which XLA "
          "takes in by way of StableHLO";
    } else if (!blame_.pass.empty()) {
      blame_.verdict =
          StrCat(blame_.note.empty() ? "the module" : "what it says of a loop's trips or counter",
                 " is wrong after pass ", blame_.pass, " of pipeline ", blame_.pipeline,
                 without_pass_.IsPass() ? ", and right without that pass"
                 : without_pass_.Fails(Outcome::kRejected)
                     ? "; this release does not let that pass be disabled alone"
                     : "; disabling that pass alone does not help");
    } else if (llvm_matters_) {
      blame_.verdict =
          "every dumped module is right, and so is the code at optimization level 0: LLVM's "
          "optimization of the generated code";
    } else if (!blame_.silencing.empty()) {
      blame_.verdict = StrCat("right without pass ", blame_.silencing,
                              ", though every dumped module that can be read is right");
    } else if (passes_matter_) {
      blame_.verdict =
          "right without HLO passes, though every dumped module that can be read is right";
    } else {
      blame_.verdict =
          "neither HLO passes nor LLVM optimization matter: code generation or run time";
    }
  }

  const CheckSubject& subject_;
  const Peer& peer_ = PeerOf(subject_.backend.Describe());
  const Module& module_;
  const std::vector<Literal>& inputs_;
  Outcome::Kind kind_;
  std::vector<const Literal*> arguments_;
  std::vector<std::string> changing_;  // passes that changed the text
  PassBlame blame_;
  Outcome without_pass_;
  bool passes_matter_ = false, llvm_matters_ = false;
};

// By opcode, in computations that do more than combine scalars.
std::map<Opcode, int64_t> CountOpcodes(const std::string& text) {
  std::map<Opcode, int64_t> counts;
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  if (!module.ok()) return counts;
  for (const Computation* computation : (*module)->computations()) {
    bool combines_scalars = computation != (*module)->entry();
    for (const Instruction* at : *computation) combines_scalars &= at->shape().IsScalar();
    if (combines_scalars) continue;
    for (const Instruction* at : *computation) {
      const bool stands_around =
          at->opcode() == Opcode::kParameter || at->opcode() == Opcode::kConstant ||
          at->opcode() == Opcode::kTuple || at->opcode() == Opcode::kGetTupleElement;
      if (!stands_around) ++counts[at->opcode()];
    }
  }
  return counts;
}

}  // namespace

PassBlame FindWrongSnapshot(const CheckSubject& subject, const Module& module,
                            const std::vector<Literal>& inputs) {
  return PassSearch(subject, module, inputs, Outcome::kWrong).Find();
}

std::set<std::string> ChangedOpcodes(const PassBlame& blame) {
  std::map<Opcode, int64_t> counts = CountOpcodes(blame.after);
  const std::map<Opcode, int64_t> before = CountOpcodes(blame.before);
  std::set<std::string> changed, all;
  for (const auto& [opcode, count] : before) counts.try_emplace(opcode, 0);
  for (const auto& [opcode, count] : counts) {
    const auto old = before.find(opcode);
    all.insert(std::string(Name(opcode)));
    if (old == before.end() || old->second != count) changed.insert(std::string(Name(opcode)));
  }
  return changed.empty() ? all : changed;
}

PassBlame BlamePass(const CheckSubject& subject, const Module& module,
                    const std::vector<Literal>& inputs, Outcome::Kind kind) {
  return PassSearch(subject, module, inputs, kind).Run();
}

}  // namespace assay
