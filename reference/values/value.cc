#include "reference/values/value.h"

#include <algorithm>

#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {

Array::Array(Literal value) : literal(std::move(value)) {}
Array::Array(const Array& other) = default;
Array& Array::operator=(const Array& other) = default;
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
  int64_t bytes = static_cast<int64_t>(array.literal.bytes().size() +
                                       array.bounds.size() * sizeof(ElementBound));
  meter.Add(bytes);
  Value value;
  value.array =
      std::shared_ptr<const Array>(new Array(std::move(array)), [bytes, &meter](const Array* dead) {
        meter.Release(bytes);
        delete dead;
      });
  return value;
}

Value MakeValue(const Literal& literal, MemoryMeter& meter) {
  if (!literal.shape().IsTuple()) return MakeValue(Array(literal), meter);
  std::vector<Value> elements;
  elements.reserve(literal.elements().size());
  for (const Literal& element : literal.elements()) elements.push_back(MakeValue(element, meter));
  return Value::Tuple(std::move(elements));
}

Literal ToLiteral(const Value& value) {
  if (!value.IsTuple()) return value.array->literal;
  std::vector<Literal> elements;
  elements.reserve(value.elements.size());
  for (const Value& element : value.elements) elements.push_back(ToLiteral(element));
  return Literal::Tuple(std::move(elements));
}

}  // namespace assay::reference
