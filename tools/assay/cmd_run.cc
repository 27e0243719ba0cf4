// assay run: one module, its outputs, and on request which outputs would be right.
#include <algorithm>
#include <memory>

#include "reference/interpreter.h"
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
  std::string profile;
  std::string save;
  int64_t limit = -1;
  int64_t elements = 64;
  bool bounds = false;
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

absl::Status Save(const std::string& path, const LoadedCase& loaded,
                  const std::vector<const Literal*>& outputs) {
  std::vector<std::pair<std::string, const Literal*>> arrays;
  int64_t next = 0;
  for (const Literal& argument : loaded.arrays.arguments) {
    for (const Literal* leaf : Leaves(argument)) arrays.emplace_back(StrCat("in", next++), leaf);
  }
  next = 0;
  for (const Literal* leaf : outputs) arrays.emplace_back(StrCat("out", next++), leaf);
  return WriteNpz(path, arrays);
}

int ShowBounds(const Options& options, const LoadedCase& loaded, const Backend& backend,
               const Literal& output) {
  absl::StatusOr<const Profile*> profile = ChooseProfile(options.profile, &backend);
  if (!profile.ok()) return Fail(profile.status());
  std::unique_ptr<Oracle> oracle = MakeOracle();
  absl::StatusOr<Expectation> expectation = oracle->Expect(
      *loaded.module, Pointers(loaded.arrays.arguments), **profile, options.limits.Get());
  if (!expectation.ok()) return Fail(expectation.status());
  Judgement judgement = Judge(*expectation, output);
  std::vector<const Literal*> leaves = Leaves(output);
  Print(StrCat("allowed under profile ", (*profile)->name(), ":"));
  for (size_t i = 0; i < expectation->leaves.size(); ++i) {
    Print(StrCat("  out", i, " ", leaves[i]->shape().ToString()));
    PrintBounds(expectation->leaves[i], *leaves[i], options.elements);
  }
  if (!expectation->inconclusive.empty()) Print("inconclusive: " + expectation->inconclusive);
  Print(StrCat("verdict: ", Name(judgement.verdict)));
  if (judgement.verdict == Verdict::kFail) {
    Print(DescribeFailure(*expectation, output, judgement));
    return kExitFailure;
  }
  return kExitOk;
}

int Run(const Options& options) {
  absl::StatusOr<LoadedCase> loaded = LoadCase(options.path, options.inputs);
  if (!loaded.ok()) return Fail(loaded.status());
  absl::StatusOr<std::unique_ptr<Backend>> backend = OpenBackend(options.backend);
  if (!backend.ok()) return Fail(backend.status());
  CompileOptions compile;
  compile.limits = options.limits.Get();
  compile.decision_limit = options.limit;
  absl::StatusOr<RunResult> run =
      CompileAndRun(**backend, *loaded->module, Pointers(loaded->arrays.arguments), compile);
  if (!run.ok()) {
    PrintError(StrCat(options.backend, ": ", Name(ClassOf(run.status())), ": ",
                      ToStd(run.status().message())));
    return kExitFailure;
  }
  std::vector<const Literal*> leaves = Leaves(run->outputs[0]);
  if (!options.save.empty()) {
    absl::Status saved = Save(options.save, *loaded, leaves);
    if (!saved.ok()) return Fail(saved);
  }
  if (options.json) {
    nlohmann::json outputs = nlohmann::json::array();
    for (const Literal* leaf : leaves) {
      outputs.push_back(
          {{"shape", leaf->shape().ToString()}, {"value", ShownValue(*leaf, options.elements)}});
    }
    PrintJson({{"module", loaded->module->name()},
               {"backend", options.backend},
               {"seconds", run->seconds},
               {"outputs", outputs}});
    return kExitOk;
  }
  Print(StrCat(Styled(Style::kBold, loaded->module->name()), " on ", options.backend, ", ",
               Seconds(run->seconds),
               loaded->arrays.generated ? ", inputs drawn from a seed" : ""));
  for (size_t i = 0; i < leaves.size(); ++i) {
    Print(StrCat("out", i, " ", leaves[i]->shape().ToString(), " ",
                 ShownValue(*leaves[i], options.elements)));
  }
  return options.bounds ? ShowBounds(options, *loaded, **backend, run->outputs[0]) : kExitOk;
}

}  // namespace

void DeclareRun(CLI::App& app, VerbAction& action) {
  auto options = std::make_shared<Options>();
  app.add_option("PATH", options->path, "A module")->required();
  options->inputs.Declare(app);
  app.add_option("--backend", options->backend, "Who runs it")->capture_default_str();
  app.add_flag("--bounds", options->bounds, "Show which answers are right, and judge");
  app.add_option("--profile", options->profile,
                 "strict or xla; default: the one the backend is judged by");
  app.add_option("--limit", options->limit, "Refuse the backend's decisions above this number");
  app.add_option("--elements", options->elements, "Print at most so many elements of an output")
      ->capture_default_str();
  app.add_option("--save", options->save, "Write inputs and outputs to an .npz file");
  app.add_flag("--json", options->json, "One JSON object");
  options->limits.Declare(app);
  action = [options] { return Run(*options); };
}

}  // namespace assay
