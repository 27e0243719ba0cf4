// The result of a compilation that ends with the passes: the module, and the decisions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spec/backend/backend.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {

class OptimizedOnly : public Executable {
 public:
  // `who` is told to those who want to run it.
  OptimizedOnly(std::string who, std::unique_ptr<Module> module, std::vector<Decision> decisions,
                std::map<std::string, double> statistics = {})
      : who_(std::move(who)),
        module_(std::move(module)),
        decisions_(std::move(decisions)),
        statistics_(std::move(statistics)) {}
  absl::StatusOr<RunResult> Run(const std::vector<std::vector<const Literal*>>&) override {
    return MakeError(ErrorClass::kUnsupported,
                     StrCat("backend ", who_, " only compiles; evaluate its module"));
  }
  absl::StatusOr<std::unique_ptr<Module>> OptimizedModule() const override {
    return module_->Clone("");
  }
  const std::vector<Decision>& decisions() const override { return decisions_; }
  std::map<std::string, double> Statistics() const override { return statistics_; }

 private:
  std::string who_;
  std::unique_ptr<Module> module_;
  std::vector<Decision> decisions_;
  std::map<std::string, double> statistics_;
};

}  // namespace assay
