// Lists what can be measured.
#include "conformance/accuracy/subjects.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_split.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay::accuracy {
namespace {

bool IsAmong(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

bool IsElementwise(const OpInfo& op, int arity) {
  return op.IsDefined() && op.family == OpFamily::kElementwise && op.Is(kElementwise) &&
         op.operands.min == arity && op.operands.IsFixed() && op.callees == CalleeForm::kNone;
}

bool HasRequiredAttributes(const OpInfo& op) {
  return std::any_of(op.attributes.begin(), op.attributes.end(),
                     [](const AttrSpec& one) { return one.presence == AttrSpec::kRequired; });
}

// An op whose result has another type than its operands would need another measure.
bool KeepsType(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConvert:
    case Opcode::kStochasticConvert:
    case Opcode::kBitcastConvert:
    case Opcode::kComplex:
    case Opcode::kIsFinite:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kCompare:
      return false;
    default:
      return true;
  }
}

void AddOp(const OpInfo& op, int arity, ElementType type, std::vector<Subject>& subjects) {
  Subject subject;
  subject.name = subject.op = std::string(op.name);
  subject.arity = arity;
  subject.argument = subject.result = type;
  if (IsFloat(type)) {
    subject.function = FindFunction(op.name);
    if (subject.function == nullptr || subject.function->arity != arity) return;
  } else if (IsComplex(type)) {
    subject.kind = SubjectKind::kComplex;
    subject.complex = FindComplexFunction(op.name);
    if (subject.complex == nullptr || subject.complex->arity != arity) return;
    if (subject.complex->is_real) subject.result = ComponentType(type);
  } else {
    if (BitWidth(type) > 8) return;
    subject.kind = SubjectKind::kBits;
  }
  subjects.push_back(std::move(subject));
}

bool IsSwept(ElementType type) {
  return IsArrayType(type) && (IsFloat(type) || IsComplex(type) || BitWidth(type) <= 8);
}

void AddConversions(const SubjectFilter& filter, std::vector<Subject>& subjects) {
  if (!IsAmong(filter.ops, "convert")) return;
  for (const TypeInfo& from : AllTypes()) {
    if (!IsFloat(from.type) || !IsAmong(filter.types, from.name)) continue;
    for (const TypeInfo& to : AllTypes()) {
      if (!IsFloat(to.type) || to.type == from.type) continue;
      Subject subject;
      subject.name = subject.op = "convert";
      subject.function = FindFunction("convert");
      subject.argument = from.type;
      subject.result = to.type;
      subjects.push_back(std::move(subject));
    }
  }
}

}  // namespace

std::string Subject::Name() const {
  const std::string types = argument == result || kind != SubjectKind::kReal
                                ? StrCat(assay::Name(argument))
                                : StrCat(assay::Name(argument), " ", assay::Name(result));
  return StrCat(name, " ", types);
}

std::string Subject::Text(int64_t size) const {
  if (!module.empty()) return module;
  const auto array = [size](ElementType type) { return StrCat(assay::Name(type), "[", size, "]"); };
  std::string text = StrCat("HloModule m\nENTRY e {\n  x = ", array(argument), " parameter(0)\n");
  if (arity == 2) text += StrCat("  y = ", array(argument), " parameter(1)\n");
  return StrCat(text, "  ROOT r = ", array(result), " ", op, arity == 2 ? "(x, y)" : "(x)", "\n}");
}

std::vector<Subject> OpSubjects(const SubjectFilter& filter) {
  std::vector<Subject> subjects;
  for (const OpInfo& op : AllOps()) {
    for (int arity = 1; arity <= 2; ++arity) {
      if (!IsElementwise(op, arity) || HasRequiredAttributes(op) || !KeepsType(op.opcode) ||
          !IsAmong(filter.ops, op.name))
        continue;
      for (const TypeInfo& type : AllTypes()) {
        if (IsSwept(type.type) && Matches(op.types, type.type) && IsAmong(filter.types, type.name))
          AddOp(op, arity, type.type, subjects);
      }
    }
  }
  AddConversions(filter, subjects);
  return subjects;
}

absl::StatusOr<std::vector<Subject>> ModuleSubjects(const std::string& folder,
                                                    const SubjectFilter& filter) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".hlo") paths.push_back(entry.path().string());
  if (error) return absl::NotFoundError(StrCat(folder, ": ", error.message()));
  std::sort(paths.begin(), paths.end());
  std::vector<Subject> subjects;
  for (const std::string& path : paths) {
    const std::string stem = std::filesystem::path(path).stem().string();
    const std::vector<std::string> parts = absl::StrSplit(stem, '.');
    Subject subject;
    subject.function = FindFunction(parts[0]);
    const std::optional<ElementType> type =
        parts.size() == 2 ? ElementTypeFromName(parts[1]) : std::nullopt;
    if (subject.function == nullptr || !type.has_value() || !IsFloat(*type)) {
      return absl::InvalidArgumentError(
          StrCat(path, ": the name says no function and float type, as exp2.f32.hlo does"));
    }
    if (!IsAmong(filter.ops, parts[0]) || !IsAmong(filter.types, parts[1])) continue;
    subject.name = StrCat(kJaxPrefix, parts[0]);
    subject.arity = subject.function->arity;
    subject.argument = subject.result = *type;
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    subject.module = text.str();
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

}  // namespace assay::accuracy
