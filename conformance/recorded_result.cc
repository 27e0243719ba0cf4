// The oracle judges the result; a wrong array is followed back to what leads to it.
#include "conformance/recorded_result.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "conformance/module_check.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/writer.h"
#include "spec/types/npz.h"

namespace assay {
namespace {

// Makes leaf `number` of the entry's result the whole of it. False: the result is made as a whole.
bool KeepLeaf(Module& module, size_t number) {
  Instruction* root = module.entry()->root();
  if (!root->shape().IsTuple()) return number == 0;
  const bool is_flat = root->opcode() == Opcode::kTuple &&
                       LeafCount(root->shape()) == root->operand_count() &&
                       static_cast<int64_t>(number) < root->operand_count();
  if (!is_flat) return false;
  module.config().entry_layout = nullptr;
  module.entry()->set_root(root->operand(static_cast<int64_t>(number)));
  module.entry()->RemoveWithDeadOperands(root);
  return module.RemoveUnusedComputations().ok();
}

std::vector<std::pair<std::string, const Literal*>> ArraysOf(const CaseArrays& arrays,
                                                             const Literal* result) {
  std::vector<std::pair<std::string, const Literal*>> named;
  size_t next = 0;
  for (const Literal& argument : arrays.arguments)
    for (const Literal* leaf : Leaves(argument)) named.emplace_back(StrCat("in", next++), leaf);
  next = 0;
  if (result != nullptr) {
    named.emplace_back("out0", result);
    return named;
  }
  for (const Literal& leaf : arrays.stored) named.emplace_back(StrCat("out", next++), &leaf);
  return named;
}

// The number of the first stored array outside its bounds; that of the last if none is.
absl::StatusOr<size_t> FirstWrong(const Module& module, const CaseArrays& arrays, Oracle& oracle,
                                  const Profile& profile, const Limits& limits) {
  const CheckCase c = CaseOf(module, arrays);
  ASSAY_ASSIGN_OR_RETURN(const CaseExpectation expected, ExpectOn(oracle, c, profile, limits));
  const std::vector<ArrayExpectation>& leaves = expected.results.leaves;
  size_t number = 0;
  for (; number + 1 < arrays.stored.size() && number < leaves.size(); ++number) {
    Expectation one;
    one.leaves.push_back(leaves[number]);
    if (Judge(one, arrays.stored[number]).verdict == Verdict::kFail) break;
  }
  return number;
}

}  // namespace

std::optional<Outcome> JudgeRecorded(const CaseFile& file, Oracle& oracle, const Profile& profile,
                                     const Limits& limits) {
  if (file.arrays_path.empty()) return std::nullopt;
  CheckOptions options;
  options.profile = &profile;
  options.compile.limits = limits;
  options.cut = CutMode::kOff;
  const ModuleResult result = CheckModuleIsolated(file, oracle, {}, options);
  for (const SubjectResult& subject : result.subjects)
    if (subject.subject == "stored") return subject.outcome;
  return std::nullopt;
}

std::string WrongRecord(const CaseFile& file, const std::string& backend) {
  return StrCat("the result recorded in ", file.arrays_path, " is wrong, and ", backend,
                " is right on the same inputs");
}

absl::StatusOr<RecordedPart> WriteWrongPart(const CaseFile& file, Oracle& oracle,
                                            const Profile& profile, const Limits& limits,
                                            const std::string& folder) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, LoadCaseModule(file));
  ASSAY_ASSIGN_OR_RETURN(const CaseArrays arrays, LoadArrays(*module, file.arrays_path, 1));
  RecordedPart part;
  part.of = module->InstructionCount();
  const Literal* result = nullptr;
  if (arrays.devices.replicas * arrays.devices.partitions == 1) {
    ASSAY_ASSIGN_OR_RETURN(const size_t number,
                           FirstWrong(*module, arrays, oracle, profile, limits));
    std::unique_ptr<Module> clone = module->Clone("");
    if (KeepLeaf(*clone, number)) {
      module = std::move(clone);
      part.output = static_cast<int64_t>(number);
      result = &arrays.stored[number];
    }
  }
  part.instructions = module->InstructionCount();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path = (std::filesystem::path(folder) / (file.name + ".recorded")).string();
  part.path = path + ".hlo";
  ASSAY_RETURN_IF_ERROR(WriteFile(part.path, WriteModule(*module, WriteOptions::Long())));
  ASSAY_RETURN_IF_ERROR(WriteNpz(path + ".npz", ArraysOf(arrays, result)));
  return part;
}

}  // namespace assay
