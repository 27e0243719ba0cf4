// The builder of the documents: each row builds a computation, runs it on the oracle, and makes one
// call that is rejected. One line of testdata/builder_rows.txt per row: the value; the error.
#include <algorithm>

#include "reference/testing/builder_program.h"
#include "spec/base/row_table_for_test.h"
#include "spec/ir/hlo_module.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/module_proto.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

void AddBuilderRows(Observations& see) {
  see["builder-xla-builder"] = [] {
    return Rejected([](XlaBuilder& b) {
      const XlaOp sum = b.Add(Vector(b), Matrix(b));
      b.Tuple({sum});
      b.Slice(Vector(b), {0, 0}, {1, 1});
    });
  };
  see["builder-computation-builder"] = [] {
    ComputationBuilder builder("2017");
    builder.Add(F(builder, "1"), F(builder, "2"));
    return builder.Build()->name();
  };
  see["builder-xla-op"] = [] {
    XlaBuilder a("a"), b("b");
    const XlaOp one = F(a, "1");
    b.Neg(one);
    return StrCat(one.valid() ? "valid" : "invalid", "; ", ToStd(b.first_error().message()));
  };
  see["builder-computation-data-handle"] = [] {
    return std::is_same_v<ComputationDataHandle, XlaOp> ? "XlaOp" : "another";
  };
  see["builder-xla-computation"] = [] {
    return Value([](XlaBuilder& b) { b.Call(Negate(), {F(b, "3")}); });
  };
  see["builder-computation"] = [] {
    const XlaComputation computation = Twice();
    return StrCat(computation.module().entry()->instruction_count(), " instructions");
  };
  see["builder-ctor-name"] = [] {
    XlaBuilder b("alltoall");
    F(b, "1");
    return b.Build()->module().entry()->name();
  };
  see["builder-parameter"] = [] {
    const std::string gap = Rejected([](XlaBuilder& b) { b.Parameter(1, kScalar, "x"); });
    return StrCat(Rejected([](XlaBuilder& b) {
                    b.Parameter(0, kScalar, "x");
                    Parameter(&b, 0, kScalar, "y");
                  }),
                  "; ", gap);
  };
  see["builder-make-shape"] = [] {
    return StrCat(ShapeUtil::MakeShape(kF32, {2, 3}).ToString(true), " ",
                  ShapeUtil::MakeShape(kF32, {}).ToString());
  };
  see["builder-constant-literal"] = [] { return Value([](XlaBuilder& b) { Vector(b); }); };
  see["builder-min-value"] = [] {
    std::string values;
    for (ElementType type : {kF32, ElementType::kF64, ElementType::kBF16, ElementType::kF8E4M3FN,
                             kS32, ElementType::kS8, kU32, ElementType::kPred}) {
      StrAppend(&values, LiteralUtil::MinValue(type)->ToString(), " ");
    }
    return values;
  };
  see["builder-build"] = [] {
    XlaBuilder b("b");
    F(b, "1");
    b.Neg(F(b, "2"));
    absl::StatusOr<XlaComputation> first = b.Build();
    return StrCat(first->module().entry()->root()->name(), "; ",
                  ToStd(b.Build().status().message()), "; ",
                  ToStd(XlaBuilder("e").Build().status().message()));
  };
  see["builder-op-methods"] = [] {
    return Value([](XlaBuilder& b) {
      XlaBuilder inner("max");
      const XlaOp y = inner.Parameter(0, kScalar, "y"), x = inner.Parameter(1, kScalar, "x");
      inner.Max(y, x);
      b.Reduce(Matrix(b), b.ConstantLiteral(*LiteralUtil::MinValue(kF32)), *inner.Build(), {1});
    });
  };
  auto channel = [](Module& module, Instruction** data, Instruction** token) {
    Computation* entry = module.AddComputation("main");
    *data = entry->AddParameter(0, ShapeUtil::MakeShape(kF32, {4}));
    *token = entry->Add(Opcode::kAfterAll, Shape::Token(), absl::Span<Instruction* const>());
  };
  see["builder-hlo-create-send"] = [channel] {
    Module module("m");
    Instruction *data, *token;
    channel(module, &data, &token);
    auto send = HloInstruction::CreateSend(data, token, 7);
    return StrCat((*send)->shape().ToString(), " channel ",
                  (*send)->attributes().Integer(Attr::kChannelId), "; ",
                  ToStd(HloInstruction::CreateSend(data, data, 7).status().message()));
  };
  see["builder-hlo-create-send-done"] = [channel] {
    Module module("m");
    Instruction *data, *token;
    channel(module, &data, &token);
    auto done = HloInstruction::CreateSendDone(*HloInstruction::CreateSend(data, token, 7));
    return StrCat((*done)->shape().ToString(), "; ",
                  ToStd(HloInstruction::CreateSendDone(data).status().message()));
  };
  see["builder-hlo-create-recv"] = [channel] {
    Module module("m");
    Instruction *data, *token;
    channel(module, &data, &token);
    auto recv = HloInstruction::CreateRecv(data->shape(), token, 3);
    return StrCat((*recv)->shape().ToString(), " channel ",
                  (*recv)->attributes().Integer(Attr::kChannelId), "; ",
                  ToStd(HloInstruction::CreateRecv(data->shape(), data, 3).status().message()));
  };
  see["builder-hlo-create-recv-done"] = [channel] {
    Module module("m");
    Instruction *data, *token;
    channel(module, &data, &token);
    auto done =
        HloInstruction::CreateRecvDone(*HloInstruction::CreateRecv(data->shape(), token, 3));
    return StrCat((*done)->shape().ToString(), "; ",
                  ToStd(HloInstruction::CreateRecvDone(token).status().message()));
  };
}

// Counts how many of the modules come out of the binary form as they went in, each instruction as
// one message of its opcode.
std::string ThroughProto(const std::vector<Body>& bodies) {
  int right = 0;
  for (const Body& body : bodies) {
    XlaBuilder b("b");
    body(b);
    const XlaComputation built = *b.Build();
    const proto::HloModuleProto message = *ModuleToProto(built.module());
    bool same = message.computations_size() == built.module().computation_count();
    for (const Computation* computation : built.module().computations()) {
      const auto found =
          std::find_if(message.computations().begin(), message.computations().end(),
                       [&](const auto& one) { return one.name() == computation->name(); });
      same = same && found != message.computations().end() &&
             found->instructions_size() == computation->instruction_count();
      int i = 0;
      for (const Instruction* instruction : computation->instructions()) {
        same = same && found->instructions(i++).opcode() == Name(instruction->opcode());
      }
    }
    const auto again = *ModuleFromProto(message, ModuleConfig());
    right += same && again->Hash() == built.module().Hash() && Verify(*again).ok();
  }
  return StrCat(right, " of ", bodies.size(), " builder methods");
}

void AddMethodRows(Observations& see) {
  static std::vector<Body> bodies;
  bodies.clear();
  see["gloss-xla-data-proto"] = [] { return ThroughProto(bodies); };
  auto method = [&see](std::string_view id, Body good, Body bad) {
    bodies.push_back(good);
    see[StrCat("builder-method-", id)] = [good, bad] { return Both(good, bad); };
  };
  // The op gives no value on one device, or none that is fixed: shape instead of value.
  auto built = [&see](std::string_view id, Body good, Body bad) {
    bodies.push_back(good);
    see[StrCat("builder-method-", id)] = [good, bad] {
      return StrCat(Root(good), "; ", Rejected(bad));
    };
  };
  method(
      "bitcast-convert-type", [](XlaBuilder& b) { b.BitcastConvertType(F(b, "1"), kS32); },
      [](XlaBuilder& b) { b.BitcastConvertType(F(b, "1"), ElementType::kS64); });
  method(
      "broadcast", [](XlaBuilder& b) { b.Broadcast(F(b, "2"), {2, 2}); },
      [](XlaBuilder& b) { b.Broadcast(F(b, "2"), {-1}); });
  method(
      "broadcast-in-dim", [](XlaBuilder& b) { b.BroadcastInDim(Vector(b), {2, 3}, {1}); },
      [](XlaBuilder& b) { b.BroadcastInDim(Vector(b), {2, 4}, {1}); });
  method(
      "call", [](XlaBuilder& b) { b.Call(Twice(), {F(b, "4")}); },
      [](XlaBuilder& b) { b.Call(Twice(), {I(b, "4")}); });
  method(
      "composite-call",
      [](XlaBuilder& b) { b.CompositeCall(Twice(), {F(b, "4")}, "foo.bar", "{n = 1 : i32}", 1); },
      [](XlaBuilder& b) { b.CompositeCall(Twice(), {F(b, "4")}, "foo.bar", "{}", -1); });
  method(
      "clamp", [](XlaBuilder& b) { b.Clamp(F(b, "1.5"), Vector(b), F(b, "2.5")); },
      [](XlaBuilder& b) { b.Clamp(I(b, "1"), Vector(b), F(b, "2.5")); });
  method(
      "collapse", [](XlaBuilder& b) { b.Collapse(Matrix(b), {0, 1}); },
      [](XlaBuilder& b) { b.Collapse(Matrix(b), {1, 0}); });
  method(
      "concat-in-dim", [](XlaBuilder& b) { b.ConcatInDim({Vector(b), Vector(b)}, 0); },
      [](XlaBuilder& b) { b.ConcatInDim({Vector(b), Matrix(b)}, 0); });
  method(
      "conditional",
      [](XlaBuilder& b) {
        b.Conditional(C(b, "pred[]", "true"), F(b, "1"), Twice(), F(b, "2"), Negate());
      },
      [](XlaBuilder& b) {
        b.Conditional(C(b, "pred[]", "true"), I(b, "1"), Twice(), F(b, "2"), Negate());
      });
  method(
      "convert-element-type",
      [](XlaBuilder& b) { b.ConvertElementType(C(b, "f32[2]", "{1.9, -1.9}"), kS32); },
      [](XlaBuilder& b) { b.ConvertElementType(b.Tuple({F(b, "1")}), kS32); });
  method(
      "dot", [](XlaBuilder& b) { b.Dot(Matrix(b), Vector(b)); },
      [](XlaBuilder& b) { b.Dot(Vector(b), Matrix(b)); });
  method(
      "dot-general", [](XlaBuilder& b) { b.DotGeneral(Matrix(b), Matrix(b), {1}, {1}, {0}, {0}); },
      [](XlaBuilder& b) { b.DotGeneral(Matrix(b), Matrix(b), {1}, {0}); });
  method(
      "dynamic-slice",
      [](XlaBuilder& b) { b.DynamicSlice(Vector(b), absl::MakeConstSpan({I(b, "1")}), {2}); },
      [](XlaBuilder& b) { b.DynamicSlice(Vector(b), absl::MakeConstSpan({I(b, "1")}), {4}); });
  method(
      "dynamic-update-slice",
      [](XlaBuilder& b) {
        b.DynamicUpdateSlice(Vector(b), C(b, "f32[1]", "{9}"), absl::MakeConstSpan({I(b, "1")}));
      },
      [](XlaBuilder& b) {
        b.DynamicUpdateSlice(Vector(b), C(b, "f32[4]", "{9, 9, 9, 9}"),
                             absl::MakeConstSpan({I(b, "1")}));
      });
  method(
      "add", [](XlaBuilder& b) { b.Add(Matrix(b), Vector(b), {1}); },
      [](XlaBuilder& b) { b.Add(Matrix(b), I(b, "1")); });
  method(
      "eq", [](XlaBuilder& b) { b.Eq(Vector(b), F(b, "2")); },
      [](XlaBuilder& b) { b.Eq(Vector(b), I(b, "2")); });
  method(
      "get-tuple-element",
      [](XlaBuilder& b) { b.GetTupleElement(b.Tuple({F(b, "1"), I(b, "2")}), 1); },
      [](XlaBuilder& b) { b.GetTupleElement(b.Tuple({F(b, "1")}), 1); });
  method(
      "iota", [](XlaBuilder& b) { b.Iota(ShapeUtil::MakeShape(kS32, {2, 3}), 1); },
      [](XlaBuilder& b) { b.Iota(ShapeUtil::MakeShape(kS32, {2, 3}), 2); });
  method(
      "pad", [](XlaBuilder& b) { b.Pad(Vector(b), F(b, "0"), {{1, -1, 1}}); },
      [](XlaBuilder& b) { b.Pad(Vector(b), F(b, "0"), {{0, 0, -1}}); });
  method(
      "reduce", [](XlaBuilder& b) { b.Reduce(Matrix(b), F(b, "0"), Scalar(Opcode::kAdd), {0}); },
      [](XlaBuilder& b) { b.Reduce(Matrix(b), F(b, "0"), Scalar(Opcode::kAdd), {2}); });
  method(
      "reduce-precision",
      [](XlaBuilder& b) { b.ReducePrecision(C(b, "f32[2]", "{1.2, 3.3}"), 5, 2); },
      [](XlaBuilder& b) { b.ReducePrecision(F(b, "1"), 0, 2); });
  method(
      "reshape", [](XlaBuilder& b) { b.Reshape(Matrix(b), {3, 2}); },
      [](XlaBuilder& b) { b.Reshape(Matrix(b), {4}); });
  method(
      "rev", [](XlaBuilder& b) { b.Rev(Matrix(b), {1}); },
      [](XlaBuilder& b) { b.Rev(Matrix(b), {1, 1}); });
  method(
      "select",
      [](XlaBuilder& b) {
        b.Select(C(b, "pred[3]", "{true, false, true}"), Vector(b), b.Neg(Vector(b)));
      },
      [](XlaBuilder& b) { b.Select(Vector(b), Vector(b), Vector(b)); });
  method(
      "slice", [](XlaBuilder& b) { b.Slice(Matrix(b), {0, 0}, {2, 3}, {1, 2}); },
      [](XlaBuilder& b) { b.Slice(Matrix(b), {0, 0}, {2, 4}); });
  method(
      "tuple", [](XlaBuilder& b) { b.Tuple({F(b, "1"), Vector(b)}); },
      [](XlaBuilder& b) { b.Tuple({XlaOp()}); });
  method(
      "while",
      [](XlaBuilder& b) {
        const XlaComputation less =
            Function(kScalar, [](XlaBuilder& c, XlaOp x) { return c.Lt(x, F(c, "100")); });
        b.While(less, Twice(), F(b, "3"));
      },
      [](XlaBuilder& b) { b.While(Twice(), Twice(), F(b, "3")); });

  // Ops of the other rooms of the op table.
  method(
      "after-all", [](XlaBuilder& b) { b.AfterAll({b.CreateToken()}); },
      [](XlaBuilder& b) { b.AfterAll({F(b, "1")}); });
  method(
      "map", [](XlaBuilder& b) { b.Map({Vector(b)}, Twice(), {0}); },
      [](XlaBuilder& b) { b.Map({Vector(b)}, Twice(), {1}); });
  auto gather = [](XlaBuilder& b, int64_t slice_size) {
    b.Gather(Vector(b), C(b, "s32[2,1]", "{{2}, {0}}"),
             Attributes()
                 .Set(Attr::kOffsetDims, AttrValue(Int64List()))
                 .Set(Attr::kCollapsedSliceDims, {0})
                 .Set(Attr::kStartIndexMap, {0})
                 .Set(Attr::kIndexVectorDim, 1),
             {slice_size});
  };
  method("gather", [&](XlaBuilder& b) { gather(b, 1); }, [&](XlaBuilder& b) { gather(b, 4); });
  auto scatter = [](XlaBuilder& b, std::string_view update_shape, std::string_view updates) {
    b.Scatter({Vector(b)}, C(b, "s32[2,1]", "{{2}, {0}}"), {C(b, update_shape, updates)},
              Scalar(Opcode::kAdd),
              Attributes()
                  .Set(Attr::kUpdateWindowDims, AttrValue(Int64List()))
                  .Set(Attr::kInsertedWindowDims, {0})
                  .Set(Attr::kScatterDimsToOperandDims, {0})
                  .Set(Attr::kIndexVectorDim, 1));
  };
  method(
      "scatter", [scatter](XlaBuilder& b) { scatter(b, "f32[2]", "{10, 20}"); },
      [scatter](XlaBuilder& b) { scatter(b, "f32[3]", "{10, 20, 30}"); });
  method(
      "sort", [](XlaBuilder& b) { b.Sort({b.Rev(Vector(b), {0})}, Compare(Direction::kLt), 0); },
      [](XlaBuilder& b) { b.Sort({Vector(b)}, Compare(Direction::kLt), 1); });
  method(
      "top-k", [](XlaBuilder& b) { b.TopK(Vector(b), 2); },
      [](XlaBuilder& b) { b.TopK(Vector(b), 4); });
  method(
      "reduce-window",
      [](XlaBuilder& b) {
        b.ReduceWindow(Matrix(b), b.ConstantLiteral(*LiteralUtil::MinValue(kF32)),
                       Scalar(Opcode::kMaximum), {2, 2}, {1, 1}, Padding::kValid);
      },
      [](XlaBuilder& b) {
        b.ReduceWindow(Matrix(b), F(b, "0"), Scalar(Opcode::kMaximum), {2}, {1}, Padding::kValid);
      });
  method(
      "select-and-scatter",
      [](XlaBuilder& b) {
        b.SelectAndScatter(C(b, "f32[4]", "{7, 2, 5, 3}"), Compare(Direction::kGe), {2}, {2},
                           Padding::kValid, C(b, "f32[2]", "{2, 6}"), F(b, "0"),
                           Scalar(Opcode::kAdd));
      },
      [](XlaBuilder& b) {
        b.SelectAndScatter(C(b, "f32[4]", "{7, 2, 5, 3}"), Compare(Direction::kGe), {2}, {2},
                           Padding::kValid, C(b, "f32[3]", "{2, 6, 1}"), F(b, "0"),
                           Scalar(Opcode::kAdd));
      });
  auto image = [](XlaBuilder& b) {
    return C(b, "f32[1,1,3,3]", "{{{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}}");
  };
  auto ones = [](XlaBuilder& b) { return C(b, "f32[1,1,2,2]", "{{{{1, 1}, {1, 1}}}}"); };
  method(
      "conv", [=](XlaBuilder& b) { b.Conv(image(b), ones(b), {1, 1}, Padding::kValid); },
      [=](XlaBuilder& b) { b.Conv(image(b), ones(b), {1}, Padding::kValid); });
  method(
      "conv-with-general-padding",
      [=](XlaBuilder& b) { b.ConvWithGeneralPadding(image(b), ones(b), {2, 2}, {{1, 0}, {1, 0}}); },
      [=](XlaBuilder& b) { b.ConvWithGeneralPadding(image(b), ones(b), {2, 2}, {{1, 0}}); });
  method(
      "fft", [](XlaBuilder& b) { b.Fft(C(b, "f32[4]", "{1, 0, 0, 0}"), "RFFT", {4}); },
      [](XlaBuilder& b) { b.Fft(C(b, "f32[4]", "{1, 0, 0, 0}"), "RFFT", {5}); });
  method(
      "cholesky", [](XlaBuilder& b) { b.Cholesky(C(b, "f32[1,1]", "{{4}}"), true); },
      [](XlaBuilder& b) { b.Cholesky(Matrix(b), true); });
  method(
      "triangular-solve",
      [](XlaBuilder& b) {
        b.TriangularSolve(C(b, "f32[2,2]", "{{2, 0}, {1, 4}}"), C(b, "f32[2,1]", "{{2}, {9}}"),
                          true, true, false, "NO_TRANSPOSE");
      },
      [](XlaBuilder& b) {
        b.TriangularSolve(Matrix(b), C(b, "f32[2,1]", "{{2}, {9}}"), true, true, false,
                          "NO_TRANSPOSE");
      });
  method(
      "get-dimension-size", [](XlaBuilder& b) { b.GetDimensionSize(Matrix(b), 1); },
      [](XlaBuilder& b) { b.GetDimensionSize(Matrix(b), 2); });
  built(
      "set-dimension-size", [](XlaBuilder& b) { b.SetDimensionSize(Vector(b), I(b, "2"), 0); },
      [](XlaBuilder& b) { b.SetDimensionSize(Vector(b), I(b, "2"), 1); });
  auto norm = [](XlaBuilder& b, std::string_view scale_shape, std::string_view scale, int64_t f) {
    b.BatchNormInference(C(b, "f32[2,1]", "{{1}, {3}}"), C(b, scale_shape, scale),
                         C(b, "f32[1]", "{0}"), C(b, "f32[1]", "{2}"), C(b, "f32[1]", "{1}"), 0, f);
  };
  method(
      "batch-norm-inference", [norm](XlaBuilder& b) { norm(b, "f32[1]", "{1}", 1); },
      [norm](XlaBuilder& b) { norm(b, "f32[2]", "{1, 1}", 1); });
  method(
      "batch-norm-training",
      [](XlaBuilder& b) {
        b.BatchNormTraining(C(b, "f32[2,1]", "{{1}, {3}}"), C(b, "f32[1]", "{1}"),
                            C(b, "f32[1]", "{0}"), 0, 1);
      },
      [](XlaBuilder& b) {
        b.BatchNormTraining(C(b, "f32[2,1]", "{{1}, {3}}"), C(b, "f32[1]", "{1}"),
                            C(b, "f32[1]", "{0}"), 0, 2);
      });
  built(
      "batch-norm-grad",
      [](XlaBuilder& b) {
        const XlaOp one = C(b, "f32[1]", "{1}"), x = C(b, "f32[2,1]", "{{1}, {3}}");
        b.BatchNormGrad(x, one, one, one, x, 0, 1);
      },
      [](XlaBuilder& b) {
        const XlaOp one = C(b, "f32[1]", "{1}"), x = C(b, "f32[2,1]", "{{1}, {3}}");
        b.BatchNormGrad(x, one, one, x, x, 0, 1);
      });
  built(
      "rng-uniform",
      [](XlaBuilder& b) { b.RngUniform(F(b, "0"), F(b, "1"), ShapeUtil::MakeShape(kF32, {4})); },
      [](XlaBuilder& b) { b.RngUniform(F(b, "0"), I(b, "1"), ShapeUtil::MakeShape(kF32, {4})); });
  built(
      "rng-normal",
      [](XlaBuilder& b) { b.RngNormal(F(b, "0"), F(b, "1"), ShapeUtil::MakeShape(kF32, {4})); },
      [](XlaBuilder& b) { b.RngNormal(I(b, "0"), I(b, "1"), ShapeUtil::MakeShape(kS32, {4})); });
  built(
      "rng-bernoulli",
      [](XlaBuilder& b) { b.RngBernoulli(F(b, "0.5"), ShapeUtil::MakeShape(kU32, {4})); },
      [](XlaBuilder& b) { b.RngBernoulli(I(b, "1"), ShapeUtil::MakeShape(kU32, {4})); });
  built(
      "custom-call",
      [](XlaBuilder& b) { b.CustomCall("f", {F(b, "1")}, ShapeUtil::MakeShape(kF32, {2})); },
      [](XlaBuilder& b) { b.CustomCall("", {F(b, "1")}, ShapeUtil::MakeShape(kF32, {2})); });
  built(
      "all-gather", [](XlaBuilder& b) { b.AllGather(Vector(b), 0, 2, {{0, 1}}); },
      [](XlaBuilder& b) { b.AllGather(Vector(b), 1, 2, {{0, 1}}); });
  built(
      "all-reduce", [](XlaBuilder& b) { b.AllReduce(Vector(b), Scalar(Opcode::kAdd), {{0}}); },
      [](XlaBuilder& b) { b.AllReduce(Vector(b), Twice(), {{0}}); });
  built(
      "cross-replica-sum", [](XlaBuilder& b) { b.CrossReplicaSum(Vector(b)); },
      [](XlaBuilder& b) { b.CrossReplicaSum(b.Tuple({})); });
  built(
      "reduce-scatter",
      [](XlaBuilder& b) {
        b.ReduceScatter(C(b, "f32[4]", "{1, 2, 3, 4}"), Scalar(Opcode::kAdd), 0, 2, {{0, 1}});
      },
      [](XlaBuilder& b) { b.ReduceScatter(Vector(b), Scalar(Opcode::kAdd), 0, 2, {{0, 1}}); });
  built(
      "all-to-all",
      [](XlaBuilder& b) {
        b.AllToAll(C(b, "f32[2,4]", "{{1, 2, 3, 4}, {5, 6, 7, 8}}"), 1, 0, 2, {{0, 1}});
      },
      [](XlaBuilder& b) { b.AllToAll(Matrix(b), 1, 0, 2, {{0, 1}}); });
  built(
      "collective-permute", [](XlaBuilder& b) { b.CollectivePermute(Vector(b), {{0, 0}}); },
      [](XlaBuilder& b) { b.CollectivePermute(Vector(b), {{0, 0}, {0, 0}}); });
  built(
      "replica-id", [](XlaBuilder& b) { b.ReplicaId(); },
      [](XlaBuilder& b) { b.Add(b.ReplicaId(), F(b, "1")); });
  built(
      "infeed", [](XlaBuilder& b) { b.Infeed(ShapeUtil::MakeShape(kF32, {2})); },
      [](XlaBuilder& b) { b.InfeedWithToken(F(b, "1"), ShapeUtil::MakeShape(kF32, {2})); });
  built(
      "send", [](XlaBuilder& b) { b.Send(Vector(b), {1}); },
      [](XlaBuilder& b) { b.Send(XlaOp(), {1}); });
  built(
      "recv", [](XlaBuilder& b) { b.Recv(ShapeUtil::MakeShape(kF32, {2}), {1}); },
      [](XlaBuilder& b) { b.Recv(Shape(), {1}); });
}

void AddOverloadRows(Observations& see) {
  auto value = [&see](std::string_view id, Body body) {
    see[StrCat("ovl-", id)] = [body] { return Value(body); };
  };
  see["ovl-conditional-pred"] = [] {
    std::string out;
    for (const char* predicate : {"true", "false"}) {
      out += Value([&](XlaBuilder& b) {
               b.Conditional(C(b, "pred[]", predicate), F(b, "10"), Twice(), F(b, "5"), Negate());
             }) +
             " ";
    }
    return out;
  };
  see["ovl-conditional-indexed"] = [] {
    std::string out;
    const XlaComputation branches[] = {Twice(), Negate(), Twice(), Negate()};
    for (int n = 1; n <= 4; ++n) {
      for (int index = -1; index <= n; ++index) {
        out += Value([&](XlaBuilder& b) {
                 const std::vector<XlaOp> operands = {F(b, "1"), F(b, "2"), F(b, "3"), F(b, "4")};
                 b.Conditional(I(b, StrCat(index)), absl::MakeConstSpan(branches, n),
                               absl::MakeConstSpan(operands).subspan(0, n));
               }) +
               " ";
      }
    }
    return out;
  };
  value("dynamic-slice-vector-start",
        [](XlaBuilder& b) { b.DynamicSlice(Matrix(b), C(b, "s32[2]", "{1, 1}"), {1, 2}); });
  value("dynamic-update-slice-vector-start", [](XlaBuilder& b) {
    b.DynamicUpdateSlice(Matrix(b), C(b, "f32[1,2]", "{{12, 13}}"), C(b, "s32[2]", "{1, 1}"));
  });
  see["ovl-binary-broadcast-dimensions"] = [] {
    using Method = XlaOp (XlaBuilder::*)(XlaOp, XlaOp, absl::Span<const int64_t>);
    struct Operands {
      const char *matrix, *matrix_value, *vector, *vector_value;
    };
    const Operands kFloats = {"f32[2,3]", "{{1, 2, 3}, {4, 5, 6}}", "f32[3]", "{2, 2, 4}"};
    const Operands kIntegers = {"s32[2,3]", "{{1, 2, 3}, {-4, 5, 6}}", "s32[3]", "{2, 1, 3}"};
    const Operands kPredicates = {"pred[2,2]", "{{1, 0}, {0, 1}}", "pred[2]", "{1, 0}"};
    std::string out;
    auto see = [&out](const char* name, Method method, const Operands& operands) {
      StrAppend(&out, out.empty() ? "" : " ", name, " ", Value([&](XlaBuilder& b) {
        const XlaOp lhs = C(b, operands.matrix, operands.matrix_value);
        (b.*method)(lhs, C(b, operands.vector, operands.vector_value), {1});
      }));
    };
    see("Add", &XlaBuilder::Add, kFloats);
    see("Sub", &XlaBuilder::Sub, kFloats);
    see("Mul", &XlaBuilder::Mul, kFloats);
    see("Div", &XlaBuilder::Div, kFloats);
    see("Rem", &XlaBuilder::Rem, kFloats);
    see("Max", &XlaBuilder::Max, kFloats);
    see("Min", &XlaBuilder::Min, kFloats);
    see("Pow", &XlaBuilder::Pow, kFloats);
    see("Atan2", &XlaBuilder::Atan2, kFloats);
    see("Complex", &XlaBuilder::Complex, kFloats);
    see("And", &XlaBuilder::And, kIntegers);
    see("Or", &XlaBuilder::Or, kIntegers);
    see("Xor", &XlaBuilder::Xor, kIntegers);
    see("ShiftLeft", &XlaBuilder::ShiftLeft, kIntegers);
    see("ShiftRightArithmetic", &XlaBuilder::ShiftRightArithmetic, kIntegers);
    see("ShiftRightLogical", &XlaBuilder::ShiftRightLogical, kIntegers);
    see("LogicalAnd", &XlaBuilder::LogicalAnd, kPredicates);
    see("LogicalOr", &XlaBuilder::LogicalOr, kPredicates);
    return out;
  };
  see["ovl-compare-broadcast-dimensions"] = [] {
    std::string out;
    for (Direction direction : {Direction::kEq, Direction::kNe, Direction::kGe, Direction::kGt,
                                Direction::kLe, Direction::kLt}) {
      for (bool total : {false, true}) {
        StrAppend(&out, Value([&](XlaBuilder& b) {
          b.Compare(direction, C(b, "f32[2,2]", "{{nan, -0}, {2, 0}}"), C(b, "f32[2]", "{nan, 0}"),
                    {1}, total ? std::optional(CompareType::kTotalOrder) : std::nullopt);
        }),
                  " ");
      }
    }
    return out;
  };
  value("reduce-single",
        [](XlaBuilder& b) { b.Reduce(Matrix(b), F(b, "1"), Scalar(Opcode::kMultiply), {0, 1}); });
  value("reduce-variadic", [](XlaBuilder& b) {
    // The largest value and where it is.
    XlaBuilder inner("argmax");
    const XlaOp v = inner.Parameter(0, kScalar, "v"),
                i = inner.Parameter(1, Shape::Scalar(kS32), "i"),
                w = inner.Parameter(2, kScalar, "w"),
                j = inner.Parameter(3, Shape::Scalar(kS32), "j");
    const XlaOp first = inner.Ge(v, w);
    inner.Tuple({inner.Select(first, v, w), inner.Select(first, i, j)});
    b.Reduce({C(b, "f32[4]", "{3, 9, 1, 4}"), C(b, "s32[4]", "{0, 1, 2, 3}")},
             {b.ConstantLiteral(*LiteralUtil::MinValue(kF32)), I(b, "0")}, *inner.Build(), {0});
  });
  value("reduce-window-single", [](XlaBuilder& b) {
    b.ReduceWindow(Matrix(b), F(b, "0"), Scalar(Opcode::kAdd), {1, 2}, {1, 1}, Padding::kSame);
  });
  value("reduce-window-variadic", [](XlaBuilder& b) {
    XlaBuilder inner("both");
    XlaOp p[4];
    for (int i = 0; i < 4; ++i) p[i] = inner.Parameter(i, kScalar, StrCat("p", i));
    inner.Tuple({inner.Add(p[0], p[2]), inner.Max(p[1], p[3])});
    b.ReduceWindow({Vector(b), Vector(b)}, {F(b, "0"), F(b, "0")}, *inner.Build(), {2}, {1},
                   Padding::kValid);
  });
  value("reshape-new-sizes", [](XlaBuilder& b) { b.Reshape(Matrix(b), {6}); });
  value("reshape-dimensions-new-sizes", [](XlaBuilder& b) { b.Reshape(Matrix(b), {1, 0}, {6}); });
  value("scatter-variadic", [](XlaBuilder& b) {
    XlaBuilder inner("both");
    XlaOp p[4];
    for (int i = 0; i < 4; ++i) p[i] = inner.Parameter(i, kScalar, StrCat("p", i));
    inner.Tuple({inner.Add(p[0], p[2]), inner.Max(p[1], p[3])});
    b.Scatter({Vector(b), Vector(b)}, C(b, "s32[1,1]", "{{1}}"),
              {C(b, "f32[1]", "{10}"), C(b, "f32[1]", "{20}")}, *inner.Build(),
              Attributes()
                  .Set(Attr::kUpdateWindowDims, AttrValue(Int64List()))
                  .Set(Attr::kInsertedWindowDims, {0})
                  .Set(Attr::kScatterDimsToOperandDims, {0})
                  .Set(Attr::kIndexVectorDim, 1));
  });
  value("slice-no-strides", [](XlaBuilder& b) { b.Slice(Matrix(b), {0, 1}, {2, 3}); });
  value("sort-2017",
        [](XlaBuilder& b) { b.Sort(C(b, "f32[2,3]", "{{3, 1, 2}, {-1, nan, -inf}}")); });
}

TEST(Builder, EveryRowOfTheDocuments) {
  Observations see;
  AddBuilderRows(see);
  AddMethodRows(see);
  AddOverloadRows(see);
  CheckRowTable("reference/testdata/builder_rows.txt", see);
}

}  // namespace
}  // namespace assay
