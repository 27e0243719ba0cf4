// Keeps the least and the largest value of every element over all evaluations.
#include "conformance/cuts/drawn_spread.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "spec/base/clock.h"
#include "spec/base/strings.h"
#include "spec/numerics/expectation.h"
#include "spec/types/float_format.h"

namespace assay {
namespace {

// The distance from a number of a float type to the next, of integers 0.
double UnitAt(ElementType type, double value) {
  if (BoundsPerElement(type) == 0 || !std::isfinite(value)) return 0;
  const FloatFormat& format = Format(ComponentType(type));
  const double size = std::min(std::fabs(value), format.MaxFinite());
  const uint64_t code = EncodeFloat(format, size);
  const double next = DecodeFloat(format, code + 1);
  return std::isfinite(next) ? next - size : size - DecodeFloat(format, code - 1);
}

}  // namespace

DrawnSpread::DrawnSpread(const ElementLists& looked_at)
    : looked_at_(looked_at), slots_(looked_at.size()), parts_(looked_at.size(), 1) {}

void DrawnSpread::Add(size_t list, const Literal& drawn, const Literal& seen, bool is_whole) {
  const std::vector<int64_t>& elements = looked_at_[list];
  if (elements.empty() || drawn.element_count() != seen.element_count()) return;
  const int64_t parts = std::max<int64_t>(BoundsPerElement(seen.element_type()), 1);
  parts_[list] = parts;
  std::vector<Slot>& slots = slots_[list];
  slots.resize(elements.size() * static_cast<size_t>(parts));
  for (size_t k = 0; k < slots.size(); ++k) {
    const int64_t part = static_cast<int64_t>(k) % parts, element = static_cast<int64_t>(k) / parts;
    const int64_t at = (is_whole ? elements[element] : element) * parts + part;
    const bool is_number = BoundsPerElement(seen.element_type()) != 0;
    const double value = is_number ? drawn.GetComponent(at) : drawn.GetDouble(at);
    Slot& slot = slots[k];
    slot.seen = is_number ? seen.GetComponent(at) : seen.GetDouble(at);
    slot.unit = std::max(slot.unit, UnitAt(seen.element_type(), value));
    slot.was_nan = slot.was_nan || std::isnan(value);
    slot.is_met = slot.is_met || value == slot.seen;
    if (!std::isnan(value)) {
      slot.low = slot.draws == 0 ? value : std::min(slot.low, value);
      slot.high = slot.draws == 0 ? value : std::max(slot.high, value);
      ++slot.draws;
    }
  }
}

double DrawnSpread::Slot::Beyond() const {
  if (is_met || (std::isnan(seen) && was_nan)) return 0;
  if (std::isnan(seen) || draws == 0) return HUGE_VAL;
  const double spread = high - low + unit;
  if (seen >= low - spread && seen <= high + spread) return 0;
  const double away = seen > high ? seen - high : low - seen;
  return spread > 0 ? away / spread : HUGE_VAL;
}

bool DrawnSpread::IsSuspect(size_t list, size_t k) const {
  const int64_t parts = parts_[list];
  for (int64_t part = 0; part < parts; ++part)
    if (slots_[list][k * static_cast<size_t>(parts) + static_cast<size_t>(part)].Beyond() > 0)
      return true;
  return false;
}

int64_t DrawnSpread::suspect() const {
  int64_t count = 0;
  for (size_t list = 0; list < slots_.size(); ++list) {
    const size_t elements = slots_[list].size() / static_cast<size_t>(parts_[list]);
    for (size_t k = 0; k < elements; ++k) count += IsSuspect(list, k) ? 1 : 0;
  }
  return count;
}

int64_t DrawnSpread::plausible() const {
  int64_t count = -suspect();
  for (size_t list = 0; list < slots_.size(); ++list)
    count += static_cast<int64_t>(slots_[list].size()) / parts_[list];
  return count;
}

DrawnSpread::Place DrawnSpread::Furthest() const {
  Place furthest;
  double most = 0;
  for (size_t list = 0; list < slots_.size(); ++list) {
    for (size_t k = 0; k < slots_[list].size(); ++k) {
      const double beyond = slots_[list][k].Beyond();
      if (!(beyond > most)) continue;
      most = beyond;
      const auto slot = static_cast<int64_t>(k);
      furthest = {static_cast<int64_t>(list), looked_at_[list][k / parts_[list]], slot};
    }
  }
  return furthest;
}

std::string DrawnSpread::Describe() const {
  const Place at = Furthest();
  if (at.list < 0) return "";
  const Slot& slot = slots_[static_cast<size_t>(at.list)][static_cast<size_t>(at.slot)];
  return absl::StrFormat("seen %.9g, legal evaluations give %.9g to %.9g", slot.seen, slot.low,
                         slot.high);
}

DrawComparison CompareWithLegalValues(const DrawSubject& subject, const ElementLists& open) {
  const size_t arrays = open.size() - subject.results.size();
  DrawComparison comparison;
  DrawnSpread spread(open);
  Captures captures;
  captures.values = std::move(subject.captures);
  while (comparison.draws < subject.draws && Now() < subject.until) {
    size_t shown = 0;
    captures.visit = [&](const CaptureVisit& visit) {
      if (visit.seen == nullptr || shown >= arrays) return;
      spread.Add(shown++, visit.expected.plain, *visit.seen, visit.sample == nullptr);
    };
    const DrawOptions options{&open, subject.seed + static_cast<uint64_t>(comparison.draws)};
    const absl::StatusOr<Literal> drawn = subject.oracle.DrawFrom(
        subject.module, subject.arguments, captures, options, subject.limits);
    if (!drawn.ok()) break;
    const std::vector<const Literal*> leaves = Leaves(*drawn);
    for (size_t k = 0; k < std::min(leaves.size(), subject.results.size()); ++k)
      spread.Add(arrays + k, *leaves[k], subject.results[k], true);
    ++comparison.draws;
  }
  subject.captures = std::move(captures.values);
  if (comparison.draws < 2) return DrawComparison();  // one evaluation has no spread
  comparison.plausible = spread.plausible();
  comparison.suspect = spread.suspect();
  if (const int64_t list = spread.furthest_list(); list >= 0) {
    const auto first_result = static_cast<int64_t>(arrays);
    comparison.furthest = StrCat(list >= first_result ? StrCat("output ", list - first_result)
                                                      : std::string("a captured value"),
                                 ", element ", spread.furthest_element(), ": ", spread.Describe());
  }
  return comparison;
}

std::string Describe(const DrawComparison& comparison) {
  std::string text =
      StrCat("of the undecided elements ", comparison.plausible, " are plausible and ",
             comparison.suspect, " suspect beside ", comparison.draws, " random legal evaluations");
  if (!comparison.furthest.empty()) StrAppend(&text, "; the furthest out: ", comparison.furthest);
  return text;
}

}  // namespace assay
