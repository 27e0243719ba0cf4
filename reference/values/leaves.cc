// Walks values and shapes down to their arrays.
#include "reference/values/leaves.h"

namespace assay::reference {
namespace {

void AppendArrays(const Value& value, std::vector<const Array*>& arrays) {
  if (!value.IsTuple()) arrays.push_back(value.array.get());
  for (const Value& element : value.elements) AppendArrays(element, arrays);
}

}  // namespace

std::vector<const Array*> ArraysOf(const Value& value) {
  std::vector<const Array*> arrays;
  AppendArrays(value, arrays);
  return arrays;
}

std::vector<Array> ZerosOf(const Shape& shape) {
  std::vector<Array> arrays;
  for (const Shape& leaf : LeavesOf(shape)) arrays.emplace_back(Literal(leaf));
  return arrays;
}

Value ValueOfLeaves(std::vector<Array> arrays, const Shape& shape, MemoryMeter& memory) {
  std::vector<Value> values;
  values.reserve(arrays.size());
  for (Array& array : arrays) values.push_back(MakeValue(std::move(array), memory));
  return shape.IsTuple() ? Value::Tuple(std::move(values)) : std::move(values[0]);
}

}  // namespace assay::reference
