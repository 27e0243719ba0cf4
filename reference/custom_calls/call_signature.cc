// Matches the shapes of a custom call with its signature, letter by letter.
#include "reference/custom_calls/call_signature.h"

#include <algorithm>
#include <array>

#include "reference/values/leaves.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view list) {
  std::vector<std::string_view> items;
  for (;;) {
    const size_t comma = list.find(',');
    items.push_back(Trimmed(list.substr(0, comma)));
    if (comma == std::string_view::npos) return items;
    list.remove_prefix(comma + 1);
  }
}

class Matcher {
 public:
  // `first` is the shape of operand 0, `letters` its item in the signature.
  Matcher(const Shape& first, std::string_view letters) : first_(first) {
    batch_rank_ = first.rank() - static_cast<int64_t>(letters.size());
    last_ = FromEnd(1);
    before_last_ = FromEnd(2);
    least_ = std::min(last_, before_last_);
    sizes_.fill(-1);
  }

  bool Fits(const Shape& shape, std::string_view item) {
    const size_t colon = std::min(item.find(':'), item.size());
    const std::string_view letters = item.substr(0, colon);
    const char type = colon < item.size() ? item[colon + 1] : ' ';
    if (batch_rank_ < 0 || !shape.IsArray() || shape.element_type() != TypeOf(type) ||
        shape.rank() != batch_rank_ + static_cast<int64_t>(letters.size()))
      return false;
    for (int64_t d = 0; d < batch_rank_; ++d)
      if (shape.dimension(d) != first_.dimension(d)) return false;
    for (size_t i = 0; i < letters.size(); ++i)
      if (!FitsSize(letters[i], shape.dimension(batch_rank_ + static_cast<int64_t>(i))))
        return false;
    return true;
  }

 private:
  int64_t FromEnd(int64_t d) const {
    return first_.rank() >= d ? first_.dimension(first_.rank() - d) : 1;
  }
  ElementType TypeOf(char letter) const {
    const ElementType type = first_.element_type();
    const ElementType part = IsComplex(type) ? ComponentType(type) : type;
    if (letter == 'i') return ElementType::kS32;
    if (letter == 'r') return part;
    if (letter != 'c') return type;
    return part == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
  }
  bool FitsSize(char letter, int64_t size) {
    switch (letter) {
      case 'k':
        return size == least_;
      case 'j':
        return size == std::max<int64_t>(last_ - 1, 0);
      case 't':
        return size <= least_;
      case 'u':
        return size == before_last_ || size == least_;
      case 'v':
        return size == last_ || size == least_;
      default:
        break;
    }
    int64_t& bound = sizes_[static_cast<size_t>(letter - 'a')];
    if (bound < 0) bound = size;
    return bound == size;
  }

  const Shape& first_;
  int64_t batch_rank_, last_, before_last_, least_;
  std::array<int64_t, 26> sizes_;
};

}  // namespace

absl::Status CheckSignature(const OpContext& op, std::string_view signature) {
  const size_t arrow = signature.find('>');
  const std::vector<std::string_view> operands = Split(signature.substr(0, arrow));
  const std::vector<std::string_view> results = Split(signature.substr(arrow + 1));
  const absl::Span<const Shape> shapes = LeavesOf(op.shape);
  bool fits = op.operands.size() == operands.size() && shapes.size() == results.size() &&
              !op.operands[0]->IsTuple();
  if (fits) {
    Matcher matcher(op.literal(0).shape(), operands[0]);
    for (size_t k = 0; fits && k < operands.size(); ++k) {
      fits = !op.operands[k]->IsTuple() &&
             matcher.Fits(op.literal(static_cast<int64_t>(k)).shape(), operands[k]);
    }
    for (size_t k = 0; fits && k < results.size(); ++k) fits = matcher.Fits(shapes[k], results[k]);
  }
  if (fits) return absl::OkStatus();
  return MakeError(
      ErrorClass::kUnsupported,
      StrCat(op.instruction.name(), ": ",
             op.instruction.attributes().String(Attr::kCustomCallTarget), " takes and gives ",
             signature,
             " (a letter per size, batch dimensions in front; i s32, r real, c complex)"));
}

}  // namespace assay::reference
