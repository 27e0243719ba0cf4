// The options of the CPU backend, as written behind "cpu:" or given with a compilation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "optimized/cpu/native/jit.h"
#include "optimized/gates/refusals.h"
#include "optimized/pipeline/pipeline.h"
#include "optimized/runtime/ranks/rank_group.h"

namespace assay {

struct CpuOptions {
  Isa isa = Isa::kHost;
  int threads = 1;
  RankKind ranks = RankKind::kThreads;  // what several devices are
  std::optional<Tier> tier;             // absent: by the amount of work
  std::optional<bool>
      direct;                // small code without LLVM's code generation; absent: if it runs short
  bool passes = true;        // Stage::kOptimize; the required ones run anyway
  PipelineOptions pipeline;  // which of them, and the profile
  int64_t prefix = -1;       // the optional passes that run, from the first on; negative: all
  Refusals refusals;         // gates that are refused by name
  // Bytes that arguments, results, constants and values may take together; negative: the caller's
  // limit alone counts. Where they take more, the pass hlo-rematerialization computes anew.
  int64_t memory_limit = -1;
  bool least_memory = false;  // as if the limit were 0, but nothing is refused
  bool count = false;         // loops count their steps: the statistic work.steps
  // Turns of an empty loop that each kernel makes first: slowness that is planted, to see whether
  // it is found. LLVM generates the code then.
  int64_t idle = 0;
  // At least 0: compiles nothing, and shows the module as so many passes left it, required ones
  // counted (Executable::OptimizedModule).
  int64_t until = -1;
  // Likewise the module as the first pass of this name left it; "": nothing.
  std::string stop_after;
  // The module after each pass that changed it goes there, as NUMBER-PASS.hlo; "": nowhere.
  std::string pass_directory;
  bool trace = false;          // a record of each pass among the statistics (pass_trace.h)
  std::string dump_directory;  // the LLVM IR of each module goes there, as NAME.ll; "": nowhere
};

// True if only passes run.
inline bool IsPrefix(const CpuOptions& options) {
  return options.until >= 0 || !options.stop_after.empty();
}

// The names of all options, in the order in which messages list them.
absl::Span<const std::string_view> CpuOptionNames();
// Errors (invalid argument) name the option and what it may be.
absl::StatusOr<CpuOptions> ParseCpuOptions(const std::map<std::string, std::string>& flags);

}  // namespace assay
