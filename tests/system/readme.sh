#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The commands of the README that need no service, as they stand there: in a directory with the
# files that they speak of, and only shorter where they would wait.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command gcc

# The block behind "Without a daemon", without the remarks.
# shellcheck disable=SC2016 # no expansion
sed -n '/^Without a daemon/,/^`kymo open`/s/^    \(.*\)/\1/p' "$ROOT/README.md" | sed 's/ *#.*//' >"$TMP/commands"
assert_ge "$(wc -l <"$TMP/commands")" 15 "commands of the README"

mkdir "$TMP/bin" "$TMP/cwd"
ln -s "$(realpath "$KYMO")" "$TMP/bin/kymo"
ln -s "$(command -v cat)" "$TMP/bin/less"
printf '#!/bin/sh\necho made\n' >"$TMP/bin/make"
chmod 755 "$TMP/bin/make"
PATH=$TMP/bin:$PATH
cd "$TMP/cwd" || exit
printf 'int main(int n, char **words)\n{\n\treturn n > 99 && words[0];\n}\n' >main.c
gcc -g -o program main.c
sleep 300 &
watched=$!
# (an idle machine has no samples to show)
# shellcheck disable=SC2016 # for the other shell
nice -n 19 bash -c 'while [ -d "$1" ]; do head -c 1M /dev/zero >/dev/null; done' - "$TMP" &
load=$!

# What is there before, and what some commands read.
"$KYMO_LOAD" --out /dev/null pingpong 1000 >/dev/null 2>&1 || :
prepare() {
	[ -e before.fxt ] || for name in before after a b; do cp t.fxt "$name.fxt"; done
	head -c -1000 t.fxt >broken.fxt
	[ -e t.fxt.zst ] || kymo export t.fxt -o t.fxt.zst 2>/dev/null
	cp "$ROOT/tests/golden/rtrace/everything.txt" app.rtrace.txt
	"$MAKE_APITRACE" app.trace
	cp "$ROOT/tests/fuzz/corpus/tfile/little" app.tf
}

# something_is_missing: by the last command, or by the archive
something_is_missing() {
	cat "$TMP/stdout" >>"$TMP/stderr"
	less_was_recorded || [ "$(loss_told_by t.fxt)" -gt 0 ]
}

while read -r command; do
	expected=0
	run=$command
	case $command in
	"kymo top") run="$run -n 1" ;;
	"kymo open "*)
		run="$run --no-browser --port 0 --timeout 100ms"
		expected=1 # nobody comes
		;;
	esac
	run=$(sed "s/ -d [0-9]*/ -d 1/; s/PID/$watched/" <<<"$run")
	note "$run"
	[ ! -e t.fxt ] || prepare
	# Losing something on a machine that does much else is no fault of the README.
	[ "$expected" != 0 ] || expected="0|3"
	expect_exit "$expected" bash -c "$run"
	if [ "$expected" = "0|3" ] && [ "$exit_status" = 3 ]; then
		something_is_missing || fail "exit status 3 without a reason: $run"
	fi
done <"$TMP/commands"
for file in t.fxt all.fxt make.fxt t.fxt.svg named.fxt t.fxt.gz part.fxt whole.fxt both.fxt public.fxt; do
	[ -s "$file" ] || fail "the README's commands leave no $file"
done
kill "$watched" "$load"

# The summary in the README has the lines of this version.
without_numbers() {
	sed 's/[0-9][0-9.]*/N/g; s/  */ /g'
}
kymo summary -n 3 t.fxt | without_numbers >"$TMP/summary"
sed -n '/^    \$ kymo summary/,/^[^ ]/s/^    //p' "$ROOT/README.md" | without_numbers >"$TMP/readme-summary"
for words in '^ CPU BUSY SWITCHES$' '^ TID CPU % RUNNABLE BLOCKED SWITCHES MAX WAIT THREAD$' \
	'^ SELF TOTAL FUNCTION, of N samples$' '^switches N, wakeups N, migrations N, forks N, execs N, exits N$' \
	'and N threads with less (-n shows more)$'; do
	grep -q -- "$words" "$TMP/readme-summary" || fail "the README's summary has no line '$words'"
	grep -q -- "$words" "$TMP/summary" || fail "a summary has no line '$words'"
done
