// The ops that a backend does in BF16: the table by which the passes about BF16 go. Document:
// optimization passes, bfloat16 normalization, conversion folding and propagation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "spec/ir/instruction.h"

namespace assay {

class BFloat16Support {
 public:
  // A rule about one op; kAnyOperand: whichever.
  static constexpr int64_t kAnyOperand = -1;
  enum class What : uint8_t {
    kOperand,         // may be BF16
    kOutput,          // may be BF16
    kMixedPrecision,  // BF16 and F32 side by side
  };
  struct Rule {
    Opcode opcode;
    What what;
    bool supported;
    int64_t operand = kAnyOperand;  // of kOperand
  };

  // The default holds for ops without a rule; a later rule wins over an earlier one.
  BFloat16Support(std::string_view name, bool by_default, std::vector<Rule> rules)
      : name_(name), by_default_(by_default), rules_(std::move(rules)) {}

  std::string_view name() const { return name_; }
  bool SupportsOperand(const Instruction& inst, int64_t operand) const;
  bool SupportsOutput(const Instruction& inst) const;
  bool SupportsMixedPrecision(const Instruction& inst) const;
  // Only moves values: BF16 needs no arithmetic there, and every backend does it.
  static bool IsMovement(const Instruction& inst);

  // "all": everything; "none": nothing but movement and conversion; "dot": dots and convolutions
  // read BF16, also beside F32, and give F32, as units with F32 accumulators do;
  // "separate": everything, but never BF16 beside F32.
  static const BFloat16Support* Find(std::string_view name);

 private:
  bool Answer(const Instruction& inst, What what, int64_t operand) const;

  std::string_view name_;
  bool by_default_;
  std::vector<Rule> rules_;
};

}  // namespace assay
