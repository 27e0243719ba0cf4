// The scope of a program in the making: what it may use, and how sizes are drawn.
#include "fuzz/generator/program.h"

#include <algorithm>
#include <array>
#include <bit>

#include "spec/types/native.h"

namespace assay {
namespace {

// Modulo 2^64, as all arithmetic of the programs.
int64_t Predecessor(int64_t value) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) - 1);
}

constexpr std::array<ElementType, 13> kComputedTypes = {
    ElementType::kS32, ElementType::kF32, ElementType::kU8,   ElementType::kS8,  ElementType::kU32,
    ElementType::kS64, ElementType::kU64, ElementType::kS16,  ElementType::kU16, ElementType::kPred,
    ElementType::kF64, ElementType::kF16, ElementType::kBF16,
};
constexpr std::array<ElementType, 8> kIndexTypes = {
    ElementType::kS32, ElementType::kS64, ElementType::kU32, ElementType::kS8,
    ElementType::kU8,  ElementType::kS16, ElementType::kU16, ElementType::kU64,
};
constexpr std::array<int64_t, 31> kThresholds = {8,  15, 16, 17, 31, 32,  33,  48,  49,  50,  51,
                                                 63, 64, 65, 7,  9,  127, 128, 129, 255, 256, 257,
                                                 1,  2,  3,  4,  5,  11,  13,  23,  47};
constexpr std::array<ElementType, 16> kRareTypes = {
    ElementType::kC64,        ElementType::kS4,         ElementType::kU4,
    ElementType::kC128,       ElementType::kS2,         ElementType::kU2,
    ElementType::kF8E4M3FN,   ElementType::kF8E5M2,     ElementType::kF8E4M3B11FNUZ,
    ElementType::kF8E5M2FNUZ, ElementType::kF8E4M3FNUZ, ElementType::kF8E4M3,
    ElementType::kF8E3M4,     ElementType::kF4E2M1FN,   ElementType::kS1,
    ElementType::kU1,
};
constexpr int64_t kMostConstantElements = 512;  // they cost text
constexpr int64_t kMostParameters = 10;

// Compilers that are not ours are asked; ours has them all.
bool TakesConstants(const GeneratorOptions& options) {
  return !options.portable || options.Takes(Opcode::kConstant);
}

}  // namespace

absl::Span<const ElementType> ComputedTypes() { return kComputedTypes; }
absl::Span<const ElementType> RareTypes() { return kRareTypes; }

bool IsIndexType(ElementType type) { return IsInteger(type) && IsComputed(type); }

bool Admits(Opcode opcode, ElementType type) {
  const OpInfo& info = Info(opcode);
  return info.IsDefined() && Matches(info.types, type);
}

void ExcludeUnsupported(const std::function<Capability(Opcode, ElementType)>& capability,
                        GeneratorOptions& options) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    const bool taken = std::any_of(
        kComputedTypes.begin(), kComputedTypes.end(),
        [&](ElementType type) { return capability(opcode, type) == Capability::kSupported; });
    if (!taken) options.excluded_ops.set(static_cast<size_t>(i));
  }
  for (int i = 0; i < kElementTypeCount; ++i) {
    const ElementType type = static_cast<ElementType>(i);
    if (IsArrayType(type) && capability(Opcode::kCopy, type) != Capability::kSupported)
      options.excluded_types.set(static_cast<size_t>(i));
  }
}

bool IsTaken(const Module& module, const GeneratorOptions& options) {
  if (options.excluded_ops.none() && options.excluded_types.none()) return true;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (!options.Takes(at->opcode())) return false;
      bool is_taken = true;
      ForEachLeaf(at->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
        if (leaf.IsArray() && !options.Takes(leaf.element_type())) is_taken = false;
      });
      if (!is_taken) return false;
    }
  }
  return true;
}

std::vector<std::string> GeneratorOptions::ExcludedOps() const {
  std::vector<std::string> names;
  for (int i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    if (!Takes(opcode) && Info(opcode).IsDefined()) names.emplace_back(Name(opcode));
  }
  return names;
}

std::vector<std::string> GeneratorOptions::ExcludedTypes() const {
  std::vector<std::string> names;
  for (int i = 0; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (!Takes(type)) names.emplace_back(Name(type));
  }
  return names;
}

Program::Program(Choices& choices, const GeneratorOptions& options)
    : choices_(choices), options_(options), module_(std::make_unique<Module>("generated")) {
  entry_.computation = module_->AddComputation("main");
  entry_.entry = true;
  module_->set_entry(entry_.computation);
  scope_ = &entry_;
  if (!options_.portable) return;
  // XLA has the types and computes nothing in them.
  for (ElementType type : {ElementType::kS1, ElementType::kU1})
    options_.excluded_types.set(static_cast<size_t>(type));
}

// ---- Taste.

void Program::set_devices(int64_t replicas, int64_t partitions) {
  module_->config().replica_count = replicas;
  module_->config().num_partitions = partitions;
}

void Program::set_size_style(SizeStyle style) {
  size_style_ = style;
  switch (style) {
    case SizeStyle::kSmall:
    case SizeStyle::kHighRank:
    case SizeStyle::kOnes:
    case SizeStyle::kZeros:
      element_cap_ = 600;
      break;
    case SizeStyle::kThreshold:
    case SizeStyle::kLopsided:
      element_cap_ = 2600;
      break;
    case SizeStyle::kLarge:
      // Log-uniform, and about a power of two every other time.
      element_cap_ = int64_t{1} << choices_.Range(11, 16);
      element_cap_ +=
          choices_.Percent(50) ? choices_.Range(-1, 1) : choices_.Range(0, element_cap_);
      work_left_ = 8 * element_cap_;
      break;
    case SizeStyle::kPowers:
      // The larger the rarer, for work grows with it.
      element_cap_ = int64_t{1} << (6 + choices_.Weighted({20, 20, 20, 16, 12, 6, 4, 2, 2, 1, 1}));
      ++element_cap_;
      work_left_ = std::max(work_left_, 8 * element_cap_);
      break;
  }
}

ValueFamily Program::DrawFamily() {
  if (!choices_.Percent(30)) return family_;
  return static_cast<ValueFamily>(choices_.Weighted({6, 6, 2, 2, 1, 2, 1, 1}));
}

ElementType Program::DrawType(TypeMask mask) {
  std::vector<ElementType> fitting;
  for (ElementType type : palette_) {
    if (Matches(mask, type) && Takes(type)) fitting.push_back(type);
  }
  if (fitting.empty() || choices_.Percent(4)) {
    fitting.clear();
    for (ElementType type : kComputedTypes) {
      if (Matches(mask, type) && Takes(type)) fitting.push_back(type);
    }
  }
  if (!fitting.empty()) return choices_.Pick(fitting);
  // Whoever takes none of them gets no such program (GenerateCase); it is legal all the same.
  for (ElementType type : kComputedTypes) {
    if (Matches(mask, type)) return type;
  }
  return ElementType::kS32;
}

ElementType Program::DrawIndexType() {
  return kIndexTypes[choices_.Weighted({10, 3, 3, 3, 3, 2, 2, 2})];
}

int64_t Program::DrawSize() {
  if (size_style_ == SizeStyle::kOnes) return 1;
  if (choices_.Percent(3)) return choices_.Percent(35) ? 0 : 1;
  switch (size_style_) {
    case SizeStyle::kHighRank:
      return choices_.Range(1, 3);
    case SizeStyle::kThreshold:
    case SizeStyle::kLopsided:
      return kThresholds[choices_.Draw(kThresholds.size())];
    case SizeStyle::kPowers: {
      constexpr int64_t kMostPowers = 8;
      const int64_t power = int64_t{1} << choices_.Range(1, kMostPowers);
      return std::min(power + choices_.Range(-1, 1), element_cap_);
    }
    case SizeStyle::kLarge:
    case SizeStyle::kSmall:
    case SizeStyle::kOnes:
    case SizeStyle::kZeros:
      break;
  }
  return choices_.Pick<int64_t>({3, 2, 4, 5, 6, 7, 8, 9, 1, 10});
}

// Any power of two that fits, or one beside it; the largest one every third time.
int64_t Program::DrawPower() {
  const int most = std::bit_width(static_cast<uint64_t>(element_cap_)) - 1;
  const int64_t at = choices_.Percent(33) ? most : choices_.Range(2, most);
  return std::min((int64_t{1} << at) + choices_.Range(-1, 1), element_cap_);
}

DimVector Program::DrawDimensions(int64_t min_rank) {
  int64_t rank;
  if (size_style_ == SizeStyle::kHighRank) {
    rank = choices_.Range(5, 8);
  } else {
    rank = static_cast<int64_t>(choices_.Weighted({8, 26, 36, 22, 6, 2}));
  }
  rank = std::max(rank, min_rank);
  if (size_style_ == SizeStyle::kLarge) rank = std::clamp<int64_t>(rank, 1, 3);
  if (size_style_ == SizeStyle::kZeros) rank = std::max<int64_t>(rank, 1);
  rank = std::max(rank, min_rank);
  DimVector dimensions;
  int64_t room = element_cap_;
  int64_t special = rank > 0 ? static_cast<int64_t>(choices_.Draw(rank)) : 0;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = DrawSize();
    if (size_style_ == SizeStyle::kLopsided && i != special) size = choices_.Range(1, 4);
    if (size_style_ == SizeStyle::kPowers) size = i == special ? DrawPower() : choices_.Range(1, 3);
    if (size_style_ == SizeStyle::kZeros) size = i == special ? 0 : choices_.Range(1, 4);
    if (size_style_ == SizeStyle::kLarge) {
      size = i == special ? element_cap_ : choices_.Range(1, 3);
    }
    // Different sizes by default: mixed-up dimensions are invisible on squares.
    bool repeated = std::find(dimensions.begin(), dimensions.end(), size) != dimensions.end();
    if (repeated && size > 1 && !choices_.Percent(15)) ++size;
    if (square_ && i > 0) size = dimensions[0];
    size = std::min(size, std::max<int64_t>(room, 1));
    dimensions.push_back(size);
    room /= std::max<int64_t>(size, 1);
  }
  return dimensions;
}

// ---- Operands.

// The latest half of the time: chains of two or three steps are where compilers go wrong.
Instruction* Program::PickRecent(const std::vector<Instruction*>& candidates) {
  if (candidates.empty()) return nullptr;
  if (!choices_.Percent(40)) return candidates.back();
  return candidates[candidates.size() - 1 - choices_.Draw(candidates.size())];
}

Instruction* Program::LastAs(TypeMask mask, int64_t min_rank) {
  chain_ = false;
  if (scope_->values.empty()) return nullptr;
  Instruction* last = scope_->values.back();
  const ElementType type = last->shape().element_type();
  if (last->shape().rank() < min_rank) return nullptr;
  if (Matches(mask, type) && Takes(type)) return last;
  const bool converts = !IsComplex(type) && (mask & (kP | kI | kF)) != 0;
  return converts ? Convert(last, DrawType(mask & (kP | kI | kF))) : nullptr;
}

bool Program::HoldsComplex() const {
  return options_.portable || std::any_of(palette_.begin(), palette_.end(), IsComplex);
}

Instruction* Program::Operand(TypeMask mask, int64_t min_rank) {
  // A program without complex numbers would have to make some.
  if (!HoldsComplex()) mask &= static_cast<TypeMask>(~kC);
  if (chain_) {
    if (Instruction* last = LastAs(mask, min_rank)) return last;
  }
  std::vector<Instruction*> candidates;
  for (Instruction* value : scope_->values) {
    const ElementType type = value->shape().element_type();
    if (value->shape().rank() >= min_rank && Matches(mask, type) && Takes(type)) {
      candidates.push_back(value);
    }
  }
  // Programs of nothing but splats and single elements show little: mostly pass them over.
  std::vector<Instruction*> telling;
  for (Instruction* candidate : candidates) {
    if (!IsUniform(candidate)) telling.push_back(candidate);
  }
  if (choices_.Percent(75)) candidates = std::move(telling);
  if (!candidates.empty() && !choices_.Percent(12)) return PickRecent(candidates);
  ElementType type = DrawType(mask);
  return Fresh(Shape::Array(type, DrawDimensions(min_rank)), 1);
}

Instruction* Program::Existing(const Shape& shape) {
  std::vector<Instruction*> candidates;
  for (Instruction* value : scope_->values) {
    if (Compatible(value->shape(), shape)) candidates.push_back(value);
  }
  return PickRecent(candidates);
}

Instruction* Program::OperandLike(const Shape& shape) {
  Shape plain = Shape::Array(shape.element_type(), shape.dimensions());
  if (!choices_.Percent(30)) {
    if (Instruction* existing = Existing(plain)) return existing;
  }
  return Fresh(plain);
}

Instruction* Program::OperandOf(ElementType type, absl::Span<const int64_t> dimensions) {
  return OperandLike(Shape::Array(type, dimensions));
}

Instruction* Program::Fresh(const Shape& shape, int splat_weight) {
  bool iota_fits =
      shape.rank() > 0 && !IsPred(shape.element_type()) && options_.Takes(Opcode::kIota);
  bool parameter_fits = scope_->entry && parameters_ < kMostParameters;
  bool splat_fits = shape.rank() > 0 && options_.Takes(Opcode::kBroadcast);
  bool constant_fits = TakesConstants(options_) || !parameter_fits;
  switch (choices_.Weighted({parameter_fits ? 66 : 0, constant_fits ? 18 : 0, iota_fits ? 10 : 0,
                             splat_fits ? splat_weight : 0})) {
    case 0:
      if (WantsConstant(shape)) return Constant(LiteralOfFamily(shape, DrawFamily(), choices_));
      return Parameter(shape);
    case 2:
      return SomeIota(shape);
    case 3:
      return Splat(Fresh(Shape::Scalar(shape.element_type())), shape.dimensions());
    default:
      break;
  }
  // Large constants only now and then: they cost text, not insight.
  if (shape.ElementCount() > 256 && !choices_.Percent(5)) {
    if (iota_fits) return SomeIota(shape);
    Shape scalar = Shape::Scalar(shape.element_type());
    return Splat(Constant(LiteralOfFamily(scalar, DrawFamily(), choices_)), shape.dimensions());
  }
  return Constant(LiteralOfFamily(shape, DrawFamily(), choices_));
}

bool Program::WantsConstant(const Shape& shape) {
  return constant_percent_ > 0 && TakesConstants(options_) &&
         shape.ElementCount() <= kMostConstantElements && choices_.Percent(constant_percent_);
}

Instruction* Program::KnownScalar(ElementType type, int64_t value) {
  Literal literal(Shape::Scalar(type));
  literal.SetInteger(0, value);
  bool parameter_fits = scope_->entry && parameters_ < kMostParameters;
  switch (choices_.Weighted({40, parameter_fits ? 40 : 0, 20})) {
    case 1:
      if (WantsConstant(literal.shape())) return Constant(std::move(literal));
      return FixedParameter(std::move(literal));
    case 2:
      break;
    default:
      return Constant(std::move(literal));
  }
  // All arithmetic wraps, so any difference is right in any type.
  int64_t part = choices_.Range(0, 3);
  Instruction* base = parameter_fits && choices_.Percent(50)
                          ? FixedParameter(Literal(Shape::Scalar(type)))
                          : ScalarConstant(type, 0);
  if (part == 3) {
    Instruction* one = ScalarConstant(type, 1);
    return Binary(Opcode::kAdd, one, ScalarConstant(type, Predecessor(value)));
  }
  Instruction* known = Constant(std::move(literal));
  if (part == 0) return Binary(Opcode::kAdd, base, known);
  if (part == 1) return Binary(Opcode::kSubtract, known, base);
  Instruction* product = Binary(Opcode::kMultiply, base, ScalarConstant(type, 3));
  return Binary(Opcode::kAdd, product, known);
}

Instruction* Program::StartIndex(ElementType type, int64_t dimension, int64_t size) {
  if (choices_.Percent(15)) {
    if (Instruction* existing = Existing(Shape::Scalar(type))) return existing;
  }
  int64_t last = dimension - size;
  int64_t value = 0;
  switch (choices_.Draw(10)) {
    case 0:
      break;
    case 1:
      value = last;
      break;
    case 2:
      value = last + 1;
      break;
    case 3:
      value = dimension;
      break;
    case 4:
      value = dimension + choices_.Range(1, 100);
      break;
    case 5:
      value = -choices_.Range(1, 3);
      break;
    case 6:
      value = MinOf(type);
      break;
    case 7:
      value = MaxOf(type);
      break;
    default:
      value = choices_.Range(0, std::max<int64_t>(last, 0));
      break;
  }
  return KnownScalar(type, value);
}

std::vector<Instruction*> Program::StartIndices(absl::Span<const int64_t> dimensions,
                                                absl::Span<const int64_t> sizes) {
  ElementType type = DrawIndexType();
  // Now and then one that ends within a long dimension, so that sums of starts pass its end.
  const auto longest =
      dimensions.empty() ? 0 : *std::max_element(dimensions.begin(), dimensions.end());
  if (longest > 127 && choices_.Percent(30))
    type = choices_.Pick({ElementType::kS8, ElementType::kU8, ElementType::kS8});
  std::vector<Instruction*> starts;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    bool full = dimensions[i] == sizes[i] && choices_.Percent(70);
    starts.push_back(full ? ScalarConstant(type, 0) : StartIndex(type, dimensions[i], sizes[i]));
  }
  return starts;
}

// ---- Embedded computations.

Computation* Program::NewComputation(std::string_view name) {
  return module_->AddComputation(name);
}

Instruction* Program::ScopeParameter(int64_t number, Shape shape) {
  Instruction* parameter = scope_->computation->AddParameter(number, std::move(shape));
  if (parameter->shape().IsArray()) {
    if (parameter->shape().ElementCount() < 2) uniform_.insert(parameter->id());
    scope_->values.push_back(parameter);
  }
  return parameter;
}

Instruction* Program::Parameter(Shape shape) {
  Instruction* parameter = entry_.computation->AddParameter(parameters_++, std::move(shape));
  if (parameter->shape().ElementCount() < 2) uniform_.insert(parameter->id());
  entry_.values.push_back(parameter);
  return parameter;
}

Instruction* Program::FixedParameter(Literal value) {
  Instruction* parameter = Parameter(value.shape());
  fixed_inputs_.emplace(parameter->parameter_number(), FixedInput{std::move(value)});
  return parameter;
}

Instruction* Program::GivenParameter(Literal value) {
  Instruction* parameter = Parameter(value.shape());
  fixed_inputs_.emplace(parameter->parameter_number(), FixedInput{std::move(value), false});
  return parameter;
}

Instruction* Program::Emit(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands,
                           Attributes attributes, absl::Span<Computation* const> callees) {
  Instruction* added =
      scope_->computation->Add(opcode, std::move(shape), operands, std::move(attributes), callees);
  if (added->shape().IsArray()) {
    NoteUniform(added);
    scope_->values.push_back(added);
    work_left_ -= added->shape().ElementCount() * scope_->trips;
  }
  return added;
}

void Program::NoteUniform(const Instruction* value) {
  if (value->shape().ElementCount() < 2) {
    uniform_.insert(value->id());
    return;
  }
  switch (value->opcode()) {
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kConcatenate:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kWhile:
    case Opcode::kFusion:
    case Opcode::kGetTupleElement:
      return;
    default:
      break;
  }
  for (const Instruction* operand : value->operands()) {
    if (!IsUniform(operand)) return;
  }
  uniform_.insert(value->id());
}

void RemoveDeadInstructions(Computation& computation) {
  // Stored order has operands first, so one walk from the end finds everything.
  std::vector<Instruction*> stored(computation.begin(), computation.end());
  for (size_t i = stored.size(); i-- > 0;) {
    if (stored[i]->IsDead()) computation.Remove(stored[i]);
  }
}

}  // namespace assay
