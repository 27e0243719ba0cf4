// Every function that only tells something, asked in the ways in which callers of other ages and
// habits ask it.

#include "fuzz/backends/pjrt/protocol/suite.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::pjrt {
namespace {

constexpr size_t kHead = sizeof(Head);

// Gives back what is the caller's.
absl::Status Release(Session& session, const FunctionRow& row, const RawArgs& args) {
  constexpr size_t kResult = kHead + sizeof(void*);
  if (row.form == AnswerForm::kEvent)
    return session.Await(reinterpret_cast<Event*>(args.Word(kResult)));
  if (row.form == AnswerForm::kMade) {
    return session.Destroy<ExecutableArgs>(Function::kExecutableDestroy,
                                           reinterpret_cast<PluginExecutable*>(args.Word(kResult)));
  }
  return absl::OkStatus();
}

absl::Status CheckValues(const FunctionRow& row, const void* values, uint64_t count) {
  constexpr uint64_t kMost = 4096;
  if (count > kMost) return Violation(StrCat(row.name, ": ", count, " values"));
  if (count > 0 && values == nullptr)
    return Violation(StrCat(row.name, ": values without address"));
  const auto* all = static_cast<const NamedValue*>(values);
  for (uint64_t i = 0; i < count; ++i) {
    if (all[i].name == nullptr || all[i].name_size == 0 || all[i].name_size > kMost)
      return Violation(StrCat(row.name, ": value ", i, " has no name"));
    if (static_cast<int>(all[i].kind) < 0 || all[i].kind > ValueKind::kBool) {
      return Violation(
          StrCat(row.name, ": value ", i, " has the kind ", static_cast<int>(all[i].kind)));
    }
  }
  return absl::OkStatus();
}

// The answer has the form that the row says.
absl::Status CheckAnswer(const FunctionRow& row, const RawArgs& args) {
  const size_t first = row.subject == Subject::kNone ? kHead : kHead + sizeof(void*);
  const size_t second = first + sizeof(void*);
  constexpr uint64_t kMostWords = 1 << 20;
  switch (row.form) {
    case AnswerForm::kText: {
      const uint64_t size = args.Word(second);
      if (args.Address(first) == nullptr || size == 0)
        return Violation(StrCat(row.name, ": an empty text"));
      if (size > kMostWords) return Violation(StrCat(row.name, ": a text of ", size, " bytes"));
      const std::string_view text(static_cast<const char*>(args.Address(first)), size);
      if (text.find('\0') != text.npos)
        return Violation(StrCat(row.name, ": the size counts bytes behind the text's end"));
      return absl::OkStatus();
    }
    case AnswerForm::kObject:
    case AnswerForm::kMade:
      if (args.Address(first) == nullptr) return Violation(StrCat(row.name, ": null"));
      return absl::OkStatus();
    case AnswerForm::kList:
    case AnswerForm::kAnyList: {
      const uint64_t count = args.Word(second);
      if (count > kMostWords) return Violation(StrCat(row.name, ": a list of ", count));
      if (row.form == AnswerForm::kList && count == 0)
        return Violation(StrCat(row.name, ": an empty list"));
      if (count > 0 && args.Address(first) == nullptr)
        return Violation(StrCat(row.name, ": a list without address"));
      return absl::OkStatus();
    }
    case AnswerForm::kAttributes:
      return CheckValues(row, args.Address(first), args.Word(second));
    case AnswerForm::kCountFirst:
      return CheckValues(row, args.Address(second), args.Word(first));
    case AnswerForm::kNumber:
      if (static_cast<int64_t>(args.Word(first)) < 0)
        return Violation(StrCat(row.name, ": ", static_cast<int64_t>(args.Word(first))));
      return absl::OkStatus();
    case AnswerForm::kTruth:
      if (args.Byte(first) > 1)
        return Violation(StrCat(row.name, ": a truth value of ", args.Byte(first)));
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

absl::Status Answers(Session& session, const FunctionRow& row) {
  ASSAY_ASSIGN_OR_RETURN(const void* subject, session.Of(row.subject));
  RawArgs args(row.size, subject);
  ASSAY_RETURN_IF_ERROR(session.MustWork(row.function, args.get()));
  ASSAY_RETURN_IF_ERROR(CheckAnswer(row, args));
  if (args.IsWrittenBehind((row.size + 7) / 8 * 8))
    return Violation(StrCat(row.name, " writes behind its structure"));
  return Release(session, row, args);
}

// Texts and lists have the lifetime of their object: a second answer is the first.
absl::Status AnswersAlike(Session& session, const FunctionRow& row) {
  ASSAY_ASSIGN_OR_RETURN(const void* subject, session.Of(row.subject));
  RawArgs first(row.size, subject), second(row.size, subject);
  ASSAY_RETURN_IF_ERROR(session.MustWork(row.function, first.get()));
  ASSAY_RETURN_IF_ERROR(CheckAnswer(row, first));
  const bool is_text = row.form == AnswerForm::kText;
  const auto text_of = [](const RawArgs& args) {
    return std::string(static_cast<const char*>(args.Address(24)), args.Word(32));
  };
  const std::string before = is_text ? text_of(first) : "";
  ASSAY_RETURN_IF_ERROR(session.MustWork(row.function, second.get(), "asked again"));
  if (is_text && (text_of(second) != before || text_of(first) != before))
    return Violation(StrCat(row.name, " gives another text when it is asked again"));
  const bool is_whole = row.form == AnswerForm::kInteger || row.form == AnswerForm::kTruth ||
                        row.form == AnswerForm::kObject;
  const bool is_same = row.form == AnswerForm::kInteger ? first.Integer(24) == second.Integer(24)
                       : row.form == AnswerForm::kTruth ? first.Byte(24) == second.Byte(24)
                                                        : first.Word(24) == second.Word(24);
  if (is_whole && !is_same)
    return Violation(StrCat(row.name, " gives another answer when it is asked again"));
  ASSAY_RETURN_IF_ERROR(Release(session, row, first));
  return Release(session, row, second);
}

absl::Status TakesNewer(Session& session, const FunctionRow& row) {
  constexpr size_t kMore = 64;
  ASSAY_ASSIGN_OR_RETURN(const void* subject, session.Of(row.subject));
  RawArgs args(row.size, subject);
  args.SetSize(row.size + kMore);
  ASSAY_RETURN_IF_ERROR(session.MustWork(row.function, args.get(), "by a newer caller"));
  ASSAY_RETURN_IF_ERROR(CheckAnswer(row, args));
  if (args.IsWrittenBehind((row.size + 7) / 8 * 8))
    return Violation(StrCat(row.name, " writes into fields that it does not know"));
  return Release(session, row, args);
}

absl::Status TakesExtension(Session& session, const FunctionRow& row) {
  constexpr int kNoSuchType = 0x7ffffff0;
  Extension last{sizeof(Extension), kNoSuchType + 1, nullptr};
  Extension first{sizeof(Extension), kNoSuchType, &last};
  ASSAY_ASSIGN_OR_RETURN(const void* subject, session.Of(row.subject));
  RawArgs args(row.size, subject);
  args.SetExtension(&first);
  ASSAY_RETURN_IF_ERROR(session.MustWork(row.function, args.get(), "with unknown extensions"));
  ASSAY_RETURN_IF_ERROR(CheckAnswer(row, args));
  return Release(session, row, args);
}

// The caller says that it has the head alone, so that nothing else may be read or written.
absl::Status RefusesShort(Session& session, const FunctionRow& row, size_t size) {
  ASSAY_ASSIGN_OR_RETURN(const void* subject, session.Of(row.subject));
  RawArgs args(row.size, subject);
  args.SetSize(size);
  if (!session.plugin().HasFunction(row.function))
    return NotThere(StrCat(row.name, " is not in the table"));
  const std::optional<Refusal> refusal = session.Call(row.function, args.get());
  if (!refusal) {
    return Violation(StrCat(row.name, " takes a structure that says it has ", size, " bytes"));
  }
  if (refusal->code == Code::kUnimplemented) return NotThere(refusal->Describe());
  return absl::OkStatus();
}

absl::Status AnswersNull(Session& session, const FunctionRow& row) {
  if (!session.plugin().HasFunction(row.function))
    return NotThere(StrCat(row.name, " is not in the table"));
  RawArgs args(row.size, nullptr);
  return session.MustFail(row.function, args.get(), "null for its object");
}

void Add(std::vector<ProtocolCase>& cases, std::string_view kind, const FunctionRow& row,
         CaseLevel level, std::string rule, absl::Status (*body)(Session&, const FunctionRow&)) {
  cases.push_back({StrCat(kind, "/", row.name), level, std::move(rule),
                   [body, &row](Session& session) { return body(session, row); }});
}

}  // namespace

void AddAskedCases(std::vector<ProtocolCase>& cases) {
  for (const FunctionRow& row : FunctionRows()) {
    if (row.form == AnswerForm::kNotAsked) continue;
    Add(cases, "answers", row, CaseLevel::kMust, "it answers in the form that the document says",
        Answers);
  }
  for (const FunctionRow& row : FunctionRows()) {
    const bool is_lasting = row.subject != Subject::kNone &&
                            (row.form == AnswerForm::kText || row.form == AnswerForm::kObject ||
                             row.form == AnswerForm::kList || row.form == AnswerForm::kInteger ||
                             row.form == AnswerForm::kTruth || row.form == AnswerForm::kMade);
    if (!is_lasting) continue;
    Add(cases, "answers-alike", row, CaseLevel::kMust,
        "what it gave has the lifetime of its object", AnswersAlike);
  }
  for (const FunctionRow& row : FunctionRows()) {
    if (row.form == AnswerForm::kNotAsked) continue;
    Add(cases, "newer-caller", row, CaseLevel::kMust,
        "a structure larger than it knows is taken, and what it does not know is left alone",
        TakesNewer);
    Add(cases, "extensions", row, CaseLevel::kMust, "an extension that it does not know is skipped",
        TakesExtension);
    Add(cases, "size-of-nothing", row, CaseLevel::kMust, "a structure whose size is 0 is an error",
        [](Session& session, const FunctionRow& r) { return RefusesShort(session, r, 0); });
    if (row.subject == Subject::kNone) continue;
    Add(cases, "size-of-head", row, CaseLevel::kMust,
        "a structure that ends before its object is an error",
        [](Session& session, const FunctionRow& r) { return RefusesShort(session, r, kHead); });
    Add(cases, "null-object", row, CaseLevel::kOpen, "null where an object must be is an error",
        AnswersNull);
  }
}

}  // namespace assay::pjrt
