# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# json_row KIND METRIC UNIT: prints one result of a benchmark as a line of JSON, for bench/all.
# Standard input has the value of each run, one per line. Other lines are skipped. Without values,
# nothing is printed.
json_row() {
	awk -v kind="$1" -v metric="$2" -v unit="$3" '
		$1 ~ /^-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/ { runs = runs (n++ ? ", " : "") $1 }
		END {
			if (n)
				printf "{\"kind\": \"%s\", \"metric\": \"%s\", \"unit\": \"%s\", \"runs\": [%s]}\n",
					kind, metric, unit, runs
		}'
}
