// The terms of the documents, one line of testdata/glossary_rows.txt each.
#include "absl/strings/str_join.h"
#include "reference/interpreter/interpreter.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/verifier/broadcasting.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// Read, verified, run; every parameter is zero.
std::string ValueOf(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  if (!module.ok()) return std::string(module.status().message());
  if (absl::Status valid = Verify(**module); !valid.ok()) return std::string(valid.message());
  std::vector<Literal> zeros;
  for (const Instruction* parameter : (*module)->entry()->parameters()) {
    zeros.emplace_back(parameter->shape());
  }
  std::vector<const Literal*> arguments;
  for (const Literal& zero : zeros) arguments.push_back(&zero);
  absl::StatusOr<Literal> value = MakeOracle()->Evaluate(**module, arguments, Limits{});
  return value.ok() ? value->ToString() : std::string(value.status().message());
}
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(Glossary, EveryTermOfTheDocuments) {
  Observations see;
  see["gloss-array"] = [] {
    std::string out;
    std::string sizes;
    for (int rank = 0; rank <= 8; ++rank) {
      const std::string shape = StrCat("s32[", sizes, "]");
      const std::string value = ValueOf(StrCat(shape, " not(", shape, " a)"));
      out += value.find("-1") != std::string::npos ? "1" : value;
      StrAppend(&sizes, rank == 0 ? "" : ",", rank % 3 == 0 ? 2 : 1);
    }
    return StrCat(out, "; ", ValueOf("f32[0,3] negate(f32[0,3] a)"), "; ",
                  ValueOf("f32[3,0] negate(f32[3,0] a)"));
  };
  see["gloss-vector"] = [] {
    const Shape shape = *ReadShape("f32[3]");
    return StrCat("rank ", shape.rank(), " ",
                  shape == Shape::Array(ElementType::kF32, {3}) ? "array" : "another type");
  };
  see["gloss-matrix"] = [] {
    const Shape shape = *ReadShape("f32[3,4]");
    return StrCat("rank ", shape.rank(), " ",
                  shape == Shape::Array(ElementType::kF32, {3, 4}) ? "array" : "another type");
  };
  see["gloss-degenerate-dim"] = [] {
    return absl::StrJoin(*BroadcastDimensions({1, 3}, {2, 1}, {}), ",");
  };
  see["gloss-ragged"] = [] {
    return ValueOf("f32[3,4] concatenate(f32[1,4] a, f32[2,5] b), dimensions={0}");
  };
  see["gloss-compile-time-constant"] = [] {
    return FirstLine(ValueOf("f32[2] get-tuple-element((f32[2]) t), index=s32[] i"));
  };
  see["gloss-major-minor"] = [] {
    const DimVector strides = RowMajorStrides({2, 3, 4});
    return StrCat(absl::StrJoin(strides, ","), "; [1,2,3] is ", LinearIndex(strides, {1, 2, 3}));
  };
  see["gloss-collate"] = [] {
    const std::string one = ValueOf(R"(HloModule m
f { x = s32[] parameter(0) y = s32[] parameter(1) ROOT r = s32[] add(x, y) }
ENTRY e { a = s32[3] constant({1, 2, 3}) z = s32[] constant(0)
  ROOT r = s32[] reduce(a, z), dimensions={0}, to_apply=f })");
    const std::string two = ValueOf(R"(HloModule m
f { x = s32[] parameter(0) u = f32[] parameter(1) y = s32[] parameter(2) v = f32[] parameter(3)
  s = s32[] add(x, y) t = f32[] maximum(u, v) ROOT r = (s32[], f32[]) tuple(s, t) }
ENTRY e { a = s32[3] constant({1, 2, 3}) b = f32[3] constant({1, 5, 2}) z = s32[] constant(0)
  w = f32[] constant(0) ROOT r = (s32[], f32[]) reduce(a, b, z, w), dimensions={0}, to_apply=f })");
    return StrCat(one, "; ", two);
  };
  see["gloss-entry-like-main"] = [] {
    const std::string result = ValueOf(R"(HloModule m
other { p = s32[] parameter(0) ROOT r = s32[] negate(p) }
ENTRY main { ROOT c = s32[] constant(7) })");
    const std::string second = ValueOf(R"(HloModule m
ENTRY a { ROOT c = s32[] constant(7) }
ENTRY b { ROOT d = s32[] constant(8) })");
    return StrCat(result, "; ", FirstLine(second));
  };
  see["gloss-control-dependency"] = [] {
    const std::string text = R"(HloModule m
ENTRY e {
  a = s32[] constant(1)
  b = s32[] constant(2)
  ROOT r = s32[] add(a, a), control-predecessors={b}
})";
    const std::unique_ptr<Module> module = *ReadModule(text);
    Schedule late;
    Computation* entry = module->entry();
    late.set_sequence(entry, {*entry->begin(), entry->root(), entry->root()->previous()});
    return StrCat(WriteInstruction(*entry->root()), "; ",
                  ToStd(module->set_schedule(late).message()));
  };
  CheckRowTable("reference/testdata/glossary_rows.txt", see);
}

}  // namespace
}  // namespace assay
