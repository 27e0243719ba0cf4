// Tests what the documents say of memory and of tasks, on programs that run: copies that HLO shows,
// values that are made again, kernels that threads share. Each line of testdata/memory_rows.txt is
// one test.
#include "optimized/cpu/cpu_executable.h"
#include "optimized/cpu/testing.h"
#include "optimized/pipeline/pipeline.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

std::unique_ptr<CpuExecutable> MustCompile(const Module& module, const std::string& options) {
  auto executable = MakeCpu(options)->Compile(module, {});
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok()) return nullptr;
  return std::unique_ptr<CpuExecutable>(static_cast<CpuExecutable*>(executable->release()));
}

std::vector<Literal> Run(CpuExecutable& executable, const std::vector<Literal>& arguments) {
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  auto run = executable.Run({pointers});
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? std::move(run->outputs) : std::vector<Literal>();
}

// The module with its copies in HLO: how many there are, how many the assignment of buffers makes
// beside them, and what comes out.
std::string WithCopies(const std::string& text, const std::vector<Literal>& arguments) {
  const std::unique_ptr<Module> module = MustRead(text);
  Gates gates;
  PipelineOptions options;
  options.passes = {"copy-insertion"};
  EXPECT_EQ(Optimize(*module, gates, options), absl::OkStatus());
  int in_hlo = 0, beside = 0;
  for (const Computation* computation : module->computations()) {
    for (const Instruction* inst : *computation) in_hlo += inst->opcode() == Opcode::kCopy;
  }
  const auto executable = MustCompile(*module, "threads=1,passes=off,trace=on,verify=on");
  if (executable == nullptr) return "";
  for (const PassReason& reason : executable->reasons()) {
    beside += reason.pass == "buffer-assignment";
  }
  std::string values;
  for (const Literal& output : Run(*executable, arguments))
    StrAppend(&values, " ", output.ToString());
  return StrCat(in_hlo, " copies, ", beside, " beside:", values);
}

constexpr char kCondition[] = R"(
condition { p = (s32[], s32[2], s32[2], s32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(4)
  ROOT l = pred[] compare(i, n), direction=LT }
body { p = (s32[], s32[2], s32[2], s32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = s32[2] get-tuple-element(p), index=1
  b = s32[2] get-tuple-element(p), index=2
  c = s32[2] get-tuple-element(p), index=3
)";

std::string LoopText(const std::string& root, const std::string& entry) {
  return StrCat("HloModule m\n", kCondition, "  ROOT t = (s32[], s32[2], s32[2], s32[2]) ", root,
                " }\nENTRY e { x = s32[2] parameter(0)\n  y = s32[2] parameter(1)\n"
                "  z = s32[2] add(x, y)\n  zero = s32[] constant(0)\n"
                "  s = (s32[], s32[2], s32[2], s32[2]) tuple(zero, x, y, z)\n"
                "  w = (s32[], s32[2], s32[2], s32[2]) while(s), condition=condition, body=body\n"
                "  u = s32[2] get-tuple-element(w), index=1\n"
                "  v = s32[2] get-tuple-element(w), index=3\n",
                entry, " }");
}

// A chain of products there and back, each of whose steps reads an activation: by the end all of
// them have lived.
std::string Activations(int count) {
  std::string text = "HloModule m\nENTRY e {\n  d0 = f32[64,64] parameter(0)\n";
  const std::string dims = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  for (int k = 1; k <= count; ++k) {
    StrAppend(&text, "  p", k, " = f32[64,64] parameter(", k, ")\n  y", k, " = f32[64,64] sine(p",
              k, ")\n  d", k, " = f32[64,64] dot(d", k - 1, ", y", k, ")", dims);
  }
  StrAppend(&text, "  e", count + 1, " = f32[64,64] negate(d", count, ")\n");
  for (int k = count; k >= 1; --k) {
    StrAppend(&text, k == 1 ? "  ROOT " : "  ", "e", k, " = f32[64,64] dot(e", k + 1, ", y", k, ")",
              dims);
  }
  return text + "}\n";
}

std::vector<Literal> Matrices(int count) {
  std::vector<Literal> matrices;
  for (int k = 0; k < count; ++k) {
    Literal& matrix = matrices.emplace_back(Shape::Array(ElementType::kF32, {64, 64}));
    for (size_t i = 0; i < matrix.data<float>().size(); ++i) {
      matrix.data<float>()[i] = 0.01f * static_cast<float>((i * 7 + k) % 13);
    }
  }
  return matrices;
}

std::string ArenaUnderALimit() {
  const std::unique_ptr<Module> module = MustRead(Activations(16));
  const std::vector<Literal> arguments = Matrices(17);
  const auto free = MustCompile(*module, "threads=1");
  const auto limited = MustCompile(*module, "threads=1,memory_limit=400000,verify=on");
  if (free == nullptr || limited == nullptr) return "";
  const bool is_equal = Run(*free, arguments)[0].bytes() == Run(*limited, arguments)[0].bytes();
  const auto refused =
      MakeCpu("threads=1,memory_limit=400000,without=hlo-rematerialization")->Compile(*module, {});
  return StrCat("arena ", free->Statistics().at("arena.bytes"), " bytes, under the limit ",
                limited->Statistics().at("arena.bytes"), is_equal ? ", equal" : ", other",
                refused.ok() ? "; compiles without" : "; too large without");
}

constexpr char kLargeKernels[] = R"(HloModule m
condition { p = (s32[], s32[], f32[512,512]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  ROOT l = pred[] compare(i, n), direction=LT }
body { p = (s32[], s32[], f32[512,512]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[512,512] get-tuple-element(p), index=2
  y = f32[512,512] cosine(x)
  t = f32[512,512] transpose(y), dimensions={1,0}
  ROOT r = (s32[], s32[], f32[512,512]) tuple(j, n, t) }
ENTRY e { x = f32[512,512] parameter(0)
  y = f32[512,512] sine(x)
  n = s32[] parameter(1)
  zero = s32[] constant(0)
  s = (s32[], s32[], f32[512,512]) tuple(zero, n, y)
  w = (s32[], s32[], f32[512,512]) while(s), condition=condition, body=body
  v = f32[512,512] get-tuple-element(w), index=2
  ROOT z = f32[512,512] multiply(v, v) })";

// Computations with kernels that threads share.
std::string SharedKernels(const CpuExecutable& executable) {
  std::string text;
  for (const StepText& step : executable.plan()) {
    const bool is_shared = step.plan.find(" in parts of ") != std::string::npos;
    if (is_shared) StrAppend(&text, text.empty() ? "" : ", ", step.frame, " ", step.op);
  }
  return text;
}

std::string ThreadsGiveEqualBits() {
  const std::unique_ptr<Module> module = MustRead(kLargeKernels);
  std::vector<Literal> argument;
  Literal& matrix = argument.emplace_back(Shape::Array(ElementType::kF32, {512, 512}));
  const size_t size = matrix.data<float>().size();
  for (size_t i = 0; i < size; ++i) {
    matrix.data<float>()[i] = 0.001f * static_cast<float>(i % 1009);
  }
  argument.push_back(Literal::Scalar<int32_t>(ElementType::kS32, 3));
  const auto alone = MustCompile(*module, "threads=1");
  if (alone == nullptr) return "";
  const Literal expected = std::move(Run(*alone, argument)[0]);
  std::string text;
  for (const std::string options :
       {"threads=2", "threads=16", "threads=16,with=parallel-task-outliner"}) {
    const auto shared = MustCompile(*module, options + ",trace=on");
    if (shared == nullptr) return "";
    const bool is_equal = Run(*shared, argument)[0].bytes() == expected.bytes();
    StrAppend(&text, text.empty() ? "" : "; ", options, ": ", SharedKernels(*shared),
              is_equal ? ", equal" : ", other");
  }
  return text;
}

TEST(MemoryRows, EveryRowOfTheDocuments) {
  Observations see;
  see["pass-fe-copy-insertion"] = [] {
    std::vector<Literal> two;
    two.push_back(MustReadLiteral("s32[2]", "{1, 2}"));
    two.push_back(MustReadLiteral("s32[2]", "{30, 40}"));
    const std::string both = "  ROOT r = (s32[2], s32[2]) tuple(u, v)";
    return StrCat("as it was: ", WithCopies(LoopText("tuple(j, a, b, c)", both), two),
                  "; swapped: ", WithCopies(LoopText("tuple(j, b, a, c)", both), two),
                  "; in a circle: ", WithCopies(LoopText("tuple(j, b, c, a)", both), two),
                  "; read afterwards: ",
                  WithCopies(LoopText("tuple(j, b, a, c)",
                                      "  ROOT r = (s32[2], s32[2], s32[2]) tuple(u, z, x)"),
                             two));
  };
  see["pass-fe-hlo-rematerialization"] = ArenaUnderALimit;
  see["pass-cpu-parallel-task-assigner--call"] = ThreadsGiveEqualBits;
  CheckRowTable("optimized/testdata/memory_rows.txt", see);
}

}  // namespace
}  // namespace assay
