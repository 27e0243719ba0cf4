// Confirms, blames, reduces and sorts one finding.
#include "fuzz/triage/triage.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "fuzz/backends/remembering_backend.h"
#include "fuzz/opinions/notable.h"
#include "fuzz/opinions/rearranged.h"
#include "fuzz/opinions/second_opinion.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "fuzz/triage/bucket.h"
#include "fuzz/triage/causes.h"
#include "fuzz/triage/pages.h"
#include "fuzz/triage/reduce_failure.h"
#include "fuzz/triage/signature.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/difference.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/types/float_format.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

constexpr int64_t kShownElements = 64;  // of an output on the page
constexpr int kTitleDepth = 3;          // nesting of the expression in a title

bool Small(const Literal& value) {
  int64_t elements = 0;
  for (const Literal* leaf : Leaves(value)) elements += leaf->element_count();
  return elements <= kShownElements;
}

// "dynamic-slice(dynamic-slice(s32[3], s32[]), s32[])"
std::string Expression(const Instruction* at, int depth) {
  if (at->opcode() == Opcode::kParameter || depth == 0) return at->shape().ToString();
  if (at->opcode() == Opcode::kConstant) {
    return at->shape().IsScalar() && at->literal() != nullptr ? at->literal()->ToString()
                                                              : at->shape().ToString();
  }
  std::string text = StrCat(Name(at->opcode()), "(");
  for (int64_t i = 0; i < at->operand_count(); ++i) {
    if (i == 4) {
      text += ", ...";
      break;
    }
    StrAppend(&text, i == 0 ? "" : ", ", Expression(at->operand(i), depth - 1));
  }
  return text + ")";
}

// An answer has NaN where a zero, or a number that vanishes, is right: in types without a negative
// zero that is its code.
bool IsNanForZero(const Expectation& right, const Literal& answer, const ElementFailure& at) {
  const std::vector<const Literal*> leaves = Leaves(answer);
  const bool is_there = at.leaf >= 0 && at.leaf < static_cast<int64_t>(leaves.size()) &&
                        leaves.size() == right.leaves.size();
  if (!is_there) return false;
  const Literal& leaf = *leaves[static_cast<size_t>(at.leaf)];
  const ElementType type = leaf.element_type();
  if (!IsFloat(type)) return false;
  const Literal& plain = right.leaves[static_cast<size_t>(at.leaf)].plain;
  return std::isnan(leaf.GetDouble(at.element)) &&
         std::fabs(plain.GetDouble(at.element)) < Format(type).MinNormal();
}

std::string Plain(const Module& module) { return WriteModule(module, WriteOptions::Long()); }

class Triager {
 public:
  Triager(const Finding& finding, Oracle& oracle, Backend& backend, const TriageOptions& options,
          const Profile& profile)
      : finding_(finding),
        options_(options),
        subject_{oracle, backend, profile, finding.options, options.limits} {
    subject_.limits.backtraces = false;
    // The rest is for blame and the page.
    constexpr double kShareOfReduction = 0.5;
    if (finding.triage_seconds > 0) {
      options_.reduce_seconds =
          std::min(options_.reduce_seconds, kShareOfReduction * finding.triage_seconds);
    }
  }

  absl::StatusOr<TriageReport> Run() {
    ASSAY_ASSIGN_OR_RETURN(case_, CaseOf(finding_));
    page_.finding = finding_;
    page_.original_text = finding_.module_text;
    page_.backend_version = subject_.backend.Describe().version;
    page_.program = options_.program;
    page_.is_jax = subject_.backend.Describe().is_jax;
    Outcome first = Check().outcome;
    // A failure that is now a crash and now a wrong value, or shows only now and then, gets some
    // more tries.
    constexpr int kMoreTries = 3;
    const auto fails = [&] { return first.IsFailure() || first.Fails(finding_.kind); };
    for (int i = 0; i < kMoreTries && !fails(); ++i) first = Check().outcome;
    // A program that had no answer on a busy machine may have one now, which tells more.
    if (first.Fails(Outcome::kTimeout)) first = Check().outcome;
    if (first.IsFailure()) finding_.kind = page_.finding.kind = first.kind;
    if (!fails()) {
      result_.title = StrCat("did not repeat: ", Name(finding_.kind), " on ", finding_.backend);
      page_.steps.push_back(StrCat("It did not repeat: ", StateWord(first), "."));
      return Report();
    }
    result_.confirmed = true;
    seen_ = first;
    page_.steps.push_back("Confirmed: it failed again in a fresh process.");
    if (IsOurs()) {
      options_.blame = false;
      page_.steps.push_back("Nobody but Assay is to blame: its oracle, generator or judge failed.");
    }
    if (options_.blame) BlameIt();
    const ReduceCase whole{case_.module->Clone(""), case_.inputs};
    if (options_.reduce) ReduceIt();
    Finish();
    if (HasSlipped(whole)) {
      page_.steps.push_back(
          "The reduced program was wrong only in the order of its arithmetic: reduced anew.");
      case_ = {whole.module->Clone(""), whole.inputs};
      wrong_.reset();
      options_.may_rearrange = false;
      ReduceIt();
      Finish();
    }
    ASSAY_RETURN_IF_ERROR(Write());
    return Report();
  }

 private:
  CheckResult Check() { return CheckWith(/*backtraces=*/false); }

  CheckResult CheckWith(bool backtraces) {
    CheckSubject subject = subject_;
    subject.limits.backtraces = backtraces;
    return CheckIsolated(subject, CheckCase::Of(*case_.module, case_.inputs),
                         RequestFor(finding_.kind));
  }

  bool IsOurs() const { return finding_.kind == Outcome::kOurFault; }

  bool DumpsPasses() const { return subject_.backend.Describe().dumps_passes; }

  void BlameIt() {
    page_.blame = BlameDecision(subject_, *case_.module, case_.inputs, finding_.kind);
    const Blame& blame = page_.blame;
    if (blame.found && !blame.pass.empty()) {
      result_.blamed_rule = blame.decision.rule;
      page_.steps.push_back(
          StrCat("Blamed: pass ", blame.pass,
                 ", which is required: the module is right before it and wrong after it."));
    } else if (blame.found) {
      result_.blamed_rule = blame.decision.rule;
      page_.steps.push_back(absl::StrFormat(
          "Blamed: decision %d of %d, found with %d compilations%s.", blame.decision.number,
          std::max(blame.total, blame.decision.number), blame.probes,
          blame.confirmed ? "; the program passes with all decisions before it" : ""));
    } else if (!blame.note.empty() && subject_.backend.Describe().has_decisions) {
      page_.steps.push_back(StrCat("Not blamed on one decision: ", blame.note, "."));
    }
  }

  void ReduceIt() {
    TriageOptions options = options_;
    if (!options_.pages.empty() && !subject_.backend.Describe().in_process) {
      options.is_enough = [this](const ReduceCase& small) { return HasItsPage(small); };
    }
    absl::StatusOr<ReduceResult> reduced =
        ReduceFailure(subject_, case_, finding_.kind, result_.blamed_rule, options);
    if (!reduced.ok() && finding_.kind == Outcome::kRunCrash && IsWrongInstead()) {
      reduced = ReduceFailure(subject_, case_, finding_.kind, result_.blamed_rule, options);
    }
    // Another reduction may have come after that of which it was enough.
    if (!reduced.ok() || !reduced->was_enough) explained_.reset();
    if (!reduced.ok()) {
      page_.steps.push_back(StrCat("Not reduced: ", ToStd(reduced.status().message())));
      return;
    }
    int64_t before = case_.module->InstructionCount();
    case_ = std::move(reduced->reduced);
    // If what was found was enough, the rest would not change which ops there are.
    result_.is_smallest = reduced->complete || reduced->was_enough;
    const char* end = reduced->complete     ? ""
                      : reduced->was_enough ? " (its bucket has a page with no larger program)"
                                            : " (time ran out: it may become smaller)";
    page_.steps.push_back(
        absl::StrFormat("Reduced from %d to %d instructions with %d programs tried in %.1f s%s.",
                        before, case_.module->InstructionCount(), reduced->progress.probes,
                        reduced->progress.seconds, end));
  }

  // A write to the wrong place may die once and be wrong ever after, which can be reduced: it is a
  // wrong value from then on.
  bool IsWrongInstead() {
    const Outcome now = Check().outcome;
    if (!now.Fails(Outcome::kWrong)) return false;
    seen_ = now;
    finding_.kind = page_.finding.kind = Outcome::kWrong;
    return true;
  }

  // Explains a program of which only what it computes is small; true if it would not replace the
  // one on the page of its bucket. Asked only where there is a page of the same ops.
  bool HasItsPage(const ReduceCase& small) {
    explained_.reset();
    if (!HasPageOfOps(options_.pages, OpcodeSet(*small.module), small.module->InstructionCount())) {
      return false;
    }
    auto other = std::make_unique<Triager>(finding_, subject_.oracle, subject_.backend, options_,
                                           subject_.profile);
    other->case_ = small.Clone();
    other->page_ = page_;
    other->result_ = result_;
    other->seen_ = other->Check().outcome;
    if (!other->seen_.Fails(finding_.kind)) return false;
    other->Finish();
    const ExistingPage page = ReadExistingPage(
        PageSlot(options_.pages, other->result_.bucket, other->result_.variant, Owner()));
    if (page.instructions < 0 || page.instructions > other->result_.instructions) return false;
    explained_ = std::move(other);
    return true;
  }

  // Takes what was learned of the program when it was asked whether it has its page.
  void TakeExplained() {
    Triager& other = *explained_;
    other.page_.steps = std::move(page_.steps);
    other.result_.is_smallest = result_.is_smallest;
    case_ = std::move(other.case_);
    page_ = std::move(other.page_);
    result_ = std::move(other.result_);
    seen_ = std::move(other.seen_);
    wrong_ = other.wrong_;  // in the program that has moved here
    is_nan_for_zero_ = other.is_nan_for_zero_;
    explained_.reset();
  }

  // Step by step a mistake may become what is legal.
  bool HasSlipped(const ReduceCase& whole) const {
    return options_.reduce && result_.notable == kRearranged &&
           !IsRearranged(subject_, whole, options_.python);
  }

  // A write to the wrong place does something else each time. The judgement is then that of an
  // earlier run, which may be of the program before it was reduced.
  void SayThatItIsNotOfThisRun(const Outcome& now) {
    std::string& judgement = page_.finding.judgement;
    judgement.insert(std::min(judgement.find('\n'), judgement.size()), ", when it failed last");
    const std::string what = now.Describe();
    StrAppend(&judgement, judgement.back() == '\n' ? "" : "\n", "  the program here, run again: ",
              what.empty() ? std::string(StateWord(now)) : what.substr(0, what.find('\n')), "\n");
  }

  // Blames the reduced program once more, so that numbers and texts on the page are those of the
  // small program.
  void Finish() {
    if (explained_ != nullptr) return TakeExplained();
    CheckResult last = CheckWith(/*backtraces=*/IsCrash(finding_.kind));
    // On a busy machine the oracle may come to its limit, which says nothing of the backend.
    constexpr int kMoreTries = 2;
    for (int i = 0; i < kMoreTries && !last.outcome.Fails(finding_.kind); ++i) last = Check();
    if (last.outcome.Fails(finding_.kind)) seen_ = last.outcome;
    const std::string judgement = seen_.Describe();
    page_.finding.judgement = judgement.empty() ? finding_.judgement : judgement;
    if (!last.outcome.Fails(finding_.kind)) SayThatItIsNotOfThisRun(last.outcome);
    page_.got = last.output;
    // Also when the whole program was too unclear for it: the small one is often clear.
    if (options_.blame && subject_.backend.Describe().has_decisions) {
      Blame small = BlameDecision(subject_, *case_.module, case_.inputs, finding_.kind);
      if (small.found) page_.blame = std::move(small);
      if (page_.blame.found) {
        result_.blamed_rule = page_.blame.decision.rule;
        result_.blamed_where = page_.blame.decision.where;
        result_.blamed_decision = page_.blame.decision.number;
      }
    }
    if (options_.blame && DumpsPasses()) {
      page_.pass_blame = BlamePass(subject_, *case_.module, case_.inputs, finding_.kind);
      result_.blamed_rule = page_.pass_blame.pass;
      result_.blamed_where = page_.pass_blame.pipeline;
      result_.silencing = page_.pass_blame.silencing;
    }
    if (!IsOurs()) {  // else the oracle may die of it
      const CheckCase small = CheckCase::Of(*case_.module, case_.inputs);
      absl::StatusOr<Literal> value = EvaluateOn(subject_.oracle, small, subject_.limits);
      if (value.ok() && Small(*value)) page_.expected = value->ToString();
    }
    page_.finding.module_text = Plain(*case_.module);
    page_.finding.inputs = case_.inputs;
    result_.instructions = case_.module->InstructionCount();
    DescribeCulprit();
    std::string who = IsOurs() ? "assay" : result_.blamed_rule;
    if (who.empty()) who = result_.silencing;
    if (who.empty()) who = result_.culprit.peer;
    result_.title = StrCat(who, ": ", Name(finding_.kind), " in ",
                           Expression(case_.module->entry()->root(), kTitleDepth));
  }

  // Who is to blame for the reduced program.
  void DescribeCulprit() {
    Culprit& culprit = result_.culprit = {};
    culprit.peer = IsOurs() ? "assay" : BackendFamily(finding_.backend);
    culprit.kind = finding_.kind;
    if (!DumpsPasses()) culprit.decision = result_.blamed_rule;
    culprit.pass = page_.pass_blame.pass;
    if (DumpsPasses() && culprit.pass.empty() && finding_.kind == Outcome::kWrong)
      culprit.states = StatesUnderFlags(subject_, *case_.module, case_.inputs, finding_.kind);
    if (!subject_.backend.Describe().in_process) culprit.notable = AskOthers();
    result_.notable = culprit.notable;
    if (IsCrash(finding_.kind) || IsOurs()) culprit.words = CrashSignature(seen_.reason);
    culprit.ops = OpcodeSet(*case_.module);
    culprit.numbers = std::string(1, ClassLetterOfNumbers(*case_.module));
    if (finding_.kind == Outcome::kWrong && DumpsPasses()) {
      if (!wrong_.has_value()) wrong_ = FirstWrongArray(subject_, *case_.module, case_.inputs);
      if (const Instruction* wrong = wrong_->instruction; wrong != nullptr) {
        culprit.op = std::string(Name(Origin(*wrong).opcode()));
        culprit.folds = FoldsOf(*wrong);
      }
    }
    culprit.causes = CausesOf(PeerOf(subject_.backend.Describe()), *case_.module,
                              {culprit.op, is_nan_for_zero_});
    result_.variant = VariantOf(*case_.module);
    result_.bucket = BucketName(culprit);
  }

  // A value that is given wrongly by an op that only moves elements is right elsewhere.
  bool MovesElements(int64_t leaf) const {
    const Instruction* at = case_.module->entry()->root();
    if (at->opcode() == Opcode::kTuple && leaf >= 0 && leaf < at->operand_count())
      at = at->operand(leaf);
    const OpFamily family = Info(at->opcode()).family;
    const bool is_move = family == OpFamily::kMovement && at->opcode() != Opcode::kIota;
    return is_move || family == OpFamily::kSorting || at->opcode() == Opcode::kGather;
  }

  // Tells what the op that gives the wrong element makes of its operands, and how that differs from
  // what is right.
  std::string DifferenceOf(const Expectation& expectation, const Literal& answer,
                           const ElementFailure& at) const {
    const std::vector<const Literal*> leaves = Leaves(answer);
    const auto leaf = static_cast<size_t>(at.leaf);
    if (at.leaf < 0 || leaf >= leaves.size() || leaf >= expectation.leaves.size()) return "";
    const Literal& right = expectation.leaves[leaf].plain;
    std::string words = MoveInWords(right, *leaves[leaf]);
    if (words.empty()) {
      words = MovesElements(at.leaf) ? "another element stands there"
                                     : DifferenceInWords(right, *leaves[leaf], at.element);
    }
    if (words.empty()) return "";
    const EvaluateFunction evaluate = [this](const Module& module,
                                             const std::vector<Literal>& inputs) {
      return subject_.oracle.Evaluate(module, CheckCase::Of(module, inputs).arguments[0],
                                      subject_.limits);
    };
    return StrCat(ApplicationOf(case_, at.leaf, at.element, evaluate), ": ", words);
  }

  // Asks numpy for the result of the reduced program, of which the backend gave `answer`; returns
  // what the oracle allows.
  absl::StatusOr<Expectation> AskOpinion(const Literal& answer) {
    const CheckCase small = CheckCase::Of(*case_.module, case_.inputs);
    ASSAY_ASSIGN_OR_RETURN(Expectation expectation,
                           subject_.oracle.Expect(small.module, small.arguments[0],
                                                  subject_.profile, subject_.limits));
    page_.opinion =
        AskSecondOpinion(options_.python, *case_.module, case_.inputs, expectation, answer);
    result_.second_opinion = std::string(Name(page_.opinion.state));
    return expectation;
  }

  // Asks what numpy says of the reduced program, and returns why a wrong value is only notable.
  std::string AskOthers() {
    // Answers that differ from run to run cannot all be what others say.
    if (finding_.kind == Outcome::kNondeterministic) AskOpinion({}).status().IgnoreError();
    if (finding_.kind != Outcome::kWrong) return "";
    NotedOutcome noted = CheckAndNote(subject_, *case_.module, case_.inputs);
    const absl::StatusOr<Expectation> expectation = AskOpinion(noted.answer);
    if (noted.outcome.Fails(Outcome::kWrong)) {
      const ElementFailure &first = noted.outcome.judgement.first,
                           &worst = noted.outcome.judgement.worst;
      page_.wrong = ElementOf(noted.answer, worst, expectation.ok() ? &*expectation : nullptr);
      page_.difference = page_.pass_blame.note;
      if (page_.difference.empty() && expectation.ok())
        page_.difference = DifferenceOf(*expectation, noted.answer, worst);
      is_nan_for_zero_ = expectation.ok() && IsNanForZero(*expectation, noted.answer, first);
      if (noted.notable.empty()) {
        NotedOrigin origin = NotableOrigin(subject_, *case_.module, case_.inputs, noted.answer);
        noted.notable = std::move(origin.notable);
        wrong_ = std::move(origin.first);
      }
      if (noted.notable.empty()) {
        const bool is_rearranged = IsRearrangedBy({page_.pass_blame}, subject_, *case_.module,
                                                  case_.inputs, noted.answer, options_.python);
        if (is_rearranged) noted.notable = kRearranged;
      }
      if (noted.notable.empty()) {
        // Another output, which is right, may keep the question from being asked.
        const std::optional<ReduceCase> part = WithOneOutput(case_, first.leaf);
        if (part.has_value() && IsRearranged(subject_, *part, options_.python)) {
          noted.notable = kRearranged;
        }
      }
    }
    return noted.notable;
  }

  PageOwner Owner() const {
    return {finding_.backend, subject_.backend.Describe().version, finding_.options.defect};
  }

  absl::Status Write() {
    if (options_.pages.empty()) return absl::OkStatus();
    const std::string folder = PageSlot(options_.pages, result_.bucket, result_.variant, Owner());
    result_.page = folder;
    page_.result = result_;
    const ExistingPage existing = ReadExistingPage(folder);
    page_.duplicates = existing.duplicates;
    if (existing.instructions >= 0) ++page_.duplicates;
    if (existing.instructions >= 0 && existing.instructions <= result_.instructions) {
      return CountDuplicates(folder, page_.duplicates);
    }
    page_.releases =
        DescribeReleases(CheckReleases(subject_, *case_.module, case_.inputs, options_.releases));
    return WriteBugPage(page_, folder);
  }

  absl::StatusOr<TriageReport> Report() {
    page_.result = result_;
    return TriageReport{result_, std::move(page_)};
  }

  Finding finding_;  // its kind is what it shows now
  Outcome seen_;     // the last failure of this kind
  TriageOptions options_;
  CheckSubject subject_;
  ReduceCase case_;
  BugPage page_;
  bool is_nan_for_zero_ = false;
  std::optional<WrongArray> wrong_;  // of the reduced program, once it is known
  TriageResult result_;
  std::unique_ptr<Triager> explained_;  // of a program that was reduced enough
};

}  // namespace

absl::StatusOr<ReduceCase> CaseOf(const Finding& finding) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadModule(finding.module_text));
  ASSAY_RETURN_IF_ERROR(Verify(*module));
  int64_t wanted = module->entry()->parameter_count();
  if (static_cast<int64_t>(finding.inputs.size()) != wanted) {
    return absl::InvalidArgumentError(
        StrCat("the module takes ", wanted, " inputs, ", finding.inputs.size(), " were given"));
  }
  return ReduceCase{std::move(module), finding.inputs};
}

absl::StatusOr<TriageReport> Triage(const Finding& finding, Oracle& oracle, Backend& backend,
                                    const TriageOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const Profile* profile, Profile::Find(finding.profile));
  // Elsewhere a compilation costs more than all else, and many of the questions are about the same
  // program on other inputs.
  std::unique_ptr<Backend> elsewhere;
  if (!backend.Describe().in_process) elsewhere = Remembering(backend);
  Backend& asked = elsewhere != nullptr ? *elsewhere : backend;
  return Triager(finding, oracle, asked, options, *profile).Run();
}

TriageFunction MakeTriage(TriageOptions options) {
  return [options = std::move(options)](const Finding& finding, Oracle& oracle,
                                        Backend& backend) -> absl::StatusOr<TriageResult> {
    ASSAY_ASSIGN_OR_RETURN(TriageReport report, Triage(finding, oracle, backend, options));
    return report.result;
  };
}

absl::StatusOr<Finding> FindingOf(const CheckSubject& subject, const Module& module,
                                  const std::vector<Literal>& inputs) {
  const std::string& name = subject.backend.Describe().name;
  const Outcome outcome = CheckIsolated(subject, CheckCase::Of(module, inputs)).outcome;
  const std::string judgement = outcome.Describe();
  if (!outcome.IsFailure()) {
    return absl::FailedPreconditionError(StrCat("the program does not fail on ", name, ": ",
                                                StateWord(outcome), judgement.empty() ? "" : "; ",
                                                judgement));
  }
  Finding finding;
  finding.kind = outcome.kind;
  finding.backend = name;
  finding.options = subject.options;
  finding.profile = subject.profile.name();
  finding.module_text = Plain(module);
  finding.inputs = inputs;
  finding.judgement = judgement;
  return finding;
}

}  // namespace assay
