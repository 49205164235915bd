# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
make-profile a.fxt <"$L/demo"
kymo leaks a.fxt --json --top 3
# The stable part of the format.
kymo leaks a.fxt --json | gojq '
	(.processes | length) == 1 and
	(.processes[0] | (.pid == 100) and (.process == "demo") and (.unmatched_frees == 3) and (.lost == 0)) and
	([.processes[0].leaks[] | select(.first_ns > .last_ns or .blocks == 0)] | length) == 0 and
	([.processes[0].leaks[0].frames[] | keys | contains(["address", "function", "module", "source", "line"])] | all)'
# Without the files, a stack is complete if a program or the C library can be its start: not at
# other libraries, not in code without a file (also that of run-time compilers), and not where it can
# be cut off (64 frames). A memfd with a build id is a file, and the program if it was mapped first.
make-profile b.fxt <"$L/starts"
kymo leaks b.fxt --json --top 99 |
	gojq -r '[.processes[].leaks[]] | sort_by(.bytes)[] |
		"\(.bytes) \(.frames | length) \(.frames[-1].module) \(.stack_complete)"'
