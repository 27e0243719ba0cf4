// Writes and reads the attributes of an instruction by the rows of attribute_fields.cc and
// attribute_forms.cc, and those that every instruction may carry.
#include "spec/proto/attribute_codec.h"

#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/attribute_defaults.h"
#include "spec/proto/annotation_text.h"
#include "spec/proto/attribute_codec_internal.h"

namespace assay::proto {
namespace {

using Proto = HloInstructionProto;

const Codec* FindCodec(Attr attr) {
  static const auto* by_attr = [] {
    auto* table = new std::vector<const Codec*>(kAttrCount, nullptr);
    for (absl::Span<const Codec> codecs : {FieldCodecs(), FormCodecs()})
      for (const Codec& codec : codecs) (*table)[static_cast<size_t>(codec.attr)] = &codec;
    return table;
  }();
  return (*by_attr)[static_cast<size_t>(attr)];
}

// The attributes that every instruction may carry.
absl::Status WriteCommon(Attr attr, const AttrValue& value, Proto* proto) {
  if (attr == Attr::kSharding) {
    return ShardingToProto(*std::get<SharedValue<Sharding>>(value), proto->mutable_sharding());
  }
  if (attr == Attr::kFrontendAttributes) {
    for (const auto& [key, text] : std::get<StringMap>(value)) {
      (*proto->mutable_frontend_attributes()->mutable_map())[key] = text;
    }
    return absl::OkStatus();
  }
  const std::string& text = Text(value);
  switch (attr) {
    case Attr::kStatistics:
      return ParseStatistics(text, proto->mutable_statistics_viz());
    case Attr::kResultAccuracy:
      return ParseResultAccuracy(text, proto->mutable_result_accuracy());
    case Attr::kOrigin:
      return ParseOrigin(text, proto->mutable_original_value());
    case Attr::kMetadata:
      return ParseMetadata(text, proto->mutable_metadata());
    default:
      proto->set_backend_config(text);
      return absl::OkStatus();
  }
}

absl::Status ReadCommon(const Proto& proto, const Shape& shape, const HloModuleProto& module,
                        Attributes* attributes) {
  auto set = [attributes](Attr attr, std::string text) {
    if (!text.empty()) attributes->Set(attr, AttrValue(std::move(text)));
  };
  if (proto.has_sharding()) {
    ASSAY_ASSIGN_OR_RETURN(Sharding sharding, ShardingFromProto(proto.sharding()));
    attributes->Set(Attr::kSharding, AttrValue(SharedValue<Sharding>(std::move(sharding))));
  }
  if (proto.frontend_attributes().map_size() > 0) {
    attributes->Set(Attr::kFrontendAttributes,
                    AttrValue(FrontendAttributesMap(proto.frontend_attributes())));
  }
  if (proto.statistics_viz().statistics_size() > 0) {
    set(Attr::kStatistics, StatisticsText(proto.statistics_viz()));
  }
  if (proto.has_result_accuracy()) {
    set(Attr::kResultAccuracy, ResultAccuracyText(proto.result_accuracy()));
  }
  if (proto.has_original_value()) {
    set(Attr::kOrigin, OriginText(proto.original_value(), shape));
  }
  if (proto.has_metadata()) set(Attr::kMetadata, MetadataText(proto.metadata()));
  std::string config = proto.backend_config();
  if (proto.has_backend_config_payload()) {
    const Payload& payload = proto.backend_config_payload();
    if (payload.has_id()) {
      if (payload.id() < 0 || payload.id() >= module.payloads_size()) {
        return absl::InvalidArgumentError(
            StrCat("the module has no payload ", payload.id(), " of ", module.payloads_size()));
      }
      config = module.payloads(static_cast<int>(payload.id()));
    } else {
      config = payload.value();
    }
  }
  set(Attr::kBackendConfig, std::move(config));
  return absl::OkStatus();
}

}  // namespace

absl::Status AttributesToProto(const Instruction& instruction, HloInstructionProto* proto) {
  auto in = [&](const absl::Status& status) {
    return status.ok() ? status
                       : absl::Status(status.code(),
                                      StrCat(instruction.name(), ": ", ToStd(status.message())));
  };
  for (const auto& [attr, value] : instruction.attributes().entries()) {
    if (IsInternal(attr)) continue;
    if (IsCommon(attr)) {
      ASSAY_RETURN_IF_ERROR(in(WriteCommon(attr, value, proto)));
    } else if (const Codec* codec = FindCodec(attr)) {
      ASSAY_RETURN_IF_ERROR(in(codec->write(value, instruction.opcode(), proto)));
    } else {
      return in(MakeError(ErrorClass::kUnsupported,
                          StrCat("HloModuleProto has no field for ", Info(attr).name)));
    }
  }
  // The format stores these defaults, since an absent field would say something else.
  for (const AttrSpec& spec : Info(instruction.opcode()).attributes) {
    const AttrKind kind = Info(spec.attr).kind;
    // XLA asks for the window of a convolution without spatial dimensions, too.
    if (spec.attr == Attr::kWindow) proto->mutable_window();
    if (instruction.attributes().Has(spec.attr) || spec.default_value == 0) continue;
    if (spec.default_value < 0 || (kind != AttrKind::kInteger && kind != AttrKind::kFlag)) continue;
    const AttrValue value =
        kind == AttrKind::kFlag ? AttrValue(true) : AttrValue(spec.default_value);
    if (const Codec* codec = FindCodec(spec.attr)) {
      ASSAY_RETURN_IF_ERROR(in(codec->write(value, instruction.opcode(), proto)));
    }
  }
  if (instruction.opcode() == Opcode::kCompare && proto->comparison_type().empty() &&
      instruction.operand_count() > 0) {
    const CompareType usual = DefaultCompareType(instruction.operand(0)->shape().element_type());
    proto->set_comparison_type(
        std::string(WordAt(Attr::kCompareType, static_cast<int64_t>(usual))));
  }
  if (instruction.opcode() == Opcode::kCustomCall && proto->custom_call_api_version() == 0) {
    proto->set_custom_call_api_version(1);
  }
  return absl::OkStatus();
}

absl::StatusOr<Attributes> AttributesFromProto(const HloInstructionProto& proto, const OpInfo& info,
                                               const Shape& shape,
                                               absl::Span<Instruction* const> operands,
                                               const HloModuleProto& module) {
  Attributes attributes;
  const Site site{proto, info, shape, operands};
  auto read = [&](const AttrSpec& spec) -> absl::Status {
    const Codec* codec = FindCodec(spec.attr);
    if (codec == nullptr) return absl::OkStatus();
    ASSAY_ASSIGN_OR_RETURN(std::optional<AttrValue> value, codec->read(site));
    const AttrKind kind = Info(spec.attr).kind;
    if (!value.has_value()) {
      if (spec.presence == AttrSpec::kOptional) return absl::OkStatus();
      if (spec.presence == AttrSpec::kRequired) {
        return absl::InvalidArgumentError(
            StrCat(info.name, " needs the attribute ", Info(spec.attr).name));
      }
      value = DefaultValue(spec, kind);
    }
    // Counts of which the message may say 0 for 1.
    if (kind == AttrKind::kInteger && spec.default_value == 1 && std::get<int64_t>(*value) == 0) {
      value = AttrValue(int64_t{1});
    }
    if (kind == AttrKind::kOneInteger && std::get<Int64List>(*value).size() != 1) {
      if (spec.presence == AttrSpec::kOptional && std::get<Int64List>(*value).empty()) {
        return absl::OkStatus();
      }
      return absl::InvalidArgumentError(StrCat(info.name, ": ", Info(spec.attr).name, " has ",
                                               std::get<Int64List>(*value).size(),
                                               " entries, want 1"));
    }
    if (spec.presence == AttrSpec::kOptional && IsDefaultValue(spec, kind, *value)) {
      return absl::OkStatus();
    }
    attributes.Set(spec.attr, *std::move(value));
    return absl::OkStatus();
  };
  for (const AttrSpec& spec : info.attributes) ASSAY_RETURN_IF_ERROR(read(spec));
  if (info.opcode == Opcode::kParameter) {
    attributes.Set(Attr::kParameterNumber, AttrValue(int64_t{proto.parameter_number()}));
  }
  if (info.opcode == Opcode::kCompare && !operands.empty()) {
    const CompareType usual = DefaultCompareType(operands[0]->shape().element_type());
    if (attributes.Integer(Attr::kCompareType, -1) == static_cast<int64_t>(usual)) {
      attributes.Remove(Attr::kCompareType);
    }
  }
  ASSAY_RETURN_IF_ERROR(ReadCommon(proto, shape, module, &attributes));
  return attributes;
}

}  // namespace assay::proto
