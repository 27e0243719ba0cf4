// Walks the call graph from the entry and copies what was reached before.
#include "optimized/passes/control_flow/call_graph_flattener.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int64_t kMaxFlattenedInstructions = 1 << 20;

bool CallsAsUnit(Opcode opcode) {
  return opcode == Opcode::kWhile || opcode == Opcode::kConditional || opcode == Opcode::kCall;
}

}  // namespace

absl::StatusOr<bool> CallGraphFlattener::Run(Module& module, PassContext&) {
  int64_t instructions = module.InstructionCount();
  bool changed = false;
  // A copy brings its own callees, which are fresh; so walking from the entry, each call site is
  // looked at once.
  absl::flat_hash_set<const Computation*> taken = {module.entry()};
  std::vector<Computation*> work = {module.entry()};
  while (!work.empty()) {
    Computation* computation = work.back();
    work.pop_back();
    for (Instruction* caller : *computation) {
      if (!CallsAsUnit(caller->opcode())) continue;
      for (int64_t k = 0; k < static_cast<int64_t>(caller->callees().size()); ++k) {
        Computation* callee = caller->callee(k);
        if (!taken.insert(callee).second) {
          const size_t before = module.computations().size();
          callee = module.CloneComputation(*callee);
          for (size_t c = before; c < module.computations().size(); ++c) {
            instructions += module.computations()[c]->instruction_count();
          }
          if (instructions > kMaxFlattenedInstructions) {
            return MakeError(
                ErrorClass::kUnsupported,
                StrCat("cpu: copies of called computations exceed ", kMaxFlattenedInstructions,
                       " instructions at ", caller->name()));
          }
          caller->set_callee(k, callee);
          taken.insert(callee);
          changed = true;
        }
        work.push_back(callee);
      }
    }
  }
  return changed;
}

}  // namespace assay
