// Every function refuses what it cannot use, and says so.
#include "tests/api/Launcher.h"

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

extern "C" const char *nameOfStatusInC(int status);

namespace colldsl::test {
namespace {

/// Expects a failure with this status and message.
void expectFailure(colldsl_status got, colldsl_status status, const std::string &message) {
  EXPECT_EQ(got, status);
  EXPECT_EQ(colldsl_last_error(), message);
}

TEST(ApiArguments, everyStatusHasAText) {
  for (int s = COLLDSL_OK; s <= COLLDSL_ERROR_MEMORY; ++s)
    EXPECT_STRNE(nameOfStatusInC(s), "unknown status") << s;
  EXPECT_STREQ(nameOfStatusInC(COLLDSL_ERROR_MEMORY + 1), "unknown status");
  EXPECT_STREQ(nameOfStatusInC(-1), "unknown status");
}

TEST(ApiArguments, nullHandles) {
  const colldsl_status argument = COLLDSL_ERROR_ARGUMENT;
  colldsl_context *context = nullptr;
  expectFailure(colldsl_context_create(nullptr, nullptr), argument, "argument 'context' is null");
  auto body = [](colldsl_comm *, void *) { return 0; };
  expectFailure(colldsl_fork(nullptr, 1, body, nullptr, 1), argument, "argument 'context' is null");
  ASSERT_EQ(colldsl_context_create(nullptr, &context), COLLDSL_OK);
  expectFailure(colldsl_fork(context, 1, nullptr, nullptr, 1), argument, "argument 'body' is null");
  expectFailure(colldsl_fork(context, 0, body, nullptr, 1), argument,
                "there is nothing to do for 0 ranks");
  expectFailure(colldsl_fork(context, 1, body, nullptr, std::nan("")), argument,
                "the timeout is not a number");
  colldsl_bootstrap bootstrap = {0, 1, nullptr, nullptr, nullptr};
  colldsl_comm *comm = nullptr;
  expectFailure(colldsl_comm_create(nullptr, nullptr, &comm), argument,
                "argument 'context' is null");
  expectFailure(colldsl_comm_create(context, &bootstrap, &comm), argument,
                "argument 'bootstrap->allgather' is null");
  expectFailure(colldsl_library_open(context, nullptr, nullptr), argument,
                "argument 'library' is null");
  colldsl_plan *plan = nullptr;
  expectFailure(colldsl_plan_create(nullptr, nullptr, "barrier", &plan), argument,
                "argument 'comm' is null");
  colldsl_graph *graph = nullptr;
  expectFailure(colldsl_graph_create(nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr, &graph),
                argument, "argument 'comm' is null");
  expectFailure(colldsl_progress(nullptr), argument, "argument 'comm' is null");
  expectFailure(colldsl_plan_commit(nullptr), argument, "argument 'plan' is null");
  expectFailure(colldsl_plan_start(nullptr), argument, "argument 'plan' is null");
  expectFailure(colldsl_plan_wait(nullptr, 1), argument, "argument 'plan' is null");
  expectFailure(colldsl_plan_cancel(nullptr), argument, "argument 'plan' is null");
  expectFailure(colldsl_plan_test(nullptr, nullptr), argument, "argument 'done' is null");
  EXPECT_EQ(colldsl_plan_collective(nullptr), nullptr);
  EXPECT_EQ(colldsl_library_collective(nullptr, 0), nullptr);
  EXPECT_EQ(colldsl_comm_rank(nullptr), 0u);
  EXPECT_EQ(colldsl_comm_size(nullptr), 0u);
  colldsl_plan_destroy(nullptr);
  colldsl_graph_destroy(nullptr);
  colldsl_library_close(nullptr);
  colldsl_comm_destroy(nullptr);
  colldsl_context_destroy(context);
  colldsl_context_destroy(nullptr);
}

TEST(ApiArguments, options) {
  colldsl_context *context = nullptr;
  colldsl_options options = COLLDSL_OPTIONS_INIT;
  options.size = 3;
  expectFailure(colldsl_context_create(&options, &context), COLLDSL_ERROR_ARGUMENT,
                "the options have 3 bytes, not " + std::to_string(sizeof options) +
                    "; fill them with COLLDSL_OPTIONS_INIT");
  options = COLLDSL_OPTIONS_INIT; // of a program that knows no least_proof
  options.size = offsetof(colldsl_options, least_proof);
  options.least_proof = static_cast<colldsl_proof>(99);
  ASSERT_EQ(colldsl_context_create(&options, &context), COLLDSL_OK);
  colldsl_context_destroy(context);
  options.size = sizeof options;
  expectFailure(colldsl_context_create(&options, &context), COLLDSL_ERROR_ARGUMENT,
                "there is no proof 99");
  options = COLLDSL_OPTIONS_INIT;
  options.topology = "moon:3";
  EXPECT_EQ(colldsl_context_create(&options, &context), COLLDSL_ERROR_ARGUMENT);
  EXPECT_NE(std::string(colldsl_last_error()).find("moon"), std::string::npos);
  options = COLLDSL_OPTIONS_INIT;
  options.setup_timeout = -1;
  EXPECT_EQ(colldsl_context_create(&options, &context), COLLDSL_ERROR_ARGUMENT);
  options = COLLDSL_OPTIONS_INIT;
  options.arena_bytes = 5;
  ASSERT_EQ(colldsl_context_create(&options, &context), COLLDSL_OK);
  auto body = [](colldsl_comm *, void *) { return 0; };
  expectFailure(colldsl_fork(context, 2, body, nullptr, 1), COLLDSL_ERROR_SETUP,
                "the size of an arena is a multiple of 4096");
  colldsl_context_destroy(context);
  options.arena_bytes = uint64_t{1} << 63;
  ASSERT_EQ(colldsl_context_create(&options, &context), COLLDSL_OK);
  expectFailure(colldsl_fork(context, 2, body, nullptr, 1), COLLDSL_ERROR_SETUP,
                "2 arenas of 9223372036854775808 bytes are more than an address space");
  colldsl_context_destroy(context);
}

TEST(ApiArguments, libraries) {
  coll::Context context;
  coll::Library standard(context);
  std::vector<std::string> names = standard.collectives();
  EXPECT_GT(names.size(), 80u);
  EXPECT_NE(std::find(names.begin(), names.end(), "bcast_binomial"), names.end());
  colldsl_library *library = nullptr;
  expectFailure(colldsl_library_open(context.get(), "/nowhere.cdag", &library),
                COLLDSL_ERROR_LIBRARY, "cannot read '/nowhere.cdag': No such file or directory");
  EXPECT_EQ(colldsl_library_open(context.get(), "/proc/self/exe", &library), COLLDSL_ERROR_LIBRARY);
  EXPECT_NE(std::string(colldsl_last_error()).find("it is ELF, a program or a library"),
            std::string::npos);
  expectFailure(colldsl_library_open(context.get(), "/\x1b[31m\xc2\x9b\x7f.cdag", &library),
                COLLDSL_ERROR_LIBRARY, "cannot read '/?[31m???.cdag': No such file or directory");
  EXPECT_EQ(library, nullptr);
}

} // namespace
} // namespace colldsl::test
