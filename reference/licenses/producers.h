// Finds the instructions that may make a value once a compiler has inlined, folded and moved what
// only moves elements.
#pragma once

#include <functional>
#include <vector>

#include "reference/licenses/constants.h"
#include "spec/ir/module.h"

namespace assay::reference {

// True of a contraction each of whose results is one product.
bool ContractsOneTerm(const Instruction& value);

// True of a conversion to a type that holds all numbers of the operand's: compilers that keep
// intermediates in excess precision make the wider ones at once.
bool KeepsNumbers(const Instruction& convert);

// Looks for what makes a value, through what only moves or repeats its elements, since compilers
// compute before they do that, and across the callers that they inline.
class Producers {
 public:
  using Predicate = std::function<bool(const Instruction&)>;

  explicit Producers(Constants& constants) : constants_(constants) {}

  // True if one of the instructions that may make the value has the property.
  bool Any(const Instruction& value, const Predicate& property);

  bool IsA(const Instruction& value, Opcode opcode);

  // The first of those with the opcode; null if there is none.
  const Instruction* Find(const Instruction& value, Opcode opcode);

  // True if a smaller array determines the value: one that was broadcast, or what element-wise ops
  // made of such and of constants. Compilers compute that before it is broadcast.
  bool IsWidened(const Instruction& value);

  // From now on negations are looked through: a sign may stand before a factor, or before the
  // product.
  void IgnoreSigns() { ignores_signs_ = true; }

  // The largest magnitude of the constant that the value is, of complex numbers that of a part;
  // negative if it is none. A look at all its elements is saved where one only asks if there is
  // one.
  double ConstantMagnitude(const Instruction& value);
  bool IsConstant(const Instruction& value);

 private:
  // Which element of a tuple is looked for, and of that one which; innermost first.
  using Path = std::vector<int64_t>;
  struct Search {
    const Predicate& property;
    // Looks for what made an element, through whatever moves or repeats it: compilers compute
    // before that or after it. Otherwise for what made the whole array.
    bool by_element;
  };

  bool VisitWidened(const Instruction& value);
  bool MakesWidened(const Instruction& made);
  bool Visit(const Instruction& value, const Search& search, Path path = {});
  // The operands whose elements are among those of the value.
  bool VisitMoved(const Instruction& value, const Search& search, Path path);
  // Visits the value that a carry of a scan starts from.
  bool VisitStart(const Instruction& scan, const Search& search, Path path);
  bool VisitCallers(const Instruction& parameter, const Search& search, const Path& path);

  bool ignores_signs_ = false;
  // Computations with many callers are looked at in part.
  static constexpr int kMostVisits = 64;
  Constants& constants_;
  int left_ = 0;
};

}  // namespace assay::reference
