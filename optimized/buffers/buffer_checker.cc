// A memory of names, and a walk through the frames that reads and writes it.
#include "optimized/buffers/buffer_checker.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "optimized/analysis/tasks/task_split.h"
#include "optimized/buffers/frame_planner.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using BufferId = BufferAssignment::BufferId;
using Frame = BufferAssignment::Frame;
using Name = int64_t;  // of a value; -1: it has no memory

// Which value lies where, by entry of the table.
class NamedMemory {
 public:
  struct Piece {
    int64_t end;
    Name name;
  };

  void Write(BufferSlice at, int64_t bytes, Name name) {
    std::map<int64_t, Piece>& pieces = tables_[at.table_index];
    const int64_t begin = at.offset, end = at.offset + bytes;
    auto piece = pieces.lower_bound(begin);
    if (piece != pieces.begin() && std::prev(piece)->second.end > begin) --piece;
    while (piece != pieces.end() && piece->first < end) {
      const auto [old_begin, old] = *piece;
      piece = pieces.erase(piece);
      // The rest of it is no whole value any more.
      if (old_begin < begin) pieces[old_begin] = {begin, kTorn};
      if (old.end > end) piece = pieces.emplace(end, Piece{old.end, kTorn}).first;
    }
    pieces[begin] = {end, name};
  }
  // The value that lies exactly there; kTorn: none does.
  Name Read(BufferSlice at, int64_t bytes) const {
    const auto table = tables_.find(at.table_index);
    if (table == tables_.end()) return kTorn;
    const auto piece = table->second.find(at.offset);
    const bool is_whole = piece != table->second.end() && piece->second.end == at.offset + bytes;
    return is_whole ? piece->second.name : kTorn;
  }

  static constexpr Name kTorn = -2;

 private:
  absl::flat_hash_map<int, std::map<int64_t, Piece>> tables_;
};

bool Overlap(BufferSlice a, int64_t bytes_of_a, BufferSlice b, int64_t bytes_of_b) {
  return a.table_index == b.table_index && a.offset < b.offset + bytes_of_b &&
         b.offset < a.offset + bytes_of_a;
}

class Checker {
 public:
  Checker(const BufferAssignment& buffers, const Module& module) : all_(buffers), module_(module) {}

  absl::Status Run() {
    const Frame& entry = all_.entry();
    std::vector<std::vector<Name>> parameters;
    for (size_t p = 0; p < entry.parameters.size(); ++p) {
      const Instruction* parameter = module_.entry()->parameter(static_cast<int64_t>(p));
      parameters.push_back(MakeValues(*parameter, entry.parameters[p]));
    }
    return RunFrame(entry, parameters).status();
  }

 private:
  using Values = absl::flat_hash_map<const Instruction*, std::vector<Name>>;
  struct Write {
    BufferSlice at;
    int64_t bytes;
  };

  static std::vector<int64_t> BytesOf(const Shape& shape) {
    std::vector<int64_t> bytes;
    for (const Shape& leaf : LeavesOf(shape)) {
      bytes.push_back(leaf.IsArray() ? leaf.ByteSize() : 0);
    }
    return bytes;
  }
  void Put(BufferSlice at, int64_t bytes, Name name) {
    if (bytes == 0) return;
    memory_.Write(at, bytes, name);
    writes_.push_back({at, bytes});
  }
  // New values in the places of an instruction's leaves.
  std::vector<Name> MakeValues(const Instruction& made, const std::vector<BufferId>& places) {
    std::vector<Name> names;
    const std::vector<int64_t> bytes = BytesOf(made.shape());
    for (size_t k = 0; k < places.size(); ++k) {
      names.push_back(places[k] < 0 ? -1 : static_cast<Name>(makers_.size()));
      if (places[k] < 0) continue;
      makers_.push_back(&made);
      Put(all_.SliceOf(places[k]), bytes[k], names.back());
    }
    return names;
  }
  std::string Text(Name name) const {
    return name < 0 ? "parts of several values" : makers_[static_cast<size_t>(name)]->name();
  }
  absl::Status Expect(const Instruction& reader, const Instruction& read, Name name, BufferId place,
                      int64_t bytes) const {
    if (name < 0 || bytes == 0) return absl::OkStatus();
    const Name found = memory_.Read(all_.SliceOf(place), bytes);
    if (found == name) return absl::OkStatus();
    return absl::InternalError(StrCat("buffers: ", reader.name(), " reads ", read.name(),
                                      " where by then ", Text(found), " lies instead of ",
                                      Text(name)));
  }
  absl::Status ExpectAll(const Instruction& reader, const Instruction& read,
                         const std::vector<Name>& names,
                         const std::vector<BufferId>& places) const {
    const std::vector<int64_t> bytes = BytesOf(read.shape());
    for (size_t k = 0; k < places.size() && k < names.size(); ++k) {
      ASSAY_RETURN_IF_ERROR(Expect(reader, read, names[k], places[k], bytes[k]));
    }
    return absl::OkStatus();
  }

  absl::Status RunCopies(const std::vector<BufferAssignment::Copy>& copies, const Instruction& at) {
    for (const BufferAssignment::Copy& copy : copies) {
      if (copy.bytes == 0) continue;
      const Name name = memory_.Read(all_.SliceOf(copy.from), copy.bytes);
      if (name == NamedMemory::kTorn) {
        return absl::InternalError(
            StrCat("buffers: a copy at ", at.name(), " reads parts of several values"));
      }
      Put(all_.SliceOf(copy.to), copy.bytes, name);
    }
    return absl::OkStatus();
  }

  // Returns the values of the root, which lie where the frame says by then. `parameters`: the
  // values that its parameters find in their places.
  absl::StatusOr<std::vector<Name>> RunFrame(const Frame& frame,
                                             const std::vector<std::vector<Name>>& parameters) {
    Values values;
    const Computation& computation = *frame.computation;
    for (const Instruction* parameter : computation.parameters()) {
      values[parameter] = parameters[static_cast<size_t>(parameter->parameter_number())];
    }
    for (const BufferAssignment::Step& step : frame.steps) {
      const Instruction& inst = *step.instruction;
      if (const auto at = frame.copies_before.find(&inst); at != frame.copies_before.end()) {
        ASSAY_RETURN_IF_ERROR(RunCopies(at->second, inst));
      }
      ASSAY_ASSIGN_OR_RETURN(values[&inst], RunStep(frame, step, values));
      if (const auto at = frame.copies_after.find(&inst); at != frame.copies_after.end()) {
        ASSAY_RETURN_IF_ERROR(RunCopies(at->second, inst));
      }
    }
    const Instruction& root = *computation.root();
    ASSAY_RETURN_IF_ERROR(RunCopies(frame.final_copies, root));
    ASSAY_RETURN_IF_ERROR(ExpectAll(root, root, values[&root], frame.results));
    return values[&root];
  }

  absl::StatusOr<std::vector<Name>> RunStep(const Frame& frame, const BufferAssignment::Step& step,
                                            Values& values) {
    const Instruction& inst = *step.instruction;
    const std::vector<BufferId>& places = frame.buffers.at(&inst);
    if (inst.opcode() == Opcode::kConstant) return MakeValues(inst, places);
    if (step.alias) return Renamed(inst, places.size(), values);
    for (const Instruction* operand : inst.operands()) {
      ASSAY_RETURN_IF_ERROR(ExpectAll(inst, *operand, values[operand], frame.buffers.at(operand)));
    }
    const auto callees = frame.callees.find(&inst);
    if (inst.opcode() == Opcode::kWhile) {
      ASSAY_RETURN_IF_ERROR(ExpectAll(inst, inst, values[inst.operand(0)], places));
      // In each trip the state is another one.
      const std::vector<Name> state = MakeValues(inst, places);
      ASSAY_RETURN_IF_ERROR(RunFrame(*callees->second[0], {state}).status());
      ASSAY_RETURN_IF_ERROR(RunFrame(*callees->second[1], {state}).status());
    } else if (callees != frame.callees.end()) {
      ASSAY_RETURN_IF_ERROR(RunBranches(inst, callees->second, values));
    } else {
      ASSAY_RETURN_IF_ERROR(CheckKernel(frame, step));
    }
    return MakeValues(inst, places);
  }

  // Gives an instruction that only renames the values of its operands.
  static std::vector<Name> Renamed(const Instruction& inst, size_t leaves, Values& values) {
    std::vector<Name> names;
    if (inst.opcode() == Opcode::kTuple) {
      for (const Instruction* operand : inst.operands()) {
        const std::vector<Name>& more = values[operand];
        names.insert(names.end(), more.begin(), more.end());
      }
    } else if (inst.opcode() == Opcode::kGetTupleElement) {
      size_t first = 0;
      for (int64_t k = 0; k < inst.tuple_index(); ++k) {
        first += static_cast<size_t>(LeafCount(inst.operand(0)->shape().elements()[k]));
      }
      const std::vector<Name>& all = values[inst.operand(0)];
      names.assign(all.begin() + first, all.begin() + first + leaves);
    } else if (inst.operand_count() > 0 && values[inst.operand(0)].size() == leaves) {
      names = values[inst.operand(0)];
    }
    names.resize(leaves, -1);
    return names;
  }

  // Each begins with the memory as it is; afterwards nobody knows what those wrote that did not
  // give the result.
  absl::Status RunBranches(const Instruction& inst, const std::vector<const Frame*>& frames,
                           Values& values) {
    const NamedMemory before = memory_;
    std::vector<Write> outside;
    outside.swap(writes_);
    for (size_t k = 0; k < frames.size(); ++k) {
      std::vector<std::vector<Name>> parameters;
      if (inst.opcode() == Opcode::kCall) {
        for (const Instruction* operand : inst.operands()) parameters.push_back(values[operand]);
      } else if (inst.operand_count() > static_cast<int64_t>(k) + 1) {
        parameters.push_back(values[inst.operand(static_cast<int64_t>(k) + 1)]);
      }
      memory_ = before;
      ASSAY_RETURN_IF_ERROR(RunFrame(*frames[k], parameters).status());
    }
    memory_ = before;
    for (const Write& write : writes_) memory_.Write(write.at, write.bytes, NamedMemory::kTorn);
    writes_.insert(writes_.end(), outside.begin(), outside.end());
    return absl::OkStatus();
  }

  // The caller's arguments are read, and so are constants.
  bool IsForReading(BufferSlice at) const {
    if (at.table_index == BufferTable::kConstants) return true;
    if (at.table_index < BufferTable::kFirstParameter || at.table_index >= all_.first_result()) {
      return false;
    }
    for (int k = 0; k < all_.result_leaves(); ++k) {
      if (all_.ResultEntry(k) == at.table_index) return false;
    }
    return true;
  }

  // A kernel writes apart from what it reads, unless it goes element for element or
  // updates the array in place; and apart from what else it writes.
  absl::Status CheckKernel(const Frame& frame, const BufferAssignment::Step& step) const {
    const Instruction& inst = *step.instruction;
    const Instruction* outlined = OutlinedKernel(inst);
    const bool by_element = IsElementForElement(outlined == nullptr ? inst : *outlined);
    const std::vector<BufferId>& places = frame.buffers.at(&inst);
    const std::vector<int64_t> bytes = BytesOf(inst.shape());
    const auto wrong = [&](const std::string& why) {
      return absl::InternalError(StrCat("buffers: ", inst.name(), " writes ", why));
    };
    for (size_t r = 0; r < places.size(); ++r) {
      if (places[r] < 0 || bytes[r] == 0) continue;
      const BufferSlice result = all_.SliceOf(places[r]);
      if (IsForReading(result)) return wrong("where the caller or the program only reads");
      for (size_t other = 0; other < r; ++other) {
        if (places[other] >= 0 &&
            Overlap(result, bytes[r], all_.SliceOf(places[other]), bytes[other])) {
          return wrong("two results into one memory");
        }
      }
      for (int64_t k = 0; k < inst.operand_count(); ++k) {
        const Instruction& operand = *inst.operand(k);
        const std::vector<int64_t> read = BytesOf(operand.shape());
        const std::vector<BufferId>& at = frame.buffers.at(&operand);
        for (size_t o = 0; o < at.size(); ++o) {
          if (at[o] < 0 || !Overlap(result, bytes[r], all_.SliceOf(at[o]), read[o])) continue;
          const bool is_same = result == all_.SliceOf(at[o]) && bytes[r] == read[o];
          const bool is_planned = step.update_in_place ? k == 0 : by_element;
          if (!is_same || !is_planned) return wrong(StrCat("over ", operand.name()));
        }
      }
    }
    return absl::OkStatus();
  }

  const BufferAssignment& all_;
  const Module& module_;
  NamedMemory memory_;
  std::vector<Write> writes_;               // since the last branch began
  std::vector<const Instruction*> makers_;  // by name
};

}  // namespace

bool MustCheckBuffers(const PipelineOptions& options) {
#ifdef __OPTIMIZE__
  constexpr bool kIsDebugBuild = false;
#else
  constexpr bool kIsDebugBuild = true;
#endif
  return kIsDebugBuild || options.verify_each;
}

absl::Status CheckBuffers(const BufferAssignment& buffers, const Module& module) {
  return Checker(buffers, module).Run();
}

}  // namespace assay
