// A piece is a new entry in a clone of the program, which holds the computations that it calls.
#include "conformance/cuts/programs/pieces.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "spec/base/status_macros.h"
#include "spec/ir/hlo_module.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// The module of one piece while it is made. Instructions are those of the flat module; the piece
// is a new entry beside the old one in a clone, so that what they call is there.
class Piece {
 public:
  Piece(const FlatModule& flat,
        const absl::flat_hash_map<const Instruction*, std::vector<Literal>>& known,
        const std::vector<const Literal*>& arguments)
      : known_(known),
        arguments_(arguments),
        module_(flat.module->Clone("piece")),
        clones_(CloneMap(*flat.module, *module_)),
        piece_(module_->AddComputation("piece")) {}

  absl::StatusOr<std::unique_ptr<Module>> Make(const Instruction& target) {
    absl::flat_hash_set<const Instruction*> needed = {&target};
    for (const Instruction* at : Backwards(target.parent()->PostOrder())) {
      const bool is_given = at->opcode() == Opcode::kParameter || IsKnown(*at, target);
      if (!needed.contains(at) || is_given) continue;
      for (const Instruction* operand : at->operands()) needed.insert(operand);
    }
    for (const Instruction* at : target.parent()->PostOrder())
      if (needed.contains(at)) Place(*at, target);
    piece_->IndexParameters();
    piece_->set_root(made_.at(&target));
    ASSAY_RETURN_IF_ERROR(hlo_module::ReplaceEntryComputation(*module_, piece_));
    ASSAY_RETURN_IF_ERROR(module_->RemoveUnusedComputations());
    ASSAY_RETURN_IF_ERROR(Verify(*module_));
    return std::move(module_);
  }

  const std::vector<const Literal*>& inputs() const { return inputs_; }

 private:
  static std::vector<Instruction*> Backwards(std::vector<Instruction*> order) {
    std::reverse(order.begin(), order.end());
    return order;
  }

  bool IsKnown(const Instruction& at, const Instruction& target) const {
    return &at != &target && known_.contains(&at);
  }

  void Place(const Instruction& at, const Instruction& target) {
    if (at.opcode() == Opcode::kParameter) {
      made_[&at] = Input(at.shape(), *arguments_[static_cast<size_t>(at.parameter_number())]);
    } else if (IsKnown(at, target)) {
      size_t next = 0;
      made_[&at] = FromLeaves(at.shape(), known_.at(&at), next);
    } else {
      OperandVector operands;
      for (const Instruction* operand : at.operands()) operands.push_back(made_.at(operand));
      const Instruction* clone = clones_.at(&at);
      Instruction* copy = piece_->Add(at.opcode(), at.shape(), operands, at.attributes(),
                                      clone->callees(), at.name());
      copy->set_literal(at.shared_literal());
      made_[&at] = copy;
    }
  }

  Instruction* Input(const Shape& shape, const Literal& value) {
    inputs_.push_back(&value);
    return piece_->AddParameter(static_cast<int64_t>(inputs_.size()) - 1, shape);
  }

  Instruction* FromLeaves(const Shape& shape, const std::vector<Literal>& leaves, size_t& next) {
    if (!shape.IsTuple()) return Input(shape, leaves[next++]);
    std::vector<Instruction*> elements;
    for (const Shape& element : shape.elements())
      elements.push_back(FromLeaves(element, leaves, next));
    return piece_->Add(Opcode::kTuple, shape, elements);
  }

  const absl::flat_hash_map<const Instruction*, std::vector<Literal>>& known_;
  const std::vector<const Literal*>& arguments_;
  std::unique_ptr<Module> module_;
  absl::flat_hash_map<const Instruction*, Instruction*> clones_, made_;
  Computation* piece_;
  std::vector<const Literal*> inputs_;
};

}  // namespace

bool CanEndPiece(const FlatModule& flat, const CapturePoint& point) {
  return point.instruction->parent() == flat.module->entry() &&
         point.instruction->opcode() != Opcode::kWhile;
}

absl::StatusOr<std::vector<Literal>> PieceRun::RunPiece(const Instruction& target) {
  Piece piece(flat_, known_, arguments_);
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, piece.Make(target));
  ++compilations_;
  ASSAY_ASSIGN_OR_RETURN(RunResult run, CompileAndRun(backend_, *module, piece.inputs(), options_));
  std::vector<Literal> leaves;
  for (const Literal* leaf : Leaves(run.outputs[0])) leaves.push_back(*leaf);
  return leaves;
}

absl::StatusOr<std::vector<Capture>> PieceRun::Run(absl::Span<const CapturePoint> points,
                                                   std::vector<Literal>& results) {
  absl::flat_hash_set<const Instruction*> ends;
  for (const CapturePoint& point : points) ends.insert(point.instruction);
  const Computation& entry = *flat_.module->entry();
  for (const Instruction* instruction : entry.PostOrder()) {
    if (!ends.contains(instruction)) continue;
    ASSAY_ASSIGN_OR_RETURN(known_[instruction], RunPiece(*instruction));
  }
  ASSAY_ASSIGN_OR_RETURN(results, RunPiece(*entry.root()));
  std::vector<Capture> captures;
  for (const CapturePoint& point : points) {
    const std::vector<Literal>& leaves = known_.at(point.instruction);
    captures.push_back(
        {point.instruction, point.leaf, leaves[static_cast<size_t>(point.leaf)], true});
  }
  return captures;
}

}  // namespace assay
