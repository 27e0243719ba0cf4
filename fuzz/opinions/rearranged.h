// Wrong values that come of doing the same arithmetic in another order, which compilers of floats
// take for granted and no list of licences can name in all its forms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/blame/pass_blame.h"
#include "fuzz/reduce/reducer.h"
#include "spec/backend/check.h"

namespace assay {

// The name of such a wrong value where it is notable.
inline constexpr char kRearranged[] = "another order of the arithmetic";

struct GuiltyPass {
  const PassBlame& blame;
  const Instruction* wrong = nullptr;  // the first that is, of the program's entry; null: unknown
};

// True if what is wrong is made by arithmetic of floats, and one of two explains it. No pass is
// guilty, and `answer` is not wrong for the program in which reductions have what is added to them
// among their terms. Or the guilty pass does arithmetic as on real numbers
// (Peer::passes_of_real_arithmetic; or none is guilty, and the program adds to a product of
// matrices, where the sum may begin) and every wrong element of `answer` is as near to what the
// program gives in real numbers as other roundings bring it (spec/numerics/notable_limits.h). An
// element that is infinite or NaN where the program's is not (or the other way round) is never
// near, nor is a number where the program's own was too small for its type. An answer that is
// further away, but right for what the pass made of the program, is near if that is: flushing
// explains it. False where `python`, which is asked for the real numbers, does not know them.
bool IsRearrangedBy(const GuiltyPass& guilty, const CheckSubject& subject, const Module& module,
                    const std::vector<Literal>& inputs, const Literal& answer,
                    const std::string& python);

// Compiles the program, in this process, to see how it is wrong and which pass is guilty.
bool IsRearranged(const CheckSubject& subject, const ReduceCase& program,
                  const std::string& python);

}  // namespace assay
