// Values of attributes, by AttrKind. Document: hlo-format chapters 3.8 and 4.2.
#include <charconv>
#include <cmath>

#include "spec/base/strings.h"
#include "spec/text/parser/parser.h"

namespace assay::text_internal {
namespace {

// "2x3" cut at 'x'; the pieces are not empty unless the text is malformed.
std::vector<std::string_view> SplitAtX(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (;;) {
    size_t end = text.find('x');
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

bool ToInteger(std::string_view text, int64_t* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// "1_2" or "1_2_3" into `numbers`; the count, or 0 when malformed.
int SplitPad(std::string_view text, int64_t numbers[3]) {
  for (int count = 0; count < 3; ++count) {
    size_t end = text.find('_');
    if (!ToInteger(text.substr(0, end), &numbers[count])) return 0;
    if (end == std::string_view::npos) return count + 1;
    text.remove_prefix(end + 1);
  }
  return 0;
}

}  // namespace

template <typename T, bool (Parser::*kParse)(T*)>
bool Parser::ParseAs(Attr, AttrValue* value) {
  T parsed{};
  if (!(this->*kParse)(&parsed)) return false;
  *value = AttrValue(std::move(parsed));
  return true;
}

template <typename T, bool (Parser::*kParse)(Attr, T*)>
bool Parser::ParseOfAttribute(Attr attr, AttrValue* value) {
  T parsed{};
  if (!(this->*kParse)(attr, &parsed)) return false;
  *value = AttrValue(std::move(parsed));
  return true;
}

bool Parser::ParseAttributeValue(Attr attr, AttrValue* value) {
  struct Row {
    AttrKind kind;
    bool (Parser::*parse)(Attr, AttrValue*);
  };
  using P = Parser;
  static constexpr Row kRows[] = {
      {AttrKind::kFlag, &P::ParseAs<bool, &P::ParseBool>},
      {AttrKind::kInteger, &P::ParseAs<int64_t, &P::ParseInteger>},
      {AttrKind::kFloat, &P::ParseAs<double, &P::ParseFloatAttribute>},
      {AttrKind::kString, &P::ParseAs<std::string, &P::ParseQuoted>},
      {AttrKind::kWord, &P::ParseOfAttribute<int64_t, &P::ParseWordValue>},
      {AttrKind::kIntegers, &P::ParseAs<Int64List, &P::ParseIntegerList>},
      {AttrKind::kOneInteger, &P::ParseOfAttribute<Int64List, &P::ParseOneInteger>},
      {AttrKind::kIntegerLists, &P::ParseAs<std::vector<Int64List>, &P::ParseIntegerLists>},
      {AttrKind::kFlags, &P::ParseOfAttribute<Int64List, &P::ParseWordList>},
      {AttrKind::kWords, &P::ParseOfAttribute<Int64List, &P::ParseWordList>},
      {AttrKind::kSliceRanges, &P::ParseAs<std::vector<SliceRange>, &P::ParseSliceRanges>},
      {AttrKind::kPadding, &P::ParseAs<std::vector<PaddingDim>, &P::ParsePadding>},
      {AttrKind::kWindow, &P::ParseAs<std::vector<WindowDim>, &P::ParseWindow>},
      {AttrKind::kDimLabels, &P::ParseAs<ConvDimLabels, &P::ParseDimLabels>},
      {AttrKind::kAliasing, &P::ParseAs<std::vector<OutputAlias>, &P::ParseAliasing>},
      {AttrKind::kBlob, &P::ParseAs<std::string, &P::ParseBlob>},
      {AttrKind::kVerbatim, &P::ParseOfAttribute<std::string, &P::ParseVerbatimAttribute>},
      {AttrKind::kShape, &P::ParseAs<Shape, &P::ParseShape>},
      {AttrKind::kShapes, &P::ParseAs<std::vector<Shape>, &P::ParseShapes>},
      {AttrKind::kReplicaGroups, &P::ParseAs<ReplicaGroups, &P::ParseReplicaGroups>},
      {AttrKind::kSharding, &P::ParseAs<Sharding, &P::ParseSharding>},
      {AttrKind::kDomainMetadata, &P::ParseAs<DomainMetadata, &P::ParseDomain>},
      {AttrKind::kStringMap, &P::ParseAs<StringMap, &P::ParseStringMap>},
  };
  constexpr bool kInOrder = [] {
    for (size_t i = 0; i < std::size(kRows); ++i) {
      if (kRows[i].kind != static_cast<AttrKind>(i)) return false;
    }
    return std::size(kRows) == static_cast<size_t>(AttrKind::kStringMap) + 1;
  }();
  static_assert(kInOrder, "a row per kind, in the order of the enumerators");
  return (this->*kRows[static_cast<size_t>(Info(attr).kind)].parse)(attr, value);
}

bool Parser::ParseQuoted(std::string* text) {
  lexer_.Skip();
  return lexer_.String(text) || Unexpected("a quoted string");
}

bool Parser::ParseOneInteger(Attr attr, Int64List* list) {
  const size_t position = lexer_.Skip();
  if (!ParseIntegerList(list)) return false;
  if (list->size() == 1) return true;
  return Fail(position, StrCat(Info(attr).name, " has ", list->size(), " entries"), "exactly one");
}

bool Parser::ParseVerbatimAttribute(Attr attr, std::string* text) {
  return ParseVerbatimValue(attr == Attr::kLiteral, text);
}

bool Parser::ParseFloatAttribute(double* value) {
  size_t position = lexer_.Skip();
  std::string_view number = lexer_.Number();
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), *value);
  // The field of HLO's proto is an f32, also where it is used with numbers of f64.
  *value = static_cast<float>(*value);
  if (number.empty() || error != std::errc() || end != number.data() + number.size() ||
      !std::isfinite(*value)) {
    return Fail(position, StrCat("'", number.substr(0, 40), "' is no finite number"), "a number");
  }
  return true;
}

bool Parser::ParseWordValue(Attr attr, int64_t* value) {
  size_t position = lexer_.Skip();
  std::string_view word = lexer_.Word();
  // Printed for messages that do not say, which are of the original version.
  if (attr == Attr::kApiVersion && word == "API_VERSION_UNSPECIFIED") word = "API_VERSION_ORIGINAL";
  std::optional<int64_t> index = WordIndex(attr, word);
  if (!index.has_value()) {
    std::string words;
    for (std::string_view legal : Info(attr).words)
      StrAppend(&words, words.empty() ? "" : ", ", legal);
    return Fail(position, StrCat("'", word, "' is no ", Info(attr).name), StrCat("one of ", words));
  }
  *value = *index;
  return true;
}

bool Parser::ParseWordList(Attr attr, Int64List* list) {
  bool flags = Info(attr).kind == AttrKind::kFlags;
  if (!Expect('{', StrCat(Info(attr).name, "="))) return false;
  while (!lexer_.Accept('}')) {
    if (!list->empty() && !Expect(',', "an entry of a list")) return false;
    int64_t entry = 0;
    bool flag = false;
    if (flags ? !ParseBool(&flag) : !ParseWordValue(attr, &entry)) return false;
    list->push_back(flags ? static_cast<int64_t>(flag) : entry);
  }
  return true;
}

bool Parser::ParseIntegerLists(std::vector<Int64List>* lists) {
  if (!Expect('{', "the attribute's name: a list of lists")) return false;
  while (!lexer_.Accept('}')) {
    if (!lists->empty() && !Expect(',', "a list of integers")) return false;
    if (!ParseIntegerList(&lists->emplace_back())) return false;
  }
  return true;
}

bool Parser::ParseSliceRanges(std::vector<SliceRange>* ranges) {
  if (!Expect('{', "slice=")) return false;
  while (!lexer_.Accept('}')) {
    if (!ranges->empty() && !Expect(',', "a range of a slice")) return false;
    SliceRange range;
    if (!Expect('[', "slice={: ranges are written [start:limit:stride]") ||
        !ParseInteger(&range.start) || !Expect(':', "the start of a range") ||
        !ParseInteger(&range.limit)) {
      return false;
    }
    if (lexer_.Accept(':') && !ParseInteger(&range.stride)) return false;
    if (!Expect(']', "a range of a slice")) return false;
    ranges->push_back(range);
  }
  return true;
}

bool Parser::ParsePadding(std::vector<PaddingDim>* padding) {
  // Rank 0 has nothing behind the '=' (and XLA itself cannot read what it prints there).
  size_t position = lexer_.position();
  char next = position < lexer_.text().size() ? lexer_.text()[position] : '\n';
  if (!IsDigit(next) && next != '-') return true;
  std::string_view text = lexer_.Compact();
  for (std::string_view piece : SplitAtX(text)) {
    int64_t numbers[3] = {0, 0, 0};
    if (SplitPad(piece, numbers) < 2) {
      return Fail(position, StrCat("'", text.substr(0, 40), "' is no padding"),
                  "low_high or low_high_interior for every dimension, joined by x");
    }
    padding->push_back({numbers[0], numbers[1], numbers[2]});
  }
  return true;
}

bool Parser::ParseWindow(std::vector<WindowDim>* window) {
  size_t position = lexer_.Skip();
  if (!Expect('{', "window=")) return false;
  // Size comes first when the text is printed, but any order is legal: fields are kept until all
  // are there.
  std::vector<std::pair<std::string_view, std::string_view>> fields;
  while (!lexer_.Accept('}')) {
    lexer_.Accept(',');
    size_t here = lexer_.Skip();
    std::string_view field = lexer_.Word();
    if (field.empty()) return Unexpected("a field of the window: size, stride, pad, ...");
    for (const auto& [seen, text] : fields) {
      if (seen == field) return Fail(here, StrCat("window field ", field, " is given twice"));
    }
    if (!Expect('=', "a field of the window")) return false;
    fields.emplace_back(field, lexer_.Compact());
  }
  if (fields.empty()) return true;
  bool has_size = false;
  for (const auto& [field, text] : fields) {
    if (field != "size") continue;
    has_size = true;
    window->resize(SplitAtX(text).size());
  }
  if (!has_size) return Fail(position, "the window has no size", "size=2x3");
  for (const auto& [field, text] : fields) {
    if (!StoreWindowField(field, text, window, position)) return false;
  }
  return true;
}

bool Parser::StoreWindowField(std::string_view field, std::string_view text,
                              std::vector<WindowDim>* window, size_t position) {
  struct Field {
    std::string_view name;
    int64_t WindowDim::* member;
  };
  static constexpr Field kFields[] = {{"size", &WindowDim::size},
                                      {"stride", &WindowDim::stride},
                                      {"lhs_dilate", &WindowDim::base_dilation},
                                      {"rhs_dilate", &WindowDim::window_dilation}};
  std::vector<std::string_view> pieces = SplitAtX(text);
  if (pieces.size() != window->size()) {
    return Fail(position, StrCat("window field ", field, " has ", pieces.size(),
                                 " entries, the size has ", window->size()));
  }
  int64_t WindowDim::* member = nullptr;
  for (const Field& known : kFields) {
    if (known.name == field) member = known.member;
  }
  if (member == nullptr && field != "pad" && field != "rhs_reversal") {
    return Fail(position, StrCat("unknown window field ", field),
                "one of size, stride, pad, lhs_dilate, rhs_dilate, rhs_reversal");
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    WindowDim& dim = (*window)[i];
    int64_t numbers[3] = {0, 0, 0};
    bool ok = false;
    if (field == "pad") {
      ok = SplitPad(pieces[i], numbers) == 2;
      dim.low = numbers[0];
      dim.high = numbers[1];
    } else {
      ok = ToInteger(pieces[i], &numbers[0]);
      if (member != nullptr) {
        dim.*member = numbers[0];
      } else {
        dim.reversal = numbers[0] == 1;
      }
    }
    if (!ok) {
      return Fail(position,
                  StrCat("'", text.substr(0, 40), "' is no value of window field ", field),
                  field == "pad" ? "low_high for every dimension, joined by x"
                                 : "an integer for every dimension, joined by x");
    }
  }
  return true;
}

namespace {

// One of the three groups of dimension labels: where the two letters and each digit stand.
struct LabelGroup {
  int64_t first = -1, second = -1;
  Int64List spatial;
};

bool ParseLabelGroup(std::string_view text, char first, char second, LabelGroup* group) {
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    int64_t at = static_cast<int64_t>(i);
    if (c == first || c == second) {
      int64_t& place = c == first ? group->first : group->second;
      if (place >= 0) return false;
      place = at;
    } else if (IsDigit(c)) {
      size_t digit = static_cast<size_t>(c - '0');
      if (group->spatial.size() <= digit) group->spatial.resize(digit + 1, -1);
      if (group->spatial[digit] >= 0) return false;
      group->spatial[digit] = at;
    } else if (c != '?') {
      return false;
    }
  }
  for (int64_t place : group->spatial) {
    if (place < 0) return false;
  }
  return group->first >= 0 && group->second >= 0;
}

}  // namespace

bool Parser::ParseDimLabels(ConvDimLabels* labels) {
  size_t position = lexer_.Skip();
  std::string_view text = lexer_.Compact();
  size_t arrow = text.find("->");
  size_t underscore = text.find('_');
  LabelGroup input, kernel, output;
  bool ok =
      arrow != std::string_view::npos && underscore < arrow &&
      ParseLabelGroup(text.substr(0, underscore), 'b', 'f', &input) &&
      ParseLabelGroup(text.substr(underscore + 1, arrow - underscore - 1), 'i', 'o', &kernel) &&
      ParseLabelGroup(text.substr(arrow + 2), 'b', 'f', &output) &&
      input.spatial.size() == kernel.spatial.size() &&
      input.spatial.size() == output.spatial.size();
  if (!ok) {
    return Fail(position, StrCat("'", text.substr(0, 60), "' are no dimension labels"),
                "labels like b01f_01io->b01f: each letter once, the same spatial digits in all "
                "three groups");
  }
  *labels = {input.first,   input.second,  kernel.first,   kernel.second, output.first,
             output.second, input.spatial, kernel.spatial, output.spatial};
  return true;
}

bool Parser::ParseAliasing(std::vector<OutputAlias>* aliases) {
  if (!Expect('{', "output_to_operand_aliasing=")) return false;
  while (!lexer_.Accept('}')) {
    if (!aliases->empty() && !Expect(',', "an alias entry")) return false;
    if (lexer_.Accept('}')) break;
    OutputAlias alias;
    if (!ParseIntegerList(&alias.output_index) || !Expect(':', "the output index of an alias") ||
        !Expect('(', "the ':' of an alias") || !ParseInteger(&alias.operand) ||
        !Expect(',', "the operand of an alias") || !ParseIntegerList(&alias.operand_index) ||
        !Expect(')', "an alias entry")) {
      return false;
    }
    aliases->push_back(std::move(alias));
  }
  return true;
}

bool Parser::ParseBlob(std::string* blob) {
  if (lexer_.Peek() == '{') {
    std::string_view raw = lexer_.JsonBlob();
    if (raw.empty()) return FailHere("brace is not closed");
    *blob = std::string(raw);
    return true;
  }
  return lexer_.String(blob) || Unexpected("a quoted string or a dictionary in braces");
}

}  // namespace assay::text_internal
