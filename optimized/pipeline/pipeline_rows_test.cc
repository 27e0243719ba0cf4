// Tests what the documents forbid to every pass: the modules below go through the whole pipeline.
// Each line of testdata/pipeline_rows.txt is one test.
#include "absl/algorithm/container.h"
#include "optimized/passes/memory/memory_scheduler.h"
#include "optimized/passes/pass_testing.h"
#include "optimized/pipeline/pipeline.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

std::unique_ptr<Module> Optimized(const std::string& text) {
  std::unique_ptr<Module> module = ReadForTest(text);
  Gates gates;
  PipelineOptions options;
  options.verify_each = true;
  EXPECT_EQ(Optimize(*module, gates, options), absl::OkStatus());
  return module;
}

// The ops of every computation, operands before users, constants and parameters left out.
std::string Ops(const Module& module) {
  std::string out;
  for (const Computation* computation : module.ComputationPostOrder()) {
    StrAppend(&out, out.empty() ? "" : " | ");
    for (const Instruction* inst : computation->PostOrder()) {
      if (inst->opcode() == Opcode::kConstant || inst->opcode() == Opcode::kParameter) continue;
      StrAppend(&out, out.empty() || out.back() == ' ' ? "" : " ", Name(inst->opcode()));
    }
  }
  return out;
}
std::string OpsAfter(const std::string& text) { return Ops(*Optimized(text)); }

// The rules of order that name both passes, as the built list keeps them and as it is refused when
// the two are swapped.
std::string OrderOf(std::string_view first, std::string_view second) {
  const std::vector<std::string_view> every = EveryPass();
  std::vector<std::string_view> kept, swapped;
  for (std::string_view pass : every) {
    if (pass == first || pass == second) kept.push_back(pass);
    swapped.push_back(pass == first ? second : pass == second ? first : pass);
  }
  std::string text;
  for (std::string_view pass : kept) StrAppend(&text, text.empty() ? "" : ", ", pass);
  EXPECT_EQ(CheckOrder(every), absl::OkStatus());
  return StrCat(text, "; swapped: ", ToStd(CheckOrder(swapped).message()));
}

TEST(PipelineRows, EveryRowOfTheDocuments) {
  Observations see;
  // Between equal widths it is fused like any element-wise op, between different ones it is not;
  // nor does a slice move through it.
  see["shape-bitcast-convert-not-elementwise"] = [] {
    const std::string same = OpsAfter(R"(
      x = f32[64] parameter(0)
      n = f32[64] exponential(x)
      b = s32[64] bitcast-convert(n)
      ROOT r = s32[64] not(b))");
    const std::string narrower = OpsAfter(R"(
      x = f32[64] parameter(0)
      n = f32[64] exponential(x)
      b = s16[64,2] bitcast-convert(n)
      ROOT r = s16[64,2] not(b))");
    const std::string sliced = OpsAfter(R"(
      x = s16[64,2] parameter(0)
      b = s32[64] bitcast-convert(x)
      ROOT r = s32[8] slice(b), slice={[8:16]})");
    return StrCat("same width: ", same, "; narrower: ", narrower, "; slice: ", sliced);
  };
  // Without the barriers: negate(negate(x)) is x, equal values merge, constants fold, and
  // everything is one fusion.
  see["shape-optimization-barrier-blocks"] = [] {
    const std::string text = R"(
      x = s32[8] parameter(0)
      a = s32[8] negate(x)
      b = s32[8] FENCE(a)
      c = s32[8] negate(b)
      two = s32[8] constant({2, 2, 2, 2, 2, 2, 2, 2})
      d = s32[8] FENCE(two)
      e = s32[8] multiply(d, d)
      f = s32[8] FENCE(x)
      g = s32[8] negate(f)
      ROOT t = (s32[8], s32[8], s32[8], s32[8]) tuple(a, c, e, g))";
    auto with = [&](std::string_view op) {
      std::string out = text;
      for (size_t at; (at = out.find("FENCE")) != std::string::npos;) out.replace(at, 5, op);
      return OpsAfter(out);
    };
    return StrCat("copy: ", with("copy"), "; barrier: ", with("opt-barrier"));
  };
  see["shape-replica-id-not-constant"] = [] {
    return OpsAfter(R"(HloModule m, replica_count=2
ENTRY e { r = u32[] replica-id()
  ten = u32[] constant(10)
  p = u32[] multiply(r, ten)
  ROOT t = (u32[], u32[]) tuple(r, p) })");
  };
  see["op-parameter"] = [] {
    const auto module = Optimized(R"(
      x = f32[2] parameter(0)
      unused = f32[3] parameter(1)
      dead = f32[3] negate(unused)
      ROOT r = f32[2] exponential(x))");
    return StrCat(module->entry()->parameter_count(), " parameters, ",
                  module->entry()->parameter(1)->shape().ToString(), "; ", Ops(*module));
  };
  see["shape-custom-call-pure"] = [] {
    return OpsAfter(R"(
      x = f32[2] parameter(0)
      dead = f32[2] custom-call(x), custom_call_target="f"
      kept = f32[2] custom-call(x), custom_call_target="g", custom_call_has_side_effect=true
      ROOT r = f32[2] exponential(x))");
  };
  // Their results are not needed, and the equal ones differ by effect only; the order is that of
  // the tokens.
  see["gloss-side-effect"] = [] {
    return OpsAfter(R"(HloModule m, replica_count=2
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[2] parameter(0)
  t = token[] after-all()
  i = (f32[2], token[]) infeed(t)
  u = token[] get-tuple-element(i), index=1
  j = (f32[2], token[]) infeed(u)
  v = token[] get-tuple-element(j), index=1
  o = token[] outfeed(x, v)
  p = token[] outfeed(x, o)
  c = f32[2] custom-call(x), custom_call_target="g", custom_call_has_side_effect=true
  d = f32[2] custom-call(x), custom_call_target="g", custom_call_has_side_effect=true
  r = f32[2] all-reduce(x), to_apply=add
  s = (f32[2], u32[], token[]) send(x, p), channel_id=1
  sd = token[] send-done(s), channel_id=1
  q = (f32[2], u32[], token[]) recv(p), channel_id=1
  qd = (f32[2], token[]) recv-done(q), channel_id=1
  ROOT n = f32[2] negate(x) })");
  };
  see["shape-custom-call-opaque"] = [] {
    const auto module = Optimized(R"(
      a = f32[2] constant({1, 2})
      b = f32[2] constant({3, 4})
      c = f32[2] add(a, b)
      d = f32[2] custom-call(c, a), custom_call_target="f"
      ROOT r = f32[2] negate(d))");
    std::string operands;
    for (const Instruction* inst : module->entry()->PostOrder()) {
      if (inst->opcode() != Opcode::kCustomCall) continue;
      for (const Instruction* operand : inst->operands()) {
        StrAppend(&operands, " ", Name(operand->opcode()), " ", operand->literal()->ToString());
      }
    }
    return StrCat(Ops(*module), ";", operands);
  };
  see["shape-composite-call-replaceable"] = [] {
    const std::string decomposition = R"(HloModule m
square { p = f32[2] parameter(0)
  q = f32[2] parameter(1)
  s = f32[2] multiply(p, p)
  ROOT d = f32[2] subtract(s, q) }
)";
    const auto composite = Optimized(decomposition + R"(ENTRY e { x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  ROOT c = f32[2] call(x, y), to_apply=square, is_composite=true, frontend_attributes={composite.name="a.b",composite.version="1"} })");
    const auto inlined = Optimized(R"(HloModule m
ENTRY e { x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  s = f32[2] multiply(x, x)
  ROOT d = f32[2] subtract(s, y) })");
    return StrCat(Ops(*composite), "; ",
                  composite->Hash() == inlined->Hash() ? "equal" : "different");
  };
  // Two values as large, of which one is only read for a small one.
  const std::string large_values = R"(HloModule m, is_scheduled=true
ENTRY e { x = f32[4096] parameter(0)
  stays = f32[4096] negate(x)
  other = f32[4096] sort(x), dimensions={0}, to_apply=less
  small = f32[1] slice(other), slice={[0:1]}
  zero = s32[] constant(0)
  ROOT r = f32[4096] dynamic-update-slice(stays, small, zero) })";
  const std::string less = R"(
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
)";
  const std::string scheduled =
      std::string(large_values).insert(large_values.find("ENTRY"), less.substr(1));
  see["pass-fe-hlo-descheduler"] = [scheduled] {
    const auto module = ReadForTest(scheduled);
    const bool before = module->has_schedule();
    Gates gates;
    EXPECT_EQ(RunRequired(Stage::kLegalize, *module, gates, {}), absl::OkStatus());
    return StrCat(before ? "scheduled" : "not scheduled", " before, ",
                  module->has_schedule() ? "scheduled" : "not scheduled", " afterwards");
  };
  see["pass-fe-hlo-memory-scheduler"] = [scheduled] {
    const auto module = ReadForTest(scheduled);
    module->clear_schedule();
    const InstructionOrder trivial = module->entry()->PostOrder();
    Gates gates;
    PassContext context{gates, Profile::Xla()};
    EXPECT_TRUE(*MemoryScheduler().Run(*module, context));
    const InstructionOrder order(module->entry()->begin(), module->entry()->end());
    return StrCat(module->has_schedule() ? "scheduled" : "not scheduled", ", ", PeakOf(order).plain,
                  " bytes instead of ", PeakOf(trivial).plain);
  };
  see["pass-fe-hlo-trivial-scheduler"] = [scheduled] {
    const auto module = ReadForTest(scheduled);
    module->clear_schedule();
    std::string names;
    for (const Instruction* inst : module->entry()->PostOrder())
      StrAppend(&names, names.empty() ? "" : " ", inst->name());
    return names;
  };
  // Random numbers are random bits, scaled; nothing else draws.
  see["pass-fe-rng-expander"] = [] {
    const auto module = ReadForTest(R"(
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = f32[8] rng(a, b), distribution=rng_uniform)");
    Gates gates;
    PipelineOptions options;
    options.verify_each = true;
    EXPECT_EQ(RunRequired(Stage::kLegalize, *module, gates, options), absl::OkStatus());
    return StrCat(module->HasAny({Opcode::kRng}) ? "drawn as before" : "expanded", ", ",
                  module->HasAny({Opcode::kRngBitGenerator}) ? "from random bits" : "from nothing");
  };
  // Whichever computation the wrong instruction is in, the entry or one that it calls.
  see["pass-fe-hlo-verifier"] = [] {
    const std::string text = R"(HloModule m
negated { x = f32[4] parameter(0)
  ROOT n = f32[4] negate(x) }
ENTRY e { y = f32[4] parameter(0)
  c = f32[4] call(y), to_apply=negated
  ROOT r = f32[4] abs(c) })";
    std::string told = Verify(*ReadForTest(text)).ok() ? "accepted" : "rejected";
    for (const std::string name : {"negated", "e"}) {
      const auto module = ReadForTest(text);
      Computation* computation = module->GetComputationWithName(name);
      computation->root()->mutable_shape() = Shape::Array(ElementType::kF32, {5});
      const absl::Status status = Verify(*module);
      StrAppend(&told, "; root of ", name, status.ok() ? " accepted" : " rejected");
    }
    return told;
  };
  see["pipe-hlo-pass-pipeline"] = [] {
    const auto module = ReadForTest(R"(
      x = f32[4] parameter(0)
      n = f32[4] negate(x)
      m = f32[4] negate(n)
      dead = f32[4] exponential(x)
      ROOT t = (f32[4], f32[4]) tuple(m, m))");
    PipelineOptions options;
    options.verify_each = true;
    options.stop_after_pass = "algebraic-simplifier";
    std::string text;
    options.observer = [&](std::string_view pass, bool changed, const Module& now) {
      if (changed) StrAppend(&text, pass, " left ", now.InstructionCount(), " instructions; ");
    };
    Gates gates;
    EXPECT_EQ(Optimize(*module, gates, options), absl::OkStatus());
    return StrCat(text, Ops(*module));
  };
  see["pipe-fixpoint"] = [] {
    const auto module = ReadForTest(R"(HloModule m
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[16] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=sum })");
    PipelineOptions options;
    options.on_request = true;
    options.pass_options.reduce_window_size = 2;
    options.verify_each = true;
    std::string runs;
    options.observer = [&](std::string_view pass, bool changed, const Module&) {
      if (pass == "tree-reduction-rewriter") StrAppend(&runs, changed ? "changed " : "unchanged ");
    };
    options.without = {"loop-fusion", "multi-output-fusion"};
    Gates gates;
    EXPECT_EQ(Optimize(*module, gates, options), absl::OkStatus());
    return StrCat(runs, "; ", Ops(*module));
  };
  // A pass that knows no mixed precision is refused behind the one that makes it.
  see["pipe-order-bf16"] = [] {
    return StrCat(
        OrderOf("bfloat16-mixed-precision-removal", "bfloat16-propagation"), "; ",
        OrderOf("bfloat16-propagation", "bfloat16-conversion-folding"), "; ",
        OrderOf("bfloat16-normalization", "bfloat16-conversion-folding"), "; behind: ",
        ToStd(CheckOrder({"bfloat16-conversion-folding", "dce", "algebraic-simplifier"}).message()),
        "; without: ", ToStd(CheckOrder({"dce", "bfloat16-conversion-folding"}).message()));
  };
  see["pipe-order-arcrs"] = [] {
    return StrCat(OrderOf("sharding-propagation", "all-reduce-cross-combiner"), "; ",
                  OrderOf("all-reduce-cross-combiner", "all-reduce-combiner"));
  };
  see["pipe-order-while-trip-count"] = [] {
    return StrCat(OrderOf("while-simplifier", "while-loop-trip-count-annotator"), "; ",
                  OrderOf("while-loop-trip-count-annotator", "loop-fusion"));
  };
  see["pipe-order-tuple-simplifier"] = [] {
    return StrCat(ToStd(CheckOrder({"tuple-simplifier", "while-simplifier"}).message()), "; ",
                  CheckOrder({"while-simplifier", "tuple-simplifier"}).ok() ? "kept" : "refused");
  };
  see["pipe-order-reduction"] = [] {
    return StrCat(OrderOf("reduction-layout-normalizer", "reduction-dimension-grouper"), "; ",
                  OrderOf("reduction-dimension-grouper", "reduction-splitter"));
  };
  see["pipe-order-rematerialization"] = [] {
    std::string behind;
    bool is_behind = false;
    for (std::string_view pass : DefaultPasses()) {
      if (is_behind) StrAppend(&behind, " ", pass);
      is_behind |= pass == "hlo-rematerialization";
    }
    return StrCat(ToStd(CheckOrder({"hlo-rematerialization", "cse"}).message()),
                  "; behind it:", behind);
  };
  see["pipe-order-alias-passthrough"] = [] {
    return OrderOf("alias-passthrough-params", "copy-insertion");
  };
  see["pipe-order-gemm-pad"] = [] {
    return OrderOf("dot-decomposer", "cublas-gemm-pad-for-tensor-cores");
  };
  see["pipe-order-fused-conv"] = [] {
    return OrderOf("gpu-conv-rewriter", "cudnn-fused-conv-rewriter");
  };
  see["pipe-order-batch-dot"] = [] {
    return StrCat(
        OrderOf("batch-dot-simplification", "dot-decomposer"), "; twice: ",
        ToStd(CheckOrder({"batch-dot-simplification", "batch-dot-simplification", "dot-decomposer"})
                  .message()));
  };
  see["pass-gpu-gpu-sanitize-constant-names"] = [] {
    const auto module = ReadForTest(R"(
      x.1 = f32[] parameter(0)
      c-1.5 = f32[] constant(2)
      c_1_5 = f32[] constant(3)
      s.1 = f32[] add(x.1, c-1.5)
      ROOT r.1 = f32[] multiply(s.1, c_1_5))");
    Gates gates;
    PipelineOptions options;
    options.passes = {"gpu-sanitize-constant-names"};
    EXPECT_EQ(Optimize(*module, gates, options), absl::OkStatus());
    std::string names;
    for (const Instruction* inst : module->entry()->PostOrder())
      StrAppend(&names, names.empty() ? "" : " ", inst->name());
    return names;
  };
  // The list is read without a module; the passes that run on GPUs beside those of CPUs, and what
  // one of them does where a GPU's list runs.
  see["pipe-gpu-optimize-hlo-module"] = [] {
    std::string more;
    for (const ListedStep& step : ListPipeline(kOnGpu)) {
      const auto on_cpu = ListPipeline(kOnCpu);
      if (absl::c_any_of(on_cpu, [&](const ListedStep& s) { return s.pass == step.pass; }))
        continue;
      if (step.pass.starts_with("reduction-")) StrAppend(&more, more.empty() ? "" : " ", step.pass);
    }
    for (const std::string_view target : {kOnCpu, kOnGpu}) {
      const auto module = ReadForTest(R"(HloModule m
sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }
ENTRY e {
  x = s32[4,5,6] parameter(0)
  z = s32[] constant(0)
  ROOT r = s32[4] reduce(x, z), dimensions={1,2}, to_apply=sum })");
      Gates gates;
      PipelineOptions options;
      options.target = target;
      EXPECT_EQ(Optimize(*module, gates, options), absl::OkStatus());
      StrAppend(&more, "; ", target, ": ", Ops(*module));
    }
    return more;
  };
  CheckRowTable("optimized/testdata/pipeline_rows.txt", see);
}

}  // namespace
}  // namespace assay
