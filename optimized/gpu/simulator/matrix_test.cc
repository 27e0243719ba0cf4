// Products of matrices by tensor cores against sums of products of integers, and what rounding cuts
// off.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "optimized/gpu/simulator/simulator.h"

namespace assay::gpu {
namespace {

struct MatrixCase {
  std::string name;
  std::string instruction;
  int depth;
  int bits;             // of an element
  std::string element;  // its type
  int rows = 16;
  std::string a_f8 = "", b_f8 = "";  // the kind of f8 that bytes are

  bool IsInteger() const { return bits == 8 && a_f8.empty(); }
  std::string Sum() const { return IsInteger() ? "i32" : bits == 64 ? "double" : "float"; }
};

// The code of a small whole number, -4 to 4, as a float of 8 bits.
int32_t F8Of(int32_t value, const std::string& kind) {
  if (value == 0) return 0;
  const int magnitude = std::abs(value), exponent = std::bit_width(unsigned(magnitude)) - 1;
  const int fraction = magnitude - (1 << exponent);  // of 2^exponent: 0, or 1 of 2
  const int half = exponent == 0 ? 0 : fraction << (1 - (exponent - 1));
  const int code = kind == "e4m3" ? (exponent + 7) << 3 | half << 1 : (exponent + 15) << 2 | half;
  return code | (value < 0 ? 128 : 0);
}

// The text of a kernel that reads A (16 x depth, by rows), B (depth x 8, by columns) and C (16 x 8)
// as i32, and writes A B + C.
class KernelText {
 public:
  explicit KernelText(const MatrixCase& what) : what_(what) {}

  std::string Write() {
    text_ =
        "target triple = \"nvptx64-nvidia-cuda\"\n"
        "define ptx_kernel void @k(ptr addrspace(1) %A, ptr addrspace(1) %B, ptr addrspace(1) "
        "%C, ptr addrspace(1) %D) {\n"
        "  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n"
        "  %g = lshr i32 %lane, 2\n  %t = and i32 %lane, 3\n";
    const int each = std::max(1, 32 / what_.bits);  // elements of a register
    std::string arguments;
    for (int half = 0; half < what_.depth / (4 * each); ++half) {
      for (int down = 0; down < what_.rows / 8; ++down)
        Pack("%A", down * 8, half * 4 * each, arguments);
    }
    for (int half = 0; half < what_.depth / (4 * each); ++half) {
      Pack("%B", 0, half * 4 * each, arguments);
    }
    const bool is_integer = what_.IsInteger();
    const std::string result = what_.Sum();
    std::string four = "{ " + result;
    for (int k = 0; k < what_.rows / 4; ++k) {
      std::string value = Load("%C", ResultIndex(k));
      if (!is_integer) value = New("sitofp i32 " + value + " to " + result);
      absl::StrAppend(&arguments, ", ", result, " ", value);
      if (k > 0) absl::StrAppend(&four, ", ", result);
    }
    absl::StrAppend(&four, " }");
    const std::string made =
        New(absl::StrCat("call ", four, " @", what_.instruction, "(", arguments.substr(2), ")"));
    for (int k = 0; k < what_.rows / 4; ++k) {
      std::string value = New(absl::StrCat("extractvalue ", four, " ", made, ", ", k));
      if (!is_integer) value = New("fptosi " + result + " " + value + " to i32");
      const std::string place =
          New("getelementptr i32, ptr addrspace(1) %D, i32 " + ResultIndex(k));
      absl::StrAppend(&text_, "  store i32 ", value, ", ptr addrspace(1) ", place, "\n");
    }
    return text_ + "  ret void\n}\n";
  }

 private:
  std::string New(const std::string& what) {
    const std::string name = absl::StrCat("%v", ++count_);
    absl::StrAppend(&text_, "  ", name, " = ", what, "\n");
    return name;
  }
  std::string Load(const std::string& from, const std::string& index) {
    const std::string place = New("getelementptr i32, ptr addrspace(1) " + from + ", i32 " + index);
    return New("load i32, ptr addrspace(1) " + place);
  }
  std::string ResultIndex(int k) {
    const std::string row = New(absl::StrCat("add i32 %g, ", k / 2 * 8));
    const std::string start = New("mul i32 " + row + ", 8");
    const std::string pair = New("mul i32 %t, 2");
    return New("add i32 " + New("add i32 " + start + ", " + pair) + absl::StrCat(", ", k % 2));
  }
  // A register: elements of row (or column) `down` + g from `along` + t * each on.
  void Pack(const std::string& from, int down, int along, std::string& arguments) {
    const int each = std::max(1, 32 / what_.bits);
    const std::string type = absl::StrCat("<", each, " x ", what_.element, ">");
    std::string all = "zeroinitializer";
    const std::string row = New(absl::StrCat("add i32 %g, ", down));
    const std::string start = New(absl::StrCat("mul i32 ", row, ", ", what_.depth));
    const std::string first = New(absl::StrCat("mul i32 %t, ", each));
    const std::string base = New("add i32 " + start + ", " + first);
    for (int k = 0; k < each; ++k) {
      const std::string loaded = Load(from, New(absl::StrCat("add i32 ", base, ", ", along + k)));
      const std::string converted = New(absl::StrCat(what_.bits == 8 ? "trunc" : "sitofp", " i32 ",
                                                     loaded, " to ", what_.element));
      all = New(absl::StrCat("insertelement ", type, " ", all, ", ", what_.element, " ", converted,
                             ", i32 ", k));
    }
    if (what_.element == "double") {
      absl::StrAppend(&arguments, ", double ",
                      New("extractelement " + type + " " + all + ", i32 0"));
    } else if (what_.element == "half") {
      absl::StrAppend(&arguments, ", ", type, " ", all);
    } else {
      absl::StrAppend(&arguments, ", i32 ", New("bitcast " + type + " " + all + " to i32"));
    }
  }

  MatrixCase what_;
  std::string text_;
  int count_ = 0;
};

std::vector<int32_t> RunMatrix(const MatrixCase& what, const std::vector<int32_t>& a,
                               const std::vector<int32_t>& b, const std::vector<int32_t>& c,
                               const TensorCore& core = {}) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::string text = KernelText(what).Write();
  const auto module = llvm::parseAssemblyString(text, diagnostic, context);
  if (module == nullptr) {
    ADD_FAILURE() << diagnostic.getMessage().str() << "\n" << text;
    return {};
  }
  const auto kernel = Decode(*module->getFunction("k"));
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  if (!kernel.ok()) return {};
  DeviceMemory memory;
  std::vector<KernelArgument> arguments;
  for (const std::vector<int32_t>* values : {&a, &b, &c}) {
    const uint64_t address = *memory.Allocate(values->size() * 4, 4, "operand");
    EXPECT_TRUE(memory.CopyIn(address, std::as_bytes(std::span(*values))).ok());
    arguments.push_back(KernelArgument::Buffer(address));
  }
  std::vector<int32_t> result(c.size());
  const uint64_t address = *memory.Allocate(result.size() * 4, 4, "result");
  arguments.push_back(KernelArgument::Buffer(address));
  Simulator simulator({.tensor_core = core});
  const absl::Status status = simulator.Launch(**kernel, {.block = {32, 1, 1}}, arguments, memory);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(memory
                  .CopyOut(address, absl::MakeSpan(reinterpret_cast<std::byte*>(result.data()),
                                                   result.size() * 4))
                  .ok());
  return result;
}

class MatrixTest : public testing::TestWithParam<MatrixCase> {};

TEST_P(MatrixTest, SumsProducts) {
  const MatrixCase& what = GetParam();
  std::vector<int32_t> a(what.rows * what.depth), b(8 * what.depth), c(8 * what.rows),
      expected(8 * what.rows);
  const bool is_f8 = !what.a_f8.empty();
  for (size_t k = 0; k < a.size(); ++k) {
    a[k] = is_f8 ? static_cast<int32_t>(k * 7 % 9) - 4 : static_cast<int32_t>(k * 7 % 23) - 11;
  }
  for (size_t k = 0; k < b.size(); ++k) {
    b[k] = is_f8 ? static_cast<int32_t>(k * 5 % 9) - 4 : static_cast<int32_t>(k * 5 % 19) - 9;
  }
  for (size_t k = 0; k < c.size(); ++k) c[k] = static_cast<int32_t>(k * 31 % 1001) - 500;
  for (int row = 0; row < what.rows; ++row) {
    for (int column = 0; column < 8; ++column) {
      int32_t sum = c[row * 8 + column];
      for (int d = 0; d < what.depth; ++d)
        sum += a[row * what.depth + d] * b[column * what.depth + d];
      expected[row * 8 + column] = sum;
    }
  }
  if (is_f8) {
    for (int32_t& value : a) value = F8Of(value, what.a_f8);
    for (int32_t& value : b) value = F8Of(value, what.b_f8);
  }
  EXPECT_EQ(RunMatrix(what, a, b, c), expected);
}

MatrixCase F8Case(int depth, const std::string& a, const std::string& b) {
  return {absl::StrCat(a, "_", b, "x", depth),
          absl::StrCat("llvm.nvvm.mma.m16n8k", depth, ".row.col.f32.", a, ".", b, ".f32"),
          depth,
          8,
          "i8",
          16,
          a,
          b};
}

const MatrixCase kHalf16 = {"half", "llvm.nvvm.mma.m16n8k16.row.col.f32.f32", 16, 16, "half"};
INSTANTIATE_TEST_SUITE_P(
    Instructions, MatrixTest,
    testing::Values(kHalf16,
                    MatrixCase{"half8", "llvm.nvvm.mma.m16n8k8.row.col.f32.f32", 8, 16, "half"},
                    MatrixCase{"bfloat", "llvm.nvvm.mma.m16n8k16.row.col.bf16", 16, 16, "bfloat"},
                    MatrixCase{"bfloat8", "llvm.nvvm.mma.m16n8k8.row.col.bf16", 8, 16, "bfloat"},
                    MatrixCase{"s8", "llvm.nvvm.mma.m16n8k16.row.col.s8", 16, 8, "i8"},
                    MatrixCase{"s8x32", "llvm.nvvm.mma.m16n8k32.row.col.s8", 32, 8, "i8"},
                    MatrixCase{"tf32x4", "llvm.nvvm.mma.m16n8k4.row.col.tf32", 4, 32, "float"},
                    MatrixCase{"tf32", "llvm.nvvm.mma.m16n8k8.row.col.tf32", 8, 32, "float"},
                    MatrixCase{"f64", "llvm.nvvm.mma.m8n8k4.row.col.f64", 4, 64, "double", 8},
                    MatrixCase{"f64x4", "llvm.nvvm.mma.m16n8k4.row.col.f64", 4, 64, "double"},
                    MatrixCase{"f64x8", "llvm.nvvm.mma.m16n8k8.row.col.f64", 8, 64, "double"},
                    MatrixCase{"f64x16", "llvm.nvvm.mma.m16n8k16.row.col.f64", 16, 64, "double"},
                    F8Case(16, "e4m3", "e4m3"), F8Case(32, "e4m3", "e4m3"),
                    F8Case(32, "e4m3", "e5m2"), F8Case(32, "e5m2", "e4m3"),
                    F8Case(16, "e5m2", "e5m2"), F8Case(32, "e5m2", "e5m2")),
    [](const testing::TestParamInfo<MatrixCase>& info) { return info.param.name; });

// Beside a large product, small ones lose what is below the 25th bit behind its point: 2^14 * 2^13
// leaves units of 4.
TEST(MatrixRounding, CutsWhatIsFarBelowTheLargest) {
  std::vector<int32_t> a(256), b(128), c(128);
  a[0] = 1 << 14;
  b[0] = 1 << 13;
  a[1] = b[1] = 1;
  a[2] = 2;
  b[2] = 3;
  const std::vector<int32_t> result = RunMatrix(kHalf16, a, b, c);
  ASSERT_EQ(result.size(), 128u);
  // 2^27 + 0 (of 1) + 4 (of 6), then 24 bits towards zero.
  EXPECT_EQ(result[0], 1 << 27);
  a[2] = 16;
  EXPECT_EQ(RunMatrix(kHalf16, a, b, c)[0], (1 << 27) + 48);
}

// The bits of f32 below the tenth are not looked at by products of tf32.
TEST(MatrixRounding, CutsOperandsToTf32) {
  const MatrixCase tf32{"tf32", "llvm.nvvm.mma.m16n8k8.row.col.tf32", 8, 32, "float"};
  std::vector<int32_t> a(128), b(64), c(128);
  a[0] = 4095;  // of 12 bits: the last one goes
  b[0] = 1;
  EXPECT_EQ(RunMatrix(tf32, a, b, c)[0], 4094);
}

// Sums of f8 keep 13 bits on Hopper: units of 2 beside a product of 2^14.
TEST(MatrixRounding, KeepsFewBitsOfF8) {
  std::vector<int32_t> a(16 * 32), b(8 * 32), c(128);
  const auto run = [&](int bits) {
    return RunMatrix(F8Case(32, "e4m3", "e4m3"), a, b, c, {.f8_fraction_bits = bits})[0];
  };
  a[0] = (7 + 7) << 3;  // 128 times 128
  b[0] = (7 + 7) << 3;
  a[1] = b[1] = 7 << 3;  // 1
  EXPECT_EQ(run(13), 128 * 128);
  EXPECT_EQ(run(25), 128 * 128 + 1);
}

}  // namespace
}  // namespace assay::gpu
