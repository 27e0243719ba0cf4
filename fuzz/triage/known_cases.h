// Waivers: cases of suites that somebody knows to fail. A waiver has an owner, a reason and a day
// on which it ends, and is strict: one that has ended, or whose case passes, is an alarm. So a list
// of waivers can neither hide a new failure nor outlive the bug that it is about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/triage/known.h"

namespace assay {

class KnownCases {
 public:
  KnownCases() = default;
  // Takes all entries, those of campaigns too, which excuse no case here. `today`: YYYY-MM-DD.
  KnownCases(std::vector<KnownBug> known, const std::string& backend_version,
             const std::string& today);

  // To be told of every judged case. `status` is its word in the store. Returns why a case that
  // failed does not count: "REASON (OWNER, until DAY)"; "" where nobody knows of it, or where there
  // is nothing to excuse.
  std::string Excuse(std::string_view name, std::string_view status);

  // A sentence for each waiver that has ended, and for each that met cases of which none failed.
  std::vector<std::string> Alarms() const;

 private:
  struct Waiver {
    KnownBug bug;
    size_t failed = 0, passed = 0;  // cases that it met
    std::string passed_case;        // the first of them
  };
  std::vector<Waiver> waivers_;
  std::vector<KnownBug> ended_;
};

}  // namespace assay
