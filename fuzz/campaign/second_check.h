// The second check of a suspect, in a process that has run nothing else: does it fail again, and
// what is it?
#pragma once

#include <optional>
#include <vector>

#include "fuzz/campaign/case_runner.h"
#include "fuzz/reduce/wrong_instruction.h"
#include "fuzz/triage/signature.h"

namespace assay {

class SecondCheck {
 public:
  // All of them outlive it.
  SecondCheck(CaseRunner& runner, const CaseKey& key, const FamiliarPlaces& familiar,
              WorkerState& state)
      : runner_(runner), key_(key), familiar_(familiar), state_(state) {}

  // Runs the case CheckPolicy::kRuns times more, on the backend and the inputs of the key alone,
  // and signs what fails always.
  ConfirmRecord Run();

 private:
  // Checks a backend in this process, or one elsewhere.
  void RunHere(const Case& made, ConfirmRecord& confirm);
  void RunElsewhere(const Case& made, ConfirmRecord& confirm);
  // The program with one output alone, which compiles in less time: that of the key, and where it
  // is only notable, the others. Nothing where it does not fail by itself, however it is compiled.
  std::optional<ConfirmRecord> CheckOutputs(const Case& made, const ConfirmRecord& confirm);
  std::optional<ConfirmRecord> CheckOutput(const Case& made, const CaseKey& key,
                                           ConfirmRecord confirm);
  // A suspect that does not fail alone, in one program with each that it was compiled with: a user
  // may have both in one, too.
  void CheckBesideOthers(ConfirmRecord& confirm);
  // The program that is asked about, with all outputs or with one, and its inputs.
  struct Question {
    const Case& made;
    const CaseKey& key;
    std::vector<Literal> inputs;
  };
  void Ask(const Case& made, const CaseKey& key, ConfirmRecord& confirm);
  // The runs: the outcome of the last that failed, and in `confirm` how many did.
  Outcome RunAgain(const CheckCase& check_case, const CaseKey& key, Checker& checker,
                   ConfirmRecord& confirm) const;
  // A suspect compiled as it was when it was seen first, but in a process and a module of its own.
  Outcome OutcomeAsScreened(const CheckSubject& subject, const CheckCase& check_case,
                            const CaseKey& key) const;
  // Finds what is wrong first in the program where it is compiled cheaply, of one output that is a
  // wrong value; nothing of other suspects, nor where that is only seen if it is compiled as users
  // do.
  std::optional<WrongArray> FirstWhereCheap(const CheckSubject& subject,
                                            const Question& question) const;
  // Chooses how to compile a wrong value from here on: under cheap flags, which take a third of the
  // time, where it is wrong under them, too. Forgets what was seen first if that was another way.
  CheckSubject WhereCheap(const CheckSubject& subject, const CheckCase& check_case,
                          const CaseKey& key, std::optional<WrongArray>& first) const;
  // Notes in `confirm` what of a wrong value is only notable. Returns what is wrong first.
  std::optional<WrongArray> NoteWhatIsNotable(const Checker& checker, const CheckSubject& cheap,
                                              const Question& question,
                                              std::optional<WrongArray> first,
                                              ConfirmRecord& confirm) const;
  // The signature of a program that fails always. Notable instead, where the answer that the hints
  // have is right but for the order of arithmetic.
  void Sign(const CheckSubject& subject, const Question& question, const Outcome& outcome,
            const SigningHints& hints, ConfirmRecord& confirm) const;

  CaseRunner& runner_;
  const CaseKey& key_;
  const FamiliarPlaces& familiar_;
  WorkerState& state_;
};

}  // namespace assay
