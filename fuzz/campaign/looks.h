// What the reduced program of a finding shows: the facts by which duplicates are told. Computed
// once for each finding.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "fuzz/campaign/campaign.h"

namespace assay {

using Opcodes = std::set<std::string>;

// The sign of a finding that needs another program beside it (CampaignFinding::with).
inline constexpr char kBesideAnother[] = "beside-another";

struct Looks {
  Outcome::Kind kind = Outcome::kWrong;  // as triage saw it
  Opcodes opcodes;                       // without parameters and constants
  Opcodes signs;          // kNarrowIndex, kFewBits, ...: what stands beside opcodes and says more
  std::string place;      // the op that is wrong, with what it folds by; "" where it is not known
  std::string numbers;    // of the output: "f", "c", "p", "i"; "" where it is not known
  std::string rule;       // the guilty pass, "" where none is
  std::string family;     // the pass, or those that do the same for other types
  std::string silencing;  // without a guilty pass: one without which the program is right
  std::string states;     // without a guilty pass: what each of UsualFlags does to it ("fffpf")
  std::string words;      // how a compiler died or refused, before the opcodes of its bucket
  bool is_smallest = false;  // the reducer came to its end

  bool Has(const char* sign) const { return signs.contains(sign); }
  // A wrong value or a crash of the running program, which may be one and the same.
  bool IsOfRunning() const;
  bool IsWrong() const { return kind == Outcome::kWrong; }
};
Looks LooksOf(const CampaignFinding& finding);

// The name of an op and of those that are compiled by the same code.
std::string TwinOf(const std::string& name);
Opcodes WithoutTwins(const Opcodes& opcodes);

bool Includes(const Opcodes& all, const Opcodes& some);
// Ops that only make constants or move elements.
bool IsMove(const std::string& name);
// Ops that only take complex numbers apart or make them.
bool IsPart(const std::string& name);
bool IsElementwise(const std::string& name);
// Functions that nobody computes exactly, of which programs say how accurate they shall be.
bool IsApproximate(const std::string& name);
bool IsCollective(const std::string& name);
Opcodes WithoutMoves(const Opcodes& opcodes);

// How two lists of states agree, flag by flag; 'x' agrees with everything.
bool AreSilencedAlike(const std::string& a, const std::string& b);
// The same but for the flags that say whether and how ops are fused.
bool AreSilencedAlikeUnfused(const std::string& a, const std::string& b);
// One flag silences both; or one of those that say how ops are fused does.
bool HaveACommonSilencer(const std::string& a, const std::string& b);
bool AreSilentUnfused(const std::string& a, const std::string& b);
// The flags switch off a pass at this place; the place of the one that switches off `pass`, -1 if
// none does.
bool IsPassAt(size_t place);
int64_t PlaceOfPass(const std::string& pass);

}  // namespace assay
