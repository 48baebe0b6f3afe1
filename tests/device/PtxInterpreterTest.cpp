// The interpreter refuses programs that it does not know, or that a device would refuse.
#include "tests/device/PtxInterpreter.h"

#include "ir/Concat.h"

#include <array>
#include <bit>
#include <cstring>
#include <gtest/gtest.h>

namespace colldsl::test {
namespace {

/// 64 bytes at the address 4096.
struct SmallMemory : PtxMemory {
  std::byte *find(uint64_t address, uint64_t bytes, bool) override {
    return address >= 4096 && address + bytes <= 4096 + words.size() * 4 ? at(address) : nullptr;
  }
  std::byte *at(uint64_t address) {
    return reinterpret_cast<std::byte *>(words.data()) + (address - 4096);
  }
  alignas(16) std::array<uint32_t, 16> words{};
};

// A kernel with these instructions; its parameter has eight bytes, and %rd1 is an address in the
// memory.
std::string moduleWith(std::string_view instructions) {
  return concat(
      ".version 6.0\n.target sm_60\n.address_size 64\n\n.visible .entry kernel(\n"
      "\t.param .align 8 .b8 kernel_param_0[8]\n)\n.maxntid 32, 1, 1\n{\n\t.reg .b64 \t%rd<2>;\n\n"
      "\tld.param.u64 \t%rd1, [kernel_param_0];\n",
      instructions, "\tret;\n\n}\n");
}

Status run(std::string_view instructions, SmallMemory &memory, uint32_t threads = 1) {
  auto module = PtxModule::parse(moduleWith(instructions));
  if (!module)
    return module.status();
  const uint64_t parameter = 4096;
  return module->functions().at("kernel").run({1, 1, threads},
                                              std::as_bytes(std::span(&parameter, 1)), memory);
}

std::string messageOf(std::string_view instructions, uint32_t threads = 1) {
  SmallMemory memory;
  Status s = run(instructions, memory, threads);
  return s.ok() ? "" : s.message();
}

uint32_t resultOf(std::string_view instructions, uint32_t first = 0, uint32_t second = 0) {
  SmallMemory memory;
  memory.words = {first, second};
  Status s = run(concat("\tld.global.v2.u32 \t{%r1, %r2}, [%rd1];\n", instructions,
                        "\tst.global.u32 \t[%rd1+8], %r3;\n"),
                 memory);
  EXPECT_TRUE(s.ok()) << s.message();
  return memory.words[2];
}

TEST(PtxInterpreter, refusesUnknownText) {
  EXPECT_EQ(messageOf("\tsin.approx.f32 \t%f1, %f2;\n"),
            "line 13: the instruction 'sin.approx.f32' is not one that this interpreter knows: "
            "sin.approx.f32 \t%f1, %f2;");
  // They may be fused with others.
  EXPECT_NE(messageOf("\tadd.f32 \t%f1, %f2, %f3;\n").find("'add.f32' is not one"),
            std::string::npos);
  EXPECT_NE(messageOf("\tadd.rn.ftz.f32 \t%f1, %f2, %f3;\n").find("is not one"), std::string::npos);
  EXPECT_NE(messageOf("\tfma.rn.f32 \t%f1, %f2, %f3, %f4;\n").find("is not one"),
            std::string::npos);
  EXPECT_NE(
      messageOf("\tmov.u32 \t%r1, %clock.x;\n").find("an unknown special register '%clock.x'"),
      std::string::npos);
  EXPECT_NE(messageOf("\t.shared .b8 room[4];\n").find("an unknown directive"), std::string::npos);
  EXPECT_NE(messageOf("\tbra \t$L1;\n").find("a branch to '$L1', which is not in the function"),
            std::string::npos);
}

TEST(PtxInterpreter, refusesAccessesThatADeviceRefuses) {
  EXPECT_EQ(messageOf("\tld.global.u32 \t%r1, [%rd1+2];\n"),
            "the kernel kernel, thread 0 of block 0,0: an access of 4 bytes at 4098, which is not "
            "aligned");
  EXPECT_NE(messageOf("\tld.global.v4.u32 \t{%r1, %r2, %r3, %r4}, [%rd1+8];\n")
                .find("an access of 16 bytes at 4104, which is not aligned"),
            std::string::npos);
  EXPECT_NE(
      messageOf("\tst.global.u32 \t[%rd1+64], %r1;\n").find("which is not memory of the device"),
      std::string::npos);
  EXPECT_NE(messageOf("\tld.param.u64 \t%rd2, [kernel_param_0+8];\n")
                .find("a load beyond the parameter, at 8"),
            std::string::npos);
  EXPECT_EQ(messageOf("", 33), "the kernel kernel allows 32 threads per block, not 33");
  EXPECT_NE(messageOf("$L1:\n\tbra \t$L1;\n").find("it does not end"), std::string::npos);
}

TEST(PtxInterpreter, computesAsADeviceDoes) {
  const uint32_t nan = 0xffc12345, one = std::bit_cast<uint32_t>(1.0f), least = 1;
  EXPECT_EQ(resultOf("\tadd.rn.f32 \t%r3, %r1, %r2;\n", nan, one), 0x7fffffffu);
  EXPECT_EQ(resultOf("\tadd.rn.f32 \t%r3, %r1, %r2;\n", least, least), 2u);
  EXPECT_EQ(resultOf("\tselp.b32 \t%r3, %r1, %r2, %p1;\n", nan, nan), nan);
  EXPECT_EQ(resultOf("\tshl.b32 \t%r3, %r1, %r2;\n", 1, 32), 0u);
  EXPECT_EQ(resultOf("\tshr.s32 \t%r3, %r1, %r2;\n", 0x80000000, 99), 0xffffffffu);
  EXPECT_EQ(resultOf("\tmul.lo.s32 \t%r3, %r1, %r2;\n", 0xffffffff, 3), 0xfffffffdu);
  EXPECT_EQ(resultOf("\tbfe.u32 \t%r3, %r1, 8, 8;\n", 0x12345678), 0x56u);
  EXPECT_EQ(resultOf("\tbfe.s32 \t%r3, %r1, 0, 8;\n", 0x123456f8), 0xfffffff8u);
  EXPECT_EQ(resultOf("\tbfi.b32 \t%r3, %r1, %r2, 8, 8;\n", 0xabcd, 0x12345678), 0x1234cd78u);
  // 65504 and 65520 round to the greatest number and to infinity.
  EXPECT_EQ(resultOf("\tcvt.rn.f16.f32 \t%r3, %r1;\n", std::bit_cast<uint32_t>(65519.0f)), 0x7bffu);
  EXPECT_EQ(resultOf("\tcvt.rn.f16.f32 \t%r3, %r1;\n", std::bit_cast<uint32_t>(65520.0f)), 0x7c00u);
  EXPECT_EQ(resultOf("\tadd.rn.f16x2 \t%r3, %r1, %r2;\n", 0x3c007bff, 0x3c003800), 0x40007bffu);
  EXPECT_EQ(resultOf("\tsetp.lt.f32 \t%p1, %r1, %r2;\n\tselp.u32 \t%r3, 1, 0, %p1;\n", nan, one),
            0u);
  EXPECT_EQ(resultOf("\tsetp.neu.f32 \t%p1, %r1, %r2;\n\tselp.u32 \t%r3, 1, 0, %p1;\n", nan, nan),
            1u);
  EXPECT_EQ(resultOf("\tmov.u32 \t%r3, %r2;\n\tsetp.eq.s32 \t%p1, %r1, 5;\n\t@!%p1 bra "
                     "\t$L1;\n\tmov.u32 \t%r3, 7;\n$L1:\n",
                     5, 6),
            7u);
}

} // namespace
} // namespace colldsl::test
