// One instruction of a computation. Document: hlo-format chapter 3; HloModule document.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/attributes/attributes.h"
#include "spec/attributes/opcode.h"
#include "spec/types/literal.h"
#include "spec/types/shape.h"

namespace assay {

class Computation;
class Instruction;
using OperandVector = absl::InlinedVector<Instruction*, 3>;

class Instruction {
 public:
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;

  const std::string& name() const { return name_; }
  int64_t id() const { return id_; }  // dense and unique in the module
  Opcode opcode() const { return opcode_; }
  const Shape& shape() const { return shape_; }
  Shape& mutable_shape() { return shape_; }
  Computation* parent() const { return parent_; }
  Instruction* next() const { return next_; }  // in stored order
  Instruction* previous() const { return previous_; }

  absl::Span<Instruction* const> operands() const { return operands_; }
  Instruction* operand(int64_t i) const { return operands_[i]; }
  int64_t operand_count() const { return static_cast<int64_t>(operands_.size()); }
  // Every instruction that uses this one, once per operand slot, in no promised order.
  absl::Span<Instruction* const> users() const { return users_; }
  bool HasOneUse() const { return users_.size() == 1; }
  bool IsDead() const;  // no users, not the root, no side effect, not a parameter

  const Attributes& attributes() const { return attributes_; }
  Attributes& mutable_attributes() { return attributes_; }

  // Computations called, in the order of CalleeForm.
  absl::Span<Computation* const> callees() const { return callees_; }
  Computation* callee(int64_t i = 0) const { return callees_[i]; }
  void set_callee(int64_t i, Computation* computation) { callees_[i] = computation; }

  absl::Span<Instruction* const> control_predecessors() const { return control_predecessors_; }
  absl::Span<Instruction* const> control_successors() const { return control_successors_; }
  void AddControlPredecessor(Instruction* predecessor);

  // constant: the value; nullptr when the text elided it.
  const Literal* literal() const { return literal_.get(); }
  const std::shared_ptr<const Literal>& shared_literal() const { return literal_; }
  void set_literal(std::shared_ptr<const Literal> literal) { literal_ = std::move(literal); }
  int64_t parameter_number() const { return attributes_.Integer(Attr::kParameterNumber, -1); }
  int64_t tuple_index() const { return attributes_.Integer(Attr::kIndex, -1); }

  // The caller keeps shapes and constraints right; the verifier says when not.
  void ReplaceOperand(int64_t i, Instruction* with);
  void ReplaceAllUsesWith(Instruction* with);  // also as root; users become users of `with`

  // True if opcode, shape, attributes, literal and callees agree, whatever the operands; blind to
  // names and metadata.
  bool SameOperation(const Instruction& other) const;

  // True if both compute the same value by structure: same operation (frontend attributes and
  // backend config included), equal callees, and the same instructions as operands; operands in
  // different computations must correspond one to one, down to the parameters. Identical modules
  // have equal hashes; identical instructions are merged by common subexpression elimination.
  bool Identical(const Instruction& other) const;
  void ClearUniqueIdInternal() { id_ = -1; }

  // Send and receive on a channel, in the computation of the operands. Shapes: send and recv give
  // (data, u32[], token[]), send-done a token, recv-done (data, token[]).
  static absl::StatusOr<Instruction*> CreateSend(Instruction* operand, Instruction* token,
                                                 int64_t channel_id, bool is_host_transfer = false);
  static absl::StatusOr<Instruction*> CreateSendDone(Instruction* send,
                                                     bool is_host_transfer = false);
  static absl::StatusOr<Instruction*> CreateRecv(const Shape& shape, Instruction* token,
                                                 int64_t channel_id, bool is_host_transfer = false);
  static absl::StatusOr<Instruction*> CreateRecvDone(Instruction* recv,
                                                     bool is_host_transfer = false);

  // One line of HLO text in the long form, for messages.
  std::string ToString() const;

 private:
  friend class Computation;
  friend class Module;
  Instruction() = default;
  void RemoveUser(Instruction* user);

  // Walks read what comes first: in a long module each line of the cache that they touch counts.
  Opcode opcode_ = Opcode::kParameter;
  int64_t id_ = -1;
  Instruction* previous_ = nullptr;  // intrusive list of the computation, in stored order
  Instruction* next_ = nullptr;
  OperandVector operands_;
  OperandVector users_;
  absl::InlinedVector<Computation*, 1> callees_;
  std::vector<Instruction*> control_predecessors_, control_successors_;
  Computation* parent_ = nullptr;
  Shape shape_;
  Attributes attributes_;
  std::shared_ptr<const Literal> literal_;
  std::string name_;
};

}  // namespace assay
