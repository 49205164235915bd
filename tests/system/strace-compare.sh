#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# System calls of common programs, compared with strace -f: kymo shows no text that strace does not
# show, except for the kinds of calls in the list below. Prints a table of the kinds.
#
# Programs do not make the same calls in each run: threads run in another order, and data arrives
# earlier or later. So texts are compared without their order, and strace runs again until it has
# shown all texts of kymo, or until further runs show nothing new.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command strace
need_command git
need_command tar
[ -x /usr/bin/python3 ] || skip "no /usr/bin/python3"
[ "$(uname -m)" = x86_64 ] || skip "calls are recorded on x86-64"
strace -o "$TMP/works" true 2>/dev/null || skip "no strace that works here"

# The kinds whose texts are known to differ, and the reasons (docs/architecture/calls.md). A kind
# that becomes equal must leave the list.
: >"$TMP/known"

cat >"$TMP/calls.py" <<'END'
import array, fcntl, os, resource, select, signal, socket, subprocess, threading, time
r, w = os.pipe()
p = select.poll()
p.register(r, select.POLLIN)
p.poll(1)
os.write(w, b"x")
p.poll(1)
select.select([r], [w], [], 1)
select.select([], [], [], 0.001)
os.writev(w, [b"abc", b"defg"])
os.readv(r, [bytearray(3), bytearray(9)])
select.select([r], [w], [r], 1)
a, b = socket.socketpair()
a.sendmsg([b"hello", b"world"])
b.recvmsg(100)
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [r, w]))])
b.recvmsg(10, 100)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("127.0.0.1", 0))
u.sendto(b"x", u.getsockname())
u.recvfrom(10)
u.sendmsg([b"name"], [], 0, u.getsockname())
u.recvmsg(10)
e = select.epoll()
e.register(r, select.EPOLLIN)
e.poll(0.001)
e.modify(r, select.EPOLLIN | select.EPOLLET)
os.write(w, b"1")
e.poll(1)
e.unregister(r)
fcntl.fcntl(r, fcntl.F_SETFL, os.O_NONBLOCK)
fcntl.fcntl(r, fcntl.F_GETFL)
fcntl.fcntl(r, fcntl.F_GETFD)
f = open("lock", "w")
fcntl.lockf(f, fcntl.LOCK_EX)
fcntl.flock(f, fcntl.LOCK_UN)
os.utime("lock", (1, 2))
os.utime("lock")
os.truncate("lock", 10)
os.link("lock", "link")
os.unlink("link")
os.symlink("lock", "symlink")
os.readlink("symlink")
os.unlink("symlink")
os.umask(0o22)
os.chmod("lock", 0o600)
signal.signal(signal.SIGALRM, lambda *a: None)
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1)
signal.sigtimedwait([signal.SIGUSR1], 1)
os.sched_getaffinity(0)
os.getgroups()
os.getresuid()
os.times()
pid = os.fork()
if pid == 0:
    os._exit(3)
os.waitpid(pid, 0)
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGTERM)
os.wait4(pid, 0)
pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitid(os.P_PID, pid, os.WEXITED)
subprocess.run(["true", "", 'a "quoted" text'])
os.memfd_create("m")
os.eventfd(3)
out = os.open("lock", os.O_WRONLY)
os.sendfile(out, os.open("/etc/hostname", 0), 0, 5)
os.posix_fallocate(out, 0, 10)
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
s.bind(("127.0.0.1", 0))
s.listen(5)
c = socket.create_connection(s.getsockname())
s.accept()
resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.getrusage(0)
os.listdir("/proc/self/fd")
os.statvfs("/")
try:
    import ctypes
    # What threads of other programs do if they wait for each other, which is seen in few runs.
    ctypes.CDLL(None).syscall(202, ctypes.byref(ctypes.c_int(1)), 128, 2, None)
except ImportError:
    pass
t = threading.Thread(target=lambda: time.sleep(0.01))
t.start()
t.join()
END

# Data that differs between runs: numbers, addresses, data of files and sockets, names of temporary
# files, the number of elements of lists, and what depends on the time: results of futex, and of
# wait4 that does not wait. Prints NAME TAB TEXT.
shapes() {
	sed -nE 's/^([a-z0-9_]+\(.*\)) += (.*)$/\1 = \2/p' |
		sed -E '/^(read|write|pread64|pwrite64|sendto|recvfrom|getrandom|readv|writev)\(/s/"([^"\\]|\\.)*"(\.\.\.)?/DATA/g
			s/"([^"\\]|\\.)*(\.git\/|\/proc\/)([^"\\]|\\.)*"/NAME/g
			s/0x[0-9a-f]+/N/g; s/-?\b[0-9]+(\.[0-9]+)?\b/N/g; s/\bN\*N\b/N/g
			s/\bN \/\* N s \*\//N/g
			s/\{iov_base=DATA, iov_len=N\}/PART/g; s/(PART, )+PART/PART/g
			/^epoll_wait\(/s/\{events=[A-Z|]+/{events=EVENTS/g
			s/^(futex\(.*\)) = .*/\1 = RESULT/
			s/^wait4\(.*WNOHANG.*/wait4(N, STATUS, WNOHANG, NULL) = RESULT/
			:list; s/(\{[^{}]*(\{[^{}]*\})?\}), \1/\1/; tlist
			s/\[N( N)*\]/[N]/g; s/~?\[([A-Z0-9_]+( |\]))+/[SIGNALS]/g
			s/^([a-z0-9_]+)\(/\1\t&/'
}

# The calls of strace's output FILE. Calls that were interrupted by those of other threads are put
# together.
joined() {
	awk '{ thread = $1; sub(/^[0-9]+ +/, "") }
		/<unfinished \.\.\.>$/ { sub(/ *<unfinished \.\.\.>$/, ""); begun[thread] = $0; next }
		/^<\.\.\. / {
			sub(/^<\.\.\. [a-z0-9_]+ resumed>/, "")
			$0 = begun[thread] (begun[thread] ~ /,$/ && $0 !~ /^ / ? " " : "") $0
		}
		/^[a-z]/ { gsub(/,  +/, ", "); gsub(/ +\)/, ")"); gsub(/ +,/, ","); print }' "$1"
}

# Runs the command under strace, and adds its texts to $TMP/NAME.theirs. Returns 1 if they are known.
add_theirs() {
	local name=$1 before=0
	shift
	prepare
	(cd "$TMP/at" && timeout -k 5 "$(limit 60)" strace -f -s 256 -o "$TMP/strace" "$@" >/dev/null 2>&1 </dev/null) || :
	[ ! -e "$TMP/$name.theirs" ] || before=$(wc -l <"$TMP/$name.theirs")
	joined "$TMP/strace" | shapes | sort -u - "$TMP/$name.theirs" >"$TMP/new" 2>/dev/null ||
		joined "$TMP/strace" | shapes | sort -u >"$TMP/new"
	mv "$TMP/new" "$TMP/$name.theirs"
	[ "$(wc -l <"$TMP/$name.theirs")" -gt "$before" ]
}

# An empty directory for each run.
prepare() {
	rm -rf "$TMP/at"
	mkdir "$TMP/at"
}

# Compares the texts of a command with those of strace: $TMP/NAME.ours has all, and $TMP/NAME.extra
# those that strace does not show.
compare() {
	local name=$1 runs=0 idle=0
	shift
	note "$name"
	prepare
	(cd "$TMP/at" && timeout -k 5 "$(limit 60)" "$KYMO" record --direct --force -e calls --call 'syscall:*' \
		-o "$TMP/calls.fxt" -- "$@" >/dev/null 2>"$TMP/stderr" </dev/null) || :
	"$KYMO" calls "$TMP/calls.fxt" >"$TMP/printed" || fail "$(cat "$TMP/stderr")"
	sed -nE 's/^ *[0-9.]+ [^(]*\/[0-9]+ ([a-z0-9_]+\(.*) <[0-9.]+ [a-z]+>$/\1/p' "$TMP/printed" |
		shapes >"$TMP/$name.ours"
	assert_ge "$(wc -l <"$TMP/$name.ours")" 100 "system calls of $name"
	sed -n 1p "$TMP/printed" >"$TMP/first"
	assert_contains "$TMP/first" ' execve\("[^"]*", \[".*"\], 0x[0-9a-f]+ /\* [0-9]+ vars? \*/\) = 0 '
	while [ $((runs += 1)) -le 6 ]; do
		add_theirs "$name" "$@" || idle=$((idle + 1))
		sort -u "$TMP/$name.ours" | comm -23 - "$TMP/$name.theirs" >"$TMP/extra"
		cut -f 1 "$TMP/extra" | sort -u | comm -23 - <(cut -d ' ' -f 1 "$TMP/known") >"$TMP/kinds"
		[ -s "$TMP/kinds" ] || break
		[ "$idle" -lt 3 ] || break
	done
	cat "$TMP/extra" >>"$TMP/extras"
	cat "$TMP/$name.ours" >>"$TMP/ours"
	cat "$TMP/$name.theirs" >>"$TMP/theirs"
}

export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000' GIT_CONFIG_GLOBAL=/dev/null
compare ls ls -l /etc
compare grep grep -r root /etc/pam.d /etc/default
# shellcheck disable=SC2016 # the command expands it
compare sh sh -c 'date; echo hi | cat | wc -c; cp /etc/hostname hn; stat hn; rm hn; kill -0 $$; sleep 0.01 & wait'
compare tar tar czf x.tgz /etc/default
compare python3 /usr/bin/python3 "$TMP/calls.py"
compare git sh -c 'git init -q r; cd r; echo a >a; git add a; git -c user.name=a -c user.email=a@b commit -qm a; git status; git log'
if command -v redis-server redis-benchmark redis-cli >"$TMP/which" && [ "$(wc -l <"$TMP/which")" = 3 ]; then
	# (A client that came between bind() and listen() would be refused, in one of many runs.)
	cat >"$TMP/redis.sh" <<-'END'
		: >log
		redis-server --port 0 --unixsocket "$PWD/s" --save "" --logfile "$PWD/log" &
		until grep -qi "ready to accept connections" log; do sleep 0.1; done
		redis-cli -s "$PWD/s" ping
		redis-benchmark -s "$PWD/s" -n 100 -c 2 -t set,get -q
		redis-cli -s "$PWD/s" shutdown nosave
		wait
	END
	compare redis-server bash "$TMP/redis.sh"
else
	note "redis-server is not installed"
fi

# (strace can have shown the text in another program)
sort -u "$TMP/theirs" >"$TMP/all-theirs"
sort -u "$TMP/extras" | comm -23 - "$TMP/all-theirs" >"$TMP/extra"
awk -F '\t' 'FILENAME == ARGV[1] { extra[$0] = 1; next }
	{ n[$1]++; if ($0 in extra) text[$1] = $2; else equal[$1]++ }
	END { for (kind in n) printf "%s\t%d\t%d\t%s\n", kind, n[kind], equal[kind], text[kind] }' \
	"$TMP/extra" "$TMP/ours" | sort -t "$(printf '\t')" -k2,2nr -k1,1 >"$TMP/table"
printf '%-20s %7s %7s  %s\n' call calls equal example >&2
awk -F '\t' '{ printf "%-20s %7d %7d  %.200s\n", $1, $2, $3, $4 }' "$TMP/table" >&2
while IFS=$'\t' read -r kind _ _ text; do
	[ -z "$text" ] || grep "^$kind	" "$TMP/theirs" | sort -u | sed -n '1,5s/^[^\t]*\t/    strace: /p' >&2
done <"$TMP/table"

assert_ge "$(wc -l <"$TMP/table")" 60 "kinds of calls"
# (one call in 20 can be of a kind that comes only at another time, such as an interrupted one)
awk -F '\t' '20 * ($2 - $3) > $2 { print $1 }' "$TMP/table" | sort >"$TMP/differ"
cut -d ' ' -f 1 "$TMP/known" | sort | diff - "$TMP/differ" >&2 ||
	fail "kinds that differ (>) are not those of the list (<)"
