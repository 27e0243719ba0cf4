// The folder of bug pages: one folder for each bucket, whose finding.json tells how small its
// program is and how many findings it stands for.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace assay {

struct ExistingPage {
  std::string variant;        // of its program (VariantOf); "": not known
  int64_t instructions = -1;  // of its program; -1: there is no page
  int64_t duplicates = 0;     // findings that it stands for besides
};

// Whose bug a page shows: another release, or one with another planted defect, has pages of its
// own.
struct PageOwner {
  std::string backend, version, defect;
  bool operator==(const PageOwner&) const = default;
};

// The folder in which the page of a bucket is, or would be.
std::string PageFolder(const std::string& pages, const std::string& bucket, const PageOwner& owner);

// The folder of the bucket's page for programs of the variant: a bucket has one page, and a second
// one for another index type or class of numbers.
std::string PageSlot(const std::string& pages, const std::string& bucket,
                     const std::string& variant, const PageOwner& owner);

// Hostile-safe: what cannot be read is no page.
ExistingPage ReadExistingPage(const std::string& folder);

// Errors: the page cannot be written.
absl::Status CountDuplicates(const std::string& folder, int64_t duplicates);

// True if some page is of a program with these ops (OpcodeSet), and at most so many instructions.
bool HasPageOfOps(const std::string& pages, const std::set<std::string>& ops,
                  int64_t most_instructions);

}  // namespace assay
