// Questions to properties of elements that are not unique one by one (Property in value.h).
#pragma once

#include "reference/values/value.h"

namespace assay::reference {

// Whether NaN everywhere has the property too: a factorisation that failed gives that.
bool AcceptsNan(const Property& property);

}  // namespace assay::reference
