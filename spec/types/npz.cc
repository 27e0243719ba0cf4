// The .npy members of an archive: their headers, types and orders of elements.
#include "spec/types/npz.h"

#include <array>
#include <charconv>
#include <optional>

#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/types/zip_archive.h"

namespace assay {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NumpyType {
  std::string_view descr;
  ElementType type;
};
// The first row of a type is the one written. 'V' is what numpy makes of types that it does not
// know, such as bfloat16, 8-bit floats and 4-bit integers, but for f8e5m2, which has 'f1'. What the
// bytes mean is for the type of the parameter to say.
constexpr std::array kNumpyTypes = {
    NumpyType{"|b1", ElementType::kPred}, NumpyType{"|i1", ElementType::kS8},
    NumpyType{"<i2", ElementType::kS16},  NumpyType{"<i4", ElementType::kS32},
    NumpyType{"<i8", ElementType::kS64},  NumpyType{"|u1", ElementType::kU8},
    NumpyType{"<u2", ElementType::kU16},  NumpyType{"<u4", ElementType::kU32},
    NumpyType{"<u8", ElementType::kU64},  NumpyType{"<f2", ElementType::kF16},
    NumpyType{"<f4", ElementType::kF32},  NumpyType{"<f8", ElementType::kF64},
    NumpyType{"<c8", ElementType::kC64},  NumpyType{"<c16", ElementType::kC128},
    NumpyType{"|V1", ElementType::kU8},   NumpyType{"|V2", ElementType::kU16},
    NumpyType{"<V2", ElementType::kU16},  NumpyType{"<V1", ElementType::kU8},
    NumpyType{"|f1", ElementType::kU8},   NumpyType{"<f1", ElementType::kU8},
};

// The type that stands for `type` in an archive.
ElementType StoredType(ElementType type) {
  if (type == ElementType::kBF16) return ElementType::kU16;
  if (IsFloat(type) && BitWidth(type) <= 8) return ElementType::kU8;
  if (IsInteger(type) && BitWidth(type) < 8) {
    return IsSigned(type) ? ElementType::kS8 : ElementType::kU8;
  }
  return type;
}

absl::Status Broken(std::string_view what) {
  return absl::InvalidArgumentError(StrCat("not a readable .npy array: ", what));
}

// The text between `key`'s colon and what follows, in the header's Python dictionary.
std::optional<std::string_view> HeaderValue(std::string_view header, std::string_view key) {
  size_t at = header.find(StrCat("'", key, "'"));
  if (at == std::string_view::npos) return std::nullopt;
  at = header.find(':', at + key.size() + 2);
  if (at == std::string_view::npos) return std::nullopt;
  at = header.find_first_not_of(" ", at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  return header.substr(at);
}

absl::StatusOr<ElementType> HeaderType(std::string_view header) {
  std::optional<std::string_view> value = HeaderValue(header, "descr");
  if (!value.has_value() || value->empty() || (*value)[0] != '\'') {
    return Broken("its element type is no simple type");
  }
  std::string_view descr = value->substr(1, value->find('\'', 1) - 1);
  for (const NumpyType& row : kNumpyTypes) {
    if (row.descr == descr) return row.type;
  }
  if (descr.starts_with(">"))
    return Broken("big-endian; save it with astype(a.dtype.newbyteorder('<'))");
  return Broken(StrCat("element type ", descr.substr(0, 20), " has no HLO counterpart"));
}

absl::StatusOr<std::vector<int64_t>> HeaderDimensions(std::string_view header) {
  std::optional<std::string_view> value = HeaderValue(header, "shape");
  if (!value.has_value() || value->empty() || (*value)[0] != '(') return Broken("no shape");
  std::vector<int64_t> dimensions;
  std::string_view rest = value->substr(1);
  for (;;) {
    size_t at = rest.find_first_not_of(" ,");
    if (at == std::string_view::npos) return Broken("its shape does not end");
    rest.remove_prefix(at);
    if (rest[0] == ')') return dimensions;
    int64_t size = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc() || size < 0) return Broken("a dimension is no size");
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    dimensions.push_back(size);
  }
}

// Column-major to row-major.
void CopyFortranOrder(std::string_view data, Literal& literal) {
  const Shape& shape = literal.shape();
  size_t width = static_cast<size_t>(StorageBytes(shape.element_type()));
  DimVector strides(shape.rank(), 1);
  for (int64_t i = 1; i < shape.rank(); ++i) strides[i] = strides[i - 1] * shape.dimension(i - 1);
  DimVector index(shape.rank(), 0);
  uint8_t* out = literal.bytes().data();
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    std::memcpy(out + static_cast<size_t>(i) * width,
                data.data() + static_cast<size_t>(LinearIndex(strides, index)) * width, width);
    NextIndex(shape.dimensions(), absl::MakeSpan(index));
  }
}

absl::StatusOr<Literal> ParseNpy(std::string_view bytes) {
  if (bytes.size() < 10 || !bytes.starts_with(kMagic)) return Broken("no NUMPY magic");
  uint8_t version = static_cast<uint8_t>(bytes[6]);
  if (version < 1 || version > 3) return Broken("unknown version");
  size_t length_bytes = version == 1 ? 2 : 4;
  size_t start = 8 + length_bytes;
  if (bytes.size() < start) return Broken("header is cut");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<size_t>(static_cast<uint8_t>(bytes[8 + i])) << (8 * i);
  }
  if (length > bytes.size() - start) return Broken("header is cut");
  std::string_view header = bytes.substr(start, length);
  std::string_view data = bytes.substr(start + length);
  ASSAY_ASSIGN_OR_RETURN(ElementType type, HeaderType(header));
  ASSAY_ASSIGN_OR_RETURN(std::vector<int64_t> dimensions, HeaderDimensions(header));
  std::optional<std::string_view> order = HeaderValue(header, "fortran_order");
  if (!order.has_value()) return Broken("no fortran_order");
  Shape shape = Shape::Array(type, dimensions);
  if (shape.ByteSize() != static_cast<int64_t>(data.size())) {
    return Broken(StrCat("its shape ", shape.ToString(), " takes ", shape.ByteSize(),
                         " bytes, the data has ", data.size()));
  }
  Literal literal(std::move(shape));
  if (order->starts_with("True")) {
    CopyFortranOrder(data, literal);
  } else if (!data.empty()) {
    std::memcpy(literal.bytes().data(), data.data(), data.size());
  }
  if (IsPred(type)) {
    // Any other byte would not be a bool.
    for (uint8_t& byte : literal.bytes()) byte = byte != 0 ? 1 : 0;
  }
  return literal;
}

absl::StatusOr<std::string> BuildNpy(const Literal& literal) {
  const Shape& shape = literal.shape();
  if (!shape.IsArray()) {
    return absl::InvalidArgumentError(
        StrCat("a value of shape ", shape.ToString(), " is no array; write its leaves"));
  }
  ElementType stored = StoredType(shape.element_type());
  std::string_view descr;
  for (const NumpyType& row : kNumpyTypes) {
    if (row.type == stored && descr.empty()) descr = row.descr;
  }
  std::string header = StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (int64_t size : shape.dimensions()) StrAppend(&header, size, ",");
  if (shape.rank() > 1) header.pop_back();
  header += "), }";
  // The data begins at a multiple of 64.
  size_t total = 10 + header.size() + 1;
  header.append((64 - total % 64) % 64, ' ');
  header += '\n';
  if (header.size() > 0xFFFF) return absl::InvalidArgumentError("too many dimensions for .npy");
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  auto bytes = literal.bytes();
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return out;
}

// True if every stored code is one of the narrower `type`.
bool CodesFit(const Literal& array, ElementType type) {
  int bits = BitWidth(type);
  for (int64_t i = 0; i < array.element_count(); ++i) {
    int64_t value = array.GetInteger(i);
    bool fits = IsSigned(type)
                    ? value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1)
                    : value >= 0 && value < int64_t{1} << bits;
    if (!fits) return false;
  }
  return true;
}

// The signed integers whose two's complement the bytes hold, with what is above their width empty
// or a copy of the sign.
absl::StatusOr<Literal> FromCodes(const Literal& bytes, const Shape& shape) {
  absl::StatusOr<Literal> literal = Literal::Create(shape);
  if (!literal.ok()) return literal;
  const int64_t codes = int64_t{1} << BitWidth(shape.element_type());
  for (int64_t i = 0; i < bytes.element_count(); ++i) {
    const int64_t byte = bytes.GetInteger(i);
    const int64_t value = byte < codes ? (byte >= codes / 2 ? byte - codes : byte) : byte - 256;
    if (byte >= codes && value < -codes / 2) {
      return absl::InvalidArgumentError(
          StrCat("an array of bytes holds ", byte, ", which is no ", Name(shape.element_type())));
    }
    literal->SetInteger(i, value);
  }
  return literal;
}

}  // namespace

absl::StatusOr<std::map<std::string, Literal>> ParseNpz(std::string_view bytes, int64_t byte_limit,
                                                        const NpzAdmission& admit) {
  constexpr std::string_view kSuffix = ".npy";
  const ZipAdmission admit_member = [&](std::string_view name, int64_t size) -> absl::Status {
    if (!name.ends_with(kSuffix)) {
      return absl::InvalidArgumentError(
          StrCat("member ", name.substr(0, 80), " of the archive is no .npy array"));
    }
    name.remove_suffix(kSuffix.size());
    return admit == nullptr ? absl::OkStatus() : admit(name, size);
  };
  ASSAY_ASSIGN_OR_RETURN(std::vector<ZipMember> members, ParseZip(bytes, byte_limit, admit_member));
  std::map<std::string, Literal> arrays;
  for (ZipMember& member : members) {
    std::string name = member.name.substr(0, member.name.size() - kSuffix.size());
    absl::StatusOr<Literal> array = ParseNpy(member.content);
    if (!array.ok()) {
      return absl::Status(array.status().code(),
                          StrCat("array ", name, ": ", ToStd(array.status().message())));
    }
    member.content = std::string();
    if (!arrays.emplace(name, *std::move(array)).second) {
      return absl::InvalidArgumentError(StrCat("two arrays are called ", name));
    }
  }
  return arrays;
}

absl::StatusOr<std::map<std::string, Literal>> ReadNpz(const std::string& path, int64_t byte_limit,
                                                       const NpzAdmission& admit) {
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, byte_limit));
  absl::StatusOr<std::map<std::string, Literal>> arrays = ParseNpz(bytes, byte_limit, admit);
  if (!arrays.ok()) {
    return absl::Status(arrays.status().code(),
                        StrCat(path, ": ", ToStd(arrays.status().message())));
  }
  return arrays;
}

absl::Status WriteNpz(const std::string& path,
                      const std::vector<std::pair<std::string, const Literal*>>& arrays) {
  std::vector<ZipMember> members;
  for (const auto& [name, literal] : arrays) {
    absl::StatusOr<std::string> npy = BuildNpy(*literal);
    if (!npy.ok()) {
      return absl::Status(npy.status().code(),
                          StrCat(path, ": array ", name, ": ", ToStd(npy.status().message())));
    }
    members.push_back({StrCat(name, ".npy"), *std::move(npy)});
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, BuildZip(members));
  return WriteFile(path, bytes);
}

absl::Status WriteInputs(const std::string& path, const std::vector<Literal>& inputs) {
  std::vector<std::pair<std::string, const Literal*>> arrays;
  for (size_t i = 0; i < inputs.size(); ++i) arrays.emplace_back(StrCat("in", i), &inputs[i]);
  return WriteNpz(path, arrays);
}

absl::StatusOr<Literal> AsShape(const Literal& array, const Shape& shape) {
  ElementType type = shape.element_type();
  ElementType given = array.element_type();
  bool pred_as_byte = IsPred(type) && given == ElementType::kU8;
  // Signed integers below a byte come as their codes, too.
  const bool as_codes =
      given == ElementType::kU8 && IsInteger(type) && IsSigned(type) && BitWidth(type) < 8;
  bool matches = shape.IsArray() && array.shape().IsArray() &&
                 array.shape().dimensions() == shape.dimensions() &&
                 (given == type || given == StoredType(type) || pred_as_byte || as_codes);
  if (!matches) {
    return absl::InvalidArgumentError(StrCat("an array of shape ", array.shape().ToString(),
                                             " was given where ", shape.ToString(), " is needed"));
  }
  if (as_codes) return FromCodes(array, shape);
  if (given != type && BitWidth(type) < 8 && !CodesFit(array, type)) {
    return absl::InvalidArgumentError(
        StrCat("an array of ", Name(given), " holds values that ", Name(type), " does not have"));
  }
  absl::StatusOr<Literal> literal = Literal::Create(shape);
  if (!literal.ok()) return literal;
  if (!array.bytes().empty()) {
    std::memcpy(literal->bytes().data(), array.bytes().data(), array.bytes().size());
  }
  return literal;
}

}  // namespace assay
