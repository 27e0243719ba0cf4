// Ops with the Broadcastable trait read from MLIR text and checked, and the helpers on types.
#include "spec/verifier/broadcastable_op.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

absl::Status Malformed(std::string_view what, absl::string_view where) {
  return absl::InvalidArgumentError(StrCat(what, " at \"", ToStd(where), "\""));
}

// Types between parentheses, or one without them. Commas inside of <> and () do not separate.
absl::StatusOr<std::vector<TraitType>> ParseTypes(absl::string_view text) {
  std::vector<TraitType> types;
  text = absl::StripAsciiWhitespace(text);
  const bool list = absl::ConsumePrefix(&text, "(");
  if (list && !absl::ConsumeSuffix(&text, ")")) return Malformed("expected )", text);
  if (list && absl::StripAsciiWhitespace(text).empty()) return types;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (i < text.size() && (depth != 0 || c != ',')) continue;
    ASSAY_ASSIGN_OR_RETURN(types.emplace_back(),
                           ParseTraitType(ToStd(text.substr(begin, i - begin))));
    begin = i + 1;
  }
  if (!list && types.size() != 1) return Malformed("expected one type, or several in ( )", text);
  return types;
}

}  // namespace

std::string TraitType::ToString() const {
  if (kind == Kind::kOther) return element;
  const std::string sizes = shape.ToString();
  return StrCat(kind == Kind::kTensor ? "tensor<" : "vector<", sizes, sizes.empty() ? "" : "x",
                element, ">");
}

absl::StatusOr<TraitType> ParseTraitType(std::string_view text) {
  absl::string_view rest = absl::StripAsciiWhitespace(ToAbsl(text));
  if (rest.empty()) return Malformed("expected a type", ToAbsl(text));
  TraitType type;
  if (absl::ConsumePrefix(&rest, "tensor<")) {
    type.kind = TraitType::Kind::kTensor;
  } else if (absl::ConsumePrefix(&rest, "vector<")) {
    type.kind = TraitType::Kind::kVector;
  } else {
    type.element = ToStd(rest);
    type.shape = TraitShape::Ranked({});
    return type;
  }
  if (!absl::ConsumeSuffix(&rest, ">")) return Malformed("expected >", ToAbsl(text));
  const bool unranked = absl::ConsumePrefix(&rest, "*x");
  if (unranked && type.kind == TraitType::Kind::kVector) {
    return Malformed("a vector has a rank", ToAbsl(text));
  }
  // The element type is what follows the last size; it may hold an x of its own (complex, index).
  std::vector<int64_t> sizes;
  while (!unranked) {
    const size_t x = rest.find('x');
    int64_t size = kDynamicSize;
    if (x == absl::string_view::npos) break;
    if (rest.substr(0, x) != "?" && (!absl::SimpleAtoi(rest.substr(0, x), &size) || size < 0)) {
      break;
    }
    sizes.push_back(size);
    rest.remove_prefix(x + 1);
  }
  if (rest.empty()) return Malformed("expected an element type", ToAbsl(text));
  type.element = ToStd(rest);
  type.shape = unranked ? TraitShape::Unranked() : TraitShape::Ranked(std::move(sizes));
  return type;
}

absl::StatusOr<BroadcastableOp> ParseBroadcastableOp(std::string_view line) {
  absl::string_view rest = ToAbsl(line);
  if (const size_t equals = rest.find(" = "); equals != absl::string_view::npos) {
    rest.remove_prefix(equals + 3);
  }
  rest = absl::StripAsciiWhitespace(rest);
  BroadcastableOp op;
  const bool quoted = absl::ConsumePrefix(&rest, "\"");
  const size_t quote = rest.find('"');
  if (!quoted || quote == absl::string_view::npos) {
    return Malformed("expected the name of an op in quotes", ToAbsl(line));
  }
  op.name = ToStd(rest.substr(0, quote));
  rest.remove_prefix(quote + 1);
  const bool open = absl::ConsumePrefix(&rest, "(");
  const size_t close = rest.find(')'), colon = rest.find(':'), arrow = rest.find("->");
  if (!open || close == absl::string_view::npos || colon == absl::string_view::npos ||
      arrow == absl::string_view::npos || colon < close || arrow < colon) {
    return Malformed("expected (VALUES) : (TYPES) -> TYPE", rest);
  }
  ASSAY_ASSIGN_OR_RETURN(op.operands, ParseTypes(rest.substr(colon + 1, arrow - colon - 1)));
  ASSAY_ASSIGN_OR_RETURN(op.results, ParseTypes(rest.substr(arrow + 2)));
  const absl::string_view values = absl::StripAsciiWhitespace(rest.substr(0, close));
  const auto commas = static_cast<size_t>(std::count(values.begin(), values.end(), ','));
  const size_t count = values.empty() ? 0 : commas + 1;
  if (count != op.operands.size()) {
    return absl::InvalidArgumentError(
        StrCat(op.name, " has ", count, " operands and ", op.operands.size(), " operand types"));
  }
  return op;
}

absl::Status Verify(const BroadcastableOp& op, ImplicitCast dynamic_to_static) {
  if (op.results.size() != 1) {
    return absl::InvalidArgumentError(
        StrCat("a broadcastable op has exactly one result, ", op.name, " has ", op.results.size()));
  }
  std::vector<TraitShape> operands;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    operands.push_back(op.operands[i].shape);
    if (op.operands[i].kind != TraitType::Kind::kOther) continue;
    return absl::InvalidArgumentError(
        StrCat("operand ", i, " is ", op.operands[i].ToString(), ", want a tensor or a vector"));
  }
  if (op.results[0].kind == TraitType::Kind::kOther) {
    return absl::InvalidArgumentError(
        StrCat("the result is ", op.results[0].ToString(), ", want a tensor or a vector"));
  }
  return VerifyBroadcastable(operands, op.results[0].shape, dynamic_to_static);
}

std::optional<std::vector<int64_t>> GetBroadcastedShape(absl::Span<const int64_t> a,
                                                        absl::Span<const int64_t> b) {
  absl::StatusOr<std::vector<int64_t>> shape = InferShape(a, b);
  if (!shape.ok()) return std::nullopt;
  return *std::move(shape);
}

std::optional<TraitType> GetBroadcastedType(const TraitType& a, const TraitType& b,
                                            std::string_view element) {
  using Kind = TraitType::Kind;
  if (element.empty() && a.element != b.element) return std::nullopt;
  const bool mixed = a.kind != b.kind && a.kind != Kind::kOther && b.kind != Kind::kOther;
  if (mixed) return std::nullopt;
  TraitType type{a.kind == Kind::kOther ? b.kind : a.kind,
                 element.empty() ? a.element : std::string(element), TraitShape::Unranked()};
  if (!a.shape.IsRanked() || !b.shape.IsRanked()) return type;
  type.shape.sizes = GetBroadcastedShape(*a.shape.sizes, *b.shape.sizes);
  if (!type.shape.IsRanked()) return std::nullopt;
  return type;
}

}  // namespace assay
