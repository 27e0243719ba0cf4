// Runs the passes once per program, with a watcher in the place of a defect that notes which
// defects would have had something to bend; checks the program with each of them.
#include "tools/assay/texts/defect_screen.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/generator/generate.h"
#include "fuzz/generator/input_sets.h"
#include "optimized/cpu/cpu_options.h"
#include "optimized/defects/bends.h"
#include "optimized/defects/defect.h"
#include "optimized/defects/folded.h"
#include "optimized/gates/claim_names.h"
#include "optimized/gates/gates.h"
#include "optimized/gpu/gpu_options.h"
#include "optimized/pipeline/pipeline.h"
#include "reference/interpreter/interpreter.h"
#include "spec/attributes/opcode.h"
#include "spec/backend/backend.h"
#include "spec/backend/check.h"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"
#include "tools/assay/environment.h"

namespace assay {
namespace {

// Bends nothing, and notes the numbers of the defects that would have.
class Watcher : public GateDefect {
 public:
  explicit Watcher(const std::vector<Defect>& defects) : defects_(defects) {
    for (size_t i = 0; i < defects.size(); ++i) of_gate_[defects[i].gate].push_back(i);
  }

  bool Bites(DecisionKind kind, std::string_view rule, const Instruction* at) const override {
    Note(rule, [&](const Defect& defect) { return defect.kind == kind && defect.GuardHolds(at); });
    return false;
  }
  int64_t BendInteger(int64_t known) const override { return known; }
  bool ClaimsTrue() const override { return true; }
  bool Forgets(std::string_view claim, const Instruction* at) const override {
    Note(claim, [&](const Defect& defect) { return ForgetsClaim(defect, claim, at); });
    return false;
  }
  int64_t BendNumber(std::string_view claim, const Instruction* at, int64_t known) const override {
    Note(claim, [&](const Defect& defect) {
      return assay::BendNumber(defect, claim, at, known) != known;
    });
    return known;
  }
  void BendFolded(const Instruction& at, absl::Span<const Literal* const> operands,
                  Literal& value) const override {
    Note(std::string("constant-folding/") + std::string(Name(at.opcode())),
         [&](const Defect& defect) {
           Literal bent = value;
           assay::BendFolded(defect, at, operands, bent);
           return !bent.BitwiseEqual(value);
         });
  }
  Instruction* BendRewrite(int64_t, Instruction* with) const override { return with; }
  const KernelBends& kernel_bends() const override { return kNoBends; }

  // Takes the defects noted since the last call.
  std::set<size_t> Take() { return std::exchange(noted_, {}); }

 private:
  template <typename Would>
  void Note(std::string_view gate, Would would) const {
    const auto at = of_gate_.find(gate);
    if (at == of_gate_.end()) return;
    for (size_t i : at->second) {
      if (!noted_.contains(i) && would(defects_[i])) noted_.insert(i);
    }
  }

  const std::vector<Defect>& defects_;
  std::map<std::string, std::vector<size_t>, std::less<>> of_gate_;
  mutable std::set<size_t> noted_;  // gates ask of a defect that does not change
};

bool HoldsArrayOf(int64_t elements, const Module& module) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (at->shape().IsArray() && at->shape().ElementCount() >= elements) return true;
    }
  }
  return false;
}

// For gates whose names say which ops they concern: true if the module has one of these.
bool HoldsWhatItNeeds(const Defect& defect, const Module& module) {
  static constexpr std::pair<std::string_view, Opcode> kNeeds[] = {
      {"blocked-dot", Opcode::kDot},
      {"-dus", Opcode::kDynamicUpdateSlice},
      {"scatter", Opcode::kScatter},
      {"solve-", Opcode::kTriangularSolve},
      {"cholesky", Opcode::kCholesky},
      {"sort-", Opcode::kSort},
      {"/combiner-", Opcode::kReduce},
      {"/neutral-", Opcode::kReduce},
      {"fft-", Opcode::kFft},
      {"random-", Opcode::kRngBitGenerator},
      {"while-", Opcode::kWhile},
      {"gather-", Opcode::kGather},
      {"cumulative-", Opcode::kReduceWindow},
      {"alias-reshape/same-order", Opcode::kBitcast},
      {"/bitcast-keeps-order", Opcode::kBitcast},
  };
  for (const auto& [word, opcode] : kNeeds) {
    if (defect.gate.find(word) == std::string::npos) continue;
    for (const Computation* computation : module.computations()) {
      for (const Instruction* at : *computation) {
        if (at->opcode() == opcode) return true;
      }
    }
    return false;
  }
  // Threads share the work of large arrays alone.
  constexpr int64_t kLeastShared = 1024;
  if (defect.kind == DecisionKind::kTask) return HoldsArrayOf(kLeastShared, module);
  return true;
}

// True if a defect of generated code may bite: its opcode occurs, or its claim names none.
bool MayBiteInCode(const Defect& defect, const Module& module) {
  const bool in_code = defect.kind == DecisionKind::kKernel ||
                       defect.kind == DecisionKind::kBuffer || defect.kind == DecisionKind::kTask;
  if (!in_code) return false;
  const std::optional<Opcode> opcode = OpcodeFromName(ClaimOf(defect.gate));
  if (!opcode || RuleOf(defect.gate) != "optimize-kernel") return HoldsWhatItNeeds(defect, module);
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (at->opcode() == *opcode && defect.GuardHolds(at)) return true;
    }
  }
  return false;
}

// The passes that a backend of ours runs.
absl::StatusOr<PipelineOptions> PipelineOf(const std::string& backend) {
  const size_t colon = backend.find(':');
  const std::string family = backend.substr(0, colon);
  const std::string options = colon == backend.npos ? "" : backend.substr(colon + 1);
  if (family == "cpu") {
    ASSAY_ASSIGN_OR_RETURN(const auto flags, ParseBackendOptions(options, CpuOptionNames()));
    ASSAY_ASSIGN_OR_RETURN(CpuOptions read, ParseCpuOptions(flags));
    return std::move(read.pipeline);
  }
  if (family == "gpu-sim") {
    ASSAY_ASSIGN_OR_RETURN(const auto flags, ParseBackendOptions(options, gpu::GpuOptionNames()));
    ASSAY_ASSIGN_OR_RETURN(gpu::GpuOptions read, gpu::ParseGpuOptions(flags));
    return std::move(read.pipeline);
  }
  return absl::InvalidArgumentError(
      StrCat("defects are screened on cpu and gpu-sim, not on ", family, "; --run takes any"));
}

// Defects that want the same passes.
class Screen {
 public:
  Screen(std::vector<PlantedDefect> planted, const ScreenOptions& options)
      : planted_(std::move(planted)), options_(options), results_(planted_.size()) {}

  absl::StatusOr<std::vector<ScreenResult>> Run() {
    for (const PlantedDefect& defect : planted_) {
      ASSAY_ASSIGN_OR_RETURN(Defect parsed, ParseDefect(defect.json));
      parsed_.push_back(std::move(parsed));
    }
    const std::string backend = BackendFor(planted_[0], options_.backend);
    ASSAY_ASSIGN_OR_RETURN(pipeline_, PipelineOf(backend));
    ASSAY_ASSIGN_OR_RETURN(backend_, OpenBackend(backend));
    oracle_ = MakeOracle();
    watcher_ = std::make_shared<Watcher>(parsed_);
    if (backend_->Describe().capability) {
      ExcludeUnsupported(backend_->Describe().capability, generator_);
    }
    int64_t alive = static_cast<int64_t>(planted_.size());
    for (int64_t i = 0; i < options_.programs && alive > 0; ++i) {
      const Case made = GenerateCase(options_.seed, static_cast<uint64_t>(i), generator_);
      if (!Verify(*made.module).ok()) continue;
      // Anything that the compiler makes once is then there for all the children that check
      // programs.
      if (i == 0) backend_->Compile(*made.module, CompileOptions()).status().IgnoreError();
      for (size_t d : Candidates(*made.module)) {
        if (!Try(d, made, i)) continue;
        --alive;
        if (options_.done) options_.done(planted_[d], results_[d]);
      }
      if (options_.progress) options_.progress(i, alive);
    }
    for (size_t d = 0; d < results_.size(); ++d) {
      if (results_[d].killed) continue;
      results_[d].programs = options_.programs;
      if (options_.done) options_.done(planted_[d], results_[d]);
    }
    return results_;
  }

 private:
  std::vector<size_t> Candidates(const Module& module) {
    std::unique_ptr<Module> copy = module.Clone("");
    Gates gates(-1, watcher_);
    const bool optimized = RunRequired(Stage::kLegalize, *copy, gates, pipeline_).ok() &&
                           Optimize(*copy, gates, pipeline_).ok();
    std::set<size_t> noted = watcher_->Take();
    for (size_t d = 0; d < parsed_.size(); ++d) {
      if (IsOfDecidedCode(d)) continue;
      if (MayBiteInCode(parsed_[d], module) || (optimized && MayBiteInCode(parsed_[d], *copy))) {
        noted.insert(d);
      }
    }
    NoteDecidedCode(module, noted);
    std::vector<size_t> open;
    for (size_t d : noted) {
      if (!results_[d].killed) open.push_back(d);
    }
    return open;
  }

  // Kernels of GPUs: each template asks before it is used.
  bool IsOfDecidedCode(size_t d) const {
    return planted_[d].backend == "gpu-sim" && parsed_[d].kind == DecisionKind::kKernel;
  }

  // Kernels of whole rows are a template that a pass decides for.
  static std::string_view DecisionOf(const Defect& defect) {
    if (defect.gate.starts_with("optimize-kernel/row-")) return "fuse-rows";
    if (defect.gate.starts_with("optimize-kernel/attention-")) return "fuse-attention";
    return RuleOf(defect.gate);
  }

  // A defect may bite where the compiler decided for its template.
  void NoteDecidedCode(const Module& module, std::set<size_t>& noted) const {
    std::set<std::string, std::less<>> rules;
    for (size_t d = 0; d < parsed_.size(); ++d) {
      if (!IsOfDecidedCode(d) || results_[d].killed) continue;
      if (rules.empty()) {
        const auto executable = backend_->Compile(module, CompileOptions());
        if (!executable.ok()) return;
        for (const Decision& decision : (*executable)->decisions()) rules.insert(decision.rule);
        rules.insert("");
      }
      if (rules.contains(DecisionOf(parsed_[d]))) noted.insert(d);
    }
  }

  // True if the program kills the defect.
  bool Try(size_t d, const Case& made, int64_t index) {
    ScreenResult& result = results_[d];
    ++result.bites;
    if (result.tries >= options_.tries) return false;
    ++result.tries;
    ScopedTimer timer(result.seconds);
    CompileOptions compile;
    compile.defect = planted_[d].json;
    const Profile* own = backend_->Describe().profile;
    constexpr int64_t kOracleSteps = int64_t{1} << 26;
    const CheckSubject subject{*oracle_, *backend_,      own != nullptr ? *own : Profile::Xla(),
                               compile,  compile.limits, kOracleSteps};
    Outcome::Kind kind =
        CheckIsolated(subject, CheckCase::Of(*made.module, made.inputs)).outcome.kind;
    const auto fails = [&] { return kind >= Outcome::kRejected && kind <= Outcome::kOutOfMemory; };
    if (kind == Outcome::kInconclusive) {
      kind = CheckIsolated(subject, CheckCase::OfPointers(*made.module, made.ExactArguments()))
                 .outcome.kind;
    }
    if (!fails()) {
      const std::vector<Literal> second =
          InputSet(made, options_.seed, static_cast<uint64_t>(index), 1);
      kind = CheckIsolated(subject, CheckCase::Of(*made.module, second)).outcome.kind;
    }
    if (!fails()) return false;
    result.killed = true;
    result.programs = index + 1;
    return true;
  }

  const std::vector<PlantedDefect> planted_;
  const ScreenOptions& options_;
  PipelineOptions pipeline_;
  std::vector<ScreenResult> results_;
  std::vector<Defect> parsed_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Oracle> oracle_;
  std::shared_ptr<Watcher> watcher_;
  GeneratorOptions generator_;
};

}  // namespace

absl::StatusOr<std::vector<ScreenResult>> ScreenDefects(const std::vector<PlantedDefect>& defects,
                                                        const ScreenOptions& options) {
  std::map<std::string, std::vector<PlantedDefect>> by_passes;
  for (const PlantedDefect& defect : defects) by_passes[defect.passes].push_back(defect);
  std::vector<ScreenResult> results;
  for (const auto& [passes, alike] : by_passes) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<ScreenResult> some, Screen(alike, options).Run());
    results.insert(results.end(), some.begin(), some.end());
  }
  return results;
}

}  // namespace assay
