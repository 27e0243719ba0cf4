// assay accuracy: sweeps of functions over all their arguments, and the page that they make.
#include <cmath>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "conformance/accuracy/page.h"
#include "nlohmann/json.hpp"
#include "reference/interpreter/interpreter.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/record.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string backend, python;
  accuracy::SubjectFilter filter;
  std::string modules;  // a folder
  std::string out;      // a file of results, which is continued
  std::string shard;
  int64_t stride = accuracy::SweepSize().stride;
  int64_t samples = accuracy::SweepSize().samples;
  int64_t jobs = 0;
  bool full = false, json = false;
  std::string page;
  std::vector<std::string> results;
  LimitOptions limits;
  RecordOptions record;
};

absl::Status ReadShard(const Options& options, accuracy::SweepOptions& sweep) {
  if (options.shard.empty()) return absl::OkStatus();
  const std::vector<std::string> parts = absl::StrSplit(options.shard, '/');
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &sweep.part) ||
      !absl::SimpleAtoi(parts[1], &sweep.parts) || sweep.part < 1 || sweep.part > sweep.parts) {
    return absl::InvalidArgumentError(StrCat("--shard ", options.shard, ": not of the form 2/8"));
  }
  --sweep.part;
  return absl::OkStatus();
}

absl::StatusOr<int> WriteAccuracyPage(const Options& options) {
  if (options.results.empty())
    return absl::InvalidArgumentError("--page needs --results FILE, which --out wrote");
  ASSAY_ASSIGN_OR_RETURN(const auto pieces, accuracy::ReadResults(options.results));
  ASSAY_ASSIGN_OR_RETURN(const std::string text, accuracy::AccuracyPage(accuracy::Join(pieces)));
  std::ofstream file(options.page);
  file << text;
  file.flush();
  if (!file) return absl::InvalidArgumentError(StrCat("cannot write ", options.page));
  return kExitOk;
}

void PrintTable(const std::vector<accuracy::Measured>& measured) {
  Table table({{"function"},
               {"type"},
               {"arguments", Table::kRight},
               {"nearest %", Table::kRight},
               {"worst ulps", Table::kRight},
               {"at"},
               {"flushed", Table::kRight},
               {"other", Table::kRight},
               {"order", Table::kRight},
               {"mirror", Table::kRight},
               {"by MPFR", Table::kRight},
               {"s", Table::kRight}});
  for (const accuracy::Measured& one : measured) {
    const accuracy::PieceResult& result = one.result;
    const accuracy::Errors& errors = result.errors;
    const std::string type =
        StrCat(result.argument, result.argument == result.result ? "" : " to " + result.result);
    if (!result.refusal.empty()) {
      table.Add({result.name, type, "-", "", "", result.refusal.substr(0, 60)});
      continue;
    }
    const auto count = [](int64_t number) {
      return number == 0 ? std::string("-") : Grouped(number);
    };
    table.Add(
        {result.name, type, Grouped(errors.inputs),
         absl::StrFormat("%.3f", 100.0 * static_cast<double>(errors.nearest) /
                                     static_cast<double>(std::max<int64_t>(1, errors.inputs))),
         absl::StrFormat("%.4f", errors.worst == 0 ? 0.5 : errors.worst),
         errors.worst == 0 ? "" : absl::StrFormat("%.9g", errors.worst_at.x),
         count(errors.flushed_in.count + errors.flushed_out.count),
         count(errors.other_class.count + errors.zero_sign.count), count(errors.not_monotone.count),
         count(errors.not_symmetric.count), count(errors.asked),
         absl::StrFormat("%.1f", result.seconds)});
  }
  Print(table.ToString());
}

absl::Status AppendLine(const std::string& path, const std::string& line) {
  if (path.empty()) return absl::OkStatus();
  std::ofstream file(path, std::ios::app);
  file << line << "\n";
  file.flush();
  if (file) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("cannot write ", path));
}

absl::StatusOr<std::vector<accuracy::PieceResult>> DoneBefore(const std::string& path) {
  if (path.empty() || !std::ifstream(path)) return std::vector<accuracy::PieceResult>();
  return accuracy::ReadResults({path});
}

// Every function of every type as rows of the store; refused ones have none.
void AddRows(const accuracy::Measured& one, RunRow& run) {
  const accuracy::PieceResult& result = one.result;
  const accuracy::Errors& errors = result.errors;
  if (!result.refusal.empty() || errors.inputs == 0) return;
  const std::string name = StrCat(result.name, " ", result.argument,
                                  result.argument == result.result ? "" : " to " + result.result);
  const auto add = [&](const std::string& metric, double value) {
    run.benchmarks.push_back(
        {name, "ulp." + metric, run.backend, value, value, value, errors.inputs});
  };
  const auto count = [&](const std::string& metric, int64_t value) {
    add(metric, static_cast<double>(value));
  };
  add("worst", errors.worst == 0 ? 0.5 : errors.worst);
  if (std::isfinite(errors.worst_at.x)) add("worst_at", errors.worst_at.x);
  count("inputs", errors.inputs);
  count("nearest", errors.nearest);
  count("flushed", errors.flushed_in.count + errors.flushed_out.count);
  count("other_class", errors.other_class.count + errors.zero_sign.count);
  count("not_monotone", errors.not_monotone.count);
  count("not_symmetric", errors.not_symmetric.count);
  for (size_t i = 0; i < errors.histogram.size(); ++i) {
    if (errors.histogram[i] == 0) continue;
    const double end = accuracy::kErrorClasses[i];
    count(end > 0 ? StrCat("upto.", absl::StrFormat("%g", end)) : "upto.more", errors.histogram[i]);
  }
}

// Functions, the worst error of all, and what was looked at.
std::string SummaryOf(const std::vector<accuracy::Measured>& measured, const Options& options,
                      const RunRow& run) {
  int64_t functions = 0, refused = 0, inputs = 0;
  for (const accuracy::Measured& one : measured) {
    ++(one.result.refusal.empty() ? functions : refused);
    inputs += one.result.errors.inputs;
  }
  return JsonText({{"type", "summary"},
                   {"verb", "accuracy"},
                   {"backend", options.backend},
                   {"backend_version", run.backend_version},
                   {"functions", functions},
                   {"unsupported", refused},
                   {"inputs", inputs},
                   {"stride", options.full ? 1 : options.stride},
                   {"shard", options.shard},
                   {"seconds", run.seconds}});
}

absl::StatusOr<int> Measure(const Options& options, const std::vector<accuracy::Subject>& subjects,
                            Backend& backend) {
  accuracy::SweepOptions sweep;
  sweep.size = {options.full ? 1 : options.stride, options.samples};
  sweep.limits = options.limits.Get();
  sweep.jobs = static_cast<int>(options.jobs);
  ASSAY_RETURN_IF_ERROR(ReadShard(options, sweep));
  ASSAY_ASSIGN_OR_RETURN(std::vector<accuracy::PieceResult> pieces, DoneBefore(options.out));
  std::set<std::string> done;
  for (const accuracy::PieceResult& piece : pieces) done.insert(piece.Key());
  RunRow run = BeginRun("accuracy", options.backend, CommandLine());
  run.backend_version = backend.Describe().version;
  const double start = Now();
  ProgressLine progress;
  int64_t measured = 0;
  sweep.is_done = [&done](const std::string& key) { return done.contains(key); };
  sweep.stop = [] { return InterruptRequested(); };
  sweep.take = [&](const accuracy::PieceResult& piece) -> absl::Status {
    progress.Show(StrCat("measured ", ++measured, ": ", piece.name, " ", piece.argument, " ",
                         piece.piece + 1, "/", piece.pieces));
    pieces.push_back(piece);
    const nlohmann::json json = ToJson(piece);
    if (options.json) PrintJson(json);
    return AppendLine(options.out, JsonText(json));
  };
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> oracle, OpenBackend("reference"));
  const InterruptGuard guard;
  ASSAY_RETURN_IF_ERROR(accuracy::Sweep(subjects, backend, oracle.get(), sweep));
  progress.Clear();
  const std::vector<accuracy::Measured> joined = accuracy::Join(pieces);
  run.seconds = Now() - start;
  for (const accuracy::Measured& one : joined) AddRows(one, run);
  run.summary = SummaryOf(joined, options, run);
  options.record.Save(run);
  if (!options.json) PrintTable(joined);
  return InterruptRequested() ? kExitInterrupted : kExitOk;
}

absl::StatusOr<int> Run(const Options& options) {
  if (!options.page.empty()) return WriteAccuracyPage(options);
  if (options.backend.empty())
    return absl::InvalidArgumentError("name a backend, as in: assay accuracy cpu");
  std::vector<accuracy::Subject> subjects;
  if (options.modules.empty()) {
    subjects = accuracy::OpSubjects(options.filter);
  } else {
    ASSAY_ASSIGN_OR_RETURN(subjects, accuracy::ModuleSubjects(options.modules, options.filter));
  }
  if (subjects.empty())
    return absl::NotFoundError("no function and type of those names; assay ops lists the ops");
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend,
                         OpenBackend(options.backend, options.python, options.limits.timeout));
  if (!options.json) Print(WhoIs(backend->Describe()));
  return Measure(options, subjects, *backend);
}

}  // namespace

void DeclareAccuracy(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("BACKEND", options->backend, "Who is measured");
  line.Add("--python", options->python, "The Python with jaxlib of the xla backends");
  line.Add("--op", options->filter.ops, "Only this op or function; may be repeated");
  line.Add("--type", options->filter.types, "Only arguments of this element type; repeatable");
  line.Add("--modules", options->modules,
           "Functions that are whole modules, NAME.TYPE.hlo of a folder, instead of ops "
           "(conformance/accuracy/jax_functions.py writes those of JAX)");
  line.Add("--stride", options->stride, "Of all f32 every so manieth is an argument")
      .Positive()
      .ShowDefault();
  line.AddFlag("--full", options->full, "All f32 (--stride 1)");
  line.Add("--samples", options->samples, "Arguments of f64, and pairs of more than eight bits")
      .Positive()
      .ShowDefault();
  line.Add("--out", options->out,
           "Write results here, a line for each piece; what the file has is not measured again");
  line.Add("--shard", options->shard, "2/8: the second of eight parts of the pieces");
  line.Add("--jobs", options->jobs, "Threads; 0: one for each core").NonNegative();
  line.AddFlag("--json", options->json, "A JSON object for each piece instead of a table");
  line.Add("--page", options->page, "Write a page of the --results instead of measuring");
  line.Add("--results", options->results, "Files that --out wrote, for --page; repeatable");
  options->limits.Declare(line);
  options->record.Declare(line);
  action = [options] { return Run(*options); };
}

}  // namespace assay
