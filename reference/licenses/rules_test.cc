// Every rule is held against the ordinary evaluation of both of its forms.
#include "reference/licenses/rules.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "absl/strings/str_join.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/strings.h"
#include "spec/numerics/expectation.h"
#include "spec/ops/op_table.h"
#include "spec/text/reader.h"

namespace assay::reference {
namespace {

constexpr int kCount = 64;

// Writes terms as the text of a module.
class TermWriter {
 public:
  std::string Module(const Term& term, std::string_view type) {
    const std::string root = Write(term, type);
    return StrCat("HloModule m\nENTRY e {\n", lines_, "  ROOT r = (", Shape(type), ") tuple(", root,
                  ")\n}\n");
  }
  // The letters of the parameters, in order.
  const std::string& letters() const { return letters_; }

 private:
  static std::string Shape(std::string_view type) { return StrCat(type, "[", kCount, "]"); }
  static std::string_view OperandType(const Term& term, size_t k, std::string_view type) {
    switch (term.opcode) {
      case Opcode::kComplex:
        return "f32";
      case Opcode::kReal:
      case Opcode::kImag:
        return "c64";
      case Opcode::kConvert:
        return type == "f32" ? "f64" : "f32";
      case Opcode::kBitcastConvert:
        return type == "f32" ? "u32" : "f32";
      default:
        return term.opcode == Opcode::kSelect && k == 0 ? "pred" : type;
    }
  }
  std::string Write(const Term& term, std::string_view type) {
    const std::string name = StrCat("v", next_++);
    if (term.kind == Term::kVariable) {
      const std::string variable(1, term.variable);
      if (letters_.find(term.variable) == std::string::npos) {
        lines_ += StrCat("  ", variable, " = ", Shape(type), " parameter(", letters_.size(), ")\n");
        letters_ += variable;
      }
      return variable;
    }
    if (term.kind == Term::kNumber) {
      lines_ += StrCat("  ", name, "s = ", type, "[] constant(", term.number, ")\n  ", name, " = ",
                       Shape(type), " broadcast(", name, "s), dimensions={}\n");
      return name;
    }
    std::vector<std::string> operands;
    for (size_t k = 0; k < term.operands.size(); ++k)
      operands.push_back(Write(term.operands[k], OperandType(term, k, type)));
    lines_ += StrCat("  ", name, " = ", Shape(type), " ", Name(term.opcode), "(",
                     absl::StrJoin(operands, ", "), ")\n");
    return name;
  }

  std::string lines_, letters_;
  int next_ = 0;
};

// A module, and the letters of its parameters.
struct Written {
  std::unique_ptr<Module> module;
  std::string letters;
};

Written Write(std::string_view text) {
  const Term term = ReadTerm(text);
  TermWriter writer;
  const bool is_complex = term.opcode == Opcode::kComplex;
  const std::string module = writer.Module(term, is_complex ? "c64" : "f32");
  absl::StatusOr<std::unique_ptr<Module>> read = ReadModule(module);
  EXPECT_TRUE(read.ok()) << module << read.status();
  return {*std::move(read), writer.letters()};
}

// Positive numbers, the same for a letter each time.
std::vector<Literal> InputsOf(const Written& written) {
  std::vector<Literal> inputs;
  for (size_t p = 0; p < written.letters.size(); ++p) {
    std::mt19937 random(static_cast<uint32_t>(written.letters[p]));
    Literal input(written.module->entry()->parameter(static_cast<int64_t>(p))->shape());
    std::uniform_real_distribution<float> numbers(0.25f, 8.0f);
    for (int64_t i = 0; i < input.component_count(); ++i) {
      const bool is_predicate = input.element_type() == ElementType::kPred;
      input.SetComponentBits(
          i, is_predicate ? random() % 2 : std::bit_cast<uint32_t>(numbers(random)));
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::vector<const Literal*> Pointers(const std::vector<Literal>& literals) {
  std::vector<const Literal*> pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  return pointers;
}

TEST(Rules, FormsOfAClauseAreWithinItsBounds) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  int64_t unlicensed = 0;
  for (const FormRule& rule : FormRules()) {
    SCOPED_TRACE(rule.before);
    ASSERT_TRUE(Profile::Xla().Grants(rule.clause));
    const Written before = Write(rule.before), after = Write(rule.after);
    const std::vector<Literal> inputs = InputsOf(before), others = InputsOf(after);
    const auto expected =
        oracle->Expect(*before.module, Pointers(inputs), Profile::Xla(), Limits());
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto got = oracle->Evaluate(*after.module, Pointers(others), Limits());
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(Judge(*expected, *got).verdict, Verdict::kPass);
    const auto strict =
        oracle->Expect(*before.module, Pointers(inputs), Profile::Strict(), Limits());
    ASSERT_TRUE(strict.ok()) << strict.status();
    if (Judge(*strict, *got).verdict == Verdict::kFail) ++unlicensed;
  }
  EXPECT_GE(unlicensed, 9) << "without the clauses these forms are failures";
}

TEST(Rules, UnchangedValuesAreEqual) {
  const std::unique_ptr<Oracle> oracle = MakeOracle();
  int64_t contractions = 0;
  for (const UnchangedRule& rule : UnchangedRules()) {
    SCOPED_TRACE(rule.before);
    if (rule.condition == UnchangedRule::kOneTerm) {  // whose attributes a term does not say
      ++contractions;
      continue;
    }
    const Written before = Write(rule.before);
    const std::vector<Literal> inputs = InputsOf(before);
    const auto got = oracle->Evaluate(*before.module, Pointers(inputs), Limits());
    ASSERT_TRUE(got.ok()) << got.status();
    const Literal& result = got->elements()[0];
    const Literal& x = inputs[before.letters.find('x')];
    ASSERT_EQ(result.shape(), x.shape());
    for (int64_t i = 0; i < x.component_count(); ++i)
      ASSERT_EQ(result.GetComponent(i), x.GetComponent(i)) << i;
  }
  EXPECT_EQ(contractions, 4);
}

}  // namespace
}  // namespace assay::reference
