// Metadata, frontend attributes, statistics, accuracy, origin, stack tables. Shardings and replica
// groups: devices_proto.cc.
#include "spec/proto/annotation_text.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "absl/strings/str_join.h"
#include "spec/base/escape.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/shape_proto.h"
#include "spec/proto/text_cursor.h"

namespace assay::proto {
namespace {

void AppendDouble(std::string& out, double value) {
  char buffer[40];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

struct MetadataString {
  std::string_view name;
  std::string* (OpMetadata::*field)();
  const std::string& (OpMetadata::*value)() const;
};
struct MetadataInteger {
  std::string_view name;
  void (OpMetadata::*set)(int32_t);
  int32_t (OpMetadata::*value)() const;
};
#define ASSAY_STRING(name) \
  MetadataString { #name, &OpMetadata::mutable_##name, &OpMetadata::name }
#define ASSAY_INTEGER(name) \
  MetadataInteger { #name, &OpMetadata::set_##name, &OpMetadata::name }
// In print order around profile_type.
constexpr MetadataString kFirstStrings[] = {ASSAY_STRING(op_type), ASSAY_STRING(op_name),
                                            ASSAY_STRING(source_file)};
constexpr MetadataInteger kPlaces[] = {ASSAY_INTEGER(source_line), ASSAY_INTEGER(source_end_line),
                                       ASSAY_INTEGER(source_column),
                                       ASSAY_INTEGER(source_end_column)};
constexpr MetadataString kLastStrings[] = {ASSAY_STRING(deduplicated_name),
                                           ASSAY_STRING(scheduling_name)};
constexpr MetadataInteger kFrame[] = {ASSAY_INTEGER(stack_frame_id)};
#undef ASSAY_STRING
#undef ASSAY_INTEGER

template <typename Row, size_t N>
const Row* FindRow(const Row (&rows)[N], std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

absl::Status ParseMetadata(std::string_view text, OpMetadata* proto) {
  TextCursor at("metadata", text);
  ASSAY_RETURN_IF_ERROR(at.Expect('{'));
  while (!at.Accept('}')) {
    at.Accept(',');
    const std::string_view name = at.Word();
    ASSAY_RETURN_IF_ERROR(at.Expect('='));
    const MetadataString* string = FindRow(kFirstStrings, name);
    if (string == nullptr) string = FindRow(kLastStrings, name);
    const MetadataInteger* integer = FindRow(kPlaces, name);
    if (integer == nullptr) integer = FindRow(kFrame, name);
    if (string != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(*(proto->*string->field)(), at.String());
    } else if (integer != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(const int64_t value, at.Integer());
      (proto->*integer->set)(static_cast<int32_t>(value));
    } else if (name == "profile_type") {
      ASSAY_ASSIGN_OR_RETURN(const Int64List list, at.Integers('{', '}'));
      FromList(list, proto->mutable_profile_type());
    } else if (name == "metadata_payload") {
      ASSAY_ASSIGN_OR_RETURN(const std::string payload, at.String());
      proto->mutable_metadata_payload()->set_value(payload);
    } else {
      ASSAY_RETURN_IF_ERROR(at.SkipValue());
    }
  }
  return at.ExpectEnd();
}

std::string MetadataText(const OpMetadata& proto) {
  std::string out;
  auto begin = [&out](std::string_view name) {
    StrAppend(&out, out.empty() ? "" : " ", name, "=");
  };
  auto strings = [&](const auto& rows) {
    for (const MetadataString& row : rows) {
      if ((proto.*row.value)().empty()) continue;
      begin(row.name);
      AppendQuoted(out, (proto.*row.value)());
    }
  };
  auto integers = [&](const auto& rows) {
    for (const MetadataInteger& row : rows) {
      if ((proto.*row.value)() == 0) continue;
      begin(row.name);
      StrAppend(&out, (proto.*row.value)());
    }
  };
  strings(kFirstStrings);
  integers(kPlaces);
  if (proto.profile_type_size() > 0) {
    begin("profile_type");
    StrAppend(&out, "{", absl::StrJoin(proto.profile_type(), ","), "}");
  }
  strings(kLastStrings);
  integers(kFrame);
  if (!proto.metadata_payload().value().empty()) {
    begin("metadata_payload");
    AppendQuoted(out, proto.metadata_payload().value());
  }
  const bool printed = !proto.op_type().empty() || !proto.op_name().empty() ||
                       !proto.source_file().empty() || !proto.scheduling_name().empty() ||
                       proto.stack_frame_id() != 0 || !proto.metadata_payload().value().empty();
  return printed ? StrCat("{", out, "}") : "";
}

// Reads the next name of a list in braces, and its '='.
static absl::StatusOr<std::string> NextName(TextCursor& at) {
  at.Accept(',');
  std::string name(at.Word());
  if (name.empty()) return at.Error("a name");
  ASSAY_RETURN_IF_ERROR(at.Expect('='));
  return name;
}

absl::Status ParseFrontendAttributes(std::string_view text, FrontendAttributes* proto) {
  TextCursor at("frontend_attributes", text);
  ASSAY_RETURN_IF_ERROR(at.Expect('{'));
  while (!at.Accept('}')) {
    ASSAY_ASSIGN_OR_RETURN(const std::string name, NextName(at));
    std::string value;
    if (at.Peek() == '{') {
      ASSAY_ASSIGN_OR_RETURN(value, at.Json());
    } else {
      ASSAY_ASSIGN_OR_RETURN(value, at.String());
    }
    (*proto->mutable_map())[name] = std::move(value);
  }
  return at.ExpectEnd();
}

StringMap FrontendAttributesMap(const FrontendAttributes& proto) {
  StringMap map(proto.map().begin(), proto.map().end());
  std::sort(map.begin(), map.end());
  return map;
}

std::string FrontendAttributesText(const FrontendAttributes& proto) {
  std::string out = "{";
  for (const auto& [name, value] : FrontendAttributesMap(proto)) {
    StrAppend(&out, out.size() > 1 ? "," : "", name, "=");
    if (IsJsonBlob(value)) {
      out += value;
    } else {
      AppendQuoted(out, value);
    }
  }
  return out + "}";
}

absl::Status ParseStatistics(std::string_view text, StatisticsViz* proto) {
  TextCursor at("statistics", text);
  ASSAY_RETURN_IF_ERROR(at.Expect('{'));
  while (!at.Accept('}')) {
    ASSAY_ASSIGN_OR_RETURN(const std::string name, NextName(at));
    if (name == "visualizing_index") {
      ASSAY_ASSIGN_OR_RETURN(const int64_t index, at.Integer());
      proto->set_stat_index_to_visualize(index);
      continue;
    }
    Statistic* statistic = proto->add_statistics();
    statistic->set_stat_name(name);
    ASSAY_ASSIGN_OR_RETURN(const double value, at.Double());
    statistic->set_stat_val(value);
  }
  return at.ExpectEnd();
}

std::string StatisticsText(const StatisticsViz& proto) {
  std::string out = StrCat("{visualizing_index=", proto.stat_index_to_visualize());
  for (const Statistic& statistic : proto.statistics()) {
    StrAppend(&out, ",", statistic.stat_name(), "=");
    AppendDouble(out, statistic.stat_val());
  }
  return out + "}";
}

absl::Status ParseResultAccuracy(std::string_view text, ResultAccuracy* proto) {
  TextCursor at("result_accuracy", text);
  ASSAY_RETURN_IF_ERROR(at.Expect('{'));
  const std::string_view what = at.Word();
  ASSAY_RETURN_IF_ERROR(at.Expect('='));
  if (what == "mode") {
    const std::string_view mode = at.Word();
    if (mode != "default" && mode != "highest") return at.Error("default or highest");
    proto->set_mode(mode == "highest" ? 1 : 0);
  } else if (what == "tolerance") {
    ResultAccuracyTolerance* tolerance = proto->mutable_tolerance();
    ASSAY_RETURN_IF_ERROR(at.Expect('{'));
    while (!at.Accept('}')) {
      at.Accept(',');
      const std::string_view name = at.Word();
      ASSAY_RETURN_IF_ERROR(at.Expect('='));
      ASSAY_ASSIGN_OR_RETURN(const double value, at.Double());
      if (name == "atol") {
        tolerance->set_atol(value);
      } else if (name == "rtol") {
        tolerance->set_rtol(value);
      } else if (name == "ulps" && value >= 0 && value < 1e18) {
        tolerance->set_ulps(static_cast<int64_t>(value));
      } else {
        return at.Error("atol, rtol or ulps");
      }
    }
  } else {
    return at.Error("mode or tolerance");
  }
  ASSAY_RETURN_IF_ERROR(at.Expect('}'));
  return at.ExpectEnd();
}

std::string ResultAccuracyText(const ResultAccuracy& proto) {
  if (!proto.has_tolerance()) return proto.mode() == 1 ? "{mode=highest}" : "";
  std::string out = "{tolerance={atol=";
  AppendDouble(out, proto.tolerance().atol());
  out += ",rtol=";
  AppendDouble(out, proto.tolerance().rtol());
  return StrCat(out, ",ulps=", proto.tolerance().ulps(), "}}");
}

namespace {

// ({"a" {0}}, {}): a leaf in braces, or a tuple of them.
absl::Status ParseOriginTree(TextCursor& at, Int64List& index, OriginalValueProto* proto) {
  if (at.Accept('(')) {
    if (index.size() > 100) return at.Error("less nesting");
    for (int64_t i = 0; !at.Accept(')'); ++i) {
      if (i > 0) ASSAY_RETURN_IF_ERROR(at.Expect(','));
      index.push_back(i);
      ASSAY_RETURN_IF_ERROR(ParseOriginTree(at, index, proto));
      index.pop_back();
    }
    return absl::OkStatus();
  }
  ASSAY_RETURN_IF_ERROR(at.Expect('{'));
  OriginalValueElement* element = proto->add_elements();
  FromList(index, element->mutable_shape_index());
  if (at.Accept('}')) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(*element->mutable_original_array()->mutable_instruction_name(),
                         at.String());
  if (at.Peek() == '{') {
    ASSAY_ASSIGN_OR_RETURN(const Int64List path, at.Integers('{', '}'));
    FromList(path, element->mutable_original_array()->mutable_shape_index());
  }
  return at.Expect('}');
}

void AppendOriginTree(std::string& out, const Shape& shape, Int64List& index,
                      const std::map<Int64List, const OriginalValueElement*>& leaves) {
  if (shape.IsTuple()) {
    out += '(';
    for (size_t i = 0; i < shape.elements().size(); ++i) {
      if (i > 0) out += ", ";
      index.push_back(static_cast<int64_t>(i));
      AppendOriginTree(out, shape.elements()[i], index, leaves);
      index.pop_back();
    }
    out += ')';
    return;
  }
  out += '{';
  auto at = leaves.find(index);
  if (at != leaves.end() && at->second->has_original_array()) {
    const OriginalArrayProto& array = at->second->original_array();
    AppendQuoted(out, array.instruction_name());
    if (array.shape_index_size() > 0) {
      StrAppend(&out, " {", absl::StrJoin(array.shape_index(), ","), "}");
    }
  }
  out += '}';
}

}  // namespace

absl::Status ParseOrigin(std::string_view text, OriginalValueProto* proto) {
  TextCursor at("origin", text);
  ASSAY_RETURN_IF_ERROR(at.Expect('{'));
  if (at.Accept('[')) {
    if (at.Word() != "synthetic_call") return at.Error("synthetic_call");
    proto->set_is_synthetic_call(true);
    ASSAY_RETURN_IF_ERROR(at.Expect(']'));
  } else {
    Int64List index;
    ASSAY_RETURN_IF_ERROR(ParseOriginTree(at, index, proto));
  }
  ASSAY_RETURN_IF_ERROR(at.Expect('}'));
  return at.ExpectEnd();
}

std::string OriginText(const OriginalValueProto& proto, const Shape& shape) {
  if (proto.is_synthetic_call()) return "{[synthetic_call]}";
  std::map<Int64List, const OriginalValueElement*> leaves;
  for (const OriginalValueElement& element : proto.elements()) {
    leaves[ToList(element.shape_index())] = &element;
  }
  std::string out = "{";
  Int64List index;
  AppendOriginTree(out, shape, index, leaves);
  return out + "}";
}

absl::Status ParseSparsity(std::string_view text, SparsityConfig* proto) {
  TextCursor at("sparsity_config", text);
  ASSAY_RETURN_IF_ERROR(at.Expect('{'));
  while (!at.Accept('}')) {
    at.Accept(',');
    const std::string_view side = at.Word();
    if (side != "lhs" && side != "rhs") return at.Error("lhs or rhs");
    SparsityDescriptor* descriptor = side == "lhs" ? proto->mutable_lhs() : proto->mutable_rhs();
    ASSAY_RETURN_IF_ERROR(at.Expect('='));
    ASSAY_RETURN_IF_ERROR(at.Expect('{'));
    while (!at.Accept('}')) {
      const std::string_view name = at.Word();
      ASSAY_RETURN_IF_ERROR(at.Expect('='));
      ASSAY_ASSIGN_OR_RETURN(const Int64List values, at.JoinedByX());
      if (name == "sparsity" && values.size() == 2) {
        descriptor->set_num_non_zero(values[0]);
        descriptor->set_block_size(values[1]);
      } else if (name == "dimension" && values.size() == 1) {
        descriptor->set_dimension(values[0]);
      } else if (name == "stride" && values.size() == 1) {
        descriptor->set_stride(values[0]);
      } else if (name == "idx" && values.size() == 1) {
        descriptor->set_idx(static_cast<int32_t>(values[0]));
      } else {
        return at.Error("sparsity=NxM, dimension=, stride= or idx=");
      }
    }
  }
  return at.ExpectEnd();
}

std::string SparsityText(const SparsityConfig& proto) {
  std::string out = "{";
  auto side = [&out](std::string_view name, const SparsityDescriptor& descriptor) {
    StrAppend(&out, out.size() > 1 ? " " : "", name, "={sparsity=", descriptor.num_non_zero(), "x",
              descriptor.block_size(), " dimension=", descriptor.dimension(),
              " stride=", descriptor.stride(), " idx=", descriptor.idx(), "}");
  };
  if (proto.has_lhs()) side("lhs", proto.lhs());
  if (proto.has_rhs()) side("rhs", proto.rhs());
  return out + "}";
}

absl::Status ParseStackTables(std::string_view text, StackFrameIndexProto* proto) {
  TextCursor at("stack frame tables", text);
  auto record = [&](auto store) -> absl::Status {
    ASSAY_RETURN_IF_ERROR(at.Expect('{'));
    while (!at.Accept('}')) {
      at.Accept(',');
      const std::string_view name = at.Word();
      ASSAY_RETURN_IF_ERROR(at.Expect('='));
      ASSAY_ASSIGN_OR_RETURN(const int64_t value, at.Integer());
      store(name, static_cast<int32_t>(value));
    }
    return absl::OkStatus();
  };
  for (std::string_view section : {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
    if (at.Word() != section) return at.Error(section);
    while (IsDigit(at.Peek())) {
      ASSAY_RETURN_IF_ERROR(at.Integer().status());
      if (section == "FileNames") {
        ASSAY_ASSIGN_OR_RETURN(*proto->add_file_names(), at.String());
      } else if (section == "FunctionNames") {
        ASSAY_ASSIGN_OR_RETURN(*proto->add_function_names(), at.String());
      } else if (section == "FileLocations") {
        FileLocationProto* place = proto->add_file_locations();
        ASSAY_RETURN_IF_ERROR(record([place](std::string_view name, int32_t value) {
          if (name == "file_name_id") place->set_file_name_id(value);
          if (name == "function_name_id") place->set_function_name_id(value);
          if (name == "line") place->set_line(value);
          if (name == "end_line") place->set_end_line(value);
          if (name == "column") place->set_column(value);
          if (name == "end_column") place->set_end_column(value);
        }));
      } else {
        StackFrameProto* frame = proto->add_stack_frames();
        // Text has one more than the message, so that 1 is "no parent".
        ASSAY_RETURN_IF_ERROR(record([frame](std::string_view name, int32_t value) {
          if (name == "file_location_id") frame->set_file_location_id(value);
          if (name == "parent_frame_id" && value > 0) frame->set_parent_frame_id(value - 1);
        }));
      }
    }
  }
  return at.ExpectEnd();
}

std::string StackTablesText(const StackFrameIndexProto& proto) {
  std::string out = "FileNames";
  auto strings = [&out](const auto& list) {
    int64_t number = 0;
    for (const std::string& entry : list) {
      StrAppend(&out, "\n", ++number, " ");
      AppendQuoted(out, entry);
    }
  };
  strings(proto.file_names());
  out += "\n\nFunctionNames";
  strings(proto.function_names());
  out += "\n\nFileLocations";
  int64_t number = 0;
  for (const FileLocationProto& place : proto.file_locations()) {
    StrAppend(&out, "\n", ++number, " {file_name_id=", place.file_name_id(),
              " function_name_id=", place.function_name_id(), " line=", place.line());
    StrAppend(&out, " end_line=", place.end_line(), " column=", place.column(),
              " end_column=", place.end_column(), "}");
  }
  out += "\n\nStackFrames";
  number = 0;
  for (const StackFrameProto& frame : proto.stack_frames()) {
    const int64_t parent = frame.parent_frame_id();
    StrAppend(&out, "\n", ++number, " {file_location_id=", frame.file_location_id(),
              " parent_frame_id=", parent + 1, "}");
  }
  return out;
}

}  // namespace assay::proto
