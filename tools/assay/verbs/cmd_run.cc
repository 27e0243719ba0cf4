// assay run: one module, its outputs, and on request which outputs would be right.
#include <algorithm>
#include <map>
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "reference/power/bound_widths.h"
#include "spec/backend/check.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/expectation.h"
#include "spec/text/writer.h"
#include "spec/types/npz.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string path;
  std::string backend = "reference";
  std::string python;  // of the xla backends
  std::string profile;
  std::string save;
  std::string infeed;
  int64_t limit = -1;
  int64_t elements = 64;
  bool bounds = false;
  bool widths = false;
  bool json = false;
  InputOptions inputs;
  LimitOptions limits;
};

std::string ShownValue(const Literal& literal, int64_t limit) {
  if (literal.element_count() > limit) {
    return StrCat("{...} (", Grouped(literal.element_count()),
                  " elements; --elements N shows more, --save F.npz keeps them)");
  }
  return literal.ToString();
}

void PrintBounds(const ArrayExpectation& expectation, const Literal& got, int64_t limit) {
  int64_t count = expectation.plain.element_count();
  if (expectation.AllForced()) {
    Print("    every element has exactly one right answer");
    return;
  }
  Table table({{"element", Table::kRight}, {"allowed"}, {"got"}});
  for (int64_t i = 0; i < std::min(count, limit); ++i) {
    table.Add({std::to_string(i), DescribeAllowed(expectation, i), DescribeElement(got, i)});
  }
  Print(table.ToString(4));
  if (count > limit) Print(StrCat("    ... ", Grouped(count - limit), " more elements"));
}

// "out0" of the only device, "out0_d1" of one of several.
std::string NameOf(std::string_view prefix, size_t number, size_t device, size_t devices) {
  return devices == 1 ? StrCat(prefix, number) : StrCat(prefix, number, "_d", device);
}

struct FinishedRun {
  LoadedCase loaded;
  std::vector<std::vector<Literal>> infeed;  // per device; empty: none
  RunResult result;
  std::map<std::string, double> statistics;
  size_t devices() const { return result.outputs.size(); }
};

// Every output and every array that came out of an outfeed, by name.
std::vector<std::pair<std::string, const Literal*>> Outputs(const FinishedRun& ran) {
  std::vector<std::pair<std::string, const Literal*>> outputs;
  for (size_t d = 0; d < ran.devices(); ++d) {
    size_t next = 0;
    for (const Literal* leaf : Leaves(ran.result.outputs[d]))
      outputs.emplace_back(NameOf("out", next++, d, ran.devices()), leaf);
    if (d >= ran.result.outfeeds.size()) continue;
    next = 0;
    for (const Literal& item : ran.result.outfeeds[d]) {
      for (const Literal* leaf : Leaves(item))
        outputs.emplace_back(NameOf("outfeed", next++, d, ran.devices()), leaf);
    }
  }
  return outputs;
}

absl::Status Save(const std::string& path, const FinishedRun& ran) {
  std::vector<std::pair<std::string, const Literal*>> arrays;
  const auto arguments = ArgumentsByDevice(ran.loaded.arrays);
  for (size_t d = 0; d < arguments.size(); ++d) {
    size_t next = 0;
    for (const Literal* argument : arguments[d]) {
      for (const Literal* leaf : Leaves(*argument))
        arrays.emplace_back(NameOf("in", next++, d, arguments.size()), leaf);
    }
  }
  for (auto& output : Outputs(ran)) arrays.push_back(std::move(output));
  return WriteNpz(path, arrays);
}

// Prints what is allowed and judges; true if nothing is wrong.
bool ShowExpectation(const Options& options, const Expectation& expectation, const Literal& output,
                     std::string_view prefix, size_t device, size_t devices) {
  const Judgement judgement = Judge(expectation, output);
  const std::vector<const Literal*> leaves = Leaves(output);
  for (size_t i = 0; i < expectation.leaves.size() && i < leaves.size(); ++i) {
    Print(StrCat("  ", NameOf(prefix, i, device, devices), " ", leaves[i]->shape().ToString()));
    PrintBounds(expectation.leaves[i], *leaves[i], options.elements);
  }
  if (!expectation.inconclusive.empty()) Print("inconclusive: " + expectation.inconclusive);
  Print(StrCat("verdict: ", Name(judgement.verdict)));
  if (judgement.verdict != Verdict::kFail) return true;
  Print(DescribeFailure(expectation, output, judgement));
  return false;
}

absl::StatusOr<int> ShowBounds(const Options& options, const FinishedRun& ran,
                               const Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const Profile* profile, ChooseProfile(options.profile, &backend));
  std::vector<DeviceInputs> inputs;
  for (std::vector<const Literal*>& arguments : ArgumentsByDevice(ran.loaded.arrays)) {
    inputs.push_back({std::move(arguments), {}});
    if (!ran.infeed.empty()) inputs.back().infeed = ran.infeed[inputs.size() - 1];
  }
  std::unique_ptr<Oracle> oracle = MakeOracle();
  ASSAY_ASSIGN_OR_RETURN(
      auto expected, oracle->ExpectDevices(*ran.loaded.module, ran.loaded.arrays.devices, inputs,
                                           *profile, options.limits.Get()));
  Print(StrCat("allowed under profile ", profile->name(), ":"));
  bool right = true;
  for (size_t d = 0; d < ran.devices(); ++d) {
    right = ShowExpectation(options, expected[d].result, ran.result.outputs[d], "out", d,
                            ran.devices()) &&
            right;
    const std::vector<Expectation>& items = expected[d].outfeed;
    for (size_t i = 0;
         i < items.size() && d < ran.result.outfeeds.size() && i < ran.result.outfeeds[d].size();
         ++i) {
      right = ShowExpectation(options, items[i], ran.result.outfeeds[d][i],
                              StrCat("outfeed", i, "."), d, ran.devices()) &&
              right;
    }
  }
  return right ? kExitOk : kExitFailure;
}

// Shows where the bounds get wide: every instruction, the first useless one marked.
absl::StatusOr<int> ShowWidths(const Options& options, const LoadedCase& loaded,
                               const Profile& profile) {
  const auto arguments = ArgumentsByDevice(loaded.arrays);
  if (arguments.size() != 1) {
    PrintError("--widths follows one device");
    return kExitUsage;
  }
  ASSAY_ASSIGN_OR_RETURN(
      reference::Widths widths,
      reference::MeasureWidths(*loaded.module, arguments[0], profile, options.limits.Get()));
  Table table({{"instruction"},
               {"op"},
               {"elements", Table::kRight},
               {"undecided", Table::kRight},
               {"operands", Table::kRight},
               {"width", Table::kRight},
               {""}});
  bool first = true;
  for (const reference::Width& width : widths.instructions) {
    table.Add({width.instruction->name(), std::string(Name(width.instruction->opcode())),
               Grouped(width.elements), Grouped(width.undecided),
               absl::StrFormat("%.2g", width.of_operands), absl::StrFormat("%.2g", width.relative),
               !width.useless ? ""
               : first        ? "first useless"
                              : "useless"});
    if (width.useless) first = false;
  }
  Print(StrCat("widest radius over root mean square, profile ", profile.name(), ":"));
  Print(table.ToString(2));
  if (!widths.inconclusive.empty()) Print("inconclusive: " + widths.inconclusive);
  return kExitOk;
}

absl::Status RunOn(Backend& backend, const Options& options, FinishedRun& ran) {
  CompileOptions compile;
  compile.limits = options.limits.Get();
  compile.decision_limit = options.limit;
  compile.poison = true;
  compile.devices = ran.loaded.arrays.devices;
  ASSAY_ASSIGN_OR_RETURN(auto executable, backend.Compile(*ran.loaded.module, compile));
  if (!ran.infeed.empty()) {
    ASSAY_RETURN_IF_ERROR(executable->SetInfeed(ran.infeed));
  }
  absl::StatusOr<RunResult> result = RunGuarded(*executable, ArgumentsByDevice(ran.loaded.arrays));
  ran.statistics = executable->Statistics();
  if (result.ok()) ran.result = *std::move(result);
  return result.status();
}

// The result of this run beside the one that stands recorded.
void PrintRecorded(const FinishedRun& ran) {
  const std::vector<Literal>& stored = ran.loaded.arrays.stored;
  const size_t each = stored.size() / ran.devices();
  for (size_t k = 0; k < stored.size(); ++k) {
    const std::vector<const Literal*> leaves = Leaves(ran.result.outputs[k / each]);
    const Literal& given = *leaves[k % each];
    int64_t other = 0;
    for (int64_t i = 0; i < given.element_count(); ++i)
      other += DescribeElement(given, i) == DescribeElement(stored[k], i) ? 0 : 1;
    Print(StrCat(NameOf("out", k % each, k / each, ran.devices()), " as recorded: ",
                 other == 0 ? "the same values"
                            : StrCat(other, " of ", Grouped(given.element_count()),
                                     " elements differ; assay check judges both")));
  }
}

absl::StatusOr<int> Run(const Options& options) {
  FinishedRun ran;
  ASSAY_ASSIGN_OR_RETURN(LoadedCase loaded, LoadCase(options.path, options.inputs));
  ran.loaded = std::move(loaded);
  if (!options.infeed.empty()) {
    ASSAY_ASSIGN_OR_RETURN(ran.infeed, LoadInfeed(options.infeed, ran.loaded.arrays.devices));
  }
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                         OpenBackend(options.backend, options.python, options.limits.timeout));
  if (options.widths) {
    ASSAY_ASSIGN_OR_RETURN(const Profile* profile, ChooseProfile(options.profile, backend.get()));
    return ShowWidths(options, ran.loaded, *profile);
  }
  if (absl::Status status = RunOn(*backend, options, ran); !status.ok()) {
    PrintError(StrCat(options.backend, ": ", Name(ClassOf(status)), ": ", ToStd(status.message())));
    return kExitFailure;
  }
  if (!options.save.empty()) {
    ASSAY_RETURN_IF_ERROR(Save(options.save, ran));
  }
  const std::string& module = ran.loaded.module->name();
  // By the clock of a simulated device, side by side and one launch after the other.
  const auto path = ran.statistics.find("gpu.clock.path"),
             total = ran.statistics.find("gpu.clock.total");
  const bool has_clock = path != ran.statistics.end() && total != ran.statistics.end();
  if (options.json) {
    nlohmann::json outputs = nlohmann::json::array();
    for (const auto& [name, leaf] : Outputs(ran)) {
      outputs.push_back({{"name", name},
                         {"shape", leaf->shape().ToString()},
                         {"value", ShownValue(*leaf, options.elements)}});
    }
    nlohmann::json line = {{"module", module},
                           {"backend", options.backend},
                           {"devices", ran.devices()},
                           {"seconds", ran.result.seconds},
                           {"constants_drawn", ran.loaded.constants_drawn},
                           {"outputs", outputs}};
    if (has_clock) line["clock"] = {{"path", path->second}, {"total", total->second}};
    PrintJson(line);
    return kExitOk;
  }
  Print(StrCat(Styled(Style::kBold, module), " on ", options.backend, ", ",
               ran.devices() == 1 ? "" : StrCat(ran.devices(), " devices, "),
               Seconds(ran.result.seconds), ", ", ran.loaded.inputs));
  if (has_clock) {
    Print(StrCat("simulated clock: ", Seconds(path->second),
                 "; one launch after the other: ", Seconds(total->second)));
  }
  for (const auto& [name, leaf] : Outputs(ran)) {
    Print(StrCat(name, " ", leaf->shape().ToString(), " ", ShownValue(*leaf, options.elements)));
  }
  PrintRecorded(ran);
  return options.bounds ? ShowBounds(options, ran, *backend) : kExitOk;
}

}  // namespace

void DeclareRun(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("PATH", options->path, "A module").Required();
  options->inputs.Declare(line);
  options->inputs.DeclareDevices(line);
  line.Add("--infeed", options->infeed,
           "Arrays item0, item1, ... (of device 1: item0_d1) that infeeds take, in an .npz file");
  AddBackendOption(line, options->backend, options->python, "Who runs it");
  line.AddFlag("--bounds", options->bounds, "Show which answers are right, and judge");
  line.AddFlag("--widths", options->widths,
               "Show per instruction how wide the bounds are, and where they become useless");
  AddProfileOption(line, options->profile, "By which results are bounded (default: the backend's)");
  line.Add("--limit", options->limit, "Refuse the backend's decisions above this number")
      .NonNegative();
  line.Add("--elements", options->elements, "Print at most so many elements of an output")
      .NonNegative()
      .ShowDefault();
  line.Add("--save", options->save, "Write inputs and outputs to an .npz file");
  line.AddFlag("--json", options->json, "One JSON object");
  options->limits.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
