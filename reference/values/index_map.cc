// Moves elements by an index map, for every element type.
#include "reference/values/index_map.h"

#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay::reference {

absl::Status MoveElements(const Literal& operand, const IndexMap& map, Literal& result) {
  auto move = [&](auto unit) {
    using Unit = decltype(unit);
    absl::Span<const Unit> in = operand.data<Unit>();
    absl::Span<Unit> out = result.data<Unit>();
    for (size_t i = 0; i < map.size(); ++i) out[i] = in[map[i]];
  };
  struct Pair {
    uint64_t low, high;
  };
  switch (StorageBytes(operand.element_type())) {
    case 1:
      move(uint8_t{});
      break;
    case 2:
      move(uint16_t{});
      break;
    case 4:
      move(uint32_t{});
      break;
    case 8:
      move(uint64_t{});
      break;
    case 16:
      move(Pair{});
      break;
    default:
      return MakeError(ErrorClass::kUnsupported, StrCat("the oracle does not move elements of ",
                                                        Name(operand.element_type())));
  }
  return absl::OkStatus();
}

}  // namespace assay::reference
