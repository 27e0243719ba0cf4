// Grows a chain of ops per operand and one behind the dot, as long as steps in memory say it, and
// takes in what is made of the sums element by element.
#include "optimized/passes/fusion/contraction_fusion.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "optimized/analysis/walks/contraction_views.h"
#include "optimized/passes/util/contraction_epilogue.h"
#include "optimized/passes/util/module_util.h"
#include "optimized/target/target.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr size_t kMaxChain = 8;
constexpr size_t kMaxAxes = 6;  // by role
constexpr int64_t kShortestLine = 16;

using Chain = std::vector<Instruction*>;
struct Chains {
  std::array<Chain, 2> before;  // of each operand, the op next to the dot first
  Chain behind;                 // the op next to the dot first
};

bool IsRenaming(const Instruction& op) { return op.opcode() == Opcode::kReshape; }

// Ops that only rename elements cost nothing where they are.
void DropRenamings(Chain& chain) {
  while (!chain.empty() && IsRenaming(*chain.back())) chain.pop_back();
}

class Fuser {
 public:
  Fuser(Instruction* dot, PassContext& context, const Purity& purity, EpilogueFinder& epilogues)
      : dot_(dot), context_(context), purity_(purity), epilogues_(epilogues) {}

  bool Run() {
    const Target* target = context_.options.target;
    if (target == nullptr || !IsTaken(*dot_)) return false;
    const std::optional<ContractionCode> code = target->contraction(*dot_, *target);
    if (!code.has_value()) return Stays("the dot is small");
    if (code->library_call.empty()) return Stays("no kernel of the library makes the dot");
    for (int64_t side : {0, 1}) GrowBefore(side);
    GrowBehind();
    if (!Fits()) return Stays("the dimensions are cut in too many ways");
    GrowEpilogue();
    if (!chains_.before[0].empty() || !chains_.before[1].empty() || !chains_.behind.empty() ||
        !epilogue_.members.empty()) {
      Build();
      return true;
    }
    return false;
  }

 private:
  bool IsTaken(const Instruction& op) const {
    return IsPlain(op) && purity_.IsPure(op) && op.shape().layout().extras() == nullptr;
  }
  bool Stays(std::string_view why) const {
    if (context_.options.log) context_.options.log(StrCat("%", dot_->name(), ": ", why));
    return false;
  }

  bool Asks(Instruction* op) {
    return context_.gates.Allow(DecisionKind::kKernel, "fuse-contraction", op);
  }

  // The view of the dot with the chains as they are.
  std::optional<ContractionView> View() const {
    const auto plain = [](const Chain& chain) {
      return std::vector<const Instruction*>(chain.begin(), chain.end());
    };
    return ViewContraction(*dot_, plain(chains_.before[0]), plain(chains_.before[1]),
                           plain(chains_.behind));
  }

  bool Fits() const {
    const std::optional<ContractionView> view = View();
    if (!view.has_value()) return false;
    const std::optional<ContractionAxes> axes = AxesOf(*view);
    return axes.has_value() && axes->batch.size() <= kMaxAxes && axes->m.size() <= kMaxAxes &&
           axes->n.size() <= kMaxAxes && axes->sum.size() <= kMaxAxes;
  }

  // Takes the longest part of `all` that fits, and asks for it op by op.
  void Take(const Chain& all, Chain& chain) {
    chain = all;
    DropRenamings(chain);
    while (!chain.empty() && !Fits()) {
      chain.pop_back();
      DropRenamings(chain);
    }
    AskForAll(chain);
  }

  void AskForAll(Chain& chain) {
    for (size_t k = 0; k < chain.size(); ++k) {
      if (Asks(chain[k])) continue;
      chain.resize(k);
      DropRenamings(chain);
      return;
    }
  }

  // Says why a chain ends at `op`, if one of its kind may be in chains at all.
  void TellEnd(const Instruction& op, bool is_before) const {
    std::string_view why;
    if (op.opcode() == Opcode::kConvert) why = is_before ? "changes values" : "rounds anew";
    if (op.opcode() == Opcode::kSlice && is_before) why = "leaves holes in lines";
    if (why.empty()) return;
    Stays(StrCat(Name(op.opcode()), is_before ? " before it " : " behind it ", why));
  }

  void GrowBefore(int64_t side) {
    Chain all;
    Instruction* op = dot_->operand(side);
    while (all.size() < kMaxChain && MayStandBefore(*op) && IsTaken(*op)) {
      all.push_back(op);
      op = op->operand(0);
    }
    if (!MayStandBefore(*op)) TellEnd(*op, true);
    Take(all, chains_.before[static_cast<size_t>(side)]);
  }

  void GrowBehind() {
    Chain all;
    Instruction* op = dot_;
    while (all.size() < kMaxChain && op != dot_->parent()->root()) {
      if (op->users().size() != 1) break;
      Instruction* user = op->users()[0];
      if (user->operand_count() != 1 || !MayStandBehind(*user, *dot_) || !IsTaken(*user)) {
        TellEnd(*user, false);
        break;
      }
      all.push_back(user);
      op = user;
    }
    chains_.behind = std::move(all);
    while (!chains_.behind.empty() && !Fits()) chains_.behind.pop_back();
  }

  Instruction* Sums() const { return chains_.behind.empty() ? dot_ : chains_.behind.back(); }

  bool HasLongLines() const {
    const std::optional<ContractionView> view = View();
    return view.has_value() && LineOfSums(*view) >= kShortestLine;
  }

  void GrowEpilogue() {
    epilogue_ = epilogues_.Find(Sums());
    if (!epilogue_.members.empty() && !HasLongLines()) {
      epilogue_ = {};
      epilogue_.why_not = "its lines are too short to be finished one by one";
    }
    if (epilogue_.members.empty() && epilogue_.why_not.empty() && Sums()->users().size() > 1) {
      epilogue_.why_not = "several read it";
    }
    if (!epilogue_.why_not.empty()) Stays(epilogue_.why_not);
    const size_t behind = chains_.behind.size();
    if (epilogue_.members.empty()) {
      DropRenamings(chains_.behind);
      return AskForAll(chains_.behind);
    }
    AskForAll(chains_.behind);
    if (chains_.behind.size() < behind ||
        !context_.gates.Allow(DecisionKind::kKernel, "fuse-epilogue", epilogue_.result)) {
      epilogue_.members.clear();
      DropRenamings(chains_.behind);
    }
  }

  void Build() {
    Computation* computation = dot_->parent();
    Computation* fused = computation->parent()->AddComputation("fused_dot");
    absl::flat_hash_map<const Instruction*, Instruction*> inside;
    std::vector<Instruction*> operands;
    const auto read = [&](Instruction* source) {
      Instruction*& parameter = inside[source];
      if (parameter != nullptr) return;
      parameter = fused->AddParameter(static_cast<int64_t>(operands.size()), source->shape());
      operands.push_back(source);
    };
    const auto copy = [&](const Instruction* op) {
      std::vector<Instruction*> arguments;
      for (const Instruction* operand : op->operands()) arguments.push_back(inside.at(operand));
      Instruction* added = fused->Add(op->opcode(), op->shape(), arguments, op->attributes(),
                                      op->callees(), op->name());
      added->set_literal(op->shared_literal());
      inside[op] = added;
    };
    for (size_t side = 0; side < 2; ++side) {
      const Chain& chain = chains_.before[side];
      Instruction* source =
          chain.empty() ? dot_->operand(static_cast<int64_t>(side)) : chain.back()->operand(0);
      read(source);
      for (size_t k = chain.size(); k-- > 0;) {
        if (!inside.contains(chain[k])) copy(chain[k]);
      }
    }
    copy(dot_);
    for (const Instruction* op : chains_.behind) copy(op);
    for (Instruction* op : epilogue_.members) {
      if (inside.contains(op)) continue;  // stands before the dot, too
      for (Instruction* operand : op->operands()) read(operand);
      copy(op);
    }
    Instruction* last = epilogue_.members.empty() ? Sums() : epilogue_.result;
    fused->set_root(inside.at(last));
    Instruction* fusion =
        computation->Add(Opcode::kFusion, last->shape(), operands,
                         Attributes().Set(Attr::kFusionKind, FusionKind::kOutput), {&fused, 1});
    epilogues_.Replaced(last, fusion);
    last->ReplaceAllUsesWith(fusion);
    computation->RemoveWithDeadOperands(last);
  }

  Instruction* dot_;
  PassContext& context_;
  const Purity& purity_;
  EpilogueFinder& epilogues_;
  Chains chains_;
  Epilogue epilogue_;
};

}  // namespace

absl::StatusOr<bool> ContractionFusion::Run(Module& module, PassContext& context) {
  if (!module.HasAny({Opcode::kDot})) return false;
  const Purity purity(module);
  bool changed = false;
  for (Computation* computation : UnitComputations(module)) {
    std::vector<Instruction*> dots;
    for (Instruction* inst : computation->InPostOrder()) {
      if (inst->opcode() == Opcode::kDot) dots.push_back(inst);
    }
    if (dots.empty()) continue;
    EpilogueFinder epilogues(computation, purity);
    // Nothing that a dot takes in is a dot: none of those that wait goes with another.
    for (Instruction* dot : dots) changed |= Fuser(dot, context, purity, epilogues).Run();
  }
  return changed;
}

}  // namespace assay
