// Bitcasts between arrays whose layouts have tiles, as a TPU's compiler writes them.
#pragma once

#include "spec/ir/module.h"

namespace assay {

// True of arrays whose layout has tiles.
bool HasTiles(const Shape& shape);

// Takes the tiles away from bitcasts between arrays that have the same dimensions in memory but for
// those of size 1, where tiles change nothing: then layouts without tiles say what they do.
void UntileBitcasts(Module& module);

}  // namespace assay
