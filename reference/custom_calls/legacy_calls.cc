// LAPACK's names from before the typed interface (jaxlib up to 0.4.3x): sizes and options come as
// scalar operands in front of the matrices, workspaces as further results. Each is the typed call
// of the same routine with its options written out, its results in another order.
#include "reference/bounds/elements.h"
#include "reference/custom_calls/custom_call.h"
#include "reference/values/leaves.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// A letter per leading scalar operand:
//   b  the number of matrices      . nothing that matters to the results (workspace, stride)
//   m  rows, n  columns of the first matrix; M, N  of the last one; k  size of the last vector
//   l  lower triangle    s  left side    t  0, 1 transposed, 2 adjoint    d  unit diagonal
//   a  a factor          f  all singular vectors    v  any of them
//   i  first row, h  last row    L, R, V, S  characters: left and right vectors, vectors, sort
// A character per result: the number of the typed call's result, w for a workspace, 0 being
// success in place of an i.
struct LegacyCall {
  std::string_view name, scalars, real_results, complex_results;
  std::string_view options = {};  // of the typed call, beside those that its scalars give
};
constexpr LegacyCall kCalls[] = {
    {.name = "getrf", .scalars = "bmn", .real_results = "012", .complex_results = "012"},
    {.name = "geqrf", .scalars = "bmn.", .real_results = "01iw", .complex_results = "01iw"},
    {.name = "orgqr", .scalars = "bmnk.", .real_results = "0iw", .complex_results = "0iw"},
    {.name = "ungqr", .scalars = "bmnk.", .real_results = "0iw", .complex_results = "0iw"},
    {.name = "potrf", .scalars = "lbn", .real_results = "01", .complex_results = "01"},
    {.name = "trsm", .scalars = "sltdMNba", .real_results = "0", .complex_results = "0"},
    {.name = "gesdd",
     .scalars = "fvbmn.",
     .real_results = "01234ww",
     .complex_results = "01234www"},
    {.name = "syevd",
     .scalars = "lbn",
     .real_results = "012ww",
     .complex_results = "012www",
     .options = "mode = 86 : ui8"},
    {.name = "heevd",
     .scalars = "lbn",
     .real_results = "012ww",
     .complex_results = "012www",
     .options = "mode = 86 : ui8"},
    {.name = "geev", .scalars = "bnLR", .real_results = "www01234", .complex_results = "ww0123"},
    {.name = "gees", .scalars = "bnVS", .real_results = "023145", .complex_results = "0w2134"},
    {.name = "gehrd", .scalars = "nih.b.", .real_results = "012w", .complex_results = "012w"},
    {.name = "sytrd", .scalars = "nl.b.", .real_results = "01234w", .complex_results = "01234w"},
    {.name = "hetrd", .scalars = "nl.b.", .real_results = "01234w", .complex_results = "01234w"},
};

absl::Status Unsupported(const OpContext& op, std::string_view what) {
  return MakeError(ErrorClass::kUnsupported,
                   StrCat(op.instruction.name(), ": ",
                          op.instruction.attributes().String(Attr::kCustomCallTarget), " ", what));
}

int64_t SizeFromEnd(const Value& value, int64_t d) {
  const Shape& shape = value.array->literal.shape();
  return shape.rank() >= d ? shape.dimension(shape.rank() - d) : -1;
}

// ---- What each letter of LegacyCall::scalars means.

// A scalar that repeats a size of the first or of the last matrix.
using SizeFn = int64_t (*)(const Value& first, const Value& last);
struct SizeLetter {
  char letter;
  SizeFn size;
};
int64_t BatchCount(const Value& first, const Value&) {
  const Shape& shape = first.array->literal.shape();
  int64_t count = 1;
  for (int64_t d = 0; d + 2 < shape.rank(); ++d) count *= shape.dimension(d);
  return count;
}
template <int kFromEnd>
int64_t SizeOfFirst(const Value& first, const Value&) {
  return SizeFromEnd(first, kFromEnd);
}
template <int kFromEnd>
int64_t SizeOfLast(const Value&, const Value& last) {
  return SizeFromEnd(last, kFromEnd);
}
constexpr SizeLetter kSizes[] = {
    {'b', BatchCount},    {'m', SizeOfFirst<2>}, {'n', SizeOfFirst<1>},
    {'M', SizeOfLast<2>}, {'N', SizeOfLast<1>},  {'k', SizeOfLast<1>},
};

// An option of the typed call: `key = value : type`. The scalar k stands for character k of
// `values`, or for the last one if there are not so many; without `values` for the number k.
struct OptionLetter {
  char letter;
  std::string_view key, values, type;
};
constexpr OptionLetter kOptions[] = {
    {'l', "uplo", "UL", "ui8"},       {'s', "side", "RL", "ui8"},
    {'t', "trans_x", "NTC", "ui8"},   {'d', "diag", "NU", "ui8"},
    {'i', "low", "", "i32"},          {'h', "high", "", "i32"},
    {'L', "compute_left", "", "ui8"}, {'R', "compute_right", "", "ui8"},
    {'V', "mode", "", "ui8"},         {'S', "sort", "", "ui8"},
};

int64_t OptionValue(const OptionLetter& option, int64_t scalar) {
  if (option.values.empty()) return scalar;
  const auto last = static_cast<int64_t>(option.values.size()) - 1;
  // A negative number sets a flag as a positive one does.
  return option.values[static_cast<size_t>(scalar < 0 ? last : std::min(scalar, last))];
}

void AddOption(std::string& options, std::string_view key, int64_t value, std::string_view type) {
  StrAppend(&options, options.empty() ? "" : ", ", key, " = ", value, " : ", type);
}

bool IsOne(const Literal& scalar) {
  return scalar.GetComponent(0) == 1 &&
         (scalar.component_count() == 1 || scalar.GetComponent(1) == 0);
}

template <typename Row, size_t kCount>
const Row* FindLetter(const Row (&rows)[kCount], char letter) {
  for (const Row& row : rows)
    if (row.letter == letter) return &row;
  return nullptr;
}

// The options of the typed call. unsupported: scalars that contradict the sizes of the matrices, a
// factor that is not 1.
absl::StatusOr<std::string> OptionsOf(const OpContext& op, const LegacyCall& call) {
  const absl::Span<const Value* const> matrices = op.operands.subspan(call.scalars.size());
  std::string options(call.options);
  bool all_vectors = false;
  for (size_t k = 0; k < call.scalars.size(); ++k) {
    const Literal& scalar = op.literal(static_cast<int64_t>(k));
    const char letter = call.scalars[k];
    if (letter == 'a') {
      if (!IsOne(scalar)) return Unsupported(op, "is known with the factor 1 only");
      continue;
    }
    const int64_t value = scalar.GetInteger(0);
    if (letter == 'f') all_vectors = value != 0;
    if (letter == 'v')
      AddOption(options, "mode", value == 0 ? 'N' : all_vectors ? 'A' : 'S', "ui8");
    if (const OptionLetter* option = FindLetter(kOptions, letter))
      AddOption(options, option->key, OptionValue(*option, value), option->type);
    if (const SizeLetter* size = FindLetter(kSizes, letter)) {
      const int64_t expected = size->size(*matrices.front(), *matrices.back());
      if (value != expected) {
        return Unsupported(
            op, StrCat("has ", value, " as operand ", k, ", where its matrices have ", expected));
      }
    }
  }
  return "{" + options + "}";
}

// True if the operands are scalars of the right kind and at least one array behind them.
bool HasOperands(const OpContext& op, const LegacyCall& call) {
  if (op.operands.size() <= call.scalars.size()) return false;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    if (op.operands[k]->IsTuple()) return false;
    if (k >= call.scalars.size()) continue;
    const Shape& shape = op.literal(static_cast<int64_t>(k)).shape();
    if (shape.rank() != 0) return false;
    const bool is_factor = call.scalars[k] == 'a';
    if (is_factor ? !IsFloat(shape.element_type()) && !IsComplex(shape.element_type())
                  : !IsInteger(shape.element_type()))
      return false;
  }
  return true;
}

absl::StatusOr<Value> Workspace(Interpreter& interpreter, const Shape& shape, bool is_certain) {
  ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(shape.ByteSize()));
  Array array{Literal(shape)};
  if (!is_certain) MakeUndecided(array);
  return MakeValue(std::move(array), interpreter.memory());
}

}  // namespace

absl::StatusOr<Value> ApplyLegacyCall(Interpreter& interpreter, const OpContext& op,
                                      const CustomCallTarget& typed) {
  const LegacyCall* call = nullptr;
  for (const LegacyCall& row : kCalls)
    if (row.name == typed.name) call = &row;
  if (call == nullptr) return Unsupported(op, "is known with the typed interface only");
  const absl::Span<const Shape> shapes = LeavesOf(op.shape);
  bool fits = HasOperands(op, *call);
  std::string_view order;
  if (fits) {
    const Literal& matrix = op.literal(static_cast<int64_t>(call->scalars.size()));
    order = IsComplex(matrix.element_type()) ? call->complex_results : call->real_results;
    fits = shapes.size() == order.size();
    for (const Shape& shape : shapes) fits = fits && shape.IsArray();
  }
  if (!fits) {
    return Unsupported(op, StrCat("takes ", call->scalars.size(), " scalars and its matrices, and ",
                                  "gives ", call->real_results.size(), " (complex ",
                                  call->complex_results.size(), ") arrays"));
  }
  ASSAY_ASSIGN_OR_RETURN(std::string options, OptionsOf(op, *call));

  // The typed call has a module of its own for as long as it is evaluated.
  Module module("typed");
  Computation* computation = module.AddComputation("call");
  OperandVector parameters;
  const absl::Span<const Value* const> matrices = op.operands.subspan(call->scalars.size());
  for (const Value* matrix : matrices) {
    parameters.push_back(computation->AddParameter(static_cast<int64_t>(parameters.size()),
                                                   matrix->array->literal.shape()));
  }
  std::vector<Shape> typed_shapes;
  for (char number = '0'; order.find(number) != std::string_view::npos; ++number)
    typed_shapes.push_back(shapes[order.find(number)]);
  const Shape typed_shape = typed_shapes.size() == 1 ? typed_shapes[0] : Shape::Tuple(typed_shapes);
  Attributes attributes;
  attributes.Set(Attr::kCustomCallTarget,
                 op.instruction.attributes().String(Attr::kCustomCallTarget));
  attributes.Set(Attr::kBackendConfig, options);
  const Instruction* instruction = computation->Add(Opcode::kCustomCall, typed_shape, parameters,
                                                    attributes, {}, op.instruction.name());
  ASSAY_ASSIGN_OR_RETURN(
      const Value result,
      ApplyTypedCall(interpreter, {*instruction, typed_shape, matrices, op.clauses, op.analysis},
                     typed));

  std::vector<Value> values;
  for (size_t k = 0; k < order.size(); ++k) {
    if (order[k] == 'w' || order[k] == 'i') {
      const bool is_certain = order[k] == 'i' || !interpreter.bounding();
      ASSAY_ASSIGN_OR_RETURN(Value extra, Workspace(interpreter, shapes[k], is_certain));
      values.push_back(std::move(extra));
    } else {
      values.push_back(result.IsTuple() ? result.elements[order[k] - '0'] : result);
    }
  }
  Value whole = op.shape.IsTuple() ? Value::Tuple(std::move(values)) : std::move(values[0]);
  for (size_t k = 0; k < call->scalars.size(); ++k)
    if (!op.operands[k]->array->Certain()) return Undecided(whole, interpreter.memory());
  return whole;
}

}  // namespace assay::reference
