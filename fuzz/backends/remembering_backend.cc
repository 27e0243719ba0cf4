// Keeps executables by the text of their programs.
#include "fuzz/backends/remembering_backend.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

class SharedExecutable : public Executable {
 public:
  explicit SharedExecutable(std::shared_ptr<Executable> made) : made_(std::move(made)) {}
  absl::StatusOr<RunResult> Run(
      const std::vector<std::vector<const Literal*>>& arguments) override {
    return made_->Run(arguments);
  }
  absl::Status SetInfeed(std::vector<std::vector<Literal>> items) override {
    return made_->SetInfeed(std::move(items));
  }
  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return made_->OptimizedModule();
  }
  absl::StatusOr<std::string> Serialize() const override { return made_->Serialize(); }
  const std::vector<Decision>& decisions() const override { return made_->decisions(); }
  std::map<std::string, double> Statistics() const override { return made_->Statistics(); }

 private:
  std::shared_ptr<Executable> made_;
};

bool WritesFiles(const CompileOptions& options) {
  return std::any_of(options.flags.begin(), options.flags.end(),
                     [](const auto& flag) { return flag.first.rfind("xla_dump", 0) == 0; });
}

// All that the executable depends on.
std::string KeyOf(const Module& module, const CompileOptions& options) {
  std::string key = WriteModule(module);
  for (const auto& [name, value] : options.flags) StrAppend(&key, "\n", name, "=", value);
  StrAppend(&key, "\n", options.devices.replicas, " ", options.devices.partitions, " ",
            options.decision_limit, " ", options.limits.seconds, " ", options.limits.memory_bytes,
            " ", options.limits.steps, options.limits.backtraces ? " traced" : "",
            options.poison ? " poison " : " ", options.defect);
  return key;
}

class RememberingBackend : public Backend {
 public:
  RememberingBackend(Backend& compiler, size_t most) : compiler_(compiler), most_(most) {}

  const BackendDescription& Describe() const override { return compiler_.Describe(); }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                      const CompileOptions& options) override {
    const bool has_more = !options.donated.empty() || !options.devices.device_ids.empty();
    if (WritesFiles(options) || has_more) return compiler_.Compile(module, options);
    std::string key = KeyOf(module, options);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&key](const Kept& kept) { return kept.key == key; });
    if (found != kept_.end()) {
      std::rotate(kept_.begin(), found, found + 1);
      return std::make_unique<SharedExecutable>(kept_.front().made);
    }
    ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<Executable> made, compiler_.Compile(module, options));
    kept_.push_front({std::move(key), made});
    if (kept_.size() > most_) kept_.pop_back();
    return std::make_unique<SharedExecutable>(std::move(made));
  }

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<Executable> made;
  };
  Backend& compiler_;
  size_t most_;
  std::deque<Kept> kept_;  // the last one that was asked for first
};

}  // namespace

std::unique_ptr<Backend> Remembering(Backend& compiler, size_t most) {
  return std::make_unique<RememberingBackend>(compiler, most);
}

}  // namespace assay
