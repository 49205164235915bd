#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The mistakes that people make first: each message has the cause and the command that helps.
# bad-input.sh has the requests that are impossible in all circumstances.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command setpriv unshare

out=$TMP/out.fxt
direct=("$KYMO" record --direct -d 100ms -o "$out")

# says STATUS CAUSE HELP COMMAND ...: the message has both texts, and nothing is left behind
says() {
	local status=$1 cause=$2 help=$3

	shift 3
	expect_exit "$status" timeout "$(limit 20)" "$@"
	assert_says "$TMP/stderr" "$cause" "the cause: $*"
	assert_says "$TMP/stderr" "$help" "the help: $*"
	[ ! -e "$out" ] || fail "left behind $out: $*"
}

# in_mounts COMMAND-OF-SHELL: prints a shell command that changes mounts, and runs its arguments
in_mounts() {
	printf '%s && exec "$@"' "$1"
}

note "privileges"
chmod 755 "$TMP"
mkdir -m 777 "$TMP/public"
cp "$KYMO" "$TMP/public/kymo"
says 1 'needs root' 'try with sudo' setpriv --reuid=65534 --regid=65534 --clear-groups \
	--inh-caps=-all --bounding-set=-all "$TMP/public/kymo" record --direct -d 100ms -o "$out"
for missing in all perfmon,-sys_admin bpf,-sys_admin; do
	says 1 'this root does not have them' '--cap-add=BPF --cap-add=PERFMON' \
		setpriv "--inh-caps=-$missing" "--bounding-set=-$missing" "${direct[@]}"
done
if unshare -Ur true 2>/dev/null; then
	says 1 'this process is in a user namespace' 'run kymo as root outside of it' \
		unshare -Ur "${direct[@]}"
fi
for call in bpf perf_event_open; do
	echo $call >"$TMP/forbidden"
	says 1 'the system call filter (seccomp)' '--security-opt seccomp=unconfined' \
		"$ALLOW_CALLS" "~$TMP/forbidden" "${direct[@]}"
done

note "the kernel"
if unshare -m true 2>/dev/null; then
	says 1 'this kernel has no BTF' "'kymo capabilities' shows" unshare -m \
		sh -c "$(in_mounts 'mount -t tmpfs none /sys/kernel/btf')" sh "${direct[@]}"
	# (its refusal is that of a filter)
	lockdown=/sys/kernel/security/lockdown
	says 1 "kernel lockdown is in the mode 'confidentiality'" 'boot with lockdown=integrity' \
		unshare -m sh -c "$(in_mounts "mount -t tmpfs none ${lockdown%/*} &&
			echo 'none integrity [confidentiality]' >$lockdown")" sh \
		"$ALLOW_CALLS" "~$TMP/forbidden" "${direct[@]}"
fi
says 1 'this kernel is too old (uname -r)' 'boot a newer kernel' setarch --uname-2.6 "${direct[@]}"

note "processes and units"
says 2 "'sshd' is not a process id" "'pgrep -d, sshd'" "${direct[@]}" -p sshd
says 1 'there is no process 4194300' "'ps -e' lists them" "${direct[@]}" -p 4194300
"$KYMOD" --version >/dev/null & # (a process that ends at once)
ended=$!
wait $ended || :
says 1 "there is no process $ended" "'ps -e' lists them" "${direct[@]}" -p $ended
start_threads() {
	python3 -c 'import threading
e = threading.Event()
t = threading.Thread(target=e.wait, daemon=True)
t.start()
print(t.native_id, flush=True)
e.wait()' >"$TMP/thread" &
	threads=$!
	expect_soon 20 test -s "$TMP/thread"
}
if command -v python3 >/dev/null; then
	start_threads
	says 1 "is a thread; its process is $threads" "use -p $threads" \
		"${direct[@]}" -p "$(cat "$TMP/thread")"
	kill $threads
fi
says 1 "there is no cgroup 'sshdd.service'" "'systemd-cgls' lists all" \
	"${direct[@]}" --unit sshdd.service

note "commands"
says 126 "cannot execute $TMP/public: it is a directory" '' "${direct[@]}" -- "$TMP/public"
(cd "$TMP" && says 127 "cannot execute public: it is a directory" '' "${direct[@]}" -- public)
(cd "$TMP/public" && says 127 'it is not in PATH' "use './kymo'" "${direct[@]}" -- kymo)

note "functions"
cp "$KYMO_LOAD" "$TMP/stripped"
strip "$TMP/stripped"
for option in --call --moment; do
	says 1 'has no symbols (it is stripped)' 'install its debug symbols' \
		"${direct[@]}" $option "$TMP/stripped:main"
	says 1 "no function 'mian'" "did you mean 'main'?" "${direct[@]}" $option "$KYMO_LOAD:mian"
	says 1 "there is no library or program 'libnone.so.1'" "'ldconfig -p'" \
		"${direct[@]}" $option libnone.so.1:main
done

note "outputs"
out=$TMP/absent/out.fxt
says 1 "cannot write $out: No such file" "'mkdir -p' creates it" \
	"$KYMO" record --direct -d 100ms -o "$out"
out=$TMP/out.fxt
echo precious >"$TMP/there.fxt"
says 1 'exists already' '--force replaces it' "$KYMO" record --direct -d 100ms -o "$TMP/there.fxt"
cp "$ROOT/tests/golden/fxt/events.fxt" "$TMP/public/events.fxt"
chmod 644 "$TMP/public/events.fxt"
mkdir -m 1777 "$TMP/sticky"
touch "$TMP/public/theirs.fxt" "$TMP/sticky/theirs.fxt"
chmod 644 "$TMP/public/theirs.fxt" "$TMP/sticky/theirs.fxt"
# denied PATH HELP: another user has no right to write to PATH
denied() {
	says 1 "cannot write $1: Permission denied" "$2" setpriv --reuid=65534 --regid=65534 \
		--clear-groups --inh-caps=-all --bounding-set=-all \
		"$TMP/public/kymo" repair --force "$TMP/public/events.fxt" "$1"
}
denied "$TMP/denied.fxt" 'choose a directory that you can write to'
denied "$TMP/there.fxt" 'choose a directory that you can write to'
denied "$TMP/public/theirs.fxt" 'remove the file first, or choose another name'
denied "$TMP/sticky/theirs.fxt" 'the file belongs to another user: choose another name'
chmod 600 "$TMP/there.fxt"
if unshare -m true 2>/dev/null; then
	mkdir "$TMP/small"
	says 1 'Read-only file system' 'choose another directory' unshare -m \
		sh -c "$(in_mounts "mount -t tmpfs -o ro none $TMP/small")" sh \
		"$KYMO" record --direct -d 100ms -o "$TMP/small/out.fxt"
	says 1 'No space left on device' 'a file system with more room (df -h)' unshare -m \
		sh -c "$(in_mounts "mount -t tmpfs -o size=64k none $TMP/small")" sh \
		"$KYMO" record --direct -d 20s -o "$TMP/small/out.fxt"
	says 1 'No space left on device' 'a file system with more room (df -h)' unshare -m \
		sh -c "$(in_mounts "mount -t tmpfs -o size=8k none $TMP/small")" sh \
		"$KYMO" record --direct --compress -d 20s -o "$TMP/small/out.fxt"
	if grep -qF -- 'or --compress' "$TMP/stderr"; then
		fail "--compress is advised, and is on: $(<"$TMP/stderr")"
	fi
	says 1 'No space left on device' "'df -h' shows" unshare -m \
		sh -c "$(in_mounts "mount -t tmpfs -o size=4k none $TMP/small")" sh \
		"$KYMO" repair "$ROOT/tests/golden/fxt/events.fxt" "$TMP/small/out.fxt"
fi

note "inputs"
says 1 'stripped is not a Fuchsia trace' "'file' may say what it is" "$KYMO" summary "$TMP/stripped"
says 2 "unknown verb '$TMP/there.fxt'" "'kymo summary $TMP/there.fxt'" "$KYMO" "$TMP/there.fxt"
says 2 "unknown verb '$TMP/stripped'" "'kymo record -- $TMP/stripped'" "$KYMO" "$TMP/stripped"
says 2 "unknown verb 'recrod'" "did you mean 'record'?" "$KYMO" recrod
says 2 "unknown option '--evnets'" "did you mean '--events'?" "$KYMO" record --evnets=sched
says 2 "unknown category 'shced'" "did you mean 'sched'?" "${direct[@]}" -e shced
