// Tells one bug from another before anything is reduced. It is cheap enough for every failure of a
// campaign.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/backends/peer.h"
#include "fuzz/blame/pass_blame.h"
#include "fuzz/culprit.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "spec/backend/check.h"

namespace assay {

// The places at which programs go wrong, as Signature::place says it.
struct FamiliarPlaces {
  // Who was to blame for all failures of the place so far: for another one there it is taken to be
  // the same without a look at what silences it.
  std::map<std::string, Culprit> culprits;
  // Places where so much was checked with one and the same result that the next suspect which was
  // compiled cheaply is only counted.
  std::set<std::string> enough;
};

struct Signature {
  Culprit culprit;
  // SignatureText of it.
  std::string text;
  // The kind and the first instruction that is wrong when all are outputs; "" where there is none.
  std::string place;
  // The instruction of `place`, of the entry of the module that was signed; null where there is
  // none.
  const Instruction* wrong = nullptr;
  // VariantOf the program at its first wrong output.
  std::string variant;
  // Which pass made a wrong value, where snapshots were looked at.
  PassBlame blame;
};

// Facts that are known of a failure before it is signed.
struct SigningHints {
  FamiliarPlaces familiar = {};
  std::optional<WrongArray> first = std::nullopt;  // of the program
  Literal answer = Literal();  // the backend's to the program; an invalid shape: not known
};

// Signature::place of a wrong value whose first wrong instruction is `wrong`.
std::string PlaceOfWrongValue(const Instruction& wrong);

// `outcome` is how the program failed on the subject. Compiles it some ten times on a backend that
// is not in-process; an in-process one is asked for the guilty decision, in children.
Signature SignatureOf(const CheckSubject& subject, const Module& module,
                      const std::vector<Literal>& inputs, const Outcome& outcome,
                      const SigningHints& hints = {});

// A culprit for people: "wrong value: right without algsimp, at log(exponential) of floats".
std::string InWords(const Culprit& culprit);

// Asks how a program that fails as `kind` does under each of Peer::telling; all by chance where a
// wrong value becomes a crash of the run under one of them.
std::vector<FlagState> StatesUnderFlags(const CheckSubject& subject, const Module& module,
                                        const std::vector<Literal>& inputs, Outcome::Kind kind);

// The flags of Peer::cheap that this release of a backend that dumps_passes knows. Compiles a small
// program, or a few where one of the flags is unknown. Empty for other backends.
std::map<std::string, std::string> CheapFlags(Backend& backend);

// The subject with such flags, if the program fails as `kind` under them as well; else as it is.
// Compiles the program once if there are flags.
CheckSubject UnderCheapFlags(const CheckSubject& subject, const CheckCase& check_case,
                             Outcome::Kind kind, const std::map<std::string, std::string>& flags);

}  // namespace assay
