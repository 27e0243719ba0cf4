// Dependences follow from the buffers that steps read and write: who writes waits for whoever read
// or wrote before, who reads for whoever wrote.
#include "optimized/gpu/program/stream_plan.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "optimized/passes/collectives/collective_numbering.h"
#include "spec/base/strings.h"
#include "spec/types/shape.h"

namespace assay::gpu {
namespace {

struct Range {
  int table = 0;
  int64_t begin = 0, end = 0;
  bool is_write = false;
  bool Overlaps(const Range& other) const {
    return table == other.table && begin < other.end && other.begin < end;
  }
  bool Covers(const Range& other) const {
    return table == other.table && begin <= other.begin && other.end <= end;
  }
};

class StreamPlanner {
 public:
  StreamPlanner(const FramePlan& frame, const StreamOptions& options, Gates& gates)
      : frame_(frame), options_(options), gates_(gates) {}

  FrameStreams Run() {
    const auto count = static_cast<int>(frame_.steps.size());
    plan_.steps.resize(frame_.steps.size());
    stretch_.may_replay = true;
    for (int k = 0; k < count; ++k) {
      const StepPlan& step = frame_.steps[static_cast<size_t>(k)];
      if (RunsAlone(step)) {
        End(k);
        stretch_.begin = k + 1;
      } else {
        Place(k, step);
        if (options_.is_host(step)) stretch_.may_replay = false;
      }
    }
    End(count);
    return std::move(plan_);
  }

 private:
  struct Access {
    Range range;
    int step = 0;
  };

  static std::vector<Range> RangesOf(const StepPlan& step) {
    std::vector<Range> ranges;
    const auto add = [&](const Shape& shape, const std::vector<BufferSlice>& slices, bool write) {
      size_t leaf = 0;
      ForEachLeaf(shape, [&](const Shape& each, absl::Span<const int64_t>) {
        const BufferSlice slice = slices[leaf++];
        const int64_t bytes = each.IsArray() ? each.ByteSize() : 0;
        if (bytes > 0)
          ranges.push_back({slice.table_index, slice.offset, slice.offset + bytes, write});
      });
    };
    for (int64_t k = 0; k < step.instruction->operand_count(); ++k)
      add(step.instruction->operand(k)->shape(), step.buffers.operands[static_cast<size_t>(k)],
          false);
    add(step.instruction->shape(), step.buffers.results, true);
    return ranges;
  }

  bool RunsAlone(const StepPlan& step) const {
    return step.kind != StepPlan::Kind::kKernel ||
           frame_.frame->copies_before.contains(step.instruction) ||
           (options_.host_alone && options_.is_host(step));
  }

  // The steps that `ranges` depend on, latest first.
  std::vector<int> Dependences(const Instruction* at, const std::vector<Range>& ranges) const {
    std::vector<int> steps;
    for (const Range& range : ranges) {
      for (const Access& before : accesses_) {
        if (!range.is_write && !before.range.is_write) continue;
        Range seen = before.range;
        seen.end = seen.begin + gates_.Number("overlap-steps/bytes", at, seen.end - seen.begin);
        if (!range.Overlaps(seen)) continue;
        const char* claim = !range.is_write          ? "overlap-steps/reads-no-new-value"
                            : !before.range.is_write ? "overlap-steps/writes-what-nobody-reads"
                                                     : "overlap-steps/writes-what-nobody-writes";
        if (!gates_.Holds(claim, at, false)) steps.push_back(before.step);
      }
    }
    std::sort(steps.rbegin(), steps.rend());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
  }

  void Place(int number, const StepPlan& step) {
    const std::vector<Range> ranges = RangesOf(step);
    const std::vector<int> needs = Dependences(step.instruction, ranges);
    StepStream& placed = plan_.steps[static_cast<size_t>(number)];
    placed.stream = Choose(step, needs);
    const int on = placed.stream;
    std::vector<int> known(kMostStreams + 1, -1);
    if (last_[on] >= 0) known = knows_[static_cast<size_t>(last_[on])];
    if (on != 0 && last_[on] < 0) {
      placed.waits.push_back(StepStream::kFork);
      stretch_.forks = true;
    }
    for (const int need : needs) {
      const int from = plan_.steps[static_cast<size_t>(need)].stream;
      if (from == on || known[from] >= need) continue;
      placed.waits.push_back(need);
      plan_.steps[static_cast<size_t>(need)].is_awaited = true;
      const std::vector<int>& more = knows_[static_cast<size_t>(need)];
      for (size_t s = 0; s < known.size(); ++s) known[s] = std::max(known[s], more[s]);
    }
    known[on] = number;
    knows_.resize(static_cast<size_t>(number) + 1);
    knows_[static_cast<size_t>(number)] = std::move(known);
    last_[on] = number;
    for (const Range& range : ranges) Note(range, number);
  }

  int Choose(const StepPlan& step, const std::vector<int>& needs) {
    if (options_.streams <= 1) return 0;
    int wanted = 0;
    if (IsCollective(step.instruction->opcode())) {
      wanted = kMostStreams;
    } else {
      wanted = next_;
      // Behind what it depends on, where that is the last thing of its stream.
      for (const int need : needs) {
        const int from = plan_.steps[static_cast<size_t>(need)].stream;
        if (from == kMostStreams) continue;
        wanted = from;
        if (last_[from] == need) break;
      }
      if (needs.empty()) next_ = (next_ + 1) % std::min(options_.streams, kMostStreams);
    }
    if (wanted == 0) return 0;
    return gates_.Allow(DecisionKind::kTask, "overlap-steps", step.instruction) ? wanted : 0;
  }

  void Note(const Range& range, int step) {
    std::erase_if(accesses_, [&](const Access& before) {
      return range.is_write && before.step != step && range.Covers(before.range);
    });
    accesses_.push_back({range, step});
  }

  // Ends the stretch before the step: the first stream waits for all others.
  void End(int step) {
    stretch_.end = step;
    for (int stream = 1; stream <= kMostStreams; ++stream) {
      if (last_[stream] < 0) continue;
      const auto last = static_cast<size_t>(last_[stream]);
      if (gates_.Holds("overlap-steps/joined", frame_.steps[last].instruction, false)) continue;
      stretch_.joins.push_back(last_[stream]);
      plan_.steps[last].is_awaited = true;
    }
    plan_.stretches.push_back(std::move(stretch_));
    stretch_ = Stretch();
    stretch_.may_replay = true;
    last_.assign(kMostStreams + 1, -1);
    accesses_.clear();
    next_ = 0;
  }

  const FramePlan& frame_;
  const StreamOptions& options_;
  Gates& gates_;
  FrameStreams plan_;
  Stretch stretch_;
  std::vector<Access> accesses_;
  std::vector<std::vector<int>> knows_;  // by step: the last step of each stream that is before it
  std::vector<int> last_ = std::vector<int>(kMostStreams + 1, -1);  // by stream, since the fork
  int next_ = 0;
};

}  // namespace

void AddStreams(const FramePlan& frame, const FrameStreams& streams, size_t first,
                std::vector<StepText>& lines) {
  for (size_t k = 0; k < streams.steps.size(); ++k) {
    const StepStream& place = streams.steps[k];
    std::string& text = lines[first + k].plan;
    if (place.stream == kMostStreams) {
      StrAppend(&text, "; on the stream of collectives");
    } else if (place.stream != 0) {
      StrAppend(&text, "; on stream ", place.stream);
    }
    bool is_first = true;
    for (const int step : place.waits) {
      if (step == StepStream::kFork) continue;
      StrAppend(&text, is_first ? "; waits for " : ", ",
                frame.steps[static_cast<size_t>(step)].instruction->name());
      is_first = false;
    }
  }
}

FrameStreams PlanStreams(const FramePlan& frame, const StreamOptions& options, Gates& gates) {
  return StreamPlanner(frame, options, gates).Run();
}

}  // namespace assay::gpu
