// Products by cuBLASLt, with the stand-in for its library: values in every order of dimensions,
// every call that fails, and what is said without the library.
#include "optimized/gpu/driver/libraries/cublas.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "optimized/gpu/driver/cuda_driver.h"
#include "optimized/gpu/driver/testing/stand_in_for_test.h"
#include "optimized/gpu/library/host_library.h"
#include "spec/base/status_macros.h"
#include "spec/text/reader.h"

namespace assay::gpu {
namespace {

std::string Product(const std::string& shapes, const std::string& config,
                    const std::string& target = "__cublas$gemm") {
  std::string text = "HloModule m\nENTRY main {\n", operands;
  int number = 0;
  size_t from = 0;
  const size_t result = shapes.find('>');
  while (from < result) {
    const size_t end = std::min(shapes.find(' ', from), result);
    if (end > from) {
      absl::StrAppend(&text, " p", number, " = ", shapes.substr(from, end - from), " parameter(",
                      number, ")\n");
      absl::StrAppend(&operands, number == 0 ? "" : ", ", "p", number);
      ++number;
    }
    from = end + 1;
  }
  absl::StrAppend(&text, " ROOT r = ", shapes.substr(result + 1), " custom-call(", operands,
                  "), custom_call_target=\"", target,
                  "\", backend_config={\"gemm_backend_config\":{", config, "}}\n}\n");
  return text;
}

std::string Dims(const std::string& left, const std::string& right, bool batch = false) {
  const std::string list = batch ? "[\"0\"]" : "[]";
  return absl::StrCat("\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"", left,
                      "\"],\"rhs_contracting_dimensions\":[\"", right,
                      "\"],\"lhs_batch_dimensions\":", list, ",\"rhs_batch_dimensions\":", list,
                      "}");
}

const std::string kScaled = absl::StrCat("\"alpha_real\":2,\"beta\":-1,", Dims("1", "0"));

std::vector<std::string> Programs() {
  return {
      Product("f32[3,5] f32[5,4]>f32[3,4]", Dims("1", "0")),
      Product("f32[5,3] f32[5,4]>f32[3,4]", Dims("0", "0")),
      Product("f32[3,5] f32[4,5]>f32[3,4]", Dims("1", "1")),
      Product("f64[5,3] f64[4,5]>f64[3,4]", Dims("0", "1")),
      Product("f32[2,3,5] f32[2,4,5]>f32[2,3,4]", Dims("2", "2", true)),
      Product("f16[3,5] f16[5,4] f16[3,4]>f16[3,4]", kScaled),
      Product("bf16[3,5] bf16[5,4]>f32[3,4]", Dims("1", "0")),
      Product("c64[3,5] c64[5,4]>c64[3,4]",
              absl::StrCat("\"alpha_real\":0.5,\"alpha_imag\":2,", Dims("1", "0"))),
      Product("f32[3,5] f32[5,4] f32[3,4] f32[4]>f32[3,4]",
              absl::StrCat("\"epilogue\":\"BIAS_RELU\",", kScaled), "__cublas$lt$matmul"),
      Product("f32[3,5] f32[5,4] f32[4]>f32[3,4]",
              absl::StrCat("\"epilogue\":\"BIAS_GELU\",", Dims("1", "0")), "__cublas$lt$matmul"),
  };
}

// Small integers, so that sums of any order are the same.
Literal Numbers(const Shape& shape, int seed) {
  Literal literal(shape);
  const bool is_complex = IsComplex(shape.element_type());
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (is_complex) {
      auto* parts = reinterpret_cast<float*>(literal.bytes().data());
      parts[2 * i] = static_cast<float>((i * 7 + seed) % 5 - 2);
      parts[2 * i + 1] = static_cast<float>((i * 3 + seed) % 3 - 1);
    } else {
      literal.SetDouble(i, static_cast<double>((i * 7 + seed * 3) % 11 - 5));
    }
  }
  return literal;
}

absl::Span<std::byte> BytesOf(Literal& literal) {
  return {reinterpret_cast<std::byte*>(literal.bytes().data()), literal.bytes().size()};
}

// Runs the root of a program, a library call, on the pretended device.
absl::StatusOr<Literal> OnDevice(const Instruction& at, const LibraryCall& call,
                                 std::vector<Literal>& operands) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<CudaDriver> driver,
                         CudaDriver::Load(ASSAY_STAND_IN));
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<CudaSession> session, CudaSession::Open(*driver, 0));
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<CublasLt> cublas, CublasLt::Load(ASSAY_STAND_IN));
  std::vector<CudaBuffer> buffers;
  for (Literal& operand : operands) {
    ASSAY_ASSIGN_OR_RETURN(CudaBuffer buffer, session->Allocate(operand.bytes().size()));
    ASSAY_RETURN_IF_ERROR(session->CopyIn(buffer.address(), BytesOf(operand)));
    buffers.push_back(std::move(buffer));
  }
  Literal result(*call.result);
  ASSAY_ASSIGN_OR_RETURN(const CudaBuffer out, session->Allocate(result.bytes().size()));
  std::vector<uint64_t> addresses;
  for (const CudaBuffer& buffer : buffers) addresses.push_back(buffer.address());
  const uint64_t results[] = {out.address()};
  ASSAY_ASSIGN_OR_RETURN(CudaHandle const stream, session->Stream());
  ASSAY_RETURN_IF_ERROR(cublas->Run(at, {addresses, results, stream, nullptr, nullptr}));
  ASSAY_RETURN_IF_ERROR(session->CopyOut(out.address(), BytesOf(result)));
  return result;
}

struct Case {
  std::unique_ptr<Module> module;
  LibraryCall call;
  std::vector<Literal> operands;
  const Instruction& root() const { return *module->entry()->root(); }
};

Case ReadCase(const std::string& text) {
  Case one;
  auto module = ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  one.module = *std::move(module);
  auto call = ReadLibraryCall(one.root());
  EXPECT_TRUE(call.ok()) << call.status();
  one.call = *std::move(call);
  int seed = 1;
  for (const Instruction* operand : one.root().operands())
    one.operands.push_back(Numbers(operand->shape(), seed++));
  return one;
}

TEST(Cublas, GivesTheProductsOfTheHost) {
  for (const std::string& text : Programs()) {
    SCOPED_TRACE(text);
    ResetStandIn();
    Case one = ReadCase(text);
    const absl::StatusOr<Literal> got = OnDevice(one.root(), one.call, one.operands);
    ASSERT_TRUE(got.ok()) << got.status();
    Literal wanted(*one.call.result);
    std::vector<const void*> operands;
    for (Literal& operand : one.operands) operands.push_back(operand.bytes().data());
    void* const results[] = {wanted.bytes().data()};
    RunOnHost(one.root(), one.call, operands, results);
    EXPECT_EQ(got->ToString(), wanted.ToString());
    EXPECT_EQ(ReportOfStandIn(), "");
  }
}

TEST(Cublas, AnswersEveryErrorAtEveryCall) {
  Case one = ReadCase(Programs()[8]);
  ResetStandIn();
  ASSERT_TRUE(OnDevice(one.root(), one.call, one.operands).ok());
  const int calls = CallsSoFar();
  int failed = 0;
  for (const int code : {kCublasAllocFailed, kCublasExecutionFailed, kCublasNotSupported}) {
    for (int at = 0; at < calls; ++at) {
      SCOPED_TRACE(absl::StrCat("call ", at, ", error ", code));
      ResetStandIn();
      FailAt(at, code);
      const absl::StatusOr<Literal> got = OnDevice(one.root(), one.call, one.operands);
      // Errors while things are given back have nobody to tell.
      if (got.ok()) continue;
      ++failed;
      EXPECT_EQ(ReportOfStandIn(), "");
      EXPECT_GT(got.status().message().size(), 12u);
    }
  }
  EXPECT_GT(failed, 3 * 25);
}

// The library with what it needs to be opened.
struct Alone {
  std::unique_ptr<CudaDriver> driver;
  std::unique_ptr<CudaSession> session;
  std::unique_ptr<CublasLt> library;
};
Alone OpenAlone() {
  ResetStandIn();
  Alone alone;
  auto driver = CudaDriver::Load(ASSAY_STAND_IN);
  if (!driver.ok()) return alone;
  alone.driver = *std::move(driver);
  auto session = CudaSession::Open(*alone.driver, 0);
  if (!session.ok()) return alone;
  alone.session = *std::move(session);
  auto library = CublasLt::Load(ASSAY_STAND_IN);
  if (library.ok()) alone.library = *std::move(library);
  return alone;
}

TEST(Cublas, LeavesOtherCallsToKernels) {
  const auto cublas = OpenAlone();
  ASSERT_NE(cublas.library, nullptr);
  const Case bytes = ReadCase(Product("s8[4,4] s8[4,4]>s32[4,4]", Dims("1", "0")));
  EXPECT_FALSE(cublas.library->Takes(bytes.root()));
  const Case two_free = ReadCase(Product("f32[2,3,5] f32[5,4]>f32[2,3,4]", Dims("2", "0")));
  EXPECT_FALSE(cublas.library->Takes(two_free.root()));
}

TEST(Cublas, SaysHowToGetIt) {
  const auto cublas = CublasLt::Load("libno-such-cublas.so.1");
  ASSERT_FALSE(cublas.ok());
  EXPECT_EQ(cublas.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(std::string(cublas.status().message()).find("ASSAY_LIBCUBLASLT"), std::string::npos);
}

}  // namespace
}  // namespace assay::gpu
