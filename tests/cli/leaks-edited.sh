# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Edited archives give the same report for the remaining processes.
make-profile a.fxt <"$L/demo"
make-profile b.fxt <"$L/log"
make-profile c.fxt <"$L/limits"
leaks() {
	kymo leaks "$@" --no-symbols --json 2>/dev/null |
		gojq -c '.processes[] | .process, .begin_ns, .unmatched_frees, [.leaks[] | [.verdict, .resource, .blocks, .bytes, .first_ns, .last_ns, (.functions | join(",")), ([.frames[].function] | join(","))]]'
}
echo --- as they are
leaks a.fxt
leaks b.fxt
echo --- repaired
kymo repair a.fxt d.fxt 2>/dev/null
leaks d.fxt | cmp - <(leaks a.fxt)
echo --- symbolized
kymo symbolize a.fxt e.fxt 2>/dev/null
leaks e.fxt | cmp - <(leaks a.fxt)
echo --- cut: stacks, sums and what lives from before are in it
kymo cut a.fxt f.fxt --from 5.5s 2>/dev/null
leaks f.fxt
for from in 3.5ms 4.5ms; do
	kymo cut b.fxt g.fxt --from $from --force 2>/dev/null
	leaks g.fxt
done
kymo cut c.fxt h.fxt --from 8.5s --pid 200 2>/dev/null
leaks h.fxt
for cut in f g h; do kymo check $cut.fxt; done
echo --- cut before the snapshot
kymo cut a.fxt i.fxt --to 5s 2>/dev/null
leaks i.fxt
echo --- cut in two and merged: it is one process, and what it lost in between is not lost
for at in 2.5ms 3.5ms 4.5ms; do
	kymo cut b.fxt p.fxt --to $at --force 2>/dev/null
	kymo cut b.fxt q.fxt --from $at --force 2>/dev/null
	kymo merge p.fxt q.fxt r.fxt --force 2>/dev/null
	leaks r.fxt | cmp - <(leaks b.fxt)
done
kymo cut a.fxt p.fxt --to 5s --force 2>/dev/null
kymo cut a.fxt q.fxt --from 5s --force 2>/dev/null
kymo merge p.fxt q.fxt r.fxt --force 2>/dev/null
leaks r.fxt | cmp - <(leaks a.fxt)
echo --- redacted
kymo redact a.fxt j.fxt --key "$L/demo" 2>/dev/null
kymo leaks j.fxt --no-symbols
echo --- merged with that of another machine
sed 's/^start server/start ./' "$L/limits" >here
make-profile k.fxt <here
kymo merge a.fxt k.fxt l.fxt 2>/dev/null
kymo leaks l.fxt --no-symbols --json 2>/dev/null | gojq -c '.processes[] | [(.process | sub("^[^:]*: "; "HERE: ")), .pid], (.begin_ns as $b | [.leaks[] | [.blocks, .bytes, .first_ns - $b]])'
