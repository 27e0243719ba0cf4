// assay print: a module in another form, or what a backend made of it.
#include <cstdio>
#include <memory>

#include "absl/strings/escaping.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"
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
  std::string python;     // of the xla backends
  std::string optimized;  // backend
  int64_t limit = -1;
  bool decisions = false;
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
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  return kExitOk;
}

absl::StatusOr<int> PrintOptimized(const Options& options, const Module& module) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                         OpenBackend(options.optimized, options.python));
  CompileOptions compile;
  compile.decision_limit = options.limit;
  absl::StatusOr<std::unique_ptr<Executable>> executable = backend->Compile(module, compile);
  if (!executable.ok()) {
    PrintError(StrCat(options.optimized, ": ", Name(ClassOf(executable.status())), ": ",
                      ToStd(executable.status().message())));
    return kExitFailure;
  }
  if (options.decisions) {
    PrintDecisions((*executable)->decisions(), options.json);
    return kExitOk;
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> optimized, (*executable)->OptimizedModule());
  return PrintModule(*optimized, options);
}

absl::StatusOr<int> Run(const Options& options) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, LoadModule(options.path));
  if (!options.optimized.empty()) return PrintOptimized(options, *module);
  if (options.decisions) {
    return absl::InvalidArgumentError("--decisions needs --optimized BACKEND");
  }
  return PrintModule(*module, options);
}

}  // namespace

void DeclarePrint(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->path, "A module").Required();
  line.Add("--format", options->format,
           "short: as JAX prints; long: with % and signatures; canonical: long without "
           "metadata and comments; proto: the binary HloModuleProto")
      .OneOf({"short", "long", "canonical", "proto"})
      .ShowDefault();
  line.AddFlag("--async-sugar", options->async_sugar,
               "dot-start(...) for an async-start around one dot (short always does)");
  AddBackendOption(line, options->optimized, options->python,
                   "What this backend's passes make of it", "--optimized");
  line.Add("--limit", options->limit, "Refuse the backend's decisions above this number");
  line.AddFlag("--decisions", options->decisions, "List the backend's decisions instead");
  line.AddFlag("--json", options->json, "JSON objects instead");
  action = [options] { return Run(*options); };
}

}  // namespace assay
