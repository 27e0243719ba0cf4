// Arguments and results of a recorded run come as literals of any nesting: they are matched leaf by
// leaf.
#include "conformance/inputs/recorded_run.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "conformance/inputs/dump_names.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/files/load_module.h"
#include "spec/types/npz.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

void AppendLeaves(Literal literal, std::vector<Literal>& leaves) {
  if (literal.shape().IsToken()) return;
  if (!literal.shape().IsTuple()) {
    leaves.push_back(std::move(literal));
    return;
  }
  for (const Literal& element : literal.elements()) AppendLeaves(element, leaves);
}

// Shapes the leaves from `next` on as `shape` wants them.
absl::StatusOr<Literal> TakeShape(const Shape& shape, const std::vector<Literal>& leaves,
                                  size_t& next) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) {
      ASSAY_ASSIGN_OR_RETURN(elements.emplace_back(), TakeShape(element, leaves, next));
    }
    return Literal::Tuple(std::move(elements));
  }
  if (shape.IsToken()) return Literal(shape);
  if (next == leaves.size()) {
    return absl::InvalidArgumentError(
        StrCat(leaves.size(), " arrays were recorded, the module takes more"));
  }
  const size_t at = next++;
  if (shape.HasDynamicDimension() && Compatible(leaves[at].shape(), shape)) return leaves[at];
  absl::StatusOr<Literal> literal = AsShape(leaves[at], shape);
  if (literal.ok()) return literal;
  return absl::InvalidArgumentError(
      StrCat("recorded array ", at, ": ", ToStd(literal.status().message())));
}

// The file in binary form beside a text of the same name; "": there is none.
std::string BinaryBeside(const std::string& path) {
  const std::filesystem::path text = path;
  for (const char* ending : {".hlo.pb", ".hlo.pb.gz"}) {
    std::filesystem::path binary = text;
    binary.replace_extension(ending);
    std::error_code error;
    if (binary != text && std::filesystem::exists(binary, error)) return binary.string();
  }
  return "";
}

bool HasElidedConstant(const Module& module) {
  for (const Computation* computation : module.computations())
    for (const Instruction* instruction : *computation)
      if (instruction->opcode() == Opcode::kConstant && instruction->literal() == nullptr)
        return true;
  return false;
}

absl::Status StillMissing(const std::string& path, const std::string& missing,
                          const std::string& source) {
  return absl::InvalidArgumentError(
      StrCat(path, ": the text leaves out the elements of ", missing, ", and ", source,
             " has no constant of that name and shape; XLA writes them with "
             "--xla_dump_large_constants or --xla_dump_hlo_as_proto"));
}

}  // namespace

absl::StatusOr<Snapshot> ReadRecordedRun(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Snapshot> run = ReadSnapshot(bytes);
  if (run.ok()) return run;
  return absl::Status(run.status().code(), StrCat(path, ": ", ToStd(run.status().message())));
}

bool HoldsRecordedRun(const std::string& path) {
  const absl::StatusOr<Snapshot> run = ReadRecordedRun(path);
  if (!run.ok()) return false;
  if (run->result.has_value()) return true;
  for (const std::vector<Literal>& arguments : run->arguments)
    if (!arguments.empty()) return true;
  return false;
}

absl::StatusOr<RecordedArrays> FitRecordedRun(const Module& module, Snapshot run) {
  RecordedArrays arrays;
  if (run.arguments.empty()) run.arguments.emplace_back();
  arrays.devices = run.arguments.size();
  for (std::vector<Literal>& arguments : run.arguments) {
    std::vector<Literal> leaves;
    for (Literal& argument : arguments) AppendLeaves(std::move(argument), leaves);
    size_t next = 0;
    for (const Instruction* parameter : module.entry()->parameters()) {
      ASSAY_ASSIGN_OR_RETURN(arrays.arguments.emplace_back(),
                             TakeShape(parameter->shape(), leaves, next));
    }
    if (next < leaves.size()) {
      return absl::InvalidArgumentError(
          StrCat(leaves.size(), " arrays were recorded, the module takes ", next));
    }
  }
  if (!run.result.has_value()) return arrays;
  std::vector<Literal> leaves;
  AppendLeaves(*std::move(run.result), leaves);
  size_t next = 0;
  ASSAY_ASSIGN_OR_RETURN(const Literal result,
                         TakeShape(module.entry()->root()->shape(), leaves, next));
  if (next < leaves.size()) {
    return absl::InvalidArgumentError(
        StrCat("the recorded result has ", leaves.size(), " arrays, that of the module ", next));
  }
  AppendLeaves(result, arrays.result);
  return arrays;
}

bool FillConstants(Module& module, const Module& source, std::string* missing) {
  missing->clear();
  std::map<std::string, const Instruction*> constants;
  for (const Computation* computation : source.computations()) {
    for (const Instruction* instruction : *computation) {
      if (instruction->opcode() == Opcode::kConstant && instruction->literal() != nullptr)
        constants.emplace(instruction->name(), instruction);
    }
  }
  for (Computation* computation : module.computations()) {
    for (Instruction* instruction : *computation) {
      if (instruction->opcode() != Opcode::kConstant || instruction->literal() != nullptr) continue;
      const auto found = constants.find(instruction->name());
      absl::StatusOr<Literal> value = absl::NotFoundError("");
      if (found != constants.end() && Compatible(found->second->shape(), instruction->shape()))
        value = AsShape(*found->second->literal(), instruction->shape());
      if (value.ok()) {
        instruction->set_literal(std::make_shared<const Literal>(*std::move(value)));
      } else if (missing->empty()) {
        *missing = instruction->name();
      }
    }
  }
  return missing->empty();
}

absl::StatusOr<std::unique_ptr<Module>> LoadDumpedModule(const std::string& path,
                                                         const std::string& run_path) {
  absl::StatusOr<std::unique_ptr<Module>> module = LoadModule(path);
  if (module.ok()) return module;
  absl::StatusOr<std::unique_ptr<Module>> unverified = LoadUnverifiedModule(path);
  if (!unverified.ok() || !HasElidedConstant(**unverified)) return module;
  std::string missing, source;
  for (const std::string& from : {BinaryBeside(path), run_path}) {
    if (from.empty()) continue;
    const absl::StatusOr<Snapshot> run = ReadRecordedRun(from);
    if (!run.ok() || run->module == nullptr) continue;
    source = from;
    if (!FillConstants(**unverified, *run->module, &missing)) continue;
    ASSAY_RETURN_IF_ERROR(Verify(**unverified));
    return unverified;
  }
  return source.empty() ? module.status() : StillMissing(path, missing, source);
}

}  // namespace assay
