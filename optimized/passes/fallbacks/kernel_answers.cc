// One row per op and gate.
#include "optimized/passes/fallbacks/kernel_answers.h"

namespace assay {
namespace {

constexpr std::string_view kMeeting =
    "devices read from each other in it, which no op on one device says";
constexpr std::string_view kHost = "the host gives or takes it";

constexpr KernelAnswer kAnswers[] = {
    {Opcode::kAllGather, "native-all-gather", "all-gather-decomposer",
     "several operands, and numbers of 128 bits, for which there is no integer"},
    {Opcode::kAllReduce, "", "", kMeeting},
    {Opcode::kAllToAll, "", "", kMeeting},
    {Opcode::kCholesky, "native-cholesky", "cholesky-expander", "complex numbers"},
    {Opcode::kCollectiveBroadcast, "", "", kMeeting},
    {Opcode::kCollectivePermute, "", "", kMeeting},
    {Opcode::kConvolution, "native-grouped-convolution", "convolution-group-converter",
     "very many groups"},
    {Opcode::kConvolution, "native-volume-convolution", "convolution-4d-expander",
     "convolutions of three dimensions none of which is trivial"},
    {Opcode::kCustomCall, "", "",
     "routines of LAPACK iterate until they are sure (eigh, eig, svd, schur), or their result has "
     "a form of its own (getrf, geqrf, gehrd, sytrd)"},
    {Opcode::kFft, "native-fft", "fft-expander", "lengths with a prime factor above 1024"},
    {Opcode::kGather, "native-gather", "gather-expander", "gathers of nothing"},
    {Opcode::kInfeed, "", "", kHost},
    {Opcode::kLogistic, "native-logistic", "logistic-expander", "complex numbers"},
    {Opcode::kOutfeed, "", "", kHost},
    {Opcode::kPartitionId, "", "", "only the runtime knows the device"},
    {Opcode::kRaggedAllToAll, "", "", kMeeting},
    {Opcode::kReduceScatter, "", "", kMeeting},
    {Opcode::kReplicaId, "", "", "only the runtime knows the device"},
    {Opcode::kRngBitGenerator, "native-random-bits", "rng-bit-generator-expander",
     "the default algorithm, which is the backend's own"},
    {Opcode::kRngGetAndUpdateState, "", "", "the state lives in the runtime"},
    {Opcode::kScatter, "native-scatter", "scatter-expander",
     "combiners that call others or mix types"},
    {Opcode::kSelectAndScatter, "native-select-and-scatter", "select-and-scatter-expander",
     "windows of more than 64 elements"},
    {Opcode::kSort, "native-stable-sort", "stable-sort-expander",
     "sorts that need not be stable: the others become these"},
    {Opcode::kTopK, "native-top-k", "top-k-decomposer", "places of another type than S32"},
    {Opcode::kTriangularSolve, "native-triangular-solve", "triangular-solve-expander",
     "complex numbers"},
};

}  // namespace

absl::Span<const KernelAnswer> KernelAnswers() { return kAnswers; }

}  // namespace assay
