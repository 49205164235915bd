#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The checker of layers must pass the tree as it is, and fail on each kind of violation.

. "$(dirname "$0")/../lib.sh"

copy=$TMP/tree
mkdir "$copy"
# (The checker does not read golden data and corpora, which are most of the files.)
(cd "$ROOT" && tar cf - --exclude='./build*' --exclude=.git --exclude='./tests/fuzz/*' --exclude='./tests/golden/*' .) |
	tar xf - -C "$copy"
check=$ROOT/tests/style/check-layers
list=$copy/docs/architecture/layers.md

expect_exit 0 "$check" "$copy"
assert_empty "$TMP/stdout" "complaints about the tree"

# What follows is about files that this test plants, and about headers and names. To read all the
# code for each of them would take ten times as long.
find "$copy" -name '*.c' -exec truncate -s 0 {} +

# make_room DIRECTORY: a room with 30 .c files, as many as there may be, loses one of the empty ones.
make_room() {
	local empty

	mapfile -t empty < <(find "$1" -maxdepth 1 -name '*.c' -empty)
	[ ${#empty[@]} -lt 30 ] || rm "${empty[0]}"
}

# plant FILE LINE COMPLAINT: FILE, which is not there, gets LINE, of which judge_plants is to complain.
# (One run of the checker is for all of them: it reads the whole tree.)
files=()
complaints=()
plant() {
	local file=$1

	# Each has its own name.
	file=${file/\/planted./\/planted-${#files[@]}.}
	[ ! -e "$copy/$file" ] || fail "$file is there"
	mkdir -p "$(dirname "$copy/$file")"
	make_room "$copy/${file%/*}"
	printf '%s\n' "$2" >"$copy/$file"
	files+=("$file")
	complaints+=("$3")
}

# judge_plants: there is one complaint about each of the files, and no other; and the files go.
judge_plants() {
	local i

	expect_exit 1 "$check" "$copy"
	for i in "${!files[@]}"; do
		assert_eq "$(grep -c "^${files[i]//./\\.}:" "$TMP/stdout")" 1 "number of complaints about ${files[i]}"
		[[ $(grep "^${files[i]//./\\.}:" "$TMP/stdout") == *"${complaints[i]}"* ]] ||
			fail "not '${complaints[i]}': $(grep -F "${files[i]}" "$TMP/stdout")"
		rm "$copy/${files[i]}"
	done
	assert_eq "$(wc -l <"$TMP/stdout")" ${#files[@]} "number of complaints about ${#files[@]} files"
	files=()
	complaints=()
}

plant base/planted.c '#include "model/event.h"' 'base/ may not include model/event.h'
plant model/planted.h '#include "capture/session/session.h"' 'model/ may not include'
plant model/planted.h '#include "writer/fxt/fxt-names.h"' 'model/ may not include'
plant reader/fxt/planted.h '#include "daemon/sessions/manager.h"' 'reader/fxt/ may not include'
plant capture/session/planted.c '#include "cli/common/verb.h"' 'capture/session/ may not include'
plant cli/common/planted.c '#include "bpf/record.h"' 'cli/common/ may not include'
plant bpf/planted.bpf.c '#include "model/event.h"' 'bpf/ may not include'
plant daemon/planted.c '#include "reader/fxt/fxt-reader.h"' 'daemon/ may not include'
plant base/planted.c '#include "text.h"' 'named from the top'
plant base/planted.c '  #  include  "base/nothing.h"' 'there is no base/nothing.h'
plant cli/planted.c '#include "kymo.skel.h"' 'only capture/'
plant daemon/planted.c '#include <bpf/libbpf.h>' 'libbpf'
plant cli/planted.c '#include <systemd/sd-bus.h>' 'libsystemd'
plant daemon/planted.c '#include <ini.h>' 'libinih'
plant reader/views/planted.c 'int f(void) { /* a */ printf("x"); }' 'never prints, logs or opens'
plant model/planted.c 'int f(void) { return open("x", 0); }' 'never prints, logs or opens'
plant model/planted.c 'int f(void) { log_error("x"); }' 'never prints, logs or opens'
plant reader/symbols/planted.c 'int f(void) { /* a */ printf("x"); }' 'never prints, logs or opens'
plant reader/views/planted.c '#include "reader/symbols/symbols.h"' 'reader/views/ may not include'
plant reader/fxt/planted.c '#include "reader/symbols/symbols.h"' 'reader/fxt/ may not include'
plant edit/planted.c '#include "reader/symbols/symbols.h"' 'edit/ may not include'
plant capture/proc/planted.c '#include <elfutils/libdw.h>' 'only for reader/symbols/'
plant cli/planted.c '#include <libiberty/demangle.h>' 'only for reader/symbols/'
plant cli/common/text.c '' 'has the name of base/text.c'

# One room of a directory may not include another that is not in its entry; nor stands a file in
# none.
plant capture/stages/planted.h '#include "capture/session/session.h"' 'capture/stages/ may not include'
plant capture/sandbox/planted.c '#include "capture/options/options.h"' 'capture/sandbox/ may not include'
plant cli/flame/planted.c '#include "cli/leaks/leaks-view.h"' 'cli/flame/ may not include'
plant capture/planted.c 'int x;' 'stands in no room'
plant reader/planted.c 'int x;' 'stands in no room'

# Formats do not know each other.
plant writer/fxt/planted.c '#include "writer/rtrace/rtrace-wire.h"' 'writer/fxt/ may not include'
plant reader/fxt/planted.c '#include "writer/rtrace/rtrace-wire.h"' 'reader/fxt/ may not include'
plant writer/tfile/planted.c '#include "writer/fxt/fxt-wire.h"' 'writer/tfile/ may not include'

# A room that is planned has no directory yet; once it has, its entry holds.
cp "$list" "$TMP/saved"
sed -i 's#^- .capture/moments.:#- `capture/later` (planned): a room of this test.\n  Includes base.\n&#' "$list"
plant capture/later/planted.c '#include "capture/session/session.h"' 'capture/later/ may not include'
judge_plants
rmdir "$copy/capture/later"
sed -i '/^- .capture.later. (planned):/s# (planned)##' "$list"
# Nor may the list lead in a circle.
sed -i '/^- .capture.proc.:/,/Includes/s#Includes base,#Includes base, capture/session,#' "$list"
expect_exit 1 "$check" "$copy"
assert_says "$TMP/stdout" 'there is no capture/later/, and it is not planned' \
	"complaint about a room"
assert_contains "$TMP/stdout" 'layers\.md: in a circle of rooms: capture/proc$' \
	"complaint about a circle"
assert_eq "$(grep -cv 'layers\.md: in a circle of rooms: ' "$TMP/stdout")" 1 \
	"number of complaints that are not about a circle"
cp "$TMP/saved" "$list"

# Nor headers of one room.
printf '#include "base/planted-too.h"\n' >"$copy/base/planted.h"
printf '#include "base/planted.h"\n' >"$copy/base/planted-too.h"
expect_exit 1 "$check" "$copy"
assert_eq "$(grep headers "$TMP/stdout" | sort)" "base/planted-too.h: in a circle of headers
base/planted.h: in a circle of headers" "complaints about headers"
assert_eq "$(wc -l <"$TMP/stdout")" 2 "number of complaints about headers"
rm "$copy"/base/planted*.h

# Nor may a room become a hall. (Alone: each complaint must be a failure by itself.)
touch "$copy"/edit/planted-{1..30}.c
expect_exit 1 "$check" "$copy"
assert_says "$TMP/stdout" ' .c files stand in one room; at most 30 may' "complaint about a hall"
assert_eq "$(wc -l <"$TMP/stdout")" 1 "number of complaints about a hall"
rm "$copy"/edit/planted-*.c

# Nor modules of one room. A header that the files of a module share is a part of it.
echo '#include "base/planted-other.h"' >"$copy/base/planted.c"
echo '#include "base/planted.h"' >"$copy/base/planted-other.c"
touch "$copy"/base/planted{,-other,-parts}.h
expect_exit 1 "$check" "$copy"
assert_eq "$(sort "$TMP/stdout")" "base/planted-other: in a circle of modules with base/planted
base/planted: in a circle of modules with base/planted-other" "complaints about modules"
echo '#include "base/planted-parts.h"' >"$copy/base/planted.c"
echo '#include "base/planted.h"' >"$copy/base/planted-parts.h"
expect_exit 0 "$check" "$copy"
rm "$copy"/base/planted*

# Nor may a room call another one that needs it, by a declaration of its own. The objects show it.
# (The other way is right.)
build=$TMP/build
# compile FILE CODE: makes FILE, and its object in the build
compile() {
	local object=${1#*/}

	echo "$2" >"$copy/$1"
	mkdir -p "$build/${1%%/*}/libplanted.a.p"
	cc -x c -c -o "$build/${1%%/*}/libplanted.a.p/${object//\//_}.o" "$copy/$1"
}
compile daemon/sessions/planted-low.c 'int planted_above(void); int planted_low(void) { return planted_above(); }'
compile daemon/bus/planted-above.c 'int planted_low(void); int planted_above(void) { return planted_low(); }'
expect_exit 1 "$check" "$copy" "$build"
assert_eq "$(cat "$TMP/stdout")" \
	"daemon/sessions/planted-low.c: uses planted_above(), but daemon/bus/ needs daemon/sessions/" "complaints about symbols"
rm "$copy"/daemon/*/planted-*

# These only look like violations.
cat >"$copy/model/planted.c" <<-'END'
	/* printf("x")
	 * open("y") */
	int f(void)
	{
		ops->open(w);
		ops.open(w);
		fxt_open(w);
		snprintf(to, n, "open(%d) printf(", 1); // fopen(x)
	}
END
echo 'int f(void) { return open("x", 0); }' >"$copy/reader/symbols/planted-open.c"
expect_exit 0 "$check" "$copy"

# Without its list the checker checks nothing, and must say so.
sed -i 's/^# Layers/# Ways/' "$list"
expect_exit 2 "$check" "$copy"
