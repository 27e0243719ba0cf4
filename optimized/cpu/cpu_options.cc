// One reader per option; their table is the list of options.
#include "optimized/cpu/cpu_options.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr int kMaxThreads = 256;

absl::Status WrongValue(std::string_view name, const std::string& value, std::string_view legal) {
  return absl::InvalidArgumentError(StrCat("cpu: option ", name, "=", value, ": expected ", legal));
}

absl::Status ReadIsa(const std::string& value, CpuOptions& options) {
  constexpr std::pair<std::string_view, Isa> kWords[] = {{"host", Isa::kHost},
                                                         {"avx512", Isa::kAvx512},
                                                         {"avx2", Isa::kAvx2},
                                                         {"baseline", Isa::kBaseline}};
  for (const auto& [word, isa] : kWords) {
    if (value == word) {
      options.isa = isa;
      return absl::OkStatus();
    }
  }
  return WrongValue("isa", value, "host, avx512, avx2 or baseline");
}

absl::Status ReadThreads(const std::string& value, CpuOptions& options) {
  if (!absl::SimpleAtoi(value, &options.threads) || options.threads < 1 ||
      options.threads > kMaxThreads) {
    return WrongValue("threads", value, StrCat("1 to ", kMaxThreads));
  }
  return absl::OkStatus();
}

absl::Status ReadRanks(const std::string& value, CpuOptions& options) {
  const std::optional<RankKind> kind = FindRankKind(value);
  if (!kind.has_value()) return WrongValue("ranks", value, std::string(kRankKinds));
  options.ranks = *kind;
  return absl::OkStatus();
}

absl::Status ReadTier(const std::string& value, CpuOptions& options) {
  if (value == "fast") {
    options.tier = Tier::kFast;
  } else if (value == "full") {
    options.tier = Tier::kFull;
  } else if (value != "auto") {
    return WrongValue("tier", value, "auto, fast or full");
  }
  return absl::OkStatus();
}

absl::Status ReadProfile(const std::string& value, CpuOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(options.pipeline.profile, Profile::Find(value));
  return absl::OkStatus();
}

absl::Status ReadPasses(const std::string& value, CpuOptions& options) {
  if (value != "on" && value != "off" && value != "all") {
    return WrongValue("passes", value, "on, off or all");
  }
  options.passes = value != "off";
  if (value == "all") {
    PipelineOptions every = EveryPassOptions();
    options.pipeline.on_request = every.on_request;
    options.pipeline.pass_options = std::move(every.pass_options);
  }
  return absl::OkStatus();
}

absl::Status ReadWithout(const std::string& value, CpuOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(options.pipeline.without, ParseWithout(value));
  return absl::OkStatus();
}

absl::Status ReadWith(const std::string& value, CpuOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(options.pipeline.with, ParsePassNames(value, '+'));
  return absl::OkStatus();
}

absl::Status ReadPrefix(const std::string& value, CpuOptions& options) {
  if (!absl::SimpleAtoi(value, &options.prefix) || options.prefix < 0)
    return WrongValue("prefix", value, "a number of passes");
  return absl::OkStatus();
}

absl::Status ReadRefuse(const std::string& value, CpuOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(options.refusals, Refusals::Parse(value));
  return absl::OkStatus();
}

absl::Status ReadSwitch(std::string_view name, const std::string& value, bool& on) {
  if (value != "on" && value != "off") return WrongValue(name, value, "on or off");
  on = value == "on";
  return absl::OkStatus();
}

absl::Status ReadVerify(const std::string& value, CpuOptions& options) {
  return ReadSwitch("verify", value, options.pipeline.verify_each);
}

absl::Status ReadTrace(const std::string& value, CpuOptions& options) {
  return ReadSwitch("trace", value, options.trace);
}

absl::Status ReadUntil(const std::string& value, CpuOptions& options) {
  if (!absl::SimpleAtoi(value, &options.until) || options.until < 0)
    return WrongValue("until", value, "a number of passes");
  return absl::OkStatus();
}

absl::Status ReadCount(const std::string& value, CpuOptions& options) {
  return ReadSwitch("count", value, options.count);
}

absl::Status ReadIdle(const std::string& value, CpuOptions& options) {
  if (!absl::SimpleAtoi(value, &options.idle) || options.idle < 0)
    return WrongValue("idle", value, "a number of turns");
  return absl::OkStatus();
}

absl::Status ReadDirect(const std::string& value, CpuOptions& options) {
  if (value == "auto") return absl::OkStatus();
  if (value != "on" && value != "off") return WrongValue("direct", value, "auto, on or off");
  options.direct = value == "on";
  return absl::OkStatus();
}

absl::Status ReadDump(const std::string& value, CpuOptions& options) {
  if (value.empty()) return WrongValue("dump-llvm", value, "a folder");
  options.dump_directory = value;
  return absl::OkStatus();
}

absl::Status ReadStopAfter(const std::string& value, CpuOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> names, ParsePassNames(value, '+'));
  if (names.size() != 1) return WrongValue("stop-after", value, "one pass");
  options.stop_after = value;
  return absl::OkStatus();
}

absl::Status ReadDumpPasses(const std::string& value, CpuOptions& options) {
  if (value.empty()) return WrongValue("dump-passes", value, "a folder");
  options.pass_directory = value;
  return absl::OkStatus();
}

absl::Status ReadMemoryLimit(const std::string& value, CpuOptions& options) {
  options.least_memory = value == "least";
  if (options.least_memory) return absl::OkStatus();
  if (!absl::SimpleAtoi(value, &options.memory_limit) || options.memory_limit < 0) {
    return WrongValue("memory_limit", value, "a number of bytes, or least");
  }
  return absl::OkStatus();
}

struct Option {
  std::string_view name;
  absl::Status (*read)(const std::string& value, CpuOptions& options);
};
constexpr Option kOptions[] = {
    {"isa", ReadIsa},
    {"threads", ReadThreads},
    {"ranks", ReadRanks},
    {"tier", ReadTier},
    {"direct", ReadDirect},
    {"profile", ReadProfile},
    {"passes", ReadPasses},
    {"with", ReadWith},
    {"without", ReadWithout},
    {"refuse", ReadRefuse},
    {"prefix", ReadPrefix},
    {"verify", ReadVerify},
    {"trace", ReadTrace},
    {"count", ReadCount},
    {"idle", ReadIdle},
    {"memory_limit", ReadMemoryLimit},
    {"dump-llvm", ReadDump},
    {"until", ReadUntil},
    {"stop-after", ReadStopAfter},
    {"dump-passes", ReadDumpPasses},
};

}  // namespace

absl::Span<const std::string_view> CpuOptionNames() {
  static const auto& names = *[] {
    auto* list = new std::vector<std::string_view>;
    for (const Option& option : kOptions) list->push_back(option.name);
    return list;
  }();
  return names;
}

absl::StatusOr<CpuOptions> ParseCpuOptions(const std::map<std::string, std::string>& flags) {
  CpuOptions options;
  static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  options.threads = cores;
  for (const auto& [name, value] : flags) {
    const auto* option = std::find_if(std::begin(kOptions), std::end(kOptions),
                                      [&](const Option& row) { return row.name == name; });
    if (option == std::end(kOptions)) {
      std::string known;
      for (std::string_view each : CpuOptionNames()) {
        StrAppend(&known, known.empty() ? "" : ", ", each);
      }
      return absl::InvalidArgumentError(
          StrCat("cpu: unknown option ", name, "; there are ", known));
    }
    ASSAY_RETURN_IF_ERROR(option->read(value, options));
  }
  if (options.ranks != RankKind::kThreads) options.threads = 1;  // a rank has no others
  return options;
}

}  // namespace assay
