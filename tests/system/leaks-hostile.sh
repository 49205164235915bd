#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Processes that are hard to watch: the possible results are found, the others are reported as
# missing, no process is harmed, and nothing is left behind.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../plants.sh"
need_btf
need_command nm readelf
remember_bpf
HOSTILE=$LEAK_PROGRAMS/leak-hostile

# watch_it NAME [OPTION ...]: records plant NAME during all its actions
watch_it() {
	local name=$1

	shift
	start_watching "$TMP/t.fxt" -p "${PLANT[$name]}" "$@"
	expect_soon 20 is_watched "${PLANT[$name]}"
	feed "$name"
	wait_truth "$name" 1
	expect_soon 5 is_asleep "${PLANT[$name]}"
	stop_watching
	text_is_clean "${PLANT[$name]}" || fail "$name: probes are left"
	feed "$name"
	end_plant "$name"
	expect_exit 0 "$KYMO" check "$TMP/t.fxt"
	list_blocks "$TMP/t.fxt"
	truth_line "$name" 1
}

note "files that are nearly programs"
mkdir "$TMP/bogus"
start_plant bogus "$HOSTILE" bogus "$TMP/bogus"
watch_it bogus
expect_planted "$HOSTILE" frames "with strange files"

note "a program that is not there any more"
cp "$LEAK_PROGRAMS/leak-plant-static" "$TMP/deleted"
start_plant deleted "$TMP/deleted" list buffers
mv "$TMP/deleted" "$TMP/kept"
cp "$TMP/kept" "$TMP/deleted"
rm "$TMP/kept"
watch_it deleted
sed -i "s|$TMP/kept (deleted)+|$TMP/deleted+|g" "$BLOCKS"
expect_planted "$TMP/deleted" frames "without its file"

note "a program that loses the code of its C library"
if [ "$(uname -m)" = x86_64 ]; then
	start_plant untext "$HOSTILE" untext
	watch_it untext
	assert_eq "$(json "$TRUTH" .gone)" true "the answer of the program without a C library"
fi

note "a library that comes and goes"
start_plant library "$HOSTILE" library "$STACK_LIBRARY"
watch_it library
expect_planted "$HOSTILE" frames "with a library that comes and goes"

note "many threads"
start_plant threads "$HOSTILE" threads 10000
watch_it threads
expect_planted "$HOSTILE" frames "with many threads"
assert_eq "$(watched "${PLANT[threads]}" lost full no_stack)" "0 0 0" "lost, full, no_stack"

note "many children"
start_plant children "$HOSTILE" children 500
watch_it children
expect_planted "$HOSTILE" frames "with many children"
# All of them are reported, and also that their actions before the probes are unknown.
pid=${PLANT[children]}
events watch | gojq -r ".process_id" | grep -vx "$pid" | sort >"$TMP/seen"
events watched | gojq -r ".process_id" | grep -vx "$pid" | sort | diff "$TMP/seen" - >&2 ||
	fail "children whose watch has begun, and ended"
assert_eq "$(wc -l <"$TMP/seen")" 500 "children of which something is said"
assert_eq "$(events watch | gojq -r 'select(.args.complete) | .process_id')" "" "processes that are not watched from the beginning"

note "a program that becomes another one, again and again"
start_plant execs "$HOSTILE" execs 100
watch_it execs
pid=${PLANT[execs]}
watched "$pid" reason | sort | uniq -c | awk '{ print $2, $1 }' >"$TMP/ends"
printf '%s\n' "exec 100" "stop 1" | diff - "$TMP/ends" >&2 || fail "programs that began and ended"
awk -v pid="$pid" '$3 == pid && $4 == 70' "$BLOCKS" >"$TMP/last"
assert_eq "$(wc -l <"$TMP/last")" 1 "blocks of the last program"

note "children that become other programs, and end at once"
mkfifo "$TMP/short.fifo"
bash -c 'read -r _; for ((i = 0; i < 30; i++)); do /bin/true; done; read -r _' <"$TMP/short.fifo" &
pid=$!
exec {short_fd}>"$TMP/short.fifo"
start_watching "$TMP/t.fxt" -p "$pid"
expect_soon 20 is_watched "$pid"
echo >&"$short_fd"
# The children of which a kind of event speaks, one line an event.
children() {
	events "$1" | gojq -r ".process_id" | grep -vx "$pid" | sort || true
}
# (kymo notices each end when it checks all watched processes; a child ends twice, as bash and as
# the program)
have_ended() {
	# (an archive that is being written may not be readable yet)
	dump_records "$TMP/t.fxt" && [ "$(children watched | uniq | wc -l)" -ge 30 ]
}
expect_soon 20 have_ended
stop_watching
exec {short_fd}>&-
wait "$pid" || true
dump_records "$TMP/t.fxt"
# The child of bash, and the program that it executed. Each watch that began has ended.
for what in watch watched; do
	children $what >"$TMP/$what"
done
assert_eq "$(sort -u "$TMP/watch" | wc -l)" 30 "children of which something is said"
diff "$TMP/watch" "$TMP/watched" >&2 || fail "children whose watch has begun, and ended"

note "a table that is too small says so"
start_plant full "$HOSTILE" threads 5000
watch_it full --memory-blocks 1024
assert_le "$(wc -l <"$BLOCKS")" 1024 "blocks of a table for 1024"
assert_ge $(($(watched "${PLANT[full]}" full) + $(awk '$4 == 30' "$BLOCKS" | wc -l))) 5000 \
	"blocks that there was room for, and others"
no_bpf_left "recordings of hostile programs"
