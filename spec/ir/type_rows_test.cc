// The types that the documents name: what they hold, and that they survive text and binary form.
// One line of testdata/type_rows.txt each.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_join.h"
#include "spec/base/row_table_for_test.h"
#include "spec/base/strings.h"
#include "spec/ir/hlo_module.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

const Shape kScalarShape = Shape::Scalar(ElementType::kF32);

// On one line.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}
std::string Text(const absl::Status& status) {
  return status.ok() ? "ok" : OneLine(std::string(status.message()));
}

// The root of the module as it is written after a way through the binary form, if it reads back
// from that text as the same instruction.
std::string Survivor(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  if (!module.ok()) return StrCat("reader: ", Text(module.status()));
  if (absl::Status valid = Verify(**module); !valid.ok()) return Text(valid);
  absl::StatusOr<std::string> bytes = WriteModuleProto(**module);
  if (!bytes.ok()) return StrCat("writer: ", Text(bytes.status()));
  absl::StatusOr<std::unique_ptr<Module>> binary = ReadModuleProto(*bytes);
  if (!binary.ok()) return StrCat("binary: ", Text(binary.status()));
  const std::string written = WriteInstruction(*(*binary)->entry()->root(), WriteOptions::Short());
  absl::StatusOr<std::unique_ptr<Module>> again = ReadModule(WriteModule(**binary));
  if (!again.ok()) return StrCat("again: ", Text(again.status()));
  return (*again)->Hash() == (*module)->Hash() ? written : StrCat("another module: ", written);
}
// The part of the text that comes after `from`.
std::string Tail(const std::string& text, std::string_view from) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text : text.substr(at);
}

// "attribute=WORD" for each of the words, or why not.
std::string Words(std::string_view before, std::initializer_list<const char*> words,
                  std::string_view attribute, std::string_view after = "") {
  std::string out;
  for (const char* word : words) {
    const std::string all = Survivor(StrCat(before, ", ", attribute, "=", word, after));
    const std::string tail = Tail(all, attribute);
    StrAppend(&out, out.empty() ? "" : "; ", tail.substr(0, tail.find_first_of(",\n")));
  }
  return out;
}

constexpr char kNested[] = R"(HloModule m, input_output_alias={ {1,0}: (0, {1}, must-alias) }
inner { p = f32[4]{0} parameter(0)
  ROOT n = f32[4]{0} negate(p) }
ENTRY main {
  t = (s32[], f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4]{0} get-tuple-element(t), index=1
  y = f32[4]{0} call(x), to_apply=inner
  u = (f32[4]{0}, s32[]) tuple(y, i)
  ROOT r = (s32[], (f32[4]{0}, s32[])) tuple(i, u)
}
)";
std::string Replaced(std::string text, std::string_view what, std::string_view with) {
  return text.replace(text.find(what), what.size(), with);
}
std::string Nested() { return kNested; }

std::string Verified(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  return Text(module.ok() ? Verify(**module) : module.status());
}

proto::HloInstructionProto RootProto(const std::string& text) {
  const auto module = *ReadModule(text);
  const proto::HloModuleProto message = *ModuleToProto(*module);
  for (const auto& instruction : message.computations(0).instructions()) {
    if (instruction.id() == message.computations(0).root_id()) return instruction;
  }
  return {};
}

// The paragraph of docs/glossary.md about `term`.
std::string Documented(std::string_view term) {
  std::ifstream in(TestDataDir() + "/docs/glossary.md");
  const std::string begin = StrCat("- **", term, "**");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(begin, 0) == 0) return line.substr(begin.size() + 2);
  }
  return "not there";
}

void AddValueTypes(Observations& see) {
  see["type-tuple"] = [] {
    return StrCat(Survivor("(f32[2], (), (s32[], (pred[1])), f32[2]) copy((f32[2], (), (s32[], "
                           "(pred[1])), f32[2]) t)"),
                  "; ", Survivor("() tuple()"), "; ",
                  Verified("(s32[], f32[2]) copy((f32[2], s32[]) t)"));
  };
  see["type-shape"] = [] {
    std::string out = Survivor(
        "(bf16[2,<=3,0]{0,2,1}, (u4[5]{0}, token[])) copy((bf16[2,<=3,0]{0,2,1}, "
        "(u4[5]{0}, token[])) t)");
    const Shape shape = *ReadShape("(bf16[2,<=3,0]{0,2,1}, (u4[5]{0}, token[]))");
    const Shape& array = shape.elements()[0];
    return StrCat(
        out, "; ", Name(array.element_type()), " ", absl::StrJoin(array.dimensions(), "x"),
        " dynamic ", array.is_dynamic(0), array.is_dynamic(1), array.is_dynamic(2), " layout ",
        absl::StrJoin(array.layout().minor_to_major(), ","), " elements ", shape.elements().size());
  };
  see["type-padding-config"] = [] {
    return Tail(Survivor("s32[6,1,2] pad(s32[2,3,2] a, s32[] v), padding=1_2_1x-1_-1_0x0_0"),
                "padding");
  };
  see["type-padding-config-dimension"] = [] {
    const proto::HloInstructionProto pad =
        RootProto("s32[6] pad(s32[2] a, s32[] v), padding=-1_4_1");
    const auto& dimension = pad.padding_config().dimensions(0);
    return StrCat("low ", dimension.edge_padding_low(), " high ", dimension.edge_padding_high(),
                  " interior ", dimension.interior_padding(), "; ",
                  Tail(Survivor("s32[6] pad(s32[2] a, s32[] v), padding=-1_4_1"), "padding"));
  };
  see["attr-pad-padding-config"] = [] {
    return StrCat(Tail(Survivor("s32[5,9] pad(s32[2,3] a, s32[] v), padding=1_2x2_0_2"), "padding"),
                  "; ", Verified("s32[5,3] pad(s32[2,3] a, s32[] v), padding=1_2"), "; ",
                  Verified("s32[5] pad(s32[2] a, s32[] v), padding=1_2x0_0"));
  };
  see["type-fft-type"] = [] {
    return StrCat(Words("c64[4] fft(c64[4] a)", {"FFT", "IFFT"}, "fft_type", ", fft_length={4}"),
                  "; ", Words("c64[3] fft(f32[4] a)", {"RFFT"}, "fft_type", ", fft_length={4}"),
                  "; ", Words("f32[4] fft(c64[3] a)", {"IRFFT"}, "fft_type", ", fft_length={4}"),
                  "; ", Verified("c64[4] fft(c64[4] a), fft_type=DFT, fft_length={4}"));
  };
  see["type-random-algorithm"] = [] {
    return StrCat(
        Words("(u64[2], u32[3]) rng-bit-generator(u64[2] a)", {"rng_default", "rng_three_fry"},
              "algorithm"),
        "; ", Words("(u64[3], u32[3]) rng-bit-generator(u64[3] a)", {"rng_philox"}, "algorithm"));
  };
  see["type-transpose-enum"] = [] {
    return Words("f32[2,2] triangular-solve(f32[2,2] a, f32[2,2] b)",
                 {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}, "transpose_a");
  };
  see["attr-precision-config"] = [] {
    std::string out;
    for (const char* words : {"{default,default}", "{high,highest}", "{highest,default}"}) {
      StrAppend(&out, out.empty() ? "" : "; ",
                Tail(Survivor(StrCat("f32[] dot(f32[3] a, f32[3] b), lhs_contracting_dims={0}, "
                                     "rhs_contracting_dims={0}, operand_precision=",
                                     words)),
                     "rhs_contracting"));
    }
    return out;
  };
  see["attr-dot-general-dimension-numbers"] = [] {
    return Tail(
        Survivor("f32[7,8,2,5] dot(f32[7,2,8,3] a, f32[8,3,7,5] b), lhs_batch_dims={0,2}, "
                 "lhs_contracting_dims={3}, rhs_batch_dims={2,0}, rhs_contracting_dims={1}"),
        "lhs_batch");
  };
  see["type-primitive-type"] = [] {
    std::string out;
    for (const TypeInfo& type : AllTypes()) {
      if (!IsArrayType(type.type)) continue;
      const std::string shape = StrCat(type.name, "[3]");
      const std::string written = Survivor(StrCat(shape, " copy(", shape, " a)"));
      const bool same = written == StrCat("copy.anon = ", shape, " copy(a)");
      StrAppend(&out, type.name, " ",
                same ? StrCat(BitWidth(type.type), "/", ReadShape(shape)->ByteSize()) : written,
                " ");
    }
    return out;
  };
  see["type-token"] = [] {
    return StrCat(Survivor("token[] after-all()"), "; ",
                  Survivor("(f32[2], token[]) tuple(f32[2] a, token[] t)"), "; ",
                  Verified("token[3] after-all()"));
  };
  see["type-source-target-pairs"] = [] {
    return Tail(
        Survivor("f32[3] collective-permute(f32[3] a), source_target_pairs={{0,1},{1,0},{2,3}}"),
        "source_target_pairs");
  };
  see["type-replica-group"] = [] {
    return StrCat(Tail(Survivor("f32[6] all-gather(f32[2] a), replica_groups={{1,2,3},{4,5,0}}, "
                                "dimensions={0}"),
                       "replica_groups"),
                  "; ",
                  Tail(Survivor("f32[3] all-gather(f32[3] a), replica_groups={{2},{0},{1}}, "
                                "dimensions={0}"),
                       "replica_groups"));
  };
  see["api-type-hlo-sharding"] = [] {
    std::string out;
    for (const char* sharding :
         {"{replicated}", "{maximal device=3}", "{devices=[2,1]0,1}", "{devices=[2,2]<=[4]}"}) {
      StrAppend(
          &out,
          Tail(Survivor(StrCat("f32[2,2] negate(f32[2,2] a), sharding=", sharding)), "sharding"),
          "; ");
    }
    return out + Tail(Survivor("(f32[2], f32[2]) tuple(f32[2] a, f32[2] b), "
                               "sharding={{replicated}, {devices=[2]<=[2]}}"),
                      "sharding");
  };
  see["attr-gather-indices-are-sorted"] = [] {
    const std::string gather =
        "f32[2] gather(f32[5] a, s32[2,1] b), offset_dims={}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={1}";
    return StrCat(Tail(Survivor(gather + ", indices_are_sorted=true"), "slice_sizes"), "; ",
                  Tail(Survivor(gather), "slice_sizes"));
  };
  see["attr-scatter-indices-are-sorted"] = [] {
    auto scatter = [](std::string_view promise) {
      return Tail(
          Survivor(StrCat("HloModule m\nf { x = f32[] parameter(0) ROOT y = f32[] parameter(1) }\n"
                          "ENTRY e { a = f32[5] parameter(0) i = s32[2,1] parameter(1) u = f32[2] "
                          "parameter(2) ROOT s = f32[5] scatter(a, i, u), update_window_dims={}, "
                          "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
                          "index_vector_dim=1",
                          promise, ", to_apply=f }")),
          "index_vector_dim");
    };
    return StrCat(scatter(", indices_are_sorted=true"), "; ", scatter(", unique_indices=true"),
                  "; ", scatter(""));
  };
  see["type-array-slice"] = [] {
    static_assert(std::is_same_v<Int64List::value_type, int64_t>);
    static_assert(std::is_same_v<decltype(SliceRange::stride), int64_t>);
    static_assert(std::is_same_v<decltype(PaddingDim::low), int64_t>);
    return StrCat(
        Tail(Survivor("s8[1] slice(s8[8589934592] a), slice={[4294967296:8589934592:4294967297]}"),
             "slice={"),
        "; ",
        Tail(Survivor("s8[8589934593] pad(s8[3] a, s8[] v), padding=8589934592_-2"), "padding"),
        "; ",
        Tail(Survivor("s8[8589934592] dynamic-slice(s8[8589934592] a, s64[] i), "
                      "dynamic_slice_sizes={8589934592}"),
             "dynamic_slice_sizes"));
  };
}

void AddModuleTypes(Observations& see) {
  const Shape columns = *ReadShape("f32[2,3]{0,1}");
  see["api-type-hlo-module-config"] = [columns] {
    ExecutionOptions execution;
    execution.num_replicas = 4;
    execution.seed = 7;
    HloModuleConfig config = *hlo_module::CreateModuleConfigFromShape(
        {{columns}, columns}, {{{"xla_dump_to", "/tmp/d"}}}, &execution);
    Module module("m", config);
    return StrCat(module.config().entry_layout->result.ToString(true), " ",
                  module.config().debug_options.flags.at("xla_dump_to"), " ",
                  module.config().replica_count, " ", module.config().seed);
  };
  see["api-type-computation-layout"] = [columns] {
    const ProgramShape shape{{columns, kScalarShape}, columns};
    std::string out;
    for (bool ignore : {false, true}) {
      const ComputationLayout layout(shape, ignore);
      StrAppend(&out, layout.parameters[0].ToString(true), " ", layout.parameters[1].ToString(true),
                " ", layout.result.ToString(true), "; ");
    }
    return out;
  };
  see["api-type-program-shape"] = [] {
    const auto module = *ReadModule(Nested());
    std::string out;
    for (const Computation* computation : module->computations()) {
      const ProgramShape shape = computation->ComputeProgramShape();
      StrAppend(&out, computation->name(), " (");
      for (const Shape& parameter : shape.parameters) StrAppend(&out, parameter.ToString());
      StrAppend(&out, ") -> ", shape.result.ToString(), "; ");
    }
    return out;
  };
  see["api-type-hlo-clone-context"] = [] {
    const auto module = *ReadModule(Nested());
    HloCloneContext context;
    Computation* clone = hlo_module::DeepCloneComputation(*module, module->entry(), &context);
    int right = 0;
    for (const auto& [original, copy] : context.instructions) {
      right += original != copy && original->opcode() == copy->opcode() &&
               context.computations.at(original->parent()) == copy->parent();
    }
    return StrCat(context.computations.size(), " computations, ", right, " of ",
                  context.instructions.size(), " instructions; ",
                  context.computations.at(module->GetComputationWithName("main")) == clone
                      ? clone->name()
                      : "another");
  };
  see["api-type-hlo-print-options"] = [] {
    const auto module = *ReadModule(
        "HloModule m\nENTRY e { c = f32[12] constant({0.1, 1, 2, 3, 4, 5, 6, 7, 8, 9, -0, nan})\n"
        "ROOT n = f32[12] negate(c), metadata={op_name=\"here\"} }");
    const std::string all = module->ToString();
    HloPrintOptions less = WriteOptions::Short();
    less.large_constants = false;
    const std::string short_text = module->ToString(less);
    return StrCat(
        (*ReadModule(all))->ToString() == all && (*ReadModule(all))->Hash() == module->Hash()
            ? "default reads back equal"
            : "default loses something",
        "; ", OneLine(short_text.substr(short_text.find("ENTRY"))));
  };
  see["api-type-hlo-module-proto"] = [] {
    const auto module = *ReadModule(Nested());
    const std::string first = *WriteModuleProto(*module);
    const auto again = *ReadModuleProto(first);
    proto::HloModuleProto message;
    const bool parsed = message.ParseFromString(first);
    return StrCat(parsed ? message.name() : "unreadable", " ", message.computations_size(),
                  " computations; ",
                  *WriteModuleProto(*again) == first ? "the same bytes" : "other bytes", "; ",
                  again->Hash() == module->Hash() ? "the same module" : "another module");
  };
  see["api-type-hlo-schedule"] = [] {
    const auto module = *ReadModule(R"(HloModule m
fused { p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p) }
called { q = f32[4] parameter(0)
  ROOT c = f32[4] cosine(q) }
ENTRY main { a = f32[4] parameter(0)
  f = f32[4] fusion(a), kind=kLoop, calls=fused
  ROOT g = f32[4] call(f), to_apply=called })");
    HloSchedule schedule = Schedule::FromStoredOrder(*module);
    std::string out;
    for (const Computation* computation : module->computations()) {
      StrAppend(&out, computation->name(), " ",
                schedule.is_computation_scheduled(computation)
                    ? StrCat(schedule.sequence(computation).size())
                    : "none",
                ", ");
    }
    StrAppend(&out, Text(schedule.Verify(*module)), "; ");
    schedule.set_sequence(module->entry(), {module->entry()->root()});
    return StrCat(out, Text(schedule.Verify(*module)));
  };
  see["api-type-name-uniquer"] = [] {
    NameUniquer names, dashes('-');
    std::string out;
    for (const char* name : {"add", "add", "add.7", "add", "mul", "add.clone", "add.clone"}) {
      StrAppend(&out, names.GetUniqueName(name), " ");
    }
    dashes.GetUniqueName("add");
    NameUniquer again;
    again.GetUniqueName("add");
    return StrCat(out, dashes.GetUniqueName("add"), "; again ", again.GetUniqueName("add"));
  };
  see["api-type-alias-config"] = [] {
    const auto module = *ReadModule(Nested());
    const HloInputOutputAliasConfig& config = hlo_module::input_output_alias_config(*module);
    return StrCat(config.size(), ": output {", absl::StrJoin(config[0].output_index, ","),
                  "} parameter ", config[0].parameter, " {",
                  absl::StrJoin(config[0].parameter_index, ","), "}; ", Verified(Nested()), "; ",
                  Verified(Replaced(Nested(), "(0, {1}", "(0, {0}")));
  };
  see["api-type-dynamic-parameter-binding"] = [] {
    DynamicParameterBinding binding;
    const std::string first = Text(binding.Bind({2, {}}, {0, {1}, 0}));
    binding.Bind({3, {}}, {0, {1}, 1}).IgnoreError();
    const auto held = binding.GetBinding({0, {1}, 1});
    const auto free = binding.GetBinding({0, {0}, 1});
    return StrCat(first, "; dimension 1 of parameter 0 {1} by parameter ", held->parameter_num,
                  "; of {0} ", free.has_value() ? "bound" : "not bound", "; ",
                  Text(binding.Bind({4, {}}, {0, {1}, 1})));
  };
  see["api-type-shape-index"] = [] {
    const Shape shape = *ReadShape("(s32[], (f32[4], (pred[]), token[]), u8[2])");
    std::string out;
    ForEachLeaf(shape, [&](const Shape& leaf, absl::Span<const int64_t> path) {
      const ShapeIndex index(path.begin(), path.end());
      StrAppend(&out, "{", absl::StrJoin(index, ","), "} ", leaf.ToString(), " ");
    });
    return StrCat(out, "; ", Verified(Replaced(Nested(), "{1,0}:", "{1,2}:")));
  };
}

void AddTerms(Observations& see) {
  see["gloss-nested-computation"] = [] {
    auto module = *ReadModule(Nested());
    auto loose = Computation::Create("loose");
    loose->set_root(loose->AddParameter(0, kScalarShape));
    hlo_module::AddEmbeddedComputation(*module, std::move(loose)).status().IgnoreError();
    auto callers = [&] {
      std::string out;
      for (const Computation* computation : module->computations()) {
        if (computation == module->entry()) continue;
        std::string by = "nothing";
        for (const Computation* caller : module->computations()) {
          for (const Instruction* instruction : caller->instructions()) {
            for (const Computation* callee : instruction->callees()) {
              if (callee == computation) {
                by = StrCat(Name(instruction->opcode()), " ", instruction->name());
              }
            }
          }
        }
        StrAppend(&out, computation->name(), " by ", by, "; ");
      }
      return out;
    };
    const std::string before = callers();
    const std::string removed = Text(module->RemoveUnusedComputations());
    return StrCat(before, "without what is unused, ", removed, ": ", callers());
  };
  see["gloss-versioned-handle"] = [] {
    const Module outside("m", ModuleConfig());
    return StrCat(outside.name(), "; ", Documented("versioned computation handle"));
  };
  see["gloss-cmar-crar"] = [] {
    std::string out;
    for (const char* term : {"CMAR", "CRAR", "CRS"}) StrAppend(&out, Documented(term), " ");
    return out;
  };
}

TEST(TypeRows, EveryTypeOfTheDocuments) {
  Observations see;
  AddValueTypes(see);
  AddModuleTypes(see);
  AddTerms(see);
  CheckRowTable("spec/ir/testdata/type_rows.txt", see);
}

}  // namespace
}  // namespace assay
