#include "mpi/Unserved.h"

#include "mpi/PrintMessage.h"
#include "mpi/comm/RankTexts.h"

namespace colldsl::mpi {
namespace {

std::string reasonOfThis;

} // namespace

void noteUnserved(const std::string &reason) { reasonOfThis = reason + "\n"; }

void printUnserved() {
  std::string all = gatherTexts(reasonOfThis);
  if (!all.empty())
    printMessage("colldsl: nothing was served: %s\n", all.substr(0, all.find('\n')).c_str());
}

} // namespace colldsl::mpi
