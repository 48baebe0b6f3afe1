#include "tools/tune/BuiltLibrary.h"

#include "compiler/Compile.h"
#include "driver/rules/Rules.h"
#include "select/DecisionRules.h"
#include "stdlib/StdlibFiles.h"

namespace colldsl::tools {

using namespace driver;

namespace {

constexpr auto kViewAlignment = llvm::Align::Constant<64>(); // of Library::view()

Result<std::unique_ptr<Library>> view(const llvm::MemoryBuffer &buffer) {
  llvm::StringRef text = buffer.getBuffer();
  return Library::view(std::as_bytes(std::span(text.data(), text.size())));
}

} // namespace

Result<std::unique_ptr<Library>> BuiltLibrary::tuned(const MachineProfile &profile) const {
  Result<std::unique_ptr<Library>> library = view(*bytes);
  if (!library)
    return library;
  if (Status s = prefer(**library, profile); !s)
    return s;
  return library;
}

Result<BuiltLibrary> buildStandardLibrary() {
  Compilation compilation = compileFiles({});
  Result<std::vector<SelectionRule>> rules =
      readRules(kStandardRules, selectionRules(), compilation);
  if (!rules)
    return rules.status();
  LibraryContent content;
  content.rules = rules.take();
  content.program = compilation.program();
  std::vector<std::byte> encoded = encodeLibrary(content);
  auto buffer =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(encoded.size(), "stdlib", kViewAlignment);
  if (!buffer)
    return Status::error("there is not enough memory");
  std::copy(encoded.begin(), encoded.end(),
            reinterpret_cast<std::byte *>(buffer->getBufferStart()));
  BuiltLibrary built;
  built.bytes = std::move(buffer);
  Result<std::unique_ptr<Library>> library = view(*built.bytes);
  if (!library)
    return library.status();
  built.library = library.take();
  if (auto program = built.library->program(); !program)
    return program.status();
  if (auto all = built.library->rules(); !all)
    return all.status();
  return built;
}

} // namespace colldsl::tools
