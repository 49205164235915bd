# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
make-profile a.fxt <"$L/demo"
make-profile b.fxt <"$L/later"
kymo leaks b.fxt --diff a.fxt
kymo leaks b.fxt --diff a.fxt --json | gojq -c '[.processes[].leaks[] | [.blocks, .old_blocks, .bytes, .old_bytes]], [.gone[] | [.resource, .old_blocks, .old_bytes]]'
kymo leaks a.fxt --diff a.fxt --json | gojq -c '[.processes[].leaks[] | .bytes - .old_bytes], .gone'
