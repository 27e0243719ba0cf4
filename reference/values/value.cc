// Values, the memory that they count, and arrays taken back out of them.
#include "reference/values/value.h"

#include <algorithm>

#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// Frees the array of a value and gives its bytes back.
struct MeteredDelete {
  Array* owned;
  MemoryMeter* meter;
  int64_t bytes;
  void operator()(const Array*) const {
    meter->Release(bytes);
    delete owned;
  }
};

Value MakeValues(const Literal& literal, bool nan_bits, MemoryMeter& meter) {
  if (!literal.shape().IsTuple()) {
    Array array(literal);
    if (nan_bits) array.facts().nan_bits = true;
    return MakeValue(std::move(array), meter);
  }
  std::vector<Value> elements;
  elements.reserve(literal.elements().size());
  for (const Literal& element : literal.elements())
    elements.push_back(MakeValues(element, nan_bits, meter));
  return Value::Tuple(std::move(elements));
}

}  // namespace

Array::Array(Literal value) : literal(std::move(value)) {}
Array::Array(const Array& other)
    : literal(other.literal),
      facts_(other.facts_ == nullptr ? nullptr : std::make_unique<Facts>(*other.facts_)) {}
Array& Array::operator=(const Array& other) { return *this = Array(other); }
Array::Array(Array&& other) noexcept = default;
Array& Array::operator=(Array&& other) noexcept = default;
Array::~Array() = default;

absl::Status MemoryMeter::Check(int64_t bytes) const {
  if (bytes <= limit_ - live_) return absl::OkStatus();
  return MakeError(ErrorClass::kOutOfMemory,
                   StrCat("the values of the program need more than the limit of ", limit_,
                          " bytes; raise the memory limit (--max-memory) or take smaller shapes"));
}

void MemoryMeter::Add(int64_t bytes) {
  live_ += bytes;
  peak_ = std::max(peak_, live_);
}

Value MakeValue(Array array, MemoryMeter& meter) {
  int64_t bytes =
      static_cast<int64_t>(array.literal.bytes().size() +
                           std::as_const(array).facts().bounds.size() * sizeof(ElementBound));
  meter.Add(bytes);
  auto* owned = new Array(std::move(array));
  Value value;
  value.array = std::shared_ptr<const Array>(owned, MeteredDelete{owned, &meter, bytes});
  return value;
}

std::optional<Array> Value::Release() {
  const MeteredDelete* metered = std::get_deleter<MeteredDelete>(array);
  if (metered == nullptr || array.use_count() != 1) return std::nullopt;
  std::optional<Array> released = std::move(*metered->owned);
  array.reset();
  return released;
}

Value MakeValue(const Literal& literal, MemoryMeter& meter) {
  return MakeValues(literal, /*nan_bits=*/false, meter);
}

Value MakeGivenValue(const Literal& literal, MemoryMeter& meter) {
  return MakeValues(literal, /*nan_bits=*/true, meter);
}

Literal ToLiteral(const Value& value) {
  if (!value.IsTuple()) return value.array->literal;
  std::vector<Literal> elements;
  elements.reserve(value.elements.size());
  for (const Value& element : value.elements) elements.push_back(ToLiteral(element));
  return Literal::Tuple(std::move(elements));
}

}  // namespace assay::reference
