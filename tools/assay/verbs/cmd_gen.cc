// assay gen: random programs as text, or what is in them.
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "absl/strings/str_format.h"
#include "fuzz/generator/generate.h"
#include "fuzz/generator/stats.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "spec/text/writer.h"
#include "spec/types/npz.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  uint64_t seed = 1;
  uint64_t index = 0;
  uint64_t count = 1;
  bool portable = false;
  std::string backend;
  std::string python;  // of the xla backends
  GeneratorOptions generator;
  bool stats = false;
  std::string out;
  bool json = false;
};

Case Generate(const Options& options, uint64_t i) {
  return GenerateCase(options.seed, options.index + i, options.generator);
}

int PrintStats(const Options& options) {
  GeneratorStats stats;
  int64_t instructions = 0;
  std::map<Opcode, int64_t> programs_with_op;
  for (uint64_t i = 0; i < options.count; ++i) {
    const Case made = Generate(options, i);
    instructions += made.module->InstructionCount();
    stats.Add(made);
    std::set<Opcode> ops;
    for (const Computation* computation : made.module->computations()) {
      for (const Instruction* instruction : *computation) ops.insert(instruction->opcode());
    }
    for (Opcode op : ops) ++programs_with_op[op];
  }
  const double mean = static_cast<double>(instructions) / static_cast<double>(options.count);
  if (!options.json) {
    Print(StrCat(stats.ToString(), absl::StrFormat("%.1f instructions per program", mean)));
    return kExitOk;
  }
  for (const OpInfo& op : AllOps()) {
    if (!op.IsDefined()) continue;
    nlohmann::json by_type = nlohmann::json::object();
    for (const auto& [op_and_type, programs] : stats.op_types()) {
      if (op_and_type.first == op.opcode) by_type[std::string(Name(op_and_type.second))] = programs;
    }
    PrintJson({{"op", std::string(op.name)},
               {"programs", programs_with_op[op.opcode]},
               {"result_types", by_type.size()},
               {"programs_by_type", by_type}});
  }
  for (size_t i = 0; i < stats.triggers().size(); ++i) {
    const RequirementTrigger& trigger = AllTriggers()[i];
    PrintJson({{"requirement", trigger.requirement},
               {"trigger", std::string(trigger.name)},
               {"programs", stats.triggers()[i]}});
  }
  nlohmann::json largest = nlohmann::json::object();
  for (const auto& [size, programs] : stats.largest_arrays()) largest[StrCat(size)] = programs;
  PrintJson({{"type", "summary"},
             {"programs", options.count},
             {"themes", stats.themes()},
             {"largest_arrays", largest},
             {"op_pairs", stats.op_pairs().size()},
             {"edge_pairs", stats.EdgePairs()},
             {"instructions_per_program", mean}});
  return kExitOk;
}

std::string StemOf(const Options& options, uint64_t i) {
  return StrCat(options.out, "/", options.seed, "-", options.index + i);
}

absl::Status Write(const Options& options, uint64_t i, const Case& made) {
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  const std::string stem = StemOf(options, i);
  ASSAY_RETURN_IF_ERROR(WriteFile(stem + ".hlo", WriteModule(*made.module)));
  return made.inputs.empty() ? absl::OkStatus() : WriteInputs(stem + ".npz", made.inputs);
}

absl::StatusOr<int> Run(const Options& options) {
  if (options.stats) return PrintStats(options);
  for (uint64_t i = 0; i < options.count; ++i) {
    Case made = Generate(options, i);
    nlohmann::json line{{"seed", options.seed},
                        {"index", options.index + i},
                        {"theme", Name(made.theme)},
                        {"instructions", made.module->InstructionCount()}};
    if (options.out.empty()) {
      line["text"] = WriteModule(*made.module);
      if (!options.json) Print(WriteModule(*made.module));
    } else {
      ASSAY_RETURN_IF_ERROR(Write(options, i, made));
      line["path"] = StrCat(StemOf(options, i), ".hlo");
    }
    if (options.json) PrintJson(line);
  }
  if (!options.out.empty() && !options.json) {
    Print(StrCat("wrote ", Count(static_cast<int64_t>(options.count), "program"),
                 " with inputs to ", options.out));
  }
  return kExitOk;
}

}  // namespace

void DeclareGen(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("--seed", options->seed, "Of the campaign").ShowDefault();
  line.Add("--index", options->index, "Of the first program").NonNegative().ShowDefault();
  line.Add("--count", options->count, "How many programs").Positive().ShowDefault();
  line.AddFlag("--foreign", options->portable, "Only what every implementation of HLO promises");
  AddBackendOption(line, options->backend, options->python,
                   "Leave out what it does not take, as its campaigns do");
  line.AddFlag("--stats", options->stats, "Count what is in the programs instead");
  line.Add("-o,--out", options->out, "Write SEED-INDEX.hlo and .npz there");
  line.AddFlag("--json", options->json, "A JSON object per program, or per op with --stats");
  action = [options]() -> absl::StatusOr<int> {
    ASSAY_ASSIGN_OR_RETURN(GeneratorOptions generator,
                           GeneratorFor(options->backend, options->python, options->portable));
    options->generator = generator;
    return Run(*options);
  };
}

}  // namespace assay
