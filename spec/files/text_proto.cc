// Protobuf's own reader of the text form, on a text in which the words of enums are numbers: the
// messages of hlo.proto have numbers where the format has enums.
#include "spec/files/text_proto.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <cctype>
#include <limits>
#include <memory>
#include <optional>

#include "absl/strings/ascii.h"
#include "spec/base/strings.h"
#include "spec/proto/hlo.pb.h"
#include "spec/types/element_type.h"

namespace assay {
namespace {

constexpr int kDeepest = 200;  // of messages in messages: tuples of tuples are the deepest

struct EnumWord {
  std::string_view word;
  int number;
};
// The words of all enums but those of element types. UNKNOWN is a kind of sharding; that of
// provenance is 0 and says nothing.
constexpr EnumWord kEnumWords[] = {
    {"RNG_INVALID", 0},
    {"RNG_UNIFORM", 1},
    {"RNG_NORMAL", 2},
    {"RNG_DEFAULT", 0},
    {"RNG_THREE_FRY", 1},
    {"RNG_PHILOX", 2},
    {"FFT", 0},
    {"IFFT", 1},
    {"RFFT", 2},
    {"IRFFT", 3},
    {"PADDING_INVALID", 0},
    {"PADDING_VALID", 1},
    {"PADDING_SAME", 2},
    {"SCHEDULE_NONE", 0},
    {"SCHEDULE_LATEST", 1},
    {"SCHEDULE_EARLIEST", 2},
    {"API_VERSION_UNSPECIFIED", 0},
    {"API_VERSION_ORIGINAL", 1},
    {"API_VERSION_STATUS_RETURNING", 2},
    {"API_VERSION_STATUS_RETURNING_UNIFIED", 3},
    {"API_VERSION_TYPED_FFI", 4},
    {"TRI_STATE_UNSPECIFIED", 0},
    {"TRI_STATE_TRUE", 1},
    {"TRI_STATE_FALSE", 2},
    {"CONVOLUTION_KIND_UNSET", 0},
    {"CONVOLUTION_KIND_FPROP", 1},
    {"CONVOLUTION_KIND_DGRAD", 2},
    {"CONVOLUTION_KIND_WGRAD", 3},
    {"DEFAULT", 0},
    {"HIGH", 1},
    {"HIGHEST", 2},
    {"PACKED_NIBBLE", 3},
    {"ALG_UNSET", 0},
    {"ALG_DOT_ANY_F8_ANY_F8_F32", 1},
    {"ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM", 2},
    {"ALG_DOT_F16_F16_F16", 3},
    {"ALG_DOT_F16_F16_F32", 4},
    {"ALG_DOT_BF16_BF16_BF16", 5},
    {"ALG_DOT_BF16_BF16_F32", 6},
    {"ALG_DOT_BF16_BF16_F32_X3", 7},
    {"ALG_DOT_BF16_BF16_F32_X6", 8},
    {"ALG_DOT_TF32_TF32_F32", 9},
    {"ALG_DOT_TF32_TF32_F32_X3", 10},
    {"ALG_DOT_F32_F32_F32", 11},
    {"ALG_DOT_F64_F64_F64", 12},
    {"ALG_DOT_BF16_BF16_F32_X9", 13},
    {"TRANSPOSE_INVALID", 0},
    {"NO_TRANSPOSE", 1},
    {"TRANSPOSE", 2},
    {"ADJOINT", 3},
    {"REPLICATED", 0},
    {"MAXIMAL", 1},
    {"TUPLE", 2},
    {"OTHER", 3},
    {"MANUAL", 4},
    {"UNKNOWN", 5},
    {"UNREDUCED", 6},
    {"AS", 0},
    {"LIKE", 1},
    {"UNDEFINED_ALIAS", 0},
    {"MAY_ALIAS", 1},
    {"MUST_ALIAS", 2},
    {"INVALID", 0},
    {"WINDOW", 1},
    {"FLAG", 2},
    {"INTEGER", 3},
};

// Fields whose messages hlo.proto has as bytes: provenance, which changes nothing.
constexpr std::string_view kSkippedMessages[] = {"profile_info", "debug_attributes",
                                                 "original_value_recovery_table"};

bool IsTypeField(std::string_view field) {
  return field == "element_type" || field == "index_primitive_type" ||
         field == "pointer_primitive_type";
}

std::optional<int> NumberOf(std::string_view field, std::string_view word) {
  if (IsTypeField(field)) {
    if (word == "PRIMITIVE_TYPE_INVALID") return 0;
    if (word == "OPAQUE_TYPE") word = "OPAQUE";
    const std::optional<ElementType> type =
        ElementTypeFromName(absl::AsciiStrToLower(std::string(word)));
    return type.has_value() ? std::optional<int>(static_cast<int>(*type)) : std::nullopt;
  }
  for (const EnumWord& row : kEnumWords)
    if (row.word == word) return row.number;
  return std::nullopt;
}

bool IsStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsInside(char c) { return IsStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsBlank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Walks over the text, which is not checked on the way: that is for the reader.
class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text) {}

  // The text with numbers for words and blanks for skipped messages, every line as long as it was
  // where that is possible: a number is never longer than its word.
  std::string Rewrite() {
    std::string out(text_);
    std::string open;        // brackets and braces around the cursor
    std::string_view field;  // that was named last
    char before = '\0';      // the last character that says something
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (IsBlank(c)) {
        ++at_;
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        SkipString();
        before = c;
      } else if (IsStart(c)) {
        const size_t start = at_;
        const std::string_view word = Word();
        const bool in_list = !open.empty() && open.back() == '[';
        const bool is_value = before == ':' || (in_list && (before == '[' || before == ','));
        if (!is_value) {
          field = word;
          SkipMessage(word, start, &out);
        } else if (const std::optional<int> number = NumberOf(field, word)) {
          const std::string digits = StrCat(*number);
          out.replace(start, word.size(), digits + std::string(word.size() - digits.size(), ' '));
        }
        before = 'a';
      } else if (IsInside(c) || c == '-' || c == '.') {
        while (at_ < text_.size() && (IsInside(text_[at_]) || text_[at_] == '.' ||
                                      text_[at_] == '-' || text_[at_] == '+'))
          ++at_;
        before = '0';
      } else {
        if (c == '{' || c == '[' || c == '<') open.push_back(c);
        if ((c == '}' || c == ']' || c == '>') && !open.empty()) open.pop_back();
        before = c;
        ++at_;
      }
    }
    return out;
  }

 private:
  std::string_view Word() {
    const size_t start = at_;
    while (at_ < text_.size() && IsInside(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  void SkipString() {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }

  // Behind the name of a field: if a message follows that is not read, blanks it out, name and all.
  void SkipMessage(std::string_view name, size_t start, std::string* out) {
    bool is_skipped = false;
    for (std::string_view skipped : kSkippedMessages) is_skipped = is_skipped || skipped == name;
    if (!is_skipped) return;
    const size_t back = at_;
    SkipBlanks();
    if (at_ < text_.size() && text_[at_] == ':') ++at_;
    SkipBlanks();
    if (at_ >= text_.size() || (text_[at_] != '{' && text_[at_] != '<')) {
      at_ = back;
      return;
    }
    int64_t depth = 0;
    do {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        SkipString();
        continue;
      }
      if (c == '{' || c == '<') ++depth;
      if (c == '}' || c == '>') --depth;
      ++at_;
    } while (depth > 0 && at_ < text_.size());
    for (size_t i = start; i < at_; ++i)
      if ((*out)[i] != '\n') (*out)[i] = ' ';
  }

  std::string_view text_;
  size_t at_ = 0;
};

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = StrCat(line + 1, ":", column + 1, ": error: ", message);
  }
  void AddWarning(int, int, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The words of a text outside strings and comments, and whether each names a field of the outermost
// message: enough to tell the kinds of messages apart.
struct TopFields {
  bool hlo_module = false, hlo = false, config = false, partitions = false;
};

TopFields TopFieldsOf(const std::string& text) {
  TopFields fields;
  int64_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      for (++at; at < text.size() && text[at] != c;) at += text[at] == '\\' ? 2 : 1;
      ++at;
    } else if (IsStart(c)) {
      const size_t start = at;
      while (at < text.size() && IsInside(text[at])) ++at;
      const std::string_view word = std::string_view(text).substr(start, at - start);
      if (depth > 0) continue;
      fields.hlo_module = fields.hlo_module || word == "hlo_module";
      fields.hlo = fields.hlo || word == "hlo";
      fields.config = fields.config || word == "config";
      fields.partitions = fields.partitions || word == "partitions";
    } else {
      if (c == '{' || c == '<' || c == '[') ++depth;
      if (c == '}' || c == '>' || c == ']') --depth;
      ++at;
    }
  }
  return fields;
}

std::unique_ptr<google::protobuf::Message> MessageFor(const std::string& text) {
  const TopFields fields = TopFieldsOf(text);
  if (fields.hlo) return std::make_unique<proto::HloSnapshot>();
  if (!fields.hlo_module) return std::make_unique<proto::HloModuleProto>();
  if (fields.partitions) return std::make_unique<proto::HloUnoptimizedSnapshot>();
  if (fields.config) return std::make_unique<proto::HloModuleProtoWithConfig>();
  return std::make_unique<proto::HloProto>();
}

}  // namespace

bool LooksLikeTextProto(std::string_view text) {
  size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && (IsBlank(text[at]) || text[at] == '#')) {
      at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
    }
    return at < text.size() ? text[at] : '\0';
  };
  const auto word = [&] {
    const size_t start = at;
    while (at < text.size() && IsInside(text[at])) ++at;
    return text.substr(start, at - start);
  };
  if (!IsStart(skip()) || word() == "HloModule") return false;
  if (skip() == ':') return true;
  if (skip() != '{') return false;
  // A computation without a header looks so far like a message.
  ++at;
  if (!IsStart(skip()) || word().empty()) return false;
  return skip() == ':' || skip() == '{';
}

absl::StatusOr<std::string> BinaryOfTextProto(std::string_view text) {
  if (text.size() > size_t{std::numeric_limits<int>::max()}) {
    return absl::ResourceExhaustedError(" the text is larger than a message can be");
  }
  const std::string rewritten = Rewriter(text).Rewrite();
  const std::unique_ptr<google::protobuf::Message> message = MessageFor(rewritten);
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kDeepest);
  google::protobuf::io::ArrayInputStream stream(rewritten.data(),
                                                static_cast<int>(rewritten.size()));
  if (!parser.Parse(&stream, message.get())) {
    return absl::InvalidArgumentError(
        error.text().empty() ? " the text of the message does not read" : error.text());
  }
  return message->SerializeAsString();
}

}  // namespace assay
