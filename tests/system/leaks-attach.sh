#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The reach of memory recordings: a process with its own mount namespace and C library, several
# allocators in one session, children and new programs. All of them continue unaffected.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../plants.sh"
need_btf
need_command nm readelf unshare gcc

# look_at NAME LINE HOW: checks the leaks of the process that plant NAME printed in line LINE
look_at() {
	truth_line "$1" "$2"
	expect_planted "${4:-${PLANT_FILE[$1]}}" "$3" "$1, line $2"
}

note "several processes under one session, each with another allocator"
parts=(list buffers aligned large)
n=0
for kind in frames musl jemalloc static; do
	[ -x "$LEAK_PROGRAMS/leak-plant-$kind" ] || continue
	# Each of them does something else.
	start_plant "$kind" "leak-plant-$kind" "${parts[@]:n % 4:2}" rows
	n=$((n + 1))
done
start_plant unseen leak-plant-frames list buffers
pids=$(printf '%s,' "${PLANT[@]}")
pids=${pids//${PLANT[unseen]},/}
start_watching "$TMP/t.fxt" -p "${pids%,}"
for kind in "${!PLANT[@]}"; do
	[ "$kind" = unseen ] || expect_soon 20 is_watched "${PLANT[$kind]}"
done
text_is_clean "${PLANT[unseen]}" || fail "a process that nobody asked for has probes"
for kind in "${!PLANT[@]}"; do
	feed "$kind"
done
for kind in "${!PLANT[@]}"; do
	wait_truth "$kind" 1
	expect_soon 5 is_asleep "${PLANT[$kind]}"
done
stop_watching
list_blocks "$TMP/t.fxt"
for kind in "${!PLANT[@]}"; do
	text_is_clean "${PLANT[$kind]}" || fail "$kind: probes are left"
	[ "$kind" = unseen ] || look_at "$kind" 1 frames
	feed "$kind"
	end_plant "$kind"
done
assert_eq "$(awk -v pid="${PLANT[unseen]}" '$3 == pid' "$BLOCKS" | wc -l)" 0 "blocks of a process that nobody asked for"

note "from the first instruction on"
for kind in frames static jemalloc tcmalloc musl musl-static; do
	program=$LEAK_PROGRAMS/leak-plant-$kind
	[ -x "$program" ] || continue
	expect_exit 0 "$KYMO" leaks --direct --force -e memory -o "$TMP/t.fxt" -- "$program" list buffers rows old
	nothing_lost
	head -1 "$TMP/stdout" >"$TMP/begun.json"
	list_blocks "$TMP/t.fxt"
	truth_line begun 1
	# (here, earlier allocations are known, too)
	gojq -c '.leaks += [{chain: "make_node,make_old,main", blocks: 4, bytes: 2000}]' "$TRUTH" >"$TMP/known"
	mv "$TMP/known" "$TRUTH"
	expect_planted "$program" frames "$kind, from the first instruction on"
	expect_reported "$TMP/t.fxt" frames "$kind, from the first instruction on"
	pid=$(json "$TRUTH" .pid)
	# (the first watch is of kymo itself, before its exec)
	watched "$pid" reason lost unmatched failed | tail -1 >"$TMP/end"
	assert_eq "$(cat "$TMP/end")" "exit 0 0 5" "$kind: end, lost, unmatched, failed"
	assert_eq "$(events watch | gojq -r '.args.complete' | tail -1)" true "$kind: whether all of it is known"
	expect_exit 0 "$KYMO" check "$TMP/t.fxt"
	assert_eq "$({ grep -cE "memory-|snapshot-" "$TMP/stdout" || true; })" 0 "$kind: complaints of kymo check"
done

has_patches() {
	[ "$("$MEMORY_LOAD" patched "$1")" -gt "$2" ]
}

# after_exec STATUS GAP WATCHES PROGRAM ARGUMENT ...: records a program that other programs execute.
# It waits until its probes are in place, which is the watch WATCHES, loses blocks, and ends. Before
# that, it loads a library if the first ARGUMENT is "late". --fail-over must return STATUS, because
# of GAP.
after_exec() {
	local expected=$1 gap=$2 watches=$3 job pid status=0 name patched

	shift 3
	for name; do
		case $name in */leak-plant-* | "$EXIT_LOAD") break ;; esac
	done
	name=$(basename "$name")
	name=${name:0:15}
	rm -f "$TMP/t.fxt" "$TMP/go"
	mkfifo "$TMP/go"
	exec 9<>"$TMP/go"
	"$KYMO" leaks --direct --force -e memory -o "$TMP/t.fxt" --fail-over 1G -- \
		"$EXIT_LOAD" exec "$@" <"$TMP/go" >"$TMP/stdout" 2>"$TMP/stderr" 9>&- &
	job=$!
	expect_soon 30 pgrep -P "$job" -x "$name"
	pid=$(pgrep -P "$job" -x "$name")
	expect_soon 30 has_watches "$TMP/t.fxt" "$pid" "$watches"
	if [ "$2" = late ]; then
		patched=$("$MEMORY_LOAD" patched "$pid")
		echo >&9
		expect_soon 30 has_patches "$pid" "$patched"
	fi
	exec 9>&-
	wait "$job" || status=$?
	assert_eq "$status" "$expected" "exit status: $(cat "$TMP/stderr")"
	dump_records "$TMP/t.fxt"
	events watched | gojq -rs 'last.args.text // ""' >"$TMP/gap"
	assert_eq "$(grep -c "$gap" "$TMP/gap")" 1 "the gap: $(cat "$TMP/gap")"
}

note "an allocator that comes with an exec, after the probes of the C library"
after_exec 0 '^$' 3 "$LEAK_PROGRAMS/leak-plant-frames" --held list buffers
for kind in jemalloc static; do
	[ ! -x "$LEAK_PROGRAMS/leak-plant-$kind" ] ||
		after_exec 4 'after the program had begun' 3 "$LEAK_PROGRAMS/leak-plant-$kind" --held list buffers
done
expect_exit 4 "$KYMO" leaks --direct --fail-over 1G -- "$EXIT_LOAD" threadexec "$LEAK_PROGRAMS/leak-plant-frames" list
assert_says "$TMP/stderr" 'not watched' "what is said of an exec by another thread"

note "programs that call exec before their files are examined"
after_exec 0 '^$' 5 /usr/bin/env A=1 nice "$LEAK_PROGRAMS/leak-plant-frames" --held list buffers
assert_eq "$(events watched | gojq -rs 'map(.args.text // "" | select(. != "")) | length')" 0 "gaps of such programs"

note "an allocator in a library that is loaded later"
gcc -O2 -fPIC -shared -o "$TMP/late.so" -x c - <<'END'
#include <stdlib.h>
void *je_malloc(size_t n) { return malloc(n); }
void je_free(void *block) { free(block); }
END
after_exec 0 '^$' 3 "$EXIT_LOAD" late "$TMP/late.so"
note "the same, with blocks of its own"
gcc -O2 -fPIC -shared -o "$TMP/late.so" -x c - <<'END'
#include <stdlib.h>
static char all[65536];
static size_t used;
void *je_malloc(size_t n) { used += n; return all + used - n; }
void je_free(void *block) { (void)block; }
END
after_exec 4 'an allocator that it loaded after .* got its probes .* later' 3 "$EXIT_LOAD" late "$TMP/late.so"
note "... and its program ends at once, or is held at its end and examined"
gcc -o "$TMP/ends" -x c - <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *library;
	usleep((unsigned)atoi(argv[1]) * 1000);
	library = dlopen(argv[2], RTLD_NOW);
	((void *(*)(size_t))dlsym(library, "je_malloc"))(argc);
	return 0;
}
END
for pause in 0 50 300; do
	expect_exit 4 "$KYMO" leaks --direct --fail-over 1G -- "$TMP/ends" "$pause" "$TMP/late.so"
	assert_contains "$TMP/stderr" 'late[.]so, which it loaded .* was not examined|its earlier blocks are unknown' "the gap"
done
expect_exit 4 "$KYMO" leaks --direct --fail-over 1G --reach look -- "$TMP/ends" 300 "$TMP/late.so"
assert_says "$TMP/stderr" 'its earlier blocks are unknown' "the gap of a held program"

note "a child with inherited blocks, and a new program"
PLANT=()
start_plant family leak-plant-frames --then "$LEAK_PROGRAMS/leak-plant-jemalloc" list fork
[ -x "$LEAK_PROGRAMS/leak-plant-jemalloc" ] || skip "no program with jemalloc was built"
start_watching "$TMP/t.fxt" -p "${PLANT[family]}"
expect_soon 20 is_watched "${PLANT[family]}"
feed family
expect_soon 20 pgrep -P "${PLANT[family]}"
child=$(pgrep -P "${PLANT[family]}")
expect_soon 20 is_watched "$child"
feed family
wait_truth family 2
feed family
# Now it executes another program, which does the same again.
expect_soon 20 grep -qzxF -- "$LEAK_PROGRAMS/leak-plant-jemalloc" "/proc/${PLANT[family]}/cmdline"
expect_soon 20 is_asleep "${PLANT[family]}"
# kymo checks for a while which files it loads. Then it reports the begin of the watch.
expect_soon 20 has_watches "$TMP/t.fxt" "${PLANT[family]}" 2
feed family
expect_soon 20 pgrep -P "${PLANT[family]}"
another=$(pgrep -P "${PLANT[family]}")
expect_soon 20 is_watched "$another"
feed family
wait_truth family 4
stop_watching
feed family
end_plant family
list_blocks "$TMP/t.fxt"
cp "$BLOCKS" "$TMP/all.blocks"
look_at family 1 frames
assert_eq "$(watched "$child" reason unmatched)" "exit 6" "end of the child, and inherited blocks that it freed"
look_at family 3 frames "$LEAK_PROGRAMS/leak-plant-jemalloc"
# Both programs have one pid; their ends tell them apart.
watched "${PLANT[family]}" reason lost full >"$TMP/ends"
printf '%s\n' "exec 0 0" "stop 0 0" | diff - "$TMP/ends" || fail "ends of the two programs"
for line in 2 4; do
	file=$LEAK_PROGRAMS/leak-plant-$([ $line = 2 ] && echo frames || echo jemalloc)
	truth_line family $line
	# (frames distinguish the programs)
	grep -F " $file+" "$TMP/all.blocks" >"$BLOCKS"
	expect_planted "$file" frames "family, line $line"
done

note "in a mount namespace of its own, with a C library of its own"
PLANT=()
mkdir "$TMP/root" "$TMP/lib"
libc=$(ldd "$LEAK_PROGRAMS/leak-plant-frames" | awk '/libc\.so/ { print $3 }')
cp -L "$libc" "$TMP/lib/libc.so.6"
cp "$LEAK_PROGRAMS/leak-plant-frames" "$TMP/inside"
cat >"$TMP/enter" <<-END
	#!/bin/sh
	mount -t tmpfs none $TMP/root && cp $TMP/lib/libc.so.6 $TMP/inside $TMP/root || exit 1
	LD_LIBRARY_PATH=$TMP/root exec $TMP/root/inside "\$@"
END
mkfifo "$TMP/boxed.fifo"
exec {fd}<>"$TMP/boxed.fifo"
# shellcheck disable=SC2034 # for end_plant
PLANT_FD[boxed]=$fd
unshare --mount sh "$TMP/enter" --held old list buffers threads <"$TMP/boxed.fifo" \
	>"$TMP/boxed.json" 2>"$TMP/boxed.stderr" &
PLANT[boxed]=$!
expect_soon 10 grep -qx inside "/proc/$!/comm"
expect_soon 10 is_asleep "$!"
[ ! -e "$TMP/root/inside" ] || fail "the namespace can be looked into"
grep -qF "$TMP/root/libc.so.6" "/proc/$!/maps" || fail "it has not loaded its own C library"
start_watching "$TMP/t.fxt" -p "${PLANT[boxed]}"
expect_soon 20 is_watched "${PLANT[boxed]}"
feed boxed
wait_truth boxed 1
expect_soon 5 is_asleep "${PLANT[boxed]}"
stop_watching
text_is_clean "${PLANT[boxed]}" || fail "probes are left in the namespace"
feed boxed
end_plant boxed
list_blocks "$TMP/t.fxt"
truth_line boxed 1
sed -i "s|$TMP/root/inside+|$TMP/inside+|g; s| /inside+| $TMP/inside+|g" "$BLOCKS"
expect_planted "$TMP/inside" frames "in a namespace"

note "a snapshot of a process that goes on"
PLANT=()
start_plant churn "$LEAK_PROGRAMS/leak-hostile" churn 3
pid=${PLANT[churn]}
start_watching "$TMP/t.fxt" -p "$pid"
expect_soon 20 is_watched "$pid"
feed churn
wait_truth churn 1
sleep 0.5
stop_watching
text_is_clean "$pid" || fail "probes are left in what goes on"
list_blocks "$TMP/t.fxt"
truth_line churn 1
awk '$4 == 300' "$BLOCKS" >"$TMP/lost.blocks"
# There are at most as many blocks as the threads have at one time, and none is duplicate.
awk '$4 != 300 && $4 != 272' "$BLOCKS" >"$TMP/churned"
assert_le "$(wc -l <"$TMP/churned")" 6 "blocks that come and go, in three threads"
events block | gojq -r .args.address | sort | uniq -d >"$TMP/twice"
assert_empty "$TMP/twice" "addresses that two blocks have"
assert_eq "$(events snapshot | gojq -r .args.blocks)" "$(wc -l <"$BLOCKS")" "blocks that the snapshot promises"
events usage | gojq -rs 'group_by(.args.stack)[] | last.args | select(.blocks > 0) |
	"\(.stack) \(.blocks) \(.bytes)"' | sort >"$TMP/sums"
events block | gojq -rs 'group_by(.args.stack)[] | "\(.[0].args.stack) \(length) \(map(.args.size) | add)"' |
	sort | diff "$TMP/sums" - >&2 || fail "the last sums (<) are not those of the snapshot (>)"
cp "$TMP/lost.blocks" "$BLOCKS"
expect_planted "$LEAK_PROGRAMS/leak-hostile" frames "while it goes on"
[ "$(wc -l <"$TMP/churn.json")" = 1 ] || fail "it did not go on"
feed churn
end_plant churn
