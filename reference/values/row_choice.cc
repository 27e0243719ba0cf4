// Finds rows for positions by growing a matching, one position after the other.
#include "reference/values/row_choice.h"

#include <cmath>

#include "spec/base/strings.h"
#include "spec/types/float_format.h"

namespace assay::reference {
namespace {

// A matching of positions and rows. `Fit` says which rows a position may have.
template <typename Fit>
class Matching {
 public:
  Matching(size_t positions, size_t rows, Fit fit)
      : fit_(fit), row_of_(positions, kNone), position_of_(rows, kNone) {}

  // Gives the position a row that is free, or becomes free as others take another one. Breadth
  // first, so that the longest way takes no deep recursion.
  bool Place(size_t position) {
    std::vector<size_t> reached_from(position_of_.size(), kNone);
    std::vector<size_t> open = {position};
    for (size_t k = 0; k < open.size(); ++k) {
      for (size_t row = 0; row < position_of_.size(); ++row) {
        if (reached_from[row] != kNone || !fit_(open[k], row)) continue;
        reached_from[row] = open[k];
        if (position_of_[row] == kNone) {
          Exchange(row, reached_from);
          return true;
        }
        open.push_back(position_of_[row]);
      }
    }
    return false;
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  // Every position on the way to the free row takes the row that was reached from it.
  void Exchange(size_t row, const std::vector<size_t>& reached_from) {
    while (row != kNone) {
      const size_t position = reached_from[row];
      position_of_[row] = position;
      std::swap(row, row_of_[position]);
    }
  }

  Fit fit_;
  std::vector<size_t> row_of_, position_of_;
};

}  // namespace

RowChoice::Cell RowChoice::CellOf(const Array& array, int64_t at) {
  Cell cell;
  const ElementType type = array.literal.element_type();
  cell.type = type;
  cell.code = CodeOf(array.literal, at);
  if (array.facts().choices.contains(at)) return cell;
  const int64_t width = BoundsPerElement(type);
  bool exact = true;
  for (int64_t slot = at * width; slot < (at + 1) * width && !array.facts().bounds.empty(); ++slot)
    exact = exact && (array.facts().bounds[slot].flags & kForced) != 0;
  if (exact) {
    cell.kind = Cell::kExactly;
  } else if (width == 1 && Format(type).HasInfinity() &&
             (array.facts().bounds[at].flags & ~uint32_t{kZeroSignFree}) == 0) {
    const ElementBound& bound = array.facts().bounds[at];
    cell.kind = Cell::kBetween;
    cell.centre = bound.centre;
    // Room for the rounding of the comparison itself and for the trailing part of the centre.
    cell.away = bound.radius + (std::fabs(bound.centre) + bound.radius) * 0x1p-50;
  }
  return cell;
}

void RowChoice::AddRow(absl::Span<const Array* const> arrays, int64_t at, int64_t first,
                       int64_t last) {
  Row& row = rows_.emplace_back(Row{first, last, {}});
  for (const Array* array : arrays) row.cells.push_back(CellOf(*array, at));
}

bool RowChoice::Fits(const Cell& cell, JointCode code) {
  switch (cell.kind) {
    case Cell::kExactly:
      return cell.code == code;
    case Cell::kBetween: {
      const double value = DecodeFloat(Format(cell.type), code.real);
      return !std::isfinite(value) || std::fabs(value - cell.centre) <= cell.away;
    }
    case Cell::kAnything:
      return true;
  }
  return true;
}

bool RowChoice::Fits(const Row& row, int64_t position,
                     absl::Span<const JointElement> elements) const {
  if (position < row.first || position > row.last) return false;
  for (const JointElement& element : elements)
    if (!Fits(row.cells[static_cast<size_t>(element.number % columns_)], element.code))
      return false;
  return true;
}

std::string RowChoice::Violation(absl::Span<const JointElement> elements) const {
  std::vector<std::vector<JointElement>> given(static_cast<size_t>(positions_));
  for (const JointElement& element : elements)
    given[static_cast<size_t>(element.number / columns_)].push_back(element);
  auto fit = [&](size_t position, size_t row) {
    return Fits(rows_[row], static_cast<int64_t>(position), given[position]);
  };
  Matching matching(given.size(), rows_.size(), fit);
  for (size_t position = 0; position < given.size(); ++position) {
    if (given[position].empty() || matching.Place(position)) continue;
    bool fits_some = false;
    for (size_t row = 0; row < rows_.size(); ++row) fits_some = fits_some || fit(position, row);
    return fits_some ? "a row came out more often than it went in"
                     : "elements of different rows came out as one";
  }
  return "";
}

std::shared_ptr<const Joint> JointOf(std::string what, RowChoice choice) {
  auto joint = std::make_shared<Joint>();
  joint->what = std::move(what);
  auto rows = std::make_shared<const RowChoice>(std::move(choice));
  joint->joint_violation = [rows, name = joint->what](absl::Span<const JointElement> elements) {
    const std::string wrong = rows->Violation(elements);
    return wrong.empty() ? wrong : StrCat(name, ": ", wrong);
  };
  return joint;
}

}  // namespace assay::reference
