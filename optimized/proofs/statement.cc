// Reads the table of index rules, and makes HLO of its instances.
#include "optimized/proofs/statement.h"

#include <algorithm>
#include <functional>
#include <set>

#include "absl/strings/str_split.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay {
namespace {

absl::StatusOr<RuleStatement> ReadStatement(const IndexRule& rule) {
  RuleStatement statement;
  statement.rule = &rule;
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Term> numbers, ParseTerms(rule.numbers));
  for (const Term& number : numbers) statement.numbers.push_back(number.name);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Term> arrays, ParseTerms(rule.arrays));
  for (const Term& array : arrays) statement.arrays.emplace_back(array.name, array.operands[0]);
  ASSAY_ASSIGN_OR_RETURN(statement.given, ParseTerms(rule.given));
  ASSAY_ASSIGN_OR_RETURN(statement.before, ParseTerm(rule.before));
  ASSAY_ASSIGN_OR_RETURN(statement.after, ParseTerm(rule.after));
  for (const IndexClaim& claim : rule.claims) {
    if (claim.name.empty()) continue;
    ASSAY_ASSIGN_OR_RETURN(Term holds, ParseTerm(claim.holds));
    statement.claims.push_back(
        {StrCat(rule.rule, "/", claim.name), std::move(holds), claim.follows});
  }
  return statement;
}

// Arrays have numbers of their own, so that no element stands for another.
int64_t ElementAt(const std::string& array, int64_t i) {
  return static_cast<int64_t>(array[0]) * 1000 + i;
}

Meaning<NumberDomain> Bound(const RuleStatement& statement, const Assignment& values,
                            std::string_view forgotten, NumberDomain& domain,
                            std::vector<int64_t>* sizes = nullptr) {
  Meaning<NumberDomain> meaning(domain);
  const std::vector<int64_t> all = BindAll(
      statement, meaning, forgotten, [&](const std::string& name) { return values.at(name); },
      ElementAt);
  if (sizes != nullptr) *sizes = all;
  return meaning;
}

// Writes the instructions of a term, and tells their names and sizes.
class HloWriter {
 public:
  HloWriter(const RuleStatement& statement, const Assignment& values, std::string_view forgotten)
      : statement_(statement),
        values_(values),
        forgotten_(forgotten),
        meaning_(Bound(statement, values, forgotten, domain_)) {}

  absl::StatusOr<HloInstance> Write() {
    const std::string root = Add(statement_.before);
    HloInstance instance;
    const std::string text = StrCat("HloModule m\n\nENTRY main {\n", body_,
                                    "  ROOT result = ", lines_.at(root), "\n}\n");
    ASSAY_ASSIGN_OR_RETURN(instance.module, ReadModule(text));
    instance.arguments = std::move(arguments_);
    return instance;
  }

 private:
  static std::string TypeOf(int64_t size) { return StrCat("s32[", size, "]"); }
  int64_t SizeOf(const Term& term) { return meaning_.Of(term).size; }
  int64_t Number(const Term& term) { return meaning_.Number(term); }

  // A parameter for a value that only a run knows.
  std::string Argument(const std::string& name, const Shape& shape,
                       const std::function<int64_t(int64_t)>& value) {
    if (!parameters_.insert(name).second) return name;
    Literal literal(shape);
    for (int64_t i = 0; i < shape.ElementCount(); ++i) literal.SetInteger(i, value(i));
    StrAppend(&body_, "  ", name, " = ", shape.ToString(), " parameter(", arguments_.size(), ")\n");
    arguments_.push_back(std::move(literal));
    return name;
  }
  // Starts and padding values are equal instructions where a claim says so.
  std::string Scalar(const Term& term) {
    std::string name = term.name;
    for (const StatementClaim& claim : statement_.claims) {
      const bool is_same = claim.holds.name == "=" && claim.name != forgotten_ &&
                           claim.holds.operands[1].name == name &&
                           claim.holds.operands[0].operands.empty() &&
                           !claim.holds.operands[0].IsNumber();
      if (is_same) name = claim.holds.operands[0].name;
    }
    return Argument(StrCat("scalar.", name), Shape::Scalar(ElementType::kS32),
                    [&](int64_t) { return values_.at(name); });
  }
  std::string ArrayNamed(const std::string& name) {
    const auto& array = meaning_.ArrayNamed(name);
    std::string source = name;
    for (const StatementClaim& claim : statement_.claims) {
      const bool is_same =
          claim.IsOfArrays() && claim.name != forgotten_ && claim.holds.operands[1].name == name;
      if (is_same) source = claim.holds.operands[0].name;
    }
    return Argument(StrCat("array.", source), Shape::Array(ElementType::kS32, {array.size}),
                    [&](int64_t i) { return array.at(i); });
  }

  std::string Add(const Term& term) {
    if (term.operands.empty()) {
      const std::string name = ArrayNamed(term.name);
      lines_[name] = StrCat(TypeOf(SizeOf(term)), " copy(", name, ")");
      return name;
    }
    std::vector<std::string> arrays;
    const bool joins = term.name == "concatenate", updates = term.name == "dynamic-update-slice";
    if (term.name != "splat") {
      const size_t count = joins ? term.operands.size() : updates ? 2 : 1;
      for (size_t i = 0; i < count; ++i) arrays.push_back(Add(term.operands[i]));
    }
    const std::string name = StrCat("value.", lines_.size());
    lines_[name] = Line(term, arrays);
    StrAppend(&body_, "  ", name, " = ", lines_[name], "\n");
    return name;
  }
  std::string Line(const Term& term, const std::vector<std::string>& arrays) {
    const std::string type = TypeOf(SizeOf(term));
    const auto number = [&](size_t i) { return Number(term.operands[i]); };
    if (term.name == "splat")
      return StrCat(type, " broadcast(", Scalar(term.operands[0]), "), dimensions={}");
    if (term.name == "slice")
      return StrCat(type, " slice(", arrays[0], "), slice={[", number(1), ":", number(2), ":",
                    number(3), "]}");
    if (term.name == "reverse") return StrCat(type, " reverse(", arrays[0], "), dimensions={0}");
    if (term.name == "pad")
      return StrCat(type, " pad(", arrays[0], ", ", Scalar(term.operands[1]),
                    "), padding=", number(2), "_", number(3), "_", number(4));
    if (term.name == "dynamic-slice")
      return StrCat(type, " dynamic-slice(", arrays[0], ", ", Scalar(term.operands[1]),
                    "), dynamic_slice_sizes={", number(2), "}");
    if (term.name == "dynamic-update-slice")
      return StrCat(type, " dynamic-update-slice(", arrays[0], ", ", arrays[1], ", ",
                    Scalar(term.operands[2]), ")");
    std::string joined;
    for (const std::string& array : arrays) StrAppend(&joined, joined.empty() ? "" : ", ", array);
    return StrCat(type, " concatenate(", joined, "), dimensions={0}");
  }

  const RuleStatement& statement_;
  const Assignment& values_;
  std::string_view forgotten_;
  NumberDomain domain_;
  Meaning<NumberDomain> meaning_;
  std::string body_;
  std::map<std::string, std::string> lines_;
  std::set<std::string> parameters_;
  std::vector<Literal> arguments_;
};

}  // namespace

std::string RuleStatement::Name() const {
  return rule->form.empty() ? std::string(rule->rule) : StrCat(rule->rule, " (", rule->form, ")");
}

absl::StatusOr<std::vector<RuleStatement>> ReadStatements() {
  std::vector<RuleStatement> statements;
  for (const IndexRule& rule : IndexRules()) {
    ASSAY_ASSIGN_OR_RETURN(RuleStatement statement, ReadStatement(rule));
    statements.push_back(std::move(statement));
  }
  return statements;
}

bool IsInstance(const RuleStatement& statement, const Assignment& values,
                std::string_view forgotten, int64_t most) {
  NumberDomain domain;
  std::vector<int64_t> sizes;
  Meaning<NumberDomain> meaning = Bound(statement, values, forgotten, domain, &sizes);
  const auto fits = [most](int64_t size) { return size >= 0 && size <= most; };
  if (!std::all_of(sizes.begin(), sizes.end(), fits)) return false;
  for (const Term& term : statement.given)
    if (!meaning.Condition(term)) return false;
  for (const StatementClaim& claim : statement.claims) {
    if (claim.IsOfArrays() || claim.name == forgotten) continue;
    if (!meaning.Condition(claim.holds)) return false;
  }
  return fits(meaning.Of(statement.before).size);
}

std::vector<int64_t> ElementsOf(const RuleStatement& statement, const Term& term,
                                const Assignment& values, std::string_view forgotten) {
  NumberDomain domain;
  Meaning<NumberDomain> meaning = Bound(statement, values, forgotten, domain);
  const auto array = meaning.Of(term);
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < array.size; ++i) elements.push_back(array.at(i));
  return elements;
}

absl::StatusOr<HloInstance> BeforeAsHlo(const RuleStatement& statement, const Assignment& values,
                                        std::string_view forgotten) {
  return HloWriter(statement, values, forgotten).Write();
}

}  // namespace assay
