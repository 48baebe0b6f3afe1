// The file that clang made of Kernels.cu is part of this object.
#include "device/KernelText.h"

#ifdef COLLDSL_KERNEL_TEXT

__asm__(".pushsection .rodata\n"
        ".hidden colldsl_kernel_text\n"
        ".global colldsl_kernel_text\n"
        "colldsl_kernel_text:\n"
        ".incbin \"" COLLDSL_KERNEL_TEXT "\"\n"
        ".hidden colldsl_kernel_text_end\n"
        ".global colldsl_kernel_text_end\n"
        "colldsl_kernel_text_end:\n"
        ".popsection\n");

extern "C" __attribute__((visibility("hidden"))) const char colldsl_kernel_text[];
extern "C" __attribute__((visibility("hidden"))) const char colldsl_kernel_text_end[];

std::string_view colldsl::device::kernelText() {
  return {colldsl_kernel_text, colldsl_kernel_text_end};
}

#else

std::string_view colldsl::device::kernelText() { return {}; }

#endif
