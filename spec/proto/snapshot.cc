// The files around a module. Document: hlo-proto chapters 1 and 7.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/gzip.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/module_proto.h"
#include "spec/proto/shape_proto.h"

namespace assay {
namespace {

using google::protobuf::io::CodedInputStream;

template <typename Message>
bool Parse(std::string_view bytes, Message* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool IsModule(const proto::HloModuleProto& module) {
  return module.computations_size() > 0 && !module.name().empty();
}

ModuleConfig ConfigFromProto(const proto::HloModuleConfigProto& proto) {
  ModuleConfig config;
  config.seed = proto.seed();
  config.replica_count = std::max<int64_t>(proto.replica_count(), 1);
  config.num_partitions = std::max<int64_t>(proto.num_partitions(), 1);
  config.alias_passthrough_params = proto.alias_passthrough_params();
  auto flags = [&config](std::string_view name, const auto& list) {
    if (list.size() == 0) return;
    std::string text;
    for (bool flag : list) StrAppend(&text, text.empty() ? "" : ",", flag ? "true" : "false");
    if (text != "false") config.verbatim.emplace_back(std::string(name), "{" + text + "}");
  };
  flags("allow_spmd_sharding_propagation_to_parameters",
        proto.allow_spmd_sharding_propagation_to_parameters());
  flags("allow_spmd_sharding_propagation_to_output",
        proto.allow_spmd_sharding_propagation_to_output());
  return config;
}

absl::StatusOr<Snapshot> FromModule(const proto::HloModuleProto& proto,
                                    const ModuleConfig& config) {
  Snapshot snapshot;
  ASSAY_ASSIGN_OR_RETURN(snapshot.module,
                         ModuleFromProto(proto, config, /*prohibit_empty_literal=*/false));
  return snapshot;
}

absl::Status ReadArguments(const google::protobuf::RepeatedPtrField<proto::LiteralProto>& protos,
                           std::vector<Literal>* arguments) {
  for (const proto::LiteralProto& proto : protos) {
    ASSAY_ASSIGN_OR_RETURN(arguments->emplace_back(), proto::LiteralFromProto(proto));
  }
  return absl::OkStatus();
}

// Elements narrower than a byte, predicates included, are packed, first in the lowest bits.
int PackedBits(ElementType type) { return IsPred(type) ? 1 : BitWidth(type); }
bool IsPacked(ElementType type) { return PackedBits(type) < 8; }

std::string Pack(const std::string& bytes, int bits) {
  std::string packed((bytes.size() * bits + 7) / 8, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const unsigned code = static_cast<uint8_t>(bytes[i]) & ((1u << bits) - 1);
    for (int b = 0; b < bits; ++b) {
      const size_t at = i * bits + b;
      if (code >> b & 1) packed[at / 8] = static_cast<char>(packed[at / 8] | (1 << (at % 8)));
    }
  }
  return packed;
}

std::string Unpack(std::string_view packed, int bits, int64_t count) {
  std::string bytes(count, '\0');
  for (int64_t i = 0; i < count; ++i) {
    unsigned code = 0;
    for (int b = 0; b < bits; ++b) {
      const int64_t at = i * bits + b;
      code |= (static_cast<uint8_t>(packed[at / 8]) >> (at % 8) & 1u) << b;
    }
    bytes[i] = static_cast<char>(code);
  }
  return bytes;
}

absl::StatusOr<Literal> ReadRawLeaves(const Shape& shape, std::string_view* raw) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) {
      ASSAY_ASSIGN_OR_RETURN(elements.emplace_back(), ReadRawLeaves(element, raw));
    }
    return Literal::Tuple(std::move(elements));
  }
  if (!shape.IsArray()) return Literal::Create(shape);
  if (shape.HasDynamicDimension()) {
    return MakeError(ErrorClass::kUnsupported, StrCat("an argument of the dynamic shape ",
                                                      shape.ToString(), " cannot be read"));
  }
  const int64_t count = shape.ElementCount();
  const int64_t bits = IsPacked(shape.element_type())
                           ? PackedBits(shape.element_type())
                           : int64_t{8} * StorageBytes(shape.element_type());
  if (count > static_cast<int64_t>(raw->size()) * 8 / bits) {
    return absl::InvalidArgumentError(
        StrCat("an argument of shape ", shape.ToString(), " has only ", raw->size(), " bytes"));
  }
  const size_t size = static_cast<size_t>((count * bits + 7) / 8);
  const std::string_view leaf = raw->substr(0, size);
  raw->remove_prefix(size);
  if (!IsPacked(shape.element_type())) return proto::LiteralFromPhysicalBytes(shape, leaf);
  return proto::LiteralFromPhysicalBytes(shape, Unpack(leaf, static_cast<int>(bits), count));
}

absl::StatusOr<Literal> ReadRawLiteral(std::string_view raw) {
  if (raw.size() < 8) return absl::InvalidArgumentError("an argument ends in its size");
  uint64_t size = 0;
  for (int i = 0; i < 8; ++i) size |= uint64_t{static_cast<uint8_t>(raw[i])} << (8 * i);
  raw.remove_prefix(8);
  proto::ShapeProto shape_proto;
  if (size > raw.size() || !Parse(raw.substr(0, size), &shape_proto)) {
    return absl::InvalidArgumentError("an argument's shape does not read");
  }
  raw.remove_prefix(size);
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, proto::ShapeFromProto(shape_proto));
  ASSAY_ASSIGN_OR_RETURN(Literal literal, ReadRawLeaves(shape, &raw));
  if (!raw.empty()) {
    return absl::InvalidArgumentError(StrCat("an argument has ", raw.size(), " bytes too many"));
  }
  return literal;
}

void AppendRawLeaves(const Literal& literal, std::string* out) {
  for (const Literal& element : literal.elements()) AppendRawLeaves(element, out);
  if (!literal.shape().IsArray()) return;
  const std::string bytes = proto::PhysicalBytes(literal);
  *out +=
      IsPacked(literal.element_type()) ? Pack(bytes, PackedBits(literal.element_type())) : bytes;
}

std::string RawLiteral(const Literal& literal) {
  proto::ShapeProto shape;
  proto::ShapeToProto(literal.shape(), &shape);
  const std::string head = shape.SerializeAsString();
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(uint64_t{head.size()} >> (8 * i) & 0xFF);
  out += head;
  AppendRawLeaves(literal, &out);
  return out;
}

// A message behind its length, and the arguments behind it.
absl::StatusOr<Snapshot> ReadUnoptimized(const proto::HloUnoptimizedSnapshot& proto,
                                         std::string_view raw) {
  if (proto.version() > 0) {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("the snapshot has version ", proto.version(), ", 0 is known"));
  }
  ASSAY_ASSIGN_OR_RETURN(Snapshot snapshot, FromModule(proto.hlo_module(), ModuleConfig()));
  for (const proto::HloInputs& inputs : proto.partitions()) {
    std::vector<Literal>& arguments = snapshot.arguments.emplace_back();
    ASSAY_RETURN_IF_ERROR(ReadArguments(inputs.arguments(), &arguments));
    for (const proto::ArgumentDescriptor& descriptor : inputs.arguments_descriptors()) {
      if (descriptor.version() > 0) {
        return MakeError(ErrorClass::kUnsupported,
                         StrCat("an argument has version ", descriptor.version(), ", 0 is known"));
      }
      if (descriptor.argument_size_bytes() > raw.size()) {
        return absl::InvalidArgumentError(StrCat("an argument has ",
                                                 descriptor.argument_size_bytes(), " bytes, ",
                                                 raw.size(), " are left"));
      }
      ASSAY_ASSIGN_OR_RETURN(arguments.emplace_back(),
                             ReadRawLiteral(raw.substr(0, descriptor.argument_size_bytes())));
      raw.remove_prefix(descriptor.argument_size_bytes());
    }
  }
  return snapshot;
}

bool HasArguments(const proto::HloUnoptimizedSnapshot& snapshot) {
  return std::any_of(snapshot.partitions().begin(), snapshot.partitions().end(),
                     [](const proto::HloInputs& inputs) { return inputs.arguments_size() > 0; });
}

std::optional<proto::HloUnoptimizedSnapshot> ParseDelimited(std::string_view bytes, size_t* end) {
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  uint64_t size = 0;
  if (!stream.ReadVarint64(&size)) return std::nullopt;
  const size_t start = static_cast<size_t>(stream.CurrentPosition());
  proto::HloUnoptimizedSnapshot proto;
  if (size > bytes.size() - start || !Parse(bytes.substr(start, size), &proto) ||
      !IsModule(proto.hlo_module())) {
    return std::nullopt;
  }
  *end = start + size;
  return proto;
}

}  // namespace

bool LooksBinary(std::string_view bytes) {
  // Text has no control characters but blanks; a message has one in front of its second string.
  for (char c : bytes.substr(0, 512)) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\v';
    if ((c >= 0 && c < ' ' && !blank) || c == 0x7F) return true;
  }
  return false;
}

absl::StatusOr<Snapshot> ReadSnapshot(std::string_view bytes) {
  if (IsGzip(bytes)) {
    ASSAY_ASSIGN_OR_RETURN(const std::string unpacked, Gunzip(bytes));
    if (IsGzip(unpacked)) return absl::InvalidArgumentError("the bytes are packed twice by gzip");
    return ReadSnapshot(unpacked);
  }
  if (bytes.size() > size_t{std::numeric_limits<int>::max()}) {
    return absl::ResourceExhaustedError("the file is larger than a message can be");
  }
  // The status alone says what is wrong with the bytes, so the library stays silent.
  [[maybe_unused]] static const auto quiet = google::protobuf::SetLogHandler(nullptr);
  // Each kind of file has a module where the others have a string or another message.
  proto::HloModuleProto bare;
  if (Parse(bytes, &bare) && IsModule(bare)) return FromModule(bare, ModuleConfig());
  // A config may read as inputs and the other way round, but its layouts have no elements.
  proto::HloUnoptimizedSnapshot unoptimized;
  const bool is_unoptimized = Parse(bytes, &unoptimized) && IsModule(unoptimized.hlo_module());
  if (is_unoptimized && HasArguments(unoptimized)) {
    absl::StatusOr<Snapshot> read = ReadUnoptimized(unoptimized, "");
    if (read.ok()) return read;
  }
  proto::HloModuleProtoWithConfig with_config;
  if (Parse(bytes, &with_config) && IsModule(with_config.hlo_module()) &&
      with_config.has_config()) {
    return FromModule(with_config.hlo_module(), ConfigFromProto(with_config.config()));
  }
  if (is_unoptimized) return ReadUnoptimized(unoptimized, "");
  proto::HloProto hlo;
  if (Parse(bytes, &hlo) && IsModule(hlo.hlo_module())) {
    return FromModule(hlo.hlo_module(), ModuleConfig());
  }
  proto::HloSnapshot snapshot;
  if (Parse(bytes, &snapshot) && IsModule(snapshot.hlo().hlo_module())) {
    ASSAY_ASSIGN_OR_RETURN(Snapshot read, FromModule(snapshot.hlo().hlo_module(), ModuleConfig()));
    ASSAY_RETURN_IF_ERROR(ReadArguments(snapshot.arguments(), &read.arguments.emplace_back()));
    if (snapshot.has_result()) {
      ASSAY_ASSIGN_OR_RETURN(read.result, proto::LiteralFromProto(snapshot.result()));
    }
    read.platform = snapshot.execution_platform();
    return read;
  }
  size_t end = 0;
  if (std::optional<proto::HloUnoptimizedSnapshot> delimited = ParseDelimited(bytes, &end)) {
    return ReadUnoptimized(*delimited, bytes.substr(end));
  }
  return absl::InvalidArgumentError(
      "the bytes are no HLO module: expected an HloModuleProto, an HloProto, a module with its "
      "config or a snapshot");
}

absl::StatusOr<std::unique_ptr<Module>> ReadModuleProto(std::string_view bytes) {
  ASSAY_ASSIGN_OR_RETURN(Snapshot snapshot, ReadSnapshot(bytes));
  return std::move(snapshot.module);
}

absl::StatusOr<std::string> WriteSnapshot(const Snapshot& snapshot) {
  proto::HloSnapshot out;
  ASSAY_ASSIGN_OR_RETURN(*out.mutable_hlo()->mutable_hlo_module(), ModuleToProto(*snapshot.module));
  if (snapshot.arguments.size() > 1) {
    return absl::InvalidArgumentError(
        StrCat("a snapshot has one list of arguments, not ", snapshot.arguments.size()));
  }
  for (const std::vector<Literal>& arguments : snapshot.arguments) {
    for (const Literal& argument : arguments) {
      ASSAY_RETURN_IF_ERROR(proto::LiteralToProto(argument, out.add_arguments()));
    }
  }
  if (snapshot.result.has_value()) {
    ASSAY_RETURN_IF_ERROR(proto::LiteralToProto(*snapshot.result, out.mutable_result()));
  }
  out.set_execution_platform(snapshot.platform);
  return out.SerializeAsString();
}

absl::StatusOr<std::string> WriteUnoptimizedSnapshot(const Snapshot& snapshot) {
  proto::HloUnoptimizedSnapshot out;
  ASSAY_ASSIGN_OR_RETURN(*out.mutable_hlo_module(), ModuleToProto(*snapshot.module));
  std::string raw;
  for (const std::vector<Literal>& arguments : snapshot.arguments) {
    proto::HloInputs* inputs = out.add_partitions();
    for (const Literal& argument : arguments) {
      const std::string one = RawLiteral(argument);
      inputs->add_arguments_descriptors()->set_argument_size_bytes(one.size());
      raw += one;
    }
  }
  const std::string message = out.SerializeAsString();
  std::string bytes;
  for (uint64_t rest = message.size();; rest >>= 7) {
    bytes += static_cast<char>(rest < 128 ? rest : (rest & 127) | 128);
    if (rest < 128) break;
  }
  return bytes + message + raw;
}

}  // namespace assay
