"""Sparse matrices for the experiments, as Matrix Market files: patterns only, symmetric, seeded."""
import os
import random


def grid(dims, reach):
    """Rows are points of a grid; a point is coupled to those that `reach` tells, as offsets."""
    strides = [1]
    for size in dims[:0:-1]:
        strides.insert(0, strides[0] * size)
    points = [()]
    for size in dims:
        points = [point + (i,) for point in points for i in range(size)]
    for point in points:
        row = sum(i * stride for i, stride in zip(point, strides))
        for offset in reach:
            other = [i + step for i, step in zip(point, offset)]
            if all(0 <= i < size for i, size in zip(other, dims)):
                column = sum(i * stride for i, stride in zip(other, strides))
                if column <= row:
                    yield row, column


def cross(dimensions):
    """A point and its neighbours along the axes."""
    yield (0,) * dimensions
    for d in range(dimensions):
        for step in (-1, 1):
            yield tuple(step if i == d else 0 for i in range(dimensions))


def cube(dimensions):
    """A point and all around it."""
    points = [()]
    for _ in range(dimensions):
        points = [point + (step,) for point in points for step in (-1, 0, 1)]
    return points


def power_law(rows, edges, seed):
    """Each row is coupled to `edges` earlier ones, preferably to those with many couplings.
    source: A.-L. Barabasi, R. Albert, "Emergence of scaling in random networks", 1999"""
    draw = random.Random(seed)
    ends = list(range(edges))
    for row in range(rows):
        yield row, row
        others = set()
        if row >= edges:
            while len(others) < edges:
                others.add(draw.choice(ends))
        for other in others:
            yield row, other
            ends += [row, other]


MATRICES = {
    "poisson2d": (256 * 256, lambda: grid((256, 256), list(cross(2)))),
    "brick3d": (32 ** 3, lambda: grid((32, 32, 32), cube(3))),
    "powerlaw": (20_000, lambda: power_law(20_000, 3, 1)),
}


def path_of(name, folder):
    """The file of a matrix, made if it is not there yet."""
    path = os.path.join(folder, name + ".mtx")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        rows, entries = MATRICES[name][0], sorted(set(MATRICES[name][1]()))
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write("%%MatrixMarket matrix coordinate pattern symmetric\n")
            file.write(f"{rows} {rows} {len(entries)}\n")
            file.writelines(f"{row + 1} {column + 1}\n" for row, column in entries)
        os.replace(path + ".part", path)
    return path
