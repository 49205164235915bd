#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `kymo open` without a browser: curl makes the requests of the page, and requests that must be
# refused.

. "$(dirname "$0")/../lib.sh"
need_command curl gojq

UI=https://ui.perfetto.dev
small=$ROOT/tests/golden/fxt/everything.fxt

# More than the sockets between two processes hold. (Of records of the largest size, since the time
# that kymo takes depends on their number: they are blobs without a name.)
printf '\xf5\xff\0\0\xf0\x7f\1\0' >"$TMP/blob"
head -c 32752 <(cat "$small"{,,,,,,,,}) >>"$TMP/blob"
blobs=()
for ((n = 0; n < 920; n++)); do
	blobs+=("$TMP/blob")
done
cat "$small" "${blobs[@]}" >"$TMP/large.fxt"
expect_exit 0 "$KYMO" check "$TMP/large.fxt"
"$KYMO" export "$TMP/large.fxt" -o "$TMP/large.fxt.zst" 2>/dev/null
"$KYMO" export "$small" -o "$TMP/small.fxt.gz" 2>/dev/null

has_url_or_ended() {
	URL=$(sed -n '/#!/{s/.*#!\/?url=//p;q}' "$TMP/open.err")
	[ "$URL" ] || has_ended $OPEN
}

# start_open ARGUMENT ...: sets OPEN (its pid), URL (of the trace) and PORT
start_open() {
	: >"$TMP/open.err"
	"$KYMO" open --port 0 --json "$@" >"$TMP/open.json" 2>"$TMP/open.err" &
	OPEN=$!
	expect_soon 20 has_url_or_ended
	[ "$URL" ] || fail "kymo open $* ended: $(cat "$TMP/open.err")"
	PORT=${URL#http://127.0.0.1:}
	PORT=${PORT%%/*}
	[ "$PORT" ] || fail "kymo open $* says no URL"
}

# end_open STATUS ENDED: checks its exit status and its message
end_open() {
	local status=0

	wait $OPEN || status=$?
	[ $status = "$1" ] || fail "exit status $status instead of $1: $(cat "$TMP/open.err")"
	assert_eq "$(gojq -r .ended "$TMP/open.json")" "$2" "how it ended"
}

# status ARGUMENT ...: the HTTP status that curl gets
status() {
	curl -s -o "$TMP/body" -w '%{http_code}' "$@" || true
}

# header NAME: of the answer in $TMP/headers
header() {
	sed -n "s/^$1: \(.*\)\r$/\1/Ip" "$TMP/headers"
}

note "a library that is missing, or is another one, is named"
: >"$TMP/empty.c"
mkdir "$TMP/other"
cc -shared -fPIC -Wl,-soname,libmicrohttpd.so.12 -o "$TMP/other/libmicrohttpd.so.12" "$TMP/empty.c"
expect_exit 1 env LD_LIBRARY_PATH="$TMP/other" "$KYMO" open --port 0 --no-browser "$small"
assert_says "$TMP/stderr" 'libmicrohttpd.so.12 is missing or damaged; install the package libmicrohttpd12' "the message"

note "the file is served once"
start_open --no-browser "$small"
[[ $URL =~ ^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/everything\.fxt$ ]] || fail "the URL is $URL"
assert_line "$TMP/open.err" "$UI/#!/?url=$URL" "the URL of the page"
awk -v port="$(printf ':%04X' "$PORT")" '$4 == "0A" && index($2, port) { print $2 }' /proc/net/tcp /proc/net/tcp6 \
	>"$TMP/listening"
assert_eq "$(cat "$TMP/listening")" "$(printf '0100007F:%04X' "$PORT")" "the address of the server"
assert_eq "$(status -D "$TMP/headers" -H "Origin: $UI" "$URL")" 200 "GET"
cmp "$TMP/body" "$small"
assert_eq "$(header access-control-allow-origin)" "$UI" "Access-Control-Allow-Origin"
assert_eq "$(header content-length)" "$(stat -c %s "$small")" "Content-Length"
assert_eq "$(header content-type)" application/octet-stream "Content-Type"
assert_eq "$(header content-encoding)" "" "Content-Encoding"
assert_eq "$(header cache-control)" no-store "Cache-Control"
end_open 0 fetched
assert_eq "$(status "$URL")" 000 "a second fetch"
assert_eq "$(gojq -r '.fetched, .refused, .served_bytes' "$TMP/open.json" | xargs)" \
	"1 0 $(stat -c %s "$small")" "the report of its work"

note "nobody else gets anything, and asking ends nothing"
start_open --no-browser --timeout "$(limit 20)" "$small"
base=http://127.0.0.1:$PORT
path=${URL#"$base"}
for refused in \
	"403 -H Origin:https://evil.example $URL" \
	"403 -H Origin:null $URL" \
	"403 -H Origin:http://ui.perfetto.dev $URL" \
	"403 -H Host:evil.example:$PORT $URL" \
	"403 -H Host:evil.example $URL" \
	"403 -H Host:127.0.0.1 $URL" \
	"403 -X OPTIONS -H Origin:https://evil.example $URL" \
	"404 $base/" \
	"404 $base/everything.fxt" \
	"404 $base/00000000000000000000000000000000/everything.fxt" \
	"404 $URL/" \
	"404 ${URL}x" \
	"404 ${URL%?}" \
	"404 --path-as-is $base/../../../../../../etc/passwd" \
	"404 --path-as-is $URL/../../../etc/passwd" \
	"404 --path-as-is $base/%2e%2e/%2e%2e/etc/passwd" \
	"404 -X POST -H Origin:$UI $base/status" \
	"405 -X POST -d x $URL" \
	"405 -X PUT -d x $URL" \
	"405 -X DELETE $URL"; do
	read -r -a words <<<"$refused"
	assert_eq "$(status -D "$TMP/headers" "${words[@]:1}")" "${words[0]}" "${words[*]:1}"
	assert_eq "$(header access-control-allow-origin)" "" "Access-Control-Allow-Origin for ${words[*]:1}"
	! cmp -s "$TMP/body" "$small" || fail "${words[*]:1}: got the file"
done
# Not HTTP at all, and a request that does not end.
exec 3<>"/dev/tcp/127.0.0.1/$PORT" 4<>"/dev/tcp/127.0.0.1/$PORT"
head -c 3000 "$small" >&3
printf 'GET %s HTTP/1.1\r\nHost: ' "$path" >&4
assert_eq "$(curl -sI -D "$TMP/headers" -H "Origin: $UI" -o /dev/null -w '%{http_code}' "$URL")" 200 "HEAD"
assert_eq "$(header content-length)" "$(stat -c %s "$small")" "Content-Length of HEAD"
assert_eq "$(status -D "$TMP/headers" -X OPTIONS -H "Origin: $UI" -H "Access-Control-Request-Method: GET" \
	-H "Access-Control-Request-Private-Network: true" "$URL")" 204 "OPTIONS"
assert_eq "$(header access-control-allow-origin)" "$UI" "Access-Control-Allow-Origin of OPTIONS"
assert_eq "$(header access-control-allow-private-network)" true "Access-Control-Allow-Private-Network"
assert_eq "$(header access-control-allow-methods)" "GET, HEAD" "Access-Control-Allow-Methods"
assert_eq "$(status -H "Host: localhost:$PORT" "$URL")" 200 "GET from localhost"
exec 3>&- 4>&-
end_open 0 fetched

note "a port that is taken"
start_open --no-browser "$small"
expect_exit 1 "$KYMO" open --no-browser --port "$PORT" "$small"
assert_says "$TMP/stderr" "port $PORT is in use" "message"
status "$URL" >/dev/null
end_open 0 fetched

note "gzip goes as it is, zstd is unpacked, and a name is made fit for a URL"
cp "$TMP/small.fxt.gz" "$TMP/a b&c?#é.fxt.gz"
start_open --no-browser "$TMP/a b&c?#é.fxt.gz"
[[ $URL == */a_b_c____.fxt.gz ]] || fail "the URL is $URL"
assert_eq "$(status -D "$TMP/headers" "$URL")" 200 "GET"
cmp "$TMP/body" "$TMP/small.fxt.gz"
end_open 0 fetched
start_open --no-browser "$TMP/large.fxt.zst"
[[ $URL == */large.fxt ]] || fail "the URL is $URL"
assert_eq "$(curl -sI -D "$TMP/headers" -o /dev/null -w '%{http_code}' "$URL")" 200 "HEAD"
assert_eq "$(header content-length)" "" "Content-Length of HEAD of what is unpacked"
assert_eq "$(status "$URL")" 200 "GET"
cmp "$TMP/body" "$TMP/large.fxt"
end_open 0 fetched

note "a recording of kymo becomes a native trace, also from a packed archive"
recording=$ROOT/tests/golden/fxt/profile.fxt
expect_exit 0 "$KYMO" export --format perfetto "$recording" -o "$TMP/native"
"$KYMO" export "$recording" -o "$TMP/recording.fxt.zst" 2>/dev/null
cp "$recording" "$TMP/no-suffix"
for file in "$recording" "$TMP/recording.fxt.zst" "$TMP/no-suffix"; do
	start_open --no-browser --no-symbols "$file"
	name=$(basename "${file%%.fxt*}")
	[[ $URL == */$name.pftrace ]] || fail "the URL is $URL"
	assert_eq "$(status -D "$TMP/headers" "$URL")" 200 "GET"
	assert_eq "$(header content-length)" "$(stat -c %s "$TMP/native")" "Content-Length"
	cmp "$TMP/body" "$TMP/native"
	end_open 0 fetched
done
start_open --no-browser --no-symbols --archive "$recording"
[[ $URL == */profile.fxt ]] || fail "the URL is $URL"
assert_eq "$(status "$URL")" 200 "GET of the archive"
cmp "$TMP/body" "$recording"
end_open 0 fetched
# Events that Perfetto cannot show are reported, and so is damage, once.
start_open --no-browser --no-symbols "$ROOT/tests/golden/fxt/events.fxt"
status "$URL" >/dev/null
end_open 3 fetched
assert_says "$TMP/open.err" "2 events of CPUs from 1024 on were left out" "the message"
head -c -100 "$recording" >"$TMP/cut.fxt"
start_open --no-browser --no-symbols "$TMP/cut.fxt"
status "$URL" >/dev/null
end_open 3 fetched
assert_eq "$(grep -c 'truncated' "$TMP/open.err")" 1 "messages about the damage"
TMPDIR=/dev/null start_open --no-browser --no-symbols "$recording"
assert_eq "$(status "$URL")" 200 "GET without room for a trace"
cmp "$TMP/body" "$recording"
end_open 0 fetched
assert_says "$TMP/open.err" "the UI shows the archive itself, without states of threads" "the message"

note "a client that goes away does not end it, and one that is slow gets all of it"
for file in large.fxt large.fxt.zst; do
	start_open --no-browser --timeout "$(limit 2)" "$TMP/$file"
	rm -f "$TMP/slow"
	curl -s --limit-rate 1M -o "$TMP/slow" "$URL" &
	expect_soon 20 test -s "$TMP/slow"
	kill $!
	wait $! || true
	assert_eq "$(status --limit-rate 8M "$URL")" 200 "GET of $file"
	cmp "$TMP/body" "$TMP/large.fxt"
	end_open 0 fetched
done

note "while somebody fetches, others who come too late are told so"
start_open --no-browser "$TMP/large.fxt"
rm -f "$TMP/slow"
curl -s --limit-rate 10M -o "$TMP/slow" "$URL" &
slow=$!
expect_soon 20 test -s "$TMP/slow"
kill -STOP $slow # (so that it has not ended before the others come)
assert_eq "$(status "$URL")" 200 "GET beside it"
assert_eq "$(status "$URL")" 410 "GET after that"
kill -CONT $slow
wait $slow
cmp "$TMP/slow" "$TMP/large.fxt"
end_open 0 fetched

note "two that unpack: the newer one gets it"
start_open --no-browser --keep "$TMP/large.fxt.zst"
rm -f "$TMP/slow"
curl -s --limit-rate 1M -o "$TMP/slow" "$URL" &
slow=$!
expect_soon 20 test -s "$TMP/slow"
for _ in 1 2; do
	assert_eq "$(status "$URL")" 200 "GET beside it"
	cmp "$TMP/body" "$TMP/large.fxt"
done
kill -INT $OPEN
end_open 0 interrupted
assert_eq "$(gojq -r .fetched "$TMP/open.json")" 2 "fetches that were complete"
wait $slow && fail "the older transfer came to an end"

note "nobody comes, or only comes to sleep; Ctrl-C"
start_open --no-browser --timeout 300ms "$small"
end_open 1 timeout
assert_says "$TMP/open.err" "the trace was not fetched within 300 ms" "message"
send_request() {
	printf 'GET /%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "${URL#http://*/}" "$PORT"
}
# (the limit of a busy machine is waited for to the end, so it is tried with less first)
for ((seconds = 1;; seconds *= 2)); do
	start_open --no-browser --timeout $seconds "$TMP/large.fxt"
	! { exec 3<>"/dev/tcp/127.0.0.1/$PORT" && (send_request >&3); } || break
	[ $seconds -lt "$(limit 2)" ] || fail "no connection within $seconds s"
	end_open 1 timeout
done
end_open 1 timeout
exec 3>&-
for signal in INT TERM HUP; do
	start_open --no-browser "$small"
	kill -$signal $OPEN
	end_open 1 interrupted
done

note "of a truncated file, the readable part is served"
head -c -100 "$TMP/large.fxt.zst" >"$TMP/cut.fxt.zst"
start_open --no-browser "$TMP/cut.fxt.zst"
assert_eq "$(status "$URL")" 200 "GET"
[ -s "$TMP/body" ] || fail "nothing arrived"
cmp -n "$(stat -c %s "$TMP/body")" "$TMP/body" "$TMP/large.fxt"
end_open 3 fetched

note "the browser gets the URL, whatever it is"
chmod 711 "$TMP"
mkdir -m 777 "$TMP/seen"
cat >"$TMP/browse" <<'EOF'
#!/bin/bash
echo "$# $2 $(id -u) $HOME" >"$1/seen.tmp"
mv "$1/seen.tmp" "$1/seen"
echo "words that are none of ours"
EOF
chmod 755 "$TMP/browse"
start_open --browser "$TMP/browse $TMP/seen" --origin "HTTP://Localhost:80/perfetto/" "$small"
expect_soon 10 test -e "$TMP/seen/seen"
assert_eq "$(cat "$TMP/seen/seen")" "2 HTTP://Localhost:80/perfetto/#!/?url=$URL $(id -u) $HOME" "the arguments of the browser"
assert_eq "$(status -H "Origin: $UI" "$URL")" 403 "GET of another UI"
assert_eq "$(status -D "$TMP/headers" -H "Origin: http://localhost" "$URL")" 200 "GET"
assert_eq "$(header access-control-allow-origin)" http://localhost "Access-Control-Allow-Origin"
end_open 0 fetched
start_open --browser false "$small"
expect_soon 10 grep -qF "the browser failed; open this yourself: $UI" "$TMP/open.err"
status "$URL" >/dev/null
end_open 0 fetched
rm "$TMP/seen/seen"
env -u DISPLAY -u WAYLAND_DISPLAY BROWSER="$TMP/browse $TMP/seen:x" \
	"$KYMO" open --port 0 --timeout 1 "$small" >/dev/null 2>&1 || true
expect_soon 10 test -e "$TMP/seen/seen"
env -u DISPLAY -u WAYLAND_DISPLAY -u BROWSER "$KYMO" open --port 0 --timeout 100ms "$small" \
	>"$TMP/stdout" 2>"$TMP/stderr" || true
assert_says "$TMP/stderr" "There is no display" "message"

if [ "$(id -u)" = 0 ] && getent passwd nobody >/dev/null; then
	note "root who came by sudo is who called it, also where only root reads the file"
	nobody=$(id -u nobody)
	cp "$TMP/large.fxt.zst" "$TMP/secret.fxt.zst"
	chmod 600 "$TMP/secret.fxt.zst"
	rm -f "$TMP/seen/seen"
	SUDO_UID=$nobody start_open --browser "$TMP/browse $TMP/seen" "$TMP/secret.fxt.zst"
	expect_soon 10 test -e "$TMP/seen/seen"
	assert_eq "$(cat "$TMP/seen/seen")" "2 $UI/#!/?url=$URL $nobody $(getent passwd nobody | cut -d: -f6)" \
		"the arguments of the browser"
	assert_eq "$(awk '/^(Uid|Gid):/ { print $2, $3, $4, $5 }' /proc/$OPEN/status | sort -u)" \
		"$nobody $nobody $nobody $nobody" "the user of the server"
	assert_eq "$(status "$URL")" 200 "GET"
	cmp "$TMP/body" "$TMP/large.fxt"
	end_open 0 fetched
fi

if [ "$(id -u)" = 0 ]; then
	note "other users who know the URL get nothing, and whoever waits is told"
	as_other() { setpriv --reuid=65533 --regid=65533 --clear-groups "$@"; }
	other_status() { as_other curl -s -o /dev/null -w '%{http_code}' "$@" || true; }
	start_open --no-browser --timeout "$(limit 20)" "$TMP/large.fxt"
	assert_eq "$(other_status -H "Origin: $UI" "$URL")" 403 "GET of another user"
	assert_eq "$(other_status -X OPTIONS -H "Origin: $UI" "$URL")" 403 "OPTIONS of another user"
	as_other curl -s -o - "$URL" >"$TMP/body" || true
	assert_says "$TMP/body" "Only the user of 'kymo open'" "the answer to another user"
	# An IPv6 socket that connects to an IPv4 address is in the other list of the kernel.
	ipv6_url=${URL/127.0.0.1/[::ffff:127.0.0.1]}
	assert_eq "$(other_status -H "Host: 127.0.0.1:$PORT" "$ipv6_url")" 403 "GET of another user through IPv6"
	expect_soon 10 grep -q "refused a connection of user 65533: only user 0 and root" "$TMP/open.err"
	assert_eq "$(status -H "Host: 127.0.0.1:$PORT" "$ipv6_url")" 200 "GET through IPv6"
	cmp "$TMP/body" "$TMP/large.fxt"
	end_open 0 fetched
	assert_eq "$(gojq -r '.fetched, .refused' "$TMP/open.json" | xargs)" "1 4" "the report of its work"
	assert_eq "$(grep -c "refused a connection" "$TMP/open.err")" 1 "messages"

	note "--any-user serves them; a user serves root and themselves, and no third one"
	start_open --no-browser --any-user "$small"
	assert_eq "$(other_status "$URL")" 200 "GET of another user with --any-user"
	end_open 0 fetched
	SUDO_UID=$(id -u nobody) start_open --no-browser "$small"
	assert_eq "$(other_status "$URL")" 403 "GET of a third user"
	assert_eq "$(setpriv --reuid="$(id -u nobody)" --clear-groups curl -s -o /dev/null -w '%{http_code}' "$URL")" \
		200 "GET of the user who serves"
	end_open 0 fetched
fi

if unshare --user true 2>/dev/null; then
	note "where users cannot be told apart, it refuses and says what helps"
	# In a user namespace without mappings, all users look like the serving user.
	printf '#!/bin/sh\nexec unshare --user %q "$@"\n' "$(realpath "$KYMO")" >"$TMP/in-namespace"
	chmod 755 "$TMP/in-namespace"
	for ((seconds = 1;; seconds *= 2)); do
		KYMO=$TMP/in-namespace start_open --no-browser --timeout $seconds "$small"
		answer=$(status "$URL")
		if [ "$answer" != 000 ] || [ $seconds -ge "$(limit 2)" ]; then
			break
		fi
		end_open 1 timeout
	done
	assert_eq "$answer" 403 "GET from outside of the user namespace"
	assert_says "$TMP/body" "'kymo open --any-user' serves all users" "the message"
	end_open 1 timeout
	assert_says "$TMP/open.err" "its user is unknown" "message"
fi
