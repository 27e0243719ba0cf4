// Reads targets, options and shapes of custom calls.
#include "optimized/cpu/kernels/custom_calls.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "spec/base/strings.h"

namespace assay {
namespace {

struct Target {
  std::string_view name;  // of an expander, or between the type's letter and "_ffi"
  LapackRoutine routine;
  // Letters of operands and results, an item each: m n rows and columns of operand 0, k the smaller
  // one, j columns less one, o p q any other size; behind ':' another element type: i s32, r the
  // real one, c the complex one.
  std::string_view operands, results;
  std::string_view options = {};          // that must be there, by blanks
  std::string_view complex_results = {};  // where they are not `results`
};
constexpr Target kTargets[] = {
    {"getrf", LapackRoutine::kLu, "mn", "mn k:i :i"},
    {"LuDecomposition", LapackRoutine::kLu, "mn", "mn k:i m:i"},
    {"potrf", LapackRoutine::kCholesky, "nn", "nn :i", "uplo"},
    {"trsm", LapackRoutine::kSolve, "nn op", "op", "side uplo diag trans_x"},
    {"geqrf", LapackRoutine::kQr, "mn", "mn k"},
    {"Qr", LapackRoutine::kQr, "mn", "mn k"},
    {"QrDecomposition", LapackRoutine::kQr, "mn", "mn k"},
    {"geqp3", LapackRoutine::kPivotedQr, "mn n:i", "mn n:i k"},
    {"orgqr", LapackRoutine::kReflectorProduct, "mn o", "mn"},
    {"ungqr", LapackRoutine::kReflectorProduct, "mn o", "mn"},
    {"ProductOfElementaryHouseholderReflectors", LapackRoutine::kReflectorProduct, "mn o", "mn"},
    {"ormqr", LapackRoutine::kReflect, "mn o pq", "pq", "left transpose"},
    {"unmqr", LapackRoutine::kReflect, "mn o pq", "pq", "left transpose"},
    {"syevd", LapackRoutine::kHermitianEigen, "nn", "nn n:r :i", "mode uplo"},
    {"heevd", LapackRoutine::kHermitianEigen, "nn", "nn n:r :i", "mode uplo"},
    {"Eigh", LapackRoutine::kHermitianEigen, "nn", "nn n:r"},
    {"gesdd", LapackRoutine::kSingular, "mn", "mn k:r mo pn :i", "mode"},
    {"gesvd", LapackRoutine::kSingular, "mn", "mn k:r mo pn :i", "mode"},
    {"gtsv", LapackRoutine::kTridiagonalSolve, "n n n np", "n n n np :i"},
    {"gehrd", LapackRoutine::kHessenberg, "nn", "nn j :i"},
    {"sytrd", LapackRoutine::kTridiagonal, "nn", "nn n:r j:r j :i", "uplo"},
    {"hetrd", LapackRoutine::kTridiagonal, "nn", "nn n:r j:r j :i", "uplo"},
    {"geev", LapackRoutine::kGeneralEigen, "nn", "n n nn:c nn:c :i", "compute_left compute_right",
     "n nn nn :i"},
    {"gees", LapackRoutine::kSchur, "nn", "nn nn n n :i :i", "mode", "nn nn n :i :i"},
};

// The arguments and results of names without "_ffi" (jaxlib until 0.4.3x): scalars in front of the
// operands, and the results of the typed call in another order, among others.
struct UntypedTarget {
  std::string_view name;
  // A scalar each: a letter repeats a size, `batch` the number of matrices, `factor` multiplies the
  // last operand, `_` says nothing, all else is an option.
  std::string_view scalars;
  // The number of the typed result each, or `_` for a workspace or an info that it lacks.
  std::string_view results, complex_results;
};
constexpr UntypedTarget kUntypedTargets[] = {
    {"getrf", "batch m n", "0 1 2", "0 1 2"},
    {"geqrf", "batch m n _", "0 1 _ _", "0 1 _ _"},
    {"orgqr", "batch m n o _", "0 _ _", "0 _ _"},
    {"ungqr", "batch m n o _", "0 _ _", "0 _ _"},
    {"potrf", "uplo batch n", "0 1", "0 1"},
    {"trsm", "side uplo trans_x diag o p batch factor", "0", "0"},
    {"gesdd", "_ _ batch m n _", "0 1 2 3 4 _ _", "0 1 2 3 4 _ _ _"},
    {"syevd", "uplo batch n", "0 1 2 _ _", "0 1 2 _ _ _"},
    {"heevd", "uplo batch n", "0 1 2 _ _", "0 1 2 _ _ _"},
    {"geev", "batch n compute_left compute_right", "_ _ _ 0 1 2 3 4", "_ _ 0 1 2 3"},
    {"gees", "batch n mode sort", "0 2 3 1 4 5", "0 _ 2 1 3 4"},
    {"gehrd", "n low high _ batch _", "0 1 2 _", "0 1 2 _"},
    {"sytrd", "n uplo _ batch _", "0 1 2 3 4 _", "0 1 2 3 4 _"},
    {"hetrd", "n uplo _ batch _", "0 1 2 3 4 _", "0 1 2 3 4 _"},
};
// The letters that scalars of these options stand for, from 0 on; larger ones are the last.
struct OptionLetters {
  std::string_view option, letters;
};
constexpr OptionLetters kOptionLetters[] = {
    {"uplo", "UL"},
    {"side", "RL"},
    {"trans_x", "NTC"},
    {"diag", "NU"},
};

const Target* FindTarget(std::string_view name, bool& is_typed) {
  constexpr std::string_view kSuffix = "_ffi";
  std::string_view routine = name;
  bool is_routine = false;
  is_typed = true;
  for (std::string_view prefix : {"lapack_", "blas_"}) {
    if (!name.starts_with(prefix)) continue;
    is_typed = name.ends_with(kSuffix);
    if (is_typed) routine.remove_suffix(kSuffix.size());
    routine.remove_prefix(std::min(routine.size(), prefix.size() + 1));
    is_routine = true;
  }
  for (const Target& target : kTargets) {
    const bool of_lapack = target.name[0] >= 'a';
    if (target.name == routine && of_lapack == is_routine) return &target;
  }
  return nullptr;
}

// Numbers of options, letters as their codes, true as 1.
using Options = std::map<std::string_view, int64_t>;

// The typed attributes `{key = value : type, key = true}` of a call.
Options OptionsOf(std::string_view config) {
  Options options;
  for (size_t at = config.find(" = "); at != std::string_view::npos; at = config.find(" = ", at)) {
    const size_t start = config.find_last_of("{, ", at - 1) + 1;
    const std::string_view key = config.substr(start, at - start);
    const std::string_view text = config.substr(at += 3);
    int64_t value = text.starts_with("true") ? 1 : 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    options.emplace(key, value);
  }
  return options;
}

bool HasLetter(const Options& options, std::string_view key, char letter) {
  const auto found = options.find(key);
  return found != options.end() && found->second == letter;
}

// Matches shapes with letters; sizes of letters go into the plan.
class Matcher {
 public:
  Matcher(const Shape& first, std::string_view letters)
      : first_(first), batch_rank_(first.rank() - static_cast<int64_t>(letters.size())) {
    std::fill(std::begin(sizes_), std::end(sizes_), int64_t{-1});
    if (batch_rank_ < 0) return;
    for (size_t k = 0; k < letters.size(); ++k) {
      sizes_[letters[k] - 'a'] = first.dimension(batch_rank_ + static_cast<int64_t>(k));
    }
    if (size('m') < 0) sizes_['m' - 'a'] = size('n');
    sizes_['k' - 'a'] = std::min(size('m'), size('n'));
    sizes_['j' - 'a'] = std::max<int64_t>(size('n') - 1, 0);
  }

  int64_t size(char letter) const { return sizes_[letter - 'a']; }

  int64_t batch() const {
    int64_t count = 1;
    for (int64_t d = 0; d < batch_rank_; ++d) count *= first_.dimension(d);
    return count;
  }

  bool Fits(const Shape& shape, std::string_view item) {
    const size_t colon = std::min(item.find(':'), item.size());
    const std::string_view letters = item.substr(0, colon);
    const char type = colon < item.size() ? item[colon + 1] : ' ';
    if (batch_rank_ < 0 || !shape.IsArray() || shape.element_type() != TypeOf(type) ||
        shape.rank() != batch_rank_ + static_cast<int64_t>(letters.size())) {
      return false;
    }
    for (int64_t d = 0; d < batch_rank_; ++d) {
      if (shape.dimension(d) != first_.dimension(d)) return false;
    }
    for (size_t k = 0; k < letters.size(); ++k) {
      int64_t& bound = sizes_[letters[k] - 'a'];
      const int64_t found = shape.dimension(batch_rank_ + static_cast<int64_t>(k));
      if (bound < 0) bound = found;
      if (bound != found) return false;
    }
    return true;
  }

 private:
  ElementType TypeOf(char letter) const {
    const ElementType type = first_.element_type();
    if (letter == 'i') return ElementType::kS32;
    if (letter == 'c' && !IsComplex(type))
      return type == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
    return letter == 'r' && IsComplex(type) ? ComponentType(type) : type;
  }

  const Shape& first_;
  int64_t batch_rank_;
  int64_t sizes_[26];
};

int64_t FormOf(const Instruction& call, const Target& target, const Options& options) {
  int64_t form = 0;
  const auto add = [&](bool holds, LapackForm bit) { form |= holds ? int64_t{bit} : 0; };
  const auto has_flag = [&](std::string_view key) { return HasLetter(options, key, 1); };
  add(HasLetter(options, "uplo", 'L'), kLapackLower);
  add(HasLetter(options, "side", 'L') || has_flag("left"), kLapackLeft);
  add(HasLetter(options, "diag", 'U'), kLapackUnitDiagonal);
  const bool adjoint = HasLetter(options, "trans_x", 'C') || has_flag("transpose");
  add(adjoint || HasLetter(options, "trans_x", 'T'), kLapackTransposed);
  add(adjoint, kLapackConjugated);
  add(HasLetter(options, "compute_left", 'V'), kLapackLeftVectors);
  add(HasLetter(options, "compute_right", 'V'), kLapackRightVectors);
  add(HasLetter(options, "mode", 'N') && target.routine != LapackRoutine::kSchur,
      kLapackValuesOnly);
  const bool is_expander = target.name[0] < 'a';
  add(is_expander, kLapackExpander);
  if (is_expander && target.routine == LapackRoutine::kHermitianEigen) {
    const std::string& config = call.attributes().String(Attr::kBackendConfig);
    add(config.empty() || config[0] == '1', kLapackLower);
  }
  return form;
}

std::vector<std::string_view> Items(std::string_view text) {
  std::vector<std::string_view> items;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    items.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return items;
}

// The value of a scalar operand that is a constant.
const Literal* ConstantScalar(const Instruction* operand) {
  while (operand->opcode() == Opcode::kCopy || operand->opcode() == Opcode::kBitcast ||
         operand->opcode() == Opcode::kReshape) {
    operand = operand->operand(0);
  }
  const bool is_constant = operand->opcode() == Opcode::kConstant && operand->shape().IsArray();
  return is_constant && operand->shape().rank() == 0 ? operand->literal() : nullptr;
}

// Adds what a scalar of an untyped call says to the options. False if it contradicts the shapes.
bool ReadScalar(const Literal& scalar, std::string_view meaning, const Matcher& matcher,
                Options& options) {
  if (!IsInteger(scalar.shape().element_type())) return false;
  const int64_t value = scalar.GetInteger(0);
  if (meaning == "_") return true;
  if (meaning == "batch") return value == matcher.batch();
  if (meaning.size() == 1) return value == matcher.size(meaning[0]);
  options[meaning] = value;
  for (const OptionLetters& row : kOptionLetters) {
    if (row.option != meaning) continue;
    const auto last = static_cast<int64_t>(row.letters.size()) - 1;
    options[meaning] = row.letters[static_cast<size_t>(value < 0 ? last : std::min(value, last))];
  }
  return true;
}

// A call whose shapes fit the signature of its target.
struct Signature {
  const Target* target;
  const UntypedTarget* untyped;  // nullptr for a typed call
  Matcher matcher;
  LapackCall call;
};

// The places of the typed call's results among `count` leaves; nothing if there are too few or
// many.
std::optional<std::vector<int64_t>> ResultPlaces(std::string_view order, size_t count,
                                                 std::vector<int64_t>& cleared) {
  const std::vector<std::string_view> items = Items(order);
  if (items.size() != count) return std::nullopt;
  std::vector<int64_t> places(
      std::count_if(items.begin(), items.end(), [](std::string_view item) { return item != "_"; }));
  for (size_t k = 0; k < items.size(); ++k) {
    if (items[k] == "_") {
      cleared.push_back(static_cast<int64_t>(k));
    } else {
      places[items[k][0] - '0'] = static_cast<int64_t>(k);
    }
  }
  return places;
}

std::optional<Signature> SignatureOf(const Instruction& custom_call) {
  bool is_typed = true;
  const Target* target =
      FindTarget(custom_call.attributes().String(Attr::kCustomCallTarget), is_typed);
  if (target == nullptr) return std::nullopt;
  const UntypedTarget* untyped = nullptr;
  for (const UntypedTarget& row : kUntypedTargets)
    if (!is_typed && row.name == target->name) untyped = &row;
  if (!is_typed && untyped == nullptr) return std::nullopt;
  const int64_t scalars = is_typed ? 0 : static_cast<int64_t>(Items(untyped->scalars).size());
  const std::vector<std::string_view> operands = Items(target->operands);
  if (custom_call.operand_count() != scalars + static_cast<int64_t>(operands.size()))
    return std::nullopt;
  const Shape& first = custom_call.operand(scalars)->shape();
  if (!first.IsArray() || !IsLapackType(first.element_type())) return std::nullopt;

  Signature signature{target, untyped, Matcher(first, operands[0]), {}};
  const bool is_complex = IsComplex(first.element_type());
  const std::vector<std::string_view> results = Items(
      is_complex && !target->complex_results.empty() ? target->complex_results : target->results);
  std::vector<Shape> shapes = {custom_call.shape()};
  if (custom_call.shape().IsTuple()) {
    shapes.assign(custom_call.shape().elements().begin(), custom_call.shape().elements().end());
  }
  LapackCall& call = signature.call;
  call.first_operand = scalars;
  if (is_typed) {
    if (shapes.size() != results.size()) return std::nullopt;
    call.results.resize(shapes.size());
    std::iota(call.results.begin(), call.results.end(), 0);
  } else {
    const auto places = ResultPlaces(is_complex ? untyped->complex_results : untyped->results,
                                     shapes.size(), call.cleared);
    if (!places.has_value()) return std::nullopt;
    call.results = *places;
    for (int64_t k : call.cleared)
      if (!shapes[k].IsArray()) return std::nullopt;
  }
  for (size_t k = 0; k < operands.size(); ++k) {
    const Instruction* operand = custom_call.operand(scalars + static_cast<int64_t>(k));
    if (!signature.matcher.Fits(operand->shape(), operands[k])) return std::nullopt;
  }
  for (size_t k = 0; k < results.size(); ++k) {
    if (!signature.matcher.Fits(shapes[call.results[k]], results[k])) return std::nullopt;
  }
  return signature;
}

// The options that the call names or that its scalars stand for; nothing if one is missing or says
// what no code is for.
std::optional<Options> CheckedOptions(const Instruction& custom_call, Signature& signature) {
  if (signature.untyped == nullptr) {
    const Options options = OptionsOf(custom_call.attributes().String(Attr::kBackendConfig));
    for (std::string_view option : Items(signature.target->options))
      if (!options.contains(option)) return std::nullopt;
    return HasLetter(options, "sort", 'S') ? std::nullopt : std::optional(options);
  }
  Options options;
  int64_t k = 0;
  for (std::string_view meaning : Items(signature.untyped->scalars)) {
    const Instruction* operand = custom_call.operand(k++);
    if (meaning == "factor") {
      const Shape& first = custom_call.operand(signature.call.first_operand)->shape();
      if (operand->shape() != Shape::Scalar(first.element_type())) return std::nullopt;
      signature.call.factor = k - 1;
      continue;
    }
    const Literal* scalar = ConstantScalar(operand);
    if (scalar == nullptr || !ReadScalar(*scalar, meaning, signature.matcher, options))
      return std::nullopt;
  }
  return HasLetter(options, "sort", 'S') ? std::nullopt : std::optional(options);
}

int64_t OptionOr(const Options& options, std::string_view key, int64_t missing) {
  const auto found = options.find(key);
  return found == options.end() ? missing : found->second;
}

}  // namespace

std::optional<LapackCall> LapackCallOf(const Instruction& custom_call) {
  std::optional<Signature> signature = SignatureOf(custom_call);
  if (!signature.has_value()) return std::nullopt;
  const std::optional<Options> options = CheckedOptions(custom_call, *signature);
  if (!options.has_value()) return std::nullopt;
  const Target& target = *signature->target;
  const Matcher& matcher = signature->matcher;
  LapackCall& call = signature->call;
  LapackPlan& plan = call.plan;
  plan.routine = static_cast<int64_t>(target.routine);
  plan.type = static_cast<int64_t>(custom_call.operand(call.first_operand)->shape().element_type());
  plan.matrices = matcher.batch();
  plan.rows = matcher.size('m');
  plan.columns = matcher.size('n');
  plan.reflectors = matcher.size('o');
  plan.other_rows = matcher.size(target.routine == LapackRoutine::kSolve ? 'o' : 'p');
  plan.other_columns = matcher.size(target.routine == LapackRoutine::kSolve ? 'p' : 'q');
  plan.form = FormOf(custom_call, target, *options);
  if (call.factor.has_value()) plan.form |= kLapackFactor;
  plan.low = OptionOr(*options, "low", 1) - 1;
  plan.high = OptionOr(*options, "high", plan.columns);
  if (plan.low < 0 || plan.high > plan.columns || plan.low > plan.high) return std::nullopt;
  const int64_t order = target.routine == LapackRoutine::kReflect ? plan.rows : plan.columns;
  const bool left = (plan.form & kLapackLeft) != 0;
  const bool multiplies =
      target.routine == LapackRoutine::kSolve || target.routine == LapackRoutine::kReflect;
  if (multiplies && order != (left ? plan.other_rows : plan.other_columns)) return std::nullopt;
  return call;
}

}  // namespace assay
