# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
make-profile a.fxt <"$L/demo"
kymo leaks a.fxt --rtrace reports >/dev/null
ls reports
cat reports/100-1.rtrace.txt
echo --- as it is
kymo postprocess reports/100-1.rtrace.txt | cmp reports/100-1.rtrace.txt -
echo --- sums
kymo postprocess --leaks reports/100-1.rtrace.txt | grep leaked
kymo postprocess --leaks --resource memory reports/100-1.rtrace.txt | grep leaked
kymo postprocess --leaks --context login reports/100-1.rtrace.txt | grep leaked
kymo leaks a.fxt --json --resource memory | gojq -c '.processes[].leaks[] | [.blocks, .bytes]'
echo --- from the archive
kymo postprocess a.fxt | cmp reports/100-1.rtrace.txt - && echo same
kymo postprocess --leaks --resource memory a.fxt | grep leaked
make-profile four.fxt <"$L/limits"
kymo postprocess four.fxt
echo "exit $?"
echo --- to the microsecond
kymo leaks a.fxt --rtrace exact --spec-time >/dev/null
grep -c '^[0-9]*\. .*\[[0-9:]*\.[0-9]\{6\}\]' exact/100-1.rtrace.txt
grep -c '^[0-9]*\. .*\[[0-9:]*\.[0-9]\{3\}\]' exact/100-1.rtrace.txt
kymo export a.fxt -o exact-too --format rtrace --spec-time >/dev/null
diff -r exact exact-too && echo same
kymo postprocess --leaks exact/100-1.rtrace.txt | grep leaked
rm -r exact exact-too
echo --- several, and what is missing
make-profile b.fxt <"$L/limits"
kymo leaks b.fxt --rtrace reports >/dev/null 2>&1
echo "exit $?"
kymo leaks b.fxt --rtrace more >/dev/null 2>&1
(cd more && head -n 50 -- *)
for report in more/*; do
	kymo postprocess "$report" | cmp "$report" -
done
echo --- each event
make-profile c.fxt <"$L/log"
kymo leaks c.fxt --rtrace logged >/dev/null
cat logged/*
touch file
kymo leaks c.fxt --rtrace file >/dev/null
echo "exit $?"
echo --- exported
kymo export a.fxt -o exported.rtrace
diff -r reports exported.rtrace
kymo export a.fxt -o exported --format rtrace --json
kymo export a.fxt -o exported --format rtrace
kymo export a.fxt -o - --format rtrace
kymo export a.fxt -o x --format rtrace --compress
kymo export a.fxt -o x.rtrace.gz
kymo export "$T/small" -o x.rtrace
ls -d x* 2>&1
echo --- exported with each event
kymo export c.fxt -o all.rtrace
cat all.rtrace/*
kymo postprocess all.rtrace/100-1.rtrace.txt | cmp all.rtrace/100-1.rtrace.txt -
kymo postprocess --leaks all.rtrace/100-1.rtrace.txt 2>&1 | grep -e leaked -e before
kymo export - --format rtrace -o piped.rtrace <c.fxt
diff -r logged piped.rtrace
echo --- a mapping, for which others have no name
make-profile d.fxt <<-END
	start box
	task 100 demo
	at 1
	watch 100 memory,mapping 1 0 0 libc.so.6: malloc
	at 5
	snapshot 100 2 1
	block 100 memory 1000 10 0 malloc 2 -
	block 100 mapping 7f0000000000 4096 0 mmap 2 -
	watched 100 stop 0 0 0 0
END
kymo leaks d.fxt --rtrace mapped >/dev/null
grep -E '^<|mmap' mapped/*
