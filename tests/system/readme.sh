#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The commands of the README that need no service, unchanged: in a directory with the files that
# they use, and shortened only where they would wait.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../pages.sh"
need_btf
need_command gcc

page_commands "$ROOT/README.md" '^Start with these' '^`kymo open`' >"$TMP/commands"
assert_ge "$(wc -l <"$TMP/commands")" 15 "commands of the README"

page_programs
mkdir "$TMP/cwd"
ln -s "$(command -v cat)" "$TMP/bin/less"
printf '#!/bin/sh\necho made\n' >"$TMP/bin/make"
chmod 755 "$TMP/bin/make"
cd "$TMP/cwd" || exit
printf 'int main(int n, char **words)\n{\n\treturn n > 99 && words[0];\n}\n' >main.c
gcc -g -o program main.c
sleep 300 &
watched=$!
# (an idle machine has no samples to show)
nice -n 19 bash -c 'while [ -d "$1" ]; do head -c 1M /dev/zero >/dev/null; done' - "$TMP" &
load=$!

# Files that exist before, or that some commands read.
"$KYMO_LOAD" --out /dev/null pingpong 1000 >/dev/null 2>&1 || :
prepare() {
	[ -e before.fxt ] || for name in before after a b; do cp t.fxt "$name.fxt"; done
	head -c -1000 t.fxt >broken.fxt
	[ -e t.fxt.zst ] || kymo export t.fxt -o t.fxt.zst 2>/dev/null
	cp "$ROOT/tests/golden/rtrace/everything.txt" app.rtrace.txt
	"$MAKE_APITRACE" app.trace
	cp "$ROOT/tests/fuzz/corpus/tfile/little" app.tf
	cp "$ROOT/tests/fuzz/corpus/tracedb/w64" app.tdb
}

while read -r command; do
	expected=0
	run=$command
	case $command in
	"kymo top") run="$run -n 1" ;;
	"kymo open "*)
		run="$run --no-browser --port 0 --timeout 100ms"
		expected=1 # no browser connects
		;;
	esac
	run=$(page_shorter "${run/PID/$watched}")
	note "$run"
	[ ! -e t.fxt ] || prepare
	[ "$expected" != 0 ] || expected="0|3"
	expect_exit "$expected" bash -c "$run"
	if [ "$expected" = "0|3" ] && [ "$exit_status" = 3 ]; then
		page_loss_has_reason || [ "$(loss_told_by t.fxt)" -gt 0 ] ||
			fail "exit status 3 without a reason: $run"
	fi
done <"$TMP/commands"
for file in t.fxt all.fxt make.fxt t.fxt.svg named.fxt t.fxt.gz part.fxt whole.fxt both.fxt public.fxt; do
	[ -s "$file" ] || fail "the README's commands leave no $file"
done
kill "$watched" "$load"

# The summary in the README has the lines of this version.
expect_exit "0|3" kymo summary -n 3 t.fxt
page_shape <"$TMP/stdout" >"$TMP/summary"
sed -n '/^    \$ kymo summary/,/^[^ ]/s/^    //p' "$ROOT/README.md" | page_shape >"$TMP/readme-summary"
for line in 'CPU BUSY SWITCHES' 'TID CPU % RUNNABLE BLOCKED SWITCHES MAX WAIT THREAD' \
	'SELF TOTAL FUNCTION, of N samples' 'switches N, wakeups N, migrations N, forks N, execs N, exits N' \
	'... and N other threads (-n shows more)'; do
	assert_line "$TMP/readme-summary" "$line" "the README's summary"
	assert_line "$TMP/summary" "$line" "a summary"
done
