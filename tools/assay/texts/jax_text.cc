// HLO as calls of jax.lax.
#include "tools/assay/texts/jax_text.h"

#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "fuzz/triage/bug_page.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {
namespace {

using enum Opcode;

constexpr char kMark[] = "Written by `assay known --refresh` from program.hlo.";
constexpr char kScript[] =
    R"py("""@TITLE@

@MARK@ It ends with 1 while this lives and with 0 when it is gone."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy import inf, nan

jax.config.update("jax_enable_x64", True)


@FUNCTIONS@arguments = [@ARGUMENTS@]
results = jax.tree_util.tree_leaves(jax.jit(f)(*arguments))
got = np.asarray(results[@OUTPUT@]).reshape(-1)[@ELEMENT@]
print(f"JAX answers {got}; right:", @RIGHT@)
sys.exit(0 if not (@WRONG@) and @ALLOWED@ else 1)
)py";
constexpr int64_t kMostElements = 64;  // of an array that is written out

// Ops that jax.lax has a function for which takes the operands and nothing else.
struct LaxRow {
  Opcode opcode;
  const char* function;
};
constexpr LaxRow kPlain[] = {{kAbs, "abs"},
                             {kAcos, "acos"},
                             {kAcosh, "acosh"},
                             {kAdd, "add"},
                             {kAnd, "bitwise_and"},
                             {kAsin, "asin"},
                             {kAsinh, "asinh"},
                             {kAtan2, "atan2"},
                             {kAtanh, "atanh"},
                             {kCbrt, "cbrt"},
                             {kCeil, "ceil"},
                             {kClamp, "clamp"},
                             {kClz, "clz"},
                             {kComplex, "complex"},
                             {kCosh, "cosh"},
                             {kCosine, "cos"},
                             {kDivide, "div"},
                             {kErf, "erf"},
                             {kExponential, "exp"},
                             {kExponentialMinusOne, "expm1"},
                             {kFloor, "floor"},
                             {kImag, "imag"},
                             {kIsFinite, "is_finite"},
                             {kLog, "log"},
                             {kLogPlusOne, "log1p"},
                             {kLogistic, "logistic"},
                             {kMaximum, "max"},
                             {kMinimum, "min"},
                             {kMultiply, "mul"},
                             {kNegate, "neg"},
                             {kNot, "bitwise_not"},
                             {kOr, "bitwise_or"},
                             {kPopcnt, "population_count"},
                             {kPower, "pow"},
                             {kReal, "real"},
                             {kRemainder, "rem"},
                             {kRsqrt, "rsqrt"},
                             {kSelect, "select"},
                             {kShiftLeft, "shift_left"},
                             {kShiftRightArithmetic, "shift_right_arithmetic"},
                             {kShiftRightLogical, "shift_right_logical"},
                             {kSign, "sign"},
                             {kSine, "sin"},
                             {kSinh, "sinh"},
                             {kSqrt, "sqrt"},
                             {kSubtract, "sub"},
                             {kTan, "tan"},
                             {kTanh, "tanh"},
                             {kXor, "bitwise_xor"}};

const char* PlainFunction(Opcode opcode) {
  for (const LaxRow& row : kPlain) {
    if (row.opcode == opcode) return row.function;
  }
  return nullptr;
}

// A tuple of Python.
std::string Tuple(absl::Span<const int64_t> values) {
  return StrCat("(", absl::StrJoin(values, ", "), values.size() == 1 ? ",)" : ")");
}

std::string TypeText(ElementType type) {
  const std::string name = NumpyName(type);
  return StrCat("jnp.", name == "bool" ? "bool_" : name);
}

std::string NumberText(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return absl::StrFormat("%.17g", value);
}

std::string ElementText(const Literal& literal, int64_t i) {
  const ElementType type = literal.element_type();
  if (IsPred(type)) return literal.GetInteger(i) != 0 ? "True" : "False";
  if (IsComplex(type)) {
    return StrCat("complex(", NumberText(literal.GetComponent(2 * i)), ", ",
                  NumberText(literal.GetComponent(2 * i + 1)), ")");
  }
  if (!IsInteger(type)) return NumberText(literal.GetDouble(i));
  return IsSigned(type) ? StrCat(literal.GetInteger(i))
                        : StrCat(static_cast<uint64_t>(literal.GetInteger(i)));
}

// Nothing of an array that is too long to be read.
std::optional<std::string> ArrayText(const Literal& literal) {
  if (!literal.shape().IsArray()) return std::nullopt;
  const int64_t count = literal.element_count();
  const std::string type = TypeText(literal.element_type());
  const std::string sizes = Tuple(literal.shape().dimensions());
  bool is_splat = count > 1;
  for (int64_t i = 1; i < count && is_splat; ++i)
    is_splat = ElementText(literal, i) == ElementText(literal, 0);
  if (is_splat) return StrCat("np.full(", sizes, ", ", ElementText(literal, 0), ", ", type, ")");
  if (count > kMostElements) return std::nullopt;
  if (literal.shape().IsScalar())
    return StrCat("np.array(", ElementText(literal, 0), ", ", type, ")");
  std::vector<std::string> elements;
  for (int64_t i = 0; i < count; ++i) elements.push_back(ElementText(literal, i));
  std::string text = StrCat("np.array([", absl::StrJoin(elements, ", "), "], ", type, ")");
  return literal.shape().rank() == 1 ? text : StrCat(text, ".reshape", sizes);
}

class JaxWriter {
 public:
  // Functions in the order in which they call each other; `entry` gets the name f.
  std::optional<std::string> Write(const Module& module) {
    std::string text;
    for (const Computation* computation : module.computations()) {
      const std::optional<std::string> one =
          Function(*computation, computation == module.entry() ? "f" : Unique(computation->name()));
      if (!one.has_value()) return std::nullopt;
      StrAppend(&text, *one, "\n\n");
    }
    return text;
  }

 private:
  std::string Unique(const std::string& name) {
    std::string clean;
    for (const char c : name) clean += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
    static const std::set<std::string> kTaken = {"f",      "jax",     "jnp",   "lax", "np",
                                                 "nan",    "inf",     "or",    "and", "not",
                                                 "lambda", "complex", "while", "sys"};
    if (kTaken.contains(clean) || absl::ascii_isdigit(static_cast<unsigned char>(clean[0])))
      clean += "_";
    while (!used_.insert(clean).second) clean += "_";
    return clean;
  }

  std::optional<std::string> Function(const Computation& computation, const std::string& name) {
    functions_[&computation] = name;
    std::vector<std::string> parameters;
    for (const Instruction* parameter : computation.parameters()) {
      names_[parameter] = Unique(parameter->name());
      parameters.push_back(names_[parameter]);
    }
    std::string text = StrCat("def ", name, "(", absl::StrJoin(parameters, ", "), "):\n");
    for (const Instruction* at : computation.PostOrder()) {
      if (at->opcode() == kParameter) continue;
      const std::optional<std::string> value = Call(*at);
      if (!value.has_value()) return std::nullopt;
      names_[at] = Unique(at->name());
      StrAppend(&text, "    ", names_[at], " = ", *value, "\n");
    }
    StrAppend(&text, "    return ", names_[computation.root()], "\n");
    return text;
  }

  std::string Operands(const Instruction& at, int64_t first = 0, int64_t end = -1) const {
    std::vector<std::string> names;
    if (end < 0) end = at.operand_count();
    for (int64_t i = first; i < end; ++i) names.push_back(names_.at(at.operand(i)));
    return absl::StrJoin(names, ", ");
  }
  std::string Operand(const Instruction& at, int64_t i) const { return names_.at(at.operand(i)); }

  std::optional<std::string> Call(const Instruction& at) const {
    if (const char* plain = PlainFunction(at.opcode())) {
      return StrCat("lax.", plain, "(", Operands(at), ")");
    }
    std::optional<std::string> text = Movement(at);
    if (!text.has_value()) text = Structure(at);
    if (!text.has_value()) text = Fold(at);
    return text;
  }

  std::optional<std::string> Movement(const Instruction& at) const {
    const Attributes& a = at.attributes();
    const Shape& shape = at.shape();
    const std::string sizes = shape.IsArray() ? Tuple(shape.dimensions()) : "";
    const std::string type = shape.IsArray() ? TypeText(shape.element_type()) : "";
    switch (at.opcode()) {
      case kConvert:
        return StrCat("lax.convert_element_type(", Operand(at, 0), ", ", type, ")");
      case kBitcastConvert:
        return StrCat("lax.bitcast_convert_type(", Operand(at, 0), ", ", type, ")");
      case kBroadcast:
        return StrCat("lax.broadcast_in_dim(", Operand(at, 0), ", ", sizes, ", ",
                      Tuple(a.Integers(Attr::kDimensions)), ")");
      case kIota:
        return StrCat("lax.broadcasted_iota(", type, ", ", sizes, ", ",
                      a.Integer(Attr::kIotaDimension), ")");
      case kReshape:
        return StrCat("lax.reshape(", Operand(at, 0), ", ", sizes, ")");
      case kTranspose:
        return StrCat("lax.transpose(", Operand(at, 0), ", ", Tuple(a.Integers(Attr::kDimensions)),
                      ")");
      case kReverse:
        return StrCat("lax.rev(", Operand(at, 0), ", ", Tuple(a.Integers(Attr::kDimensions)), ")");
      case kConcatenate:
        return StrCat("lax.concatenate([", Operands(at), "], ", a.Integers(Attr::kDimension)[0],
                      ")");
      case kDynamicSlice:
        return StrCat("lax.dynamic_slice(", Operand(at, 0), ", [", Operands(at, 1), "], ",
                      Tuple(a.Integers(Attr::kDynamicSliceSizes)),
                      ", allow_negative_indices=False)");
      case kDynamicUpdateSlice:
        return StrCat("lax.dynamic_update_slice(", Operands(at, 0, 2), ", [", Operands(at, 2),
                      "], allow_negative_indices=False)");
      case kSlice:
        return Slice(at);
      case kPad:
        return Pad(at);
      default:
        return std::nullopt;
    }
  }

  std::string Slice(const Instruction& at) const {
    std::vector<int64_t> starts, limits, strides;
    for (const SliceRange& range : at.attributes().SliceRanges(Attr::kSlice)) {
      starts.push_back(range.start);
      limits.push_back(range.limit);
      strides.push_back(range.stride);
    }
    return StrCat("lax.slice(", Operand(at, 0), ", ", Tuple(starts), ", ", Tuple(limits), ", ",
                  Tuple(strides), ")");
  }

  std::string Pad(const Instruction& at) const {
    std::vector<std::string> dims;
    for (const PaddingDim& dim : at.attributes().Padding(Attr::kPadding))
      dims.push_back(StrCat("(", dim.low, ", ", dim.high, ", ", dim.interior, ")"));
    return StrCat("lax.pad(", Operands(at), ", [", absl::StrJoin(dims, ", "), "])");
  }

  std::optional<std::string> Structure(const Instruction& at) const {
    const Attributes& a = at.attributes();
    switch (at.opcode()) {
      case kConstant:
        return at.literal() == nullptr ? std::nullopt : ArrayText(*at.literal());
      case kCopy:
        return Operand(at, 0);
      case kTuple:
        return StrCat("(", Operands(at), at.operand_count() == 1 ? ",)" : ")");
      case kGetTupleElement:
        return StrCat(Operand(at, 0), "[", at.tuple_index(), "]");
      case kCall:
      case kMap:
        return StrCat(functions_.at(at.callee()), "(", Operands(at), ")");
      case kOptBarrier:
        return StrCat("lax.optimization_barrier(", Operands(at), ")");
      case kWhile:
        // The condition is called first, the body second.
        return StrCat("lax.while_loop(", functions_.at(at.callee(0)), ", ",
                      functions_.at(at.callee(1)), ", ", Operands(at), ")");
      case kCompare:
        return Compare(at);
      case kRoundNearestAfz:
        return StrCat("lax.round(", Operands(at), ", lax.RoundingMethod.AWAY_FROM_ZERO)");
      case kRoundNearestEven:
        return StrCat("lax.round(", Operands(at), ", lax.RoundingMethod.TO_NEAREST_EVEN)");
      case kReducePrecision:
        return StrCat("lax.reduce_precision(", Operands(at), ", ", a.Integer(Attr::kExponentBits),
                      ", ", a.Integer(Attr::kMantissaBits), ")");
      case kTopK:
        return StrCat("lax.top_k(", Operands(at), ", ", a.Integer(Attr::kK), ")");
      default:
        return std::nullopt;
    }
  }

  std::optional<std::string> Compare(const Instruction& at) const {
    static const std::string_view kWords[] = {"eq", "ne", "ge", "gt", "le", "lt"};
    const Attributes& a = at.attributes();
    const bool is_float = IsFloat(at.operand(0)->shape().element_type());
    if (is_float && WordAt(Attr::kCompareType, a.Integer(Attr::kCompareType)) == "TOTALORDER")
      return std::nullopt;
    return StrCat("lax.", kWords[a.Integer(Attr::kDirection)], "(", Operands(at), ")");
  }

  std::optional<std::string> Fold(const Instruction& at) const {
    const Attributes& a = at.attributes();
    switch (at.opcode()) {
      case kReduce: {
        const int64_t half = at.operand_count() / 2;
        const std::string dims = Tuple(a.Integers(Attr::kDimensions));
        const std::string& with = functions_.at(at.callee());
        if (half == 1) {
          return StrCat("lax.reduce(", Operands(at), ", ", with, ", ", dims, ")");
        }
        return StrCat("lax.reduce((", Operands(at, 0, half), "), (", Operands(at, half),
                      "), lambda a, b: ", with, "(*a, *b), ", dims, ")");
      }
      case kReduceWindow:
        return ReduceWindow(at);
      case kDot:
        return StrCat(
            "lax.dot_general(", Operands(at), ", ((", Tuple(a.Integers(Attr::kLhsContractingDims)),
            ", ", Tuple(a.Integers(Attr::kRhsContractingDims)), "), (",
            Tuple(a.Integers(Attr::kLhsBatchDims)), ", ", Tuple(a.Integers(Attr::kRhsBatchDims)),
            ")), preferred_element_type=", TypeText(at.shape().element_type()), ")");
      case kConvolution:
        return Convolution(at);
      default:
        return std::nullopt;
    }
  }

  // The parts of a window as jax.lax has them; nothing where it is turned around.
  struct WindowText {
    std::string sizes, strides, padding, base, window;
  };
  static std::optional<WindowText> Window(const Instruction& at) {
    std::vector<int64_t> sizes, strides, base, window;
    std::vector<std::string> padding;
    for (const WindowDim& dim : at.attributes().Window(Attr::kWindow)) {
      if (dim.reversal) return std::nullopt;
      sizes.push_back(dim.size);
      strides.push_back(dim.stride);
      base.push_back(dim.base_dilation);
      window.push_back(dim.window_dilation);
      padding.push_back(StrCat("(", dim.low, ", ", dim.high, ")"));
    }
    return WindowText{Tuple(sizes), Tuple(strides), StrCat("[", absl::StrJoin(padding, ", "), "]"),
                      Tuple(base), Tuple(window)};
  }

  std::optional<std::string> ReduceWindow(const Instruction& at) const {
    const std::optional<WindowText> window = Window(at);
    if (at.operand_count() != 2 || !window.has_value()) return std::nullopt;
    return StrCat("lax.reduce_window(", Operands(at), ", ", functions_.at(at.callee()), ", ",
                  window->sizes, ", ", window->strides, ", ", window->padding, ", ", window->base,
                  ", ", window->window, ")");
  }

  std::optional<std::string> Convolution(const Instruction& at) const {
    const std::optional<WindowText> window = Window(at);
    const ConvDimLabels* labels = at.attributes().DimLabels();
    if (!window.has_value() || labels == nullptr) return std::nullopt;
    const auto spec = [](int64_t first, int64_t second, absl::Span<const int64_t> spatial) {
      std::vector<int64_t> dims = {first, second};
      dims.insert(dims.end(), spatial.begin(), spatial.end());
      return Tuple(dims);
    };
    return StrCat(
        "lax.conv_general_dilated(", Operands(at), ", ", window->strides, ", ", window->padding,
        ", ", window->base, ", ", window->window, ", lax.ConvDimensionNumbers(",
        spec(labels->input_batch, labels->input_feature, labels->input_spatial), ", ",
        spec(labels->kernel_output_feature, labels->kernel_input_feature, labels->kernel_spatial),
        ", ", spec(labels->output_batch, labels->output_feature, labels->output_spatial),
        "), feature_group_count=", at.attributes().Integer(Attr::kFeatureGroupCount, 1),
        ", batch_group_count=", at.attributes().Integer(Attr::kBatchGroupCount, 1),
        ", preferred_element_type=", TypeText(at.shape().element_type()), ")");
  }

  std::map<const Instruction*, std::string> names_;
  std::map<const Computation*, std::string> functions_;
  std::set<std::string> used_;
};

}  // namespace

std::optional<std::string> JaxText(const Module& module, const std::vector<Literal>& inputs,
                                   const WrongElement& wrong, const std::string& title,
                                   const std::string& right) {
  const std::optional<std::string> functions = JaxWriter().Write(module);
  if (!functions.has_value()) return std::nullopt;
  std::vector<std::string> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::optional<std::string> small = ArrayText(inputs[i]);
    const std::string loaded = StrCat("np.load(__file__.replace(\"jax.py\", \"program.npz\"))[\"in",
                                      i, "\"].view(", TypeText(inputs[i].element_type()), ")");
    arguments.push_back(small.value_or(loaded));
  }
  const nlohmann::json quoted = right;
  const std::string plain_title = absl::StrReplaceAll(title, {{"\\", "\\\\"}, {"\"", "\\\""}});
  return absl::StrReplaceAll(std::string(kScript),
                             {{"@TITLE@", plain_title},
                              {"@MARK@", kMark},
                              {"@FUNCTIONS@", *functions},
                              {"@ARGUMENTS@", absl::StrJoin(arguments, ",\n             ")},
                              {"@OUTPUT@", StrCat(wrong.output)},
                              {"@ELEMENT@", StrCat(wrong.element)},
                              {"@RIGHT@", quoted.dump()},
                              {"@WRONG@", wrong.test},
                              {"@ALLOWED@", wrong.allowed}});
}

bool IsJaxText(const std::string& script) { return script.find(kMark) != std::string::npos; }

}  // namespace assay
