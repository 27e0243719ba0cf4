// The binary form: what was written reads back as the same module; what is broken is an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/base/strings.h"
#include "spec/ir/hlo_module.h"
#include "spec/proto/hlo.pb.h"
#include "spec/proto/module_proto.h"
#include "spec/text/reader.h"
#include "spec/text/testing/corpus.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Module> Read(std::string_view text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// Text holds counts of devices, messages do not; both sides get them from the config.
void ExpectRoundTrip(Module& module) {
  hlo_module::mutable_entry_computation_layout(module);
  absl::StatusOr<std::string> bytes = WriteModuleProto(module);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_TRUE(LooksBinary(*bytes));
  absl::StatusOr<std::unique_ptr<Module>> again = ReadModuleProto(*bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  (*again)->config().alias_passthrough_params = module.config().alias_passthrough_params;
  (*again)->config().verbatim = module.config().verbatim;
  EXPECT_EQ(WriteModule(module), WriteModule(**again));
  ASSERT_EQ(module.computation_count(), (*again)->computation_count());
  for (const Computation* computation : module.computations()) {
    const Computation* other = (*again)->GetComputationWithName(computation->name());
    ASSERT_NE(other, nullptr) << computation->name();
    const std::vector<Instruction*> a = computation->PostOrder(), b = other->PostOrder();
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i]->name(), b[i]->name());
      EXPECT_EQ(a[i]->attributes(), b[i]->attributes()) << a[i]->ToString();
    }
  }
  EXPECT_EQ(module.Hash(), (*again)->Hash());
  absl::StatusOr<std::string> second = WriteModuleProto(**again);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(*bytes, *second);
}

TEST(Proto, CorpusRoundTrips) {
  int count = 0;
  for (const CorpusFile& file : CorpusFiles()) {
    SCOPED_TRACE(file.name);
    std::unique_ptr<Module> module = Read(file.text);
    ASSERT_NE(module, nullptr);
    ExpectRoundTrip(*module);
    ++count;
  }
  EXPECT_GT(count, 100);
}

// One line per form that the corpus does not have: a single instruction each.
constexpr std::string_view kForms[] = {
    "f32[3]{0} all-reduce(f32[3] a), channel_id=1, replica_groups={{0,1},{2,3}}, "
    "use_global_device_ids=true, to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = "
    "f32[] add(x, y) }",
    "f32[6] all-gather(f32[3] a), replica_groups=[2,2]<=[2,2]T(1,0), dimensions={0}",
    "f32[6] all-gather(f32[3] a), replica_groups=mesh['a'=2,'b'=4] {'a'}, dimensions={0}",
    "f32[3] collective-permute(f32[3] a), source_target_pairs={{0,1},{1,0}}",
    "f32[2] negate(f32[2] a), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}",
    "f32[2] negate(f32[2] a), sharding={devices=[2]1,0}",
    "f32[2] negate(f32[2] a), sharding={maximal device=3}",
    "f32[2] negate(f32[2] a), sharding={manual}, frontend_attributes={a=\"b\",c={\"d\":1}}",
    "f32[2] negate(f32[2] a), sharding={mesh['a'=2,'b'=2], [{'a', ?}], replicated={'b'}}",
    "f32[2] negate(f32[2] a), sharding={mesh['a'=2,'b'=2], replicated}",
    "f32[2] negate(f32[2] a), sharding={mesh['a'=2,'b'=2], manual}",
    "f32[2] negate(f32[2] a), sharding={mesh['a'=2,'b'=2], unreduced=max}",
    "(f32[2], f32[2]) tuple(f32[2] a, f32[2] b), sharding={{replicated}, {devices=[2]<=[2]}}",
    "f32[2] exponential(f32[2] a), result_accuracy={tolerance={atol=1e-05,rtol=0.1,ulps=2}}",
    "f32[2] negate(f32[2] a), metadata={op_type=\"neg\" op_name=\"jit(f)/neg\" "
    "source_file=\"a.py\" source_line=3 source_end_line=4 source_column=1 source_end_column=9}",
    "f32[2] negate(f32[2] a), statistics={visualizing_index=1,name=33,other=0.5}",
    "f32[2] negate(f32[2] a), origin={{\"dot.3\" {0}}}",
    "(f32[2], s32[]) tuple(f32[2] a, s32[] b), origin={({\"p\" {0}}, {})}",
    "f32[2] negate(f32[2] a), backend_config={\"x\":[1,2]}",
    "f32[2] custom-call(f32[2] a), custom_call_target=\"f\", "
    "operand_layout_constraints={f32[2]{0}}, custom_call_has_side_effect=true, "
    "api_version=API_VERSION_TYPED_FFI, backend_config=\"raw bytes\"",
    "f32[2] custom-call(f32[2] a), custom_call_target=\"f\", literal=f32[2]{0} {1, 2}",
    "f32[2] custom-call(f32[2] a), custom_call_target=\"f\", output_to_operand_aliasing={{}: (0, "
    "{})}, schedule=SCHEDULE_LATEST",
    "f32[2] domain(f32[2] a), domain={kind=\"sharding\", entry={replicated}, exit={maximal "
    "device=1}}",
    "f32[1,2,2,1] convolution(f32[1,4,4,1] a, f32[3,3,1,1] b), window={size=3x3 pad=0_0x0_0 "
    "rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, operand_precision={high,default}",
    "f32[2,2] triangular-solve(f32[2,2] a, f32[2,2] b), left_side=true, lower=true, "
    "transpose_a=TRANSPOSE",
    "f32[2,2] cholesky(f32[2,2] a), lower=true",
    "c64[3] fft(f32[4] a), fft_type=RFFT, fft_length={4}",
    "(u64[2], u32[3]) rng-bit-generator(u64[2] a), algorithm=rng_philox",
    "f32[3] rng(f32[] a, f32[] b), distribution=rng_normal",
    "(f32[2], f32[2], f32[2]) batch-norm-training(f32[3,2] a, f32[2] b, f32[2] c), epsilon=0.001, "
    "feature_index=1",
    "f32[4,2] pad(f32[2,2] a, f32[] b), padding=1_-1_2x0_0",
    "f32[2] slice(f32[8] a), slice={[1:6:4]}",
    "pred[2] compare(f32[2] a, f32[2] b), direction=GE, type=TOTALORDER",
    "pred[2] compare(s32[2] a, s32[2] b), direction=EQ",
    "f32[2] reduce-precision(f32[2] a), exponent_bits=5, mantissa_bits=10",
    "s32[2,3] iota(), iota_dimension=1",
    "f32[2,3] dot(f32[4,2] a, f32[4,3] b), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
    "algorithm=dot_bf16_bf16_f32_x9",
    "(f32[2], token[]) infeed(token[] t), infeed_config=\"i\\001\"",
    "token[] outfeed(f32[2] a, token[] t), outfeed_shape=f32[2]{0}, outfeed_config=\"o\"",
    "(f32[2], u32[], token[]) send(f32[2] a, token[] t), channel_id=7, is_host_transfer=true",
    "(f32[2], f32[2], u32[]) copy-start(f32[2] a), cross_program_prefetch_index=0",
    "(f32[2], s32[2]) topk(f32[5] a), k=2, largest=false, is_stable=true",
    "f32[2] gather(f32[5] a, s32[2,1] b), offset_dims={}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=1, slice_sizes={1}, indices_are_sorted=true",
};

TEST(Proto, FormsRoundTrip) {
  for (std::string_view text : kForms) {
    SCOPED_TRACE(std::string(text));
    std::unique_ptr<Module> module = Read(text);
    ASSERT_NE(module, nullptr);
    ExpectRoundTrip(*module);
  }
}

// A literal of every element type, in a layout that is not row-major.
TEST(Proto, LiteralsOfEveryTypeRoundTrip) {
  int types = 0;
  for (const TypeInfo& type : AllTypes()) {
    if (!IsArrayType(type.type)) continue;
    SCOPED_TRACE(std::string(type.name));
    Module module("m");
    Computation* entry = module.AddComputation("main");
    Shape shape = Shape::Array(type.type, {2, 3});
    Literal literal(shape);
    for (size_t i = 0; i < literal.bytes().size(); ++i) {
      const unsigned mask = type.bits >= 8 ? 0xFF : (1u << type.bits) - 1;
      literal.bytes()[i] = static_cast<uint8_t>(IsPred(type.type) ? i % 2 : (37 * i + 1) & mask);
      if (IsSigned(type.type) && type.bits < 8) literal.SetInteger(i, static_cast<int64_t>(i));
    }
    shape.set_layout(Layout({0, 1}));
    literal.set_layout(shape.layout());
    entry->set_root(entry->AddConstant(literal));
    ExpectRoundTrip(module);
    ++types;
  }
  EXPECT_GE(types, 25);
}

TEST(Proto, LiteralsOfDynamicShapesRoundTrip) {
  for (const char* constant :
       {"s32[<=4]{0} constant({0, 1, 2, 3})", "f8e5m2[<=2]{0} constant({1, -2})",
        "f32[<=2,<=3]{0,1} constant({ { 1, 2, 3 }, { 4, 5, 6 } })"}) {
    const auto module = Read(StrCat("HloModule m\nENTRY e {\n  ROOT c = ", constant, "\n}\n"));
    ASSERT_NE(module, nullptr) << constant;
    ExpectRoundTrip(*module);
  }
}

TEST(Proto, SnapshotsHoldArgumentsAndResult) {
  for (bool unoptimized : {false, true}) {
    Snapshot snapshot;
    snapshot.module = Read("f32[2] negate(f32[2] a)");
    Literal argument(Shape::Array(ElementType::kF32, {2}));
    argument.SetDouble(0, 1.5);
    Literal flags(Shape::Array(ElementType::kPred, {3}));
    flags.SetInteger(1, 1);
    snapshot.arguments = {{argument, Literal::Tuple({flags, argument})}};
    snapshot.result = argument;
    snapshot.platform = "here";
    absl::StatusOr<std::string> bytes =
        unoptimized ? WriteUnoptimizedSnapshot(snapshot) : WriteSnapshot(snapshot);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    absl::StatusOr<Snapshot> again = ReadSnapshot(*bytes);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->module->Hash(), snapshot.module->Hash());
    ASSERT_EQ(again->arguments.size(), 1u);
    ASSERT_EQ(again->arguments[0].size(), 2u);
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(again->arguments[0][i].BitwiseEqual(snapshot.arguments[0][i])) << i;
    }
    EXPECT_EQ(again->result.has_value(), !unoptimized);
    // Every cut of it is an error or a module, never more.
    for (size_t size = 0; size < bytes->size(); ++size) {
      absl::StatusOr<Snapshot> cut = ReadSnapshot(std::string_view(*bytes).substr(0, size));
      if (cut.ok()) Verify(*cut->module).IgnoreError();
    }
  }
}

// XLA writes literals inside the message, where a config could be meant.
TEST(Proto, UnoptimizedSnapshotsHoldLiteralsInside) {
  Snapshot snapshot;
  snapshot.module = Read("f32[2] negate(f32[2] a)");
  Literal argument(Shape::Array(ElementType::kF32, {2}));
  argument.SetDouble(0, 1.5);
  snapshot.arguments = {{argument}};
  proto::HloSnapshot written;
  ASSERT_TRUE(written.ParseFromString(*WriteSnapshot(snapshot)));
  proto::HloUnoptimizedSnapshot inside;
  *inside.mutable_hlo_module() = written.hlo().hlo_module();
  for (int partition = 0; partition < 2; ++partition)
    *inside.add_partitions()->mutable_arguments() = written.arguments();
  absl::StatusOr<Snapshot> again = ReadSnapshot(inside.SerializeAsString());
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(again->arguments.size(), 2u);
  ASSERT_EQ(again->arguments[1].size(), 1u);
  EXPECT_TRUE(again->arguments[1][0].BitwiseEqual(argument));
}

// One way in which a file may be wrong: an edit of a good message and the error that it causes.
struct Wrong {
  const char* what;
  void (*edit)(proto::HloModuleProto& proto);
  const char* expected;
};
const Wrong kWrong[] = {
    {"operand before its definition",
     [](auto& p) { p.mutable_computations(0)->mutable_instructions(1)->set_operand_ids(0, 99); },
     "no instruction before has"},
    {"root that is not there", [](auto& p) { p.mutable_computations(0)->set_root_id(77); },
     "the root"},
    {"two instructions of one id",
     [](auto& p) {
       auto* c = p.mutable_computations(0);
       c->mutable_instructions(1)->set_id(c->instructions(0).id());
     },
     "taken"},
    {"two instructions of one name",
     [](auto& p) {
       auto* c = p.mutable_computations(0);
       c->mutable_instructions(1)->set_name(c->instructions(0).name());
     },
     "its name is taken"},
    {"unknown opcode",
     [](auto& p) { p.mutable_computations(0)->mutable_instructions(1)->set_opcode("frobnicate"); },
     "unknown opcode"},
    {"entry that is not there", [](auto& p) { p.set_entry_computation_id(1234); },
     "entry's id 1234"},
    {"layout of another rank",
     [](auto& p) {
       p.mutable_computations(0)
           ->mutable_instructions(0)
           ->mutable_shape()
           ->mutable_layout()
           ->add_minor_to_major(1);
     },
     "layout has 2 dimensions"},
    {"size below zero",
     [](auto& p) {
       p.mutable_computations(0)->mutable_instructions(0)->mutable_shape()->set_dimensions(0, -4);
     },
     "size -4"},
    {"unknown element type",
     [](auto& p) {
       p.mutable_computations(0)->mutable_instructions(0)->mutable_shape()->set_element_type(99);
     },
     "number 99"},
    {"parameter numbers with a gap",
     [](auto& p) { p.mutable_computations(0)->mutable_instructions(0)->set_parameter_number(5); },
     "not numbered"},
    {"schedule of an unknown instruction",
     [](auto& p) {
       (*p.mutable_schedule()->mutable_sequences())[p.computations(0).id()].add_instruction_ids(9);
     },
     "unknown id 9"},
    {"a name that is no name",
     [](auto& p) { p.mutable_computations(0)->mutable_instructions(0)->set_name("a b"); },
     "not a name"},
};

TEST(Proto, BrokenMessagesSayWhatIsWrong) {
  const std::unique_ptr<Module> module = Read("f32[2]{0} negate(f32[2]{0} a)");
  for (const Wrong& wrong : kWrong) {
    SCOPED_TRACE(wrong.what);
    absl::StatusOr<proto::HloModuleProto> proto = ModuleToProto(*module);
    ASSERT_TRUE(proto.ok()) << proto.status();
    ASSERT_TRUE(ModuleFromProto(*proto, ModuleConfig()).ok());
    wrong.edit(*proto);
    absl::StatusOr<std::unique_ptr<Module>> read = ModuleFromProto(*proto, ModuleConfig());
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(wrong.expected));
  }
}

TEST(Proto, OldComparisonsAreRead) {
  const std::unique_ptr<Module> module = Read("pred[2] compare(s32[2] a, s32[2] b), direction=LE");
  absl::StatusOr<proto::HloModuleProto> proto = ModuleToProto(*module);
  ASSERT_TRUE(proto.ok());
  auto* compare = proto->mutable_computations(0)->mutable_instructions(2);
  compare->set_opcode("less-than-or-equal-to");
  compare->clear_comparison_direction();
  compare->clear_comparison_type();
  absl::StatusOr<std::unique_ptr<Module>> read = ModuleFromProto(*proto, ModuleConfig());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)->Hash(), module->Hash());
}

// The message has no counts of devices but those of its assignment.
TEST(Proto, CountsOfDevicesAreKept) {
  const std::unique_ptr<Module> module = Read("f32[2]{0} negate(f32[2]{0} a)");
  module->config().replica_count = 2;
  module->config().num_partitions = 3;
  absl::StatusOr<proto::HloModuleProto> proto = ModuleToProto(*module);
  ASSERT_TRUE(proto.ok()) << proto.status();
  ASSERT_EQ(proto->device_assignment().computation_devices_size(), 3);
  EXPECT_EQ(proto->device_assignment().computation_devices(1).replica_device_ids(1), 4);
  auto read = ReadModuleProto(proto->SerializeAsString());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)->config().replica_count, 2);
  EXPECT_EQ((*read)->config().num_partitions, 3);
  // An assignment that was read is written again only where it is still true.
  (*read)->config().num_partitions = 1;
  proto = ModuleToProto(**read);
  ASSERT_TRUE(proto.ok()) << proto.status();
  EXPECT_EQ(proto->device_assignment().computation_count(), 1);
  (*read)->config().replica_count = 1;
  EXPECT_FALSE(ModuleToProto(**read)->has_device_assignment());
  (*read)->config().replica_count = int64_t{1} << 40;
  EXPECT_FALSE(ModuleToProto(**read).ok());
}

TEST(Proto, AConvolutionWithoutSpatialDimensionsHasAWindow) {
  const std::unique_ptr<Module> module =
      Read("f32[2,4] convolution(f32[2,3] a, f32[3,4] b), dim_labels=bf_io->bf");
  absl::StatusOr<proto::HloModuleProto> proto = ModuleToProto(*module);
  ASSERT_TRUE(proto.ok());
  EXPECT_TRUE(proto->computations(0).instructions(2).has_window());
  absl::StatusOr<std::unique_ptr<Module>> read = ModuleFromProto(*proto, ModuleConfig());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)->Hash(), module->Hash());
}

TEST(Proto, EmptySparsityIsNone) {
  const std::unique_ptr<Module> module = Read(
      "f32[1,2,2,1] convolution(f32[1,4,4,1] a, f32[3,3,1,1] b), window={size=3x3}, "
      "dim_labels=b01f_01io->b01f");
  absl::StatusOr<proto::HloModuleProto> proto = ModuleToProto(*module);
  ASSERT_TRUE(proto.ok());
  proto->mutable_computations(0)->mutable_instructions(2)->mutable_sparsity_config();
  absl::StatusOr<std::unique_ptr<Module>> read = ModuleFromProto(*proto, ModuleConfig());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE((*read)->entry()->root()->attributes().Has(Attr::kSparsityConfig));
  EXPECT_EQ((*read)->Hash(), module->Hash());
}

}  // namespace
}  // namespace assay
