// Structures that point at their neighbours.
#include "fuzz/backends/pjrt/calls.h"

#include <utility>

namespace assay::pjrt {

NamedValue IntegerOption(std::string_view name, int64_t value) {
  NamedValue option{{ASSAY_PJRT_SIZE(NamedValue, value_size), nullptr},
                    name.data(),
                    name.size(),
                    ValueKind::kInteger,
                    {},
                    1};
  option.integer = value;
  return option;
}

ClientCreateArgs CreateClientArgs(absl::Span<const NamedValue> options) {
  ClientCreateArgs args{};
  args.head.struct_size = ASSAY_PJRT_SIZE(ClientCreateArgs, try_get_argument);
  args.options = options.empty() ? nullptr : options.data();
  args.option_count = options.size();
  return args;
}

CompileCall::CompileCall(Client* client, std::string code, std::string format, std::string options)
    : code_(std::move(code)), format_(std::move(format)), options_(std::move(options)) {
  program_ = {{ASSAY_PJRT_SIZE(Program, format_size), nullptr},
              code_.data(),
              code_.size(),
              format_.data(),
              format_.size()};
  args.head.struct_size = ASSAY_PJRT_SIZE(ClientCompileArgs, executable);
  args.client = client;
  args.program = &program_;
  args.options = options_.data();
  args.options_size = options_.size();
}

ExecuteCall::ExecuteCall(LoadedExecutable* loaded, std::vector<std::vector<Buffer*>> arguments,
                         size_t output_count)
    : outputs(arguments.size(), std::vector<Buffer*>(output_count, nullptr)),
      events(arguments.size(), nullptr),
      arguments_(std::move(arguments)) {
  for (size_t d = 0; d < arguments_.size(); ++d) {
    argument_lists_.push_back(arguments_[d].data());
    output_lists_.push_back(outputs[d].data());
  }
  options_.head.struct_size = ASSAY_PJRT_SIZE(ExecuteOptions, incarnation_ids);
  args.head.struct_size = ASSAY_PJRT_SIZE(ExecuteArgs, execute_device);
  args.executable = loaded;
  args.options = &options_;
  args.argument_lists = argument_lists_.data();
  args.device_count = arguments_.size();
  args.argument_count = arguments_.empty() ? 0 : arguments_[0].size();
  args.output_lists = output_lists_.data();
  args.complete_events = events.data();
}

}  // namespace assay::pjrt
