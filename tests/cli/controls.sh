# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of processes and events in an archive are no commands to a terminal, neither as ESC nor as
# U+009B, in all verbs.
{
	printf '\20\0\4FxT\26\0'
	# process 77 and its thread 77, "evil" and U+009B, and twice the same as an event of theirs,
	# an ESC in it
	printf '\67\0\1\10\200\0\0\0\115\0\0\0\0\0\0\0evil\302\2332J'
	for ts in 1 2; do
		printf '\124\0\0\0\0\0\10\200'
		printf '%b\0\0\0\0\0\0\0' "\\0$ts"
		printf '\115\0\0\0\0\0\0\0\115\0\0\0\0\0\0\0\302\2332J\0332Jx'
	done
} >controls
# The same with U+202E, which reverses the following text, and U+200B, which is invisible.
{
	printf '\20\0\4FxT\26\0'
	printf '\67\0\1\10\200\0\0\0\115\0\0\0\0\0\0\0a\342\200\256txt.'
	for ts in 1 2; do
		printf '\124\0\0\0\0\0\10\200'
		printf '%b\0\0\0\0\0\0\0' "\\0$ts"
		printf '\115\0\0\0\0\0\0\0\115\0\0\0\0\0\0\0\342\200\256x\342\200\213y'
	done
} >turned
# A leak report with such names of libraries and functions.
sed 's/a.040b/a\xe2\x80\xae\x1b[2J/; s/main()/f\xe2\x80\xae\x1b[2J()/; s/main.c/m\xe2\x80\xae\x1b[2J/' \
	"$L/../rtrace/everything.txt" >report
verbs=(dump 'dump --json' summary 'summary --json' check 'check --json' 'diff controls')
for verb in "${verbs[@]/#/kymo }"; do
	for file in controls turned; do
		# shellcheck disable=SC2086 # words
		$verb $file >out 2>&1 || true
		if LC_ALL=C grep -q $'\302\233\|\033\|\177\|\342\200\256\|\342\200\213' out; then
			echo "$verb $file: commands to a terminal"
		fi
	done
done
# Reports pass to files and pipes as they are, and to terminals cleaned; script(1) has one.
for verb in 'postprocess' 'postprocess --json' 'postprocess -l' 'postprocess -c'; do
	command -v script >/dev/null || continue
	if ! script -qec "kymo $verb report" out </dev/null >/dev/null 2>&1; then
		echo "$verb report: fails"
	elif grep -v '^Script ' out | LC_ALL=C grep $'\033\|\342\200\256' >/dev/null; then
		echo "$verb report: commands to a terminal"
	fi
done
kymo postprocess report | LC_ALL=C grep -c $'^& smaps : /tmp/a\342\200\256\033\\[2J$'
kymo dump controls
kymo dump turned
