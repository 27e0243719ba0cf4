// For tests of the CPU backend: HLO text in, literals out.
#pragma once

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "optimized/cpu/cpu_backend.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {

inline std::unique_ptr<Backend> MakeCpu(const std::string& options = "threads=1") {
  BackendRegistry registry;
  RegisterCpu(registry);
  absl::StatusOr<std::unique_ptr<Backend>> backend = registry.Create("cpu:" + options);
  EXPECT_TRUE(backend.ok()) << backend.status();
  return backend.ok() ? *std::move(backend) : nullptr;
}

inline std::unique_ptr<Module> MustRead(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  absl::Status verified = Verify(**module);
  EXPECT_TRUE(verified.ok()) << verified;
  return *std::move(module);
}

inline Literal MustReadLiteral(const std::string& shape, const std::string& text) {
  absl::StatusOr<Shape> parsed = ReadShape(shape);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  absl::StatusOr<Literal> literal = ReadLiteral(*parsed, text);
  EXPECT_TRUE(literal.ok()) << literal.status();
  return literal.ok() ? *std::move(literal) : Literal();
}

inline Literal RunModule(Backend& backend, const Module& module,
                         const std::vector<Literal>& arguments,
                         const CompileOptions& options = {}) {
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  absl::StatusOr<RunResult> result = CompileAndRun(backend, module, pointers, options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? std::move(result->outputs[0]) : Literal();
}

// The entry as text, run on the arguments.
inline Literal RunText(Backend& backend, const std::string& text,
                       const std::vector<Literal>& arguments = {}) {
  std::unique_ptr<Module> module = MustRead(text);
  if (module == nullptr) return Literal();
  return RunModule(backend, *module, arguments);
}

}  // namespace assay
