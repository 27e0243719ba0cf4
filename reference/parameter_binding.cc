#include "reference/parameter_binding.h"

#include <cstring>

#include "absl/strings/str_join.h"
#include "spec/backend/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

std::string Place(int64_t parameter, const ShapeIndex& index) {
  return StrCat("parameter ", parameter, " at {", absl::StrJoin(index, ","), "}");
}

// The array at `index` in a parameter; nullptr if there is none.
Value* ArrayAt(std::vector<Value>& arguments, int64_t parameter, const ShapeIndex& index) {
  if (parameter < 0 || parameter >= static_cast<int64_t>(arguments.size())) return nullptr;
  Value* value = &arguments[parameter];
  for (int64_t i : index) {
    if (!value->IsTuple() || i < 0 || i >= static_cast<int64_t>(value->elements.size())) {
      return nullptr;
    }
    value = &value->elements[i];
  }
  return value->IsTuple() ? nullptr : value;
}

const Shape& ShapeAt(const Module& module, int64_t parameter, const ShapeIndex& index) {
  const Shape* shape = &module.entry()->parameter(parameter)->shape();
  for (int64_t i : index) shape = &shape->elements()[i];
  return *shape;
}

// The first `size` of dimension `d`.
Literal Prefix(const Literal& whole, int64_t d, int64_t size) {
  DimVector dimensions(whole.shape().dimensions().begin(), whole.shape().dimensions().end());
  int64_t outer = 1, inner = static_cast<int64_t>(StorageBytes(whole.element_type()));
  for (int64_t i = 0; i < whole.shape().rank(); ++i) (i < d ? outer : inner) *= dimensions[i];
  // `inner` counts dimension d as well: the bytes of one index of the dimensions before it.
  const int64_t kept = dimensions[d] == 0 ? 0 : inner / dimensions[d] * size;
  dimensions[d] = size;
  Literal cut(Shape::Array(whole.element_type(), dimensions));
  for (int64_t i = 0; i < outer && kept > 0; ++i) {
    std::memcpy(cut.bytes().data() + i * kept, whole.bytes().data() + i * inner,
                static_cast<size_t>(kept));
  }
  return cut;
}

}  // namespace

absl::Status CutToBoundSizes(const Module& module, std::vector<Value>& arguments,
                             MemoryMeter& meter) {
  for (const auto& [dimension, size] : module.dynamic_parameter_binding().entries()) {
    const Value* holder = ArrayAt(arguments, size.parameter_num, size.parameter_index);
    Value* value = ArrayAt(arguments, dimension.parameter_num, dimension.parameter_index);
    const std::string place = Place(dimension.parameter_num, dimension.parameter_index);
    const int64_t d = dimension.dimension;
    if (holder == nullptr || holder->array->literal.shape() != Shape::Scalar(ElementType::kS32) ||
        value == nullptr || d < 0 || d >= value->array->literal.shape().rank()) {
      return MakeError(ErrorClass::kRejected,
                       StrCat("dynamic parameter binding: dimension ", d, " of ", place,
                              " by s32[] ", Place(size.parameter_num, size.parameter_index),
                              ": there is no such dimension or no such scalar"));
    }
    if (!ShapeAt(module, dimension.parameter_num, dimension.parameter_index).is_dynamic(d)) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat("dynamic parameter binding: dimension ", d, " of ", place,
                              " is static in the module; write it as <=N"));
    }
    const Literal& whole = value->array->literal;
    const int64_t n = holder->array->literal.GetInteger(0);
    if (n < 0 || n > whole.shape().dimension(d)) {
      return MakeError(
          ErrorClass::kRejected,
          StrCat("dynamic parameter binding: dimension ", d, " of ", place, " has the size ", n,
                 ", not in [0, ", whole.shape().dimension(d), "]"));
    }
    *value = MakeValue(Array(Prefix(whole, d, n)), meter);
  }
  return absl::OkStatus();
}

}  // namespace assay::reference
