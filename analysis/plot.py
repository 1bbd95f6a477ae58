#!/usr/bin/python3
"""Draws what one trial file says of its heads: pruning curves, and a layer x head grid of a measure.

An example to start from; it needs h5py and matplotlib only.

    analysis/plot.py results/quickstart/*.h5 -o heads.png
    analysis/plot.py TRIAL.h5 -o heads.svg --measure entropy --site decoder_self
"""

import argparse
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "headcount"  # the same picture, the same bytes
import matplotlib.pyplot as plt
import numpy as np


def text(dataset, name):
    value = dataset.attrs.get(name, "")
    return value.decode() if isinstance(value, bytes) else str(value)


def label(dataset):
    name, unit = dataset.name.split("/")[-1], text(dataset, "units")
    return f"{name} ({unit})" if unit not in ("", "1") else name


def measures(site):
    """Names of the datasets with one number per head."""
    return [
        name
        for name, data in site.items()
        if isinstance(data, h5py.Dataset)
        and data.ndim == 2
        and data.dtype.kind == "f"
        and not name.endswith("_standard_error")
    ]


def choose(kind, wanted, there):
    if not there:
        sys.exit(f"plot.py: the file has no {kind}")
    if wanted is not None and wanted not in there:
        sys.exit(f"plot.py: the file has no {kind} '{wanted}'; it has: {', '.join(there)}")
    return wanted if wanted is not None else there[0]


def draw_curves(axes, pruning):
    """nll against the share of heads removed; mean and range over the orders of a method."""
    for method, group in pruning.items():
        left = group["heads_left"][:]
        removed = 100 * (1 - left / left[0])
        nll = group["nll"][:]  # [order, point]
        orders = len(nll)
        name = method if orders == 1 else f"{method} ({orders} orders)"
        (line,) = axes.plot(removed, nll.mean(axis=0), marker=".", label=name)
        if orders > 1:
            axes.fill_between(removed, nll.min(axis=0), nll.max(axis=0), alpha=0.2, lw=0, color=line.get_color())
        axes.set_ylabel(label(group["nll"]))
    axes.set_xlabel("heads removed (%)")
    axes.set_title("Pruning curve")
    axes.legend(frameon=False, loc="upper left")


def draw_grid(axes, site, measure):
    """One cell a head, by its original index; a head that is not there stays grey."""
    data = site[measure]
    values = np.ma.masked_invalid(data[:])
    signed = values.count() > 0 and values.min() < 0 < values.max()
    bound = np.abs(values).max() if signed else None
    scale = dict(cmap="RdBu_r", vmin=-bound, vmax=bound) if signed else dict(cmap="viridis")
    axes.set_facecolor("0.6")
    image = axes.imshow(values, aspect="auto", **scale)
    axes.figure.colorbar(image, ax=axes, label=label(data))
    layers, heads = values.shape
    axes.set_xticks(range(heads), site["head"][:])
    axes.set_yticks(range(layers), site["layer"][:])
    axes.set_xlabel("head")
    axes.set_ylabel("layer")
    axes.set_title(f"{measure}, {site.name.split('/')[-1]}")


def draw(file, measure=None, site=None):
    """The figure: curves where the file has prunings, a grid where it has measures."""
    sites = [name for name in file.get("heads", {}) if measures(file["heads"][name])]
    pruning = file.get("pruning", {})
    if not sites and not pruning:
        sys.exit("plot.py: the file has neither measures of heads nor pruning curves")
    if measure is not None or site is not None or sites:
        site = file["heads"][choose("site", site, sites)]
        measure = choose("measure", measure, measures(site))
    panels = bool(pruning) + bool(sites)
    figure, axes = plt.subplots(1, panels, figsize=(6 * panels, 4.5), squeeze=False, layout="constrained")
    if pruning:
        draw_curves(axes[0, 0], pruning)
    if sites:
        draw_grid(axes[0, -1], site, measure)
    figure.suptitle(text(file, "trial_id"))
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trial", help="a trial file (HDF5)")
    parser.add_argument("-o", "--output", required=True, help="picture to write: .png, .svg or .pdf")
    parser.add_argument("--measure", help="measure of the grid (default: the first)")
    parser.add_argument("--site", help="encoder_self, decoder_self or cross (default: the first)")
    options = parser.parse_args()
    try:
        file = h5py.File(options.trial, "r")
    except OSError as error:
        sys.exit(f"plot.py: cannot read {options.trial}: {error}")
    with file:
        draw(file, options.measure, options.site).savefig(options.output, dpi=150)


if __name__ == "__main__":
    main()
