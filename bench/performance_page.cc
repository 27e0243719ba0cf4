// The performance page: a table of all workloads, what the columns mean, and the machine's roof.
#include "bench/performance_page.h"

#include "absl/strings/str_format.h"
#include "reports/numbers.h"
#include "spec/base/strings.h"
#include "spec/numerics/expectation.h"

namespace assay {
namespace {

std::string Cell(const MedianInterval& ratio) {
  if (ratio.samples == 0) return "-";
  return absl::StrFormat("%.2f [%.2f, %.2f]", ratio.median, ratio.lower, ratio.upper);
}

std::string Megabytes(double bytes) {
  return bytes > 0 ? absl::StrFormat("%.1f", bytes / 1e6) : std::string("-");
}

std::string Row(const WorkloadResult& one) {
  const Measured& ours = one.backends[0];
  std::string row = StrCat("| ", one.name, " | ", ours.verdict, " | ", Seconds(ours.run.median),
                           " | ", Cell(one.run_speedup), " | ", Cell(one.run_speedup_reused), " | ",
                           Cell(one.same), " | ", Cell(one.compile_speedup), " | ");
  StrAppend(&row, one.limit_seconds > 0 ? Percent(one.limit_seconds, ours.run.median) : "-", " | ",
            absl::StrFormat("%.0f", ours.kernels), " | ",
            one.cost.bytes > 0 && ours.bytes_moved > 0
                ? absl::StrFormat("%.1f", ours.bytes_moved / one.cost.bytes)
                : std::string("-"),
            " | ", Megabytes(static_cast<double>(ours.peak_bytes)), " | ", ours.run.samples,
            " |\n");
  return row;
}

std::string RoofText(const Roof& roof) {
  std::string text = absl::StrFormat(
      "The machine at its best, measured in the same run on %d threads: %.0f GF/s of f32 "
      "multiply-adds, %.1f G/s f32 exponentials,\ncopies at",
      roof.threads, roof.fma_per_second / 1e9, roof.transcendentals_per_second / 1e9);
  for (const Roof::Bandwidth& copy : roof.copies) {
    text += absl::StrFormat("%s %.0f GB/s (%s)", &copy == &roof.copies.front() ? "" : ",",
                            copy.bytes_per_second / 1e9, copy.level);
  }
  return text + ".\n\n";
}

}  // namespace

PerformanceSummary Summarize(const std::vector<WorkloadResult>& all) {
  PerformanceSummary summary;
  std::vector<double> run, reused, compile, shares;
  for (const WorkloadResult& one : all) {
    if (!one.error.empty()) {
      ++summary.errors;
      continue;
    }
    ++summary.measured;
    const Measured& ours = one.backends[0];
    if (ours.verdict == Name(Verdict::kFail)) ++summary.failed;
    if (one.run_speedup.samples > 0) run.push_back(one.run_speedup.median);
    if (one.run_speedup_reused.samples > 0) reused.push_back(one.run_speedup_reused.median);
    if (one.compile_speedup.samples > 0) compile.push_back(one.compile_speedup.median);
    if (one.limit_seconds > 0) shares.push_back(one.limit_seconds / ours.run.median);
  }
  summary.run = GeometricMean(run);
  summary.run_reused = GeometricMean(reused);
  summary.compile = GeometricMean(compile);
  summary.share = GeometricMean(shares);
  return summary;
}

std::string PerformancePage(const PageHead& head, const std::optional<Roof>& roof,
                            const std::vector<WorkloadResult>& all) {
  std::string page = StrCat("# Performance\n\nMade by `", head.command, "`; do not edit. ",
                            head.version, " on ", head.machine, ".\n\n");
  if (roof.has_value()) page += RoofText(*roof);
  const PerformanceSummary summary = Summarize(all);
  if (summary.run > 0) {
    page += absl::StrFormat(
        "Geometric means over %d workloads: run %.2f times as fast as %s as users get it",
        summary.measured, summary.run, head.peer);
    if (summary.run_reused > 0) {
      page += absl::StrFormat(", %.2f with pages reused on both sides", summary.run_reused);
    }
    page += absl::StrFormat(", compile %.2f.\n\n", summary.compile);
  }
  page +=
      "Speed-up: the peer's time divided by ours, above 1 is faster; in brackets the interval of "
      "order statistics that holds the\ntrue median of the ratio with 95 % probability. Outputs "
      "are "
      "allocated inside the clock on both sides. *Reused*: the peer's\nallocator keeps its pages "
      "from run to run, as ours does. *A/A*: ours beside ours in the same rounds. *Compile*: from "
      "a parsed\nmodule to code that can run. *Share*: the machine's limit for the stated work "
      "divided by our time. *Moved*: bytes of all\noperands and results of kernels, as a multiple "
      "of those of inputs and outputs. *Peak*: arena, constants and outputs, in MB.\n\n"
      "| workload | verdict | run | speed-up | reused | A/A | compile | share | kernels | moved | "
      "peak | samples |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const WorkloadResult& one : all) {
    if (one.error.empty()) page += Row(one);
  }
  for (const WorkloadResult& one : all) {
    if (!one.error.empty()) StrAppend(&page, "\nNot measured: ", one.name, ": ", one.error, "\n");
  }
  return page;
}

}  // namespace assay
