// Reductions of programs in a test: by what a program must hold, to its text.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/reducer.h"
#include "gtest/gtest.h"
#include "spec/ir/module.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/types/literal.h"
#include "spec/verifier/verifier.h"

namespace assay {

inline std::unique_ptr<Module> Parse(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Verify(**module).ok()) << Verify(**module);
  return *std::move(module);
}

// Inputs counting up from 1, whatever the type.
inline std::vector<Literal> Inputs(const Module& module) {
  std::vector<Literal> inputs;
  int64_t next = 1;
  for (const Instruction* parameter : module.entry()->parameters()) {
    Literal literal(parameter->shape());
    for (int64_t i = 0; i < literal.element_count(); ++i) {
      if (IsFloat(literal.element_type())) {
        literal.SetDouble(i, static_cast<double>(next++) + 0.5);
      } else {
        literal.SetInteger(i, next++ % 100);
      }
    }
    inputs.push_back(std::move(literal));
  }
  return inputs;
}

inline bool AnyInstruction(const Module& module,
                           const std::function<bool(const Instruction&)>& test) {
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (test(*at)) return true;
    }
  }
  return false;
}

struct ReducedText {
  std::string text;
  ReduceResult result;
};

inline ReducedText ReduceText(const std::string& text, const ReducePredicate& predicate) {
  std::unique_ptr<Module> module = Parse(text);
  ReduceOptions options;
  options.seconds = 60;
  absl::StatusOr<ReduceResult> result = Reduce(*module, Inputs(*module), predicate, options);
  EXPECT_TRUE(result.ok()) << result.status();
  ReducedText outcome{"", *std::move(result)};
  outcome.text = WriteModule(*outcome.result.reduced.module, WriteOptions::Short());
  EXPECT_TRUE(outcome.result.complete);
  EXPECT_TRUE(Verify(*outcome.result.reduced.module).ok());
  EXPECT_TRUE(predicate(*outcome.result.reduced.module, outcome.result.reduced.inputs));
  return outcome;
}

// The program has an instruction of which the test is true.
inline ReducePredicate AnyOp(std::function<bool(const Instruction&)> test) {
  return [test = std::move(test)](const Module& module, const std::vector<Literal>&) {
    return AnyInstruction(module, test);
  };
}

inline bool HasOpcode(const Module& module, Opcode opcode) {
  return AnyInstruction(module, [opcode](const Instruction& at) { return at.opcode() == opcode; });
}

// The program has all of these ops.
inline ReducePredicate HasAll(std::vector<Opcode> opcodes) {
  return [opcodes = std::move(opcodes)](const Module& module, const std::vector<Literal>&) {
    return absl::c_all_of(opcodes, [&](Opcode opcode) { return HasOpcode(module, opcode); });
  };
}

}  // namespace assay
