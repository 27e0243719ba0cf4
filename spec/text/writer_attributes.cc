// Attributes and callees as text. Document: hlo-format chapters 3.4, 3.9, 4.2.
#include <algorithm>
#include <charconv>

#include "spec/attributes/sharding_text.h"
#include "spec/base/escape.h"
#include "spec/base/strings.h"
#include "spec/text/lexer.h"
#include "spec/text/writer_internal.h"

namespace assay::text_internal {
namespace {

template <typename T, typename F>
void AppendJoined(std::string& out, const std::vector<T>& list, std::string_view separator,
                  const F& append) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += separator;
    append(list[i]);
  }
}

void AppendSlice(std::string& out, const std::vector<SliceRange>& ranges) {
  bool strides = std::any_of(ranges.begin(), ranges.end(),
                             [](const SliceRange& range) { return range.stride != 1; });
  out += '{';
  AppendJoined(out, ranges, ", ", [&](const SliceRange& range) {
    out += '[';
    AppendInteger(out, range.start);
    out += ':';
    AppendInteger(out, range.limit);
    if (strides) {
      out += ':';
      AppendInteger(out, range.stride);
    }
    out += ']';
  });
  out += '}';
}

void AppendPadding(std::string& out, const std::vector<PaddingDim>& padding) {
  bool interior = std::any_of(padding.begin(), padding.end(),
                              [](const PaddingDim& dim) { return dim.interior != 0; });
  AppendJoined(out, padding, "x", [&](const PaddingDim& dim) {
    AppendInteger(out, dim.low);
    out += '_';
    AppendInteger(out, dim.high);
    if (interior) {
      out += '_';
      AppendInteger(out, dim.interior);
    }
  });
}

void AppendWindow(std::string& out, const std::vector<WindowDim>& window) {
  const WindowDim plain;
  // A field is written when some dimension differs from the default.
  auto field = [&](std::string_view name, auto differs, auto append) {
    if (!std::any_of(window.begin(), window.end(), differs)) return;
    if (out.back() != '{') out += ' ';
    out += name;
    out += '=';
    AppendJoined(out, window, "x", append);
  };
  auto integer = [&](std::string_view name, int64_t WindowDim::* member, bool always) {
    field(
        name, [&](const WindowDim& dim) { return always || dim.*member != plain.*member; },
        [&](const WindowDim& dim) { AppendInteger(out, dim.*member); });
  };
  out += '{';
  integer("size", &WindowDim::size, true);
  integer("stride", &WindowDim::stride, false);
  field(
      "pad", [](const WindowDim& dim) { return dim.low != 0 || dim.high != 0; },
      [&](const WindowDim& dim) {
        AppendInteger(out, dim.low);
        out += '_';
        AppendInteger(out, dim.high);
      });
  integer("lhs_dilate", &WindowDim::base_dilation, false);
  integer("rhs_dilate", &WindowDim::window_dilation, false);
  field(
      "rhs_reversal", [](const WindowDim& dim) { return dim.reversal; },
      [&](const WindowDim& dim) { out += dim.reversal ? '1' : '0'; });
  out += '}';
}

void AppendLabelGroup(std::string& out, char first, int64_t first_at, char second,
                      int64_t second_at, const Int64List& spatial) {
  int64_t size = std::max(first_at, second_at) + 1;
  for (int64_t at : spatial) size = std::max(size, at + 1);
  // Positions come from text or a builder and stay small: one character each.
  std::string group(static_cast<size_t>(std::clamp<int64_t>(size, 0, 64)), '?');
  auto put = [&group](int64_t at, char c) {
    if (at >= 0 && at < static_cast<int64_t>(group.size())) group[at] = c;
  };
  put(first_at, first);
  put(second_at, second);
  for (size_t i = 0; i < spatial.size(); ++i) put(spatial[i], static_cast<char>('0' + i));
  out += group;
}

void AppendDimLabels(std::string& out, const ConvDimLabels& labels) {
  AppendLabelGroup(out, 'b', labels.input_batch, 'f', labels.input_feature, labels.input_spatial);
  out += '_';
  AppendLabelGroup(out, 'i', labels.kernel_input_feature, 'o', labels.kernel_output_feature,
                   labels.kernel_spatial);
  out += "->";
  AppendLabelGroup(out, 'b', labels.output_batch, 'f', labels.output_feature,
                   labels.output_spatial);
}

void AppendAliasing(std::string& out, const std::vector<OutputAlias>& aliases) {
  out += '{';
  AppendJoined(out, aliases, ", ", [&](const OutputAlias& alias) {
    AppendIntegers(out, alias.output_index);
    out += ": (";
    AppendInteger(out, alias.operand);
    out += ", ";
    AppendIntegers(out, alias.operand_index);
    out += ')';
  });
  out += '}';
}

void AppendComputation(std::string& out, const Computation* computation,
                       const WriteOptions& options) {
  if (options.percent) out += '%';
  out += computation->name();
}

void AppendNamed(std::string& out, std::string_view name, const Computation* computation,
                 const WriteOptions& options) {
  out += ", ";
  out += name;
  out += '=';
  AppendComputation(out, computation, options);
}

void AppendList(std::string& out, std::string_view name, absl::Span<Computation* const> callees,
                const WriteOptions& options) {
  out += ", ";
  out += name;
  out += "={";
  for (size_t i = 0; i < callees.size(); ++i) {
    if (i > 0) out += ", ";
    AppendComputation(out, callees[i], options);
  }
  out += '}';
}

void AppendCallees(std::string& out, const Instruction& instruction, const WriteOptions& options) {
  absl::Span<Computation* const> callees = instruction.callees();
  if (callees.empty()) return;
  auto pair = [&](std::string_view first, std::string_view second) {
    AppendNamed(out, first, callees[0], options);
    if (callees.size() > 1) AppendNamed(out, second, callees[1], options);
  };
  switch (Info(instruction.opcode()).callees) {
    case CalleeForm::kConditionBody:
      return pair("condition", "body");
    case CalleeForm::kSelectScatter:
      return pair("select", "scatter");
    case CalleeForm::kBranches:
      if (instruction.operand_count() > 0 &&
          IsPred(instruction.operand(0)->shape().element_type())) {
        return pair("true_computation", "false_computation");
      }
      return AppendList(out, "branch_computations", callees, options);
    case CalleeForm::kCalledComputations:
      return AppendList(out, "called_computations", callees, options);
    case CalleeForm::kToApply:
      return AppendNamed(out, "to_apply", callees[0], options);
    case CalleeForm::kCalls:
    case CalleeForm::kNone:
      return AppendNamed(out, "calls", callees[0], options);
  }
}

struct ValueWriter {
  std::string& out;
  Attr attr;
  AttrKind kind;
  bool metadata;

  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(int64_t value) const {
    if (kind == AttrKind::kWord) {
      out += WordAt(attr, value);
    } else {
      AppendInteger(out, value);
    }
  }
  void operator()(double value) const {
    char buffer[40];
    auto result = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<float>(value));
    out.append(buffer, result.ptr);
  }
  void operator()(const std::string& value) const {
    if (kind == AttrKind::kVerbatim || (kind == AttrKind::kBlob && IsJsonBlob(value))) {
      out += value;
    } else {
      AppendQuoted(out, value);
    }
  }
  void operator()(const Int64List& value) const {
    if (kind != AttrKind::kFlags && kind != AttrKind::kWords) return AppendIntegers(out, value);
    out += '{';
    AppendJoined(out, value, ",", [&](int64_t entry) {
      if (kind == AttrKind::kFlags) {
        out += entry != 0 ? "true" : "false";
      } else {
        out += WordAt(attr, entry);
      }
    });
    out += '}';
  }
  void operator()(const std::vector<Int64List>& value) const {
    out += '{';
    AppendJoined(out, value, ",", [&](const Int64List& list) { AppendIntegers(out, list); });
    out += '}';
  }
  void operator()(const std::vector<SliceRange>& value) const { AppendSlice(out, value); }
  void operator()(const std::vector<PaddingDim>& value) const { AppendPadding(out, value); }
  void operator()(const std::vector<WindowDim>& value) const { AppendWindow(out, value); }
  void operator()(const SharedValue<ConvDimLabels>& value) const { AppendDimLabels(out, *value); }
  void operator()(const std::vector<OutputAlias>& value) const { AppendAliasing(out, value); }
  void operator()(const SharedValue<Shape>& value) const {
    value->AppendTo(out, /*with_layout=*/true);
  }
  void operator()(const SharedValue<std::vector<Shape>>& value) const {
    out += '{';
    AppendJoined(out, *value, ", ",
                 [&](const Shape& shape) { shape.AppendTo(out, /*with_layout=*/true); });
    out += '}';
  }
  void operator()(const SharedValue<ReplicaGroups>& value) const {
    AppendReplicaGroups(out, *value);
  }
  void operator()(const SharedValue<Sharding>& value) const {
    AppendSharding(out, *value, metadata);
  }
  void operator()(const SharedValue<DomainMetadata>& value) const {
    out += "{kind=\"sharding\", entry=";
    AppendSharding(out, value->entry, metadata);
    out += ", exit=";
    AppendSharding(out, value->exit, metadata);
    out += '}';
  }
  void operator()(const StringMap& value) const {
    out += '{';
    AppendJoined(out, value, ",", [&](const auto& entry) {
      out += entry.first;
      out += '=';
      if (IsJsonBlob(entry.second)) {
        out += entry.second;
      } else {
        AppendQuoted(out, entry.second);
      }
    });
    out += '}';
  }
};

void AppendOne(std::string& out, const Instruction& instruction, Attr attr, bool metadata = true) {
  const AttrValue* value = instruction.attributes().Find(attr);
  if (value == nullptr) return;
  // The padding of a scalar has no text.
  if (Info(attr).kind == AttrKind::kPadding && std::get<std::vector<PaddingDim>>(*value).empty()) {
    return;
  }
  out += ", ";
  out += Info(attr).name;
  out += '=';
  AppendAttributeValue(out, attr, *value, metadata);
}

void AppendControlPredecessors(std::string& out, const Instruction& instruction,
                               const WriteOptions& options) {
  if (instruction.control_predecessors().empty()) return;
  out += ", control-predecessors={";
  bool first = true;
  for (const Instruction* predecessor : instruction.control_predecessors()) {
    if (!first) out += ", ";
    first = false;
    if (options.percent) out += '%';
    out += predecessor->name();
  }
  out += '}';
}

}  // namespace

void AppendInteger(std::string& out, int64_t value) {
  char buffer[24];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, result.ptr);
}

void AppendIntegers(std::string& out, absl::Span<const int64_t> values) {
  out += '{';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    AppendInteger(out, values[i]);
  }
  out += '}';
}

void AppendAttributeValue(std::string& out, Attr attr, const AttrValue& value, bool metadata) {
  std::visit(ValueWriter{out, attr, Info(attr).kind, metadata}, value);
}

void AppendAttributes(std::string& out, const Instruction& instruction, const WriteOptions& options,
                      const Instruction* wrapped) {
  auto append_row = [&out](const Instruction& of) {
    for (const AttrSpec& spec : Info(of.opcode()).attributes) {
      // It describes the computation and is written behind it.
      if (spec.attr != Attr::kIsComposite) AppendOne(out, of, spec.attr);
    }
  };
  append_row(instruction);
  if (wrapped != nullptr) append_row(*wrapped);
  const Instruction& caller = wrapped != nullptr ? *wrapped : instruction;
  AppendCallees(out, caller, options);
  AppendOne(out, caller, Attr::kIsComposite);
  AppendOne(out, instruction, Attr::kSharding, options.metadata);
  AppendOne(out, instruction, Attr::kFrontendAttributes);
  AppendControlPredecessors(out, instruction, options);
  AppendOne(out, instruction, Attr::kStatistics);
  AppendOne(out, instruction, Attr::kResultAccuracy);
  AppendOne(out, instruction, Attr::kOrigin);
  if (options.metadata) AppendOne(out, instruction, Attr::kMetadata);
  AppendOne(out, instruction, Attr::kBackendConfig);
}

}  // namespace assay::text_internal
