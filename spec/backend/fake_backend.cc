// Runs the scripts of a fake backend.
#include "spec/backend/fake_backend.h"
#include "spec/base/status_macros.h"

namespace assay {

class FakeExecutable : public Executable {
 public:
  FakeExecutable(FakeBackend& backend, std::unique_ptr<Module> module, CompileOptions options)
      : backend_(backend), module_(std::move(module)), options_(std::move(options)) {
    if (backend_.script_.decisions) decisions_ = backend_.script_.decisions(*module_, options_);
  }

  absl::StatusOr<RunResult> Run(
      const std::vector<std::vector<const Literal*>>& arguments) override {
    ++backend_.runs_;
    if (!backend_.script_.run)
      return MakeError(ErrorClass::kUnsupported, "the fake backend has no run script");
    return backend_.script_.run(*module_, options_, arguments);
  }
  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return module_->Clone("");
  }
  const std::vector<Decision>& decisions() const override { return decisions_; }

 private:
  FakeBackend& backend_;
  std::unique_ptr<Module> module_;
  CompileOptions options_;
  std::vector<Decision> decisions_;
};

absl::StatusOr<std::unique_ptr<Executable>> FakeBackend::Compile(const Module& module,
                                                                 const CompileOptions& options) {
  ++compiles_;
  if (script_.compile) {
    ASSAY_RETURN_IF_ERROR(script_.compile(module, options));
  }
  return std::make_unique<FakeExecutable>(*this, module.Clone(""), options);
}

}  // namespace assay
