# assay_embed_files(OUT FILES...): writes OUT, a source file that implements fuzz/embedded.h with the content of FILES.
function(assay_embed_files out)
  set(rows "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME)
    file(READ ${file} content)
    string(APPEND rows "    {\"${name}\", R\"embedded(${content})embedded\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"#include \"fuzz/embedded.h\"

namespace assay {
namespace {
constexpr Embedded kFiles[] = {
@rows@};
}  // namespace

absl::Span<const Embedded> EmbeddedFiles() { return kFiles; }

std::string_view EmbeddedFile(std::string_view name) {
  for (const Embedded& file : kFiles) {
    if (file.name == name) return file.content;
  }
  return \"\";
}

}  // namespace assay
")
endfunction()
