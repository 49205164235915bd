#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Known leaks of programs are reported exactly, with the stacks: blocks of memory, and kernel
# resources. Afterwards, their code is unchanged.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../plants.sh"
. "$(dirname "$0")/../load-words.sh"
. "$(dirname "$0")/words.sh"
need_btf
need_command nm ipcrm

# planted_and_found NAME PROGRAM PART ...: records PROGRAM, and checks the reported leaks
planted_and_found() {
	local name=$1 pid

	start_plant "$@"
	pid=${PLANT[$name]}
	text_is_clean "$pid" || fail "$name: its code is not that of its files from the start"
	start_watching "$TMP/$name.fxt" -p "$pid"
	expect_soon 60 is_watched "$pid"
	text_is_probed "$pid" || fail "$name: it is watched without a probe"
	feed "$name"
	wait_truth "$name" 1
	expect_soon 10 is_asleep "$pid"
	stop_watching
	text_is_clean "$pid" || fail "$name: probes are left in its code"
	fact "$name: its code is as before"
	feed "$name"
	end_plant "$name"
	check_finds_nothing "$TMP/$name.fxt"
	dump_records "$TMP/$name.fxt"
	truth_line "$name" 1
	expect_reported "$TMP/$name.fxt" frames "$name"
	sed "s/^/$name: /" "$TMP/found" | facts
	fact "$name: reason, lost, full, no_stack: $(watched "$pid" reason lost full no_stack)"
}

remember_bpf
planted_and_found frames leak-plant-frames list buffers rows tables aligned large threads old jumps
planted_and_found cpp leak-plant-cpp-frames news list buffers

note "the features of the kernel"
start_resource_load
start_watching "$TMP/resources.fxt" -p "$LOAD" -e fd,shm,threads
expect_soon 60 has_watches "$TMP/resources.fxt" "$LOAD" 1
go
expect_soon 60 grep -qx end "$TMP/truth"
expect_soon 10 is_asleep "$LOAD"
stop_watching
text_is_clean "$LOAD" || fail "probes are left in the code of resource-load"
kill "$LOAD"
wait "$LOAD" 2>/dev/null || true
check_finds_nothing "$TMP/resources.fxt"
expect_exit 0 "$KYMO" leaks --json "$TMP/resources.fxt"
# A line for each function that leaks: resource, function, number, bytes.
gojq -r --argjson pid "$LOAD" '.processes[] | select(.pid == $pid) | .leaks[] | select(.resource != "memory") |
	[.resource, .blocks, .bytes, ([.frames[].function // "?" | select(startswith("leak_"))] | join(","))] | map(tostring) |
	join(" ")' "$TMP/stdout" | awk '{ blocks[$1 " " $4] += $2; bytes[$1 " " $4] += $3 }
	END { for (w in blocks) print w, blocks[w], bytes[w] }' | sort >"$TMP/found"
awk '$1 != "end" {
		match($0, /leak_[a-z_0-9]*/)
		what = $1 " " substr($0, RSTART, RLENGTH)
		blocks[what]++
		bytes[what] += $2
	}
	END { for (w in blocks) print w, blocks[w], bytes[w] }' "$TMP/truth" | sort >"$TMP/planted"
diff "$TMP/planted" "$TMP/found" >&2 || fail "the reported leaks (>) differ from the planted ones (<)"
facts <"$TMP/found"
no_bpf_left "recordings of what programs allocate"
