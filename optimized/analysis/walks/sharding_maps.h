// The dimensions of an op's operands reappear in its results, and with them the way in which an
// array is split over devices. Document: HLO passes, sharding propagation.
#pragma once

#include <cstdint>
#include <optional>

#include "spec/ir/module.h"

namespace assay {

// Dimension d of an array goes on as dimension `to[d]` of another: the parts of the one that a
// device holds make the parts of the other that it holds. -1: a device needs all along d.
struct CarriedDimensions {
  int64_t leaf = 0;  // of the result, depth-first
  DimVector to;
};
// From operand k to a result; nothing where the operand says nothing about any result.
std::optional<CarriedDimensions> CarriedFrom(const Instruction& inst, int64_t k);

// These say how a result is split whose operand is split by `sharding`, and, against the flow, how
// an operand is split by what is known of the result. Devices that hold different parts along a
// dimension that ends hold copies then. Nothing where the parts are not those of whole arrays
// (subgroups that are not replicas, meshes by name) or do not divide the size of a dimension that
// changed its size.
std::optional<Sharding> CarriedForward(const Sharding& sharding,
                                       const CarriedDimensions& dimensions, const Shape& operand,
                                       const Shape& result);
std::optional<Sharding> CarriedBackward(const Sharding& sharding,
                                        const CarriedDimensions& dimensions, const Shape& operand,
                                        const Shape& result);

// The number of different parts that the devices hold; 1 where all hold the same.
int64_t PartsOf(const Sharding& sharding);

}  // namespace assay
