#include "tests/mpi/CollectiveErrors.h"

#include "tests/mpi/CollectiveFaults.h"
#include "tests/mpi/Deal.h"

namespace conformance {
namespace {

// What the handler was told.
int calls = 0, toldCode = MPI_SUCCESS;
MPI_Comm toldOf = MPI_COMM_NULL;

void handle(MPI_Comm *comm, int *code, ...) {
  ++calls;
  toldCode = *code;
  toldOf = *comm;
}

int classOf(int code) {
  int errorClass = code;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &errorClass);
  return errorClass;
}

// Arguments that nothing is wrong with: one int for each rank.
struct Right {
  std::vector<int> sent, got, counts, places;
  std::vector<MPI_Aint> bytes;

  explicit Right(int ranks) : sent(ranks, 1), got(ranks), counts(ranks, 1) {
    for (int rank = 0; rank < ranks; ++rank) {
      places.push_back(rank);
      bytes.push_back(rank * 4);
    }
  }
  CollectiveArguments arguments(const Members &members) {
    std::vector<MPI_Datatype> types(counts.size(), MPI_INT);
    CollectiveArguments a;
    a.send = {sent.data(), counts, places, bytes, types};
    a.recv = {got.data(), counts, places, bytes, types};
    a.op = MPI_SUM;
    a.comm = members.comm;
    return a;
  }
};

// What is wrong, and the class of it.
int spoil(Mistake mistake, CollectiveArguments &a, int ranks) {
  switch (mistake) {
  case Mistake::NegativeCount:
    a.send.counts[0] = a.recv.counts[0] = -1;
    return MPI_ERR_COUNT;
  case Mistake::NullCommunicator:
    a.comm = MPI_COMM_NULL;
    return MPI_ERR_COMM;
  case Mistake::NullType:
    a.send.types[0] = a.recv.types[0] = MPI_DATATYPE_NULL;
    return MPI_ERR_TYPE;
  case Mistake::RootTooLarge:
    a.root = ranks;
    return MPI_ERR_ROOT;
  case Mistake::RootNegative:
    a.root = -7;
    return MPI_ERR_ROOT;
  case Mistake::NullOperator:
    a.op = MPI_OP_NULL;
    return MPI_ERR_OP;
  case Mistake::OperatorOfOtherType:
    a.op = MPI_BAND;
    a.send.types[0] = a.recv.types[0] = MPI_DOUBLE;
    return MPI_ERR_OP;
  }
  return MPI_SUCCESS;
}

bool applies(Mistake mistake, Collective c) {
  switch (mistake) {
  case Mistake::NegativeCount:
    return c != Collective::Barrier;
  case Mistake::NullType:
    // Without a type an operator is wrong, too.
    return c != Collective::Barrier && !isReduction(c);
  case Mistake::NullCommunicator:
    return true;
  case Mistake::RootTooLarge:
  case Mistake::RootNegative:
    return hasRoot(c);
  case Mistake::NullOperator:
  case Mistake::OperatorOfOtherType:
    return isReduction(c);
  }
  return false;
}

const char *spell(Mistake mistake) {
  static const char *const names[] = {"a negative count",
                                      "no communicator",
                                      "no type",
                                      "a root too large",
                                      "a negative root",
                                      "no operator",
                                      "an operator that the type has not"};
  return names[static_cast<uint32_t>(mistake)];
}

void expectClass(Case &c, int got, int expected, const std::string &label) {
  if (got == expected)
    return;
  char is[MPI_MAX_ERROR_STRING], must[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(got, is, &length);
  MPI_Error_string(expected, must, &length);
  c.report.mismatch(label, "class " + std::to_string(got) + " (" + is + "), must be " +
                               std::to_string(expected) + " (" + must + ")");
}

// With a handler of the program or with MPI_ERRORS_RETURN.
void makeWrongCall(Case &c, const Members &members, const CollectiveForm &form, Mistake mistake,
                   bool handled) {
  std::string label = spell(form) + " with " + spell(mistake);
  Right right(members.size);
  CollectiveArguments arguments = right.arguments(members);
  int expected = spoil(mistake, arguments, members.size);
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (handled)
    MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(members.comm, handler);
  calls = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  c.report.doing(label);
  int code = CollectiveCall(form, arguments).make(&request);
  expectClass(c, classOf(code), expected, label);
  if (handled && arguments.comm != MPI_COMM_NULL) {
    c.report.expect(calls == 1 && toldOf == members.comm, label,
                    "the communicator's handler was called " + std::to_string(calls) + " times");
    expectClass(c, classOf(toldCode), expected, label + ", as its handler was told");
  }
  MPI_Comm_set_errhandler(members.comm, MPI_ERRORS_RETURN);
  if (handled)
    MPI_Errhandler_free(&handler);
}

} // namespace

bool runErrors(Case &c) {
  Members members = makeMembers(c.shared);
  CollectiveForm form{static_cast<Collective>(c.shared.below(17)),
                      c.shared.oneIn(2) ? Form::Nonblocking : Form::Blocking};
  Mistake mistake = static_cast<Mistake>(c.shared.below(7));
  bool handled = c.shared.oneIn(2);
  if (!applies(mistake, form.collective))
    mistake = Mistake::NullCommunicator;
  if (c.skipKnownFaults && isKnownFault(form, mistake))
    return false;
  makeWrongCall(c, members, form, mistake, handled);
  return true;
}

} // namespace conformance
