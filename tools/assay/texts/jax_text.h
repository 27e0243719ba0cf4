// A program written in JAX, so that its users see what a bug does to them: a script that ends with
// 1 while the bug lives and with 0 when it is gone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuzz/triage/wrong_element.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

// Nothing where jax.lax has no function for an op, or none that says what the program does. Whoever
// writes it down runs it: JAX may change a program before a compiler sees it.
std::optional<std::string> JaxText(const Module& module, const std::vector<Literal>& inputs,
                                   const WrongElement& wrong, const std::string& title,
                                   const std::string& right);

// True of a script that JaxText wrote, false of one that a person did.
bool IsJaxText(const std::string& script);

}  // namespace assay
