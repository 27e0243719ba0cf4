// The table of attributes, and the sorted container of an instruction's own.
#include "spec/attributes/attributes.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace assay {
namespace {

std::vector<std::string_view> SplitWords(std::string_view words) {
  std::vector<std::string_view> list;
  while (!words.empty()) {
    size_t end = std::min(words.find(' '), words.size());
    if (end > 0) list.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return list;
}

const std::vector<AttrInfo>& Rows() {
  static const auto* rows = new std::vector<AttrInfo>{
#define ASSAY_ATTRIBUTE_ROW(name, text, kind, words) \
  AttrInfo{Attr::name, text, AttrKind::kind, SplitWords(words)},
      ASSAY_ATTRIBUTES(ASSAY_ATTRIBUTE_ROW)
#undef ASSAY_ATTRIBUTE_ROW
  };
  return *rows;
}

constexpr std::string_view WordsOf(Attr attr) {
  switch (attr) {
#define ASSAY_ATTRIBUTE_WORDS(name, text, kind, words) \
  case Attr::name:                                     \
    return words;
    ASSAY_ATTRIBUTES(ASSAY_ATTRIBUTE_WORDS)
#undef ASSAY_ATTRIBUTE_WORDS
  }
  return "";
}

// True if `word` is the last of the attribute's list and the enumerator stands at its place: then
// the enumeration has as many values as there are words.
template <typename Enum>
constexpr bool IsLastWord(Attr attr, Enum value, std::string_view word) {
  std::string_view words = WordsOf(attr);
  for (int64_t i = 0; i < static_cast<int64_t>(value); ++i) {
    const size_t space = words.find(' ');
    if (space == std::string_view::npos) return false;
    words.remove_prefix(space + 1);
  }
  return words == word;
}
static_assert(IsLastWord(Attr::kDirection, Direction::kLt, "LT"));
static_assert(IsLastWord(Attr::kCompareType, CompareType::kUnsigned, "UNSIGNED"));
static_assert(IsLastWord(Attr::kFusionKind, FusionKind::kCustom, "kCustom"));
static_assert(IsLastWord(Attr::kTransposeA, TransposeKind::kAdjoint, "ADJOINT"));
static_assert(IsLastWord(Attr::kFftType, FftKind::kIrfft, "IRFFT"));
static_assert(IsLastWord(Attr::kDistribution, RngDistribution::kNormal, "rng_normal"));
static_assert(IsLastWord(Attr::kRngAlgorithm, RngAlgorithm::kPhilox, "rng_philox"));
static_assert(IsLastWord(Attr::kConvolutionKind, ConvolutionKind::kDataGradient, "dgrad"));
static_assert(IsLastWord(Attr::kOperandPrecision, OperandPrecision::kPackedNibble,
                         "packed_nibble"));

template <typename T>
const T* As(const AttrValue* value) {
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

template <typename T>
absl::Span<const T> AsSpan(const AttrValue* value) {
  const auto* list = As<std::vector<T>>(value);
  return list == nullptr ? absl::Span<const T>() : absl::MakeConstSpan(*list);
}

}  // namespace

const AttrInfo& Info(Attr attr) {
  static const std::vector<AttrInfo>& rows = Rows();
  return rows[static_cast<size_t>(attr)];
}

std::optional<int64_t> WordIndex(Attr attr, std::string_view word) {
  const auto& words = Info(attr).words;
  for (size_t i = 0; i < words.size(); ++i) {
    if (absl::EqualsIgnoreCase(absl::string_view(words[i].data(), words[i].size()),
                               absl::string_view(word.data(), word.size()))) {
      return static_cast<int64_t>(i);
    }
  }
  return std::nullopt;
}

std::string_view WordAt(Attr attr, int64_t index) {
  const auto& words = Info(attr).words;
  return index >= 0 && index < static_cast<int64_t>(words.size()) ? words[index] : "?";
}

Attributes::Attributes() = default;
Attributes::Attributes(const Attributes& other) = default;
Attributes& Attributes::operator=(const Attributes& other) = default;
Attributes::Attributes(Attributes&& other) noexcept = default;
Attributes& Attributes::operator=(Attributes&& other) noexcept = default;
Attributes::~Attributes() = default;

bool Attributes::operator==(const Attributes& other) const { return entries_ == other.entries_; }

Attributes& Attributes::Set(Attr attr, absl::Span<const int64_t> value) {
  return Set(attr, AttrValue(Int64List(value.begin(), value.end())));
}
Attributes& Attributes::Set(Attr attr, std::initializer_list<int64_t> value) {
  return Set(attr, AttrValue(Int64List(value)));
}
Attributes& Attributes::Set(Attr attr, const char* value) {
  return Set(attr, AttrValue(std::string(value)));
}
Attributes& Attributes::SetInteger(Attr attr, int64_t value) { return Set(attr, AttrValue(value)); }

const AttrValue* Attributes::Find(Attr attr) const {
  for (const Entry& entry : entries_) {
    if (entry.first == attr) return &entry.second;
    if (entry.first > attr) break;
  }
  return nullptr;
}

AttrValue* Attributes::Find(Attr attr) {
  return const_cast<AttrValue*>(std::as_const(*this).Find(attr));
}

Attributes& Attributes::Set(Attr attr, AttrValue value) {
  auto at = std::find_if(entries_.begin(), entries_.end(),
                         [attr](const Entry& entry) { return entry.first >= attr; });
  if (at != entries_.end() && at->first == attr) {
    at->second = std::move(value);
  } else {
    entries_.insert(at, Entry(attr, std::move(value)));
  }
  return *this;
}

void Attributes::Remove(Attr attr) {
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [attr](const Entry& entry) { return entry.first == attr; }),
                 entries_.end());
}

bool Attributes::Flag(Attr attr, bool absent) const {
  const bool* value = As<bool>(Find(attr));
  return value == nullptr ? absent : *value;
}

const ConvDimLabels* Attributes::DimLabels() const {
  const auto* value = As<SharedValue<ConvDimLabels>>(Find(Attr::kDimLabels));
  return value == nullptr ? nullptr : &**value;
}

int64_t Attributes::Integer(Attr attr, int64_t absent) const {
  const int64_t* value = As<int64_t>(Find(attr));
  return value == nullptr ? absent : *value;
}

double Attributes::Float(Attr attr, double absent) const {
  const double* value = As<double>(Find(attr));
  return value == nullptr ? absent : *value;
}

const std::string& Attributes::String(Attr attr) const {
  static const auto* empty = new std::string();
  const std::string* value = As<std::string>(Find(attr));
  return value == nullptr ? *empty : *value;
}

absl::Span<const int64_t> Attributes::Integers(Attr attr) const {
  return AsSpan<int64_t>(Find(attr));
}
absl::Span<const SliceRange> Attributes::SliceRanges(Attr attr) const {
  return AsSpan<SliceRange>(Find(attr));
}
absl::Span<const PaddingDim> Attributes::Padding(Attr attr) const {
  return AsSpan<PaddingDim>(Find(attr));
}
absl::Span<const WindowDim> Attributes::Window(Attr attr) const {
  return AsSpan<WindowDim>(Find(attr));
}

const ReplicaGroups* Attributes::Groups(Attr attr) const {
  const auto* value = As<SharedValue<ReplicaGroups>>(Find(attr));
  return value == nullptr ? nullptr : &**value;
}
const Sharding* Attributes::GetSharding(Attr attr) const {
  const auto* value = As<SharedValue<Sharding>>(Find(attr));
  return value == nullptr ? nullptr : &**value;
}
const Shape* Attributes::GetShape(Attr attr) const {
  const auto* value = As<SharedValue<Shape>>(Find(attr));
  return value == nullptr ? nullptr : &**value;
}
const std::string* Attributes::MapValue(Attr attr, std::string_view key) const {
  const auto* map = As<StringMap>(Find(attr));
  if (map == nullptr) return nullptr;
  for (const auto& [name, value] : *map) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace assay
