// Literals in the binary form: a field per element type, elements in physical order.
#include <cstring>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/shape_checks.h"
#include "spec/proto/shape_proto.h"

namespace assay::proto {
namespace {

using BytesField = std::string* (LiteralProto::*)();
using BytesValue = const std::string& (LiteralProto::*)() const;

// Types whose elements are bytes of the message as they are in memory.
struct BytesRow {
  ElementType type;
  BytesField field;
  BytesValue value;
};
#define ASSAY_BYTES(type, name) \
  BytesRow { ElementType::type, &LiteralProto::mutable_##name, &LiteralProto::name }
constexpr BytesRow kBytesRows[] = {
    ASSAY_BYTES(kS1, s1s),
    ASSAY_BYTES(kU1, u1s),
    ASSAY_BYTES(kS2, s2s),
    ASSAY_BYTES(kU2, u2s),
    ASSAY_BYTES(kS4, s4s),
    ASSAY_BYTES(kU4, u4s),
    ASSAY_BYTES(kS8, s8s),
    ASSAY_BYTES(kU8, u8s),
    ASSAY_BYTES(kS16, s16s),
    ASSAY_BYTES(kU16, u16s),
    ASSAY_BYTES(kF16, f16s),
    ASSAY_BYTES(kBF16, bf16s),
    ASSAY_BYTES(kF8E5M2, f8e5m2s),
    ASSAY_BYTES(kF8E4M3FN, f8e4m3fns),
    ASSAY_BYTES(kF8E4M3B11FNUZ, f8e4m3b11fnuzs),
    ASSAY_BYTES(kF8E5M2FNUZ, f8e5m2fnuzs),
    ASSAY_BYTES(kF8E4M3FNUZ, f8e4m3fnuzs),
    ASSAY_BYTES(kF8E4M3, f8e4m3s),
    ASSAY_BYTES(kF8E3M4, f8e3m4s),
    ASSAY_BYTES(kF8E8M0FNU, f8e8m0fnus),
    ASSAY_BYTES(kF4E2M1FN, f4e2m1fns),
    ASSAY_BYTES(kF6E3M2FN, f6e3m2fns),
    ASSAY_BYTES(kF6E2M3FN, f6e2m3fns),
};
#undef ASSAY_BYTES

const BytesRow* FindBytesRow(ElementType type) {
  for (const BytesRow& row : kBytesRows) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// Physical position of every element, in logical order. Untiled: tiles never change a literal.
template <typename F>
void ForEachPhysical(const Shape& shape, const F& visit) {
  const DimVector strides = LayoutStrides(shape);
  DimVector index(shape.rank(), 0);
  int64_t logical = 0;
  const int64_t count = shape.ElementCount();
  for (; logical < count; ++logical) {
    visit(logical, LinearIndex(strides, absl::MakeSpan(index)));
    NextIndex(shape.dimensions(), absl::MakeSpan(index));
  }
}

// Elements of `bytes` as a repeated field of a fixed-width type.
template <typename T, typename Repeated>
void FillRepeated(const std::string& bytes, Repeated* repeated) {
  const size_t count = bytes.size() / sizeof(T);
  repeated->Resize(static_cast<int>(count), {});
  if (count > 0) std::memcpy(repeated->mutable_data(), bytes.data(), bytes.size());
}
template <typename Repeated>
std::string TakeRepeated(const Repeated& repeated) {
  std::string bytes(repeated.size() * sizeof(*repeated.data()), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), repeated.data(), bytes.size());
  return bytes;
}

// Narrow types hold only codes of their width: other bits of a byte are the file's.
void NormalizeNarrow(Literal& literal) {
  const ElementType type = literal.element_type();
  const int bits = BitWidth(type);
  if (bits >= 8 && !IsPred(type)) return;
  for (uint8_t& byte : literal.bytes()) {
    if (IsPred(type)) {
      byte = byte != 0;
      continue;
    }
    byte = static_cast<uint8_t>(byte & ((1u << bits) - 1));
    if (IsSigned(type) && (byte >> (bits - 1)) != 0) {
      byte = static_cast<uint8_t>(byte | (0xFFu << bits));
    }
  }
}

}  // namespace

std::string PhysicalBytes(const Literal& literal) {
  const absl::Span<const uint8_t> bytes = literal.bytes();
  std::string physical(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (literal.shape().layout().IsRowMajor() || bytes.empty()) return physical;
  const size_t width = StorageBytes(literal.element_type());
  ForEachPhysical(literal.shape(), [&](int64_t logical, int64_t at) {
    std::memcpy(&physical[at * width], &bytes[logical * width], width);
  });
  return physical;
}

absl::StatusOr<Literal> LiteralFromPhysicalBytes(const Shape& shape, std::string_view bytes) {
  const int64_t wanted = shape.ElementCount();
  const size_t width = StorageBytes(shape.element_type());
  if (static_cast<uint64_t>(wanted) != bytes.size() / width || bytes.size() % width != 0) {
    return absl::InvalidArgumentError(StrCat("a literal of shape ", shape.ToString(), " has ",
                                             bytes.size() / width, " elements, want ", wanted));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
  if (bytes.empty()) return literal;
  if (shape.layout().IsRowMajor()) {
    std::memcpy(literal.bytes().data(), bytes.data(), bytes.size());
  } else {
    ForEachPhysical(shape, [&](int64_t logical, int64_t at) {
      std::memcpy(&literal.bytes()[logical * width], &bytes[at * width], width);
    });
  }
  NormalizeNarrow(literal);
  return literal;
}

absl::Status LiteralToProto(const Literal& literal, LiteralProto* proto) {
  Shape shape = literal.shape();
  // A literal has a layout even where its text had none.
  if (shape.IsArray()) shape.mark_layout_written(true);
  ShapeToProto(shape, proto->mutable_shape());
  for (const Literal& element : literal.elements()) {
    ASSAY_RETURN_IF_ERROR(LiteralToProto(element, proto->add_tuple_literals()));
  }
  if (!shape.IsArray()) return absl::OkStatus();
  std::string bytes = PhysicalBytes(literal);
  switch (literal.element_type()) {
    case ElementType::kPred:
      for (char byte : bytes) proto->add_preds(byte != 0);
      return absl::OkStatus();
    case ElementType::kS32:
      FillRepeated<int32_t>(bytes, proto->mutable_s32s());
      return absl::OkStatus();
    case ElementType::kS64:
      FillRepeated<int64_t>(bytes, proto->mutable_s64s());
      return absl::OkStatus();
    case ElementType::kU32:
      FillRepeated<uint32_t>(bytes, proto->mutable_u32s());
      return absl::OkStatus();
    case ElementType::kU64:
      FillRepeated<uint64_t>(bytes, proto->mutable_u64s());
      return absl::OkStatus();
    case ElementType::kF32:
      FillRepeated<float>(bytes, proto->mutable_f32s());
      return absl::OkStatus();
    case ElementType::kF64:
      FillRepeated<double>(bytes, proto->mutable_f64s());
      return absl::OkStatus();
    case ElementType::kC64:
      FillRepeated<float>(bytes, proto->mutable_c64s());
      return absl::OkStatus();
    case ElementType::kC128:
      FillRepeated<double>(bytes, proto->mutable_c128s());
      return absl::OkStatus();
    default:
      break;
  }
  const BytesRow* row = FindBytesRow(literal.element_type());
  if (row == nullptr) {
    return absl::UnimplementedError(
        StrCat("a literal of type ", Name(literal.element_type()), " has no binary form"));
  }
  *(proto->*row->field)() = std::move(bytes);
  return absl::OkStatus();
}

absl::StatusOr<Literal> LiteralFromProto(const LiteralProto& proto) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapeFromProto(proto.shape()));
  if (shape.IsTuple()) {
    if (proto.tuple_literals_size() != static_cast<int>(shape.elements().size())) {
      return absl::InvalidArgumentError(StrCat("a literal of shape ", shape.ToString(), " has ",
                                               proto.tuple_literals_size(), " elements"));
    }
    std::vector<Literal> elements;
    for (const LiteralProto& element : proto.tuple_literals()) {
      ASSAY_ASSIGN_OR_RETURN(elements.emplace_back(), LiteralFromProto(element));
    }
    return Literal::Tuple(std::move(elements));
  }
  if (!shape.IsArray()) return Literal::Create(std::move(shape));
  ASSAY_RETURN_IF_ERROR(CheckShape(shape));
  switch (shape.element_type()) {
    case ElementType::kPred:
      return LiteralFromPhysicalBytes(shape, TakeRepeated(proto.preds()));
    case ElementType::kS32:
      return LiteralFromPhysicalBytes(shape, TakeRepeated(proto.s32s()));
    case ElementType::kS64:
      return LiteralFromPhysicalBytes(shape, TakeRepeated(proto.s64s()));
    case ElementType::kU32:
      return LiteralFromPhysicalBytes(shape, TakeRepeated(proto.u32s()));
    case ElementType::kU64:
      return LiteralFromPhysicalBytes(shape, TakeRepeated(proto.u64s()));
    case ElementType::kF32:
      return LiteralFromPhysicalBytes(shape, TakeRepeated(proto.f32s()));
    case ElementType::kF64:
      return LiteralFromPhysicalBytes(shape, TakeRepeated(proto.f64s()));
    case ElementType::kC64:
      return LiteralFromPhysicalBytes(shape, TakeRepeated(proto.c64s()));
    case ElementType::kC128:
      return LiteralFromPhysicalBytes(shape, TakeRepeated(proto.c128s()));
    default:
      break;
  }
  const BytesRow* row = FindBytesRow(shape.element_type());
  if (row == nullptr) {
    return absl::UnimplementedError(
        StrCat("a literal of type ", Name(shape.element_type()), " has no binary form"));
  }
  return LiteralFromPhysicalBytes(shape, (proto.*row->value)());
}

}  // namespace assay::proto
