#!/usr/bin/python3
"""The arithmetic of bench/against_torch on numbers worked by hand."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench/against_torch"
loader = importlib.machinery.SourceFileLoader("against_torch", str(SCRIPT))
against_torch = importlib.util.module_from_spec(importlib.util.spec_from_loader("against_torch", loader))
loader.exec_module(against_torch)


class Summary(unittest.TestCase):
    def test_the_ratio_is_the_median_of_the_rounds_ratios(self):
        # ratios 0.5, 2 and 1; the ratio of the medians would be 20 / 30
        found = against_torch.summary([(10, 20), (60, 30), (20, 20), (20, 40), (90, 90)])
        self.assertEqual(found, {"headcount_ms": 20, "peer_ms": 30, "ratio": 1, "ratio_range": [0.5, 2]})

    def test_two_rounds_meet_in_the_middle(self):
        self.assertEqual(against_torch.summary([(1, 2), (3, 4)])["ratio"], 0.625)


class Surroundings(unittest.TestCase):
    def test_settings_of_other_libraries_do_not_reach_the_programs(self):
        against_torch.os.environ.update(OPENBLAS_CORETYPE="x", OMP_NUM_THREADS="7", LD_PRELOAD="x", HEADCOUNT_KEPT="y")
        arguments = type("", (), {"threads": 2})
        found = against_torch.surroundings(arguments, {"OPENBLAS_CORETYPE": "HASWELL"})
        self.assertEqual(found["OPENBLAS_CORETYPE"], "HASWELL")
        self.assertEqual(found["OMP_NUM_THREADS"], "2")
        self.assertEqual(found["HEADCOUNT_KEPT"], "y")
        self.assertNotIn("LD_PRELOAD", found)


if __name__ == "__main__":
    unittest.main()
