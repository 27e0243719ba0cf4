// Questions to properties of elements that are not unique one by one (Property in value.h), and
// joint choices, which are properties that elements have beside the sets of their own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "reference/values/value.h"

namespace assay::reference {

// True if NaN everywhere has the property, too: a factorisation that failed gives that.
bool AcceptsNan(const Property& property);

// The bits of an element; of a complex number those of both parts. All NaNs are one.
struct JointCode {
  uint64_t real = 0, imaginary = 0;
  bool operator==(const JointCode&) const = default;
};
JointCode CodeOf(const Literal& literal, int64_t i);

// An element of a joint choice by its number in it, and what came out of the program there.
struct JointElement {
  int64_t number;
  JointCode code;
};

// A choice that several elements share: which of some updates was the last, in which order the ties
// of a line stand. Each of them has its own set, which ops read as ever, and is judged by that; the
// joint choice says which combinations are right. It is a property without parts, of which
// Origin::index is the number of the element. Any of its elements may be missing from the outputs:
// less is asked then.
struct Joint : Property {
  // Tells what is wrong with these elements; empty if some choice gives all of them.
  std::function<std::string(absl::Span<const JointElement>)> joint_violation;
  // The elements are one by one the same on all devices: nothing is asked of a single device.
  bool compares_devices = false;
};

inline bool IsJoint(const Property& property) { return property.parts.empty(); }
// Makes element i of `array` element `number` of the joint choice, in place of what it was an
// element of.
void SetJoint(Array& array, int64_t i, const std::shared_ptr<const Joint>& joint, int64_t number);
// Makes element i of `array` an element of no joint choice.
void DropJoint(Array& array, int64_t i);

}  // namespace assay::reference
