// Shapes, layouts and literals in the binary form. Document: hlo-proto chapter 4.
#pragma once

#include "absl/status/statusor.h"
#include "spec/ir/module_config.h"
#include "spec/proto/hlo.pb.h"
#include "spec/types/literal.h"
#include "spec/types/shape.h"

namespace assay::proto {

void ShapeToProto(const Shape& shape, ShapeProto* proto);
absl::StatusOr<Shape> ShapeFromProto(const ShapeProto& proto);

absl::Status LiteralToProto(const Literal& literal, LiteralProto* proto);
// The elements must be as many as the shape says, so that memory is a multiple of the message's.
absl::StatusOr<Literal> LiteralFromProto(const LiteralProto& proto);
// Elements of one array in the order and encoding of the message: physical order, little endian.
std::string PhysicalBytes(const Literal& literal);
absl::StatusOr<Literal> LiteralFromPhysicalBytes(const Shape& shape, std::string_view bytes);

template <typename Repeated>
Int64List ToList(const Repeated& repeated) {
  return Int64List(repeated.begin(), repeated.end());
}
template <typename Repeated>
void FromList(absl::Span<const int64_t> list, Repeated* repeated) {
  repeated->Clear();
  repeated->Reserve(static_cast<int>(list.size()));
  for (int64_t value : list) repeated->Add(value);
}

}  // namespace assay::proto
