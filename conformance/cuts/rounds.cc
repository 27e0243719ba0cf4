// Captures, readings, and what is made of several of them.
#include "conformance/cuts/rounds.h"

#include <algorithm>
#include <cmath>

#include "conformance/cuts/array_judgement.h"
#include "conformance/cuts/programs/capture_choice.h"
#include "conformance/cuts/programs/pieces.h"
#include "conformance/cuts/programs/work.h"
#include "spec/backend/check.h"
#include "spec/base/clock.h"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/numerics/open_elements.h"
#include "spec/numerics/sharpness.h"

namespace assay {
namespace {

// In a program of kManyProducts, of which there may be ten readings, contractions of fewer are
// sampled, too.
constexpr int64_t kCheapProductsOfMany = int64_t{1} << 21;
constexpr int64_t kMostCapturedBytes = int64_t{1} << 30;
// Trips of a loop that there is room for at first; the loop's own count says how many it made.
constexpr int64_t kFirstRoom = 64;

// True if most elements of the results are open.
bool LeavesMostOpen(const Round& round) {
  Judgement all;
  for (size_t k = 0; k < round.results.size(); ++k)
    AddTo(all, JudgeResult(round.reading.results, k, round.results[k], nullptr));
  return OpenOf(all) * 2 > all.elements;
}

bool LeavesMuchOpen(const Round& round) {
  int64_t elements = 0, open = 0;
  for (const auto& [point, judgement] : round.reading.captured) {
    elements += judgement.elements;
    open += OpenOf(judgement);
  }
  for (size_t k = 0; k < round.results.size(); ++k) {
    const Judgement judgement = JudgeResult(round.reading.results, k, round.results[k], nullptr);
    if (IsLeftOpen(judgement)) return true;
    elements += judgement.elements;
    open += OpenOf(judgement);
  }
  return static_cast<double>(open) > kFewUndecided * static_cast<double>(elements);
}

void NoteLoss(const Instruction& instruction, bool is_useless, Reading& reading) {
  reading.is_useless_now[&instruction] = is_useless;
  if (!is_useless) return;
  const bool is_first = std::none_of(
      instruction.operands().begin(), instruction.operands().end(), [&](const Instruction* each) {
        auto found = reading.is_useless_now.find(each);
        return found != reading.is_useless_now.end() && found->second;
      });
  std::vector<const Instruction*>& losses = reading.first_losses;
  if (is_first && std::find(losses.begin(), losses.end(), &instruction) == losses.end())
    losses.push_back(&instruction);
}

// The elements of the whole array that were not called right.
std::vector<int64_t> OpenElementsOf(const CaptureVisit& visit, const Judgement& judgement) {
  if (judgement.passed == judgement.elements) return {};
  std::vector<int64_t> open = OpenElements(visit.expected, *visit.seen);
  if (visit.sample != nullptr)
    for (int64_t& element : open) element = (*visit.sample)[element];
  return open;
}

Judgement JoinedOf(const Judgement& bold, const Judgement* as_seen, const Judgement* careful) {
  int64_t open = OpenOf(bold);
  if (as_seen != nullptr) open = std::min(open, OpenOf(*as_seen));
  if (careful == nullptr) return Joined(bold, std::max(open - bold.failed, int64_t{0}));
  return Joined(*careful, open);
}

// True if nothing is open of the captures that the careful reading follows. Otherwise it keeps
// the bounds of what is, so that a result made of it passes only with whatever is right there.
bool CommonOnesAreRight(const Round& round) {
  return std::none_of(round.points.begin(), round.points.end(), [&](const CapturePoint& point) {
    auto found = round.reading.captured.find(point);
    return found != round.reading.captured.end() && found->second.inconclusive > 0 &&
           IsOneForAllReaders(*point.instruction);
  });
}

}  // namespace

Rounds::Rounds(const CutSubject& subject, const FlatModule& flat)
    : subject_(subject),
      flat_(flat),
      is_big_(ProductsOf(*flat.module) > kManyProducts),
      cheap_products_(is_big_ ? kCheapProductsOfMany : kCheapProducts) {
  for (const Computation* unit : CapturableUnits(*flat.module))
    for (const Instruction* instruction : *unit)
      if (instruction->opcode() == Opcode::kWhile) room_[instruction] = kFirstRoom;
}

// Compiles and runs with the captures.
absl::Status Rounds::Capture(const std::vector<CapturePoint>& wanted, Round& round) {
  const double start = Now();
  round.points = Affordable(wanted, room_, kMostCapturedBytes);
  if (subject_.in_pieces) return CapturePieces(round);
  auto run = [&](const Module& module) -> absl::StatusOr<std::vector<Literal>> {
    ++compilations_;
    ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable,
                           subject_.backend.Compile(module, subject_.options));
    std::vector<std::vector<const Literal*>> arguments = subject_.other_arguments;
    arguments.insert(arguments.begin(), subject_.arguments);
    ASSAY_ASSIGN_OR_RETURN(RunResult result, RunGuarded(*executable, arguments));
    return std::move(result.outputs);
  };
  ASSAY_ASSIGN_OR_RETURN(CapturedResults seen, RunWithCaptures(flat_, round.points, room_, run));
  round.captures = std::move(seen.captures);
  round.results = std::move(seen.results);
  backend_seconds_ += Now() - start;
  return absl::OkStatus();
}

absl::Status Rounds::CapturePieces(Round& round) {
  if (HasDevices())
    return MakeError(ErrorClass::kUnsupported, "pieces of programs on several devices");
  const double start = Now();
  std::erase_if(round.points,
                [&](const CapturePoint& point) { return !CanEndPiece(flat_, point); });
  PieceRun pieces(flat_, subject_.arguments, subject_.backend, subject_.options);
  ASSAY_ASSIGN_OR_RETURN(round.captures, pieces.Run(round.points, round.results));
  compilations_ += pieces.compilations();
  backend_seconds_ += Now() - start;
  return absl::OkStatus();
}

// Asks the oracle about a run: once with all captures followed; if that leaves much open, again
// with what was seen and nothing else; and with those alone that all readers have in common.
absl::Status Rounds::Read(Round& round, bool may_capture_more) {
  ASSAY_RETURN_IF_ERROR(ReadOnce(round, Way::kBold, round.reading));
  // More captures help sooner than more readings, which take long.
  if (is_big_ && may_capture_more && LeavesMostOpen(round)) return absl::OkStatus();
  if (LeavesMuchOpen(round))
    ASSAY_RETURN_IF_ERROR(ReadOnce(round, Way::kAsSeen, round.as_seen.emplace()));
  const bool is_bold = std::any_of(
      round.points.begin(), round.points.end(),
      [](const CapturePoint& point) { return !IsOneForAllReaders(*point.instruction); });
  if (is_bold) ASSAY_RETURN_IF_ERROR(ReadOnce(round, Way::kCareful, round.careful.emplace()));
  return ReadWithWhatIsRight(round);
}

// One reading may call right what another leaves open. Asks once more with that known, if a result
// is open for want of it.
absl::Status Rounds::ReadWithWhatIsRight(Round& round) {
  PointSet right;
  for (const auto& [point, judgement] : round.reading.captured) {
    if (OpenOf(judgement) > 0 && OpenOf(CapturedJudgement(round, point)) == 0) right.insert(point);
  }
  bool is_open = false;
  for (size_t k = 0; k < round.results.size(); ++k)
    is_open = is_open || IsLeftOpen(ResultJudgement(round, k, round.results[k], nullptr));
  if (right.empty() || !is_open) return absl::OkStatus();
  for (assay::Capture& capture : round.captures)
    capture.is_right = right.contains({capture.instruction, capture.leaf});
  Reading again;
  ASSAY_RETURN_IF_ERROR(ReadOnce(round, Way::kBold, again));
  // A point that was right stays so.
  for (const CapturePoint& point : right) {
    auto found = again.captured.find(point);
    if (found != again.captured.end()) found->second = CapturedJudgement(round, point);
  }
  round.reading = std::move(again);
  return absl::OkStatus();
}

absl::Status Rounds::ReadOnce(Round& round, Way way, Reading& reading) {
  const bool is_careful = way == Way::kCareful;
  Captures captures;
  captures.visits_all = way == Way::kBold;
  captures.as_seen = way == Way::kAsSeen;
  captures.keeps_open = !is_careful || !CommonOnesAreRight(round);
  captures.sample =
      subject_.sample == CutSubject::kSampleBig ? CutSubject::kBigSample : subject_.sample;
  captures.cheap_products = subject_.sample == CutSubject::kSampleBig ? cheap_products_ : 0;
  captures.sample_seed = subject_.seed;
  for (assay::Capture& capture : round.captures) {
    captures.values.push_back(std::move(capture));
    captures.values.back().is_followed = !is_careful ||
                                         captures.values.back().leaf == Capture::kBranchTaken ||
                                         IsOneForAllReaders(*captures.values.back().instruction);
  }
  captures.visit = [&](const CaptureVisit& visit) { Note(visit, is_careful, reading); };
  absl::StatusOr<Expectation> results = ExpectFrom(captures);
  for (size_t k = 0; k < round.captures.size(); ++k)
    round.captures[k] = std::move(captures.values[k]);
  if (!results.ok()) return results.status();
  reading.results = *std::move(results);
  return absl::OkStatus();
}

// The expectation of the results of all devices, one device's behind the other's.
absl::StatusOr<Expectation> Rounds::ExpectFrom(const Captures& captures) {
  const Limits& limits = subject_.options.limits;
  if (!HasDevices()) {
    return subject_.oracle.ExpectFrom(*flat_.module, subject_.arguments, captures, subject_.profile,
                                      limits);
  }
  std::vector<DeviceInputs> inputs = {{subject_.arguments, {}}};
  for (const auto& arguments : subject_.other_arguments) inputs.push_back({arguments, {}});
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<DeviceExpectation> devices,
      subject_.oracle.ExpectDevicesFrom(*flat_.module, subject_.options.devices, inputs, captures,
                                        subject_.profile, limits));
  Expectation all;
  for (DeviceExpectation& device : devices) all.Append(std::move(device.result));
  return all;
}

void Rounds::Note(const CaptureVisit& visit, bool is_careful, Reading& reading) const {
  const CapturePoint point{&visit.instruction, visit.leaf};
  if (visit.seen == nullptr) {
    const Judgement own = JudgeArray(visit.expected, visit.expected.plain, nullptr);
    reading.useless[point] += own.inconclusive;
    NoteLoss(visit.instruction, own.inconclusive > 0, reading);
    return;
  }
  std::string& failure = reading.failures[point];
  Judgement judgement = JudgeArray(visit.expected, *visit.seen, &failure);
  if (is_careful) OpenBlunt(visit.expected, judgement);
  if (!is_careful) reading.blunt += CountBlunt(visit.expected);
  if (visit.sample != nullptr)
    reading.not_sampled[point] += visit.instruction.shape().ElementCount() - judgement.elements;
  reading.open.push_back(OpenElementsOf(visit, judgement));
  // A choice of the compiler that may be made either way: it is right, and followed from here.
  const bool is_choice = IsPred(visit.seen->element_type());
  if (is_choice && !is_careful) {
    judgement.passed += judgement.inconclusive;
    judgement.inconclusive = 0;
  }
  reading.useless[point] += judgement.inconclusive;
  NoteLoss(visit.instruction, judgement.inconclusive > 0, reading);
  auto [found, is_new] = reading.captured.emplace(point, Judgement());
  if (is_new) reading.order.push_back(point);
  AddTo(found->second, judgement);
  SetVerdict(found->second);
}

// Cut everywhere, what the careful reading alone calls right must lie inside a sharp bound.
void Rounds::OpenBlunt(const ArrayExpectation& expected, Judgement& judgement) const {
  if (!subject_.everywhere) return;
  const int64_t blunt = std::min(CountBlunt(expected), judgement.passed);
  judgement.passed -= blunt;
  judgement.inconclusive += blunt;
  SetVerdict(judgement);
}

Judgement Rounds::CapturedJudgement(const Round& round, const CapturePoint& point) const {
  const Judgement& bold = round.reading.captured.at(point);
  auto in = [&](const std::optional<Reading>& reading) -> const Judgement* {
    if (!reading.has_value()) return nullptr;
    auto found = reading->captured.find(point);
    return found == reading->captured.end() ? nullptr : &found->second;
  };
  return JoinedOf(bold, in(round.as_seen), in(round.careful));
}

Judgement Rounds::ResultJudgement(const Round& round, size_t leaf, const Literal& seen,
                                  std::string* failure) const {
  const Judgement bold = JudgeResult(round.reading.results, leaf, seen, failure);
  std::optional<Judgement> as_seen, careful;
  if (round.as_seen.has_value()) as_seen = JudgeResult(round.as_seen->results, leaf, seen, nullptr);
  if (round.careful.has_value()) {
    const Expectation& results = round.careful->results;
    careful = JudgeResult(results, leaf, seen, failure);
    if (leaf < results.leaves.size()) OpenBlunt(results.leaves[leaf], *careful);
  }
  Judgement judgement = JoinedOf(bold, as_seen.has_value() ? &*as_seen : nullptr,
                                 careful.has_value() ? &*careful : nullptr);
  CarryOpen(round, leaf, judgement);
  return judgement;
}

// A result that shows a captured array is read as that was seen: as much of it is open as there.
void Rounds::CarryOpen(const Round& round, size_t leaf, Judgement& judgement) const {
  const PointSet captured(round.points.begin(), round.points.end());
  const std::optional<CapturePoint> source = CapturedSource(*ResultAt(leaf), captured);
  if (!source.has_value() || !round.reading.captured.contains(*source)) return;
  const Judgement seen = CapturedJudgement(round, *source);
  if (seen.elements == 0) return;
  const double share = static_cast<double>(seen.inconclusive) / static_cast<double>(seen.elements);
  const auto open =
      static_cast<int64_t>(std::round(share * static_cast<double>(judgement.elements)));
  const int64_t more = std::clamp(open - judgement.inconclusive, int64_t{0}, judgement.passed);
  judgement.inconclusive += more;
  judgement.passed -= more;
  SetVerdict(judgement);
}

bool Rounds::IsRightBySharpBounds(const Round& round) {
  const Reading& reading = round.reading;
  const bool is_right = std::all_of(
      reading.captured.begin(), reading.captured.end(),
      [](const auto& captured) { return captured.second.passed == captured.second.elements; });
  return is_right && reading.blunt == 0 && IsSharp(reading.results);
}

// The instruction that makes a leaf of the program's results.
const Instruction* Rounds::ResultAt(size_t leaf) const {
  const Instruction* root = flat_.module->entry()->root();
  if (HasDevices()) leaf %= static_cast<size_t>(std::max<int64_t>(LeafCount(root->shape()), 1));
  const bool has_operand =
      root->opcode() == Opcode::kTuple && leaf < static_cast<size_t>(root->operand_count());
  return has_operand ? root->operand(static_cast<int64_t>(leaf)) : root;
}

// Describes what is wrong with a captured array, in the words of the reading that convicts it.
std::string FailureAt(const Round& round, const CapturePoint& point) {
  if (round.careful.has_value()) {
    const auto found = round.careful->failures.find(point);
    if (found != round.careful->failures.end() && !found->second.empty()) return found->second;
  }
  return round.reading.failures.at(point);
}

}  // namespace assay
