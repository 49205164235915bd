# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where processes stand: for a test that did not end, or that waits in vain. Needs slowness.sh.

# stacks PID: of its threads, as far as a debugger finds them
stacks() {
	if command -v eu-stack >/dev/null; then
		timeout "$(limit 5)" eu-stack -p "$1"
	elif command -v gdb >/dev/null; then
		timeout "$(limit 10)" gdb -q -nx -nh -batch -iex 'set auto-load off' -ex 'thread apply all bt' -p "$1"
	else
		echo "(no stacks: there is neither eu-stack nor gdb)"
	fi 2>&1 | sed -n 1,60p
}

# where PID: its state, and that of each thread in the kernel
where() {
	local task

	echo "--- $1: $(tr '\0' ' ' <"/proc/$1/cmdline" | cut -c1-200)"
	for task in "/proc/$1/task"/*; do
		printf '%s (%s), %s, in %s\n' "${task##*/}" "$(cat "$task/comm")" \
			"$(sed -n 's/^State:[[:space:]]*//p' "$task/status")" "$(cat "$task/wchan")"
		sed 's/^/    kernel: /' "$task/stack"
	done 2>/dev/null | sed -n 1,100p
	stacks "$1" | sed 's/^/    /'
}
