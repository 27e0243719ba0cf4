// A backend whose every answer is scripted: tests of whatever drives backends reach each path with
// it.
#pragma once

#include "spec/backend/backend.h"

namespace assay {

class FakeBackend : public Backend {
 public:
  struct Script {
    BackendDescription description;
    // OK: Compile succeeds. Otherwise its status.
    std::function<absl::Status(const Module&, const CompileOptions&)> compile;
    std::function<absl::StatusOr<RunResult>(const Module&, const CompileOptions&,
                                            const std::vector<std::vector<const Literal*>>&)>
        run;
    std::function<std::vector<Decision>(const Module&, const CompileOptions&)> decisions;
  };
  explicit FakeBackend(Script script) : script_(std::move(script)) {}
  const BackendDescription& Describe() const override { return script_.description; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Module& module,
                                                      const CompileOptions& options) override;
  int compiles() const { return compiles_; }
  int runs() const { return runs_; }

 private:
  friend class FakeExecutable;
  Script script_;
  int compiles_ = 0;
  int runs_ = 0;
};

}  // namespace assay
