// Builds a computation op by op, as the documents do: handles to values, shapes inferred by the op
// table, implicit broadcasting, and one error, the first, at Build(). Documents: all three editions
// of operation semantics. ComputationBuilder and ComputationDataHandle are the names of 2017; the
// edition's name for XlaComputation, Computation, is taken here by spec/ir.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/ir/module.h"

namespace assay {

class XlaBuilder;

// A value of a builder. Invalid after an error; it may still be passed on.
class XlaOp {
 public:
  XlaOp() = default;
  bool valid() const { return instruction_ != nullptr; }
  XlaBuilder* builder() const { return builder_; }

 private:
  friend class XlaBuilder;
  XlaOp(XlaBuilder* builder, Instruction* instruction)
      : builder_(builder), instruction_(instruction) {}
  XlaBuilder* builder_ = nullptr;
  Instruction* instruction_ = nullptr;
};

// The result of Build: a module with the computation as its entry. Passed where an op calls a
// computation.
class XlaComputation {
 public:
  XlaComputation() = default;
  explicit XlaComputation(std::shared_ptr<const Module> module) : module_(std::move(module)) {}
  bool IsNull() const { return module_ == nullptr; }
  const std::string& name() const { return module_->name(); }
  const Module& module() const { return *module_; }
  const std::shared_ptr<const Module>& shared_module() const { return module_; }

 private:
  std::shared_ptr<const Module> module_;
};

// Padding of windows: none, or as much as keeps ceil(size / stride) windows.
enum class Padding { kValid, kSame };

struct ChannelHandle {
  int64_t handle = 0;
};
// The window of a convolution; empty lists mean ones (strides, dilations) and zeros (padding).
struct ConvOptions {
  Int64List strides;
  std::vector<std::pair<int64_t, int64_t>> padding;
  Int64List lhs_dilation, rhs_dilation;
  int64_t feature_group_count = 1, batch_group_count = 1;
};

// The dimensions of a general dot, filled in one by one as in the documents' examples.
class DotDimensionNumbers {
 public:
  void add_lhs_contracting_dimensions(int64_t d) { lhs_contracting_.push_back(d); }
  void add_rhs_contracting_dimensions(int64_t d) { rhs_contracting_.push_back(d); }
  void add_lhs_batch_dimensions(int64_t d) { lhs_batch_.push_back(d); }
  void add_rhs_batch_dimensions(int64_t d) { rhs_batch_.push_back(d); }
  const Int64List& lhs_contracting_dimensions() const { return lhs_contracting_; }
  const Int64List& rhs_contracting_dimensions() const { return rhs_contracting_; }
  const Int64List& lhs_batch_dimensions() const { return lhs_batch_; }
  const Int64List& rhs_batch_dimensions() const { return rhs_batch_; }

 private:
  Int64List lhs_contracting_, rhs_contracting_, lhs_batch_, rhs_batch_;
};

namespace ShapeUtil {
// An array in row-major layout; no dimensions: a scalar.
Shape MakeShape(ElementType type, absl::Span<const int64_t> dimensions);
inline Shape MakeShape(ElementType type, std::initializer_list<int64_t> dimensions) {
  return MakeShape(type, absl::MakeConstSpan(dimensions.begin(), dimensions.size()));
}
}  // namespace ShapeUtil
namespace LiteralUtil {
// -infinity where the type has it, else its lowest value.
absl::StatusOr<Literal> MinValue(ElementType type);
}  // namespace LiteralUtil

class XlaBuilder {
 public:
  using Ops = absl::Span<const XlaOp>;
  using List = absl::Span<const int64_t>;
  using Groups = std::vector<Int64List>;

  explicit XlaBuilder(std::string name);
  const std::string& name() const { return name_; }

  // The computation whose result is `root`, or the last op added. The first error, with the name of
  // its op, if there was one; the computation verifies otherwise. Ends the builder's use.
  absl::StatusOr<XlaComputation> Build();
  absl::StatusOr<XlaComputation> Build(XlaOp root);
  const absl::Status& first_error() const { return error_; }
  absl::StatusOr<Shape> GetShape(XlaOp op) const;
  Module& module() { return *module_; }

  // ---- values ----
  XlaOp Parameter(int64_t number, const Shape& shape, const std::string& name);
  XlaOp ConstantLiteral(const Literal& literal);
  XlaOp Iota(const Shape& shape, int64_t iota_dimension);
  XlaOp Tuple(Ops elements);
  XlaOp GetTupleElement(XlaOp tuple, int64_t index);

  // ---- element-wise ----
  XlaOp Unary(Opcode opcode, XlaOp operand);
  XlaOp Binary(Opcode opcode, XlaOp lhs, XlaOp rhs, List broadcast_dimensions = {});
  XlaOp Compare(Direction direction, XlaOp lhs, XlaOp rhs, List broadcast_dimensions = {},
                std::optional<CompareType> type = std::nullopt);
#define ASSAY_BUILDER_BINARY(name, opcode)                           \
  XlaOp name(XlaOp lhs, XlaOp rhs, List broadcast_dimensions = {}) { \
    return Binary(Opcode::opcode, lhs, rhs, broadcast_dimensions);   \
  }
  ASSAY_BUILDER_BINARY(Add, kAdd)
  ASSAY_BUILDER_BINARY(Sub, kSubtract)
  ASSAY_BUILDER_BINARY(Mul, kMultiply)
  ASSAY_BUILDER_BINARY(Div, kDivide)
  ASSAY_BUILDER_BINARY(Rem, kRemainder)
  ASSAY_BUILDER_BINARY(Max, kMaximum)
  ASSAY_BUILDER_BINARY(Min, kMinimum)
  ASSAY_BUILDER_BINARY(Pow, kPower)
  ASSAY_BUILDER_BINARY(Atan2, kAtan2)
  ASSAY_BUILDER_BINARY(And, kAnd)
  ASSAY_BUILDER_BINARY(Or, kOr)
  ASSAY_BUILDER_BINARY(Xor, kXor)
  ASSAY_BUILDER_BINARY(LogicalAnd, kAnd)  // 2017
  ASSAY_BUILDER_BINARY(LogicalOr, kOr)    // 2017
  ASSAY_BUILDER_BINARY(ShiftLeft, kShiftLeft)
  ASSAY_BUILDER_BINARY(ShiftRightArithmetic, kShiftRightArithmetic)
  ASSAY_BUILDER_BINARY(ShiftRightLogical, kShiftRightLogical)
  ASSAY_BUILDER_BINARY(Complex, kComplex)
  ASSAY_BUILDER_BINARY(MulHi, kMulhi)
#undef ASSAY_BUILDER_BINARY
#define ASSAY_BUILDER_COMPARE(name, direction)                                   \
  XlaOp name(XlaOp lhs, XlaOp rhs, List broadcast_dimensions = {}) {             \
    return Compare(Direction::direction, lhs, rhs, broadcast_dimensions);        \
  }                                                                              \
  XlaOp name##TotalOrder(XlaOp lhs, XlaOp rhs, List broadcast_dimensions = {}) { \
    return Compare(Direction::direction, lhs, rhs, broadcast_dimensions,         \
                   CompareType::kTotalOrder);                                    \
  }
  ASSAY_BUILDER_COMPARE(Eq, kEq)
  ASSAY_BUILDER_COMPARE(Ne, kNe)
  ASSAY_BUILDER_COMPARE(Ge, kGe)
  ASSAY_BUILDER_COMPARE(Gt, kGt)
  ASSAY_BUILDER_COMPARE(Le, kLe)
  ASSAY_BUILDER_COMPARE(Lt, kLt)
#undef ASSAY_BUILDER_COMPARE
#define ASSAY_BUILDER_UNARY(name, opcode) \
  XlaOp name(XlaOp operand) { return Unary(Opcode::opcode, operand); }
  ASSAY_BUILDER_UNARY(Abs, kAbs)
  ASSAY_BUILDER_UNARY(Acos, kAcos)
  ASSAY_BUILDER_UNARY(Acosh, kAcosh)
  ASSAY_BUILDER_UNARY(Asin, kAsin)
  ASSAY_BUILDER_UNARY(Asinh, kAsinh)
  ASSAY_BUILDER_UNARY(Atanh, kAtanh)
  ASSAY_BUILDER_UNARY(Cbrt, kCbrt)
  ASSAY_BUILDER_UNARY(Ceil, kCeil)
  ASSAY_BUILDER_UNARY(Clz, kClz)
  ASSAY_BUILDER_UNARY(Cos, kCosine)
  ASSAY_BUILDER_UNARY(Cosh, kCosh)
  ASSAY_BUILDER_UNARY(Erf, kErf)
  ASSAY_BUILDER_UNARY(Exp, kExponential)
  ASSAY_BUILDER_UNARY(Expm1, kExponentialMinusOne)
  ASSAY_BUILDER_UNARY(Floor, kFloor)
  ASSAY_BUILDER_UNARY(Imag, kImag)
  ASSAY_BUILDER_UNARY(IsFinite, kIsFinite)
  ASSAY_BUILDER_UNARY(Log, kLog)
  ASSAY_BUILDER_UNARY(Log1p, kLogPlusOne)
  ASSAY_BUILDER_UNARY(Logistic, kLogistic)
  ASSAY_BUILDER_UNARY(Neg, kNegate)
  ASSAY_BUILDER_UNARY(Not, kNot)
  ASSAY_BUILDER_UNARY(LogicalNot, kNot)  // 2017
  ASSAY_BUILDER_UNARY(OptimizationBarrier, kOptBarrier)
  ASSAY_BUILDER_UNARY(PopulationCount, kPopcnt)
  ASSAY_BUILDER_UNARY(Real, kReal)
  ASSAY_BUILDER_UNARY(Round, kRoundNearestAfz)
  ASSAY_BUILDER_UNARY(RoundNearestEven, kRoundNearestEven)
  ASSAY_BUILDER_UNARY(Rsqrt, kRsqrt)
  ASSAY_BUILDER_UNARY(Sign, kSign)
  ASSAY_BUILDER_UNARY(Sin, kSine)
  ASSAY_BUILDER_UNARY(Sinh, kSinh)
  ASSAY_BUILDER_UNARY(Sqrt, kSqrt)
  ASSAY_BUILDER_UNARY(Tan, kTan)
  ASSAY_BUILDER_UNARY(Tanh, kTanh)
  ASSAY_BUILDER_UNARY(Copy, kCopy)
#undef ASSAY_BUILDER_UNARY
  XlaOp Select(XlaOp predicate, XlaOp on_true, XlaOp on_false);  // of tuples too, by a scalar
  XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max);
  XlaOp ConvertElementType(XlaOp operand, ElementType type);
  XlaOp BitcastConvertType(XlaOp operand, ElementType type);
  XlaOp ReducePrecision(XlaOp operand, int64_t exponent_bits, int64_t mantissa_bits);

  // ---- data movement ----
  XlaOp Broadcast(XlaOp operand, List broadcast_sizes);  // new dimensions in front
  XlaOp BroadcastInDim(XlaOp operand, List out_dimensions, List broadcast_dimensions);
  XlaOp Reshape(XlaOp operand, List new_sizes);
  // Collapses in the order of `dimensions`, slowest first, then refines.
  XlaOp Reshape(XlaOp operand, List dimensions, List new_sizes);
  XlaOp Collapse(XlaOp operand, List dimensions);
  XlaOp Transpose(XlaOp operand, List permutation);
  XlaOp Rev(XlaOp operand, List dimensions);
  XlaOp Slice(XlaOp operand, List start_indices, List limit_indices, List strides = {});
  XlaOp DynamicSlice(XlaOp operand, Ops start_indices, List slice_sizes);
  XlaOp DynamicSlice(XlaOp operand, XlaOp start_indices, List slice_sizes);  // a vector, 2017
  XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, Ops start_indices);
  XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp start_indices);
  XlaOp Pad(XlaOp operand, XlaOp padding_value, const std::vector<PaddingDim>& padding_config);
  XlaOp ConcatInDim(Ops operands, int64_t dimension);
  // `unique_indices` is a promise that HLO's gather has no word for; values do not depend on it.
  XlaOp Gather(XlaOp operand, XlaOp start_indices, const Attributes& dimension_numbers,
               List slice_sizes, bool indices_are_sorted = false, bool unique_indices = false);
  XlaOp Scatter(Ops operands, XlaOp scatter_indices, Ops updates,
                const XlaComputation& update_computation, const Attributes& dimension_numbers,
                bool indices_are_sorted = false, bool unique_indices = false);
  XlaOp GetDimensionSize(XlaOp operand, int64_t dimension);
  XlaOp SetDimensionSize(XlaOp operand, XlaOp size, int64_t dimension);

  // ---- contractions ----
  XlaOp Dot(XlaOp lhs, XlaOp rhs);  // vectors and matrices: last of lhs, first of rhs
  XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, List lhs_contracting, List rhs_contracting,
                   List lhs_batch = {}, List rhs_batch = {});
  XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& numbers) {
    return DotGeneral(lhs, rhs, numbers.lhs_contracting_dimensions(),
                      numbers.rhs_contracting_dimensions(), numbers.lhs_batch_dimensions(),
                      numbers.rhs_batch_dimensions());
  }
  XlaOp Conv(XlaOp lhs, XlaOp rhs, List window_strides, Padding padding);  // NCHW, OIHW
  XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, List window_strides,
                               const std::vector<std::pair<int64_t, int64_t>>& padding,
                               List lhs_dilation = {}, List rhs_dilation = {},
                               int64_t feature_group_count = 1, int64_t batch_group_count = 1);
  XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, const ConvDimLabels& dimension_numbers,
                           const ConvOptions& options);
  XlaOp Fft(XlaOp operand, std::string_view fft_type, List fft_length);
  XlaOp Cholesky(XlaOp a, bool lower);
  XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                        std::string_view transpose_a);

  // ---- computations over elements ----
  // `static_operands` (2017), of any shape, reach every call of the computation unchanged.
  XlaOp Map(Ops operands, const XlaComputation& computation, List dimensions,
            Ops static_operands = {});
  XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputation& computation, List dimensions);
  XlaOp Reduce(Ops operands, Ops init_values, const XlaComputation& computation, List dimensions);
  XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                     List window_dimensions, List window_strides, Padding padding,
                     List base_dilations = {}, List window_dilations = {});
  XlaOp ReduceWindow(Ops operands, Ops init_values, const XlaComputation& computation,
                     List window_dimensions, List window_strides, Padding padding,
                     List base_dilations = {}, List window_dilations = {});
  XlaOp SelectAndScatter(XlaOp operand, const XlaComputation& select, List window_dimensions,
                         List window_strides, Padding padding, XlaOp source, XlaOp init_value,
                         const XlaComputation& scatter);
  XlaOp Sort(Ops operands, const XlaComputation& comparator, int64_t dimension = -1,
             bool is_stable = false);
  XlaOp Sort(XlaOp operand);  // 2017: ascending along the last dimension
  XlaOp TopK(XlaOp operand, int64_t k, bool largest = true);
  XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon,
                          int64_t feature_index);
  XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance,
                           float epsilon, int64_t feature_index);
  XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp mean, XlaOp variance, XlaOp grad_output,
                      float epsilon, int64_t feature_index);
  XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape);
  XlaOp RngNormal(XlaOp mean, XlaOp sigma, const Shape& shape);
  XlaOp RngBernoulli(XlaOp mean, const Shape& shape);  // 2017: u32, 1 with probability mean
  XlaOp RngBitGenerator(std::string_view algorithm, XlaOp initial_state, const Shape& shape);

  // ---- control flow and calls ----
  XlaOp Call(const XlaComputation& computation, Ops operands);
  XlaOp CompositeCall(const XlaComputation& computation, Ops operands, const std::string& name,
                      std::optional<std::string> attributes = std::nullopt, int64_t version = 0);
  XlaOp While(const XlaComputation& condition, const XlaComputation& body, XlaOp init);
  XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation& true_computation,
                    XlaOp false_operand, const XlaComputation& false_computation);
  XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation> branch_computations,
                    Ops branch_operands);
  XlaOp CustomCall(const std::string& call_target_name, Ops operands, const Shape& shape,
                   const std::string& opaque = "", bool has_side_effect = false);

  // ---- devices and host ----
  XlaOp AllGather(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count,
                  const Groups& replica_groups = {}, ChannelHandle channel = {});
  XlaOp AllReduce(XlaOp operand, const XlaComputation& computation,
                  const Groups& replica_groups = {}, ChannelHandle channel = {});
  XlaOp CrossReplicaSum(XlaOp operand, const Groups& replica_groups = {});  // 2017
  XlaOp ReduceScatter(XlaOp operand, const XlaComputation& computation, int64_t scatter_dimension,
                      int64_t shard_count, const Groups& replica_groups = {},
                      ChannelHandle channel = {});
  XlaOp AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension,
                 int64_t split_count, const Groups& replica_groups = {});
  XlaOp CollectivePermute(XlaOp operand,
                          const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs);
  XlaOp CollectiveBroadcast(XlaOp operand, const Groups& replica_groups);
  XlaOp ReplicaId();
  XlaOp PartitionId();
  XlaOp AfterAll(Ops tokens);
  XlaOp CreateToken() { return AfterAll({}); }
  XlaOp Infeed(const Shape& shape, const std::string& config = "");
  XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config = "");
  XlaOp Outfeed(XlaOp operand, const std::string& config = "");
  void Send(XlaOp operand, ChannelHandle channel);
  XlaOp Recv(const Shape& shape, ChannelHandle channel);

 private:
  using Result = absl::StatusOr<Instruction*>;
  template <typename F>
  XlaOp Record(std::string_view what, const F& make);
  absl::StatusOr<OperandVector> Resolve(Ops ops) const;
  // An op of the table, its shape inferred; `written` where the op's shape is the caller's.
  Result AddOp(Opcode opcode, absl::Span<Instruction* const> operands, Attributes attributes = {},
               absl::Span<Computation* const> callees = {}, const Shape* written = nullptr);
  XlaOp Simple(Opcode opcode, Ops operands, Attributes attributes = {},
               std::vector<const XlaComputation*> callees = {}, const Shape* written = nullptr);
  // The entry of `computation` and what it calls, copied into this module; once per computation.
  absl::StatusOr<Computation*> Import(const XlaComputation& computation);
  Result MapInLoop(const OperandVector& mapped, const OperandVector& fixed, Computation* callee);
  // Window of the given sizes over `operand`; strides empty: ones.
  absl::StatusOr<std::vector<WindowDim>> MakeWindow(List operand_sizes, List sizes, List strides,
                                                    Padding padding) const;
  absl::StatusOr<std::vector<Instruction*>> SplitStarts(Instruction* vector);
  // x OP y on scalars, as a computation of this module.
  Computation* ScalarBinary(Opcode opcode, ElementType type, Attributes attributes = {});

  std::string name_;
  std::unique_ptr<Module> module_;
  Computation* entry_ = nullptr;
  Instruction* last_ = nullptr;
  absl::Status error_;
  // By module: what was imported, which stays alive so that its address stays its own.
  absl::flat_hash_map<const Module*, std::pair<std::shared_ptr<const Module>, Computation*>>
      imported_;
};

using ComputationBuilder = XlaBuilder;
using ComputationDataHandle = XlaOp;

// The free functions of the documents' examples.
inline XlaOp Parameter(XlaBuilder* builder, int64_t number, const Shape& shape,
                       const std::string& name) {
  return builder->Parameter(number, shape, name);
}
inline XlaOp ConstantLiteral(XlaBuilder* builder, const Literal& literal) {
  return builder->ConstantLiteral(literal);
}
inline XlaOp AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension,
                      int64_t split_count) {
  return operand.builder() == nullptr
             ? XlaOp()
             : operand.builder()->AllToAll(operand, split_dimension, concat_dimension, split_count);
}

}  // namespace assay
