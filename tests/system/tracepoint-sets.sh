#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The sets of tracepoints: signals, net, faults and reclaim of programs that say what they have done.

. "$(dirname "$0")/../lib.sh"
need_btf
"$KYMO" capabilities 2>/dev/null | grep -E '^tracepoints +yes' >"$TMP/available" ||
	skip "tracepoints are unavailable"

# has_set NAME: whether this kernel has all tracepoints of a set.
has_set() {
	"$KYMO" capabilities 2>/dev/null | grep -E "^$1 +yes" >"$TMP/row" && ! grep 'a part:' "$TMP/row" >"$TMP/part"
}

sender=0 receiver=0 client=0 server=0 port=0 retransmits=0 pid=0 begin=0 end=0 mapped=0 populated=0
minflt=0 majflt=0

# record_set NAME [record option ...] -- COMMAND ...: records the set while COMMAND runs. Its output
# becomes variables of this shell.
record_set() {
	local set=$1

	shift
	record_around "$TMP/set.fxt" -b 16M -e "$set" "$@"
	grep -o '[a-z]*=[0-9]*' "$TMP/stdout" >"$TMP/said"
	# shellcheck source=/dev/null
	. "$TMP/said"
	dump_records "$TMP/set.fxt"
}

# ---- signals ----

if has_set signals; then
	record_set 'signals[sig==10]' -- "$PRESET_LOAD" signals 300
	events signal:signal_generate >"$TMP/sent"
	events signal:signal_deliver >"$TMP/taken"
	json "$TMP/sent" "select(.thread_id == $sender) | \"\(.args.sig) \(.args.pid) \(.args.result)\"" |
		sort | uniq -c | sed 's/^ *//' >"$TMP/kinds"
	assert_eq "$(<"$TMP/kinds")" "300 10 $receiver 0" "signals of the sender"
	json "$TMP/taken" "select(.thread_id == $receiver) | .args.sig" | sort | uniq -c |
		sed 's/^ *//' >"$TMP/kinds"
	assert_eq "$(<"$TMP/kinds")" "300 10" "signals that the receiver has taken"
	summarize "$TMP/set.fxt"
	json "$SUMMARY" '.tracepoints[] | "\(.count) \(.name)"' | sort >"$TMP/counted"
	printf '%s\n' "$(wc -l <"$TMP/sent") signal:signal_generate" "$(wc -l <"$TMP/taken") signal:signal_deliver" |
		sort >"$TMP/expected"
	diff "$TMP/expected" "$TMP/counted" >"$TMP/differences" || fail "counts of kymo summary: $(<"$TMP/differences")"
	# Each one is taken before the next one is sent.
	gojq -rn --argjson sender "$sender" --argjson receiver "$receiver" 'inputs |
		if .name == "signal:signal_generate" and .thread_id == $sender then "sent"
		elif .name == "signal:signal_deliver" and .thread_id == $receiver then "taken"
		else empty end' "$DUMP" | uniq | sort | uniq -c | sed 's/^ *//' >"$TMP/turns"
	assert_eq "$(<"$TMP/turns")" $'300 sent\n300 taken' "turns of sender and receiver"
fi

# ---- connections ----

# states PORT OTHER: prints the states of the socket of PORT that talks with OTHER, in their order.
states() {
	events sock:inet_sock_set_state >"$TMP/states"
	json "$TMP/states" "select(.args.sport == $1 and .args.dport == $2) | .args.newstate" | paste -sd ' '
}

if has_set net; then
	record_set net -- "$PRESET_LOAD" tcp
	# established, FIN_WAIT1, FIN_WAIT2, closed (TIME_WAIT is another socket)
	assert_eq "$(states "$client" "$server")" "1 4 5 7" "states of the client"
	# SYN_RECV (which older kernels report of the listening socket), established, CLOSE_WAIT, LAST_ACK, closed
	assert_eq "$(states "$server" "$client" | sed 's/^3 //')" "1 8 9 7" "states of the server"
	# listening, closed; and SYN_SENT of the client, which has no port yet
	assert_eq "$(states "$server" 0 | sed 's/ 3 / /')" "10 7" "states of the listening socket"
	assert_eq "$(states 0 "$server")" "2" "states of the client without a port"

	# A network without anybody: loopback drops packets to addresses that this machine lacks.
	cat >"$TMP/alone.sh" <<-'END'
		ip link set lo up && ip addr add 10.9.9.1/32 dev lo && ip route add 10.9.9.0/24 dev lo &&
			"$PRESET_LOAD" retransmit 10.9.9.9 && nstat -asz TcpRetransSegs
	END
	: >"$TMP/nstat"
	if unshare -n ip link set lo up 2>"$TMP/unshare" && type -P nstat >"$TMP/nstat"; then
		record_set net -- unshare -n bash "$TMP/alone.sh"
		assert_eq "$(awk '/^TcpRetransSegs/ { print $2 }' "$TMP/stdout")" "$retransmits" \
			"retransmissions that nstat has counted"
		events tcp:tcp_retransmit_skb >"$TMP/resent"
		json "$TMP/resent" "select(.args.sport == $port) | .args.dport" >"$TMP/ports"
		assert_eq "$(wc -l <"$TMP/ports")" "$retransmits" "retransmissions"
	fi

	# While the connection is idle, ss has its times. The next packet, at its end, has an event with
	# the same ones, since the last event is long ago.
	cat >"$TMP/rtt.sh" <<-'END'
		ip link set lo up && "$PRESET_LOAD" rtt 200 && nstat -asz TcpRetransSegs
	END
	if [ -s "$TMP/nstat" ] && type -P ss >"$TMP/ss"; then
		record_set net -- unshare -n bash "$TMP/rtt.sh"
		events kymo:tcp_rtt >"$TMP/rtts"
		json "$TMP/rtts" "select(.args.sport == $client and .args.dport == $server and .args.daddr == \"7f000001\") |
			.args | \"rtt:\(.srtt / 1000)/\(.rttvar / 1000) cwnd:\(.snd_cwnd) minrtt:\(.min_rtt / 1000)\"" >"$TMP/times"
		# times FILE: prints the times in a line of ss or of TCP_INFO
		times() {
			grep -oE '(^| )(rtt|cwnd|minrtt):[^ ]*' "$1" | tr -d ' ' | paste -sd ' '
		}
		grep TCP_INFO "$TMP/stdout" >"$TMP/info"
		assert_eq "$(tail -n 1 "$TMP/times" | sed 's/ minrtt.*//')" "$(times "$TMP/info")" "round trip times of TCP_INFO"
		grep minrtt: "$TMP/stdout" >"$TMP/of-ss" || note "not tested: round trip times of ss (no module tcp_diag)"
		[ ! -s "$TMP/of-ss" ] ||
			assert_eq "$(tail -n 1 "$TMP/times")" "$(times "$TMP/of-ss")" "round trip times of ss -ti"
		assert_eq "$(json "$TMP/rtts" "select(.args.sport == $client) | .args.total_retrans" | tail -n 1)" \
			"$(awk '/^TcpRetransSegs/ { print $2 }' "$TMP/stdout")" "retransmissions of the connection"
	fi

	# The kernel says why it drops packets, and counts those to a port that nobody has.
	cat >"$TMP/udp.sh" <<-'END'
		ip link set lo up && "$PRESET_LOAD" udp 70 && nstat -asz UdpNoPorts
	END
	if [ -s "$TMP/nstat" ]; then
		record_set net -- unshare -n bash "$TMP/udp.sh"
		events skb:kfree_skb >"$TMP/drops"
		assert_eq "$(awk '/^UdpNoPorts/ { print $2 }' "$TMP/stdout")" 70 "packets for nobody, as nstat has counted them"
		# (ksoftirqd can serve some of them; others can send such packets, too)
		assert_ge "$(json "$TMP/drops" 'select(.args.reason_name == "NO_SOCKET") | .name' | wc -l)" 70 \
			"packets for nobody"
	fi
fi

# ---- page faults ----

# faults MAJOR: prints the addresses of the faults of the child, in their order.
faults() {
	json "$TMP/faults" "select(.thread_id == $pid and .args.major == $1) | .args.address"
}

# The kernel does not tell perf of pages that it touches itself (MADV_POPULATE_WRITE, as a system call
# that takes pages out of a program). It counts them for getrusage, so exactly these are missing.
if has_set faults; then
	head -c 262144 /dev/urandom >"$TMP/cold file"
	record_set faults -- "$PRESET_LOAD" faults 2000 "$TMP/cold file"
	events kymo:page_fault >"$TMP/faults"
	note "$minflt minor page faults, $majflt major ones"
	assert_eq "$(($(faults false | wc -l) + 1000))" "$minflt" "minor page faults"
	assert_eq "$(faults true | wc -l)" "$majflt" "major page faults"
	assert_eq "$(faults false | awk -v b="$begin" -v e="$end" '$1 >= b && $1 < e' | sort -u | wc -l)" 2000 \
		"new pages with a fault"
	assert_eq "$(faults false | awk -v b="$populated" '$1 >= b && $1 < b + 4096000' | wc -l)" 0 \
		"faults of pages that the kernel has touched"
	# Each one has the page of the file, as stat() names it. (A file in memory has none.)
	case $(stat -f -c %T "$TMP") in
	tmpfs | overlayfs) note "not tested: the files of major page faults ($TMP is on no disk)" ;;
	*)
		assert_ge "$majflt" 1 "major page faults"
		json "$TMP/faults" "select(.thread_id == $pid and .args.major) | .args |
			\"\(.file) \(.device) \(.inode) \(.mapped) \(.address - .offset)\"" | sort -u >"$TMP/files"
		assert_eq "$(<"$TMP/files")" "$TMP/cold file $(stat -c '%d %i' "$TMP/cold file") true $mapped" \
			"file of the major page faults"
		;;
	esac
	json "$TMP/faults" "select(.thread_id == $pid and .args.address >= $begin and .args.address < $end) |
		.args | \"\(.file) \(.inode) \(.mapped)\"" | sort -u >"$TMP/files"
	assert_eq "$(<"$TMP/files")" " 0 true" "file of new pages"
	# A new mapping in the place of another one is not that one.
	assert_eq "$(json "$TMP/faults" "select(.thread_id == $pid and .args.address == $mapped) | .args |
		\"\(.major) \(.file) \(.inode)\"" | tail -n 1)" "false  0" "the fault of a page that replaces one of the file"
	# A condition selects in the kernel.
	record_set 'faults[major==1]' -- "$PRESET_LOAD" faults 100 "$TMP/cold file"
	events kymo:page_fault >"$TMP/faults"
	assert_eq "$(faults true | wc -l) $(json "$TMP/faults" 'select(.args.major | not) | .name' | wc -l)" \
		"$majflt 0" "major page faults, and minor ones"
fi

# ---- shortage of memory ----

memory=$(awk '$3 == "cgroup" && $4 ~ /memory/ { print $2 }' /proc/mounts)
limit=memory.limit_in_bytes
if [ -z "$memory" ]; then
	memory=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	limit=memory.max
fi
group=$memory/kymo-test.$$
if has_set reclaim && mkdir "$group" 2>"$TMP/mkdir" && [ -e "$group/$limit" ]; then
	at_exit rmdir "$group"
	echo 16M >"$group/$limit"
	cat >"$TMP/short.sh" <<-'END'
		(echo $BASHPID >"$1/cgroup.procs"; exec "$PRESET_LOAD" memory 64)
		true
	END
	record_set sched,reclaim -- bash "$TMP/short.sh" "$group"
	events oom:mark_victim >"$TMP/victims"
	assert_eq "$(json "$TMP/victims" "select(.args.pid == $pid) | .args.pid")" "$pid" \
		"the victim of the OOM killer"
	events vmscan:mm_vmscan_memcg_reclaim_begin >"$TMP/begins"
	events vmscan:mm_vmscan_memcg_reclaim_end >"$TMP/ends"
	n=$(json "$TMP/begins" "select(.thread_id == $pid) | .timestamp_ns" | wc -l)
	assert_ge "$n" 1 "direct reclaim of the program"
	assert_eq "$(json "$TMP/ends" "select(.thread_id == $pid) | .timestamp_ns" | wc -l)" "$n" "ends of direct reclaim"
	# The parts that kymo why finds are within the pairs, which also contain waits for a CPU.
	spent=$(gojq -n --argjson pid "$pid" '[inputs | select(.thread_id == $pid and (.name // "" |
		test("_reclaim_(begin|end)$|mm_compaction_(begin|end)$"))) |
		if .name | endswith("_end") then .timestamp_ns else -.timestamp_ns end] | add' "$DUMP")
	expect_exit 0 "$KYMO" why --json "$TMP/set.fxt" "$pid"
	cp "$TMP/stdout" "$TMP/why.json"
	assert_ge "$(json "$TMP/why.json" '.total.reclaim_ns // 0')" 1 "running time of reclaim"
	assert_le "$(json "$TMP/why.json" '.total | (.reclaim_ns // 0) + (.blocked_ns.memory // 0)')" "$spent" \
		"time of reclaim"
fi

# ---- errors ----

# refused STATUS WORDS SPEC: checks that SPEC is refused with WORDS.
refused() {
	expect_exit "$1" "$KYMO" record --direct -d 1 -e "$3" -o "$TMP/none.fxt"
	grep -qF -- "$2" "$TMP/stderr" || fail "$3: $(<"$TMP/stderr") lacks: $2"
}

refused 2 "unknown category 'signls'; did you mean 'signals'?" signls
refused 2 "&& or ] is missing" 'net[sport==1'
refused 1 "has no field 'sigg'; did you mean 'sig'?" 'signals[sigg==9]'
refused 1 'selected twice, and with a condition' 'signals,signals[sig==9]'
expect_exit 2 "$KYMO" record --direct --own -d 1 -e signals -o "$TMP/none.fxt"
assert_says "$TMP/stderr" 'cannot be combined'
