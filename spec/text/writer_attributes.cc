#include "spec/text/writer_attributes.h"

#include <charconv>
#include <cstdio>

namespace assay {
namespace {

void AppendInteger(std::string& out, int64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

void AppendIntegers(std::string& out, const Int64List& list) {
  out += '{';
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ',';
    AppendInteger(out, list[i]);
  }
  out += '}';
}

void AppendSlices(std::string& out, const std::vector<SliceRange>& ranges) {
  bool strided = false;
  for (const SliceRange& range : ranges) strided |= range.stride != 1;
  out += '{';
  for (size_t i = 0; i < ranges.size(); ++i) {
    out += i > 0 ? ", [" : "[";
    AppendInteger(out, ranges[i].start);
    out += ':';
    AppendInteger(out, ranges[i].limit);
    if (strided) {
      out += ':';
      AppendInteger(out, ranges[i].stride);
    }
    out += ']';
  }
  out += '}';
}

void AppendPadding(std::string& out, const std::vector<PaddingDim>& padding) {
  bool interior = false;
  for (const PaddingDim& dim : padding) interior |= dim.interior != 0;
  for (size_t i = 0; i < padding.size(); ++i) {
    if (i > 0) out += 'x';
    AppendInteger(out, padding[i].low);
    out += '_';
    AppendInteger(out, padding[i].high);
    if (interior) {
      out += '_';
      AppendInteger(out, padding[i].interior);
    }
  }
}

// One field of a window over all dimensions, if any dimension differs from the default.
template <typename Differs, typename AppendDim>
void AppendWindowField(std::string& out, std::string_view name,
                       const std::vector<WindowDim>& window, const Differs& differs,
                       const AppendDim& append) {
  bool any = false;
  for (const WindowDim& dim : window) any |= differs(dim);
  if (!any) return;
  if (out.back() != '{') out += ' ';
  out += name;
  out += '=';
  for (size_t i = 0; i < window.size(); ++i) {
    if (i > 0) out += 'x';
    append(window[i]);
  }
}

void AppendWindow(std::string& out, const std::vector<WindowDim>& window) {
  auto integer_field = [&](std::string_view name, int64_t WindowDim::* field, bool always) {
    AppendWindowField(
        out, name, window, [&](const WindowDim& d) { return always || d.*field != 1; },
        [&](const WindowDim& d) { AppendInteger(out, d.*field); });
  };
  out += '{';
  integer_field("size", &WindowDim::size, true);
  integer_field("stride", &WindowDim::stride, false);
  AppendWindowField(
      out, "pad", window, [](const WindowDim& d) { return d.low != 0 || d.high != 0; },
      [&](const WindowDim& d) {
        AppendInteger(out, d.low);
        out += '_';
        AppendInteger(out, d.high);
      });
  integer_field("lhs_dilate", &WindowDim::base_dilation, false);
  integer_field("rhs_dilate", &WindowDim::window_dilation, false);
  AppendWindowField(
      out, "rhs_reversal", window, [](const WindowDim& d) { return d.reversal; },
      [&](const WindowDim& d) { out += d.reversal ? '1' : '0'; });
  out += '}';
}

// One of the three groups of dim_labels; a dimension that is none of the labelled ones prints '?'.
void AppendLabels(std::string& out, std::initializer_list<std::pair<int64_t, char>> features,
                  const Int64List& spatial) {
  std::string labels(features.size() + spatial.size(), '?');
  for (auto [dimension, label] : features) {
    if (dimension >= 0 && dimension < static_cast<int64_t>(labels.size()))
      labels[dimension] = label;
  }
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i] >= 0 && spatial[i] < static_cast<int64_t>(labels.size()))
      labels[spatial[i]] = static_cast<char>('0' + i);
  }
  out += labels;
}

// One overload per alternative; kinds that share an alternative are told apart by `info`.
struct ValueWriter {
  std::string& out;
  const AttrInfo& info;

  void operator()(bool v) const { out += v ? "true" : "false"; }
  void operator()(int64_t v) const {
    if (info.kind == AttrKind::kWord) {
      out += WordAt(info.attr, v);
    } else {
      AppendInteger(out, v);
    }
  }
  void operator()(double v) const {
    char buffer[40];
    std::snprintf(buffer, sizeof(buffer), "%.9g", v);
    out += buffer;
  }
  void operator()(const std::string& v) const {
    bool raw =
        info.kind == AttrKind::kVerbatim || (info.kind == AttrKind::kBlob && IsBracedBlob(v));
    if (raw) {
      out += v;
    } else {
      AppendQuoted(out, v);
    }
  }
  void operator()(const Int64List& v) const {
    if (info.kind != AttrKind::kFlags && info.kind != AttrKind::kWords) {
      AppendIntegers(out, v);
      return;
    }
    out += '{';
    for (size_t i = 0; i < v.size(); ++i) {
      if (i > 0) out += ',';
      if (info.kind == AttrKind::kFlags) {
        out += v[i] != 0 ? "true" : "false";
      } else {
        out += WordAt(info.attr, v[i]);
      }
    }
    out += '}';
  }
  void operator()(const std::vector<Int64List>& v) const {
    out += '{';
    for (size_t i = 0; i < v.size(); ++i) {
      if (i > 0) out += ',';
      AppendIntegers(out, v[i]);
    }
    out += '}';
  }
  void operator()(const std::vector<SliceRange>& v) const { AppendSlices(out, v); }
  void operator()(const std::vector<PaddingDim>& v) const { AppendPadding(out, v); }
  void operator()(const std::vector<WindowDim>& v) const { AppendWindow(out, v); }
  void operator()(const ConvDimLabels& v) const {
    AppendLabels(out, {{v.input_batch, 'b'}, {v.input_feature, 'f'}}, v.input_spatial);
    out += '_';
    AppendLabels(out, {{v.kernel_input_feature, 'i'}, {v.kernel_output_feature, 'o'}},
                 v.kernel_spatial);
    out += "->";
    AppendLabels(out, {{v.output_batch, 'b'}, {v.output_feature, 'f'}}, v.output_spatial);
  }
  void operator()(const std::vector<OutputAlias>& v) const {
    out += '{';
    for (size_t i = 0; i < v.size(); ++i) {
      if (i > 0) out += ", ";
      AppendIntegers(out, v[i].output_index);
      out += ": (";
      AppendInteger(out, v[i].operand);
      out += ", ";
      AppendIntegers(out, v[i].operand_index);
      out += ')';
    }
    out += '}';
  }
};

}  // namespace

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\'':
        out += "\\'";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        if (c >= 0x20 && c < 0x7F) {
          out += c;
        } else {
          char buffer[8];
          std::snprintf(buffer, sizeof(buffer), "\\%03o", static_cast<unsigned char>(c));
          out += buffer;
        }
    }
  }
  out += '"';
}

bool IsBracedBlob(std::string_view text) {
  if (text.size() < 2 || text.front() != '{') return false;
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
      if (i >= text.size()) return false;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}') {
      if (--depth == 0) return i + 1 == text.size();
    }
  }
  return false;
}

void AppendAttribute(std::string& out, Attr attr, const AttrValue& value) {
  const AttrInfo& info = Info(attr);
  out += info.name;
  out += '=';
  std::visit(ValueWriter{out, info}, value);
}

}  // namespace assay
