// A second opinion on a failing program: a Python script that evaluates it with numpy alone,
// written for people to read and run, and asked by triage. A finding that it refutes is a false
// alarm of ours.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/backend/check.h"

namespace assay {

enum class OpinionState : uint8_t {
  kNone,      // nobody was asked: no interpreter, or the program is too long
  kDeclined,  // the script does not know an op or a type of it
  kAgrees,    // its answer is one that the oracle allows
  kRefutes,   // it is not, and where the backend failed it lies closer to the backend's
  kDiffers,   // it is not, and it is not the backend's either
};
std::string_view Name(OpinionState state);  // "agrees"

struct SecondOpinion {
  OpinionState state = OpinionState::kNone;
  std::string text;    // for people: what it answered, or why not
  std::string script;  // "" if nobody was asked
};

inline constexpr int64_t kMostOpinionInstructions = 64;

// The script: prints one JSON object, {"outputs": [[shape, bytes as hex]]} or {"declined": why}.
std::string OpinionScript(const Module& module, const std::vector<Literal>& inputs);

// The result of a program whose floats have exponents that do not end: for each leaf its elements
// in row-major order, of complex ones both parts.
struct RealResult {
  std::vector<std::vector<long double>> exact;    // with 64 bits of significand, rounded nowhere
  std::vector<std::vector<long double>> rounded;  // to the digits of its type after every op
};

// Nothing without an interpreter, for programs that look at bits or round on purpose, and for those
// that the script does not know or that are longer than kMostOpinionInstructions.
std::optional<RealResult> AskRealResult(const std::string& python, const Module& module,
                                        const std::vector<Literal>& inputs);

// Runs the script with `python`, "" for none; `answer` is what the backend returned (an invalid
// shape: nothing) and `expectation` what the oracle allows. Programs of more than
// kMostOpinionInstructions are not asked about.
SecondOpinion AskSecondOpinion(const std::string& python, const Module& module,
                               const std::vector<Literal>& inputs, const Expectation& expectation,
                               const Literal& answer);

}  // namespace assay
