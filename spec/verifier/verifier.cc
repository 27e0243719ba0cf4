// All checks of a module in order, and their errors as one status.
#include "spec/verifier/verifier.h"

#include <set>

#include "spec/verifier/verifier_internal.h"

namespace assay {

namespace verifier {

std::vector<VerifyError> Errors::Take() {
  const int64_t hidden = count_ - static_cast<int64_t>(errors_.size());
  if (hidden > 0) errors_.emplace_back().message = StrCat("... and ", hidden, " more");
  return std::move(errors_);
}

const Shape* SubShape(const Shape& shape, absl::Span<const int64_t> index) {
  const Shape* at = &shape;
  for (int64_t i : index) {
    if (!at->IsTuple() || i < 0 || i >= static_cast<int64_t>(at->elements().size())) return nullptr;
    at = &at->elements()[i];
  }
  return at;
}

std::string IndexText(absl::Span<const int64_t> index) {
  std::string text = "{";
  for (size_t i = 0; i < index.size(); ++i) StrAppend(&text, i == 0 ? "" : ",", index[i]);
  return text + "}";
}

}  // namespace verifier

std::vector<VerifyError> FindErrors(const Module& module, const VerifyOptions& options) {
  verifier::Errors errors(options.max_errors);
  verifier::CheckStructure(module, errors);
  if (!errors.empty()) return errors.Take();
  verifier::CheckInstructions(module, options, errors);
  verifier::CheckHeader(module, errors);
  // Operand counts and shapes are right from here on.
  if (errors.empty()) verifier::CheckCommunication(module, errors);
  return errors.Take();
}

std::vector<VerifyError> FindWarnings(const Module& module, const VerifyOptions& options) {
  if (!FindErrors(module, options).empty()) return {};
  verifier::Errors warnings(options.max_errors);
  verifier::CheckInfeedOrder(module, warnings);
  return warnings.Take();
}

absl::Status Verify(const Module& module, const VerifyOptions& options) {
  const std::vector<VerifyError> errors = FindErrors(module, options);
  if (errors.empty()) return absl::OkStatus();
  std::string text;
  for (const VerifyError& error : errors) {
    StrAppend(&text, text.empty() ? "" : "\n", error.message);
  }
  return absl::InvalidArgumentError(text);
}

std::vector<std::string> Unsupported(const Module& module) {
  std::set<std::string> names;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      if (!Info(instruction->opcode()).IsDefined()) names.emplace(Name(instruction->opcode()));
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace assay
