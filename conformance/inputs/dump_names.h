// The names that compilers of XLA's family give to the files of a dump: modules before and after
// optimizations, states between passes, and runs that were recorded. Only names are read here.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace assay {

// "module_0001.jit_f.cpu_0" and "module_0001.jit_f" are one module: devices and platforms are left
// out.
std::string WithoutDevice(std::string_view module);

// The position of ".NNNN.", the number of a state between passes, behind "module_NNNN"; npos: there
// is none.
size_t FindStateNumber(std::string_view name);

enum class DumpedForm : uint8_t {
  kNone,    // no name of a dump's module
  kBefore,  // before optimizations
  kAfter,   // after them
  kState,   // between passes
};

// The parts of a dumped file's name.
struct DumpedName {
  DumpedForm form = DumpedForm::kNone;
  std::string module;  // "module_0001.jit_f"; of a name of no dump the name without its ending
  bool is_binary = false;
};
DumpedName DumpedNameOf(std::string_view file_name);

// True for a file of a recorded run by its name: "module_0001.jit_f.snapshot.123.pb",
// "jit_f.0.hlo_snapshot.pb", "module_0001.jit_f.execution_0000.hlo_unoptimized_snapshot.pb".
bool IsRunName(std::string_view file_name);

// Which of `modules` the recorded run belongs to: the longest that its name begins with, with or
// without the module's number; "": none.
std::string OwnerOfRun(std::string_view run_name, const std::set<std::string>& modules);

}  // namespace assay
