// Colours by the stretches of a report.
#include "tools/assay/graphs/cut_graph.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"
#include "spec/text/dot.h"

namespace assay {
namespace {

constexpr std::string_view kWrong = "#e53935", kUndecided = "#b39ddb";

struct Rgb {
  double red, green, blue;
};
constexpr std::array<Rgb, 3> kScale = {Rgb{200, 230, 201}, Rgb{255, 241, 118}, Rgb{255, 138, 61}};

// The colour of a share of the bound, 0 to 1.
std::string ColourOfShare(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kScale.size() - 1);
  const auto low = std::min<size_t>(static_cast<size_t>(at), kScale.size() - 2);
  const double part = at - static_cast<double>(low);
  auto mixed = [&](double Rgb::* channel) {
    const double value = kScale[low].*channel * (1 - part) + kScale[low + 1].*channel * part;
    return static_cast<int>(std::lround(value));
  };
  return absl::StrFormat("#%02x%02x%02x", mixed(&Rgb::red), mixed(&Rgb::green), mixed(&Rgb::blue));
}

// The sum of what the stretches to one instruction say: a body that is inlined twice has two.
struct Sum {
  int64_t elements = 0, failed = 0, undecided = 0, forced = 0, not_sampled = 0;
  double bound_used = 0;

  void Add(const nlohmann::json& stretch) {
    elements += stretch.value("elements", int64_t{0});
    failed += stretch.value("failed", int64_t{0});
    undecided += stretch.value("inconclusive", int64_t{0});
    forced += stretch.value("forced", int64_t{0});
    not_sampled += stretch.value("not_sampled", int64_t{0});
    bound_used = std::max(bound_used, stretch.value("bound_used", 0.0));
  }
  DotNote Note() const {
    DotNote note;
    note.colour = failed > 0      ? std::string(kWrong)
                  : undecided > 0 ? std::string(kUndecided)
                                  : ColourOfShare(bound_used);
    note.text = forced == elements ? StrCat(elements, " elements with one answer")
                                   : absl::StrFormat("%.0f %% of the bound", 100 * bound_used);
    if (failed > 0) StrAppend(&note.text, ", ", failed, " of ", elements, " wrong");
    if (undecided > 0) StrAppend(&note.text, ", ", undecided, " of ", elements, " undecided");
    if (not_sampled > 0) StrAppend(&note.text, ", ", not_sampled, " not sampled");
    note.is_marked = failed > 0;
    return note;
  }
};

class CutNotes {
 public:
  CutNotes(const Module& module, const nlohmann::json& cuts) : module_(module) {
    for (const Computation* computation : module.computations())
      for (const Instruction* instruction : *computation)
        by_name_.try_emplace(instruction->name(), instruction);
    int64_t output = 0;
    for (const nlohmann::json& stretch : cuts.value("stretches", nlohmann::json::array())) {
      const bool is_output = stretch.value("is_output", false);
      const Instruction* at = is_output ? OutputAt(output++) : Find(stretch.value("name", ""));
      if (at == nullptr) continue;
      sums_[at].Add(stretch);
      for (const nlohmann::json& name : stretch.value("instructions", nlohmann::json::array()))
        if (const Instruction* each = Find(name.get<std::string>())) failing_.push_back(each);
    }
  }

  DotNotes Notes() const {
    DotNotes notes;
    for (const auto& [instruction, sum] : sums_) notes.notes[instruction] = sum.Note();
    for (const Instruction* instruction : failing_) {
      DotNote& note = notes.notes[instruction];
      if (note.colour.empty()) note.colour = "white";
      note.is_marked = true;
    }
    for (double share : {0.0, 0.25, 0.5, 0.75, 1.0})
      notes.legend.emplace_back(ColourOfShare(share),
                                absl::StrFormat("%.0f %% of the bound used", 100 * share));
    notes.legend.emplace_back(kUndecided, "undecided elements");
    notes.legend.emplace_back(kWrong, "wrong; the stretch has red frames");
    notes.legend.emplace_back("white", "not captured");
    return notes;
  }

 private:
  const Instruction* Find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  const Instruction* OutputAt(int64_t output) const {
    const Instruction* root = module_.entry()->root();
    const bool is_operand = root->opcode() == Opcode::kTuple && output < root->operand_count();
    return is_operand ? root->operand(output) : root;
  }

  const Module& module_;
  absl::flat_hash_map<std::string, const Instruction*> by_name_;
  absl::flat_hash_map<const Instruction*, Sum> sums_;
  std::vector<const Instruction*> failing_;
};

}  // namespace

std::string CutGraph(const Module& module, const nlohmann::json& cuts) {
  return WriteDot(module, CutNotes(module, cuts).Notes());
}

}  // namespace assay
