"""The files of the source tree, as the house rules see them."""
import os


def files(root, *suffixes):
    """Paths below root, relative to it, of all files with one of the suffixes; no build output."""
    found = []
    for folder, folders, names in os.walk(root):
        hidden = [name for name in folders if name.startswith(".") and name != ".ci"]
        for name in [*hidden, "build", "__pycache__"]:
            if name in folders:
                folders.remove(name)
        found += [
            os.path.relpath(os.path.join(folder, name), root)
            for name in names
            if name.endswith(suffixes)
        ]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def listed(root, path):
    """The names of a list of packages."""
    return {line for line in read(root, path).splitlines() if line and not line.startswith("#")}
