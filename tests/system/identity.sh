#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Identities of tasks when ids and names change: renames, chains of parents, an exec by a thread
# other than the main one, and processes with the id of an ended one.

. "$(dirname "$0")/../lib.sh"
need_btf

# record LOAD ...
record() {
	rm -f "$TMP/t.fxt"
	record_around "$TMP/t.fxt" -- "$KYMO_LOAD" --out "$TMP/truth.json" "$@"
	summarize "$TMP/t.fxt"
	assert_no_loss
	dump_records "$TMP/t.fxt"
}

record rename 50
pid=$(json "$TMP/truth.json" .pid)
assert_eq "$(thread "$pid" name)" name50 "the last name"
renames=$(events rename | gojq "select(.thread_id == $pid) | .args.to | select(startswith(\"name\"))")
assert_eq "$(wc -l <<<"$renames")" 50 "renames"

record forkchain 20
json "$TMP/truth.json" '.links[] | [.pid, .ppid, .name] | @tsv' | sort >"$TMP/truth"
assert_ge "$(wc -l <"$TMP/truth")" 20 "links of the chain"
json "$SUMMARY" '.processes[] | [.pid, .parent, .name] | @tsv' | sort >"$TMP/trace"
comm -23 "$TMP/truth" "$TMP/trace" >"$TMP/missing"
assert_empty "$TMP/missing" "links of the chain that are missing or have another parent"

record threadexec
pid=$(json "$TMP/truth.json" .pid)
old=$(json "$TMP/truth.json" .old_thread)
assert_eq "$(thread "$pid" name)" taken "name of the thread that took over"
assert_eq "$(events exec | gojq -s "[.[] | select(.args.old_thread == $old)] | length")" 1 \
	"exec events that name the old thread"

# It continues under its new id without a gap, and no part of this is reported as a switch that the
# kernel did not report.
switches >"$TMP/switches"
awk -v old="$old" '$3 == old { state = $5 } END { exit state != "dead" }' "$TMP/switches" ||
	fail "the old id is not dead at its end"

# Koids of later owners are tid + (n << 22), and n increases.
owners=6
record reuse $owners
tid=$(json "$TMP/truth.json" .tid)
json "$SUMMARY" ".threads[] | select(.tid % 4194304 == $tid) |
	[(.tid - $tid) / 4194304, .name] | @tsv" | sort -n >"$TMP/owners"
for ((i = 1; i <= owners; i++)); do
	printf '%d\towner%d\n' $((i == 1 ? 0 : i)) $i
done >"$TMP/expected"
diff "$TMP/expected" "$TMP/owners" || fail "owners of thread id $tid"
