// Literals: storage, access to elements by type, comparison.
#include "spec/types/literal.h"

#include <algorithm>
#include <cmath>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Little-endian hosts only, as LLVM's targets here.
template <typename Unsigned>
uint64_t Read(const uint8_t* at) {
  Unsigned bits;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}
template <typename Unsigned>
void Write(uint8_t* at, uint64_t bits) {
  const auto low = static_cast<Unsigned>(bits);
  std::memcpy(at, &low, sizeof low);
}

// The first eight of so many bytes.
uint64_t ReadStorage(const uint8_t* at, int bytes) {
  switch (bytes) {
    case 1:
      return *at;
    case 2:
      return Read<uint16_t>(at);
    case 4:
      return Read<uint32_t>(at);
    default:
      return Read<uint64_t>(at);
  }
}
void WriteStorage(uint8_t* at, int bytes, uint64_t bits) {
  switch (bytes) {
    case 1:
      *at = static_cast<uint8_t>(bits);
      return;
    case 2:
      return Write<uint16_t>(at, bits);
    case 4:
      return Write<uint32_t>(at, bits);
    default:
      return Write<uint64_t>(at, bits);
  }
}

uint64_t LowBits(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

}  // namespace

Literal::Literal(const Literal& other) = default;
Literal& Literal::operator=(const Literal& other) = default;
Literal::Literal(Literal&& other) noexcept = default;
Literal& Literal::operator=(Literal&& other) noexcept = default;
Literal::~Literal() = default;

Literal::Literal(Shape shape) : Literal(std::move(shape), Content::kZeros) {}

Literal::Literal(Shape shape, Content content) : shape_(std::move(shape)) {
  if (shape_.IsTuple()) {
    elements_.reserve(shape_.elements().size());
    for (const Shape& element : shape_.elements()) elements_.push_back(Literal(element, content));
  } else if (shape_.IsArray()) {
    count_ = shape_.ElementCount();
    storage_ = Storage(static_cast<size_t>(shape_.ByteSize()));
    if (content == Content::kZeros && !storage_.empty()) {
      std::memset(storage_.data(), 0, storage_.size());
    }
  }
}

namespace {

absl::Status CheckSize(const Shape& shape, int64_t byte_limit) {
  // A bounded dimension holds its bound; one without a bound has no number of elements.
  const bool is_unbounded =
      shape.IsArray() &&
      std::count(shape.dimensions().begin(), shape.dimensions().end(), Shape::kUnbounded) > 0;
  if (is_unbounded) {
    return absl::UnimplementedError(
        StrCat("a value of dynamic shape ", shape.ToString(), " cannot be held"));
  }
  int64_t bytes = shape.ByteSize();
  if (bytes > byte_limit) {
    return absl::ResourceExhaustedError(StrCat("a value of shape ", shape.ToString(), " takes ",
                                               bytes, " bytes, more than the limit of ",
                                               byte_limit));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Literal> Literal::Create(Shape shape, int64_t byte_limit) {
  ASSAY_RETURN_IF_ERROR(CheckSize(shape, byte_limit));
  return Literal(std::move(shape), Content::kZeros);
}

absl::StatusOr<Literal> Literal::CreateUndefined(Shape shape, int64_t byte_limit) {
  ASSAY_RETURN_IF_ERROR(CheckSize(shape, byte_limit));
  return Literal(std::move(shape), Content::kUndefined);
}

Literal Literal::Tuple(std::vector<Literal> elements) {
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const Literal& element : elements) shapes.push_back(element.shape());
  Literal result;
  result.shape_ = Shape::Tuple(std::move(shapes));
  result.elements_ = std::move(elements);
  return result;
}

uint64_t Literal::GetBits(int64_t i) const {
  const TypeInfo& info = Info(element_type());
  const uint64_t bits = ReadStorage(storage_.data() + i * info.storage_bytes, info.storage_bytes);
  return info.bits >= 8 || info.type_class == TypeClass::kPred ? bits : bits & LowBits(info.bits);
}

void Literal::SetBits(int64_t i, uint64_t bits) {
  const TypeInfo& info = Info(element_type());
  const bool is_narrow = info.bits < 8 && info.type_class == TypeClass::kSigned;
  if (is_narrow && (bits >> (info.bits - 1) & 1) != 0) bits |= ~LowBits(info.bits);
  WriteStorage(storage_.data() + i * info.storage_bytes, info.storage_bytes, bits);
}

int64_t Literal::GetInteger(int64_t i) const {
  uint64_t bits = GetBits(i);
  int width = BitWidth(element_type());
  if (IsSigned(element_type()) && width < 64 && (bits >> (width - 1) & 1) != 0)
    bits |= ~LowBits(width);
  return static_cast<int64_t>(bits);
}

double Literal::GetDouble(int64_t i) const {
  ElementType type = element_type();
  if (IsFloat(type)) return DecodeFloat(Format(type), GetBits(i));
  if (IsUnsigned(type) || IsPred(type)) return static_cast<double>(GetBits(i));
  return static_cast<double>(GetInteger(i));
}

int64_t Literal::component_count() const {
  return shape_.IsArray() && IsComplex(element_type()) ? 2 * count_ : count_;
}

uint64_t Literal::GetComponentBits(int64_t k) const {
  if (!IsComplex(element_type())) return GetBits(k);
  const int bytes = StorageBytes(ComponentType(element_type()));
  return ReadStorage(storage_.data() + k * bytes, bytes);
}

void Literal::SetComponentBits(int64_t k, uint64_t bits) {
  if (!IsComplex(element_type())) {
    SetBits(k, bits);
    return;
  }
  const int bytes = StorageBytes(ComponentType(element_type()));
  WriteStorage(storage_.data() + k * bytes, bytes, bits);
}

double Literal::GetComponent(int64_t k) const {
  if (!IsComplex(element_type())) return GetDouble(k);
  return DecodeFloat(Format(ComponentType(element_type())), GetComponentBits(k));
}

void Literal::SetInteger(int64_t i, int64_t value) {
  ElementType type = element_type();
  if (IsPred(type)) {
    SetBits(i, value != 0 ? 1 : 0);
  } else if (IsFloat(type)) {
    bool negative = value < 0;
    uint64_t magnitude =
        negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
    SetBits(i, EncodeInteger(Format(type), magnitude, negative));
  } else {
    SetBits(i, static_cast<uint64_t>(value) & LowBits(BitWidth(type)));
  }
}

void Literal::SetDouble(int64_t i, double value) {
  ElementType type = element_type();
  if (IsFloat(type)) {
    SetBits(i, EncodeFloat(Format(type), value));
    return;
  }
  if (IsPred(type)) {
    SetBits(i, value != 0 ? 1 : 0);
    return;
  }
  // Truncation with saturation; NaN is 0 (operation semantics chapter 8).
  int width = BitWidth(type);
  double truncated = std::isnan(value) ? 0 : std::trunc(value);
  if (IsUnsigned(type)) {
    uint64_t bits = truncated <= 0                        ? 0
                    : truncated >= std::ldexp(1.0, width) ? LowBits(width)
                                                          : static_cast<uint64_t>(truncated);
    SetBits(i, bits);
    return;
  }
  double bound = std::ldexp(1.0, width - 1);
  int64_t minimum = static_cast<int64_t>(~LowBits(width - 1));
  int64_t integer = truncated >= bound   ? static_cast<int64_t>(LowBits(width - 1))
                    : truncated < -bound ? minimum
                                         : static_cast<int64_t>(truncated);
  SetInteger(i, integer);
}

bool Literal::BitwiseEqual(const Literal& other) const {
  if (!Compatible(shape_, other.shape_)) return false;
  if (storage_ != other.storage_) return false;
  for (size_t i = 0; i < elements_.size(); ++i) {
    if (!elements_[i].BitwiseEqual(other.elements_[i])) return false;
  }
  return true;
}

}  // namespace assay
