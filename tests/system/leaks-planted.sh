#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs with known leaks, with each supported allocator: exactly these are found, with their
# stacks. The watches begin while the programs are running.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../plants.sh"
need_btf
need_command nm

all=(list buffers rows tables aligned large threads old jumps)

# plant_and_look NAME PROGRAM HOW PART ...
plant_and_look() {
	local name=$1 program=$2 how=$3 pid reason lost full no_stack unmatched failed

	shift 3
	[ -x "$LEAK_PROGRAMS/$program" ] || {
		note "$program was not built"
		return
	}
	start_plant "$name" "$program" "$@"
	pid=${PLANT[$name]}
	text_is_clean "$pid" || fail "$name: its code is not that of its files from the start"
	start_watching "$TMP/t.fxt" -p "$pid"
	expect_soon 20 is_watched "$pid"
	text_is_probed "$pid" || fail "$name: it is watched without a probe"
	feed "$name"
	wait_truth "$name" 1
	expect_soon 5 is_asleep "$pid"
	stop_watching
	text_is_clean "$pid" || fail "$name: probes are left in its code"
	feed "$name"
	end_plant "$name"
	list_blocks "$TMP/t.fxt"
	truth_line "$name" 1
	expect_planted "${PLANT_FILE[$name]}" "$how" "$name"
	expect_reported "$TMP/t.fxt" "$how" "$name"
	read -r reason lost full no_stack unmatched failed <<<"$(watched "$pid" reason lost full no_stack unmatched failed)"
	assert_eq "$reason $lost $full $no_stack" "stop 0 0 0" \
		"$name: why the watch has ended, lost, full, no_stack"
	# When a thread ends, glibc frees the blocks in its cache again. An exception that operator
	# new throws is allocated inside it, where it does not count, but freed outside.
	case " $* " in
	*" threads "*) assert_ge "$unmatched" "$(json "$TRUTH" .unmatched)" "$name: unmatched" ;;
	*" exceptions "*) assert_le "$unmatched" 300 "$name: unmatched" ;;
	*) assert_eq "$unmatched" "$(json "$TRUTH" .unmatched)" "$name: unmatched" ;;
	esac
	# The behaviour of operator new after a failure depends on the library.
	case " $* " in
	*" exceptions "*) ;;
	*) assert_eq "$failed" "$(json "$TRUTH" .failed)" "$name: failed" ;;
	esac
	assert_eq "$(events watch | gojq -c '[.process_id, .args.complete]')" "[$pid,false]" \
		"$name: processes that were watched, and whether from their beginning"
	note "$name: $(awk '{ n += $2; bytes += $3 } END { print n, "blocks,", bytes, "bytes in", NR, "stacks" }' \
		"$TMP/found")"
}

remember_bpf
for kind in frames static jemalloc tcmalloc mimalloc musl musl-static; do
	plant_and_look "$kind" "leak-plant-$kind" frames "${all[@]}"
done
plant_and_look no-frames leak-plant-no-frames caller "${all[@]}"

# Each frame is in code, also in a program without frame pointers.
assert_eq "$({ grep -c unmapped: "$BLOCKS" || true; })" 0 \
	"no-frames: frames that are in no mapping"

for kind in frames static jemalloc tcmalloc; do
	plant_and_look "cpp-$kind" "leak-plant-cpp-$kind" frames exceptions news list buffers
	# (libstdc++ uses the frame pointer's register for other data in this program)
	plant_and_look "wide-$kind" "leak-plant-cpp-$kind" caller wide
done
plant_and_look cpp-no-frames leak-plant-cpp-no-frames caller exceptions news wide list
# (Its operator new in C ends the program instead of throwing.)
plant_and_look cpp-mimalloc leak-plant-cpp-mimalloc caller news wide list
plant_and_look own own-malloc frames
no_bpf_left "recordings of memory"
