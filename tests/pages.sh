# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Commands and outputs on pages of the documentation, for tests that run them:
#
#	. "$(dirname "$0")/../lib.sh"
#	. "$(dirname "$0")/../pages.sh"
#
# They are in lines with an indentation of four. In a transcript, a command begins with "$ " and its
# output follows. In it, a line "..." stands for any lines.

# page_commands FILE FROM TO: prints the commands between two lines, without remarks, one per line
page_commands() {
	sed -n "/$2/,/$3/s/^    \(.*\)/\1/p" "$1" | sed 's/ *#.*//' | sed -e :a -e '/\\$/{ N; s/ *\\\n */ /; ta' -e '}'
}

# page_example FILE N: prints the Nth example of a manual page
page_example() {
	awk -v n="$2" '/^\.EX$/ { inside = ++i == n; next } /^\.EE$/ { inside = 0 } inside' "$1" |
		sed 's/\\e/\\/g; s/\\-/-/g'
}

# page_programs: makes the commands of the page find kymo
page_programs() {
	mkdir "$TMP/bin"
	ln -s "$(realpath "$KYMO")" "$TMP/bin/kymo"
	PATH=$TMP/bin:$PATH
}

# page_shorter COMMAND: shortens it to a recording of a second. Reports have more rows than on the
# page: on a busy machine, other processes have the first ones. (A summary must still have rows that
# it does not show.)
page_shorter() {
	printf '%s\n' "$1" | sed 's/ -d [0-9]*/ -d 1/; s/^kymo diff /&-n 100000 /
		/^kymo summary .*-n/!s/^kymo summary /&-n 60 /'
}

# page_transcript FILE DIRECTORY: writes each command and its output to N.command and N.output
page_transcript() {
	awk -v to="$2" '
		function finish() {
			if (count)
				close(output)
			empty = 0
		}
		/^    \$ / {
			finish()
			count++
			command = sprintf("%s/%02d.command", to, count)
			output = sprintf("%s/%02d.output", to, count)
			printf "" >output
			is_command = is_transcript = 1
			$0 = "    " substr($0, 7)
		}
		/^$/ {
			empty++
			next
		}
		!/^    / { is_transcript = 0 }
		!is_transcript { next }
		is_command {
			print substr($0, 5) >command
			is_command = /[|\\]$/ || (quotes += gsub(/\047/, "")) % 2
			if (!is_command)
				close(command)
			empty = 0
			next
		}
		{
			for (; empty > 0; empty--)
				print "" >output
			print substr($0, 5) >output
		}' "$1"
}

# page_shape: prints the constant part of an output: without numbers, directories, the machine, the
# sampled functions, and the arguments of processes that kymo diff shows
page_shape() {
	sed -E '
		s/^ *[0-9.]+% +[0-9.]+%  .*/FUNCTION/
		s/[^ ]+ \([^ ]+, Linux [^)]*\)/MACHINE/
		s|/[^ ]*/||g
		s/\[[0-9]+, [0-9]+\]//
		s/~ / /
		s/(only [AB]|new|=)( |$)/N\2/g
		s/[-+x]?[0-9][0-9.]*( ?(ns|us|ms|s|B|KiB|MiB|GiB|pp|%)\b)?%?(\/s)?/N/g
		:dash
		s/(^| )-( |$)/\1N\2/
		t dash
		s/[[:space:]]+/ /g
		s/^ | $//g
		s/^((N ){6}[^ ,]+).*/\1/'
}

# page_agrees EXPECTED ACTUAL: whether each line of the output on the page has a line of the same
# shape in the actual one; and the other way round, if the page shows all lines. The order of lines
# is not compared, because it often depends on times. Messages about losses, and about processes of
# other programs that have files of their own, are ignored.
page_agrees() {
	page_shape <"$1" | grep -vxF -e ... -e '' | sort >"$TMP/expected.shape" || true
	grep -vE "$LESS_RECORDED| mapped other files than those with probes, so calls in (it|them) are missing: " "$2" |
		page_shape | grep -vx '' | sort >"$TMP/actual.shape" || true
	if grep -qxF ... "$1"; then
		comm -23 "$TMP/expected.shape" "$TMP/actual.shape" >"$TMP/differences"
	else
		diff "$TMP/expected.shape" "$TMP/actual.shape" >"$TMP/differences" || true
	fi
	[ ! -s "$TMP/differences" ]
}

# page_loss_has_reason: whether the last command, whose output is in $TMP/stdout and $TMP/stderr, had
# a reason for exit status 3. A busy machine can lose events, and in an idle one a function may not be
# called, which is no fault of the page.
page_loss_has_reason() {
	cat "$TMP/stdout" >>"$TMP/stderr"
	less_was_recorded || grep -F ': no event of category ' "$TMP/stderr"
}

# page_run FILE: runs the transcript of the page, in this shell. A command exits with 0, or with the
# status that its output shows.
page_run() {
	local command output text expected status wrong

	mkdir -p "$TMP/page"
	page_transcript "$1" "$TMP/page"
	for command in "$TMP"/page/*.command; do
		output=${command%.command}.output
		text=$(page_shorter "$(cat "$command")")
		note "$text"
		expected=$(sed -n 's/.* exited with \([0-9]*\)$/\1/p' "$output")
		status=0
		# shellcheck disable=SC2034
		{ eval "$text"; } >"$TMP/stdout" 2>"$TMP/stderr" </dev/null || status=$?
		cp "$TMP/stdout" "$TMP/actual"
		cat "$TMP/stderr" >>"$TMP/actual"
		wrong=
		page_agrees "$output" "$TMP/actual" ||
			wrong="the page shows another output of '$text': $(cat "$TMP/differences")"
		if [ "$status" != "${expected:-0}" ] && { [ "$status" != 3 ] || ! page_loss_has_reason; }; then
			wrong="exit status $status instead of ${expected:-0}: $text"
		fi
		[ -z "$wrong" ] || {
			sed 's/^/    | /' "$TMP/actual" >&2
			fail "$wrong"
		}
	done
}
