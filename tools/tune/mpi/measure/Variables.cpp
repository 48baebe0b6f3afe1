#include "tools/tune/mpi/measure/Variables.h"

#include <cctype>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <set>

namespace measure {
namespace {

struct Info {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum items = MPI_T_ENUM_NULL;
  int scope = 0, verbosity = 0, bound = 0;
};

Info infoOf(int index) {
  Info info;
  char name[512];
  int length = sizeof(name), noLength = 0;
  if (MPI_T_cvar_get_info(index, name, &length, &info.verbosity, &info.type, &info.items, nullptr,
                          &noLength, &info.bound, &info.scope) == MPI_SUCCESS)
    info.name = name;
  return info;
}

bool isWritable(const Info &info) {
  return info.scope != MPI_T_SCOPE_CONSTANT && info.scope != MPI_T_SCOPE_READONLY;
}

void printItems(const Info &info) {
  int items = 0, length = 0;
  if (info.items == MPI_T_ENUM_NULL ||
      MPI_T_enum_get_info(info.items, &items, nullptr, &length) != MPI_SUCCESS)
    return;
  for (int i = 0; i < items; ++i) {
    char name[512];
    int value = 0, nameLength = sizeof(name);
    if (MPI_T_enum_get_item(info.items, i, &value, name, &nameLength) == MPI_SUCCESS)
      std::printf("item %s %d %s\n", info.name.c_str(), value, name);
  }
}

} // namespace

Variables::Variables() {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
}

Variables::~Variables() {
  for (auto &[name, handle] : handles_)
    if (handle != MPI_T_CVAR_HANDLE_NULL)
      MPI_T_cvar_handle_free(&handle);
  MPI_T_finalize();
}

MPI_T_cvar_handle Variables::handleOf(const std::string &name) {
  auto [at, isNew] = handles_.try_emplace(name, MPI_T_CVAR_HANDLE_NULL);
  if (!isNew)
    return at->second;
  int index = 0, count = 0;
  if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS)
    return MPI_T_CVAR_HANDLE_NULL;
  if (infoOf(index).type != MPI_INT ||
      MPI_T_cvar_handle_alloc(index, nullptr, &at->second, &count) != MPI_SUCCESS || count != 1)
    at->second = MPI_T_CVAR_HANDLE_NULL;
  return at->second;
}

bool Variables::write(const std::string &name, int value) {
  MPI_T_cvar_handle handle = handleOf(name);
  return handle != MPI_T_CVAR_HANDLE_NULL && MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
}

bool Variables::read(const std::string &name, int &value) {
  MPI_T_cvar_handle handle = handleOf(name);
  return handle != MPI_T_CVAR_HANDLE_NULL && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
}

void Variables::print(const std::string &prefix) {
  int count = 0;
  MPI_T_cvar_get_num(&count);
  for (int i = 0; i < count; ++i) {
    Info info = infoOf(i);
    int value = 0;
    if (!info.name.starts_with(prefix) || !read(info.name, value))
      continue;
    std::printf("variable %s %d %d\n", info.name.c_str(), value, isWritable(info) ? 1 : 0);
    printItems(info);
  }
}

void printTexts() {
  Dl_info library;
  void *function = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
  if (!function || !dladdr(function, &library))
    return;
  std::ifstream file(library.dli_fname, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::set<std::string> texts;
  for (const std::string begin : {"{\"collective=", "algorithm=MPIR_"})
    for (size_t at = bytes.find(begin); at != std::string::npos; at = bytes.find(begin, at + 1))
      if (at > 0 && !std::isprint(static_cast<unsigned char>(bytes[at - 1])))
        texts.insert(bytes.c_str() + at);
  for (const std::string &text : texts)
    std::printf("text %s\n", text.c_str());
}

} // namespace measure
