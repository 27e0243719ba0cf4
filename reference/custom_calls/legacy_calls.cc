// LAPACK's names from before the typed interface (jaxlib up to 0.4.3x): sizes and options come as
// scalar operands in front of the matrices, workspaces as further results. Each is the typed call
// of the same routine with its options written out, its results in another order.
#include "reference/bounds/elements.h"
#include "reference/custom_calls/custom_call.h"
#include "spec/base/error.h"
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
  std::string_view name, scalars, real_results, complex_results, options;
};
constexpr LegacyCall kCalls[] = {
    {"getrf", "bmn", "012", "012", ""},
    {"geqrf", "bmn.", "01iw", "01iw", ""},
    {"orgqr", "bmnk.", "0iw", "0iw", ""},
    {"ungqr", "bmnk.", "0iw", "0iw", ""},
    {"potrf", "lbn", "01", "01", ""},
    {"trsm", "sltdMNba", "0", "0", ""},
    {"gesdd", "fvbmn.", "01234ww", "01234www", ""},
    {"syevd", "lbn", "012ww", "012www", "mode = 86 : ui8"},
    {"heevd", "lbn", "012ww", "012www", "mode = 86 : ui8"},
    {"geev", "bnLR", "www01234", "ww0123", ""},
    {"gees", "bnVS", "023145", "0w2134", ""},
    {"gehrd", "nih.b.", "012w", "012w", ""},
    {"sytrd", "nl.b.", "01234w", "01234w", ""},
    {"hetrd", "nl.b.", "01234w", "01234w", ""},
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

// The options of the typed call.
absl::StatusOr<std::string> OptionsOf(const OpContext& op, const LegacyCall& call) {
  const absl::Span<const Value* const> matrices = op.operands.subspan(call.scalars.size());
  const Value &first = *matrices.front(), &last = *matrices.back();
  std::string options(call.options);
  auto add = [&options](std::string_view key, int64_t value, std::string_view type) {
    StrAppend(&options, options.empty() ? "" : ", ", key, " = ", value, " : ", type);
  };
  auto add_letter = [&add](std::string_view key, char letter) { add(key, letter, "ui8"); };
  bool all_vectors = false;
  int64_t expected = 0;
  for (size_t k = 0; k < call.scalars.size(); ++k) {
    const Literal& scalar = op.literal(static_cast<int64_t>(k));
    const char letter = call.scalars[k];
    if (letter == 'a') {
      const bool is_one = scalar.GetComponent(0) == 1 &&
                          (scalar.component_count() == 1 || scalar.GetComponent(1) == 0);
      if (!is_one) return Unsupported(op, "is known with the factor 1 only");
      continue;
    }
    const int64_t value = scalar.GetInteger(0);
    switch (letter) {
      case 'b':
        expected = 1;
        for (int64_t d = 0; d + 2 < first.array->literal.shape().rank(); ++d)
          expected *= first.array->literal.shape().dimension(d);
        break;
      case 'm':
        expected = SizeFromEnd(first, 2);
        break;
      case 'n':
        expected = SizeFromEnd(first, 1);
        break;
      case 'M':
        expected = SizeFromEnd(last, 2);
        break;
      case 'k':
      case 'N':
        expected = SizeFromEnd(last, 1);
        break;
      case 'l':
        add_letter("uplo", value != 0 ? 'L' : 'U');
        continue;
      case 's':
        add_letter("side", value != 0 ? 'L' : 'R');
        continue;
      case 't':
        add_letter("trans_x", value == 0 ? 'N' : value == 1 ? 'T' : 'C');
        continue;
      case 'd':
        add_letter("diag", value != 0 ? 'U' : 'N');
        continue;
      case 'f':
        all_vectors = value != 0;
        continue;
      case 'v':
        add_letter("mode", value == 0 ? 'N' : all_vectors ? 'A' : 'S');
        continue;
      case 'i':
        add("low", value, "i32");
        continue;
      case 'h':
        add("high", value, "i32");
        continue;
      case 'L':
        add("compute_left", value, "ui8");
        continue;
      case 'R':
        add("compute_right", value, "ui8");
        continue;
      case 'V':
        add("mode", value, "ui8");
        continue;
      case 'S':
        add("sort", value, "ui8");
        continue;
      default:
        continue;
    }
    if (value != expected) {
      return Unsupported(
          op, StrCat("has ", value, " as operand ", k, ", where its matrices have ", expected));
    }
  }
  return "{" + options + "}";
}

// Scalars of the right kind, and one array at least behind them.
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
  if (absl::Status status = interpreter.memory().Check(shape.ByteSize()); !status.ok())
    return status;
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
  const std::vector<Shape> shapes =
      op.shape.IsTuple() ? op.shape.elements() : std::vector<Shape>{op.shape};
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
  absl::StatusOr<std::string> options = OptionsOf(op, *call);
  if (!options.ok()) return options.status();

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
  attributes.Set(Attr::kBackendConfig, *options);
  const Instruction* instruction = computation->Add(Opcode::kCustomCall, typed_shape, parameters,
                                                    attributes, {}, op.instruction.name());
  const absl::StatusOr<Value> result = ApplyTypedCall(
      interpreter, {*instruction, typed_shape, matrices, op.clauses, op.analysis}, typed);
  if (!result.ok()) return result.status();

  std::vector<Value> values;
  for (size_t k = 0; k < order.size(); ++k) {
    if (order[k] == 'w' || order[k] == 'i') {
      const bool is_certain = order[k] == 'i' || !interpreter.bounding();
      absl::StatusOr<Value> extra = Workspace(interpreter, shapes[k], is_certain);
      if (!extra.ok()) return extra.status();
      values.push_back(*std::move(extra));
    } else {
      values.push_back(result->IsTuple() ? result->elements[order[k] - '0'] : *result);
    }
  }
  Value whole = op.shape.IsTuple() ? Value::Tuple(std::move(values)) : std::move(values[0]);
  for (size_t k = 0; k < call->scalars.size(); ++k)
    if (!op.operands[k]->array->Certain()) return Undecided(whole, interpreter.memory());
  return whole;
}

}  // namespace assay::reference
