// Computations: their list of instructions, orders over it, additions, removals and copies.
#include "spec/ir/computation.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ir/module.h"

namespace assay {

std::unique_ptr<Computation> Computation::Create(std::string name) {
  std::unique_ptr<Computation> computation(new Computation());
  computation->name_ = std::move(name);
  computation->detached_names_ = std::make_unique<NameUniquer>();
  return computation;
}

Computation::~Computation() {
  Cleanup();
  for (Instruction* at = first_; at != nullptr;) {
    Instruction* next = at->next_;
    delete at;
    at = next;
  }
}

void Computation::Link(Instruction* instruction) {
  instruction->previous_ = last_;
  instruction->next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = instruction;
  last_ = instruction;
  ++count_;
}

void Computation::Unlink(Instruction* instruction) {
  (instruction->previous_ == nullptr ? first_ : instruction->previous_->next_) = instruction->next_;
  (instruction->next_ == nullptr ? last_ : instruction->next_->previous_) = instruction->previous_;
  --count_;
}

void Computation::Count(const Instruction& instruction, int64_t change) {
  if (!instruction.callees().empty()) call_count_ += change;
  if (parent_ != nullptr) parent_->count_of_[static_cast<size_t>(instruction.opcode())] += change;
}

namespace {

// Notes how far a walk has come with each instruction: by number, or in a hash table where the
// numbers of a few instructions lie far apart.
class WalkMarks {
 public:
  enum Mark : uint8_t { kNew, kSeen, kDone };

  WalkMarks(const Computation& computation, int64_t count) {
    int64_t last = -1;
    for (const Instruction* each : computation) {
      first_ = last < 0 ? each->id() : std::min(first_, each->id());
      last = std::max(last, each->id());
    }
    const bool is_dense = first_ >= 0 && last - first_ < 8 * count + 64;
    if (is_dense) {
      dense_.resize(last - first_ + 1, kNew);
    } else {
      sparse_.reserve(count);
    }
  }

  Mark& operator[](const Instruction* at) {
    const auto place = static_cast<uint64_t>(at->id() - first_);
    return place < dense_.size() ? dense_[place] : sparse_[at];
  }

 private:
  int64_t first_ = 0;
  std::vector<Mark> dense_;
  absl::flat_hash_map<const Instruction*, Mark> sparse_;
};

}  // namespace

std::vector<Instruction*> Computation::PostOrder() const {
  std::vector<Instruction*> order;
  order.reserve(count_);
  WalkMarks marks(*this, count_);
  std::vector<Instruction*> stack;
  auto visit_from = [&](Instruction* start) {
    stack.push_back(start);
    while (!stack.empty()) {
      Instruction* at = stack.back();
      WalkMarks::Mark& mark = marks[at];
      if (mark != WalkMarks::kNew) {
        stack.pop_back();
        if (mark == WalkMarks::kSeen) {
          mark = WalkMarks::kDone;
          order.push_back(at);
        }
        continue;
      }
      mark = WalkMarks::kSeen;
      for (size_t i = at->operands_.size(); i-- > 0;) {
        if (marks[at->operands_[i]] == WalkMarks::kNew) stack.push_back(at->operands_[i]);
      }
      for (Instruction* predecessor : at->control_predecessors_) {
        if (marks[predecessor] == WalkMarks::kNew) stack.push_back(predecessor);
      }
    }
  };
  // From every instruction without users, in stored order; then what a cycle (an invalid module)
  // would have kept out.
  for (Instruction* at : *this) {
    if (at->users_.empty() && at->control_successors_.empty()) visit_from(at);
  }
  if (static_cast<int64_t>(order.size()) != count_) {
    for (Instruction* at : *this) {
      if (marks[at] == WalkMarks::kNew) visit_from(at);
    }
  }
  return order;
}

Instruction* Computation::Add(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands,
                              Attributes attributes, absl::Span<Computation* const> callees,
                              std::string_view name) {
  auto* instruction = new Instruction();
  instruction->opcode_ = opcode;
  instruction->shape_ = std::move(shape);
  instruction->operands_.assign(operands.begin(), operands.end());
  for (Instruction* operand : operands) operand->users_.push_back(instruction);
  instruction->attributes_ = std::move(attributes);
  instruction->callees_.assign(callees.begin(), callees.end());
  instruction->parent_ = this;
  NameUniquer& names = parent_ == nullptr ? *detached_names_ : parent_->names_;
  instruction->name_ = names.GetUniqueName(name.empty() ? Name(opcode) : name);
  instruction->id_ = parent_ == nullptr ? -1 : parent_->next_id_++;
  Link(instruction);
  Count(*instruction, 1);
  if (opcode == Opcode::kParameter) {
    int64_t number = instruction->parameter_number();
    // A hostile number must not size the table; the verifier reports the gap.
    if (number >= 0 && number <= count_) {
      if (number >= parameter_count()) parameters_.resize(number + 1, nullptr);
      if (parameters_[number] == nullptr) parameters_[number] = instruction;
    }
  }
  return instruction;
}

absl::StatusOr<Instruction*> Computation::AddInferred(Opcode opcode,
                                                      absl::Span<Instruction* const> operands,
                                                      Attributes attributes,
                                                      absl::Span<Computation* const> callees,
                                                      const Shape* written, std::string_view name) {
  const OpInfo& info = Info(opcode);
  if (!info.IsDefined()) {
    return absl::UnimplementedError(std::string(Name(opcode)) +
                                    " has no shape rule; give its shape with Add");
  }
  absl::InlinedVector<const Shape*, 4> shapes;
  for (Instruction* operand : operands) shapes.push_back(&operand->shape());
  ASSAY_ASSIGN_OR_RETURN(
      Shape shape, info.infer(OpSite{opcode, shapes, attributes, SignaturesOf(callees), written}));
  return Add(opcode, std::move(shape), operands, std::move(attributes), callees, name);
}

Instruction* Computation::AddParameter(int64_t number, Shape shape, std::string_view name) {
  return Add(Opcode::kParameter, std::move(shape), absl::Span<Instruction* const>(),
             Attributes().Set(Attr::kParameterNumber, AttrValue(number)), {},
             name.empty() ? "p" + std::to_string(number) : std::string(name));
}

void Computation::IndexParameters() {
  parameters_.clear();
  std::vector<Instruction*> found;
  for (Instruction* instruction : *this) {
    if (instruction->opcode_ == Opcode::kParameter) found.push_back(instruction);
  }
  for (Instruction* instruction : found) {
    // A number above the count leaves a gap, whatever the others are; the verifier reports it.
    int64_t number = instruction->parameter_number();
    if (number < 0 || number > static_cast<int64_t>(found.size())) continue;
    if (number >= parameter_count()) parameters_.resize(number + 1, nullptr);
    if (parameters_[number] == nullptr) parameters_[number] = instruction;
  }
}

Instruction* Computation::AddConstant(Literal value, std::string_view name) {
  return AddConstant(std::make_shared<const Literal>(std::move(value)), name);
}

Instruction* Computation::AddConstant(std::shared_ptr<const Literal> value, std::string_view name) {
  Instruction* constant =
      Add(Opcode::kConstant, value->shape(), absl::Span<Instruction* const>(), {}, {}, name);
  constant->literal_ = std::move(value);
  return constant;
}

void Computation::Remove(Instruction* instruction) {
  Detach(instruction);
  Free(instruction);
}

void Computation::Free(Instruction* instruction) {
  std::unique_ptr<Instruction> gone(instruction);
  const auto walk = removed_in_walk_.lock();
  if (walk == nullptr) return;
  instruction->parent_ = nullptr;
  walk->push_back(std::move(gone));
}

Computation::Walk Computation::InPostOrder() { return Walk(*this); }

Computation::Walk::Walk(Computation& computation)
    : computation_(&computation),
      order_(computation.PostOrder()),
      removed_(computation.removed_in_walk_.lock()) {
  if (removed_ != nullptr) return;
  removed_ = std::make_shared<std::vector<std::unique_ptr<Instruction>>>();
  computation.removed_in_walk_ = removed_;
}

absl::Status Computation::RemoveInstruction(Instruction* instruction) {
  if (instruction->parent_ != this) {
    return absl::InvalidArgumentError(StrCat(instruction->name_, " is not in computation ", name_));
  }
  if (!instruction->users_.empty()) {
    return absl::FailedPreconditionError(
        StrCat(instruction->name_, " has ", instruction->users_.size(), " uses, one of them by ",
               instruction->users_[0]->name()));
  }
  if (instruction == root_) {
    return absl::FailedPreconditionError(StrCat(instruction->name_, " is the root of ", name_));
  }
  Detach(instruction);
  instruction->parent_ = nullptr;
  instruction->operands_.clear();
  removed_.push_back(instruction);
  return absl::OkStatus();
}

void Computation::Cleanup() {
  for (Instruction* instruction : removed_) delete instruction;
  removed_.clear();
}

void Computation::Detach(Instruction* instruction) {
  for (Instruction* operand : instruction->operands_) operand->RemoveUser(instruction);
  auto drop = [instruction](std::vector<Instruction*>& list) {
    list.erase(std::remove(list.begin(), list.end(), instruction), list.end());
  };
  for (Instruction* predecessor : instruction->control_predecessors_)
    drop(predecessor->control_successors_);
  for (Instruction* successor : instruction->control_successors_)
    drop(successor->control_predecessors_);
  int64_t number = instruction->parameter_number();
  if (instruction->opcode_ == Opcode::kParameter && number >= 0 && number < parameter_count() &&
      parameters_[number] == instruction) {
    parameters_[number] = nullptr;
    while (!parameters_.empty() && parameters_.back() == nullptr) parameters_.pop_back();
  }
  Unlink(instruction);
  Count(*instruction, -1);
  (parent_ == nullptr ? *detached_names_ : parent_->names_).Release(instruction->name_);
}

void Computation::RemoveWithDeadOperands(Instruction* instruction) {
  std::vector<Instruction*> worklist = {instruction};
  while (!worklist.empty()) {
    Instruction* at = worklist.back();
    worklist.pop_back();
    absl::flat_hash_set<Instruction*> operands(at->operands_.begin(), at->operands_.end());
    std::vector<Instruction*> unique;
    for (Instruction* operand : at->operands_) {
      if (operands.erase(operand) > 0) unique.push_back(operand);
    }
    Remove(at);
    for (Instruction* operand : unique) {
      if (operand->IsDead()) worklist.push_back(operand);
    }
  }
}

void Computation::RemoveParameter(int64_t number) {
  Instruction* gone = parameters_[number];
  std::vector<Instruction*> kept = parameters_;
  kept.erase(kept.begin() + number);
  parameters_[number] = nullptr;
  if (gone != nullptr) Remove(gone);
  parameters_ = std::move(kept);
  for (int64_t i = number; i < parameter_count(); ++i) {
    if (parameters_[i] != nullptr)
      parameters_[i]->attributes_.Set(Attr::kParameterNumber, AttrValue(i));
  }
}

void Computation::MoveBefore(Instruction* instruction, Instruction* position) {
  if (instruction == position) return;
  Unlink(instruction);
  instruction->previous_ = position->previous_;
  instruction->next_ = position;
  (position->previous_ == nullptr ? first_ : position->previous_->next_) = instruction;
  position->previous_ = instruction;
  ++count_;
}

Instruction* Computation::CopyFrom(const Computation& source,
                                   absl::Span<Instruction* const> arguments,
                                   const std::function<Computation*(Computation*)>& map_callee,
                                   absl::flat_hash_map<const Instruction*, Instruction*>* clones) {
  absl::flat_hash_map<const Instruction*, Instruction*> local;
  auto& map = clones == nullptr ? local : *clones;
  // Post-order so that operands exist, whatever the stored order; when this is the source, its own
  // copies are not visited.
  for (Instruction* original : source.PostOrder()) {
    if (original->opcode_ == Opcode::kParameter && !arguments.empty()) {
      map[original] = arguments[original->parameter_number()];
      continue;
    }
    OperandVector operands;
    for (Instruction* operand : original->operands_) operands.push_back(map.at(operand));
    absl::InlinedVector<Computation*, 1> callees;
    for (Computation* callee : original->callees_)
      callees.push_back(map_callee ? map_callee(callee) : callee);
    Instruction* copy = Add(original->opcode_, original->shape_, operands, original->attributes_,
                            callees, original->name_);
    copy->literal_ = original->literal_;
    map[original] = copy;
  }
  if (arguments.empty()) IndexParameters();  // copied in any order
  for (Instruction* original : source) {
    auto at = map.find(original);
    if (at == map.end()) continue;
    for (Instruction* predecessor : original->control_predecessors_) {
      if (map.contains(predecessor)) at->second->AddControlPredecessor(map.at(predecessor));
    }
  }
  return map.at(source.root_);
}

ProgramShape Computation::ComputeProgramShape() const {
  ProgramShape shape;
  for (const Instruction* parameter : parameters_) {
    shape.parameters.push_back(parameter == nullptr ? Shape() : parameter->shape());
  }
  if (root_ != nullptr) shape.result = root_->shape();
  return shape;
}

CalleeSignature Computation::Signature() const {
  CalleeSignature signature{.name = name_};
  signature.parameters.reserve(parameters_.size());
  for (const Instruction* parameter : parameters_) {
    signature.parameters.push_back(parameter == nullptr ? nullptr : &parameter->shape());
  }
  if (root_ != nullptr) signature.result = &root_->shape();
  return signature;
}

std::vector<CalleeSignature> SignaturesOf(absl::Span<Computation* const> computations) {
  std::vector<CalleeSignature> signatures;
  signatures.reserve(computations.size());
  for (const Computation* computation : computations) {
    signatures.push_back(computation->Signature());
  }
  return signatures;
}

bool Computation::IsFusionComputation() const {
  if (parent_ == nullptr) return false;
  for (const Instruction* caller : parent_->Callers(this)) {
    if (caller->opcode() == Opcode::kFusion) return true;
  }
  return false;
}

}  // namespace assay
