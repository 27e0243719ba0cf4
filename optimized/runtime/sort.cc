// Merge sort, radix sort and selection.
#include "optimized/runtime/sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "optimized/runtime/compiled_call.h"
#include "optimized/runtime/run_context.h"

namespace assay {
namespace {

constexpr int64_t kSplitElements = 1 << 13;  // below which threads cost more than they gain

// A number of a line: a key and the place that it comes from, ordered by both.
template <typename Key>
struct Entry {
  Key key;
  uint32_t place;
  bool operator<(const Entry& other) const {
    return key != other.key ? key < other.key : place < other.place;
  }
};

int64_t FirstOf(const SortShape& shape, int64_t line) {
  return line / shape.stride * shape.stride * shape.size + line % shape.stride;
}

// part(begin, end) over lines, on all threads.
template <typename Part>
void SplitLines(RunContext* context, const SortShape& shape, const Part& part) {
  const int64_t grain = std::max<int64_t>(1, kSplitElements / std::max<int64_t>(1, shape.size));
  context->Split(shape.lines, grain, part);
}

// Least significant digit first; passes whose digit is the same everywhere are left out. Returns
// where the result is.
template <typename Key>
Entry<Key>* RadixSort(Entry<Key>* entries, Entry<Key>* other, int64_t size, int64_t& work) {
  constexpr int kDigits = sizeof(Key), kBuckets = 256;
  std::vector<int64_t> counts(static_cast<size_t>(kDigits) * kBuckets);
  for (int64_t i = 0; i < size; ++i) {
    for (int d = 0; d < kDigits; ++d) ++counts[d * kBuckets + ((entries[i].key >> (8 * d)) & 255)];
  }
  work += size;
  for (int d = 0; d < kDigits; ++d) {
    int64_t* bucket = &counts[static_cast<size_t>(d) * kBuckets];
    if (bucket[(entries[0].key >> (8 * d)) & 255] == size) continue;
    int64_t at = 0;
    for (int b = 0; b < kBuckets; ++b) at += std::exchange(bucket[b], at);
    for (int64_t i = 0; i < size; ++i) {
      other[bucket[(entries[i].key >> (8 * d)) & 255]++] = entries[i];
    }
    work += size;
    std::swap(entries, other);
  }
  return entries;
}

template <typename Key>
ASSAY_CALLS_COMPILED_CODE void SortByKey(RunContext* context, const SortShape& shape, void** table,
                                         SortKeyFn key, SortMoveFn move) {
  SplitLines(context, shape, [&](int64_t begin, int64_t end) ASSAY_CALLS_COMPILED_CODE {
    constexpr int64_t kSmall = 512;  // below which counting digits costs more than it gains
    const auto bytes = static_cast<int64_t>(sizeof(Entry<Key>));
    ScratchPool::Block block = context->scratch->Take(shape.size * (2 * bytes + 16));
    auto* entries = block.as<Entry<Key>>();
    Entry<Key>* other = entries + shape.size;
    auto* order = reinterpret_cast<int64_t*>(other + shape.size);
    auto* keys = reinterpret_cast<Key*>(order + shape.size);
    int64_t work = 0;
    for (int64_t line = begin; line < end; ++line) {
      const int64_t first = FirstOf(shape, line);
      key(table, first, keys);
      for (int64_t i = 0; i < shape.size; ++i) entries[i] = {keys[i], static_cast<uint32_t>(i)};
      const Entry<Key>* sorted = entries;
      if (shape.size <= kSmall) {
        std::sort(entries, entries + shape.size, [&](const Entry<Key>& a, const Entry<Key>& b) {
          ++work;
          return a < b;
        });
      } else {
        sorted = RadixSort(entries, other, shape.size, work);
      }
      for (int64_t i = 0; i < shape.size; ++i) order[i] = sorted[i].place;
      move(table, first, line, order);
    }
    *context->work += work;
  });
}

// The `count` least entries of a line in order. Elements that could still be among them are kept in
// a buffer of twice as many, which is thinned out when it is full.
template <typename Key>
class Selection {
 public:
  Selection(int64_t count, Entry<Key>* buffer) : count_(count), buffer_(buffer) {}

  void Add(const Key* keys, int64_t size) {
    constexpr int64_t kBlock = 64;
    for (int64_t begin = 0; begin < size; begin += kBlock) {
      const int64_t end = std::min(size, begin + kBlock);
      if (is_limited_) {
        // A later element with the key of the limit comes after it.
        Key least = keys[begin];
        for (int64_t i = begin; i < end; ++i) least = std::min(least, keys[i]);
        if (least >= limit_) continue;
      }
      for (int64_t i = begin; i < end; ++i) {
        if (is_limited_ && keys[i] >= limit_) continue;
        buffer_[held_++] = {keys[i], static_cast<uint32_t>(i)};
        if (held_ == 2 * count_) Thin();
      }
    }
    work_ += size;
  }

  const Entry<Key>* Finish() {
    std::sort(buffer_, buffer_ + held_, [this](const Entry<Key>& a, const Entry<Key>& b) {
      ++work_;
      return a < b;
    });
    return buffer_;
  }
  int64_t work() const { return work_; }

 private:
  void Thin() {
    std::nth_element(buffer_, buffer_ + count_ - 1, buffer_ + held_,
                     [this](const Entry<Key>& a, const Entry<Key>& b) {
                       ++work_;
                       return a < b;
                     });
    held_ = count_;
    limit_ = buffer_[count_ - 1].key;
    is_limited_ = true;
  }

  int64_t count_, held_ = 0, work_ = 0;
  Entry<Key>* buffer_;
  Key limit_ = 0;
  bool is_limited_ = false;
};

template <typename Key>
ASSAY_CALLS_COMPILED_CODE void SelectByKey(RunContext* context, const SortShape& shape,
                                           int64_t count, void** table, SortKeyFn key,
                                           SortMoveFn move) {
  SplitLines(context, shape, [&](int64_t begin, int64_t end) ASSAY_CALLS_COMPILED_CODE {
    const auto bytes = static_cast<int64_t>(sizeof(Entry<Key>));
    const int64_t room = 2 * count + 1;
    ScratchPool::Block block = context->scratch->Take(room * (bytes + 8) + shape.size * 8);
    auto* buffer = block.as<Entry<Key>>();
    auto* order = reinterpret_cast<int64_t*>(buffer + room + room % 2);
    auto* keys = reinterpret_cast<Key*>(order + room - 1);
    for (int64_t line = begin; line < end; ++line) {
      const int64_t first = FirstOf(shape, line);
      key(table, first, keys);
      Selection<Key> selection(count, buffer);
      selection.Add(keys, shape.size);
      const Entry<Key>* sorted = selection.Finish();
      for (int64_t i = 0; i < count; ++i) order[i] = sorted[i].place;
      move(table, first, line, order);
      *context->work += selection.work();
    }
  });
}

}  // namespace

ASSAY_CALLS_COMPILED_CODE void SortLines(RunContext* context, const SortShape* shape, void** table,
                                         SortLessFn less, SortMoveFn move) {
  const int64_t size = shape->size, stride = shape->stride;
  SplitLines(context, *shape, [&](int64_t first_line, int64_t end_line) ASSAY_CALLS_COMPILED_CODE {
    std::vector<int64_t> order(size), merged(size);
    int64_t work = 0;
    for (int64_t line = first_line; line < end_line; ++line) {
      const int64_t first = FirstOf(*shape, line);
      std::iota(order.begin(), order.end(), int64_t{0});
      for (int64_t run = 1; run < size; run *= 2) {
        for (int64_t begin = 0; begin < size; begin += 2 * run) {
          const int64_t middle = std::min(begin + run, size), end = std::min(begin + 2 * run, size);
          int64_t left = begin, right = middle;
          for (int64_t to = begin; to < end; ++to) {
            // Equal elements keep their order: the right one goes first only if it must.
            const bool take_right =
                left == middle || (right < end && less(table, first + order[right] * stride,
                                                       first + order[left] * stride) != 0);
            merged[to] = order[take_right ? right++ : left++];
          }
          work += end - begin;
        }
        order.swap(merged);
      }
      move(table, first, line, order.data());
    }
    *context->work += work;
  });
}

void SortLinesByKey(RunContext* context, const SortShape* shape, void** table, SortKeyFn key,
                    SortMoveFn move) {
  if (shape->key_bytes == 8) return SortByKey<uint64_t>(context, *shape, table, key, move);
  SortByKey<uint32_t>(context, *shape, table, key, move);
}

void SelectLinesByKey(RunContext* context, const SortShape* shape, int64_t count, void** table,
                      SortKeyFn key, SortMoveFn move) {
  // If most elements are taken, sorting all of them is cheaper than selecting.
  if (count > shape->size / 4) return SortLinesByKey(context, shape, table, key, move);
  if (shape->key_bytes == 8) return SelectByKey<uint64_t>(context, *shape, count, table, key, move);
  SelectByKey<uint32_t>(context, *shape, count, table, key, move);
}

}  // namespace assay
