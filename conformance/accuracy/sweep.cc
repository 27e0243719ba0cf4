// A queue of pieces, and what is done with each.
#include "conformance/accuracy/sweep.h"

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>

#include "nlohmann/json.hpp"
#include "spec/base/clock.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"

namespace assay::accuracy {
namespace {

struct Piece {
  const Subject* subject;
  const Arguments* arguments;
  int64_t number;
};

// Values of codes; looked up where there are few.
class Values {
 public:
  explicit Values(ElementType type) : format_(nullptr) {
    if (!IsFloat(type) && !IsComplex(type)) return;
    format_ = &Format(type);
    if (format_->bits() > 16) return;
    for (uint64_t code = 0; code < uint64_t{1} << format_->bits(); ++code)
      values_.push_back(DecodeFloat(*format_, code));
  }
  double Of(uint64_t code) const {
    if (format_ == nullptr) return static_cast<double>(code);
    if (!values_.empty()) return values_[code];
    return format_->bits() == 32
               ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(code)))
               : std::bit_cast<double>(code);
  }

 private:
  const FloatFormat* format_;
  std::vector<double> values_;
};

void Store(const std::vector<uint64_t>& codes, Literal& literal) {
  const absl::Span<uint8_t> bytes = literal.bytes();
  const size_t width = bytes.size() / codes.size();
  for (size_t i = 0; i < codes.size(); ++i) std::memcpy(&bytes[i * width], &codes[i], width);
}

std::vector<uint64_t> Load(const Literal& literal) {
  const auto count = static_cast<size_t>(literal.component_count());
  std::vector<uint64_t> codes(count, 0);
  const absl::Span<const uint8_t> bytes = literal.bytes();
  const size_t width = bytes.size() / count;
  for (size_t i = 0; i < count; ++i) std::memcpy(&codes[i], &bytes[i * width], width);
  return codes;
}

// A subject compiled for blocks of its arguments.
class Code {
 public:
  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  // A backend in another process is told, which no other call may cross.
  ~Code() {
    std::unique_lock<std::mutex> hold;
    if (lock_ != nullptr) hold = std::unique_lock(*lock_);
    executable_ = nullptr;
  }
  static absl::StatusOr<std::unique_ptr<Code>> Make(const Subject& subject, int64_t size,
                                                    Backend& backend, std::mutex* lock,
                                                    const Limits& limits) {
    auto code = std::make_unique<Code>();
    ASSAY_ASSIGN_OR_RETURN(code->module_, ReadModule(subject.Text(size)));
    code->lock_ = lock;
    for (const Instruction* parameter : code->module_->entry()->parameters())
      code->inputs_.emplace_back(parameter->shape());
    CompileOptions options;
    options.limits = limits;
    std::unique_lock<std::mutex> hold;
    if (lock != nullptr) hold = std::unique_lock(*lock);
    ASSAY_ASSIGN_OR_RETURN(code->executable_, backend.Compile(*code->module_, options));
    return code;
  }

  // Codes of the results. A block that is shorter than the arrays is followed by its last argument.
  absl::StatusOr<std::vector<uint64_t>> Run(const Block& block) {
    std::vector<const Literal*> arguments;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<uint64_t>& codes = i == 0 ? block.x : block.y;
      const auto full = static_cast<size_t>(inputs_[i].component_count());
      if (codes.size() == full) {
        Store(codes, inputs_[i]);
      } else {
        std::vector<uint64_t> longer = codes;
        longer.resize(full, codes.back());
        Store(longer, inputs_[i]);
      }
      arguments.push_back(&inputs_[i]);
    }
    std::unique_lock<std::mutex> hold;
    if (lock_ != nullptr) hold = std::unique_lock(*lock_);
    ASSAY_ASSIGN_OR_RETURN(const RunResult run, executable_->Run({arguments}));
    return Load(run.outputs[0]);
  }

 private:
  std::unique_ptr<Module> module_;
  std::unique_ptr<Executable> executable_;
  std::vector<Literal> inputs_;
  std::mutex* lock_ = nullptr;  // of a backend that one thread at a time may use
};

// Neighbours and mirror images within a block of a real function.
void CountShape(const Subject& subject, const std::vector<Sample>& samples, ErrorCounter& counter) {
  const TrueFunction& function = *subject.function;
  const size_t half = samples.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    const Sample &positive = samples[i], &negative = samples[half + i];
    if (std::isnan(positive.x)) continue;
    counter.AddMirror(positive, negative, function.parity);
    if (i == 0) continue;
    counter.AddNeighbours(samples[i - 1], positive, function.on_positive);
    counter.AddNeighbours(negative, samples[half + i - 1], function.on_negative);
  }
}

class Worker {
 public:
  Worker(Backend& backend, Backend* oracle, std::mutex* lock, const SweepOptions& options,
         const std::map<ElementType, bool>& flushes)
      : backend_(backend), oracle_(oracle), lock_(lock), options_(options), flushes_(flushes) {}

  PieceResult Do(const Piece& piece) {
    const Subject& subject = *piece.subject;
    PieceResult result = Describe(piece);
    const double start = Now();
    absl::Status status = Prepare(piece);
    if (status.ok()) {
      if (subject.kind == SubjectKind::kReal) status = DoReal(piece, result);
      if (subject.kind == SubjectKind::kComplex) status = DoComplex(piece, result);
      if (subject.kind == SubjectKind::kBits) status = DoBits(piece, result);
    }
    if (!status.ok()) {
      const std::string words(status.message());
      result.refusal = words.substr(0, words.find('\n'));
      if (result.refusal.empty()) result.refusal = "an error without words";
    }
    result.seconds = Now() - start;
    return result;
  }

  PieceResult Describe(const Piece& piece) const {
    const Subject& subject = *piece.subject;
    PieceResult result;
    result.backend = backend_.Describe().name;
    result.version = backend_.Describe().version;
    result.kind = subject.kind;
    result.name = subject.name;
    result.argument = Name(subject.argument);
    result.result = Name(subject.result);
    result.piece = piece.number;
    result.pieces = piece.arguments->pieces();
    const bool is_unary_float = subject.arity == 1 && subject.argument == ElementType::kF32;
    if (is_unary_float) result.stride = options_.size.stride;
    if (piece.arguments->is_sampled() && !is_unary_float) result.samples = options_.size.samples;
    const auto at = flushes_.find(ComponentType(subject.argument));
    result.flushes = at != flushes_.end() && at->second;
    return result;
  }

 private:
  absl::Status Prepare(const Piece& piece) {
    if (prepared_ == piece.subject) return prepared_status_;
    prepared_ = piece.subject;
    code_ = nullptr;
    wanted_ = nullptr;
    prepared_status_ = absl::OkStatus();
    auto code =
        Code::Make(*piece.subject, piece.arguments->block_size(), backend_, lock_, options_.limits);
    if (!code.ok()) return prepared_status_ = code.status();
    code_ = *std::move(code);
    if (piece.subject->kind != SubjectKind::kBits) return absl::OkStatus();
    auto wanted = Code::Make(*piece.subject, piece.arguments->block_size(), *oracle_, nullptr,
                             options_.limits);
    if (!wanted.ok()) return prepared_status_ = wanted.status();
    wanted_ = *std::move(wanted);
    return absl::OkStatus();
  }

  absl::Status DoReal(const Piece& piece, PieceResult& result) {
    const Subject& subject = *piece.subject;
    const Values arguments(subject.argument), results(subject.result);
    ErrorCounter counter(*subject.function, subject.argument, subject.result, result.flushes);
    std::vector<Sample> samples;
    for (int64_t number = 0; number < piece.arguments->blocks(); ++number) {
      const Block block = piece.arguments->At(piece.number, number);
      ASSAY_ASSIGN_OR_RETURN(const std::vector<uint64_t> got, code_->Run(block));
      samples.resize(block.x.size());
      for (size_t i = 0; i < samples.size(); ++i) {
        const double y = block.y.empty() ? 0 : arguments.Of(block.y[i]);
        samples[i] = {arguments.Of(block.x[i]), y, results.Of(got[i]), 0};
        counter.Add(samples[i].x, y, samples[i].got);
      }
      if (block.is_mirrored) CountShape(subject, samples, counter);
    }
    result.errors = counter.Take();
    return absl::OkStatus();
  }

  absl::Status DoComplex(const Piece& piece, PieceResult& result) {
    const Subject& subject = *piece.subject;
    const Values parts(ComponentType(subject.argument));
    ComplexCounter counter(*subject.complex, ComponentType(subject.argument));
    const Block block = piece.arguments->At(piece.number, 0);
    ASSAY_ASSIGN_OR_RETURN(const std::vector<uint64_t> got, code_->Run(block));
    for (size_t i = 0; i < block.x.size() / 2; ++i) {
      const Parts x = {parts.Of(block.x[2 * i]), parts.Of(block.x[2 * i + 1])};
      const Parts y =
          block.y.empty() ? Parts() : Parts{parts.Of(block.y[2 * i]), parts.Of(block.y[2 * i + 1])};
      counter.Add(x, y,
                  subject.complex->is_real ? Parts{parts.Of(got[i]), 0}
                                           : Parts{parts.Of(got[2 * i]), parts.Of(got[2 * i + 1])});
    }
    result.errors = counter.Take();
    return absl::OkStatus();
  }

  absl::Status DoBits(const Piece& piece, PieceResult& result) {
    const Block block = piece.arguments->At(piece.number, 0);
    ASSAY_ASSIGN_OR_RETURN(const std::vector<uint64_t> got, code_->Run(block));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<uint64_t> want, wanted_->Run(block));
    Errors& errors = result.errors;
    for (size_t i = 0; i < block.x.size(); ++i) {
      ++errors.inputs;
      if (got[i] == want[i]) {
        ++errors.nearest;
        ++errors.histogram[0];
      } else {
        errors.other_class.Note({static_cast<double>(block.x[i]),
                                 block.y.empty() ? 0 : static_cast<double>(block.y[i]),
                                 static_cast<double>(got[i]), static_cast<double>(want[i])});
      }
    }
    return absl::OkStatus();
  }

  Backend& backend_;
  Backend* oracle_;
  std::mutex* lock_;
  const SweepOptions& options_;
  const std::map<ElementType, bool>& flushes_;
  const Subject* prepared_ = nullptr;
  absl::Status prepared_status_;
  std::unique_ptr<Code> code_, wanted_;
};

// Half of the smallest normal number, on the backend.
bool Flushes(Backend& backend, ElementType type, const Limits& limits) {
  Subject subject;
  subject.op = "multiply";
  subject.arity = 2;
  subject.argument = subject.result = type;
  auto code = Code::Make(subject, 8, backend, nullptr, limits);
  if (!code.ok()) return false;
  const FloatFormat& format = Format(type);
  const Block block = {std::vector<uint64_t>(8, EncodeFloat(format, format.MinNormal())),
                       std::vector<uint64_t>(8, EncodeFloat(format, 0.5)), false};
  const auto got = (*code)->Run(block);
  return got.ok() && (*got)[0] == 0;
}

std::map<ElementType, bool> FlushedTypes(const std::vector<Subject>& subjects, Backend& backend,
                                         const Limits& limits) {
  std::map<ElementType, bool> types;
  for (const Subject& subject : subjects) {
    const ElementType type = ComponentType(subject.argument);
    if (subject.kind != SubjectKind::kBits && BitWidth(type) >= 16 && !types.contains(type))
      types[type] = Flushes(backend, type, limits);
  }
  return types;
}

}  // namespace

absl::Status Sweep(const std::vector<Subject>& subjects, Backend& backend, Backend* oracle,
                   const SweepOptions& options) {
  std::vector<std::unique_ptr<Arguments>> arguments;
  std::vector<Piece> pieces;
  int64_t number = 0;
  for (const Subject& subject : subjects) {
    if (subject.kind == SubjectKind::kBits && oracle == nullptr) continue;
    arguments.push_back(std::make_unique<Arguments>(subject, options.size));
    for (int64_t i = 0; i < arguments.back()->pieces(); ++i)
      if (number++ % options.parts == options.part)
        pieces.push_back({&subject, arguments.back().get(), i});
  }
  const std::map<ElementType, bool> flushes = FlushedTypes(subjects, backend, options.limits);
  std::mutex of_backend, of_results;
  absl::Status status;
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    Worker worker(backend, oracle, backend.Describe().in_process ? nullptr : &of_backend, options,
                  flushes);
    for (size_t i = next++; i < pieces.size(); i = next++) {
      if (options.stop && options.stop()) return;
      if (options.is_done && options.is_done(worker.Describe(pieces[i]).Key())) continue;
      const PieceResult result = worker.Do(pieces[i]);
      const std::lock_guard hold(of_results);
      if (status.ok()) status = options.take(result);
      if (!status.ok()) return;
    }
  };
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int i = 1; i < (options.jobs > 0 ? options.jobs : cores); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return status;
}

}  // namespace assay::accuracy
