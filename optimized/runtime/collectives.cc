// Each device makes its result of a collective from the operands that its group laid out.
#include "optimized/runtime/collectives.h"

#include <cstring>

#include "optimized/runtime/compiled_call.h"
#include "spec/base/error.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

// One device's part in one execution: operands of the sources, its own place among them.
class Exchange {
 public:
  Exchange(const CollectivePlan& plan, const RunContext& context, void* const* results)
      : plan_(plan),
        position_(plan.position[context.device]),
        device_(context.device),
        rendezvous_(*context.rendezvous),
        results_(results) {
    for (int64_t source : plan.meeting.sources[context.device]) {
      sources_.push_back(&rendezvous_.OperandsOf(source, plan.place));
    }
  }

  void Run(CombineFn combine) {
    switch (plan_.kind) {
      case CollectivePlan::Kind::kRagged:
        return Ragged();
      case CollectivePlan::Kind::kTakeFromRoot:
        return TakeFromRoot();
      default:
        break;
    }
    for (size_t k = 0; k < plan_.arrays.size(); ++k) {
      switch (plan_.kind) {
        case CollectivePlan::Kind::kReduce:
          Reduce(k, combine);
          break;
        case CollectivePlan::Kind::kGather:
          Gather(k);
          break;
        case CollectivePlan::Kind::kExchange:
          ExchangeBlocks(k);
          break;
        case CollectivePlan::Kind::kExchangeOperands:
          Copy(k, Operand(k, position_));
          break;
        default:
          Copy(k, sources_.empty() ? nullptr : Operand(0, k));
      }
    }
  }

 private:
  using Array = CollectivePlan::Array;

  const uint8_t* Operand(int64_t member, int64_t k) const {
    return static_cast<const uint8_t*>((*sources_[member])[k]);
  }
  uint8_t* Result(int64_t k) const { return static_cast<uint8_t*>(results_[k]); }
  int64_t members() const { return static_cast<int64_t>(sources_.size()); }

  // A whole array; zeros where there is nothing to copy.
  void Copy(int64_t k, const uint8_t* from) {
    const auto bytes = static_cast<size_t>(plan_.arrays[k].outer * plan_.arrays[k].row);
    if (bytes == 0) return;
    if (from == nullptr) {
      std::memset(Result(k), 0, bytes);
    } else {
      std::memcpy(Result(k), from, bytes);
    }
  }

  // This device's block of the reduction of everything.
  ASSAY_CALLS_COMPILED_CODE void Reduce(int64_t k, CombineFn combine) {
    const Array& a = plan_.arrays[k];
    if (a.block == 0) return;
    for (int64_t o = 0; o < a.outer; ++o) {
      uint8_t* to = Result(k) + o * a.block;
      const int64_t at = o * a.row + (a.block == a.row ? 0 : position_ * a.block);
      std::memcpy(to, Operand(0, k) + at, static_cast<size_t>(a.block));
      for (int64_t m = 1; m < members(); ++m) {
        combine(to, Operand(m, k) + at, a.block / a.element);
      }
    }
  }

  void Gather(int64_t k) {
    const Array& a = plan_.arrays[k];
    if (a.block == 0) return;
    for (int64_t o = 0; o < a.outer; ++o) {
      for (int64_t m = 0; m < members(); ++m) {
        std::memcpy(Result(k) + o * a.row + m * a.block, Operand(m, k) + o * a.block,
                    static_cast<size_t>(a.block));
      }
    }
  }

  void ExchangeBlocks(int64_t k) {
    const Array& a = plan_.arrays[k];
    if (a.block == 0) return;
    for (int64_t o = 0; o < a.outer; ++o) {
      for (int64_t m = 0; m < members(); ++m) {
        std::memcpy(Result(k) + o * a.row + m * a.block,
                    Operand(m, k) + o * a.row + position_ * a.block, static_cast<size_t>(a.block));
      }
    }
  }

  void TakeFromRoot() {
    const auto count = static_cast<int64_t>(plan_.arrays.size());
    for (int64_t k = 0; k < count; ++k) {
      if (sources_.empty()) {
        Copy(k, nullptr);
        continue;
      }
      int32_t root = 0;
      std::memcpy(&root, Operand(position_, count) + 4 * k, sizeof root);
      for (int64_t m = 0; m < members(); ++m) {
        int32_t other = 0;
        std::memcpy(&other, Operand(m, count) + 4 * k, sizeof other);
        if (other != root) return Fail("the members of a group name different roots");
      }
      if (root < 0 || root >= members()) {
        return Fail(StrCat("root ", root, " is not in [0, ", members(), ")"));
      }
      Copy(k, Operand(root, k));
    }
  }

  // Entry `at` of list `list` (2 to 5) of a member, at most INT64_MAX.
  int64_t RaggedIndex(int64_t member, int64_t list, int64_t at) const {
    const CollectivePlan::Ragged& r = plan_.ragged;
    uint64_t bits = 0;
    std::memcpy(&bits, Operand(member, list) + at * r.index_bytes,
                static_cast<size_t>(r.index_bytes));
    const int64_t unused = 64 - 8 * r.index_bytes;
    if (r.index_signed) return static_cast<int64_t>(bits << unused) >> unused;
    return bits > INT64_MAX ? INT64_MAX : static_cast<int64_t>(bits);
  }

  void Ragged() {
    const CollectivePlan::Ragged& r = plan_.ragged;
    Copy(0, Operand(position_, 1));
    const int64_t per_member = r.entries / members();
    for (int64_t m = 0; m < members(); ++m) {
      for (int64_t e = position_ * per_member; e < (position_ + 1) * per_member; ++e) {
        const int64_t from = RaggedIndex(m, 2, e), rows = RaggedIndex(m, 3, e),
                      onto = RaggedIndex(m, 4, e);
        const auto fits = [&](int64_t start, int64_t size) {
          return start >= 0 && rows >= 0 && rows <= size && start <= size - rows;
        };
        if (!fits(from, r.input_rows) || !fits(onto, r.output_rows)) {
          return Fail(StrCat("a piece of ", rows, " rows from row ", from, " of ", r.input_rows,
                             " to row ", onto, " of ", r.output_rows, " does not fit"));
        }
        if (rows * r.row_bytes == 0) continue;
        std::memcpy(Result(0) + onto * r.row_bytes, Operand(m, 0) + from * r.row_bytes,
                    static_cast<size_t>(rows * r.row_bytes));
      }
    }
  }

  void Fail(std::string_view why) {
    rendezvous_.Fail(MakeError(
        ErrorClass::kRejected,
        StrCat(rendezvous_.backend(), ": device ", device_, ": ", plan_.meeting.name, ": ", why)));
  }

  const CollectivePlan& plan_;
  const int64_t position_, device_;
  Rendezvous& rendezvous_;
  void* const* results_;
  std::vector<const std::vector<const void*>*> sources_;
};

}  // namespace

void RunCollective(RunContext* context, int64_t number, const void* const* operands,
                   void* const* results, CombineFn combine) {
  const CollectivePlan& plan = (*context->plans)[number];
  Rendezvous& rendezvous = *context->rendezvous;
  if (!rendezvous.Arrive(context->device, plan.place, operands, plan.operand_count)) return;
  Exchange(plan, *context, results).Run(combine);
  rendezvous.Leave(context->device, plan.place);
}

void ReplicaId(const RunContext* context, uint32_t* result) {
  *result = static_cast<uint32_t>(context->replica);
}

void PartitionId(const RunContext* context, uint32_t* result) {
  *result = static_cast<uint32_t>(context->partition);
}

}  // namespace assay
