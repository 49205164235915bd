# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
make-profile a.fxt <"$L/demo"
kymo leaks a.fxt --suppressions "$L/demo.supp" | sed -n '1,8p; /^suppressed/,$p'
kymo leaks a.fxt --suppressions "$L/demo.supp" --json 2>/dev/null | gojq -c '.suppressed, [.processes[].leaks[].verdict]'
printf 'leak:main\nrace:x\n' >bad
kymo leaks a.fxt --suppressions bad
echo "exit $?"
kymo leaks a.fxt --suppressions missing
kymo leaks a.fxt --suppressions .
printf '\0' >nul
kymo leaks a.fxt --suppressions nul
printf 'leak:demo\nleak:libc\n' >all
kymo leaks a.fxt --suppressions all --suppressions "$L/demo.supp" --fail-over 0 2>/dev/null
echo "exit $?"
