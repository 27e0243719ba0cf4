// Asks many questions at once, each in a forked copy of this process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace assay {

// The answers to questions 0 to `count` - 1, asked in `jobs` children, which take turns. Ends with
// the first one that is true and has all before it answered: then nothing is known of some others.
// A question that a child dies of is answered by false. After an interrupt all may be unknown. The
// calling process must be single-threaded.
std::vector<std::optional<bool>> AskInForks(int64_t count, int jobs,
                                            const std::function<bool(int64_t)>& question);

}  // namespace assay
