// The sentences and examples of the Broadcastable trait's page, one line of testdata/trait_rows.txt
// each.
#include "spec/verifier/broadcastable_op.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// Checks a test.broadcastable of these types: returns what the operands broadcast to, or the error.
std::string OpOf(const std::string& types, ImplicitCast cast = ImplicitCast::kAccept) {
  const auto close = types.begin() + static_cast<int64_t>(types.find(')'));
  const auto operands = types[1] == ')' ? 0 : 1 + std::count(types.begin(), close, ',');
  std::string values;
  for (int64_t i = 0; i < operands; ++i) StrAppend(&values, i == 0 ? "" : ", ", "%arg", i);
  absl::StatusOr<BroadcastableOp> op =
      ParseBroadcastableOp(StrCat("%result = \"test.broadcastable\"(", values, ") : ", types));
  if (!op.ok()) return StrCat("syntax: ", ToStd(op.status().message()));
  const absl::Status status = Verify(*op, cast);
  if (!status.ok()) return std::string(status.message());
  std::vector<TraitShape> shapes;
  for (const TraitType& operand : op->operands) shapes.push_back(operand.shape);
  return StrCat("accepted, inferred ", InferResultShape(shapes)->ToString());
}

TraitShape ShapeOf(std::string_view sizes) {
  return ParseTraitType(StrCat("tensor<", sizes, sizes.empty() ? "" : "x", "i32>"))->shape;
}
std::vector<TraitShape> ShapesOf(absl::Span<const char* const> sizes) {
  std::vector<TraitShape> shapes;
  for (const char* one : sizes) shapes.push_back(ShapeOf(one));
  return shapes;
}

std::string AtRunTime(const std::vector<const char*>& operands, std::string_view result,
                      const std::vector<std::vector<int64_t>>& sizes) {
  const absl::StatusOr<std::vector<int64_t>> got =
      RunTimeResultSizes(ShapesOf(operands), ShapeOf(result), sizes);
  return got.ok() ? absl::StrJoin(*got, "x") : std::string(got.status().message());
}

std::string Broadcasted(std::string_view a, std::string_view b, std::string_view element = "") {
  const std::optional<TraitType> type =
      GetBroadcastedType(*ParseTraitType(a), *ParseTraitType(b), element);
  return type.has_value() ? type->ToString() : "none";
}

// The page's formal Verify, written down once more, for two operands and a result of rank 1 (no
// result: unranked); B1 as the table has it.
bool PageAccepts(int64_t a, int64_t b, std::optional<int64_t> result) {
  const auto wide = [](int64_t size) { return size != kDynamicSize && size != 1; };
  int64_t inferred = a;
  if (wide(a) && wide(b)) {
    if (a != b) return false;
  } else if ((a == kDynamicSize && wide(b)) || a == 1) {
    inferred = b;
  }
  if (!result.has_value() || *result == kDynamicSize) return true;
  return inferred == kDynamicSize || inferred == *result;
}

constexpr int64_t kSizes[] = {kDynamicSize, 0, 1, 2, 3};
std::string SizeText(int64_t size) { return size == kDynamicSize ? "?" : StrCat(size); }

// Every pair of sizes with every result, through the text of the op.
std::string AllOpsOfTwo() {
  std::vector<std::optional<int64_t>> results(std::begin(kSizes), std::end(kSizes));
  results.push_back(std::nullopt);
  int agree = 0, all = 0, accepted = 0;
  for (int64_t a : kSizes) {
    for (int64_t b : kSizes) {
      for (std::optional<int64_t> r : results) {
        const BroadcastableOp op = *ParseBroadcastableOp(
            StrCat("\"test.broadcastable\"(%a, %b) : (tensor<", SizeText(a), "xi1>, tensor<",
                   SizeText(b), "xi32>) -> tensor<", r.has_value() ? SizeText(*r) : "*", "xi64>"));
        const bool ok = VerifyCompatibleOperandBroadcast(op).ok();
        ++all;
        accepted += ok;
        agree += ok == PageAccepts(a, b, r) && ok == Verify(op).ok();
      }
    }
  }
  return StrCat(agree, " of ", all, " agree, ", accepted, " accepted");
}

std::string ShapesAgree() {
  int agree = 0, all = 0, none = 0;
  for (int64_t a : kSizes) {
    for (int64_t b : kSizes) {
      for (int64_t c : kSizes) {
        const std::vector<int64_t> x = {a, b}, y = {c};
        const auto shape = GetBroadcastedShape(x, y);
        const auto inferred = InferShape(x, y);
        ++all;
        none += !shape.has_value();
        agree += shape.has_value() == inferred.ok() && (!inferred.ok() || *shape == *inferred);
      }
    }
  }
  return StrCat(absl::StrJoin(*GetBroadcastedShape({4, 1}, {3, 1, kDynamicSize}), ","), "; ", agree,
                " of ", all, " agree, ", none, " do not broadcast");
}

void AddExamples(Observations& see) {
  const std::pair<const char*, const char*> examples[] = {
      {"ok-exact", "(tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>"},
      {"ok-dynamic", "(tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>"},
      {"ok-broadcast", "(tensor<1xi32>, tensor<4xi32>) -> tensor<4xi32>"},
      {"ok-relaxed", "(tensor<4xi32>) -> tensor<?xi32>"},
      {"ok-expand", "(tensor<4xi32>, tensor<2x3x4xi32>) -> tensor<2x3x4xi32>"},
      {"ok-element-types", "(tensor<2xi1>, tensor<2xi32>) -> tensor<2xi64>"},
      {"ok-unranked-result", "(tensor<2xi32>) -> tensor<*xi32>"},
      {"ok-unranked-inputs", "(tensor<*xi32>, tensor<*xi32>) -> tensor<2xi32>"},
      {"bad-static", "(tensor<3xi32>, tensor<2xi32>) -> tensor<?xi32>"},
      {"bad-rank", "(tensor<3xi32>, tensor<3xi32>) -> tensor<1x3xi32>"},
      {"bad-size", "(tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>"},
      {"bad-result-broadcast", "(tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>"}};
  for (const auto& [id, types] : examples) {
    see[StrCat("ex-broadcastable-", id)] = [types = types] { return OpOf(types); };
  }
  see["ex-broadcastable-bad-dyn-static"] = [] {
    constexpr char kTypes[] = "(tensor<?xi32>, tensor<?xi32>) -> tensor<4xi32>";
    return StrCat("by default ", OpOf(kTypes), "; kAccept ", OpOf(kTypes, ImplicitCast::kAccept),
                  "; kReject ", OpOf(kTypes, ImplicitCast::kReject));
  };
  see["type-i1-i32-i64"] = [] {
    std::string out;
    for (const char* a : {"i1", "i32", "i64"}) {
      for (const char* b : {"i1", "i32", "i64"}) {
        for (const char* r : {"i1", "i32", "i64"}) {
          const std::string got =
              OpOf(StrCat("(tensor<2x", a, ">, tensor<1x", b, ">) -> tensor<2x", r, ">"));
          out += got == "accepted, inferred 2" ? "1" : got;
        }
      }
    }
    return out;
  };
  see["trait-test-op"] = [] {
    const BroadcastableOp parsed = *ParseBroadcastableOp(
        "%result = \"test.broadcastable\"(%arg0, %arg1) : (tensor<1xi32>, tensor<?x4xi1>) -> "
        "tensor<*xi64>");
    return StrCat(
        parsed.name, " ", parsed.operands[0].ToString(), " ", parsed.operands[1].ToString(), " ",
        parsed.results[0].ToString(), "; ",
        ToStd(ParseBroadcastableOp("\"test.broadcastable\"(%a) : (tensor<1xi32>, i1) -> i1")
                  .status()
                  .message()));
  };
}

void AddProperties(Observations& see) {
  see["trait-at-least-one-operand"] = [] {
    return StrCat(OpOf("() -> tensor<4xi32>"), "; ", OpOf("(tensor<4xi32>) -> tensor<4xi32>"));
  };
  see["trait-exactly-one-result"] = [] {
    return StrCat(OpOf("(tensor<4xi32>) -> ()"), "; ",
                  OpOf("(tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)"), "; ",
                  OpOf("(tensor<4xi32>) -> (tensor<4xi32>)"));
  };
  see["trait-tensor-or-vector"] = [] {
    std::string out;
    for (const char* type : {"tensor<4xi32>", "vector<4xi32>", "i32", "memref<4xi32>"}) {
      StrAppend(&out, OpOf(StrCat("(", type, ") -> tensor<4xi32>")), "; ",
                OpOf(StrCat("(vector<4xi32>) -> ", type)), "; ");
    }
    return out;
  };
  see["trait-is-ranked"] = [] {
    std::string out;
    for (const char* sizes : {"*", "", "2x3", "2x?", "0"}) {
      const TraitShape shape = ShapeOf(sizes);
      StrAppend(&out, shape.IsRanked() ? "ranked " : "unranked ",
                shape.IsStatic() ? "static " : "not static ", shape.rank(), " [", shape.ToString(),
                "]; ");
    }
    return out;
  };
  see["trait-implicit-dynamic-to-static-cast"] = [] {
    return StrCat(AtRunTime({"?", "?"}, "4", {{4}, {1}}), "; ",
                  AtRunTime({"?", "?"}, "4", {{3}, {1}}), "; ", AtRunTime({"?"}, "4", {{1}}));
  };
  see["trait-runtime-size"] = [] {
    return StrCat(
        AtRunTime({"?", "?"}, "?", {{1}, {3}}), " ", AtRunTime({"?", "?"}, "?", {{3}, {1}}), " ",
        AtRunTime({"?", "1"}, "?", {{5}, {1}}), " ", AtRunTime({"?", "4"}, "4", {{1}, {4}}), "; ",
        AtRunTime({"?", "?"}, "?", {{2}, {3}}), "; ", AtRunTime({"?", "4"}, "4", {{2}, {4}}), "; ",
        AtRunTime({"?", "4"}, "4", {{4}, {5}}));
  };
}

// InferDim of sizes as text, "error" where there is none.
std::string Dim(int64_t a, int64_t b) {
  const absl::StatusOr<int64_t> size = InferDim(a, b);
  return size.ok() ? SizeText(*size) : "error";
}
// The page's pseudo-function, case by case; B2 counts 0 as a size other than one.
std::string PageDim(int64_t a, int64_t b) {
  const auto is_dynamic = [](int64_t size) { return size == kDynamicSize; };
  const auto is_one = [](int64_t size) { return size == 1; };
  const auto is_wide = [&](int64_t size) { return !is_dynamic(size) && !is_one(size); };
  if ((is_dynamic(a) && !is_wide(b)) || (is_one(a) && is_one(b))) return SizeText(a);
  if (is_wide(a) && !is_wide(b)) return SizeText(a);
  if ((is_dynamic(a) && is_wide(b)) || is_one(a)) return SizeText(b);
  return a == b ? SizeText(a) : "error";
}

std::string Inferred(const std::vector<const char*>& operands) {
  const absl::StatusOr<TraitShape> shape = InferResultShape(ShapesOf(operands));
  return shape.ok() ? shape->ToString() : std::string(shape.status().message());
}

void AddDimensionRows(Observations& see) {
  see["bcast-infer-dim-dyn-dyn"] = [] {
    return StrCat(Dim(kDynamicSize, kDynamicSize), "; ", AtRunTime({"?", "?"}, "?", {{1}, {3}}),
                  " ", AtRunTime({"?", "?"}, "?", {{3}, {1}}), "; ",
                  AtRunTime({"?", "?"}, "?", {{2}, {3}}));
  };
  see["bcast-infer-dim-dyn-one"] = [] {
    return StrCat(Dim(kDynamicSize, 1), Dim(1, kDynamicSize), "; ",
                  AtRunTime({"?", "1"}, "?", {{5}, {1}}), " ",
                  AtRunTime({"1", "?"}, "?", {{1}, {0}}));
  };
  see["bcast-infer-dim-dyn-static"] = [] {
    return StrCat(Dim(kDynamicSize, 4), "; ", AtRunTime({"?", "4"}, "4", {{1}, {4}}), " ",
                  AtRunTime({"?", "4"}, "4", {{4}, {4}}), "; ",
                  AtRunTime({"?", "4"}, "4", {{2}, {4}}));
  };
  see["bcast-infer-dim-one-one"] = [] { return Dim(1, 1); };
  see["bcast-infer-dim-one-static"] = [] {
    return StrCat(Dim(1, 4), Dim(4, 1), "; ", AtRunTime({"1", "4"}, "4", {{1}, {4}}));
  };
  see["bcast-infer-dim-static-static"] = [] {
    return StrCat(Dim(4, 4), " ", Dim(4, 5), "; ", ToStd(InferDim(4, 5).status().message()));
  };
  see["bcast-infer-dim-interchangeable"] = [] {
    int same = 0;
    for (int64_t a : kSizes) {
      for (int64_t b : kSizes) same += Dim(a, b) == Dim(b, a);
    }
    return StrCat(same, " of 25");
  };
  see["trait-infer-dim"] = [] {
    int agree = 0;
    std::string table;
    for (int64_t a : kSizes) {
      for (int64_t b : kSizes) {
        agree += Dim(a, b) == PageDim(a, b) && Dim(a, b) == Dim(b, a);
        StrAppend(&table, Dim(a, b), " ");
      }
    }
    return StrCat(agree, " of 25: ", table);
  };
  see["trait-categories"] = [] {
    return StrCat(Dim(kDynamicSize, 1), Dim(1, 1), Dim(2, 1), "; zero ", Dim(0, 1), Dim(0, 0),
                  Dim(0, kDynamicSize), " ", Dim(0, 2));
  };
}

void AddShapeRows(Observations& see) {
  see["trait-expand-rank"] = [] {
    return StrCat(absl::StrJoin(ExpandRank({4}, 3), "x"), " ",
                  absl::StrJoin(ExpandRank({2, kDynamicSize}, 3), "x"), " ",
                  absl::StrJoin(ExpandRank({}, 2), "x"), " ",
                  absl::StrJoin(ExpandRank({2, 3}, 2), "x"));
  };
  see["trait-infer-shape"] = [] {
    return StrCat(Inferred({"4", "2x3x1"}), " ", Inferred({"2x1", "1x3"}), " ",
                  Inferred({"", "2x?"}), "; ", Inferred({"2x3", "2x4"}), "; ",
                  Inferred({"2", "3x1x5"}));
  };
  see["trait-infer-result-shape"] = [] {
    return StrCat(Inferred({"*", "2x1", "*", "1x3", "4x1x1"}), "; ", Inferred({"2", "1", "3"}),
                  "; ", Inferred({"?", "3", "2"}));
  };
  see["trait-infer-result-none"] = [] { return StrCat(Inferred({"*"}), Inferred({"*", "*"})); };
  see["trait-infer-result-one"] = [] {
    return StrCat(Inferred({"2x?"}), " ", Inferred({"*", "3", "*"}), " [", Inferred({""}), "]");
  };
  see["trait-infer-result-many"] = [] {
    return StrCat(Inferred({"2x1"}), " ", Inferred({"2x1", "1x3"}), " ",
                  Inferred({"2x1", "1x3", "4x1x1"}), " ", Inferred({"2x1", "1x3", "4x1x1", "?"}));
  };
  see["trait-inferable-from-shapes"] = [] {
    return StrCat(OpOf("(tensor<2x1xi1>, vector<1x3xf32>) -> tensor<*xi64>"), "; ",
                  OpOf("(tensor<2x1xf8E5M2>, tensor<1x3xcomplex<f32>>) -> tensor<2x3xindex>"), "; ",
                  OpOf("(tensor<2x1xi1>, tensor<1x3xi1>) -> tensor<?x?xi1>"));
  };
  see["trait-unranked"] = [] {
    return StrCat(Inferred({"*", "3"}), " ", Inferred({"3", "*", "1"}), "; ",
                  OpOf("(tensor<*xi1>, tensor<3xi1>) -> tensor<4xi1>"), "; ",
                  OpOf("(tensor<2xi1>, tensor<1xi1>) -> tensor<*xi1>"));
  };
  see["trait-dynamic-dims"] = [] {
    return StrCat(Inferred({"?x?", "1x4"}), "; ", OpOf("(tensor<?xi1>) -> tensor<?xi1>"), "; ",
                  OpOf("(tensor<3xi1>) -> tensor<?xi1>"), "; ",
                  OpOf("(tensor<?x2xi1>) -> tensor<?x3xi1>"));
  };
}

void AddVerifyRows(Observations& see) {
  auto verify = [](std::string_view operand, std::string_view result) {
    const std::string text =
        OpOf(StrCat("(tensor<", operand, "xi32>) -> tensor<", result, "xi32>"));
    return text.rfind("accepted", 0) == 0 ? "OK" : text;
  };
  see["trait-operands-compatible"] = [] {
    return StrCat(OpOf("(tensor<3xi32>, tensor<2xi32>) -> tensor<*xi32>"), "; ",
                  OpOf("(tensor<3xi32>, tensor<1xi32>) -> tensor<*xi32>"));
  };
  see["trait-verify-inference-failure"] = [] {
    return OpOf("(tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x3xi32>");
  };
  // Every inferred size with every actual one.
  see["trait-result-compatible"] = [=] {
    std::string out;
    for (const char* inferred : {"?", "1", "4"}) {
      for (const char* actual : {"?", "1", "4"}) {
        out += verify(inferred, actual) == "OK" ? "1" : "0";
      }
    }
    return out;
  };
  // One property after the other is broken; the last op has them all.
  see["trait-broadcastable"] = [] {
    std::string out;
    for (const char* types :
         {"() -> tensor<4xi32>", "(tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)",
          "(tensor<4xi32>, i32) -> tensor<4xi32>",
          "(tensor<3xi32>, tensor<2xi32>) -> tensor<3xi32>", "(tensor<3xi32>) -> tensor<2xi32>",
          "(tensor<3xi32>, tensor<1xf32>) -> tensor<3xi1>"}) {
      StrAppend(&out, out.empty() ? "" : "; ", OpOf(types));
    }
    return out;
  };
  // Inference comes before the exit for unranked results, the rank before the sizes.
  see["trait-verify"] = [=] {
    return StrCat(OpOf("(tensor<3xi32>, tensor<2xi32>) -> tensor<*xi32>"), "; ", verify("*", "7"),
                  "; ", verify("2", "3x4"), "; ", verify("2x5", "3x5"), "; ", verify("2", "2"));
  };
  see["trait-verify-unranked-exit"] = [=] {
    return StrCat(verify("2", "*"), " ", verify("*", "2"), " ", verify("*", "*"), " ",
                  OpOf("(tensor<*xi32>, tensor<2xi32>) -> tensor<3xi32>"));
  };
  see["trait-verify-rank-match"] = [=] {
    return StrCat(verify("3", "1x3"), "; ", verify("1x3", "3"), "; ", verify("1x3", "1x3"));
  };
  see["trait-verify-dyn-dyn"] = [=] { return StrCat(verify("?", "?"), " ", verify("?x?", "?x?")); };
  see["trait-verify-dyn-static"] = [=] {
    return StrCat(verify("?", "4"), "; ", AtRunTime({"?"}, "4", {{4}}), "; ",
                  AtRunTime({"?"}, "4", {{5}}));
  };
  see["trait-verify-static-dyn"] = [=] {
    return StrCat(verify("4", "?"), " ", verify("2x3", "?x3"));
  };
  see["trait-verify-static-static"] = [=] {
    return StrCat(verify("4", "4"), "; ", verify("4", "5"), "; ", verify("1", "4"), "; ",
                  verify("0", "0"));
  };
}

void AddHelpers(Observations& see) {
  see["trait-util-get-broadcasted-shape"] = ShapesAgree;
  see["trait-util-get-broadcasted-type"] = [] {
    return StrCat(Broadcasted("tensor<2x1xi32>", "tensor<3xi32>"), " ",
                  Broadcasted("tensor<2xi32>", "tensor<2xi1>"), " ",
                  Broadcasted("tensor<2xi32>", "tensor<2xi1>", "i1"), " ",
                  Broadcasted("tensor<*xi32>", "tensor<2xi32>"), " ",
                  Broadcasted("vector<4xf32>", "vector<1xf32>"), " ",
                  Broadcasted("vector<4xf32>", "tensor<4xf32>"), " ",
                  Broadcasted("vector<4xf32>", "f32"), " ",
                  Broadcasted("tensor<2xi32>", "tensor<3xi32>"), " ",
                  Broadcasted("tensor<?xi32>", "tensor<1xi32>"));
  };
  see["trait-util-statically-known-broadcastable"] = [] {
    std::string pairs, lists;
    const std::vector<std::pair<const char*, const char*>> two = {
        {"2x3", "3"}, {"2x1", "1x3"}, {"2", "3"}, {"?", "1"}, {"?", "?"}, {"?", "4"}, {"*", "1"}};
    for (const auto& [a, b] : two) {
      pairs += StaticallyKnownBroadcastable(ShapeOf(a), ShapeOf(b)) ? "1" : "0";
    }
    const std::vector<std::vector<const char*>> more = {
        {"2x1", "1x3", "4x1x1"}, {"2", "1", "3"}, {"?", "1", "1"}, {"?", "1", "?"}, {"?x1", "1x4"}};
    for (const auto& shapes : more) {
      lists += StaticallyKnownBroadcastable(ShapesOf(shapes)) ? "1" : "0";
    }
    return StrCat(pairs, "; ", lists);
  };
  see["trait-util-verify-compatible-operand-broadcast"] = AllOpsOfTwo;
}

TEST(Trait, EveryRowOfThePage) {
  Observations see;
  AddExamples(see);
  AddProperties(see);
  AddDimensionRows(see);
  AddShapeRows(see);
  AddVerifyRows(see);
  AddHelpers(see);
  CheckRowTable("spec/ops/testdata/trait_rows.txt", see);
}

}  // namespace
}  // namespace assay
