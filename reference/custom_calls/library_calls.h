// The meaning of NVIDIA's library calls (spec/library): each is a computation of plain HLO, of
// which a module is made before it is evaluated, so that bounds and licenses come from the ops'
// own. Document: HLO passes, GPU group.
//
// Sums and epilogues are in f32 for narrower floats (s32, then f32, for s8), and rounded once at
// the end; a result of s8 saturates, and drops what stands behind the point as HLO's convert does.
// Workspaces and what stands beside a factor are unspecified; the info of a matrix that is not
// positive definite is 1.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "reference/interpreter/custom_call_functions.h"
#include "spec/ir/module.h"

namespace assay::reference {

// The custom call whose results may be anything; modules that are read may hold it, too.
inline constexpr std::string_view kUnspecifiedTarget = "assay.unspecified";

// A clone in which every library call is a call of its computation. All else keeps its name.
struct ExpandedModule {
  std::unique_ptr<Module> module;             // nullptr where there is no library call
  std::map<std::string, Instruction*> calls;  // by the name of the library call
};
// Calls that `given` has a function for stay. Errors: those of ReadLibraryCall.
absl::StatusOr<ExpandedModule> ExpandLibraryCalls(const Module& module,
                                                  const CustomCallFunctions& given);

}  // namespace assay::reference
