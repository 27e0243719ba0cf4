// assay print: a module in another form, or what a backend made of it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "conformance/case_files.h"
#include "nlohmann/json.hpp"
#include "optimized/pipeline/pass_trace.h"
#include "optimized/pipeline/stages.h"
#include "optimized/plan/program_plan.h"
#include "spec/backend/check.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"
#include "spec/proto/module_proto.h"
#include "spec/text/writer.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string path;
  std::string format = "long";
  std::string python;                          // of the xla backends
  std::string optimized;                       // backend
  std::string stop_after, without, dump_each;  // options of the backend
  std::string run;                             // passes, joined by commas
  int64_t limit = -1;
  bool decisions = false;
  bool passes = false;
  bool plan = false;
  bool llvm = false, ptx = false;  // the code of its kernels
  bool async_sugar = false;
  bool json = false;
};

WriteOptions FormOf(const std::string& format, bool async_sugar) {
  if (format == "short") return WriteOptions::Short();
  WriteOptions options = WriteOptions::Long();
  options.async_sugar = async_sugar;
  if (format == "canonical") {
    options.metadata = false;
    options.index_comments = false;
  }
  return options;
}

void PrintDecisions(const std::vector<Decision>& decisions, bool json) {
  for (const Decision& decision : decisions) {
    if (!json) break;
    PrintJson({{"number", decision.number},
               {"kind", Name(decision.kind)},
               {"rule", decision.rule},
               {"where", decision.where},
               {"taken", decision.taken}});
  }
  if (json) return;
  Table table({{"number", Table::kRight}, {"kind"}, {"rule"}, {"where"}, {"taken"}});
  for (const Decision& decision : decisions) {
    table.Add({std::to_string(decision.number), std::string(Name(decision.kind)), decision.rule,
               decision.where, decision.taken ? "yes" : "refused"});
  }
  Print(table.ToString());
}

// "3 constant-folding, 1 cse": decisions by rule, those refused in brackets; first met first.
std::string ByRule(absl::Span<const Decision> decisions) {
  struct Count {
    std::string_view rule;
    bool taken;
    int64_t count;
  };
  std::vector<Count> counts;
  for (const Decision& decision : decisions) {
    auto at = std::find_if(counts.begin(), counts.end(), [&](const Count& each) {
      return each.rule == decision.rule && each.taken == decision.taken;
    });
    if (at == counts.end()) at = counts.insert(at, {decision.rule, decision.taken, 0});
    ++at->count;
  }
  std::string text;
  for (const auto& [rule, taken, count] : counts) {
    StrAppend(&text, text.empty() ? "" : ", ", count, " ", rule, taken ? "" : " (refused)");
  }
  return text;
}

// Tells the size of the compiled program: its kernels, the bytes that they move, its memory.
void PrintProgramSize(const std::map<std::string, double>& statistics, bool json) {
  const auto count = [&](const char* key) {
    const auto found = statistics.find(key);
    return found == statistics.end() ? int64_t{0} : static_cast<int64_t>(found->second);
  };
  const int64_t kernels = count("kernels"), moved = count("bytes.moved"),
                arena = count("arena.bytes"), constants = count("constants.bytes");
  if (json) {
    PrintJson({{"kernels", kernels},
               {"bytes_moved", moved},
               {"arena_bytes", arena},
               {"constant_bytes", constants}});
  } else {
    Print(StrCat("kernels ", Grouped(kernels), ", bytes moved ", Grouped(moved), ", arena ",
                 Grouped(arena), " bytes, constants ", Grouped(constants), " bytes\n"));
  }
}

// Why single decisions were made, under the name of the pass that made them.
void PrintReasons(const Executable& executable, bool json) {
  const auto* planned = dynamic_cast<const PlannedExecutable*>(&executable);
  if (planned == nullptr) return;
  std::string pass;
  for (const PassReason& reason : planned->reasons()) {
    if (json) {
      PrintJson({{"pass", reason.pass}, {"reason", reason.line}});
      continue;
    }
    if (reason.pass != pass) Print(StrCat(reason.pass, ":\n"));
    pass = reason.pass;
    Print(StrCat("  ", reason.line, "\n"));
  }
}

// A line per pass, in the order of running.
absl::StatusOr<int> PrintPasses(const Executable& executable, const Options& options) {
  const std::vector<PassRecord> records = PassRecordsOf(executable.Statistics());
  if (records.empty()) {
    return absl::InvalidArgumentError(
        StrCat("backend ", options.optimized, " tells nothing of its passes; cpu does"));
  }
  absl::Span<const Decision> rest = executable.decisions();
  Table table({{"pass"}, {"module"}, {"ms", Table::kRight}, {"decisions"}});
  for (const PassRecord& record : records) {
    const auto count = static_cast<size_t>(record.decisions);
    const std::string rules = ByRule(rest.subspan(0, count));
    rest = rest.subspan(std::min(count, rest.size()));
    if (options.json) {
      PrintJson({{"pass", record.pass},
                 {"changed", record.changed},
                 {"decisions", record.decisions},
                 {"rules", rules},
                 {"seconds", record.seconds}});
      continue;
    }
    char milliseconds[32];
    std::snprintf(milliseconds, sizeof(milliseconds), "%.2f", record.seconds * 1e3);
    table.Add({record.pass, record.changed ? "changed" : "unchanged", milliseconds, rules});
  }
  if (!options.json) Print(table.ToString());
  PrintReasons(executable, options.json);
  if (executable.Statistics().contains("kernels")) {
    PrintProgramSize(executable.Statistics(), options.json);
  }
  return kExitOk;
}

// A line per step of the compiled program, in the order of running; callees come first.
absl::StatusOr<int> PrintPlan(const Executable& executable, const Options& options) {
  const auto* planned = dynamic_cast<const PlannedExecutable*>(&executable);
  if (planned == nullptr) {
    return absl::InvalidArgumentError(
        StrCat("backend ", options.optimized, " tells nothing of its plan; cpu does"));
  }
  Table table({{"computation"}, {"step"}, {"plan"}, {"reads"}, {"writes"}});
  for (const StepText& step : planned->plan()) {
    if (options.json) {
      PrintJson({{"computation", step.frame},
                 {"step", step.step},
                 {"op", step.op},
                 {"plan", step.plan},
                 {"reads", step.reads},
                 {"writes", step.writes}});
      continue;
    }
    table.Add({step.frame, step.step, step.plan, step.reads, step.writes});
  }
  if (!options.json) Print(table.ToString());
  return kExitOk;
}

// The binary form goes out as it is, in JSON in base 64.
absl::StatusOr<int> PrintModule(const Module& module, const Options& options) {
  nlohmann::json line{{"module", module.name()}, {"format", options.format}};
  if (options.format != "proto") {
    const std::string text = WriteModule(module, FormOf(options.format, options.async_sugar));
    line["text"] = text;
    if (options.json) {
      PrintJson(line);
    } else {
      Print(text);
    }
    return kExitOk;
  }
  ASSAY_ASSIGN_OR_RETURN(std::string bytes, WriteModuleProto(module));
  if (options.json) {
    line["base64"] = absl::Base64Escape(bytes);
    PrintJson(line);
    return kExitOk;
  }
  PrintBytes(bytes);
  return kExitOk;
}

// The backend's name with the options for its passes behind it. `code`: a folder for what
// --llvm or --ptx show.
std::string BackendOf(const Options& options, const std::string& code) {
  std::string name = options.optimized;
  if (!options.run.empty()) {
    return StrCat("passes:run=", absl::StrReplaceAll(options.run, {{",", "+"}}));
  }
  for (const auto& [key, value] :
       {std::pair("stop-after", options.stop_after), std::pair("without", options.without),
        std::pair("dump-passes", options.dump_each),
        std::pair("dump-llvm", options.llvm ? code : std::string()),
        std::pair("dump-ptx", options.ptx ? code : std::string())}) {
    if (value.empty()) continue;
    StrAppend(&name, name.find(':') == std::string::npos ? ":" : ",", key, "=", value);
  }
  return name;
}

// The files of a folder, in order of their names.
absl::StatusOr<int> PrintCode(const std::string& folder, const Options& options) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    files.push_back(file.path());
  }
  if (files.empty()) {
    return absl::InvalidArgumentError(
        StrCat("backend ", options.optimized, " made no code; cpu and gpu-sim do"));
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    if (options.json) {
      PrintJson({{"file", file.filename().string()}, {"text", text.str()}});
    } else {
      Print(text.str());
    }
  }
  return kExitOk;
}

// The list of a backend's passes, without a module.
absl::StatusOr<int> PrintPipeline(const Options& options) {
  const std::string family = options.optimized.substr(0, options.optimized.find(':'));
  const bool is_gpu = family == "gpu-sim" || family == "gpu";
  if (!options.passes || (!is_gpu && family != "cpu")) {
    return absl::InvalidArgumentError(
        "print needs a PATH; without one it lists passes: --passes --optimized cpu or gpu-sim");
  }
  Table table({{"pass"}, {"stage"}, {"runs"}});
  for (const ListedStep& step : ListPipeline(is_gpu ? kOnGpu : kOnCpu)) {
    const std::string runs = step.is_fixed_point ? "until nothing changes"
                             : step.condition.empty()
                                 ? ""
                                 : StrCat("where a module has ", step.condition);
    if (options.json) {
      PrintJson({{"pass", step.pass},
                 {"stage", Name(step.stage)},
                 {"depth", step.depth},
                 {"runs", runs}});
      continue;
    }
    table.Add({StrCat(std::string(2 * static_cast<size_t>(step.depth), ' '), step.pass),
               std::string(Name(step.stage)), runs});
  }
  if (!options.json) Print(table.ToString());
  return kExitOk;
}

absl::StatusOr<int> PrintOptimized(const Options& options, const Module& module) {
  const TemporaryFolder code("print-code");
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                         OpenBackend(BackendOf(options, code.path()), options.python));
  CompileOptions compile;
  compile.decision_limit = options.limit;
  compile.devices = DevicesOf(module);
  if (options.passes || options.plan) compile.flags["trace"] = "on";
  absl::StatusOr<std::unique_ptr<Executable>> executable = backend->Compile(module, compile);
  if (!executable.ok()) {
    PrintError(StrCat(BackendOf(options, ""), ": ", Name(ClassOf(executable.status())), ": ",
                      ToStd(executable.status().message())));
    return kExitFailure;
  }
  if (options.llvm || options.ptx) return PrintCode(code.path(), options);
  if (options.passes) return PrintPasses(**executable, options);
  if (options.plan) return PrintPlan(**executable, options);
  if (options.decisions) {
    PrintDecisions((*executable)->decisions(), options.json);
    return kExitOk;
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> optimized, (*executable)->OptimizedModule());
  return PrintModule(*optimized, options);
}

absl::StatusOr<int> Run(const Options& options) {
  if (options.path.empty()) return PrintPipeline(options);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<CaseFile> files, FindCases(options.path));
  const CaseFile& file = files.front();
  if (files.back().module_path != file.module_path)
    return absl::InvalidArgumentError(StrCat(options.path, " is a folder; name one module"));
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, LoadCaseModule(file));
  if (file.IsRecorded() && !options.json && options.format != "proto")
    Print(StrCat("// ", file.DescribeInputs(0), ", which check, run, reduce and blame take"));
  if (!options.run.empty() && !options.optimized.empty()) {
    return absl::InvalidArgumentError("--run names all passes that run; leave --optimized out");
  }
  if (!options.optimized.empty() || !options.run.empty()) return PrintOptimized(options, *module);
  for (const auto& [flag, is_given] :
       {std::pair("--passes", options.passes), std::pair("--plan", options.plan),
        std::pair("--decisions", options.decisions), std::pair("--llvm", options.llvm),
        std::pair("--ptx", options.ptx)}) {
    if (!is_given) continue;
    return absl::InvalidArgumentError(StrCat(flag, " needs --optimized BACKEND or --run PASSES"));
  }
  if (!BackendOf(options, "").empty()) {
    return absl::InvalidArgumentError(
        "--stop-after, --without and --dump-each need --optimized BACKEND");
  }
  return PrintModule(*module, options);
}

}  // namespace

void DeclarePrint(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->path, "A module; with --passes it may be left out");
  line.Add("--format", options->format,
           "short: as JAX prints; long: with % and signatures; canonical: long without "
           "metadata and comments; proto: the binary HloModuleProto")
      .OneOf({"short", "long", "canonical", "proto"})
      .ShowDefault();
  line.AddFlag("--async-sugar", options->async_sugar,
               "dot-start(...) for an async-start around one dot (short always does)");
  AddBackendOption(line, options->optimized, options->python,
                   "What this backend's passes make of it", "--optimized");
  line.Add("--limit", options->limit, "Refuse the backend's decisions above this number")
      .NonNegative();
  line.AddFlag("--decisions", options->decisions, "List the backend's decisions instead");
  line.AddFlag("--passes", options->passes,
               "List the backend's passes instead: what each changed, decided and took");
  line.Add("--run", options->run,
           "Run exactly these passes in this order, as in cse,dce (explain --pass lists them)");
  line.Add("--stop-after", options->stop_after, "Run the passes up to this one alone (of cpu)");
  line.Add("--without", options->without, "Leave this pass out; several are joined by + (of cpu)");
  line.Add("--dump-each", options->dump_each,
           "A folder for the module after each pass that changed it (of cpu)");
  line.AddFlag("--plan", options->plan,
               "List the steps that the backend's program takes instead: what each kernel is made "
               "of, reads and writes");
  line.AddFlag("--llvm", options->llvm, "The LLVM IR of its kernels instead (of cpu, gpu-sim)");
  line.AddFlag("--ptx", options->ptx, "The PTX of its kernels instead (of gpu-sim)");
  line.AddFlag("--json", options->json, "JSON objects instead");
  action = [options] { return Run(*options); };
}

}  // namespace assay
