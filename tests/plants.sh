# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions for tests of allocations, to be sourced after lib.sh: programs that lose known blocks
# (plants), their recordings, and the comparison of both.

# start_plant NAME PROGRAM PART ...: starts leak-plant-PROGRAM (or PROGRAM, if it is a path), which
# waits for `feed NAME`. Its pid is ${PLANT[NAME]}, and its output goes to $TMP/NAME.json.
declare -A PLANT PLANT_FD PLANT_FILE
start_plant() {
	local name=$1 program=$2 fd

	shift 2
	case $program in
	*/*) ;;
	*) program=$LEAK_PROGRAMS/$program ;;
	esac
	[ -x "$program" ] || skip "no $program was built"
	rm -f "$TMP/$name.fifo"
	mkfifo "$TMP/$name.fifo"
	exec {fd}<>"$TMP/$name.fifo"
	PLANT_FD[$name]=$fd
	# shellcheck disable=SC2034 # for the test
	PLANT_FILE[$name]=$program
	(
		for fd in "${PLANT_FD[@]}"; do
			exec {fd}>&-
		done
		exec "$program" --held "$@" <"$TMP/$name.fifo" >"$TMP/$name.json" 2>"$TMP/$name.stderr"
	) &
	PLANT[$name]=$!
	expect_soon 10 grep -qzxF -- "$program" "/proc/$!/cmdline"
	expect_soon 10 is_asleep "$!"
}

feed() {
	echo >&"${PLANT_FD[$1]}"
}

has_lines() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# wait_truth NAME LINES: waits until the plant has printed this many lines.
wait_truth() {
	wait_for 60 has_lines "$TMP/$1.json" "$2" || {
		cat "$TMP/$1.stderr" >&2
		fail "$1 has not told what it did"
	}
}

end_plant() {
	local fd=${PLANT_FD[$1]} status=0

	exec {fd}>&-
	unset "PLANT_FD[$1]"
	wait "${PLANT[$1]}" || status=$?
	assert_eq "$status" 0 "exit status of $1"
	assert_empty "$TMP/$1.stderr" "complaints of $1"
}

# is_watched PID: whether the programs of $WATCHER, or of the service, watch it already. (In the maps
# of other recordings, this id can be that of an earlier process.)
is_watched() {
	local id key recorder=${WATCHER:-${KYMOD_PID:-}}

	key=$(printf '%02x %02x %02x %02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) 0)
	# (not as JSON, since gojq would take longer to start than all of this)
	for id in $(bpftool map show | sed -n 's/^\([0-9]*\): .* name memory_processe .*/\1/p'); do
		grep -qsx "map_id:[[:space:]]*$id" "/proc/$recorder/fdinfo/"* || continue
		# shellcheck disable=SC2086 # bytes
		bpftool map lookup id "$id" key hex $key >/dev/null 2>&1 && return 0
	done
	return 1
}

# start_watching FILE OPTION ...: records until stop_watching; $WATCHER is the pid of the recorder.
start_watching() {
	local file=$1

	shift
	"$KYMO" record --direct --force -e memory -o "$file" "$@" 2>"$TMP/watcher.log" &
	WATCHER=$!
}

stop_watching() {
	local status=0

	kill -INT "$WATCHER"
	wait "$WATCHER" || status=$?
	[ $status = 0 ] || {
		cat "$TMP/watcher.log" >&2
		fail "recording ended with $status"
	}
}

# has_watches FILE PID N: whether the file, which can grow, contains N watches of the process
has_watches() {
	local n

	n=$({ "$KYMO" dump --json "$1" 2>/dev/null || true; } | { grep -F '"watch"' || true; } |
		gojq -c "select(.record == \"event\" and .name == \"watch\" and .process_id == $2)" | wc -l)
	[ "$n" -ge "$3" ]
}

# list_blocks FILE: writes the blocks of its snapshots to $BLOCKS (a file), and fills $DUMP.
list_blocks() {
	BLOCKS=$TMP/$(basename "$1").blocks
	"$LIST_STACKS" "$1" >"$TMP/stacks" || fail "list-stacks failed on $1"
	grep '^block' "$TMP/stacks" >"$BLOCKS" || true
	dump_records "$1"
}

# truth_line NAME NUMBER: writes a line of the output of plant NAME to $TRUTH, a file
truth_line() {
	TRUTH=$TMP/$1.$2.truth
	sed -n "$2p" "$TMP/$1.json" >"$TRUTH"
}

# planted HOW: rows of the lost blocks in $TRUTH: chain, blocks, bytes. HOW is frames, or caller:
# then only the innermost function of each chain counts.
planted() {
	json "$TRUTH" '.leaks[] | [.chain, .blocks, .bytes] | @tsv' | awk -v how="$1" '
		{ if (how == "caller") sub(/,.*/, "", $1); blocks[$1] += $2; bytes[$1] += $3 }
		END { for (chain in blocks) print chain, blocks[chain], bytes[chain] }' | sort
}

# The addresses of program $1 in its file: the number to add to an offset in its code.
code_bias() {
	local offset address

	read -r offset address < <(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / && !n++ { print $2, $3 }')
	echo $((address - offset))
}

# found PROGRAM HOW: the same for the blocks of the process of $TRUTH in $BLOCKS. Names come from
# the program's symbols, and not from kymo. Blocks without a frame of the program are ignored.
# Frames of other files are "?"; those before the program's, of libraries that allocate for it, are
# left out, and so are those behind its begin.
found() {
	local pid

	pid=$(json "$TRUTH" .pid)
	{
		nm -S "$1" | awk 'NF == 4 && $3 ~ /[tTwW]/ { print "symbol", $1, $2, $4 }'
		awk -v pid="$pid" '$3 == pid && $5 == "memory"' "$BLOCKS"
	} | awk -v bias="$(code_bias "$1")" -v program="$1+" -v how="$2" '
		function number(hex,    i, n) {
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		function name_of(frame,    i, at) {
			if (frame in known)
				return known[frame]
			known[frame] = "?"
			if (index(frame, program) != 1)
				return "?"
			at = number(substr(frame, length(program) + 1)) + bias
			for (i = 1; i <= n; i++)
				if (at > from[i] && at <= to[i])
					known[frame] = name[i]
			return known[frame]
		}
		$1 == "symbol" {
			n++
			from[n] = number($2)
			to[n] = from[n] + number($3)
			name[n] = $4
		}
		$1 == "block" {
			chain = ""
			for (f = 7; f <= NF; f++) {
				word = name_of($f)
				if (chain == "" && word ~ /^(\?|_Zn.*|_ZNSt.*|_ZNKSt.*)$/)
					continue
				chain = chain (chain == "" ? "" : ",") word
				if (word == "main" || word ~ /_apart$/ || how == "caller")
					break
			}
			# Allocations that libraries keep are not planted.
			if (chain !~ /^(make_|align_|grow_|take_|plant_|work|jump|main)/)
				next
			blocks[chain]++
			bytes[chain] += $4
		}
		END { for (chain in blocks) printf "%s %d %d\n", chain, blocks[chain], bytes[chain] }' | sort
}

# expect_planted PROGRAM HOW WHAT: $BLOCKS contains exactly the blocks in $TRUTH
expect_planted() {
	planted "$2" >"$TMP/planted"
	found "$1" "$2" >"$TMP/found"
	diff "$TMP/planted" "$TMP/found" >"$TMP/difference" || {
		sed 's/^/    | /' "$TMP/difference" >&2
		fail "$3: what was planted (<) is not what was found (>)"
	}
}

# expect_reported ARCHIVE HOW WHAT: the report of `kymo leaks` about the process of $TRUTH contains
# exactly the lost blocks, with kymo's names. Allocations of libgcc at the first exception (a sorted
# list of a static program's frames) are ignored.
expect_reported() {
	local pid

	pid=$(json "$TRUTH" .pid)
	planted "$2" >"$TMP/planted"
	expect_exit 0 "$KYMO" leaks --json "$1"
	cp "$TMP/stdout" "$TMP/report.json"
	gojq -r --argjson pid "$pid" '.processes[] | select(.pid == $pid) | .leaks[] |
		select(.resource == "memory") | [.blocks, .bytes, (.frames | map(.function // "?") |
		map(split("(")[0]) | join(","))] | @tsv' "$TMP/report.json" | awk -F'\t' -v how="$2" '
		{
			chain = ""
			frames = split($3, word, ",")
			for (f = 1; f <= frames; f++) {
				if (chain == "" && word[f] ~ /^_Unwind_/)
					break
				if (chain == "" && word[f] !~ /^(make_|align_|grow_|take_|plant_|work|jump|main)/)
					continue
				chain = chain (chain == "" ? "" : ",") word[f]
				if (word[f] == "main" || word[f] ~ /_apart$/ || how == "caller")
					break
			}
			if (chain == "")
				next
			blocks[chain] += $1
			bytes[chain] += $2
		}
		END { for (chain in blocks) printf "%s %d %d\n", chain, blocks[chain], bytes[chain] }' | sort >"$TMP/found"
	diff "$TMP/planted" "$TMP/found" >"$TMP/difference" || {
		sed 's/^/    | /' "$TMP/difference" >&2
		fail "$3: what was planted (<) is not what is reported (>)"
	}
}

# watched PID FIELD ...: the data at the end of each watch in the last `list_blocks`, one per row
watched() {
	local pid=$1 fields

	shift
	fields=$(printf ', .args.%s' "$@")
	events watched | gojq -r "select(.process_id == $pid) | [${fields#, }] | @tsv" | tr '\t' ' '
}

# Whether the code of PID is that of its files.
text_is_of_files() {
	[ "$("$MEMORY_LOAD" patched "$1")" = 0 ]
}

text_is_probed() {
	! text_is_of_files "$1"
}

# The same, or soon: calls that other tests record at the same time have probes in the C library of
# every process.
text_is_clean() {
	wait_for 10 text_is_of_files "$1"
}
