"""Print what the kit needs of other packages, for `pip install -r`: the kit itself is copied."""

import sys
import tomllib

with open(sys.argv[1], "rb") as file:
    project = tomllib.load(file)["project"]
wanted = list(project["dependencies"])
for extra in sys.argv[2:]:
    wanted += project["optional-dependencies"][extra]
print("\n".join(sorted(set(wanted))))
