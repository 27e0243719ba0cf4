// Reads targets, options and shapes of custom calls.
#include "optimized/cpu/kernels/custom_calls.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "spec/base/strings.h"

namespace assay {
namespace {

struct Target {
  std::string_view name;  // of an expander, or between the type's letter and "_ffi"
  LapackRoutine routine;
  // Letters of operands and results, an item each: m n rows and columns of operand 0, k the smaller
  // one, o p q any other size; behind ':' another element type: i s32, r the real one.
  std::string_view operands, results;
  std::string_view options = {};  // that must be there, by blanks
};
constexpr Target kTargets[] = {
    {"getrf", LapackRoutine::kLu, "mn", "mn k:i :i"},
    {"LuDecomposition", LapackRoutine::kLu, "mn", "mn k:i m:i"},
    {"potrf", LapackRoutine::kCholesky, "nn", "nn :i", "uplo"},
    {"trsm", LapackRoutine::kSolve, "nn op", "op", "side uplo diag trans_x"},
    {"geqrf", LapackRoutine::kQr, "mn", "mn k"},
    {"Qr", LapackRoutine::kQr, "mn", "mn k"},
    {"QrDecomposition", LapackRoutine::kQr, "mn", "mn k"},
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
};

const Target* FindTarget(std::string_view name) {
  constexpr std::string_view kSuffix = "_ffi";
  std::string_view routine = name;
  bool is_routine = false;
  for (std::string_view prefix : {"lapack_", "blas_"}) {
    if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) continue;
    routine = name.substr(0, name.size() - kSuffix.size());
    routine.remove_prefix(std::min(routine.size(), prefix.size() + 1));
    is_routine = true;
  }
  for (const Target& target : kTargets) {
    const bool of_lapack = target.name[0] >= 'a';
    if (target.name == routine && of_lapack == is_routine) return &target;
  }
  return nullptr;
}

// The text behind `key = ` in the typed attributes of the call.
std::optional<std::string_view> Option(const Instruction& call, std::string_view key) {
  const std::string_view config = call.attributes().String(Attr::kBackendConfig);
  const std::string start = StrCat(key, " = ");
  for (size_t at = config.find(start); at != std::string_view::npos;
       at = config.find(start, at + 1)) {
    if (at == 0 || config[at - 1] == '{' || config[at - 1] == ' ')
      return config.substr(at + start.size());
  }
  return std::nullopt;
}

bool HasLetter(const Instruction& call, std::string_view key, char letter) {
  const std::string_view text = Option(call, key).value_or("");
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value == letter;
}

bool HasFlag(const Instruction& call, std::string_view key) {
  return Option(call, key).value_or("").starts_with("true");
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
    return letter == 'r' && IsComplex(type) ? ComponentType(type) : type;
  }

  const Shape& first_;
  int64_t batch_rank_;
  int64_t sizes_[26];
};

int64_t FormOf(const Instruction& call, const Target& target) {
  int64_t form = 0;
  const auto add = [&](bool holds, LapackForm bit) { form |= holds ? int64_t{bit} : 0; };
  add(HasLetter(call, "uplo", 'L'), kLapackLower);
  add(HasLetter(call, "side", 'L') || HasFlag(call, "left"), kLapackLeft);
  add(HasLetter(call, "diag", 'U'), kLapackUnitDiagonal);
  const bool adjoint = HasLetter(call, "trans_x", 'C') || HasFlag(call, "transpose");
  add(adjoint || HasLetter(call, "trans_x", 'T'), kLapackTransposed);
  add(adjoint, kLapackConjugated);
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

}  // namespace

std::optional<LapackPlan> LapackPlanOf(const Instruction& custom_call) {
  const Target* target = FindTarget(custom_call.attributes().String(Attr::kCustomCallTarget));
  if (target == nullptr || custom_call.operand_count() == 0) return std::nullopt;
  for (std::string_view option : Items(target->options)) {
    if (!Option(custom_call, option).has_value()) return std::nullopt;
  }
  const std::vector<std::string_view> operands = Items(target->operands);
  const std::vector<std::string_view> results = Items(target->results);
  const Shape& first = custom_call.operand(0)->shape();
  if (!first.IsArray() || !IsLapackType(first.element_type())) return std::nullopt;
  std::vector<Shape> shapes = {custom_call.shape()};
  if (custom_call.shape().IsTuple()) {
    shapes.assign(custom_call.shape().elements().begin(), custom_call.shape().elements().end());
  }
  if (static_cast<size_t>(custom_call.operand_count()) != operands.size() ||
      shapes.size() != results.size()) {
    return std::nullopt;
  }
  Matcher matcher(first, operands[0]);
  for (size_t k = 0; k < operands.size(); ++k) {
    const Instruction* operand = custom_call.operand(static_cast<int64_t>(k));
    if (!matcher.Fits(operand->shape(), operands[k])) return std::nullopt;
  }
  for (size_t k = 0; k < results.size(); ++k) {
    if (!matcher.Fits(shapes[k], results[k])) return std::nullopt;
  }
  LapackPlan plan;
  plan.routine = static_cast<int64_t>(target->routine);
  plan.type = static_cast<int64_t>(first.element_type());
  plan.matrices = matcher.batch();
  plan.rows = matcher.size('m');
  plan.columns = matcher.size('n');
  plan.reflectors = matcher.size('o');
  plan.other_rows = matcher.size(target->routine == LapackRoutine::kSolve ? 'o' : 'p');
  plan.other_columns = matcher.size(target->routine == LapackRoutine::kSolve ? 'p' : 'q');
  plan.form = FormOf(custom_call, *target);
  const int64_t order =
      plan.routine == static_cast<int64_t>(LapackRoutine::kReflect) ? plan.rows : plan.columns;
  const bool left = (plan.form & kLapackLeft) != 0;
  const bool multiplies =
      target->routine == LapackRoutine::kSolve || target->routine == LapackRoutine::kReflect;
  if (multiplies && order != (left ? plan.other_rows : plan.other_columns)) return std::nullopt;
  return plan;
}

}  // namespace assay
