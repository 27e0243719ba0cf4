// Repeats the proof of docs/performance-tracking.md:
//   tracking_proof NOISE.txt SERIES                  detection and false alarms of the detector
//   tracking_proof --causes ASSAY MODULE ...         causes of planted changes of the compiler
//   tracking_proof --series STORE ASSAY [OPTION ...] MODULE ...
//                                                    series with planted changes, taken for real
//     --no-instructions  do not count them
//     --steps 5,5,10     idle loops, in percent of the time; each series has its own level before
//     --pairs 1          pairs of processes per point (2)
//     --compiler 2       passes and rules per module at most (8)
//   tracking_proof --series STORE                    the table of such a store
// NOISE.txt has a series of ratios per line. A change of the compiler is a pass left out, of those
// that changed the module; its cause is named rightly if the sentence names that pass or a rule
// that fires in it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "bench/tracking/proof/planted.h"
#include "bench/tracking/proof/proof.h"
#include "bench/tracking/side.h"
#include "bench/workload.h"
#include "reports/store.h"

namespace assay {
namespace {

// Takes the options out of the words before the modules.
bool ReadOptions(std::vector<std::string>& words, PlantedOptions& options) {
  options.count_instructions = std::erase(words, "--no-instructions") == 0;
  while (words.size() >= 2 && words[0].rfind("--", 0) == 0) {
    const std::string name = words[0], value = words[1];
    words.erase(words.begin(), words.begin() + 2);
    if (name == "--steps") {
      options.steps.clear();
      options.own_levels = true;
      std::istringstream steps(value);
      for (std::string step; std::getline(steps, step, ',');) {
        options.steps.push_back(std::atof(step.c_str()) / 100);
      }
    } else if (name == "--pairs") {
      options.pairs = std::atoll(value.c_str());
    } else if (name == "--compiler") {
      options.most_of_compiler = std::atoll(value.c_str());
    } else {
      std::fprintf(stderr, "there is no option %s\n", name.c_str());
      return false;
    }
  }
  return true;
}

// Takes series with planted changes into a store; without modules judges those that it has.
int ProveSeries(const std::string& path, const std::string& program,
                std::vector<std::string> modules) {
  const absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", std::string(store.status().message()).c_str());
    return 2;
  }
  PlantedOptions options;
  options.program = program;
  if (!ReadOptions(modules, options)) return 2;
  const auto keep = [&](const PlantedChange& change) {
    std::fprintf(stderr, "%s: %s %s\n", change.workload.c_str(), change.kind.c_str(),
                 change.name.c_str());
    return (*store)->AddPoints(change.points);
  };
  const absl::StatusOr<std::vector<PlantedChange>> taken = TakePlanted(modules, options, keep);
  if (!taken.ok()) {
    std::fprintf(stderr, "%s\n", std::string(taken.status().message()).c_str());
    return 1;
  }
  absl::StatusOr<std::vector<PointRow>> points = (*store)->Points();
  if (!points.ok()) return 1;
  const std::vector<PlantedChange> changes = PlantedIn(*std::move(points));
  std::fputs(
      PlantedTable(changes, [&](const std::string& hash) { return (*store)->Text(hash); }).c_str(),
      stdout);
  return changes.empty() ? 1 : 0;
}

int ProveCauses(const std::string& program, const std::vector<std::string>& paths) {
  int planted = 0, right = 0, without_effect = 0;
  std::printf("| workload | pass left out | named |\n| --- | --- | --- |\n");
  for (const std::string& path : paths) {
    const Side usual{"usual", program, "cpu", ""};
    const Made before = MadeBy(usual, path, 120);
    for (const auto& [pass, rules] : RulesByPass(program, path)) {
      const Side bent{"bent", program, "cpu:without=" + pass, ""};
      const Made after = MadeBy(bent, path, 120);
      if (after.count("hlo") == 0 || after == before) {
        ++without_effect;
        continue;
      }
      const ChangeCause cause = Explain(before, after);
      // The pass changed the module on its way, and the machine code came out the same.
      if (cause.is_same_code) {
        ++without_effect;
        continue;
      }
      ++planted;
      const std::string word = cause.key.substr(cause.key.find(' ') + 1);
      const bool is_right = word == pass || rules.count(word) > 0;
      right += is_right ? 1 : 0;
      std::printf("| %s | %s | %s%s |\n", NameOfWorkload(path).c_str(), pass.c_str(),
                  cause.sentence.c_str(), is_right ? "" : " (**wrong**)");
    }
  }
  std::printf("\n%d planted, %d named rightly; %d more left the program as it was\n", planted,
              right, without_effect);
  return planted > 0 ? 0 : 1;
}

int ProveSteps(const std::string& noise, int64_t series) {
  std::vector<std::vector<double>> recorded;
  std::ifstream file(noise);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::vector<double> values;
    for (double value; words >> value;) values.push_back(value);
    if (values.size() >= 5) recorded.push_back(std::move(values));
  }
  std::fputs(ProofTable(ProveDetector(recorded, series, 60, 1)).c_str(), stdout);
  return recorded.empty() ? 1 : 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 3 && words[0] == "--causes") {
    return assay::ProveCauses(words[1], {words.begin() + 2, words.end()});
  }
  if (words.size() >= 2 && words[0] == "--series") {
    const std::string program = words.size() > 2 ? words[2] : "";
    const auto rest = words.begin() + std::min<std::ptrdiff_t>(3, std::ssize(words));
    return assay::ProveSeries(words[1], program, {rest, words.end()});
  }
  if (words.size() == 2) return assay::ProveSteps(words[0], std::atoll(words[1].c_str()));
  std::fputs(
      "usage: tracking_proof NOISE.txt SERIES | --causes ASSAY MODULE ... | --series STORE [ASSAY "
      "MODULE ...]\n",
      stderr);
  return 2;
}
