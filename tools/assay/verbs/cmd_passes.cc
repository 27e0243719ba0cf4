// assay passes: the compiler's passes, and how often each changes a module.
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "conformance/case_files.h"
#include "fuzz/generator/generate.h"
#include "nlohmann/json.hpp"
#include "optimized/passes/fallbacks/kernel_answers.h"
#include "optimized/pipeline/pass_trace.h"
#include "optimized/pipeline/registry.h"
#include "spec/backend/check.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/texts/pass_text.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::vector<std::string> paths;
  uint64_t programs = 0;
  uint64_t seed = 1;
  std::string page;
  bool json = false;
};

// Modules of one source, and those among them that a pass changed.
struct Source {
  std::string name;
  int64_t modules = 0;
  int64_t not_compiled = 0;
  std::map<std::string, int64_t> changed;
  std::map<std::string, int64_t> changed_without_kernels;
  std::map<std::string, int64_t> changed_with_all;  // the passes on request among them
};

// The passes that change the module; an error where the backend does not take it.
absl::StatusOr<std::set<std::string>> ChangingPasses(
    Backend& backend, const Module& module, const std::map<std::string, std::string>& more) {
  CompileOptions compile;
  compile.devices = DevicesOf(module);
  compile.flags = {{"until", "1000000"}, {"trace", "on"}};
  compile.flags.insert(more.begin(), more.end());
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable,
                         backend.Compile(module, compile));
  std::set<std::string> passes;
  for (const PassRecord& record : PassRecordsOf(executable->Statistics())) {
    if (record.changed) passes.insert(record.pass);
  }
  return passes;
}

void Add(Backend& backend, const Module& module, Source& source) {
  const absl::StatusOr<std::set<std::string>> passes = ChangingPasses(backend, module, {});
  const absl::StatusOr<std::set<std::string>> without =
      ChangingPasses(backend, module, {{"refuse", "library"}});
  const absl::StatusOr<std::set<std::string>> all =
      ChangingPasses(backend, module, {{"passes", "all"}});
  if (!passes.ok() || !without.ok() || !all.ok()) {
    ++source.not_compiled;
    return;
  }
  ++source.modules;
  for (const std::string& pass : *passes) ++source.changed[pass];
  for (const std::string& pass : *without) ++source.changed_without_kernels[pass];
  for (const std::string& pass : *all) ++source.changed_with_all[pass];
}

absl::StatusOr<std::vector<Source>> CountAll(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend, OpenBackend("cpu"));
  std::vector<Source> sources;
  for (const std::string& path : options.paths) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<CaseFile> files, FindCases(path));
    Source& source = sources.emplace_back();
    source.name = std::filesystem::path(path).lexically_normal().filename().string();
    std::set<std::string> seen;  // a module may have several recorded runs
    for (const CaseFile& file : files) {
      if (!seen.insert(file.module_path).second) continue;
      ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadCaseModule(file));
      Add(*backend, *module, source);
    }
  }
  if (options.programs == 0) return sources;
  Source& generated = sources.emplace_back();
  generated.name = "generated";
  for (uint64_t i = 0; i < options.programs; ++i) {
    Add(*backend, *GenerateCase(options.seed, i, GeneratorOptions()).module, generated);
  }
  return sources;
}

int64_t In(const std::map<std::string, int64_t>& counts, std::string_view pass) {
  const auto at = counts.find(std::string(pass));
  return at == counts.end() ? 0 : at->second;
}

// Summed over the sources.
int64_t InAll(const std::vector<Source>& sources, std::map<std::string, int64_t> Source::* counts,
              std::string_view pass) {
  int64_t sum = 0;
  for (const Source& source : sources) sum += In(source.*counts, pass);
  return sum;
}
int64_t WithoutKernels(const std::vector<Source>& sources, std::string_view pass) {
  return InAll(sources, &Source::changed_without_kernels, pass);
}
int64_t WithAll(const std::vector<Source>& sources, std::string_view pass) {
  return InAll(sources, &Source::changed_with_all, pass);
}

std::string Page(const Options& options, const std::vector<Source>& sources) {
  std::string command = "assay passes";
  for (const std::string& path : options.paths) StrAppend(&command, " ", path);
  StrAppend(&command, " --programs ", options.programs, " --seed ", options.seed,
            " --page docs/passes.md");
  std::string out =
      StrCat("# Passes\n\nHow many modules each pass of the CPU's pipeline changes. Written by `",
             command, "`. `assay explain --pass NAME` tells\nwhat a pass does, with a case of it; ",
             "`assay print --optimized cpu --passes` what each does to one module.\n\n");
  StrAppend(&out, "| source | modules | not taken by the backend |\n| --- | ---: | ---: |\n");
  for (const Source& source : sources) {
    StrAppend(&out, "| ", source.name, " | ", source.modules, " | ", source.not_compiled, " |\n");
  }
  StrAppend(
      &out,
      "\nThe last columns count the modules of all sources once more: with every native kernel "
      "refused (`cpu:refuse=library`),\nand with all passes, those on request among them "
      "(`cpu:passes=all`).\n\n| pass | runs |");
  std::string rule = "\n| --- | --- |";
  for (const Source& source : sources) {
    StrAppend(&out, " ", source.name, " |");
    StrAppend(&rule, " ---: |");
  }
  StrAppend(&out, " kernels refused | all passes |", rule, " ---: | ---: |\n");
  for (const PassInfo& info : AllPasses()) {
    StrAppend(&out, "| ", info.name, " | ", WhenItRuns(info.name), " |");
    for (const Source& source : sources) StrAppend(&out, " ", In(source.changed, info.name), " |");
    StrAppend(&out, " ", WithoutKernels(sources, info.name), " | ", WithAll(sources, info.name),
              " |\n");
  }
  StrAppend(
      &out,
      "\nOps whose result a kernel of the CPU makes as a whole, what runs where it is refused, "
      "and what stays with the kernel.\n\n| op | gate | instead | stays |\n| --- | --- | --- | "
      "--- |\n");
  for (const KernelAnswer& answer : KernelAnswers()) {
    StrAppend(&out, "| ", Name(answer.opcode), " | ", answer.gate.empty() ? "-" : answer.gate,
              " | ", answer.pass.empty() ? "-" : answer.pass, " | ", answer.none_because, " |\n");
  }
  return out;
}

int PrintCounts(const Options& options, const std::vector<Source>& sources) {
  std::vector<Table::Column> columns = {{"pass"}, {"runs"}};
  for (const Source& source : sources) columns.push_back({source.name, Table::kRight});
  if (!sources.empty()) {
    columns.push_back({"kernels refused", Table::kRight});
    columns.push_back({"all passes", Table::kRight});
  }
  Table table(columns);
  for (const PassInfo& info : AllPasses()) {
    std::vector<std::string> row = {std::string(info.name), WhenItRuns(info.name)};
    nlohmann::json line = {
        {"pass", info.name}, {"meaning", info.meaning}, {"runs", WhenItRuns(info.name)}};
    for (const Source& source : sources) {
      row.push_back(StrCat(In(source.changed, info.name)));
      line["changed"][source.name] = In(source.changed, info.name);
    }
    if (!sources.empty()) {
      row.push_back(StrCat(WithoutKernels(sources, info.name)));
      row.push_back(StrCat(WithAll(sources, info.name)));
      line["changed_without_kernels"] = WithoutKernels(sources, info.name);
      line["changed_with_all_passes"] = WithAll(sources, info.name);
    }
    if (options.json) {
      PrintJson(line);
    } else {
      table.Add(row);
    }
  }
  if (!options.json) Print(table.ToString());
  return kExitOk;
}

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Source> sources, CountAll(options));
  if (options.page.empty()) return PrintCounts(options, sources);
  ASSAY_RETURN_IF_ERROR(WriteFile(options.page, Page(options, sources)));
  return kExitOk;
}

}  // namespace

void DeclarePasses(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->paths, "Modules in which changes are counted");
  line.Add("--programs", options->programs, "Count in so many generated programs, too");
  line.Add("--seed", options->seed, "Of these programs").ShowDefault();
  line.Add("--page", options->page, "Write the counts to this Markdown page");
  line.AddFlag("--json", options->json, "A JSON object per pass instead");
  action = [options] { return Run(*options); };
}

}  // namespace assay
