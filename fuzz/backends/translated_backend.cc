// A backend whose executables run on the oracle, and the families made of it.
#include "fuzz/backends/translated_backend.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "fuzz/backends/process_backend.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

class TranslatedExecutable : public Executable {
 public:
  TranslatedExecutable(std::unique_ptr<Executable> compiled, std::unique_ptr<Module> optimized,
                       Oracle& oracle, Limits limits)
      : compiled_(std::move(compiled)),
        optimized_(std::move(optimized)),
        oracle_(oracle),
        limits_(limits) {}

  absl::StatusOr<RunResult> Run(
      const std::vector<std::vector<const Literal*>>& arguments) override {
    if (arguments.size() != 1) {
      return MakeError(ErrorClass::kUnsupported, "the oracle runs on one device here");
    }
    ASSAY_ASSIGN_OR_RETURN(Literal value, oracle_.Evaluate(*optimized_, arguments[0], limits_));
    RunResult result;
    result.outputs.push_back(std::move(value));
    return result;
  }
  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return optimized_->Clone("");
  }
  const std::vector<Decision>& decisions() const override { return compiled_->decisions(); }
  std::map<std::string, double> Statistics() const override { return compiled_->Statistics(); }

 private:
  std::unique_ptr<Executable> compiled_;
  std::unique_ptr<Module> optimized_;
  Oracle& oracle_;
  Limits limits_;
};

class TranslatedBackend : public Backend {
 public:
  TranslatedBackend(std::string name, std::unique_ptr<Backend> compiler, Oracle& oracle)
      : compiler_(std::move(compiler)), oracle_(oracle), description_(compiler_->Describe()) {
    description_.name = std::move(name);
    description_.can_run = true;
    description_.is_jax = false;  // the oracle runs what it made
    description_.deterministic = true;
  }

  const BackendDescription& Describe() const override { return description_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                      const CompileOptions& options) override {
    ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Executable> compiled,
                           compiler_->Compile(module, options));
    ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> optimized, compiled->OptimizedModule());
    // Before the verifier: it has nothing to say about ops that have no meaning here.
    if (std::vector<std::string> unknown = Unsupported(*optimized); !unknown.empty()) {
      return MakeError(ErrorClass::kUnsupported,
                       StrCat("the optimized module uses ", absl::StrJoin(unknown, ", ")));
    }
    if (absl::Status status = Verify(*optimized); !status.ok()) {
      return MakeError(ErrorClass::kCompileCrash,
                       StrCat("the optimized module does not verify: ", ToStd(status.message())));
    }
    return std::make_unique<TranslatedExecutable>(std::move(compiled), std::move(optimized),
                                                  oracle_, options.limits);
  }

 private:
  std::unique_ptr<Backend> compiler_;
  Oracle& oracle_;
  BackendDescription description_;
};

}  // namespace

std::unique_ptr<Backend> MakeTranslatedBackend(std::string name, std::unique_ptr<Backend> compiler,
                                               Oracle& oracle) {
  return std::make_unique<TranslatedBackend>(std::move(name), std::move(compiler), oracle);
}

void RegisterTranslated(BackendRegistry& registry, Oracle& oracle, std::string python) {
  registry.Register(
      "pipeline", "our passes up to decision K, then the oracle: pipeline:K",
      [&registry, &oracle](const std::string& options) -> absl::StatusOr<std::unique_ptr<Backend>> {
        const std::string suffix = options.empty() ? "" : StrCat(":", options);
        ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> passes,
                               registry.Create(StrCat("passes", suffix)));
        return MakeTranslatedBackend(StrCat("pipeline", suffix), std::move(passes), oracle);
      });
  registry.Register(
      "xla-opt", "the HLO passes of XLA:CPU, then the oracle: xla-opt:python=PATH,...",
      [&oracle, python](const std::string& options) -> absl::StatusOr<std::unique_ptr<Backend>> {
        ASSAY_ASSIGN_OR_RETURN(ProcessBackendOptions parsed, XlaOptions(options, python));
        parsed.compile_only = true;
        ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> xla, MakeProcessBackend(std::move(parsed)));
        return MakeTranslatedBackend(options.empty() ? "xla-opt" : StrCat("xla-opt:", options),
                                     std::move(xla), oracle);
      });
}

}  // namespace assay
