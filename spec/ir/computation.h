// A computation: instructions in stored order, one root, parameters numbered from 0. Document:
// hlo-format chapter 0 and 3.
#pragma once

#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "spec/ir/instruction.h"
#include "spec/ir/module_config.h"
#include "spec/ir/name_uniquer.h"
#include "spec/ops/op_table.h"

namespace assay {

class Module;

class Computation {
 public:
  // A computation that belongs to no module until one takes it over (Module::TakeOver).
  // Ids are -1 until then.
  static std::unique_ptr<Computation> Create(std::string name);
  ~Computation();
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

  const std::string& name() const { return name_; }
  int64_t id() const { return id_; }
  Module* parent() const { return parent_; }
  Instruction* root() const { return root_; }
  void set_root(Instruction* root) { root_ = root; }
  // Its instructions as a range, in stored order: the computation is that range itself.
  const Computation& instructions() const { return *this; }
  ProgramShape ComputeProgramShape() const;
  // The shapes by reference, for the shape rules: valid while the computation is not changed.
  CalleeSignature Signature() const;
  bool IsFusionComputation() const;  // called by a fusion; linear in the module
  // Same structure: instructions correspond one to one from the roots down. Blind to names.
  bool Equal(const Computation& other) const;
  void ClearUniqueIdInternal() { id_ = -1; }
  int64_t instruction_count() const { return count_; }
  // False: no instruction calls a computation, so that a walk along calls need not look.
  bool has_calls() const { return call_count_ > 0; }
  const std::string& execution_thread() const { return execution_thread_; }  // "" means "main"
  void set_execution_thread(std::string thread) { execution_thread_ = std::move(thread); }

  // Parameters by number. Gaps (only in modules that do not verify) are nullptr.
  absl::Span<Instruction* const> parameters() const { return parameters_; }
  Instruction* parameter(int64_t number) const { return parameters_[number]; }
  int64_t parameter_count() const { return static_cast<int64_t>(parameters_.size()); }

  // Stored order. The instruction under an iterator may be removed if the iterator was advanced
  // before.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Instruction*;
    using difference_type = std::ptrdiff_t;
    using pointer = Instruction**;
    using reference = Instruction*;
    explicit Iterator(Instruction* at) : at_(at) {}
    Instruction* operator*() const { return at_; }
    Iterator& operator++() {
      at_ = at_->next();
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    Instruction* at_;
  };
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(nullptr); }
  Instruction* last() const { return last_; }

  // Operands and control predecessors before users; deterministic. Includes dead instructions.
  std::vector<Instruction*> PostOrder() const;
  // This is the same order for callers that change the computation on the way: what they add is not
  // visited, what they remove is passed over, and its memory stays until the walk ends.
  class Walk;
  Walk InPostOrder();

  // Adds at the end of the stored order. The shape is taken as given (the verifier checks). An
  // empty name takes the opcode's; names are made unique in the module.
  Instruction* Add(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands,
                   Attributes attributes = {}, absl::Span<Computation* const> callees = {},
                   std::string_view name = "");
  Instruction* Add(Opcode opcode, Shape shape, std::initializer_list<Instruction*> operands,
                   Attributes attributes = {}, absl::Span<Computation* const> callees = {},
                   std::string_view name = "") {
    return Add(opcode, std::move(shape), absl::MakeConstSpan(operands.begin(), operands.size()),
               std::move(attributes), callees, name);
  }
  // Adds an instruction of the shape that the op's rule gives; an error where a constraint is
  // violated.
  // `written` is needed by the ops whose result is "as written" (reshape, convert, broadcast, iota,
  // ...).
  absl::StatusOr<Instruction*> AddInferred(Opcode opcode, absl::Span<Instruction* const> operands,
                                           Attributes attributes = {},
                                           absl::Span<Computation* const> callees = {},
                                           const Shape* written = nullptr,
                                           std::string_view name = "");
  Instruction* AddParameter(int64_t number, Shape shape, std::string_view name = "");
  // Rebuilds the table of parameters from the instructions. Needed after adding parameters in an
  // order that leaves larger gaps for a while than the instructions present (text has any order).
  void IndexParameters();
  Instruction* AddConstant(Literal value, std::string_view name = "");
  Instruction* AddConstant(std::shared_ptr<const Literal> value, std::string_view name = "");

  // `instruction` must have no users and not be the root.
  void Remove(Instruction* instruction);
  // Removes `instruction`, or returns an error if it has users or is the root. The memory stays
  // valid until Cleanup: whoever still holds a pointer may look at it.
  absl::Status RemoveInstruction(Instruction* instruction);
  void Cleanup();
  int64_t removed_count() const { return static_cast<int64_t>(removed_.size()); }
  // Removes `instruction` and then every operand that became dead. Parameters stay.
  void RemoveWithDeadOperands(Instruction* instruction);
  // Drops parameter `number`, which must be dead, and renumbers those behind it.
  void RemoveParameter(int64_t number);
  // Moves `instruction` just before `position` in stored order.
  void MoveBefore(Instruction* instruction, Instruction* position);

  // Copies the instructions of `source` (other module or this one) to the end of this computation.
  // Parameters are replaced by `arguments` when given, copied otherwise. Callees are mapped by
  // `map_callee` (identity if empty). Returns the copied root; `clones`, if given, receives
  // original -> copy.
  Instruction* CopyFrom(const Computation& source, absl::Span<Instruction* const> arguments,
                        const std::function<Computation*(Computation*)>& map_callee = {},
                        absl::flat_hash_map<const Instruction*, Instruction*>* clones = nullptr);

  std::string ToString() const;

 private:
  friend class Instruction;
  friend class Module;
  Computation() = default;
  void Link(Instruction* instruction);
  void Unlink(Instruction* instruction);
  void Detach(Instruction* instruction);
  // Frees `instruction`, which is detached, once no walk may hold it.
  void Free(Instruction* instruction);
  // Keeps the numbers of instructions by op and of those that call.
  void Count(const Instruction& instruction, int64_t change);

  std::string name_;
  int64_t id_ = -1;
  Module* parent_ = nullptr;
  Instruction* root_ = nullptr;
  Instruction* first_ = nullptr;
  Instruction* last_ = nullptr;
  int64_t count_ = 0;
  int64_t call_count_ = 0;
  std::vector<Instruction*> parameters_;
  std::string execution_thread_;
  std::vector<Instruction*> removed_;  // freed by Cleanup
  std::weak_ptr<std::vector<std::unique_ptr<Instruction>>> removed_in_walk_;
  std::unique_ptr<NameUniquer> detached_names_;  // while there is no parent
};

class Computation::Walk {
 public:
  class Iterator {
   public:
    Iterator(const Walk& walk, size_t at) : walk_(walk), at_(at) { SkipRemoved(); }
    Instruction* operator*() const { return walk_.order_[at_]; }
    Iterator& operator++() {
      ++at_;
      SkipRemoved();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    void SkipRemoved() {
      while (at_ < walk_.order_.size() && walk_.order_[at_]->parent() != walk_.computation_) ++at_;
    }

    const Walk& walk_;
    size_t at_;
  };
  Iterator begin() const { return Iterator(*this, 0); }
  Iterator end() const { return Iterator(*this, order_.size()); }

 private:
  friend class Computation;
  explicit Walk(Computation& computation);

  const Computation* computation_;
  std::vector<Instruction*> order_;
  std::shared_ptr<std::vector<std::unique_ptr<Instruction>>> removed_;  // one for nested walks
};

// Computation::Signature of each, as OpSite takes them.
std::vector<CalleeSignature> SignaturesOf(absl::Span<Computation* const> computations);

}  // namespace assay
