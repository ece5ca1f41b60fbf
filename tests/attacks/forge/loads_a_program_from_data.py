"""Line 35. Brings the library's function as data: a saved program, a graph, a package.

Variants: script traced exported package symbolic
Expected: softmax=forbidden|crashed|timeout|refused
Score at most: softmax=0
"""

import io


class _Layer(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def _through_bytes(program):
    file = io.BytesIO()
    torch.jit.save(program, file)
    file.seek(0)
    return torch.jit.load(file)


if VARIANT == "script":
    _loaded = _through_bytes(torch.jit.script(_Layer()))
elif VARIANT == "traced":
    _loaded = _through_bytes(torch.jit.trace(_Layer(), torch.randn(3, 4)))
elif VARIANT == "exported":
    file = io.BytesIO()
    torch.export.save(torch.export.export(_Layer(), (torch.randn(3, 4),)), file)
    file.seek(0)
    _loaded = torch.export.load(file).module()
elif VARIANT == "package":
    file = io.BytesIO()
    with torch.package.PackageExporter(file) as exporter:
        exporter.extern("**")
        exporter.save_pickle("p", "m.pkl", torch.nn.Softmax(-1))
    file.seek(0)
    _loaded = torch.package.PackageImporter(file).load_pickle("p", "m.pkl")
else:
    _loaded = torch.fx.symbolic_trace(_Layer())


def softmax(x, dim=-1):
    return _loaded(x.movedim(dim, -1)).movedim(-1, dim)
