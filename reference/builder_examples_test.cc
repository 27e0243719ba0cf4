// The sentences of the documents about ops that only a builder has (Broadcast, Collapse, Reshape
// with dimensions, ...), and their examples. One line of testdata/builder_examples_rows.txt per
// row.
#include <cmath>
#include <cstdlib>

#include "reference/testing/builder_program.h"
#include "spec/base/row_table_for_test.h"
#include "spec/proto/module_proto.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// The documents' v, f32[4,2,3].
XlaOp V(XlaBuilder& builder) {
  return C(builder, "f32[4,2,3]",
           "{{{10, 11, 12}, {15, 16, 17}}, {{20, 21, 22}, {25, 26, 27}}, {{30, 31, 32}, {35, 36, "
           "37}}, {{40, 41, 42}, {45, 46, 47}}}");
}

// The shape of what `body` adds last, and its value.
std::string Typed(const Body& body) {
  XlaBuilder b("b");
  body(b);
  absl::StatusOr<XlaComputation> computation = b.Build();
  if (!computation.ok()) return StrCat("error ", ToStd(computation.status().message()));
  return StrCat(computation->module().entry()->root()->shape().ToString(), " ", Value(body));
}

// The root as text, after a way through the binary form.
std::string TextOfRoot(const Body& body) {
  XlaBuilder b("b");
  body(b);
  absl::StatusOr<XlaComputation> computation = b.Build();
  if (!computation.ok()) return StrCat("error ", ToStd(computation.status().message()));
  absl::StatusOr<std::string> bytes = WriteModuleProto(computation->module());
  if (!bytes.ok()) return StrCat("error ", ToStd(bytes.status().message()));
  absl::StatusOr<std::unique_ptr<Module>> again = ReadModuleProto(*bytes);
  if (!again.ok()) return StrCat("error ", ToStd(again.status().message()));
  absl::StatusOr<std::unique_ptr<Module>> read = ReadModule(WriteModule(**again));
  if (!read.ok()) return StrCat("error ", ToStd(read.status().message()));
  return WriteInstruction(*(*read)->entry()->root());
}

std::string Opcodes(const Body& body) {
  XlaBuilder b("b");
  body(b);
  absl::StatusOr<XlaComputation> computation = b.Build();
  if (!computation.ok()) return StrCat("error ", ToStd(computation.status().message()));
  std::string out;
  for (const Instruction* instruction : computation->module().entry()->instructions()) {
    StrAppend(&out, out.empty() ? "" : " ", Name(instruction->opcode()));
  }
  return out;
}

void AddBroadcastRows(Observations& see) {
  auto broadcast = [](absl::Span<const int64_t> sizes) {
    return Typed([&](XlaBuilder& b) { b.Broadcast(Vector(b), sizes); });
  };
  see["op-broadcast"] = [=] { return broadcast({2}); };
  see["shape-broadcast"] = [=] { return broadcast({2, 1}); };
  see["attr-broadcast-sizes"] = [=] {
    return StrCat(broadcast({2}), "; ", broadcast({}), "; ", broadcast({0}), "; ",
                  broadcast({4, 0}));
  };
  // operand[j0, j1] is 10 * j0 + j1: whatever i0 and i1 are, output[i0, i1, j0, j1] is the same.
  see["shape-broadcast-index"] = [] {
    return Value(
        [](XlaBuilder& b) { b.Broadcast(C(b, "s32[2,3]", "{{0, 1, 2}, {10, 11, 12}}"), {2, 2}); });
  };
  auto in_dim = [](std::string_view shape, std::string_view value, absl::Span<const int64_t> sizes,
                   absl::Span<const int64_t> dimensions) {
    return Typed([&](XlaBuilder& b) { b.BroadcastInDim(C(b, shape, value), sizes, dimensions); });
  };
  see["op-broadcast-in-dim"] = [=] {
    return StrCat(in_dim("s32[2]", "{1, 2}", {2, 2}, {0}), "; ",
                  in_dim("s32[2]", "{1, 2}", {2, 2}, {1}), "; ",
                  in_dim("s32[2,1]", "{{1}, {2}}", {2, 1, 3}, {0, 2}));
  };
  see["attr-broadcast-in-dim-out-dim-size"] = [=] {
    return StrCat(in_dim("s32[1]", "{7}", {3, 2}, {1}), "; ", in_dim("s32[1]", "{7}", {0, 2}, {0}));
  };
  see["attr-broadcast-in-dim-broadcast-dimensions"] = [=] {
    return StrCat(in_dim("s32[2,3]", kMatrix, {2, 1, 3}, {0, 2}), "; ",
                  in_dim("s32[2,3]", kMatrix, {2, 3}, {0}), "; ",
                  in_dim("s32[3,3]", "{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}", {3, 3}, {1, 1}), "; ",
                  in_dim("s32[2,3]", kMatrix, {2, 3}, {0, 2}), "; ",
                  in_dim("s32[2,3]", kMatrix, {2, 3}, {-1, 1}));
  };
  see["shape-broadcast-in-dim-size-rule"] = [=] {
    return StrCat(in_dim("s32[1,2]", "{{1, 2}}", {2, 2}, {0, 1}), "; ",
                  in_dim("s32[2]", "{1, 2}", {3}, {0}), "; ", in_dim("s32[2]", "{1, 2}", {1}, {0}));
  };
  see["shape-broadcast-in-dim-unmapped"] = [=] {
    return in_dim("s32[2]", "{1, 2}", {3, 2, 2}, {1});
  };
  // Values of matrix plus vector; what the other rules of broadcasting say is in spec/ops.
  see["bcast-binary-matrix-vector"] = [] {
    return StrCat(
        Value([](XlaBuilder& b) { b.Add(Matrix(b), C(b, "f32[3]", "{10, 20, 30}"), {1}); }), "; ",
        Value([](XlaBuilder& b) { b.Add(Matrix(b), C(b, "f32[2]", "{10, 20}"), {0}); }));
  };
  see["bcast-compare-rank"] = [] {
    return StrCat(Rejected([](XlaBuilder& b) { b.Eq(Matrix(b), Vector(b)); }), "; ",
                  Rejected([](XlaBuilder& b) { b.Lt(Vector(b), Matrix(b)); }), "; ",
                  Value([](XlaBuilder& b) { b.Ge(Matrix(b), F(b, "3")); }), "; ",
                  Value([](XlaBuilder& b) { b.Ge(F(b, "3"), Matrix(b)); }));
  };
  see["attr-compare-broadcast-dimensions"] = [] {
    auto less = [](absl::Span<const int64_t> dimensions) {
      return Value([&](XlaBuilder& b) {
        b.Lt(C(b, "f32[2,2]", "{{1, 2}, {3, 4}}"), C(b, "f32[2]", "{2, 4}"), dimensions);
      });
    };
    return StrCat(less({0}), "; ", less({1}), "; ", less({2}), "; ", less({0, 1}));
  };
}

void AddReshapeRows(Observations& see) {
  auto collapse = [](absl::Span<const int64_t> dimensions) {
    return Typed([&](XlaBuilder& b) { b.Collapse(V(b), dimensions); });
  };
  see["ex-collapse-v012"] = [=] { return collapse({0, 1, 2}); };
  see["ex-collapse-v01"] = [=] { return collapse({0, 1}); };
  see["ex-collapse-v12"] = [=] { return collapse({1, 2}); };
  see["op-collapse"] = [] {
    return Typed([](XlaBuilder& b) {
      b.Collapse(C(b, "s32[1,2,2,3]", "{{{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}}}"),
                 {1, 2});
    });
  };
  see["attr-collapse-dimensions"] = [] {
    std::string out;
    for (const Int64List& dimensions :
         std::vector<Int64List>{{0, 1, 2}, {0, 1}, {1, 2}, {1, 0}, {0, 2}, {2, 3}}) {
      StrAppend(&out, Rejected([&](XlaBuilder& b) { b.Collapse(V(b), dimensions); }), "; ");
    }
    return out;
  };
  // Element [i, j, k] of an operand with sizes 2, 3, 5 is 100 i + 10 j + k.
  see["shape-collapse-order"] = [] {
    std::string value;
    for (int i = 0; i < 2; ++i) {
      StrAppend(&value, i == 0 ? "{" : ", ", "{");
      for (int j = 0; j < 3; ++j) {
        StrAppend(&value, j == 0 ? "{" : ", {");
        for (int k = 0; k < 5; ++k) StrAppend(&value, k == 0 ? "" : ", ", 100 * i + 10 * j + k);
        StrAppend(&value, "}");
      }
      StrAppend(&value, "}");
    }
    StrAppend(&value, "}");
    return Value([&](XlaBuilder& b) { b.Collapse(C(b, "s32[2,3,5]", value), {0, 1, 2}); });
  };
  auto reshape = [](absl::Span<const int64_t> dimensions, absl::Span<const int64_t> sizes) {
    return Typed([&](XlaBuilder& b) { b.Reshape(V(b), dimensions, sizes); });
  };
  see["ex-reshape-v012-24"] = [=] { return reshape({0, 1, 2}, {24}); };
  see["ex-reshape-v012-83"] = [=] { return reshape({0, 1, 2}, {8, 3}); };
  see["ex-reshape-v021-24"] = [=] { return reshape({1, 2, 0}, {24}); };
  see["ex-reshape-v021-83"] = [=] { return reshape({1, 2, 0}, {8, 3}); };
  see["ex-reshape-v021-262"] = [=] { return reshape({1, 2, 0}, {2, 6, 2}); };
  see["ex-reshape-to-scalar"] = [] {
    auto five = [](XlaBuilder& b) { return C(b, "f32[1,1]", "{{5}}"); };
    return StrCat(Typed([&](XlaBuilder& b) { b.Reshape(five(b), {0, 1}, {}); }), "; ",
                  Typed([&](XlaBuilder& b) { b.Reshape(five(b), {}); }));
  };
  see["ex-reshape-from-scalar"] = [] {
    return StrCat(Typed([](XlaBuilder& b) { b.Reshape(F(b, "5"), {}, {1, 1}); }), "; ",
                  Typed([](XlaBuilder& b) { b.Reshape(F(b, "5"), {1, 1}); }));
  };
  see["attr-reshape-dimensions"] = [] {
    std::string out;
    for (const Int64List& dimensions :
         std::vector<Int64List>{{0, 1, 2}, {2, 1, 0}, {0, 1}, {0, 1, 1}, {0, 1, 3}}) {
      StrAppend(&out, Rejected([&](XlaBuilder& b) { b.Reshape(V(b), dimensions, {24}); }), "; ");
    }
    return StrCat(out, Value([](XlaBuilder& b) { b.Reshape(Matrix(b), {1, 0}, {6}); }));
  };
  see["shape-transpose-reshape-identity"] = [] {
    int equal = 0;
    const std::vector<Int64List> permutations = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                 {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    constexpr int64_t kSizes[] = {4, 2, 3};
    for (const Int64List& p : permutations) {
      const Int64List sizes = {kSizes[p[0]], kSizes[p[1]], kSizes[p[2]]};
      equal += Typed([&](XlaBuilder& b) { b.Transpose(V(b), p); }) ==
               Typed([&](XlaBuilder& b) { b.Reshape(V(b), p, sizes); });
    }
    return StrCat(equal, " of ", permutations.size(), " permutations; ",
                  Typed([](XlaBuilder& b) { b.Transpose(V(b), {1, 2, 0}); }));
  };
}

void AddDotRows(Observations& see) {
  using Made = std::function<XlaOp(XlaBuilder&)>;
  const Made v = [](XlaBuilder& b) { return C(b, "s32[3]", "{1, 2, 3}"); };
  const Made m = [](XlaBuilder& b) { return C(b, "s32[2,3]", kMatrix); };
  const Made n = [](XlaBuilder& b) { return C(b, "s32[3,2]", "{{1, 10}, {2, 20}, {3, 30}}"); };
  auto dot = [](const Made& x, const Made& y) {
    return Typed([&](XlaBuilder& b) { b.Dot(x(b), y(b)); });
  };
  auto general = [](const Made& x, const Made& y, int64_t of_x, int64_t of_y) {
    return Typed([&](XlaBuilder& b) { b.DotGeneral(x(b), y(b), {of_x}, {of_y}); });
  };
  see["op-dot"] = [=] {
    return StrCat(dot(v, v), "; ", dot(m, v), "; ", dot(m, n), "; ", dot(n, m));
  };
  see["shape-dot-vv"] = [=] { return dot(v, v); };
  see["shape-dot-mv"] = [=] { return dot(m, v); };
  see["shape-dot-mm"] = [=] { return dot(m, n); };
  see["shape-dot-contracted-dims"] = [=] {
    return StrCat(dot(v, v), "; ", dot(m, v), "; ", dot(m, n), "; ", dot(v, n));
  };
  // The dimension before the last of a vector is its only one.
  see["shape-dot-contracted-dims-2017"] = [=] {
    return StrCat(dot(v, v) == general(v, v, 0, 0), " ", dot(m, v) == general(m, v, 1, 0), " ",
                  dot(m, n) == general(m, n, 1, 0), "; ", general(m, n, 1, 0));
  };
  see["shape-dot-size-match"] = [=] {
    const Made two = [](XlaBuilder& b) { return C(b, "s32[2]", "{1, 2}"); };
    std::string out;
    for (const auto& [x, y] : std::vector<std::pair<Made, Made>>{{v, two}, {m, two}, {m, m}}) {
      StrAppend(&out, dot(x, y), "; ");
    }
    return out;
  };
}

void AddCompositeRows(Observations& see) {
  auto composite = [](std::optional<std::string> attributes, int64_t version) {
    return [=](XlaBuilder& b) {
      b.CompositeCall(Twice(), {F(b, "4")}, "foo.bar", attributes, version);
    };
  };
  const std::string dictionary = "{n = 1 : i32, tensor = dense<1> : tensor<i32>}";
  see["ex-composite-call-foo-bar"] = [=] { return TextOfRoot(composite(dictionary, 1)); };
  see["attr-composite-call-name"] = [] {
    return StrCat(TextOfRoot([](XlaBuilder& b) {
                    b.CompositeCall(Twice(), {F(b, "4")}, "a.name \"quoted\"");
                  }),
                  "; ", Rejected([](XlaBuilder& b) { b.CompositeCall(Twice(), {F(b, "4")}, ""); }));
  };
  see["attr-composite-call-attributes"] = [=] {
    return StrCat(TextOfRoot(composite(dictionary, 0)), "; ",
                  TextOfRoot(composite(std::nullopt, 0)));
  };
  see["attr-composite-call-decomposition"] = [] {
    XlaBuilder b("b");
    b.CompositeCall(Twice(), {F(b, "4")}, "foo.bar");
    const XlaComputation computation = *b.Build();
    const Instruction* root = computation.module().entry()->root();
    return StrCat(Name(root->opcode()), " to_apply ", root->callee()->name(), " ",
                  root->callee()->parameter(0)->shape().ToString(), " -> ",
                  root->callee()->root()->shape().ToString());
  };
  see["attr-composite-call-version"] = [=] {
    return StrCat(
        TextOfRoot([](XlaBuilder& b) { b.CompositeCall(Twice(), {F(b, "4")}, "foo.bar"); }), "; ",
        TextOfRoot(composite(std::nullopt, int64_t{1} << 40)), "; ",
        Rejected(composite(std::nullopt, -1)));
  };
  see["shape-composite-call-is-composite"] = [=] { return TextOfRoot(composite("{}", 2)); };
}

void AddOtherRows(Observations& see) {
  see["shape-send-recv-decompose"] = [] {
    return StrCat(Opcodes([](XlaBuilder& b) { b.Send(F(b, "1"), {1}); }), "; ",
                  Opcodes([](XlaBuilder& b) { b.Recv(kScalar, {1}); }));
  };
  see["shape-select-tuple"] = [] {
    auto select = [](std::string_view shape, std::string_view predicate, bool same) {
      return [=](XlaBuilder& b) {
        const XlaOp inner = b.Tuple({I(b, "5")}), other = b.Tuple({I(b, "6")});
        const XlaOp yes = b.Tuple({Vector(b), inner});
        const XlaOp no = same ? b.Tuple({b.Neg(Vector(b)), other}) : b.Tuple({Vector(b)});
        b.Select(C(b, shape, predicate), yes, no);
      };
    };
    return StrCat(Value(select("pred[]", "true", true)), "; ",
                  Value(select("pred[]", "false", true)), "; ",
                  Rejected(select("pred[1]", "{true}", true)), "; ",
                  Rejected(select("pred[]", "true", false)));
  };
  see["attr-gather-unique-indices"] = [] {
    auto gather = [](bool unique) {
      return Value([unique](XlaBuilder& b) {
        b.Gather(Matrix(b), C(b, "s32[2,1]", "{{1}, {0}}"),
                 Attributes()
                     .Set(Attr::kOffsetDims, {1})
                     .Set(Attr::kCollapsedSliceDims, {0})
                     .Set(Attr::kStartIndexMap, {0})
                     .Set(Attr::kIndexVectorDim, 1),
                 {1, 3}, /*indices_are_sorted=*/false, unique);
      });
    };
    return StrCat(gather(true), "; ", gather(false));
  };
  auto bernoulli = [](std::string_view type, std::string_view mean, ElementType result) {
    return
        [=](XlaBuilder& b) { b.RngBernoulli(C(b, type, mean), ShapeUtil::MakeShape(result, {4})); };
  };
  // Draws are unspecified but for their probability: the mean of 4096 lies within 4 deviations.
  see["op-rng-bernoulli"] = [=] {
    std::string out =
        StrCat(Value(bernoulli("f32[]", "0", kU32)), " ", Value(bernoulli("f32[]", "1", kU32)));
    for (double mean : {0.25, 0.5, 0.9}) {
      const std::string sum = Value([&](XlaBuilder& b) {
        const XlaOp draws =
            b.RngBernoulli(F(b, StrCat(mean)), ShapeUtil::MakeShape(kU32, {64, 64}));
        b.Reduce(draws, C(b, "u32[]", "0"), Scalar(Opcode::kAdd, kU32), {0, 1});
      });
      const double ones = std::atof(sum.c_str()), deviation = 64 * std::sqrt(mean * (1 - mean));
      StrAppend(&out, " ", std::abs(ones - 4096 * mean) < 4 * deviation ? "near" : sum);
    }
    return out;
  };
  see["attr-rng-bernoulli-mean"] = [=] {
    return StrCat(Rejected(bernoulli("f32[]", "0.5", kU32)), "; ",
                  Rejected(bernoulli("f64[]", "0.5", kU32)), "; ",
                  Rejected(bernoulli("u32[]", "1", kU32)), "; ",
                  Rejected(bernoulli("f32[4]", "{0, 0, 0, 0}", kU32)));
  };
  see["attr-rng-bernoulli-shape"] = [=] {
    return StrCat(Root(bernoulli("f32[]", "0.5", kU32)), "; ",
                  Rejected(bernoulli("f32[]", "0.5", kS32)), "; ",
                  Rejected(bernoulli("f32[]", "0.5", kF32)), "; ",
                  Rejected(bernoulli("f32[]", "0.5", ElementType::kPred)));
  };
}

// out[i] = x[i] * scale + table[x[i]], by a computation of a mapped scalar, a static table and a
// static tuple.
XlaComputation LookUp(const Shape& table) {
  XlaBuilder b("look_up");
  const XlaOp x = b.Parameter(0, Shape::Scalar(kS32), "x");
  const XlaOp t = b.Parameter(1, table, "table");
  const XlaOp pair =
      b.Parameter(2, Shape::Tuple({Shape::Scalar(kS32), ShapeUtil::MakeShape(kF32, {2})}), "pair");
  const XlaOp found = b.Reshape(b.DynamicSlice(t, absl::MakeConstSpan(&x, 1), {1}), {});
  b.Add(b.Mul(x, b.GetTupleElement(pair, 0)), found);
  return *b.Build();
}
std::string MappedWith(std::string_view indices_shape, std::string_view indices,
                       std::string_view table) {
  return Typed([&](XlaBuilder& b) {
    const XlaOp pair = b.Tuple({I(b, "1000"), C(b, "f32[2]", "{1, 2}")});
    b.Map({C(b, indices_shape, indices)}, LookUp(ShapeUtil::MakeShape(kS32, {4})), {},
          {C(b, table, "{7, 8, 9, 10}"), pair});
  });
}

// Mean and deviation of 4096 draws, "near" if they lie within 4 deviations of what they estimate.
std::string Moments(const std::function<XlaOp(XlaBuilder&)>& draws, double mean, double deviation) {
  const std::string shape = Root([&](XlaBuilder& b) { draws(b); });
  const auto moment = [&](bool squared) {
    const std::string sum = Value([&](XlaBuilder& b) {
      const XlaOp x = draws(b);
      b.Reduce(squared ? b.Mul(x, x) : x, F(b, "0"), Scalar(Opcode::kAdd), {0});
    });
    return std::atof(sum.c_str()) / 4096;
  };
  const double first = moment(false), variance = moment(true) - first * first;
  const bool near = std::abs(first - mean) < 4 * deviation / 64 &&
                    std::abs(variance - deviation * deviation) < 4 * 0.025 * deviation * deviation;
  return StrCat(shape, near ? " near" : StrCat(" mean ", first, " variance ", variance));
}

void AddDefaultRows(Observations& see) {
  const Shape draws = ShapeUtil::MakeShape(kF32, {4096});
  auto normal = [draws](std::string_view mean, std::string_view sigma) {
    return [=](XlaBuilder& b) { return b.RngNormal(F(b, mean), F(b, sigma), draws); };
  };
  see["op-rng-normal"] = [=] {
    return StrCat(Moments(normal("0", "1"), 0, 1), "; ", Moments(normal("-3", "0.5"), -3, 0.5));
  };
  // Variance (b - a)^2 / 12.
  see["op-rng-uniform"] = [=] {
    auto uniform = [=](std::string_view a, std::string_view b) {
      return [=](XlaBuilder& builder) {
        return builder.RngUniform(F(builder, a), F(builder, b), draws);
      };
    };
    return StrCat(Moments(uniform("0", "1"), 0.5, 1 / std::sqrt(12)), "; ",
                  Moments(uniform("-6", "6"), 0, std::sqrt(12)));
  };
  auto sort = [](std::optional<int64_t> dimension) {
    return TextOfRoot([=](XlaBuilder& b) {
      const XlaOp matrix = C(b, "f32[2,3]", "{{3, 1, 2}, {1, 3, 2}}");
      dimension.has_value() ? b.Sort({matrix}, Compare(Direction::kLt), *dimension)
                            : b.Sort({matrix}, Compare(Direction::kLt));
    });
  };
  see["attr-sort-dimension"] = [=] {
    return StrCat(sort(std::nullopt), "; ", sort(0), "; ", sort(1));
  };
  // Text says is_stable only where it is true.
  see["attr-sort-is-stable"] = [] {
    return TextOfRoot([](XlaBuilder& b) {
             b.Sort({Vector(b)}, Compare(Direction::kLt), 0, /*is_stable=*/true);
           }) +
           "; " + TextOfRoot([](XlaBuilder& b) { b.Sort({Vector(b)}, Compare(Direction::kLt)); });
  };
  auto image = [](XlaBuilder& b, std::string_view shape) {
    return b.Broadcast(F(b, "1"), ReadShape(shape)->dimensions());
  };
  auto conv = [image](std::string_view lhs, std::string_view rhs, Padding padding) {
    return Root([=](XlaBuilder& b) { b.Conv(image(b, lhs), image(b, rhs), {1, 1}, padding); });
  };
  // Batch 2, features 3 and 6, windows of 2 x 3 over 4 x 5.
  see["attr-conv-lhs"] = [=] { return conv("f32[2,3,4,5]", "f32[6,3,2,3]", Padding::kValid); };
  see["attr-conv-rhs"] = [=] {
    return StrCat(conv("f32[2,3,4,5]", "f32[6,3,2,3]", Padding::kSame), "; ",
                  conv("f32[2,3,4,5]", "f32[3,6,2,3]", Padding::kSame));
  };
  // One line of every size, window and stride: the size that comes out, and the padding.
  see["attr-conv-padding-same"] = [] {
    std::string out;
    for (int64_t size : {5, 6}) {
      for (int64_t window : {1, 2, 3, 4}) {
        for (int64_t stride : {1, 2, 3}) {
          StrAppend(&out, out.empty() ? "" : "; ", TextOfRoot([&](XlaBuilder& b) {
            const XlaOp one = F(b, "1");
            const XlaOp filter = b.Broadcast(one, {1, 1, window});  // names go by order
            b.Conv(b.Broadcast(one, {1, 1, size}), filter, {stride}, Padding::kSame);
          }));
        }
      }
    }
    return out;
  };
  see["attr-reduce-window-padding"] = [] {
    std::string out;
    for (Padding padding : {Padding::kSame, Padding::kValid}) {
      for (int64_t size : {5, 6}) {
        for (int64_t stride : {1, 2, 3}) {
          StrAppend(&out, out.empty() ? "" : "; ", Typed([&](XlaBuilder& b) {
            b.ReduceWindow(b.Iota(Shape::Array(kF32, {size}), 0), F(b, "0"), Scalar(Opcode::kAdd),
                           {3}, {stride}, padding);
          }));
        }
      }
    }
    return out;
  };
  // Either operand stretches, and both may; so do scalars and dimensions of size 0.
  see["bcast-binary-degenerate"] = [] {
    auto sum = [](std::string_view lhs, std::string_view x, std::string_view rhs,
                  std::string_view y) {
      return Typed([=](XlaBuilder& b) { b.Add(C(b, lhs, x), C(b, rhs, y)); });
    };
    return StrCat(sum("s32[2,1]", "{{10}, {20}}", "s32[1,3]", "{{1, 2, 3}}"), "; ",
                  sum("s32[1,1]", "{{10}}", "s32[2,2]", "{{1, 2}, {3, 4}}"), "; ",
                  sum("s32[2,2]", "{{1, 2}, {3, 4}}", "s32[2,1]", "{{10}, {20}}"), "; ",
                  sum("s32[1]", "{1}", "s32[0]", "{}"));
  };
  see["op-conv"] = [] {
    auto pair = [](Padding padding, std::vector<std::pair<int64_t, int64_t>> explicit_padding) {
      auto x = [](XlaBuilder& b) { return C(b, "f32[1,1,4]", "{{{1, 2, 3, 4}}}"); };
      auto w = [](XlaBuilder& b) { return C(b, "f32[1,1,2]", "{{{10, 1}}}"); };
      const std::string shorthand = Typed([&](XlaBuilder& b) { b.Conv(x(b), w(b), {1}, padding); });
      const bool equal = shorthand == Typed([&](XlaBuilder& b) {
                           b.ConvWithGeneralPadding(x(b), w(b), {1}, explicit_padding);
                         });
      return StrCat(shorthand, equal ? " equal" : " different");
    };
    return StrCat(pair(Padding::kSame, {{0, 1}}), "; ", pair(Padding::kValid, {{0, 0}}));
  };
  auto windows = [](Padding padding, absl::Span<const int64_t> base,
                    absl::Span<const int64_t> window) {
    return Typed([&](XlaBuilder& b) {
      b.ReduceWindow(Vector(b), F(b, "0"), Scalar(Opcode::kAdd), {2}, {1}, padding, base, window);
    });
  };
  see["attr-reduce-window-base-dilations"] = [=] {
    return StrCat(windows(Padding::kValid, {2}, {}), "; ", windows(Padding::kSame, {2}, {}), "; ",
                  windows(Padding::kValid, {0}, {}));
  };
  see["attr-reduce-window-window-dilations"] = [=] {
    return StrCat(windows(Padding::kValid, {}, {2}), "; ", windows(Padding::kSame, {}, {2}), "; ",
                  windows(Padding::kValid, {}, {2, 2}));
  };
  see["op-conv-with-general-padding"] = [] {
    auto conv = [](int64_t stride, std::pair<int64_t, int64_t> padding, int64_t lhs_dilation,
                   int64_t rhs_dilation) {
      return Typed([=](XlaBuilder& b) {
        b.ConvWithGeneralPadding(C(b, "f32[1,2,3]", "{{{1, 2, 3}, {10, 20, 30}}}"),
                                 C(b, "f32[2,1,2]", "{{{1, 1}}, {{1, -1}}}"), {stride}, {padding},
                                 {lhs_dilation}, {rhs_dilation}, /*feature_group_count=*/2);
      });
    };
    const std::string batches = Typed([](XlaBuilder& b) {
      b.ConvWithGeneralPadding(C(b, "f32[2,1,2]", "{{{1, 2}}, {{10, 20}}}"),
                               C(b, "f32[2,1,2]", "{{{1, 1}}, {{1, -1}}}"), {1}, {{0, 0}}, {}, {},
                               1, /*batch_group_count=*/2);
    });
    return StrCat(conv(1, {0, 0}, 1, 1), "; ", conv(2, {1, 0}, 1, 1), "; ", conv(1, {0, 0}, 2, 1),
                  "; ", conv(1, {0, 0}, 1, 2), "; ", batches);
  };
  see["attr-all-gather-shard-count"] = [] {
    auto gather = [](int64_t count, const XlaBuilder::Groups& groups) {
      return [=](XlaBuilder& b) { b.AllGather(Vector(b), 0, count, groups); };
    };
    return StrCat(Root(gather(2, {{0, 1}})), "; ", Root(gather(4, {})), "; ",
                  Rejected(gather(3, {{0, 1}})), "; ", Rejected(gather(0, {})));
  };
  see["attr-reduce-scatter-shard-count"] = [] {
    auto scatter = [](int64_t count, const XlaBuilder::Groups& groups) {
      return [=](XlaBuilder& b) {
        b.ReduceScatter(Vector(b), Scalar(Opcode::kAdd), 0, count, groups);
      };
    };
    return StrCat(Root(scatter(3, {{0, 1, 2}})), "; ", Root(scatter(3, {})), "; ",
                  Rejected(scatter(3, {{0, 1}})));
  };
}

void AddLoopRows(Observations& see) {
  see["attr-map-static-operands"] = [] {
    const std::string scalar = Typed(
        [](XlaBuilder& b) { b.Map({Matrix(b)}, Scalar(Opcode::kMultiply), {}, {F(b, "10")}); });
    return StrCat(scalar, "; ", MappedWith("s32[2,3]", "{{0, 1, 2}, {3, 0, 1}}", "s32[4]"), "; ",
                  MappedWith("s32[]", "2", "s32[4]"), "; ", MappedWith("s32[0]", "{}", "s32[4]"),
                  "; ", MappedWith("s32[1]", "{2}", "f32[4]"));
  };
  see["type-dot-dimension-numbers"] = [] {
    auto dot = [](std::string_view shape, std::string_view x, std::string_view y, bool batch) {
      return Typed([=](XlaBuilder& b) {
        DotDimensionNumbers numbers;
        numbers.add_lhs_contracting_dimensions(batch ? 2 : 1);
        numbers.add_rhs_contracting_dimensions(1);
        if (batch) numbers.add_lhs_batch_dimensions(0);
        if (batch) numbers.add_rhs_batch_dimensions(0);
        b.DotGeneral(C(b, shape, x), C(b, shape, y), numbers);
      });
    };
    return StrCat(dot("f32[2,3]", kMatrix, "{{1, 1, 1}, {2, 2, 2}}", false), "; ",
                  dot("f32[2,2,2]", "{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}",
                      "{{{1, 0}, {0, 1}}, {{1, 0}, {0, 1}}}", true));
  };
}

TEST(BuilderExamples, EveryRowOfTheDocuments) {
  Observations see;
  AddBroadcastRows(see);
  AddReshapeRows(see);
  AddDotRows(see);
  AddCompositeRows(see);
  AddOtherRows(see);
  AddLoopRows(see);
  AddDefaultRows(see);
  CheckRowTable("reference/testdata/builder_examples_rows.txt", see);
}

}  // namespace
}  // namespace assay
