// The rows behind attribute_codec.h: how one attribute is written to its fields and read from them.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/ir/instruction.h"
#include "spec/ops/op_table.h"
#include "spec/proto/hlo.pb.h"

namespace assay::proto {

// The result of reading an attribute: a value of a type of AttrValue, or nothing.
using MaybeValue = absl::StatusOr<std::optional<AttrValue>>;
template <typename Value>
MaybeValue Present(Value value) {
  return std::optional<AttrValue>(AttrValue(std::move(value)));
}
inline MaybeValue Absent() { return std::optional<AttrValue>(); }

// The messages that the reading of one attribute may look at.
struct Site {
  const HloInstructionProto& proto;
  const OpInfo& info;
  const Shape& shape;
  absl::Span<Instruction* const> operands;
};

struct Codec {
  Attr attr;
  absl::Status (*write)(const AttrValue& value, Opcode opcode, HloInstructionProto* proto);
  MaybeValue (*read)(const Site& site);
};

// Attributes that are one field: a scalar, a list of integers, a word.
absl::Span<const Codec> FieldCodecs();
// Attributes whose message has a structure of its own.
absl::Span<const Codec> FormCodecs();

inline const Int64List& List(const AttrValue& value) { return std::get<Int64List>(value); }
inline int64_t Integer(const AttrValue& value) { return std::get<int64_t>(value); }
inline bool Flag(const AttrValue& value) { return std::get<bool>(value); }
inline const std::string& Text(const AttrValue& value) { return std::get<std::string>(value); }

}  // namespace assay::proto
