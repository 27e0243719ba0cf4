// The verifier's parts, in the order in which they run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"

namespace assay::verifier {

// Collects messages up to a limit and counts the rest.
class Errors {
 public:
  explicit Errors(int limit) : limit_(limit) {}

  template <typename... Parts>
  void Add(const Parts&... parts) {
    AddTo(VerifyError(), parts...);
  }
  // `attribute` is one of the module header, and begins the message.
  template <typename... Parts>
  void AddAtHeader(std::string_view attribute, const Parts&... parts) {
    VerifyError error;
    error.header_attribute = std::string(attribute);
    AddTo(std::move(error), attribute, parts...);
  }
  template <typename... Parts>
  void AddAt(const Computation& computation, const Parts&... parts) {
    VerifyError error;
    error.computation = &computation;
    AddTo(std::move(error), "computation ", computation.name(), ": ", parts...);
  }
  template <typename... Parts>
  void AddAt(const Instruction& instruction, const Parts&... parts) {
    VerifyError error;
    error.instruction = &instruction;
    AddTo(std::move(error), "computation ", instruction.parent()->name(), ", instruction ",
          instruction.name(), ": ", parts...);
  }

  bool empty() const { return count_ == 0; }
  // With a last one that says how many were left out.
  std::vector<VerifyError> Take();

 private:
  template <typename... Parts>
  void AddTo(VerifyError error, const Parts&... parts) {
    if (++count_ > limit_) return;
    error.message = StrCat(parts...);
    errors_.push_back(std::move(error));
  }

  int limit_;
  int64_t count_ = 0;
  std::vector<VerifyError> errors_;
};

// Entry, roots, parameters; operands and control edges within their computation and without cycle;
// calls without recursion.
void CheckStructure(const Module& module, Errors& errors);

// Operand and callee counts, attributes, literals, shapes against the op table, per instruction;
// rules of calls and fusions.
void CheckInstructions(const Module& module, const VerifyOptions& options, Errors& errors);

// Header: entry layout, alias table, donors, replica and partition counts, schedule.
void CheckHeader(const Module& module, Errors& errors);

// Groups of devices, channels, starts and dones, shardings.
void CheckCommunication(const Module& module, Errors& errors);

// Infeeds follow each other by data, tokens or control dependencies. XLA takes others, too, in the
// order of its schedule: warnings.
void CheckInfeedOrder(const Module& module, Errors& warnings);

// The part of `shape` at a tuple index; nullptr if there is none.
const Shape* SubShape(const Shape& shape, absl::Span<const int64_t> index);
std::string IndexText(absl::Span<const int64_t> index);

// True if operands and control predecessors come before their users in stored order.
bool OrderIsExecutable(const Computation& computation);

}  // namespace assay::verifier
