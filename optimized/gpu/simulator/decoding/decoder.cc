// The frame of the decoder: values, blocks, edges.
#include "optimized/gpu/simulator/decoding/decoder.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "optimized/gpu/simulator/block_order.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

std::string TextOf(const llvm::Value& value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

constexpr size_t kMostScalars = 1 << 16;

}  // namespace

Decoder::Decoder(const llvm::Function& function, const SimulatorOptions& options, KernelCode& code)
    : function_(function),
      options_(options),
      layout_(function.getParent()->getDataLayout()),
      code_(code),
      writer_(code) {}

absl::Status Decoder::Unknown(const llvm::Value& value, std::string_view why) {
  return absl::UnimplementedError(absl::StrCat("the simulator does not run ", TextOf(value),
                                               why.empty() ? "" : ": ", std::string(why)));
}

absl::StatusOr<ScalarType> Decoder::Scalar(const llvm::Type* type) {
  if (type->isPointerTy()) return ScalarType{kI64, 64, false};
  if (type->isHalfTy()) return ScalarType{kF16, 16, true};
  if (type->isBFloatTy()) return ScalarType{kBF16, 16, true};
  if (type->isFloatTy()) return ScalarType{kF32, 32, true};
  if (type->isDoubleTy()) return ScalarType{kF64, 64, true};
  if (type->isIntegerTy() && type->getIntegerBitWidth() <= 128) {
    const int bits = type->getIntegerBitWidth();
    const LaneType lane = bits <= 8    ? kI8
                          : bits <= 16 ? kI16
                          : bits <= 32 ? kI32
                          : bits <= 64 ? kI64
                                       : kI128;
    return ScalarType{lane, bits, false};
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  type->print(stream);
  return absl::UnimplementedError(absl::StrCat("the simulator has no values of type ", text));
}

absl::StatusOr<std::vector<PlacedScalar>> Decoder::Scalars(llvm::Type* type) {
  std::vector<PlacedScalar> result;
  std::vector<std::pair<llvm::Type*, uint64_t>> parts = {{type, 0}};
  const auto add = [&](llvm::Type* part, uint64_t count, uint64_t offset, uint64_t stride) {
    for (uint64_t k = count; k-- > 0;) parts.push_back({part, offset + k * stride});
  };
  while (!parts.empty()) {
    const auto [part, offset] = parts.back();
    parts.pop_back();
    if (result.size() + parts.size() > kMostScalars) {
      return absl::UnimplementedError("the simulator has no values of so many scalars");
    }
    if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(part)) {
      if (vector->getNumElements() > kMostScalars) continue;
      llvm::Type* element = vector->getElementType();
      add(element, vector->getNumElements(), offset, (element->getScalarSizeInBits() + 7) / 8);
      if (element->isPointerTy()) return absl::UnimplementedError("vectors of pointers");
    } else if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(part)) {
      if (array->getNumElements() > kMostScalars) {
        return absl::UnimplementedError("the simulator has no values of so many scalars");
      }
      add(array->getElementType(), array->getNumElements(), offset,
          layout_.getTypeAllocSize(array->getElementType()));
    } else if (auto* structure = llvm::dyn_cast<llvm::StructType>(part)) {
      const llvm::StructLayout* places = layout_.getStructLayout(structure);
      for (unsigned k = structure->getNumElements(); k-- > 0;) {
        parts.push_back({structure->getElementType(k), offset + places->getElementOffset(k)});
      }
    } else {
      ASSAY_ASSIGN_OR_RETURN(const ScalarType scalar, Scalar(part));
      result.push_back({scalar, offset});
    }
  }
  return result;
}

absl::StatusOr<Registers> Decoder::ValueOf(const llvm::Value* value) {
  const auto found = values_.find(value);
  if (found != values_.end()) return found->second;
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return ConstantOf(constant);
  return Unknown(*value, "it is used before it is made");
}

absl::StatusOr<Register> Decoder::ScalarOf(const llvm::Value* value) {
  ASSAY_ASSIGN_OR_RETURN(const Registers registers, ValueOf(value));
  if (registers.size() != 1) return Unknown(*value, "a scalar is expected");
  return registers[0];
}

absl::StatusOr<Registers> Decoder::ConstantOf(const llvm::Constant* constant) {
  llvm::Type* type = constant->getType();
  if (type->isAggregateType() || type->isVectorTy()) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<PlacedScalar> scalars, Scalars(type));
    Registers all;
    for (unsigned k = 0; all.size() < scalars.size(); ++k) {
      const llvm::Constant* element = constant->getAggregateElement(k);
      if (element == nullptr) return Unknown(*constant);
      ASSAY_ASSIGN_OR_RETURN(const Registers part, ConstantOf(element));
      all.append(part);
    }
    return all;
  }
  ASSAY_ASSIGN_OR_RETURN(const ScalarType scalar, Scalar(type));
  llvm::APInt bits(scalar.bits, 0);
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(constant)) {
    bits = integer->getValue();
  } else if (const auto* real = llvm::dyn_cast<llvm::ConstantFP>(constant)) {
    bits = real->getValueAPF().bitcastToAPInt();
  } else if (!llvm::isa<llvm::UndefValue, llvm::ConstantPointerNull>(constant)) {
    ASSAY_ASSIGN_OR_RETURN(const uint64_t address, ConstantAddress(constant));
    return Registers{writer_.Constant(scalar.bytes(), address)};
  }
  unsigned __int128 value = bits.extractBitsAsZExtValue(std::min(scalar.bits, 64), 0);
  if (scalar.bits > 64) {
    value |= static_cast<unsigned __int128>(bits.extractBitsAsZExtValue(scalar.bits - 64, 64))
             << 64;
  }
  return Registers{writer_.Constant(scalar.bytes(), value)};
}

absl::StatusOr<uint64_t> Decoder::AddressOf(const llvm::Value* variable) {
  const auto found = variables_.find(variable);
  if (found == variables_.end()) return Unknown(*variable, "its address is not known");
  return found->second.address;
}

// Pointers to variables, moved by constants.
absl::StatusOr<uint64_t> Decoder::ConstantAddress(const llvm::Constant* constant) {
  if (const auto* cast = llvm::dyn_cast<llvm::ConstantExpr>(constant)) {
    switch (cast->getOpcode()) {
      case llvm::Instruction::AddrSpaceCast:
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::BitCast:
        return ConstantAddress(cast->getOperand(0));
      case llvm::Instruction::GetElementPtr: {
        llvm::APInt offset(layout_.getIndexTypeSizeInBits(cast->getType()), 0);
        if (!llvm::cast<llvm::GEPOperator>(cast)->accumulateConstantOffset(layout_, offset)) break;
        ASSAY_ASSIGN_OR_RETURN(const uint64_t base, ConstantAddress(cast->getOperand(0)));
        return base + static_cast<uint64_t>(offset.getSExtValue());
      }
      case llvm::Instruction::IntToPtr:
        if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(cast->getOperand(0))) {
          return integer->getValue().getLimitedValue();
        }
        break;
      default:
        break;
    }
    return Unknown(*constant);
  }
  if (llvm::isa<llvm::ConstantPointerNull>(constant)) return 0;
  return AddressOf(constant);
}

Register Decoder::ThreadRegister(Register& place, bool is_uniform) {
  if (place == kNoRegister) place = is_uniform ? writer_.Uniform(4) : writer_.New(4);
  return place;
}

Register Decoder::Apply(LaneOp op, LaneType type, Register a, Register b, Register c) {
  const bool is_truth =
      (op >= kSAddOverflow && op <= kSLessEqual) || (op >= kOrderedEqual && op <= kUnordered);
  const int bytes = is_truth ? 1 : op == kIndexTimes || op == kIndexShift ? 8 : BytesOf(type);
  return writer_.Lanes(Lanes().ops[op][type], bytes, a, b, c);
}

Register Decoder::Convert(LaneConversion conversion, LaneType from, LaneType to, Register a) {
  return writer_.Lanes(Lanes().conversions[conversion][from][to], BytesOf(to), a);
}

Register Decoder::Narrow(ScalarType type, Register a) {
  if (!type.is_odd()) return a;
  const unsigned __int128 mask = ((unsigned __int128){1} << type.bits) - 1;
  return Apply(kAnd, type.lane, a, Number(type.bytes(), mask));
}

Register Decoder::SignExtended(ScalarType type, Register a) {
  if (!type.is_odd()) return a;
  const Register shift = Number(type.bytes(), 8 * type.bytes() - type.bits);
  return Apply(kAShr, type.lane, Apply(kShl, type.lane, a, shift), shift);
}

void Decoder::NoteSource(const llvm::Instruction& instruction) {
  writer_.set_source(code_.sources.size());
  const llvm::DILocation* place = instruction.getDebugLoc().get();
  code_.lines.push_back(place == nullptr ? 0 : place->getLine());
  if (options_.instruction_texts) return;  // all at once, see DecodeBlock
  code_.sources.push_back(
      absl::StrCat("block ", numbers_[instruction.getParent()], ": ", instruction.getOpcodeName()));
}

absl::Status Decoder::DecodePhis(const llvm::BasicBlock& block) {
  for (const llvm::PHINode& phi : block.phis()) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<PlacedScalar> scalars, Scalars(phi.getType()));
    Registers registers;
    for (const PlacedScalar& scalar : scalars)
      registers.push_back(writer_.New(scalar.type.bytes()));
    Define(&phi, std::move(registers));
  }
  return absl::OkStatus();
}

absl::Status Decoder::DecodeBlock(const llvm::BasicBlock& block) {
  writer_.BeginBlock();
  for (const llvm::Instruction& instruction : block) {
    if (llvm::isa<llvm::PHINode>(instruction)) continue;
    NoteSource(instruction);
    ASSAY_RETURN_IF_ERROR(DecodeInstruction(instruction));
    if (options_.instruction_texts) code_.sources.emplace_back();
  }
  return absl::OkStatus();
}

uint32_t Decoder::NewEdge(const llvm::BasicBlock* from, const llvm::BasicBlock* to) {
  const uint32_t edge = code_.edges.size();
  code_.edges.push_back({.block = numbers_[to]});
  pending_.push_back({from, to, edge});
  return edge;
}

absl::Status Decoder::DecodeTerminator(const llvm::Instruction& instruction) {
  const llvm::BasicBlock* here = instruction.getParent();
  if (llvm::isa<llvm::ReturnInst>(instruction)) {
    writer_.Emit(OpKind::kReturn);
    return absl::OkStatus();
  }
  if (llvm::isa<llvm::UnreachableInst>(instruction)) {
    writer_.Emit(OpKind::kTrap);
    return absl::OkStatus();
  }
  if (const auto* cases = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) {
    SwitchOp op;
    ASSAY_ASSIGN_OR_RETURN(const ScalarType type, Scalar(cases->getCondition()->getType()));
    if (type.bits > 64) return Unknown(instruction);
    ASSAY_ASSIGN_OR_RETURN(const Register value, ScalarOf(cases->getCondition()));
    op.bytes = type.bytes();
    op.edges = code_.edges.size();
    for (const auto& one : cases->cases()) {
      op.values.push_back(one.getCaseValue()->getZExtValue());
      NewEdge(here, one.getCaseSuccessor());
    }
    NewEdge(here, cases->getDefaultDest());
    code_.switches.push_back(std::move(op));
    writer_.Emit(OpKind::kSwitch, code_.switches.size() - 1).a = value;
    return absl::OkStatus();
  }
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
  if (branch == nullptr) return Unknown(instruction);
  if (branch->isUnconditional()) {
    writer_.Emit(OpKind::kJump, NewEdge(here, branch->getSuccessor(0)));
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const Register condition, ScalarOf(branch->getCondition()));
  const uint32_t edge = NewEdge(here, branch->getSuccessor(0));
  NewEdge(here, branch->getSuccessor(1));
  writer_.Emit(OpKind::kBranch, edge).a = condition;
  return absl::OkStatus();
}

// The values that phis take on this edge, all at once: what another phi of the block would
// overwrite is saved before.
absl::Status Decoder::FillEdge(const PendingEdge& pending) {
  std::vector<EdgeCopy> copies;
  llvm::DenseMap<Register, bool> written;
  for (const llvm::PHINode& phi : pending.to->phis()) {
    ASSAY_ASSIGN_OR_RETURN(const Registers to, ValueOf(&phi));
    ASSAY_ASSIGN_OR_RETURN(const Registers from,
                           ValueOf(phi.getIncomingValueForBlock(pending.from)));
    for (size_t k = 0; k < to.size(); ++k) {
      if (to[k] == from[k]) continue;
      copies.push_back({to[k], from[k], static_cast<uint32_t>(writer_.BytesOf(to[k]))});
      written[to[k]] = true;
    }
  }
  Edge& edge = code_.edges[pending.edge];
  edge.first_copy = code_.copies.size();
  for (EdgeCopy& copy : copies) {
    if (!written.contains(copy.from)) continue;
    const Register saved = writer_.New(copy.bytes);
    code_.copies.push_back({saved, copy.from, copy.bytes});
    copy.from = saved;
  }
  code_.copies.insert(code_.copies.end(), copies.begin(), copies.end());
  edge.copies = code_.copies.size() - edge.first_copy;
  return absl::OkStatus();
}

absl::Status Decoder::Run() {
  code_.name = function_.getName().str();
  if (function_.isDeclaration() || !function_.getReturnType()->isVoidTy()) {
    return absl::InvalidArgumentError(
        absl::StrCat("function \"", code_.name, "\" is no kernel: one has a body and gives void"));
  }
  const std::vector<const llvm::BasicBlock*> order = OrderOfBlocks(function_);
  for (const llvm::BasicBlock* block : order) numbers_[block] = numbers_.size();
  ASSAY_RETURN_IF_ERROR(PlaceVariables());
  ASSAY_RETURN_IF_ERROR(PlaceArguments());
  for (const llvm::BasicBlock* block : order) ASSAY_RETURN_IF_ERROR(DecodePhis(*block));
  for (const llvm::BasicBlock* block : order) ASSAY_RETURN_IF_ERROR(DecodeBlock(*block));
  for (const PendingEdge& pending : pending_) ASSAY_RETURN_IF_ERROR(FillEdge(pending));
  if (options_.instruction_texts) {
    llvm::ModuleSlotTracker slots(function_.getParent());
    slots.incorporateFunction(function_);
    uint32_t at = 0;
    for (const llvm::BasicBlock* block : order) {
      for (const llvm::Instruction& instruction : *block) {
        if (llvm::isa<llvm::PHINode>(instruction)) continue;
        llvm::raw_string_ostream stream(code_.sources[at++]);
        instruction.print(stream, slots);
      }
    }
  }
  return writer_.Finish();
}

absl::Status Decoder::DecodeInstruction(const llvm::Instruction& instruction) {
  using llvm::dyn_cast;
  if (instruction.isTerminator()) return DecodeTerminator(instruction);
  if (const auto* it = dyn_cast<llvm::BinaryOperator>(&instruction))
    return DecodeBinary(*this, *it);
  if (const auto* it = dyn_cast<llvm::CmpInst>(&instruction)) return DecodeCompare(*this, *it);
  if (const auto* it = dyn_cast<llvm::CastInst>(&instruction)) return DecodeCast(*this, *it);
  if (const auto* it = dyn_cast<llvm::SelectInst>(&instruction)) return DecodeSelect(*this, *it);
  if (const auto* it = dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    return DecodeAddress(*this, *it);
  }
  if (const auto* it = dyn_cast<llvm::LoadInst>(&instruction)) return DecodeLoad(*this, *it);
  if (const auto* it = dyn_cast<llvm::StoreInst>(&instruction)) return DecodeStore(*this, *it);
  if (const auto* it = dyn_cast<llvm::AtomicRMWInst>(&instruction)) return DecodeAtomic(*this, *it);
  if (const auto* it = dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    return DecodeExchange(*this, *it);
  }
  if (const auto* it = dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    return DecodeIntrinsic(*this, *it);
  }
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FNeg:
    case llvm::Instruction::Freeze:
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement:
    case llvm::Instruction::ShuffleVector:
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue:
      return DecodeAggregate(*this, instruction);
    case llvm::Instruction::Fence:
      writer_.Emit(OpKind::kFence);
      return absl::OkStatus();
    case llvm::Instruction::Alloca: {
      ASSAY_ASSIGN_OR_RETURN(const uint64_t address, AddressOf(&instruction));
      Define(&instruction, {Number(8, address)});
      return absl::OkStatus();
    }
    default:
      return Unknown(instruction);
  }
}

namespace {

// The kernel without calls to other functions of its module. Null where there are none; an error
// where functions call themselves.
absl::StatusOr<std::unique_ptr<llvm::Module>> WithoutCalls(const llvm::Function& kernel) {
  const auto next_call = [](const llvm::Function& function) -> const llvm::CallInst* {
    for (const llvm::BasicBlock& block : function) {
      for (const llvm::Instruction& instruction : block) {
        const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (call == nullptr || call->getCalledFunction() == nullptr) continue;
        if (!call->getCalledFunction()->isDeclaration()) return call;
      }
    }
    return nullptr;
  };
  if (next_call(kernel) == nullptr) return nullptr;
  llvm::ValueToValueMapTy map;
  std::unique_ptr<llvm::Module> module =
      llvm::CloneModule(*kernel.getParent(), map, [&](const llvm::GlobalValue* value) {
        const auto* function = llvm::dyn_cast<llvm::Function>(value);
        return function == nullptr || function == &kernel ||
               function->getCallingConv() != llvm::CallingConv::PTX_Kernel;
      });
  llvm::Function* clone = module->getFunction(kernel.getName());
  constexpr int kMostCalls = 5000;
  for (int k = 0; k < kMostCalls; ++k) {
    const llvm::CallInst* call = next_call(*clone);
    if (call == nullptr) return module;
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*const_cast<llvm::CallInst*>(call), info).isSuccess()) {
      return absl::UnimplementedError(
          absl::StrCat("the simulator does not run the call ", TextOf(*call)));
    }
  }
  return absl::UnimplementedError(
      absl::StrCat("kernel \"", kernel.getName().str(), "\" calls functions that call themselves"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecodedKernel>> Decode(const llvm::Function& kernel,
                                                      const SimulatorOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::Module> clone, WithoutCalls(kernel));
  const llvm::Function& function =
      clone == nullptr ? kernel : *clone->getFunction(kernel.getName());
  auto code = std::make_unique<KernelCode>();
  ASSAY_RETURN_IF_ERROR(Decoder(function, options, *code).Run());
  return std::make_unique<DecodedKernel>(std::move(code));
}

}  // namespace assay::gpu
