// Questions to properties of elements that are not unique one by one (reference/values/value.h).
#pragma once

#include "reference/values/value.h"

namespace assay::reference {

// Whether NaN everywhere has the property too: what is made of a factorisation that failed.
bool AcceptsNan(const Property& property);

}  // namespace assay::reference
