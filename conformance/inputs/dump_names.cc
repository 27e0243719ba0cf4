// Names of dump files: MODULE.before_optimizations.txt,
// MODULE.NNNN.PIPELINE.after_PASS.before_NEXT.txt, MODULE.PLATFORM_after_optimizations.txt and
// MODULE.snapshot.NUMBER.pb, where MODULE is module_NUMBER.NAME and maybe the device.
#include "conformance/inputs/dump_names.h"

#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr std::string_view kFirst = ".before_optimizations", kLast = "after_optimizations";
constexpr std::string_view kEndings[] = {".hlo.pb.gz", ".hlo.pb", ".pb.gz", ".pb",
                                         ".txt",       ".hlo",    ".pbtxt"};

bool IsDecimal(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string WithoutDevice(std::string_view module) {
  const size_t dot = module.rfind('.');
  if (dot == std::string_view::npos || module.find('.') == dot) return std::string(module);
  const std::string_view last = module.substr(dot + 1);
  for (std::string_view platform : {"cpu_", "gpu_", "tpu_", "sm_", "TPU_"}) {
    if (last.starts_with(platform)) return std::string(module.substr(0, dot));
  }
  return std::string(module);
}

size_t FindStateNumber(std::string_view name) {
  for (size_t at = name.find('.'); at != std::string_view::npos; at = name.find('.', at + 1)) {
    size_t end = at + 1;
    while (end < name.size() && IsDecimal(name[end])) ++end;
    if (end - at > 4 && end - at < 12 && end < name.size() && name[end] == '.') return at;
  }
  return std::string_view::npos;
}

DumpedName DumpedNameOf(std::string_view file_name) {
  DumpedName named;
  for (std::string_view ending : kEndings) {
    if (!file_name.ends_with(ending)) continue;
    named.is_binary = ending.find(".pb") != std::string_view::npos && ending != ".pbtxt";
    file_name.remove_suffix(ending.size());
    break;
  }
  if (file_name.ends_with(kFirst)) {
    named.form = DumpedForm::kBefore;
    file_name.remove_suffix(kFirst.size());
    named.module = WithoutDevice(file_name);
    return named;
  }
  if (const size_t dot = file_name.rfind('.');
      file_name.ends_with(kLast) && dot != std::string_view::npos) {
    named.form = DumpedForm::kAfter;
    named.module = WithoutDevice(file_name.substr(0, dot));
    return named;
  }
  const size_t number = FindStateNumber(file_name);
  if (file_name.starts_with("module_") && number != std::string_view::npos) {
    named.form = DumpedForm::kState;
    named.module = WithoutDevice(file_name.substr(0, number));
    return named;
  }
  if (file_name.ends_with(".opt")) file_name.remove_suffix(4);
  named.module = file_name;
  return named;
}

bool IsRunName(std::string_view file_name) {
  const bool is_binary = file_name.ends_with(".pb") || file_name.ends_with(".pb.gz");
  // A function may have the word in its name, and reports lie beside its module.
  const bool is_other = DumpedNameOf(file_name).form != DumpedForm::kNone ||
                        file_name.find("after_optimizations-") != std::string_view::npos;
  return is_binary && !is_other && file_name.find("snapshot") != std::string_view::npos;
}

std::string OwnerOfRun(std::string_view run_name, const std::set<std::string>& modules) {
  std::string owner;
  size_t longest = 0;
  for (const std::string& module : modules) {
    // "jit_f.0.hlo_snapshot.pb": without the module's number.
    const std::string plain =
        module.starts_with("module_") ? module.substr(module.find('.') + 1) : module;
    for (const std::string& start : {module, plain}) {
      if (!run_name.starts_with(StrCat(start, ".")) || start.size() <= longest) continue;
      longest = start.size();
      owner = module;
    }
  }
  return owner;
}

}  // namespace assay
