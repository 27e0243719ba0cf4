// Tells one bug from another before anything is reduced. It is cheap enough for every failure of a
// campaign.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/blame/pass_blame.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "spec/backend/check.h"

namespace assay {

// Where programs go wrong, as Signature::place says it.
struct FamiliarPlaces {
  // The signature that all failures of the place had so far: another one there is taken for the
  // same without a look at what silences it.
  std::map<std::string, std::string> signatures;
  // Places where so much was checked with one and the same result that the next suspect which was
  // compiled cheaply is only counted.
  std::set<std::string> enough;
};

struct Signature {
  // Equal for failures that are probably the same bug: the kind and, of a crash, what it left
  // behind; of other failures the guilty decision, or the pass after which the module is wrong, or
  // where no snapshot is wrong, which flags silence it; and the first instruction that is wrong
  // when all are outputs (else what the pass changed, or what gives the wrong output).
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

// What is known of a failure before it is signed.
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

// The text of a signature for people: "wrong value: right without algsimp, at log(exponential) of
// floats".
std::string SignatureInWords(const std::string& text);

// Tells what each of UsualFlags does to a program that fails as `kind`: 'p' it passes, 'f' it fails
// as before, 'x' anything else; all 'c' where a wrong value becomes a crash of the run under one of
// them.
std::string StatesUnderFlags(const CheckSubject& subject, const Module& module,
                             const std::vector<Literal>& inputs, Outcome::Kind kind);

// Flags under which a backend that dumps_passes compiles in a fifth of the time, and in which most
// of its bugs show all the same: those that this release of it knows. Compiles a small program, or
// a few where one of the flags is unknown. Empty for other backends.
std::map<std::string, std::string> CheapFlags(Backend& backend);

// The subject with such flags, if the program fails as `kind` under them as well; else as it is.
// Compiles the program once if there are flags.
CheckSubject UnderCheapFlags(const CheckSubject& subject, const CheckCase& check_case,
                             Outcome::Kind kind, const std::map<std::string, std::string>& flags);

// The flags of a backend that dumps_passes under one of which the failure of `kind` is gone, the
// most telling first; "" when there is none.
struct SilencingFlag {
  std::string name, value;

  // Besides what is set there already.
  void AddTo(std::map<std::string, std::string>& flags) const;
};
std::vector<SilencingFlag> UsualFlags();

}  // namespace assay
