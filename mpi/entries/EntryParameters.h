/// Parameters of a function of MPI, with the types of mpi.h, and the same passed on:
/// PARAMETERS_3(Test) opens with those of MPI_Test, PASSED_3 names them.
#pragma once

#include "mpi/EntryPoints.h"

#define PARAMETER(name, i) Parameter<decltype(MPI_##name), i> p##i
#define PARAMETERS_0(name)
#define PARAMETERS_1(name) PARAMETER(name, 0)
#define PARAMETERS_2(name) PARAMETERS_1(name), PARAMETER(name, 1)
#define PARAMETERS_3(name) PARAMETERS_2(name), PARAMETER(name, 2)
#define PARAMETERS_4(name) PARAMETERS_3(name), PARAMETER(name, 3)
#define PARAMETERS_5(name) PARAMETERS_4(name), PARAMETER(name, 4)
#define PARAMETERS_6(name) PARAMETERS_5(name), PARAMETER(name, 5)
#define PARAMETERS_7(name) PARAMETERS_6(name), PARAMETER(name, 6)
#define PARAMETERS_8(name) PARAMETERS_7(name), PARAMETER(name, 7)
#define PARAMETERS_9(name) PARAMETERS_8(name), PARAMETER(name, 8)
#define PARAMETERS_10(name) PARAMETERS_9(name), PARAMETER(name, 9)
#define PARAMETERS_11(name) PARAMETERS_10(name), PARAMETER(name, 10)
#define PARAMETERS_12(name) PARAMETERS_11(name), PARAMETER(name, 11)
#define PARAMETERS_13(name) PARAMETERS_12(name), PARAMETER(name, 12)

#define PASSED_0
#define PASSED_1 , p0
#define PASSED_2 PASSED_1, p1
#define PASSED_3 PASSED_2, p2
#define PASSED_4 PASSED_3, p3
#define PASSED_5 PASSED_4, p4
#define PASSED_6 PASSED_5, p5
#define PASSED_7 PASSED_6, p6
#define PASSED_8 PASSED_7, p7
#define PASSED_9 PASSED_8, p8
#define PASSED_10 PASSED_9, p9
#define PASSED_11 PASSED_10, p10
#define PASSED_12 PASSED_11, p11
#define PASSED_13 PASSED_12, p12
