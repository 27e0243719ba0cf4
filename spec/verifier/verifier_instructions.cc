// Each instruction against its row of the op table. Documents: operation semantics ("must reject"),
// hlo-format 3.4, 4.5.
#include <algorithm>
#include <array>
#include <cctype>

#include "absl/container/flat_hash_map.h"
#include "spec/ir/instruction_site.h"
#include "spec/library/library_call.h"
#include "spec/ops/shape_checks.h"
#include "spec/verifier/verifier_internal.h"

namespace assay::verifier {
namespace {

// True if the variant holds the alternative that the attribute's kind is stored in.
bool HoldsKind(const AttrInfo& info, const AttrValue& value) {
  switch (info.kind) {
    case AttrKind::kFlag:
      return std::holds_alternative<bool>(value);
    case AttrKind::kInteger:
      return std::holds_alternative<int64_t>(value);
    case AttrKind::kFloat:
      return std::holds_alternative<double>(value);
    case AttrKind::kWord: {
      const int64_t* word = std::get_if<int64_t>(&value);
      return word != nullptr && *word >= 0 && *word < static_cast<int64_t>(info.words.size());
    }
    case AttrKind::kString:
    case AttrKind::kBlob:
    case AttrKind::kVerbatim:
      return std::holds_alternative<std::string>(value);
    case AttrKind::kOneInteger: {
      const Int64List* list = std::get_if<Int64List>(&value);
      return list != nullptr && list->size() == 1;
    }
    case AttrKind::kIntegers:
    case AttrKind::kFlags:
    case AttrKind::kWords:
      return std::holds_alternative<Int64List>(value);
    case AttrKind::kIntegerLists:
      return std::holds_alternative<std::vector<Int64List>>(value);
    case AttrKind::kSliceRanges:
      return std::holds_alternative<std::vector<SliceRange>>(value);
    case AttrKind::kPadding:
      return std::holds_alternative<std::vector<PaddingDim>>(value);
    case AttrKind::kWindow:
      return std::holds_alternative<std::vector<WindowDim>>(value);
    case AttrKind::kDimLabels:
      return std::holds_alternative<SharedValue<ConvDimLabels>>(value);
    case AttrKind::kAliasing:
      return std::holds_alternative<std::vector<OutputAlias>>(value);
    case AttrKind::kShape:
      return std::holds_alternative<SharedValue<Shape>>(value);
    case AttrKind::kShapes:
      return std::holds_alternative<SharedValue<std::vector<Shape>>>(value);
    case AttrKind::kReplicaGroups:
      return std::holds_alternative<SharedValue<ReplicaGroups>>(value);
    case AttrKind::kSharding:
      return std::holds_alternative<SharedValue<Sharding>>(value);
    case AttrKind::kDomainMetadata:
      return std::holds_alternative<SharedValue<DomainMetadata>>(value);
    case AttrKind::kStringMap:
      return std::holds_alternative<StringMap>(value);
  }
  return false;
}

bool RowHas(const OpInfo& info, Attr attr) {
  if (attr == Attr::kParameterNumber) return info.opcode == Opcode::kParameter;
  return std::any_of(info.attributes.begin(), info.attributes.end(),
                     [attr](const AttrSpec& spec) { return spec.attr == attr; });
}

void CheckAttributes(const Instruction& instruction, const OpInfo& info, Errors& errors) {
  for (const auto& [attr, value] : instruction.attributes().entries()) {
    const AttrInfo& attr_info = Info(attr);
    if (!IsCommon(attr) && !RowHas(info, attr)) {
      errors.AddAt(instruction, info.name, " takes no attribute ", attr_info.name);
    } else if (!HoldsKind(attr_info, value)) {
      errors.AddAt(instruction, "attribute ", attr_info.name, " holds a value of the wrong kind");
    }
  }
  for (const AttrSpec& spec : info.attributes) {
    if (spec.presence == AttrSpec::kRequired && !instruction.attributes().Has(spec.attr)) {
      errors.AddAt(instruction, info.name, ": attribute ", Info(spec.attr).name, " is missing");
    }
  }
  const std::string& accuracy = instruction.attributes().String(Attr::kResultAccuracy);
  if (!info.Is(kTakesAccuracy) && !accuracy.empty() && accuracy != "{mode=default}") {
    errors.AddAt(instruction, info.name,
                 " takes no result_accuracy; only transcendental functions do");
  }
}

void CheckConstant(const Instruction& constant, const VerifyOptions& options, Errors& errors) {
  const Literal* literal = constant.literal();
  if (literal == nullptr) {
    errors.AddAt(constant,
                 "the value is elided ({...}); print the module with large constants, or draw it: "
                 "assay check and assay run take --draw-elided");
  } else if (!Compatible(literal->shape(), constant.shape())) {
    errors.AddAt(constant, "the literal is ", literal->shape().ToString(), ", the constant ",
                 constant.shape().ToString());
  } else if (options.layout_sensitive && literal->shape().IsArray() &&
             literal->shape().layout().minor_to_major() !=
                 constant.shape().layout().minor_to_major()) {
    errors.AddAt(constant, "the literal's layout differs: ", literal->shape().ToString(true),
                 " against ", constant.shape().ToString(true));
  }
}

void CheckParameter(const Instruction& parameter, Errors& errors) {
  if (!parameter.attributes().Has(Attr::kParameterReplication)) return;
  const int64_t flags =
      static_cast<int64_t>(parameter.attributes().Integers(Attr::kParameterReplication).size());
  const int64_t leaves = LeafCount(parameter.shape());
  if (flags != leaves) {
    errors.AddAt(parameter, "parameter_replication has ", flags, " entries for ", leaves,
                 " leaves");
  }
}

void CheckComposite(const Instruction& call, Errors& errors) {
  if (!call.attributes().Flag(Attr::kIsComposite)) return;
  auto value = [&](std::string_view key) {
    return call.attributes().MapValue(Attr::kFrontendAttributes, key);
  };
  const std::string* name = value("composite.name");
  if (name == nullptr || name->empty()) {
    errors.AddAt(call, "a composite call needs a non-empty frontend attribute composite.name");
  }
  const std::string* attributes = value("composite.attributes");
  if (attributes != nullptr && attributes->empty()) {
    errors.AddAt(call, "the frontend attribute composite.attributes of a composite call is empty");
  }
  const std::string* version = value("composite.version");
  if (version == nullptr) return;
  const bool is_number =
      !version->empty() && std::all_of(version->begin(), version->end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!is_number)
    errors.AddAt(call, "composite.version \"", *version, "\" is not a non-negative integer");
}

// True where a buffer and the array in it meet, which is what pinning an array is.
bool IsBufferOf(const Shape& a, const Shape& b) {
  return a.IsBuffer() && Compatible(a.elements()[0], b);
}

// output_to_operand_aliasing of fusions and custom calls.
void CheckOutputAliasing(const Instruction& instruction, Errors& errors) {
  const AttrValue* value = instruction.attributes().Find(Attr::kOutputToOperandAliasing);
  const auto* aliases = value == nullptr ? nullptr : std::get_if<std::vector<OutputAlias>>(value);
  if (aliases == nullptr) return;
  for (const OutputAlias& alias : *aliases) {
    const Shape* output = SubShape(instruction.shape(), alias.output_index);
    if (output == nullptr) {
      errors.AddAt(instruction, "output_to_operand_aliasing: there is no output ",
                   IndexText(alias.output_index));
      continue;
    }
    if (alias.operand < 0 || alias.operand >= instruction.operand_count()) {
      errors.AddAt(instruction, "output_to_operand_aliasing: there is no operand ", alias.operand);
      continue;
    }
    const Shape* operand =
        SubShape(instruction.operand(alias.operand)->shape(), alias.operand_index);
    if (operand == nullptr || !(Compatible(*operand, *output) || IsBufferOf(*operand, *output) ||
                                IsBufferOf(*output, *operand))) {
      errors.AddAt(instruction, "output_to_operand_aliasing: output ",
                   IndexText(alias.output_index), " is ", output->ToString(), ", operand ",
                   alias.operand, " at ", IndexText(alias.operand_index), " is ",
                   operand == nullptr ? "missing" : operand->ToString());
    }
  }
}

// In a fused computation everything but the root is used: nothing else would be computed.
void CheckFusedComputation(const Instruction& fusion, Errors& errors) {
  const Computation& fused = *fusion.callee();
  for (const Instruction* instruction : fused) {
    if (instruction == fused.root() && !instruction->users().empty()) {
      errors.AddAt(*instruction, "is the root of a fused computation and has users");
    } else if (instruction != fused.root() && instruction->users().empty()) {
      errors.AddAt(*instruction, "has no users in a fused computation; remove it");
    }
  }
}

// Layouts of arguments and parameters, for layout-sensitive verification.
void CheckArgumentLayouts(const Instruction& instruction, Errors& errors) {
  auto check = [&](const Computation& callee, int64_t parameter, int64_t operand) {
    const Shape& want = callee.parameter(parameter)->shape();
    const Shape& have = instruction.operand(operand)->shape();
    if (want == have) return;
    errors.AddAt(instruction, "parameter ", parameter, " of computation ", callee.name(), " is ",
                 want.ToString(true), ", operand ", operand, " is ", have.ToString(true));
  };
  switch (instruction.opcode()) {
    case Opcode::kCall:
    case Opcode::kFusion:
      for (int64_t i = 0; i < instruction.operand_count(); ++i) check(*instruction.callee(), i, i);
      break;
    case Opcode::kWhile:
      for (const Computation* callee : instruction.callees()) check(*callee, 0, 0);
      break;
    case Opcode::kConditional:
      for (size_t i = 0; i < instruction.callees().size(); ++i)
        check(*instruction.callees()[i], 0, i + 1);
      break;
    default:
      break;
  }
}

// Written against inferred shape (hlo-format 4.5). Operands' and callees' counts are right.
void CheckShapes(const Instruction& instruction, const OpSite& site, const VerifyOptions& options,
                 Errors& errors) {
  const OpInfo& info = Info(site.opcode);
  const absl::StatusOr<Shape> inferred = info.infer(site);
  if (!inferred.ok()) {
    errors.AddAt(instruction, ToStd(inferred.status().message()));
  } else if (!Compatible(*inferred, instruction.shape())) {
    errors.AddAt(instruction, info.name, ": the written shape is ", instruction.shape().ToString(),
                 ", the operands give ", inferred->ToString());
  } else if (options.layout_sensitive) {
    if (info.Is(kForwardsLayout) && !(*inferred == instruction.shape())) {
      errors.AddAt(instruction, info.name, ": the written layout is ",
                   instruction.shape().ToString(true), ", the operands give ",
                   inferred->ToString(true));
    }
    CheckArgumentLayouts(instruction, errors);
  }
}

// Remembers which computations have side effects themselves or by what they call.
class SideEffects {
 public:
  explicit SideEffects(const Module& module) {
    for (const Computation* computation : module.ComputationPostOrder()) {
      known_[computation] =
          std::any_of(computation->begin(), computation->end(), [&](const Instruction* i) {
            return Info(i->opcode()).Is(kSideEffect) ||
                   i->attributes().Flag(Attr::kCustomCallHasSideEffect) ||
                   std::any_of(i->callees().begin(), i->callees().end(),
                               [&](const Computation* callee) { return known_[callee]; });
          });
    }
  }
  bool In(const Computation* computation) const { return known_.at(computation); }

 private:
  absl::flat_hash_map<const Computation*, bool> known_;
};

// Computations that are applied per element: how often and in which order is free, so they may have
// no effects.
bool AppliesPerElement(const OpInfo& info) {
  return (info.callees == CalleeForm::kToApply && info.opcode != Opcode::kCall) ||
         info.callees == CalleeForm::kSelectScatter;
}

void CheckCallees(const Instruction& instruction, const OpInfo& info, const SideEffects& effects,
                  Errors& errors) {
  const bool is_async = info.opcode == Opcode::kAsyncStart || info.opcode == Opcode::kCustomCall;
  for (const Computation* callee : instruction.callees()) {
    // A computation that names no thread runs on that of its caller, as the callees of what an
    // async op wraps do.
    const std::string& thread = callee->execution_thread();
    const bool inherits = thread.empty() || thread == "main";
    if (!is_async && !inherits && thread != instruction.parent()->execution_thread()) {
      errors.AddAt(instruction, "calls computation ", callee->name(), " of execution thread \"",
                   thread, "\" from thread \"", instruction.parent()->execution_thread(), "\"");
    }
    if (AppliesPerElement(info) && effects.In(callee)) {
      errors.AddAt(instruction, info.name, ": computation ", callee->name(), " has side effects");
    }
  }
  if (info.opcode == Opcode::kFusion) CheckFusedComputation(instruction, errors);
}

void CheckInstruction(const Instruction& instruction, const VerifyOptions& options,
                      const SideEffects& effects, Errors& errors) {
  const OpInfo& info = Info(instruction.opcode());
  const InstructionSite owner(instruction);
  const OpSite& site = *owner;
  CheckAttributes(instruction, info, errors);
  for (const absl::Status& status :
       {CheckOperandCount(site), CheckCalleeCount(site), CheckShape(instruction.shape())}) {
    if (status.ok()) continue;
    errors.AddAt(instruction, ToStd(status.message()));
    return;
  }
  CheckCallees(instruction, info, effects, errors);
  CheckOutputAliasing(instruction, errors);
  if (info.opcode == Opcode::kConstant) CheckConstant(instruction, options, errors);
  if (info.opcode == Opcode::kParameter) CheckParameter(instruction, errors);
  if (info.opcode == Opcode::kCall) CheckComposite(instruction, errors);
  if (info.opcode == Opcode::kCustomCall) {
    if (const absl::Status call = CheckLibraryCall(instruction); !call.ok())
      errors.AddAt(instruction, ToStd(call.message()));
  }
  if (info.IsDefined()) CheckShapes(instruction, site, options, errors);
}

}  // namespace

void CheckInstructions(const Module& module, const VerifyOptions& options, Errors& errors) {
  const SideEffects effects(module);
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation)
      CheckInstruction(*instruction, options, effects, errors);
  }
}

}  // namespace assay::verifier
