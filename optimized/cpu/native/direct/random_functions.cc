// Step by step: each takes values that are there and adds one. What the language leaves open is
// avoided, and the bits of NaN are made one before they are seen.
#include "optimized/cpu/native/direct/random_functions.h"

#include <array>
#include <functional>
#include <random>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace assay::direct {
namespace {

using llvm::Value;

class Writer {
 public:
  Writer(llvm::Module& module, uint64_t seed)
      : module_(module), random_(seed), ir_(module.getContext()) {}

  void WriteEntry() {
    llvm::Type* pointer = ir_.getPtrTy();
    helper_ = WriteHelper();
    auto* type = llvm::FunctionType::get(ir_.getVoidTy(), {pointer}, false);
    function_ =
        llvm::Function::Create(type, llvm::Function::ExternalLinkage, "assay_entry", module_);
    ir_.SetInsertPoint(NewBlock());
    Value* table = function_->getArg(0);
    in_ = ir_.CreateLoad(pointer, table);
    out_ = ir_.CreateLoad(pointer, ir_.CreateConstInBoundsGEP1_64(pointer, table, 1));
    scratch_ = ir_.CreateAlloca(ir_.getInt8Ty(), ir_.getInt64(256));
    const size_t steps = 10 + Pick(50);
    for (size_t k = 0; k < steps; ++k) Step();
    StoreAll();
    ir_.CreateRetVoid();
  }

 private:
  size_t Pick(size_t count) { return random_() % count; }
  llvm::BasicBlock* NewBlock() {
    return llvm::BasicBlock::Create(module_.getContext(), "", function_);
  }

  llvm::Type* ScalarType() {
    const std::array<llvm::Type*, 9> types = {
        ir_.getInt1Ty(),  ir_.getIntNTy(2), ir_.getIntNTy(4), ir_.getInt8Ty(),  ir_.getInt16Ty(),
        ir_.getInt32Ty(), ir_.getInt64Ty(), ir_.getFloatTy(), ir_.getDoubleTy()};
    return types[Pick(types.size())];
  }
  llvm::Type* AnyType() {
    llvm::Type* scalar = ScalarType();
    return Pick(2) == 0 ? scalar : llvm::FixedVectorType::get(scalar, 2u << Pick(6));
  }
  llvm::Type* Like(llvm::Type* shape, llvm::Type* scalar) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape);
    return vector == nullptr ? scalar
                             : llvm::FixedVectorType::get(scalar, vector->getNumElements());
  }
  llvm::Type* IntegerLike(llvm::Type* shape) {
    constexpr std::array kBits = {1, 2, 4, 8, 16, 32, 64};
    return Like(shape, ir_.getIntNTy(kBits[Pick(kBits.size())]));
  }
  llvm::Type* FloatLike(llvm::Type* shape) {
    return Like(shape, Pick(2) == 0 ? ir_.getFloatTy() : ir_.getDoubleTy());
  }

  // A value of this type: an old one, a constant, or one from the arguments.
  Value* Of(llvm::Type* type) {
    std::vector<Value*> known;
    for (Value* value : values_) {
      if (value->getType() == type) known.push_back(value);
    }
    const size_t choice = Pick(8);
    if (!known.empty() && choice < 6) return known[Pick(known.size())];
    if (choice == 6) return Constant(type);
    return Read(type);
  }
  llvm::Constant* Constant(llvm::Type* type) {
    if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      if (Pick(2) == 0) {
        return llvm::ConstantVector::getSplat(vector->getElementCount(),
                                              Constant(vector->getElementType()));
      }
      std::vector<llvm::Constant*> lanes;
      for (unsigned k = 0; k < vector->getNumElements(); ++k) {
        lanes.push_back(Constant(vector->getElementType()));
      }
      return llvm::ConstantVector::get(lanes);
    }
    constexpr std::array kNumbers = {0.0, -0.0, 1.0, -1.5, 0.5, 3e9, -2147483648.0, 1e30, 255.5};
    if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, kNumbers[Pick(9)]);
    const std::array<uint64_t, 7> kIntegers = {0,        1, 2, 127, ~uint64_t{0}, uint64_t{1} << 31,
                                               random_()};
    const llvm::APInt wide(64, kIntegers[Pick(kIntegers.size())]);
    return llvm::ConstantInt::get(type, wide.trunc(type->getIntegerBitWidth()));
  }
  Value* Read(llvm::Type* type) {
    const unsigned bits = type->getScalarSizeInBits();
    llvm::Type* stored = bits < 8 ? Like(type, ir_.getInt8Ty()) : type;
    const uint64_t bytes = module_.getDataLayout().getTypeStoreSize(stored);
    const uint64_t at = Pick(kArgumentBytes - bytes + 1);
    Value* place = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), in_, at);
    Value* value = ir_.CreateAlignedLoad(stored, place, llvm::Align(1));
    return stored == type ? value : ir_.CreateTrunc(value, type);
  }

  void Step() {
    const size_t choice = Pick(20);
    if (choice == 0) return Branch();
    if (choice == 1) return Loop();
    if (choice == 2) return ThroughMemory();
    if (choice == 3) return CallHelper();
    if (choice == 4) return Choose();
    if (choice < 7) return MoveLanes();
    if (choice < 11) return Cast();
    llvm::Type* type = AnyType();
    values_.push_back(type->getScalarType()->isFloatingPointTy() ? FloatStep(type)
                                                                 : IntegerStep(type));
  }

  Value* Amount(llvm::Type* type) {
    const uint64_t bits = type->getScalarSizeInBits();
    if (Pick(2) == 0) return llvm::ConstantInt::get(type, Pick(bits));
    return ir_.CreateAnd(Of(type), llvm::ConstantInt::get(type, bits - 1));
  }

  Value* IntegerStep(llvm::Type* type) {
    using Binary = llvm::Instruction::BinaryOps;
    constexpr std::array<Binary, 6> kPlain = {llvm::Instruction::Add, llvm::Instruction::Sub,
                                              llvm::Instruction::Mul, llvm::Instruction::And,
                                              llvm::Instruction::Or,  llvm::Instruction::Xor};
    constexpr std::array<Binary, 3> kShifts = {llvm::Instruction::Shl, llvm::Instruction::LShr,
                                               llvm::Instruction::AShr};
    constexpr std::array<Binary, 4> kDivisions = {llvm::Instruction::UDiv, llvm::Instruction::SDiv,
                                                  llvm::Instruction::URem, llvm::Instruction::SRem};
    constexpr std::array<llvm::Intrinsic::ID, 4> kChoices = {
        llvm::Intrinsic::smin, llvm::Intrinsic::smax, llvm::Intrinsic::umin, llvm::Intrinsic::umax};
    switch (Pick(8)) {
      case 0:
        if (type->getScalarSizeInBits() == 1) break;
        return ir_.CreateBinOp(kShifts[Pick(3)], Of(type), Amount(type));
      case 1: {
        if (type->getScalarSizeInBits() < 8) break;
        Value* y = ir_.CreateOr(ir_.CreateAnd(Of(type), llvm::ConstantInt::get(type, 0x3F)),
                                llvm::ConstantInt::get(type, 1));
        return ir_.CreateBinOp(kDivisions[Pick(4)], Of(type), y);
      }
      case 2:
        if (type->getScalarSizeInBits() < 8) break;
        return ir_.CreateBinaryIntrinsic(kChoices[Pick(4)], Of(type), Of(type));
      case 3:
        if (type->getScalarSizeInBits() < 8) break;
        if (Pick(2) == 0) {
          return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, Of(type), ir_.getFalse());
        }
        return Pick(2) == 0
                   ? ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, Of(type))
                   : ir_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, Of(type), ir_.getFalse());
      case 4:
        return Compare(type);
      default:
        break;
    }
    return ir_.CreateBinOp(kPlain[Pick(6)], Of(type), Of(type));
  }

  Value* Compare(llvm::Type* like) {
    if (Pick(2) == 0) {
      llvm::Type* type = IntegerLike(like);
      const auto predicate =
          static_cast<llvm::CmpInst::Predicate>(llvm::CmpInst::FIRST_ICMP_PREDICATE + Pick(10));
      return ir_.CreateICmp(predicate, Of(type), Of(type));
    }
    llvm::Type* type = FloatLike(like);
    const auto predicate = static_cast<llvm::CmpInst::Predicate>(Pick(16));
    return ir_.CreateFCmp(predicate, Of(type), Of(type));
  }

  Value* FloatStep(llvm::Type* type) {
    constexpr std::array<llvm::Intrinsic::ID, 7> kUnary = {
        llvm::Intrinsic::sqrt, llvm::Intrinsic::fabs,  llvm::Intrinsic::floor,
        llvm::Intrinsic::ceil, llvm::Intrinsic::trunc, llvm::Intrinsic::roundeven,
        llvm::Intrinsic::round};
    constexpr std::array<llvm::Intrinsic::ID, 3> kBinary = {
        llvm::Intrinsic::minimum, llvm::Intrinsic::maximum, llvm::Intrinsic::copysign};
    switch (Pick(9)) {
      case 0:
        return ir_.CreateFAdd(Of(type), Of(type));
      case 1:
        return ir_.CreateFSub(Of(type), Of(type));
      case 2:
        return ir_.CreateFMul(Of(type), Of(type));
      case 3:
        return ir_.CreateFDiv(Of(type), Of(type));
      case 4:
        return ir_.CreateFNeg(Of(type));
      case 5:
        return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {Of(type), Of(type), Of(type)});
      case 6:
        return ir_.CreateBinaryIntrinsic(kBinary[Pick(2)], Of(type), Of(type));
      case 7:  // the sign of a NaN is left open
        return ir_.CreateBinaryIntrinsic(kBinary[2], Of(type), OneNan(Of(type)));
      default:
        return ir_.CreateUnaryIntrinsic(kUnary[Pick(7)], Of(type));
    }
  }

  Value* OneNan(Value* value) {
    Value* is_nan = ir_.CreateFCmpUNO(value, value);
    return ir_.CreateSelect(is_nan, llvm::ConstantFP::getQNaN(value->getType()), value);
  }

  void Cast() {
    llvm::Type* shape = AnyType();
    llvm::Type* integer = IntegerLike(shape);
    llvm::Type* real = FloatLike(shape);
    llvm::Type* f32 = Like(shape, ir_.getFloatTy());
    llvm::Type* f64 = Like(shape, ir_.getDoubleTy());
    llvm::Type* i32 = Like(shape, ir_.getInt32Ty());
    Value* made = nullptr;
    switch (Pick(8)) {
      case 0:
        made = ir_.CreateIntCast(Of(IntegerLike(shape)), integer, Pick(2) == 0);
        break;
      case 1:
        made = Pick(2) == 0 ? ir_.CreateSIToFP(Of(integer), real)
                            : ir_.CreateUIToFP(Of(integer), real);
        break;
      case 2: {
        if (integer->getScalarSizeInBits() < 8) integer = i32;
        const auto id = Pick(2) == 0 ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
        made = ir_.CreateIntrinsic(id, {integer, real}, {Of(real)});
        break;
      }
      case 3:
        made = ir_.CreateFPExt(Of(f32), f64);
        break;
      case 4:
        made = ir_.CreateFPTrunc(Of(f64), f32);
        break;
      case 5:
        made = ir_.CreateBitCast(OneNan(Of(f32)), i32);
        break;
      case 6:
        made = ir_.CreateBitCast(Of(i32), f32);
        break;
      default: {  // to f16 and back
        Value* half = ir_.CreateFPTrunc(OneNan(Of(f32)), Like(shape, ir_.getHalfTy()));
        made = ir_.CreateFPExt(half, f32);
        break;
      }
    }
    values_.push_back(made);
  }

  void Choose() {
    llvm::Type* type = AnyType();
    Value* condition = Of(Pick(2) == 0 ? Like(type, ir_.getInt1Ty()) : ir_.getInt1Ty());
    values_.push_back(ir_.CreateSelect(condition, Of(type), Of(type)));
  }

  void MoveLanes() {
    llvm::Type* element = ScalarType();
    const unsigned lanes = 2u << Pick(6);
    llvm::Type* type = llvm::FixedVectorType::get(element, lanes);
    switch (Pick(5)) {
      case 0:
        return values_.push_back(ir_.CreateExtractElement(Of(type), Pick(lanes)));
      case 1:
        return values_.push_back(ir_.CreateInsertElement(Of(type), Of(element), Pick(lanes)));
      case 2:
        return values_.push_back(ir_.CreateVectorSplat(lanes, Of(element)));
      case 3:
        return values_.push_back(
            ir_.CreateOrReduce(Of(llvm::FixedVectorType::get(ir_.getInt1Ty(), lanes))));
      default: {
        std::vector<int> mask;
        for (unsigned k = 0; k < lanes; ++k) mask.push_back(static_cast<int>(Pick(2 * lanes)));
        // Truths of comparisons are held in more ways than one: loaded ones in one.
        if (element->isIntegerTy(1)) return;
        return values_.push_back(ir_.CreateShuffleVector(Of(type), Of(type), mask));
      }
    }
  }

  void ThroughMemory() {
    llvm::Type* type = AnyType();
    if (type->getScalarSizeInBits() < 8) return;
    Value* place = scratch_;
    if (Pick(2) == 0) {
      Value* index = ir_.CreateAnd(Of(ir_.getInt64Ty()), ir_.getInt64(3));
      place = ir_.CreateGEP(Pick(2) == 0 ? ir_.getInt64Ty() : ir_.getInt8Ty(), scratch_, index);
    }
    if (module_.getDataLayout().getTypeStoreSize(type) > 128) return;
    ir_.CreateAlignedStore(Of(type), place, llvm::Align(1));
    if (Pick(2) == 0) {
      Value* half = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), scratch_, 160);
      // Bytes that were never written have no bits.
      const uint64_t bytes = module_.getDataLayout().getTypeStoreSize(type);
      ir_.CreateMemCpy(half, llvm::Align(1), place, llvm::Align(1), std::min<uint64_t>(bytes, 96));
      values_.push_back(ir_.CreateLoad(ir_.getInt8Ty(), half));
    }
    values_.push_back(ir_.CreateAlignedLoad(type, place, llvm::Align(1)));
  }

  // Two blocks that meet, with values of each; what they compute is not seen elsewhere.
  void Branch() {
    llvm::Type* type = AnyType();
    llvm::Type* other_type = ScalarType();
    Value* condition = Compare(ir_.getInt1Ty());
    llvm::BasicBlock *yes = NewBlock(), *no = NewBlock(), *both = NewBlock();
    ir_.CreateCondBr(condition, yes, no);
    std::array<std::array<Value*, 2>, 2> handed;
    std::array<llvm::BasicBlock*, 2> ends = {yes, no};
    for (size_t k = 0; k < 2; ++k) {
      ir_.SetInsertPoint(ends[k]);
      const std::vector<Value*> before = values_;
      values_.push_back(type->getScalarType()->isFloatingPointTy() ? FloatStep(type)
                                                                   : IntegerStep(type));
      handed[k] = {ForPhi(type), ForPhi(other_type)};
      values_ = before;
      ir_.CreateBr(both);
    }
    ir_.SetInsertPoint(both);
    for (size_t v = 0; v < 2; ++v) {
      llvm::PHINode* phi = ir_.CreatePHI(handed[0][v]->getType(), 2);
      for (size_t k = 0; k < 2; ++k) phi->addIncoming(handed[k][v], ends[k]);
      values_.push_back(phi);
    }
  }

  // Vectors of truths travel in one form alone from block to block: they are not handed on.
  Value* ForPhi(llvm::Type* type) {
    if (type->isVectorTy() && type->getScalarSizeInBits() == 1) type = ir_.getInt64Ty();
    return Of(type);
  }

  // A few trips, in each of which two carried values change places.
  void Loop() {
    llvm::Type* type = AnyType();
    if (type->getScalarSizeInBits() == 1) return;
    llvm::Type* i64 = ir_.getInt64Ty();
    Value *first = Of(type), *second = Of(type);
    Value* trips = ir_.CreateAnd(Of(i64), ir_.getInt64(7));
    llvm::BasicBlock *before = ir_.GetInsertBlock(), *test = NewBlock(), *inside = NewBlock(),
                     *done = NewBlock();
    ir_.CreateBr(test);
    ir_.SetInsertPoint(test);
    llvm::PHINode* i = ir_.CreatePHI(i64, 2);
    llvm::PHINode* a = ir_.CreatePHI(type, 2);
    llvm::PHINode* b = ir_.CreatePHI(type, 2);
    i->addIncoming(ir_.getInt64(0), before);
    a->addIncoming(first, before);
    b->addIncoming(second, before);
    ir_.CreateCondBr(ir_.CreateICmpSLT(i, trips), inside, done);
    ir_.SetInsertPoint(inside);
    const std::vector<Value*> known = values_;
    values_.insert(values_.end(), {i, a, b});
    Value* changed =
        type->getScalarType()->isFloatingPointTy() ? FloatStep(type) : IntegerStep(type);
    if (changed->getType() != type) changed = a;
    values_ = known;
    i->addIncoming(ir_.CreateAdd(i, ir_.getInt64(1)), inside);
    a->addIncoming(b, inside);
    b->addIncoming(changed, inside);
    ir_.CreateBr(test);
    ir_.SetInsertPoint(done);
    values_.insert(values_.end(), {i, a, b});
  }

  // A function with arguments and a result of every class.
  llvm::Function* WriteHelper() {
    llvm::Type* lanes = llvm::FixedVectorType::get(ir_.getFloatTy(), 16);
    auto* type = llvm::FunctionType::get(
        lanes, {lanes, ir_.getInt8Ty(), ir_.getDoubleTy(), lanes, ir_.getInt64Ty()}, false);
    auto* helper = llvm::Function::Create(type, llvm::Function::InternalLinkage, "helper", module_);
    ir_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", helper));
    Value* sum = ir_.CreateFAdd(helper->getArg(0), helper->getArg(3));
    Value* number = ir_.CreateSIToFP(helper->getArg(1), ir_.getFloatTy());
    number = ir_.CreateFAdd(number, ir_.CreateFPTrunc(helper->getArg(2), ir_.getFloatTy()));
    number = ir_.CreateFAdd(number, ir_.CreateSIToFP(helper->getArg(4), ir_.getFloatTy()));
    ir_.CreateRet(ir_.CreateFMul(sum, ir_.CreateVectorSplat(16, number)));
    return helper;
  }
  void CallHelper() {
    std::vector<Value*> arguments;
    for (const llvm::Argument& argument : helper_->args())
      arguments.push_back(Of(argument.getType()));
    values_.push_back(ir_.CreateCall(helper_, arguments));
  }

  void StoreAll() {
    uint64_t at = 0;
    for (Value* value : values_) {
      llvm::Type* type = value->getType();
      if (type->getScalarSizeInBits() < 8) {
        type = Like(type, ir_.getInt8Ty());
        value = ir_.CreateZExt(value, type);
      } else if (type->getScalarType()->isFloatingPointTy()) {
        value = OneNan(value);
      }
      const uint64_t bytes = module_.getDataLayout().getTypeStoreSize(type);
      if (at + bytes > kResultBytes) return;
      ir_.CreateAlignedStore(value, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), out_, at),
                             llvm::Align(1));
      at += bytes;
    }
  }

  llvm::Module& module_;
  std::mt19937_64 random_;
  llvm::IRBuilder<> ir_;
  llvm::Function* function_ = nullptr;
  llvm::Function* helper_ = nullptr;
  Value *in_ = nullptr, *out_ = nullptr, *scratch_ = nullptr;
  std::vector<Value*> values_;
};

}  // namespace

void AddRandomEntry(llvm::Module& module, uint64_t seed) { Writer(module, seed).WriteEntry(); }

}  // namespace assay::direct
