// Choices among rows: the elements of several arrays that a sort, a scatter or a reduction moves
// together. Where it is open which row comes to a position, all of the position holds one of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reference/values/property.h"

namespace assay::reference {

// Rows for some positions, each row for one position at most.
class RowChoice {
 public:
  RowChoice(int64_t columns, int64_t positions) : columns_(columns), positions_(positions) {}

  // Adds a row that may come to the positions from `first` to `last`; its elements are those with
  // index `at` of the arrays, one for each column.
  void AddRow(absl::Span<const Array* const> arrays, int64_t at, int64_t first, int64_t last);

  // Tells what is wrong with elements numbered position * columns + column. Empty if there are
  // rows, a different one for each position, that may come there and hold them.
  std::string Violation(absl::Span<const JointElement> elements) const;

 private:
  // The value of an element of a row, as far as it is known: one that may be any of several counts
  // as unknown.
  struct Cell {
    enum Kind : uint8_t { kExactly, kBetween, kAnything };
    Kind kind = kAnything;
    ElementType type;
    JointCode code;               // kExactly
    double centre = 0, away = 0;  // kBetween: a finite number at most so far from the centre
  };
  struct Row {
    int64_t first, last;
    std::vector<Cell> cells;
  };

  static Cell CellOf(const Array& array, int64_t at);
  static bool Fits(const Cell& cell, JointCode code);
  bool Fits(const Row& row, int64_t position, absl::Span<const JointElement> elements) const;

  int64_t columns_, positions_;
  std::vector<Row> rows_;
};

std::shared_ptr<const Joint> JointOf(std::string what, RowChoice choice);

}  // namespace assay::reference
