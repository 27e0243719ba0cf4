# assay_embed(OUT FUNCTION FILES...): writes a C++ source OUT that holds the files' text and defines
#   absl::Span<const Embedded> assay::FUNCTION();   // spec/base/embedded.h; in the order of FILES
# so that the program needs none of them at run time. Re-runs when a file changes.
function(assay_embed out function)
  set(rows "")
  foreach(file ${ARGN})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    file(READ ${path} text)
    string(LENGTH "${text}" length)
    # A string literal may be limited to 64 KiB: long texts are split into adjacent literals.
    set(literals "")
    set(at 0)
    while(at LESS length)
      string(SUBSTRING "${text}" ${at} 8000 part)
      string(APPEND literals "\nR\"assay_text(${part})assay_text\"")
      math(EXPR at "${at} + 8000")
    endwhile()
    if(length EQUAL 0)
      set(literals "\"\"")
    endif()
    # The compiler knows the length of a literal with this suffix; another's it would count at compile time, byte by byte.
    string(APPEND rows "    {\"${name}\", ${literals}sv},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT [[
#include <string_view>

#include "absl/types/span.h"
#include "spec/base/embedded.h"

namespace assay {
namespace {
using namespace std::string_view_literals;

constexpr Embedded kFiles[] = {
@rows@};
}  // namespace

absl::Span<const Embedded> @function@();
absl::Span<const Embedded> @function@() { return kFiles; }

}  // namespace assay
]])
endfunction()
