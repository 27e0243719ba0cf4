// Classes of errors, and their JSON.
#include "conformance/accuracy/errors.h"

#include <cmath>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::accuracy {
namespace {

// Special values that are told one by one.
constexpr size_t kMostSpecials = 24;

bool SameNumber(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

bool IsSpecial(double x) { return std::isnan(x) || std::isinf(x) || x == 0 || std::fabs(x) == 1; }

nlohmann::json ToJson(const Sample& sample) {
  const auto text = [](double value) { return absl::StrFormat("%a", value); };
  return {text(sample.x), text(sample.y), text(sample.got), text(sample.want)};
}

absl::Status Bad(std::string_view what) {
  return absl::InvalidArgumentError(
      StrCat("results of accuracy: ", what, " is not what this version writes; measure again"));
}

absl::StatusOr<Sample> SampleFromJson(const nlohmann::json& json) {
  if (!json.is_array() || json.size() != 4) return Bad("a sample");
  double values[4];
  for (size_t i = 0; i < 4; ++i) {
    if (!json[i].is_string()) return Bad("a sample");
    char* end = nullptr;
    const std::string text = json[i].get<std::string>();
    values[i] = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') return Bad("a sample's number");
  }
  return Sample{values[0], values[1], values[2], values[3]};
}

nlohmann::json ToJson(const Noted& noted) {
  if (noted.count == 0) return nlohmann::json::object();
  return {{"count", noted.count}, {"first", ToJson(noted.first)}};
}

absl::StatusOr<Noted> NotedFromJson(const nlohmann::json& json) {
  Noted noted;
  if (!json.is_object()) return Bad("a count");
  if (json.empty()) return noted;
  if (!json.contains("count") || !json["count"].is_number_integer() || !json.contains("first"))
    return Bad("a count");
  noted.count = json["count"].get<int64_t>();
  ASSAY_ASSIGN_OR_RETURN(noted.first, SampleFromJson(json["first"]));
  return noted;
}

struct NotedField {
  const char* name;
  Noted Errors::* field;
};
constexpr NotedField kNoted[] = {
    {"flushed_in", &Errors::flushed_in},       {"flushed_out", &Errors::flushed_out},
    {"other_class", &Errors::other_class},     {"subnormal", &Errors::subnormal},
    {"zero_sign", &Errors::zero_sign},         {"not_monotone", &Errors::not_monotone},
    {"not_symmetric", &Errors::not_symmetric},
};
struct CountField {
  const char* name;
  int64_t Errors::* field;
};
constexpr CountField kCounts[] = {{"inputs", &Errors::inputs},
                                  {"nearest", &Errors::nearest},
                                  {"asked", &Errors::asked},
                                  {"pairs", &Errors::pairs}};

}  // namespace

void Noted::Merge(const Noted& other) {
  if (count == 0) first = other.first;
  count += other.count;
}

void Errors::Count(double ulps, const Sample& sample) {
  size_t at = 0;
  while (at + 1 < kErrorClasses.size() && ulps > kErrorClasses[at]) ++at;
  ++histogram[at];
  if (ulps <= worst) return;
  worst = ulps;
  worst_at = sample;
}

void Errors::Merge(const Errors& other) {
  for (const CountField& one : kCounts) this->*one.field += other.*one.field;
  for (const NotedField& one : kNoted) (this->*one.field).Merge(other.*one.field);
  for (size_t i = 0; i < histogram.size(); ++i) histogram[i] += other.histogram[i];
  for (const Sample& sample : other.specials)
    if (specials.size() < kMostSpecials) specials.push_back(sample);
  if (other.worst <= worst) return;
  worst = other.worst;
  worst_at = other.worst_at;
}

nlohmann::json ToJson(const Errors& errors) {
  nlohmann::json json;
  for (const CountField& one : kCounts) json[one.name] = errors.*one.field;
  for (const NotedField& one : kNoted) json[one.name] = ToJson(errors.*one.field);
  json["histogram"] = errors.histogram;
  json["worst"] = absl::StrFormat("%a", errors.worst);
  json["worst_at"] = ToJson(errors.worst_at);
  json["specials"] = nlohmann::json::array();
  for (const Sample& sample : errors.specials) json["specials"].push_back(ToJson(sample));
  return json;
}

absl::StatusOr<Errors> ErrorsFromJson(const nlohmann::json& json) {
  Errors errors;
  if (!json.is_object()) return Bad("a line");
  for (const CountField& one : kCounts) {
    if (!json.contains(one.name) || !json[one.name].is_number_integer()) return Bad(one.name);
    errors.*one.field = json[one.name].get<int64_t>();
  }
  for (const NotedField& one : kNoted) {
    if (!json.contains(one.name)) return Bad(one.name);
    ASSAY_ASSIGN_OR_RETURN(errors.*one.field, NotedFromJson(json[one.name]));
  }
  const auto histogram = json.find("histogram");
  if (histogram == json.end() || !histogram->is_array() ||
      histogram->size() != errors.histogram.size())
    return Bad("the distribution");
  for (size_t i = 0; i < errors.histogram.size(); ++i) {
    if (!(*histogram)[i].is_number_integer()) return Bad("the distribution");
    errors.histogram[i] = (*histogram)[i].get<int64_t>();
  }
  if (!json.contains("worst") || !json["worst"].is_string() || !json.contains("worst_at") ||
      !json.contains("specials") || !json["specials"].is_array())
    return Bad("the worst error");
  errors.worst = std::strtod(json["worst"].get<std::string>().c_str(), nullptr);
  ASSAY_ASSIGN_OR_RETURN(errors.worst_at, SampleFromJson(json["worst_at"]));
  for (const nlohmann::json& one : json["specials"]) {
    ASSAY_ASSIGN_OR_RETURN(const Sample sample, SampleFromJson(one));
    errors.specials.push_back(sample);
  }
  return errors;
}

ErrorCounter::ErrorCounter(const TrueFunction& function, ElementType argument, ElementType result,
                           bool flushes)
    : truth_(function, result),
      units_(Format(result)),
      least_argument_(Format(argument).MinNormal()),
      flushes_(flushes) {}

void ErrorCounter::Add(double x, double y, double got) {
  ++errors_.inputs;
  TrueValue truth;
  if (!truth_.Quickly(x, y, truth)) truth = truth_.At(x, y);
  if (SameNumber(got, truth.nearest)) {
    ++errors_.nearest;
    ++errors_.histogram[0];
    return;
  }
  Judge({x, y, got, truth.nearest}, truth);
}

// Backends that take a subnormal argument for zero are right about zero.
bool ErrorCounter::IsFlushedInput(const Sample& sample) {
  const auto flushed = [this](double value) {
    return value != 0 && std::fabs(value) < least_argument_ ? std::copysign(0.0, value) : value;
  };
  const double x = flushed(sample.x), y = flushed(sample.y);
  if (x == sample.x && y == sample.y) return false;
  for (const double either : {y, sample.y}) {
    const double want = truth_.At(x, either).nearest;
    if (SameNumber(sample.got, want) || (sample.got == 0 && want == 0)) return true;
  }
  return SameNumber(sample.got, truth_.At(sample.x, y).nearest);
}

void ErrorCounter::Judge(const Sample& sample, const TrueValue& truth) {
  const double got = sample.got, want = sample.want;
  if (got == 0 && want == 0) {
    errors_.zero_sign.Note(sample);
    if (IsSpecial(sample.x) && errors_.specials.size() < kMostSpecials)
      errors_.specials.push_back(sample);
    return;
  }
  if (IsFlushedInput(sample)) return errors_.flushed_in.Note(sample);
  const auto is_subnormal = [this](double x) { return x != 0 && std::fabs(x) < least_argument_; };
  if (flushes_ && (is_subnormal(sample.x) || is_subnormal(sample.y)))
    return errors_.subnormal.Note(sample);
  if (got == 0 && std::fabs(want) < units_.min_normal()) return errors_.flushed_out.Note(sample);
  const bool is_other =
      std::isnan(got) || std::isnan(want) ||
      (std::isinf(got) && (std::isinf(want) || std::signbit(got) != std::signbit(want) ||
                           std::fabs(want) * 2 <= units_.max_finite())) ||
      (std::isinf(want) &&
       (std::isinf(truth.value.high) || std::fabs(got) * 2 <= units_.max_finite() ||
        std::signbit(got) != std::signbit(want)));
  if (is_other) {
    errors_.other_class.Note(sample);
    if (IsSpecial(sample.x) && errors_.specials.size() < kMostSpecials)
      errors_.specials.push_back(sample);
    return;
  }
  const double ulps = units_.Between(got, truth, flushes_);
  if (ulps <= 0.5 && truth_.format().type == ElementType::kF64) ++errors_.nearest;
  errors_.Count(ulps, sample);
}

void ErrorCounter::AddNeighbours(const Sample& from, const Sample& to, int direction) {
  if (direction == 0 || std::isnan(from.got) || std::isnan(to.got)) return;
  ++errors_.pairs;
  if (direction > 0 ? to.got < from.got : to.got > from.got) errors_.not_monotone.Note(to);
}

void ErrorCounter::AddMirror(const Sample& one, const Sample& other, Parity parity) {
  const FloatFormat& format = truth_.format();
  if (parity == Parity::kNone || format.special == SpecialValues::kExponent) return;
  ++errors_.pairs;
  const double want = parity == Parity::kOdd ? -one.got : one.got;
  if (want == 0 && other.got == 0 && !format.HasNegativeZero()) return;
  if (!SameNumber(other.got, want)) errors_.not_symmetric.Note({other.x, 0, other.got, want});
}

Errors ErrorCounter::Take() {
  errors_.asked = truth_.asked();
  return errors_;
}

}  // namespace assay::accuracy
