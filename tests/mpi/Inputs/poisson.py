"""Poisson's equation on a square with N x N cells, by dolfinx: N [REPETITIONS]. Prints the number of
unknowns, of steps of the solver and the solution's norm, then the seconds of what was repeated."""
import sys

import numpy
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem
from mpi4py import MPI
from petsc4py import PETSc

WORLD = MPI.COMM_WORLD
SOLVER = {"ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-10}


def on_edge(x):
    return numpy.isclose(x[0], 0) | numpy.isclose(x[0], 1)


def solve(cells):
    """Unknowns, steps of the solver, norm of the solution."""
    square = mesh.create_unit_square(WORLD, cells, cells)
    space = fem.FunctionSpace(square, ("Lagrange", 2))
    trial, test = ufl.TrialFunction(space), ufl.TestFunction(space)
    x = ufl.SpatialCoordinate(square)
    source = 10 * ufl.exp(-((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2) / 0.02)
    edge = fem.locate_dofs_topological(space, 1, mesh.locate_entities_boundary(square, 1, on_edge))
    problem = LinearProblem(ufl.inner(ufl.grad(trial), ufl.grad(test)) * ufl.dx,
                            ufl.inner(source, test) * ufl.dx,
                            bcs=[fem.dirichletbc(PETSc.ScalarType(0), edge, space)], petsc_options=SOLVER)
    solution = problem.solve()
    square_of_norm = fem.assemble_scalar(fem.form(ufl.inner(solution, solution) * ufl.dx))
    norm = numpy.sqrt(WORLD.allreduce(square_of_norm, MPI.SUM))
    return space.dofmap.index_map.size_global, problem.solver.its, norm


def main():
    cells, repetitions = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    WORLD.Barrier()
    begin = MPI.Wtime()
    for _ in range(repetitions):
        unknowns, steps, norm = solve(cells)
    seconds = MPI.Wtime() - begin
    if WORLD.rank == 0:
        print(f"unknowns {unknowns}, steps {steps}, norm {norm:.9g}")
        print(f"seconds {seconds:.6f}")


if __name__ == "__main__":
    main()
