// The arguments of a sweep, in pieces of one block or many, the same in every run.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/accuracy/subjects.h"

namespace assay::accuracy {

struct SweepSize {
  // Every so manieth f32 magnitude is an argument of unary functions; 1: all are.
  int64_t stride = 4099;
  int64_t samples = int64_t{1} << 20;  // of f64, and of pairs of more than eight bits
};

// Codes of the arguments' type. Complex arguments: the real part in x[2i], the imaginary in x[2i +
// 1].
struct Block {
  std::vector<uint64_t> x, y;
  // The second half has the arguments of the first with the other sign, and both are in the order
  // of magnitudes. Where true, `step` tells whether neighbours are neighbours of the type.
  bool is_mirrored = false;
};

class Arguments {
 public:
  Arguments(const Subject& subject, const SweepSize& size);
  int64_t pieces() const { return pieces_; }
  int64_t block_size() const { return block_size_; }  // arguments of every block
  int64_t blocks() const { return blocks_; }          // of a piece
  Block At(int64_t piece, int64_t block) const;
  // True if it depends on the sizes that were asked for.
  bool is_sampled() const { return is_sampled_; }

 private:
  enum class Way : uint8_t { kCodes, kAllPairs, kFloats, kSample, kPairSample, kGrid, kGridPairs };

  Block Codes() const;
  Block AllPairs() const;
  Block Floats(int64_t piece, int64_t block) const;
  Block Samples(int64_t block) const;
  Block Grid() const;

  const Subject& subject_;
  Way way_ = Way::kCodes;
  SweepSize size_;
  int64_t pieces_ = 1, blocks_ = 1, block_size_ = 0;
  bool is_sampled_ = false;
};

}  // namespace assay::accuracy
