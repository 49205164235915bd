#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names, from the recording to the flame graph: complete stacks with inlined functions, the kernel
# (this test resolves its addresses separately), processes that live for milliseconds, and a library
# that is not the host's.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
need_btf
need_bus
need_command readelf unshare

start_bus
start_kymod

# fold FILE [option ...]: writes its stacks by name to $FOLDED, one line "outermost;...;innermost
# count" each
fold() {
	FOLDED=$TMP/folded
	expect_exit 0 "$KYMO" flame "$@" --format folded -o -
	cp "$TMP/stdout" "$FOLDED"
}

# folded [REGEX]: prints the number of samples with a matching stack
folded() {
	awk -v r="${1:-.}" '{ n = $NF; sub(/ [0-9]+$/, "") } $0 ~ r { t += n } END { print t + 0 }' "$FOLDED"
}

note "whole stacks, and shares"
record_chain() {
	rm -f "$TMP/chain.fxt"
	start_stack_load chain 2000
	stolen=$(stolen_ns cpu)
	expect_exit 0 "$KYMO" start one -o "$TMP/chain.fxt" -e sched,profile -F 999 -p "$STACK_LOAD_PID" --bus "$BUS"
	go_stack_load
	expect_exit 0 "$KYMO" stop one --bus "$BUS"
	stolen=$(($(stolen_ns cpu) - stolen))
	end_stack_load
	cp "$TMP/stack-load.json" "$TMP/truth.json"
}
judge_chain() {
	fold "$TMP/chain.fxt" -p "$STACK_LOAD_PID"
	summarize "$TMP/chain.fxt"
	assert_samples "$(folded)" 999 "$(json "$TMP/truth.json" '.leaf_ns | add')" "$(thread "$STACK_LOAD_PID" cpu_ns)" \
		6 "samples in 2 s of CPU time"
}
# (with hidden switches, the schedule lacks CPU time)
record_and_judge "$TMP/chain.fxt" record_chain judge_chain
fold "$TMP/chain.fxt" -p "$STACK_LOAD_PID"
all=$(folded)
chain="main;burn;chain_1;chain_2;chain_3;inlined_3;chain_4;chain_5;chain_6;chain_7;inlined_7_too;inlined_7;chain_8"
chain="(^|;)$chain;chain_9;chain_10;chain_11;chain_12;inlined_12"
# (an interrupt of a leaf function appears as called by it)
whole=$(folded "$chain;leaf_[abc](;|\$)")
note "$whole of $all samples have the whole chain"
assert_ge $((100 * whole)) $((98 * all)) "samples with the whole chain by name (of $all)"
whole_leaf() {
	folded "$chain;$1(;|\$)"
}
assert_leaf_shares whole_leaf "$all" "$stolen"
cp "$FOLDED" "$TMP/before"
expect_exit 0 "$KYMO" symbolize "$TMP/chain.fxt" "$TMP/named.fxt"
expect_exit 0 "$KYMO" check --strict "$TMP/named.fxt"
fold "$TMP/named.fxt" -p "$STACK_LOAD_PID" --no-symbols
# (eBPF programs of other sessions may have been unloaded meanwhile, and others may have their place)
diff "$TMP/before" "$FOLDED" | grep '^<' | grep -vE '^<.*(^|;|_)bpf_(prog_|trace_run)' >"$TMP/other" || true
assert_empty "$TMP/other" "an archive with names has other names than the files"
assert_eq "$(folded)" "$all" "samples with names"

note "kernel functions are those of /proc/kallsyms"
# One process with many different actions.
expect_exit 0 "$KYMO" record --direct -o "$TMP/kernel.fxt" -e profile -F 997 -- bash -c '
	for i in {1..500}; do read -r line </proc/self/stat; /bin/true; done; exec dd if=/dev/zero of=/dev/null bs=1 count=1000000'
expect_exit 0 "$KYMO" symbolize "$TMP/kernel.fxt" "$TMP/kernel-named.fxt"
# All kernel addresses of the dump, each as a place in a function. For a call, this is the address
# before the return address. (In bash, because awk and gojq do not have 64-bit numbers.)
"$KYMO" dump --json "$TMP/kernel.fxt" | grep -o '"backtrace":\[[^]]*\]' | tr -d '[]' | cut -d: -f2 |
	awk -F, '
		# (addresses of the kernel have the highest bit; awk compares texts)
		{
			for (f = 1; f <= NF && (length($f) == 20 || length($f) == 19 && $f "" >= "9223372036854775808"); f++)
				places[f == 1 ? $f " 0" : $f " 1"]
		}
		END { for (place in places) print place }' |
	while read -r at before; do
		printf '%016x\n' $((at - before))
	done | sort -u >"$TMP/addresses"
# For each, all names that kallsyms has at the last symbol before it: "address name name ..."
{
	awk '$2 ~ /^[tTwW]$/ { print $1, 0, $3 }' /proc/kallsyms
	sed 's/$/ 1/' "$TMP/addresses"
} | sort -k1,1 -k2,2n | awk '
	$2 == 0 && $1 != last { names = ""; last = $1 }
	$2 == 0 { names = names " " $3 }
	$2 == 1 { print $1 names }' >"$TMP/expected"
start=$(awk '$3 == "_stext" { print $1 }' /proc/kallsyms)
end=$(awk '$3 == "_etext" { print $1 }' /proc/kallsyms)
if [ "$((0x$start))" != 0 ]; then
	# If functions are inlined there, the outermost one is the symbol.
	"$KYMO" dump "$TMP/kernel-named.fxt" | grep 'profile:frame .* process=2 ' |
		sed -E 's/.* address=0x([0-9a-f]+) depth=([0-9]+) function="([^"]*)".*/\1 \2 \3/' |
		sort -k1,1 -k2,2n | awk '{ name[$1] = $3 } END { for (a in name) print a, name[a] }' | sort >"$TMP/said"
	awk -v s="$start" -v e="$end" '$1 "" >= s "" && $1 "" < e ""' "$TMP/expected" >"$TMP/text"
	n=$(wc -l <"$TMP/text")
	assert_ge "$n" 100 "different addresses in the kernel's text"
	join -a 1 "$TMP/text" "$TMP/said" | awk '{
		for (f = 2; f < NF && $f != $NF; f++);
		if (NF < 3 || f == NF) print
	}' >"$TMP/wrong"
	note "$n kernel addresses, $(wc -l <"$TMP/wrong") without their name"
	assert_empty "$TMP/wrong" "kernel addresses with other names than in /proc/kallsyms"
	assert_ge "$(awk '{ print $2 }' "$TMP/text" | sort -u | wc -l)" 50 "different functions of the kernel"
else
	note "not tested: addresses of the kernel are hidden"
fi

note "short processes"
# (of it alone: names of what other tests run take longer than the rest)
expect_exit 0 "$KYMO" record --direct -o "$TMP/burst.fxt" -e profile -F 999 -p $$ -- "$STACK_LOAD" burst 300 5
summarize "$TMP/burst.fxt"
assert_no_loss
"$LIST_STACKS" "$TMP/burst.fxt" >"$TMP/burst.list"
# The innermost user frame comes from the registers, so it is correct. Its caller is correct if the
# frame is a function of stack-load, which has frame pointers, and so on. The C library has none:
# there the walk regards any value in that register as a frame.
awk '
	$1 == "mapping" && $NF ~ /\/stack-load$/ { ours[$3] = 1 }
	$1 == "tick" { tick[++n] = $0 }
	END {
		for (i = 1; i <= n; i++) {
			fields = split(tick[i], f, " ")
			if (!(f[3] in ours))
				continue
			for (k = 5; k <= fields && f[k] ~ /^kernel:/; k++)
				;
			for (; k <= fields; k++) {
				all++
				unmapped += f[k] ~ /^unmapped:/
				if (f[k] !~ /\/stack-load\+/)
					break
			}
		}
		print unmapped + 0, all + 0
	}' "$TMP/burst.list" >"$TMP/counted"
read -r unmapped all <"$TMP/counted"
note "$unmapped of $all true user frames are in no mapping"
assert_ge "$all" 3000 "user frames"
assert_le $((100 * unmapped)) "$all" "user frames in no mapping (in 100)"
# Addresses in a mapping have names.
fold "$TMP/burst.fxt" --process stack-load
unnamed=$(awk '{ n = $NF; sub(/ [0-9]+$/, "") }
	{ count = split($0, f, ";"); for (i = 2; i <= count; i++) t += f[i] ~ /\+0x[0-9a-f]+$/ ? n : 0 }
	END { print t + 0 }' "$FOLDED")
note "$unnamed frames are in a mapping and have no name"
assert_le $((100 * unnamed)) "$all" "user frames without a name (in 100)"
processes=$(awk '/^tick .*\/stack-load\+/ { print $3 }' "$TMP/burst.list" | sort -u | wc -l)
assert_ge "$processes" 240 "processes that were sampled"

note "each sample counts once, whatever the format"
fold "$TMP/burst.fxt"
ticks=$(grep -c '^tick ' "$TMP/burst.list")
assert_eq "$(folded)" "$ticks" "samples in the folded stacks"
assert_eq "$(json "$SUMMARY" .profile.samples)" "$ticks" "samples in the summary"
if (need_command protoc gzip) >/dev/null; then
	expect_exit 0 "$KYMO" flame "$TMP/burst.fxt" -o "$TMP/burst.pb.gz"
	gzip -dc "$TMP/burst.pb.gz" |
		protoc --decode=Profile -I "$ROOT/tests/support/checkers" profile.proto >"$TMP/pprof" 2>/dev/null ||
		fail "protoc cannot read what is for pprof"
	# The first value of each sample is its count.
	assert_eq "$(awk '/^sample \{/ { first = 1 } first && /^  value: / { t += $2; first = 0 } END { print t }' "$TMP/pprof")" \
		"$ticks" "samples in the profile for pprof"
else
	note "not tested for pprof: no protoc"
fi

note "a process in namespaces of its own, with a library of its own"
libc=$(readlink -f "$(ldd "$STACK_LOAD" | awk '$1 ~ /^libc\./ { print $3 }')")
note_at=$(readelf -SW "$libc" 2>/dev/null |
	sed -n 's/.*\.note\.gnu\.build-id *NOTE *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')
if ! unshare -mpf true 2>/dev/null; then
	note "not tested: no namespaces"
elif [ -z "$note_at" ] || [ "$(sed -z 's/^memfrob$/&/;t;d' "$libc" | tr -d '\0' | cut -c 1-7)" != memfrob ]; then
	note "not tested: the C library has no build id, or no memfrob"
else
	# Another library, by its build id, whose memfrob has another name (with the same hash: it
	# is found).
	mkdir "$TMP/own"
	own=$TMP/own/libc.copy
	sed -z 's/^memfrob$/memfrpA/' "$libc" >"$own"
	chmod 755 "$own"
	assert_eq "$(stat -c %s "$own")" "$(stat -c %s "$libc")" "size of the changed library"
	byte=$(od -An -tx1 -j $((0x$note_at + 16)) -N 1 "$own" | tr -d ' ')
	printf '%b' "\\x$(printf %02x $((0x$byte ^ 255)))" |
		dd of="$own" bs=1 seek=$((0x$note_at + 16)) conv=notrunc 2>/dev/null

	# libc_frames [flame option ...]: prints how often the stacks of the process contain the two
	# names, and how often they end without a name
	libc_frames() {
		fold "$TMP/ns.fxt" -p "$pid" "$@"
		echo "$(folded memfrpA) $(folded memfrob) $(folded 'libc[^;]*\+0x[0-9a-f]+$')"
	}
	mkfifo "$TMP/ns.fifo"
	unshare -mpf bash -c 'mount --bind "$1" "$2" && exec "$3" --held libc 1000' bash "$own" "$libc" "$STACK_LOAD" \
		<"$TMP/ns.fifo" >"$TMP/ns.json" &
	outer=$!
	exec {go}>"$TMP/ns.fifo"
	inner() {
		pid=$(cat "/proc/$outer/task/$outer/children") && pid=${pid% } &&
			grep -qx stack-load "/proc/$pid/comm"
	}
	expect_soon 5 inner
	inner
	[ "$(readlink "/proc/$pid/ns/pid")" != "$(readlink /proc/self/ns/pid)" ] || fail "it has no pids of its own"
	expect_exit 0 "$KYMO" start ns -o "$TMP/ns.fxt" -e sched,profile -F 499 -b 32M --bus "$BUS"
	echo >&"$go"
	expect_soon 60 test -s "$TMP/ns.json"
	expect_exit 0 "$KYMO" stop ns --bus "$BUS"
	# as_due N WHAT: N are the samples of the process, except those of its begin and its end
	as_due() {
		assert_ge "$(folded .)" 100 "samples of the process"
		assert_ge $((100 * $1)) $((85 * $(folded .))) "samples $2 (in 100)"
	}
	read -r own_name host_name unnamed < <(libc_frames)
	note "while it lives: $own_name by its own library, $host_name by the host's, $unnamed without a name"
	as_due "$own_name" "with the name that its own library has"
	assert_eq "$host_name" 0 "samples with the name that the host's library has"
	exec {go}>&-
	wait "$outer"
	# Its file no longer exists at that path: no name is better than a name from the host's
	# file.
	read -r own_name host_name unnamed < <(libc_frames)
	assert_eq "$own_name $host_name" "0 0" "samples with a name, when it has ended"
	as_due "$unnamed" "without a name, when it has ended"
	# With a tree that contains the file, the names are correct again.
	mkdir -p "$TMP/root/$(dirname "$libc")"
	cp "$own" "$TMP/root/$libc"
	read -r own_name host_name unnamed < <(libc_frames --sysroot "$TMP/root")
	as_due "$own_name" "with the name that its own library has, in a tree of files"
	assert_eq "$host_name" 0 "samples with the name that the host's library has, with a tree of files"

	note "a library that is removed while it is used"
	mkdir "$TMP/gone"
	cp "$own" "$TMP/gone/$(basename "$libc")"
	mkfifo "$TMP/gone.fifo"
	LD_LIBRARY_PATH=$TMP/gone "$STACK_LOAD" --held libc 1000 <"$TMP/gone.fifo" >"$TMP/gone.json" &
	pid=$!
	exec {go}>"$TMP/gone.fifo"
	expect_soon 5 grep -qF "$TMP/gone" "/proc/$pid/maps"
	expect_soon 5 is_asleep "$pid"
	rm -r "$TMP/gone"
	expect_exit 0 "$KYMO" start ns -o "$TMP/ns.fxt" --force -e sched,profile -F 499 -b 32M --bus "$BUS"
	echo >&"$go"
	expect_soon 60 test -s "$TMP/gone.json"
	expect_exit 0 "$KYMO" stop ns --bus "$BUS"
	read -r own_name host_name unnamed < <(libc_frames)
	note "$own_name by the removed library, $host_name by the host's, $unnamed without a name"
	as_due "$own_name" "with the name that the removed library has"
	assert_eq "$host_name" 0 "samples with the name that the host's library has"
	exec {go}>&-
	wait "$pid"
fi

note "the program that ran then: before an exec, and through the dynamic loader"
loader=$(readelf -l "$STACK_LOAD" | sed -n 's/.*interpreter: \(.*\)]$/\1/p')
record_exec() {
	expect_exit 0 "$KYMO" record --direct --force -o "$TMP/exec.fxt" -e sched,profile -F 999 -p $$ -- \
		bash -c 'for ((i = 0; i < 100000; i++)); do :; done; exec "$@"' bash "$loader" "$STACK_LOAD" chain 200
	cp "$TMP/stdout" "$TMP/stack-load.json"
	pid=$(json "$TMP/stack-load.json" .pid)
}
judge_exec() {
	local n

	fold "$TMP/exec.fxt" -p "$pid"
	n=$(folded '^stack-load;.*;burn;')
	note "$n samples of stack-load; $(folded '^bash;') of bash before it"
	summarize "$TMP/exec.fxt"
	assert_samples "$n" 999 "$(json "$TMP/stack-load.json" '.leaf_ns | add')" \
		"$(json "$SUMMARY" '.threads[] | select(.tid == $pid) | .cpu_ns - ([.earlier_programs[].cpu_ns] | add)' --argjson pid "$pid")" \
		15 "samples of the program that the loader runs"
}
record_and_judge "$TMP/exec.fxt" record_exec judge_exec
fold "$TMP/exec.fxt" -p "$pid"
summarize "$TMP/exec.fxt"
assert_ge "$(folded '^bash;')" 20 "samples of the shell before its exec"
assert_eq "$(folded '^bash;.*;burn;') $(folded '^ld-')" "0 0" "samples of the shell in burn(), of the loader"
holds "$SUMMARY" '.threads[] | select(.tid == $pid) |
	.cpu_ns as $all | .earlier_programs | map(select(.name == "bash"))[0] |
	.cpu_ns > 20e6 and .cpu_ns + 190e6 < $all and .switches > 0' --argjson pid "$pid" ||
	fail "the time of the shell is not its own: $(json "$SUMMARY" ".threads[] | select(.tid == $pid)")"
"$KYMO" summary --no-symbols --by process "$TMP/exec.fxt" >"$TMP/text"
for name in bash stack-load; do
	grep -q " $name ($pid)\$" "$TMP/text" || fail "$name has no row: $(cat "$TMP/text")"
done

note "a program that is removed while it runs"
cp "$STACK_LOAD" "$TMP/removed"
mkfifo "$TMP/removed.fifo"
"$TMP/removed" --held chain 200 <"$TMP/removed.fifo" >"$TMP/removed.json" &
pid=$!
exec {go}>"$TMP/removed.fifo"
expect_soon 5 grep -qx removed "/proc/$pid/comm"
expect_soon 5 is_asleep "$pid"
rm "$TMP/removed"
expect_exit 0 "$KYMO" start gone -o "$TMP/gone.fxt" -e sched,profile -F 999 -p "$pid" --bus "$BUS"
echo >&"$go"
expect_soon 60 test -s "$TMP/removed.json"
expect_exit 0 "$KYMO" stop gone --bus "$BUS"
fold "$TMP/gone.fxt" -p "$pid"
leaves_ns=$(json "$TMP/removed.json" '.leaf_ns | add')
summarize "$TMP/gone.fxt"
scheduled_ns=$(thread "$pid" cpu_ns)
assert_samples "$(folded ';burn;')" 999 "$leaves_ns" "$scheduled_ns" 15 "samples of the removed program"
expect_exit 0 "$KYMO" symbolize "$TMP/gone.fxt" "$TMP/gone-named.fxt"
exec {go}>&-
wait "$pid"
# By then the file no longer exists: kymo reports this, with a remedy.
expect_exit 0 "$KYMO" symbolize --force "$TMP/gone.fxt" "$TMP/unnamed.fxt"
grep -q "removed.*: .*deleted, and its process has ended" "$TMP/stderr" ||
	fail "the reason is not said: $(cat "$TMP/stderr")"
fold "$TMP/gone-named.fxt" -p "$pid" --no-symbols
assert_samples "$(folded ';burn;')" 999 "$leaves_ns" "$scheduled_ns" 15 "samples of the removed program, named before"
fold "$TMP/gone.fxt" -p "$pid"
assert_eq "$(folded 'deleted')" 0 "frames whose file is called (deleted)"
expect_exit 0 "$KYMO" flame "$TMP/gone.fxt" -p "$pid" --format pprof -o "$TMP/gone.pb.gz"
gzip -dc "$TMP/gone.pb.gz" | grep -a "$TMP/removed" >/dev/null || fail "the profile does not name the removed program"
! gzip -dc "$TMP/gone.pb.gz" | grep -aF '(deleted)' >/dev/null || fail "a mapping of the profile is called (deleted)"
