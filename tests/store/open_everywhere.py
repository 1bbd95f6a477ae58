"""Opens a trial file with the tools its readers use, and checks that they see the same thing.

usage: open_everywhere.py FILE        (the file that tests/store/open_everywhere_test.cpp writes)
       open_everywhere.py --any FILE  (any trial file: the tools must agree with h5py)

Exits with 77 when a package is missing.
"""

import shutil
import subprocess
import sys
import tempfile

try:
    import h5netcdf  # noqa: F401  (an engine of xarray)
    import h5py
    import netCDF4
    import numpy as np
    import xarray as xr
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if not shutil.which("ncdump"):
    print("skipped: ncdump is not installed")
    sys.exit(77)

NAN = float("nan")
SCALE_ATTRIBUTES = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}

# group, variable, dimensions, values
EXPECTED = [
    ("spec", "key", ["entry"], ["task.kind", "seed"]),
    ("spec", "value", ["entry"], ["language-model", ""]),
    ("spec", "resolved", [], "[task]\nkind = language-model\n# größer\n"),
    ("training", "step", ["step"], [10, 20, 30]),
    ("training", "loss", ["step"], [2.5, 2.25, 2.125]),
    ("training", "layer_gradient_norm", ["step", "layer"], [[0.5, 0.75], [1, 1.25], [1.5, 1.75]]),
    ("training", "validation_nll", ["validation_step"], []),
    ("evaluation/test", "nll", [], 2.0625),
    ("evaluation/test", "example_nll", ["example"], [8.5, NAN, 7.25, 9.0]),
    ("evaluation/test", "example_targets", ["example"], [4, 4, 4, 3]),
    ("evaluation/test", "example_cluster", ["example"], [0, 0, 1, 1]),
    ("heads/decoder_self", "head_state", ["layer", "head"], [[1, 1, 2], [1, 1, 0]]),
    ("heads/decoder_self", "entropy", ["layer", "head"], [[1.5, 1.25, NAN], [0.5, 0.75, NAN]]),
    ("patterns/decoder_self", "pattern", ["sequence", "layer", "head", "query_pos", "key_pos"],
     (np.arange(19200) % 2048).reshape(2, 2, 3, 40, 40) * 0.5),
    ("patterns/decoder_self", "tokens", ["sequence", "query_pos"],
     np.array(["ß" if i % 2 else f"t{i}" for i in range(80)], dtype=object).reshape(2, 40)),
    ("model", "decoder.0.self.w_q", ["row_2", "col_3"], [[-1, -0.5, 0], [0.5, 1, 1.5]]),
    ("labels", "method", ["method"], ["random", "importance"]),
    ("labels", "score", ["method", "rate"], [[1, 1.5, 2], [2.5, 3, 3.5]]),
    ("timing", "wall", [], 1.5),
]


def check(what, condition):
    if not condition:
        sys.exit(f"{what}: not as written")


def equal(found, expected):
    found = np.asarray(found)
    if found.dtype.kind in "OU":
        expected = np.asarray(expected, dtype=object)
        return found.shape == expected.shape and bool(np.all(found.astype(object) == expected))
    expected = np.asarray(expected, dtype=float)
    return found.shape == expected.shape and bool(np.array_equal(found, expected, equal_nan=True))


def check_objects(path):
    """What holds of every object, whatever the file says."""
    with h5py.File(path) as file:

        def check_object(name, item):
            times = h5py.h5g.get_objinfo(item.id)
            check(f"h5py: no time on {name}", times.mtime == 0)
            if not isinstance(item, h5py.Dataset):
                return
            if b"not a netCDF variable" not in item.attrs.get("NAME", b""):
                check(f"h5py: units and long_name of {name}",
                      item.attrs.get("units") and item.attrs.get("long_name"))
            check(f"h5py: a scale on every axis of {name}",
                  "CLASS" in item.attrs or all(len(axis) == 1 for axis in item.dims))
            is_float = item.dtype.kind == "f" and "CLASS" not in item.attrs
            check(f"h5py: fill value of {name}", ("_FillValue" in item.attrs) == is_float)
            if is_float:
                check(f"h5py: fill value of {name}",
                      item.attrs["_FillValue"].shape == (1,) and np.isnan(item.fillvalue))

        file.visititems(check_object)


def as_h5py_sees(path):
    """Like EXPECTED, for any file."""
    found = []
    with h5py.File(path) as file:

        def add(name, item):
            if isinstance(item, h5py.Dataset) and "CLASS" not in item.attrs:
                group, leaf = name.rsplit("/", 1)
                text = h5py.check_string_dtype(item.dtype)
                dimensions = [axis[0].name.rsplit("/", 1)[1] for axis in item.dims]
                found.append((group, leaf, dimensions, item.asstr()[()] if text else item[()]))

        file.visititems(add)
    check("h5py: variables", len(found) > 20)
    return found


def check_h5py(path):
    with h5py.File(path) as file:
        check("h5py: root attributes", isinstance(file.attrs["question"], str))
        for group, name, dimensions, values in EXPECTED:
            dataset = file[group][name]
            text = h5py.check_string_dtype(dataset.dtype)
            found = dataset.asstr()[()] if text else dataset[()]
            check(f"h5py: {group}/{name}", equal(found, values))
            if "CLASS" not in dataset.attrs:
                scales = [axis[0].name.rsplit("/", 1)[1] for axis in dataset.dims]
                check(f"h5py: dimensions of {group}/{name}", scales == dimensions)

        pattern = file["patterns/decoder_self/pattern"]
        check("h5py: half precision", pattern.dtype == np.float16)
        check("h5py: one chunk a sequence and layer", pattern.chunks == (1, 1, 3, 40, 40))
        check("h5py: no compression", pattern.compression is None)
        check("h5py: small ones in one piece", file["training/loss"].chunks is None)


def check_xarray_values(path, engine, expected):
    for group in {entry[0] for entry in expected}:
        with xr.open_dataset(path, group=group, engine=engine) as data:
            for _, name, dimensions, values in (e for e in expected if e[0] == group):
                what = f"xarray ({engine}): {group}/{name}"
                variable = data[name]
                check(what, equal(variable.values, values))
                check(f"{what}: dimensions", list(variable.dims) == dimensions)
                check(f"{what}: attributes",
                      variable.attrs["long_name"] and variable.attrs["units"])


def check_xarray(path, engine):
    with xr.open_dataset(path, group="heads/decoder_self", engine=engine) as heads:
        check(f"xarray ({engine}): coordinates", list(heads.coords) == ["layer", "head"])
        check(f"xarray ({engine}): by label",
              float(heads["entropy"].sel(layer=1, head=0)) == 0.5)
        check(f"xarray ({engine}): table",
              heads["entropy"].to_dataframe()["entropy"].loc[(0, 1)] == 1.25)
        check(f"xarray ({engine}): flags",
              heads["head_state"].attrs["flag_meanings"] == "never present removed"
              and list(heads["head_state"].attrs["flag_values"]) == [0, 1, 2])
    with xr.open_dataset(path, group="evaluation/test", engine=engine) as evaluation:
        check(f"xarray ({engine}): no coordinates where there are none",
              not evaluation.coords and "example" not in evaluation.variables)


def check_netcdf4_values(path, expected):
    with netCDF4.Dataset(path) as file:
        for group, name, dimensions, values in expected:
            variable = file[group][name]
            variable.set_auto_mask(False)
            check(f"netCDF4: {group}/{name}", equal(variable[...], values))
            check(f"netCDF4: dimensions of {group}/{name}",
                  list(variable.dimensions) == dimensions)


def check_netcdf4(path):
    with netCDF4.Dataset(path) as file:
        check("netCDF4: root attributes", file.trial_id == "heads-2-seed-1" and file.schema == 1)
        check("netCDF4: order of creation",
              list(file.groups)[:3] == ["spec", "training", "evaluation"])


def check_append(path):
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        with netCDF4.Dataset(copy, "a") as file:
            heads = file["heads/decoder_self"]
            heads.createVariable("mine", "f8", ("layer", "head"))[:] = 7
            heads["entropy"][0, 0] = 9
            file.note = "appended"
        with xr.open_dataset(copy, group="heads/decoder_self", engine="h5netcdf") as heads:
            check("netCDF4: appending", float(heads["mine"].sum()) == 42
                  and float(heads["entropy"][0, 0]) == 9)


def ncdump(path):
    text = subprocess.run(["ncdump", "-h", path], capture_output=True, text=True, check=True).stdout
    for hidden in SCALE_ATTRIBUTES:
        check(f"ncdump: {hidden}", hidden not in text)
    return text


def check_ncdump(path):
    text = ncdump(path)
    for line in ["example = 4 ;", "double example_nll(example) ;", "layer = 2 ;",
                 "float entropy(layer, head) ;", "int64 layer(layer) ;",
                 'entropy:long_name = "entropy of the pattern" ;', "entropy:_FillValue = NaNf ;",
                 "float pattern(sequence, layer, head, query_pos, key_pos) ;",
                 "string tokens(sequence, query_pos) ;"]:
        check(f"ncdump: '{line}'", line in text)


def check_any(path):
    expected = as_h5py_sees(path)
    for engine in ("h5netcdf", "netcdf4"):
        check_xarray_values(path, engine, expected)
    check_netcdf4_values(path, expected)
    text = ncdump(path)
    for _, name, dimensions, _ in expected:
        check(f"ncdump: {name}", f" {name}({', '.join(dimensions)}) ;" in text
              if dimensions else f" {name} ;" in text)


def main():
    path = sys.argv[-1]
    check_objects(path)
    if sys.argv[1] == "--any":
        check_any(path)
    else:
        check_h5py(path)
        for engine in ("h5netcdf", "netcdf4"):
            check_xarray_values(path, engine, EXPECTED)
            check_xarray(path, engine)
        check_netcdf4_values(path, EXPECTED)
        check_netcdf4(path)
        check_append(path)
        check_ncdump(path)
    print("h5py, xarray (h5netcdf, netcdf4), netCDF4 and ncdump agree")


main()
