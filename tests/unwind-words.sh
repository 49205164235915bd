# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Words for tests about walks by tables, behind those of lib.sh: frames by the names that programs have for them, and
# where programs begin.

# code_delta FILE: what is to be added to an offset in its code, for the address that its symbols have
code_delta() {
	local offset address

	read -r offset address < <(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / && !n++ { print $2, $3 }')
	echo $((address - offset))
}

# functions PROGRAM ...: program, from, to (in the file, 16 digits), name, a row for each function
functions() {
	local program delta

	for program; do
		delta=$(code_delta "$program")
		nm -S "$program" | while read -r at size type name; do
			case $type in
			[tTwW]) printf '%s %016x %016x %s\n' "$program" $((0x$at - delta)) $((0x$at - delta + 0x$size)) "${name%%.*}" ;;
			esac
		done
	done
}

# name_frames ARCHIVE PROGRAM ...: a row for each sample with frames of PROGRAMs: the program, then names, innermost first: of its functions, without what
# compilers append to them; "." for those of other files and the kernel is left out.
name_frames() {
	local archive=$1

	shift
	functions "$@" >"$TMP/functions"
	ticks "$archive" | awk '
		function name_of(frame,    i, at, file) {
			if (frame in known)
				return known[frame]
			known[frame] = "."
			at = frame
			sub(/.*\+/, "", at)
			file = substr(frame, 1, length(frame) - length(at) - 1)
			if (file in first) {
				known[frame] = "?"
				for (i = first[file]; i <= last[file]; i++)
					# (a return address may be that behind the last instruction)
					if (at "" >= from[i] "" && at "" <= to[i] "")
						known[frame] = name[i]
				program[frame] = file
			}
			return known[frame]
		}
		NR == FNR {
			n++
			if (!($1 in first))
				first[$1] = n
			last[$1] = n
			from[n] = $2
			to[n] = $3
			name[n] = $4
			next
		}
		{
			line = ""
			whose = ""
			for (f = 5; f <= NF; f++) {
				if ($f ~ /^kernel:/)
					continue
				line = line " " name_of($f)
				if ($f in program)
					whose = program[$f]
			}
			if (whose != "")
				print whose line
		}' "$TMP/functions" -
}

# own_maps NAME: prints the ids of the maps with this name that recorders of this test have. (Other
# recordings of the machine may have no memory for a table.)
own_maps() {
	local comm pid held=$TMP/own-maps.$BASHPID

	for comm in /proc/[0-9]*/comm; do
		pid=${comm//[^0-9]/}
		if grep -qs '^kymo' "$comm" && grep -qzsx "KYMO_TEST_RUN=$KYMO_TEST_RUN" "/proc/$pid/environ"; then
			{ grep -hs '^map_id:' "/proc/$pid/fdinfo/"* || true; } | awk '{ print $2 }'
		fi
	done | sort -u >"$held"
	bpftool -j map show | gojq -r --arg name "$1" '.[] | select(.name == $name) | .id' | sort |
		comm -12 - "$held"
}

# tables_of FILE ...: prints those FILEs that were mapped in a recording of this test, and whose table all of its recordings have
tables_of() {
	local maps map files=$TMP/unwind-files.$BASHPID

	maps=$(own_maps unwind_files)
	for map in $maps; do
		bpftool -j map dump id "$map" 2>/dev/null || true
	done >"$files"
	stat -c '%i %n' "$@" | while read -r inode name; do
		# (2: UNWIND_FILE_READY)
		gojq -rs --argjson inode "$inode" --arg name "$name" '[.[][].formatted.value | select(.inode == $inode) | .state] |
			select(length > 0 and all(. == 2)) | $name' "$files"
	done
}

# has_tables FILE: whether FILE is one of those
has_tables() {
	[ "$(tables_of "$1")" = "$1" ]
}

# note_tables FILE ...: when all recordings have the table of a FILE, writes the time to FILE.ready, in the format of archives. After
# a minute, it does so in any case. A look at the tables can take seconds on a busy machine. All files are in the same look, so they
# can be compared.
note_tables() {
	wait_for 60 note_ready_tables "$@" || note_as_ready "$@"
}

# note_ready_tables FILE ...: notes the tables that there are now. Whether these are all.
note_ready_tables() {
	local file ready

	mapfile -t ready < <(tables_of "$@")
	note_as_ready "${ready[@]}"
	for file; do
		[ -e "$file.ready" ] || return 1
	done
}

note_as_ready() {
	local file uptime

	read -r uptime _ </proc/uptime
	for file; do
		[ -e "$file.ready" ] || {
			echo $((10#${uptime/./} * 10000000)) >"$file.ready.new"
			mv "$file.ready.new" "$file.ready"
		}
	done
}

# assert_cut_counted ALL WHOLE: the stacks that are not whole are counted in the last `summarize`, by their cause. An archive has only
# the sums of all threads, so it must be a recording of these threads alone (--comm).
assert_cut_counted() {
	assert_le $(($1 - $2)) "$(json "$SUMMARY" '.stacks | del(.whole) | add')" "stacks that are cut off, and those with a cause"
}

# ticks ARCHIVE: samples in it; of the processes in $TMP/pids only, if that is there, from the time $FROM_NS on, and from $LATE_MS on after
# the first one of each process: until then its files may be unknown
LATE_MS=0
FROM_NS=0
ticks() {
	"$LIST_STACKS" "$1" | awk -v late="$LATE_MS" -v from="$FROM_NS" -v file="$TMP/pids" '
		BEGIN { while ((getline pid <file) > 0) of[pid] = some = 1 }
		$2 < from { next }
		$1 != "tick" || (some && !($3 in of)) { next }
		!($3 in first) { first[$3] = $2 }
		$2 >= first[$3] + late * 1000000'
}

# take FILE [OPTION ...] -- COMMAND ...: records COMMAND and its children, and nobody else, by a service that must run. Commands see a session
# that has begun long before, but not their files.
take() {
	local file=$1 options=() held

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f "$TMP/take.fifo" "$TMP/take.done" "$TMP/pids"
	mkfifo "$TMP/take.fifo"
	exec {held}<>"$TMP/take.fifo"
	bash -c 'read -r _; "${@:2}"; echo $? >"$1"; read -r _' bash "$TMP/take.done" "$@" <"$TMP/take.fifo" &
	RUN=$!
	expect_exit 0 "$KYMO" start take -o "$file" -p "$RUN" --force "${options[@]}" --bus "$BUS"
	echo >&"$held"
	expect_soon 60 test -s "$TMP/take.done"
	expect_recorded "$file" "$KYMO" stop take --bus "$BUS"
	echo >&"$held"
	wait "$RUN"
	exec {held}>&-
	assert_eq "$(cat "$TMP/take.done")" 0 "exit status of $1"
}

# entries PROGRAM ...: program and where it begins (in the file, 16 digits)
entries() {
	local program

	for program; do
		printf '%s %016x\n' "$program" \
			$(($(readelf -hW "$program" | awk '/Entry point/ { print $NF }') - $(code_delta "$program")))
	done
}

# whole_stacks ARCHIVE PROGRAM ...: program, samples, whole ones, frames of all, a row for each: stacks in user space with a frame of PROGRAM; whole is what ends in
# the function that the program begins with, or, of another thread, in the C library. Names are none needed: that function is
# shorter than 48 bytes, and nothing is called from behind it.
whole_stacks() {
	local archive=$1

	shift
	entries "$@" >"$TMP/entries"
	ticks "$archive" | awk '
		function number(hex,    i, n) {
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		NR == FNR { entry[$1] = number($2); next }
		{
			whose = ""
			frames = 0
			for (f = 5; f <= NF; f++) {
				if ($f ~ /^kernel:/)
					continue
				frames++
				at = $f
				sub(/.*\+/, "", at)
				file = substr($f, 1, length($f) - length(at) - 1)
				if (file in entry)
					whose = file
			}
			# (those that there was no room for the end of say nothing)
			if (whose == "" || NF - 4 >= 127 || frames >= 126)
				next
			n[whose]++
			depth[whose] += frames
			if (file == whose)
				is_whole = number(at) > entry[whose] - 1 && number(at) < entry[whose] + 48
			else
				is_whole = $3 != $4 && file ~ /\/libc[.-]/
			if (is_whole)
				whole[whose]++
			else
				print > "'"$TMP/cut-off"'"
		}
		END { for (p in n) print p, n[p], whole[p] + 0, depth[p] }' "$TMP/entries" -
}
