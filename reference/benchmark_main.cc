// Prints how fast the oracle is: elements per second of the basic loops, plain and with bounds.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>

#include "reference/interpreter/interpreter.h"
#include "reference/testing/float_program.h"

namespace assay::reference {
namespace {

std::vector<std::string> wanted;

bool IsWanted(const std::string& name) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& start) {
           return name.rfind(start, 0) == 0;
         });
}

// Processor time, so that other work on the machine does not count.
double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double SecondsOf(const std::function<void()>& work) {
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    const double start = ProcessorSeconds();
    work();
    best = std::min(best, ProcessorSeconds() - start);
  }
  return best;
}

void Report(const char* name, const Module& module, const std::vector<const Literal*>& arguments,
            double elements) {
  if (!IsWanted(name)) return;
  auto oracle = MakeOracle();
  const double plain = SecondsOf([&] { (void)oracle->Evaluate(module, arguments, Limits{}).ok(); });
  const double bounds =
      SecondsOf([&] { (void)oracle->Expect(module, arguments, Profile::Xla(), Limits{}).ok(); });
  std::printf("%-28s plain %9.3f ms (%7.1f M/s)   bounds %9.3f ms (%.1f x)\n", name, plain * 1e3,
              elements / plain / 1e6, bounds * 1e3, bounds / plain);
}

// Inputs have magnitudes from `low` to `high` and either sign.
void Elementwise(const char* name, Opcode opcode, int operands, double low, double high) {
  const int64_t n = 1 << 20;
  const Shape shape = Shape::Array(ElementType::kF32, {n});
  Module module(name);
  Computation* entry = module.AddComputation("main");
  module.set_entry(entry);
  Random random(1);
  std::vector<Literal> inputs;
  std::vector<Instruction*> parameters;
  for (int p = 0; p < operands; ++p) {
    inputs.emplace_back(shape);
    for (float& x : inputs.back().data<float>()) {
      const double magnitude = random.Between(low, high);
      x = static_cast<float>(random.Coin() ? magnitude : -magnitude);
    }
    parameters.push_back(entry->AddParameter(p, shape));
  }
  // Several times, so that the copies of arguments and results do not count.
  constexpr int kTimes = 8;
  Instruction* value = parameters[0];
  for (int k = 0; k < kTimes; ++k) {
    value = operands == 1 ? entry->Add(opcode, shape, {parameters[0]})
                          : entry->Add(opcode, shape, {value, parameters[1]});
    if (operands == 1 && k + 1 < kTimes) {
      // Independent results would be dead: keep them all.
      parameters.push_back(value);
    }
  }
  if (operands == 1) {
    std::vector<Instruction*> all(parameters.begin() + 1, parameters.end());
    all.push_back(value);
    std::vector<Shape> shapes(all.size(), shape);
    value = entry->Add(Opcode::kTuple, Shape::Tuple(shapes), all);
  }
  entry->set_root(value);
  std::vector<const Literal*> arguments;
  for (const Literal& input : inputs) arguments.push_back(&input);
  Report(name, module, arguments, static_cast<double>(n) * kTimes);
}

// Products that additions may see unrounded.
void MultiplyAdd() {
  const int64_t n = 1 << 20;
  const Shape shape = Shape::Array(ElementType::kF32, {n});
  Module module("multiply_add");
  Computation* entry = module.AddComputation("main");
  module.set_entry(entry);
  Random random(3);
  std::vector<Literal> inputs;
  std::vector<Instruction*> parameters;
  for (int p = 0; p < 3; ++p) {
    inputs.emplace_back(shape);
    for (float& x : inputs.back().data<float>()) x = static_cast<float>(random.Between(-4, 4));
    parameters.push_back(entry->AddParameter(p, shape));
  }
  constexpr int kTimes = 4;
  Instruction* value = parameters[0];
  for (int k = 0; k < kTimes; ++k) {
    value = entry->Add(Opcode::kMultiply, shape, {value, parameters[1]});
    value = entry->Add(Opcode::kAdd, shape, {value, parameters[2]});
  }
  entry->set_root(value);
  Report("multiply, add f32", module, {&inputs[0], &inputs[1], &inputs[2]},
         2.0 * static_cast<double>(n) * kTimes);
}

void Dot() {
  const Shape shape = Shape::Array(ElementType::kF32, {256, 256});
  Module module("dot");
  Computation* entry = module.AddComputation("main");
  module.set_entry(entry);
  Random random(2);
  Literal inputs[2] = {Literal(shape), Literal(shape)};
  for (Literal& input : inputs)
    for (float& x : input.data<float>()) x = static_cast<float>(random.Between(-1, 1));
  Instruction* a = entry->AddParameter(0, shape);
  Instruction* b = entry->AddParameter(1, shape);
  entry->set_root(entry->Add(Opcode::kDot, shape, {a, b},
                             Attributes()
                                 .Set(Attr::kLhsContractingDims, {int64_t{1}})
                                 .Set(Attr::kRhsContractingDims, {int64_t{0}})));
  Report("dot f32 256^3", module, {&inputs[0], &inputs[1]}, 256.0 * 256 * 256);
}

void SmallPrograms() {
  if (!IsWanted("programs")) return;
  constexpr int kPrograms = 500;
  auto oracle = MakeOracle();
  double plain = 0, bounds = 0;
  for (uint64_t seed = 1; seed <= kPrograms; ++seed) {
    Random random(seed);
    const FloatProgram program = RandomFloatProgram(random, ElementType::kF32, 1000, 8);
    const double start = ProcessorSeconds();
    (void)oracle->Evaluate(*program.module, program.Arguments(), Limits{}).ok();
    const double middle = ProcessorSeconds();
    (void)oracle->Expect(*program.module, program.Arguments(), Profile::Xla(), Limits{}).ok();
    const double end = ProcessorSeconds();
    plain += middle - start;
    bounds += end - middle;
  }
  std::printf(
      "programs of 8 x f32[1000]    plain %9.3f ms               bounds %9.3f ms (%.1f x)\n",
      plain / kPrograms * 1e3, bounds / kPrograms * 1e3, bounds / plain);
}

}  // namespace
}  // namespace assay::reference

// Arguments: the beginnings of the names of what is to be measured; none: everything.
int main(int argc, char** argv) {
  assay::reference::wanted.assign(argv + 1, argv + argc);
  // The program assay sets these, too.
  mallopt(M_MMAP_THRESHOLD, 1 << 28);
  mallopt(M_TRIM_THRESHOLD, 1 << 29);
  using assay::Opcode;
  assay::reference::Elementwise("add f32", Opcode::kAdd, 2, 0, 4);
  assay::reference::Elementwise("multiply f32", Opcode::kMultiply, 2, 0.25, 4);
  assay::reference::Elementwise("multiply f32, some tiny", Opcode::kMultiply, 2, 0, 4);
  assay::reference::MultiplyAdd();
  assay::reference::Elementwise("exponential f32", Opcode::kExponential, 1, 0, 4);
  assay::reference::Elementwise("tanh f32", Opcode::kTanh, 1, 0, 4);
  assay::reference::Dot();
  assay::reference::SmallPrograms();
}
