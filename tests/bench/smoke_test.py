#!/usr/bin/python3
"""smoke_test.py LINES KEY,KEY,... PROGRAM ARGUMENT...

A benchmark, run at a size that takes no time, prints as many lines, each a JSON object with these keys and with numbers
that are positive and finite. With --serve the first line only greets.
"""

import json
import math
import subprocess
import sys


def numbers(value):
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, float) else []


def main():
    expected, keys, command = int(sys.argv[1]), set(sys.argv[2].split(",")), sys.argv[3:]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, input="go 1\ngo 2\n", text=True).stdout.splitlines()
    assert len(lines) == expected, f"{len(lines)} lines, not {expected}"
    for line in lines["--serve" in command:]:
        found = json.loads(line)
        assert keys <= found.keys(), f"{keys - found.keys()} missing in {line}"
        for key in keys:
            for number in numbers(found[key]):
                assert math.isfinite(number) and (number > 0 or key == "exponent"), f"{key} in {line}"


if __name__ == "__main__":
    main()
