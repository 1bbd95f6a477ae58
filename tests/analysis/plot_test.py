"""Tests of analysis/plot.py. Exits with 77 (skipped) where h5py or matplotlib is missing."""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import matplotlib.image
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "analysis", "plot.py")
sys.path.insert(0, os.path.dirname(SCRIPT))
sys.dont_write_bytecode = True
import plot  # noqa: E402

NAN = float("nan")
ENTROPY = [[0.5, 1.5, NAN], [1.0, 2.0, 0.25]]
ABLATION = [[-0.5, 0.25, NAN], [0.0, 1.0, 0.125]]


def write_trial(path, heads=True, pruning=True):
    with h5py.File(path, "w") as file:
        file.attrs["trial_id"] = "heads-3_seed-1"

        def put(name, values, unit, long_name):
            data = file.create_dataset(name, data=np.asarray(values))
            data.attrs["units"] = unit
            data.attrs["long_name"] = long_name

        if heads:
            site = "heads/decoder_self/"
            put(site + "layer", [0, 1], "1", "layer")
            put(site + "head", [0, 1, 2], "1", "head")
            put(site + "head_state", np.array([[1, 1, 2], [1, 1, 1]], "u1"), "1", "state")
            put(site + "entropy", np.array(ENTROPY), "nat", "entropy of the pattern")
            put(site + "entropy_standard_error", np.array(ENTROPY) / 10, "nat", "its error")
            put(site + "importance_ablation", np.array(ABLATION), "nat", "rise of the nll")
        if pruning:
            for method, nll in (("by_entropy", [[1.0, 1.5, 4.0]]), ("random", [[1.0, 2.0, 4.0], [1.0, 3.0, 5.0]])):
                put(f"pruning/{method}/heads_left", [5, 4, 0], "1", "heads left")
                put(f"pruning/{method}/nll", nll, "nat", "negative log-likelihood")


class Plot(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.trial = os.path.join(self.folder.name, "trial.h5")

    def tearDown(self):
        plot.plt.close("all")
        self.folder.cleanup()

    def draw(self, *arguments):
        with h5py.File(self.trial, "r") as file:
            return plot.draw(file, *arguments)

    def test_curves_show_mean_and_range_against_the_share_removed(self):
        write_trial(self.trial)
        axes = self.draw().axes[0]
        lines = {line.get_label(): line.get_xydata() for line in axes.lines}
        np.testing.assert_allclose(lines["by_entropy"], [[0, 1], [20, 1.5], [100, 4]])
        np.testing.assert_allclose(lines["random (2 orders)"], [[0, 1], [20, 2.5], [100, 4.5]])
        (band,) = axes.collections
        corners = {tuple(np.round(corner, 9)) for corner in band.get_paths()[0].vertices}
        self.assertLessEqual({(20, 2), (20, 3), (100, 4), (100, 5)}, corners)
        self.assertEqual(axes.get_ylabel(), "nll (nat)")

    def test_the_grid_shows_the_chosen_measure_and_leaves_absent_heads_out(self):
        write_trial(self.trial)
        for measure, values in (("entropy", ENTROPY), ("importance_ablation", ABLATION)):
            (image,) = self.draw(measure, "decoder_self").axes[1].images
            np.testing.assert_array_equal(image.get_array().filled(NAN), values)
            self.assertTrue(image.get_array().mask[0, 2])
        self.assertEqual(image.get_clim(), (-1.0, 1.0))  # both signs: centred at 0

    def test_a_file_with_one_kind_has_one_panel(self):
        write_trial(self.trial, pruning=False)
        self.assertEqual(len([a for a in self.draw().axes if a.images]), 1)
        write_trial(self.trial, heads=False)
        self.assertEqual(len(self.draw().axes), 1)

    def test_what_is_not_there_is_told(self):
        write_trial(self.trial)
        with self.assertRaisesRegex(SystemExit, "no measure 'entrpy'; it has: entropy, importance_ablation"):
            self.draw("entrpy")
        with self.assertRaisesRegex(SystemExit, "no site 'cross'"):
            self.draw(None, "cross")
        write_trial(self.trial, heads=False, pruning=False)
        with self.assertRaisesRegex(SystemExit, "neither"):
            self.draw()

    def test_the_command_writes_a_picture(self):
        write_trial(self.trial)
        picture = os.path.join(self.folder.name, "heads.png")
        command = [sys.executable, SCRIPT, self.trial, "-o", picture, "--measure", "entropy"]
        subprocess.run(command, check=True)
        pixels = matplotlib.image.imread(picture)
        self.assertGreater(pixels.shape[1], pixels.shape[0])
        colours = {tuple(colour) for colour in np.round(pixels[::3, ::3, :3].reshape(-1, 3), 2)}
        self.assertGreater(len(colours), 50)
        damaged = subprocess.run([sys.executable, SCRIPT, __file__, "-o", picture], capture_output=True, text=True)
        self.assertNotEqual(damaged.returncode, 0)
        self.assertIn("cannot read", damaged.stderr)


if __name__ == "__main__":
    unittest.main()
