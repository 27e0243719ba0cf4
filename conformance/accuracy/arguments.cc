// All codes where there are few, and samples of what is difficult where there are many.
#include "conformance/accuracy/arguments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "spec/types/float_format.h"

namespace assay::accuracy {
namespace {

constexpr int64_t kPieces = 128;                   // of all f32
constexpr int64_t kHalf = kModuleSize / 2;         // of a block of f32
constexpr int64_t kMagnitudes = int64_t{1} << 31;  // of f32

double Uniform(std::mt19937_64& random) {
  return static_cast<double>(static_cast<int64_t>(random())) * 0x1p-63;
}
double Less(std::mt19937_64& random, uint64_t most) {
  return std::ldexp(1.0, -static_cast<int>(random() % most));
}

double AnyCode(const FloatFormat& format, std::mt19937_64& random) {
  const uint64_t mask = ~uint64_t{0} >> (64 - format.bits());
  return DecodeFloat(format, random() & mask);
}

// In turn: special values, any code, all exponents of moderate size, arguments at which functions
// overflow, numbers near one, neighbours of multiples of pi / 2, and small numbers.
double Argument(const FloatFormat& format, std::mt19937_64& random, int64_t i) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special[] = {0.0,
                            -0.0,
                            1.0,
                            -1.0,
                            kInfinity,
                            -kInfinity,
                            std::numeric_limits<double>::quiet_NaN(),
                            format.MinSubnormal(),
                            -format.MinSubnormal(),
                            format.MinNormal(),
                            -format.MinNormal(),
                            format.MaxFinite(),
                            -format.MaxFinite(),
                            0.5,
                            -0.5,
                            2.0,
                            -2.0,
                            709.782712893384,
                            709.7827128933841,
                            -745.1332191019411,
                            -745.1332191019412,
                            -708.3964185322641,
                            88.7228394,
                            -103.972084};
  if (i < static_cast<int64_t>(std::size(special))) return special[i];
  const double last = std::ldexp(1.0, -format.mantissa_bits);
  switch (i % 6) {
    case 0:
      return AnyCode(format, random);
    case 1:
      return (1 + std::fabs(Uniform(random))) * Less(random, 40) * (random() % 2 == 0 ? 512 : -512);
    case 2:
      return Uniform(random) * (format.exponent_bits > 8 ? 750 : 110);
    case 3:
      return 1 + Uniform(random) * std::max(Less(random, 45), last);
    case 4: {
      const uint64_t k = random() % (uint64_t{1} << (random() % 31));
      const double near = static_cast<double>(k) * 1.5707963267948966;
      return near * (1 + static_cast<double>(random() % 9) * last) - Less(random, 60);
    }
    default:
      return Uniform(random) * 6;
  }
}

// Any codes, pairs of like size, what overflows as a power, and small whole numbers.
void Pair(const FloatFormat& format, std::mt19937_64& random, int64_t i, double& x, double& y) {
  x = Argument(format, random, i);
  y = Argument(format, random, static_cast<int64_t>(random() % 4096));
  const double most = std::log(format.MaxFinite());
  if (i % 5 == 1) y = x * Uniform(random) * 8;
  if (i % 5 == 2) {
    x = 1 + Uniform(random) * Less(random, 40);
    y = Uniform(random) * 1.05 * most / std::log(x);
  }
  if (i % 5 == 3) {
    x = Uniform(random) * 20;
    y = static_cast<double>(random() % 41) - 20;
  }
  if (i % 5 == 4) x = std::fabs(x), y = Uniform(random) * 1.05 * most / std::log(x);
}

// Magnitudes of the parts of complex numbers: powers of two over the range, the neighbourhood of
// one, multiples of pi / 4, and where exponentials overflow.
std::vector<double> GridValues(const FloatFormat& format, bool is_coarse) {
  std::vector<double> values = {0,
                                -0.0,
                                1,
                                -1,
                                0.5,
                                -0.5,
                                2,
                                0.7853981633974483,
                                1.5707963267948966,
                                -1.5707963267948966,
                                3.141592653589793,
                                30};
  const int low = std::ilogb(format.MinNormal()), high = std::ilogb(format.MaxFinite());
  const int steps = is_coarse ? 3 : 16;
  for (int i = 0; i <= steps; ++i) {
    const double size = std::ldexp(1.1, low + (high - low) * i / steps);
    values.push_back(size);
    values.push_back(-size);
  }
  if (is_coarse) return values;
  for (int i = 1; i <= format.mantissa_bits; i += 4) {
    values.push_back(1 + std::ldexp(1.0, -i));
    values.push_back(-1 + std::ldexp(1.0, -i));
  }
  for (const double value :
       {format.MinSubnormal(), format.MaxFinite(), std::log(format.MaxFinite()),
        -std::log(format.MaxFinite()), 0.1, 10.0, 100.0, 1e4, -10.0, -0.1})
    values.push_back(value);
  return values;
}

}  // namespace

Arguments::Arguments(const Subject& subject, const SweepSize& size)
    : subject_(subject), size_(size) {
  const int bits = BitWidth(subject.argument);
  if (subject.kind == SubjectKind::kComplex) {
    way_ = subject.arity == 2 ? Way::kGridPairs : Way::kGrid;
    const auto count =
        static_cast<int64_t>(GridValues(Format(subject.argument), subject.arity == 2).size());
    block_size_ = subject.arity == 2 ? count * count * count * count : count * count;
  } else if (subject.arity == 1 && bits <= 16) {
    way_ = Way::kCodes;
    block_size_ = int64_t{1} << bits;
  } else if (subject.arity == 2 && bits <= 8) {
    way_ = Way::kAllPairs;
    block_size_ = int64_t{1} << (2 * bits);
  } else if (subject.arity == 1 && bits == 32) {
    way_ = Way::kFloats;
    is_sampled_ = size.stride > 1;
    block_size_ = kModuleSize;
    pieces_ = size.stride > 16 ? 1 : kPieces;
    const int64_t magnitudes = kMagnitudes / pieces_ / size.stride;
    blocks_ = (magnitudes + kHalf - 1) / kHalf;
  } else {
    way_ = subject.arity == 1 ? Way::kSample : Way::kPairSample;
    is_sampled_ = true;
    block_size_ = kModuleSize;
    blocks_ = (size.samples + block_size_ - 1) / block_size_;
  }
  if (!subject.module.empty()) block_size_ = kModuleSize;
}

Block Arguments::At(int64_t piece, int64_t block) const {
  switch (way_) {
    case Way::kCodes:
      return Codes();
    case Way::kAllPairs:
      return AllPairs();
    case Way::kFloats:
      return Floats(piece, block);
    case Way::kSample:
    case Way::kPairSample:
      return Samples(block);
    case Way::kGrid:
    case Way::kGridPairs:
      return Grid();
  }
  return {};
}

Block Arguments::Codes() const {
  Block block;
  const int64_t codes = int64_t{1} << BitWidth(subject_.argument);
  for (int64_t i = 0; i < codes; ++i) block.x.push_back(static_cast<uint64_t>(i));
  block.is_mirrored = subject_.kind == SubjectKind::kReal &&
                      Format(subject_.argument).special != SpecialValues::kExponent;
  return block;
}

Block Arguments::AllPairs() const {
  Block block;
  const int64_t codes = int64_t{1} << BitWidth(subject_.argument);
  for (int64_t i = 0; i < codes * codes; ++i) {
    block.x.push_back(static_cast<uint64_t>(i / codes));
    block.y.push_back(static_cast<uint64_t>(i % codes));
  }
  return block;
}

// A last block that is too long runs into the next piece.
Block Arguments::Floats(int64_t piece, int64_t number) const {
  Block block;
  block.is_mirrored = true;
  const int64_t first = piece * (kMagnitudes / pieces_) + number * kHalf * size_.stride;
  for (const uint64_t sign : {uint64_t{0}, uint64_t{1} << 31})
    for (int64_t i = 0; i < kHalf; ++i)
      block.x.push_back(sign |
                        static_cast<uint64_t>(std::min(first + i * size_.stride, kMagnitudes - 1)));
  return block;
}

Block Arguments::Samples(int64_t number) const {
  Block block;
  const FloatFormat& format = Format(subject_.argument);
  std::mt19937_64 random(static_cast<uint64_t>(number));
  for (int64_t i = 0; i < block_size_; ++i) {
    const int64_t at = number * block_size_ + i;
    double x = 0, y = 0;
    if (subject_.arity == 1) {
      x = Argument(format, random, at);
    } else {
      Pair(format, random, at, x, y);
      block.y.push_back(EncodeFloat(format, y));
    }
    block.x.push_back(EncodeFloat(format, x));
  }
  return block;
}

Block Arguments::Grid() const {
  const FloatFormat& format = Format(subject_.argument);
  std::vector<uint64_t> codes;
  for (const double value : GridValues(format, subject_.arity == 2))
    codes.push_back(EncodeFloat(format, value));
  const size_t count = codes.size(), numbers = count * count;
  Block block;
  const size_t others = subject_.arity == 2 ? numbers : 1;
  for (size_t i = 0; i < numbers; ++i) {
    for (size_t j = 0; j < others; ++j) {
      block.x.push_back(codes[i / count]);
      block.x.push_back(codes[i % count]);
      if (subject_.arity == 1) continue;
      block.y.push_back(codes[j / count]);
      block.y.push_back(codes[j % count]);
    }
  }
  return block;
}

}  // namespace assay::accuracy
