/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo open: shows a trace in the Perfetto UI in the user's browser. The page fetches the trace
 * from a server of this command on this machine. The trace does not leave the machine.
 *
 * The page loads the trace by itself if its URL is ORIGIN/#!/?url=URL. The page comes from the
 * network, and its content security policy allows only one address on this machine, port 9001.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/open/browser.h"
#include "cli/common/json.h"
#include "cli/open/open-named.h"
#include "cli/open/open-native.h"
#include "cli/common/open-trace.h"
#include "cli/open/serve-file.h"
#include "cli/common/symbol-options.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "writer/pack/pack.h"

#define UI_ORIGIN "https://ui.perfetto.dev"

enum {
	UI_PORT = 9001,
	ORIGIN_MAX = 1024,
	NS_PER_MS = 1000000,
};

#define NS_PER_S      UINT64_C(1000000000)
#define TIMEOUT_NS    (60 * NS_PER_S)
#define TIMEOUT_MAX_S 86400

struct open_options {
	const char *file, *browser, *ui;
	char origin[ORIGIN_MAX]; /* origin of the UI, as browsers send it */
	uint64_t timeout_ns;     /* 0 = no timeout */
	uint64_t port;
	bool no_browser, keep, any_user, archive, json, with_timeout;
	struct symbol_options symbols;
};

/* The reason for which the command ends. */
enum open_end {
	END_FETCHED,
	END_TIMEOUT,
	END_INTERRUPTED,
	END_FAILED,
};

static const char *const end_names[] = {
	[END_FETCHED] = "fetched",
	[END_TIMEOUT] = "timeout",
	[END_INTERRUPTED] = "interrupted",
	[END_FAILED] = "failed",
};

struct opening {
	const struct open_options *options;
	struct open_trace trace;
	int named_fd;  /* copy with function names, or -1 */
	int native_fd; /* native trace; -1 = the copy or the trace itself is served */
	struct serve_file *server;
	struct run_command browser;
	char *url; /* the URL that is opened */
	sigset_t mask;
	int signal_fd;
	bool reported_other_user;
};

static void verb_open_opening_deinit(struct opening *o)
{
	serve_file_free(o->server);
	open_trace_close(&o->trace);
	close_fd(o->named_fd);
	close_fd(o->native_fd);
	free(o->url);
	close_fd(o->signal_fd);
	sigprocmask(SIG_SETMASK, &o->mask, NULL);
}

/* ---- URL of the UI ---- */

/* Writes the origin of URL, scheme://host[:port], to TO (ORIGIN_MAX bytes) as browsers send it: in
 * lower case, without the default port. Returns 0, or -EINVAL if URL is not an HTTP URL. */
static int verb_open_parse_origin(const char *url, char *to)
{
	static const struct {
		const char *scheme, *port;
	} schemes[] = { { "https://", ":443" }, { "http://", ":80" } };
	size_t n, length, port;

	if (strlen(url) >= ORIGIN_MAX)
		return -EINVAL;
	for (const char *p = url; *p; p++)
		if (!isascii(*p) || !isgraph(*p) || strchr("\"'<>\\^`{|}#?@", *p))
			return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		n = strlen(schemes[i].scheme);
		if (strncasecmp(url, schemes[i].scheme, n) != 0)
			continue;
		length = n + strcspn(url + n, "/");
		port = strlen(schemes[i].port);
		if (length == n)
			return -EINVAL;
		if (length > n + port && strncmp(url + length - port, schemes[i].port, port) == 0)
			length -= port;
		for (size_t j = 0; j < length; j++)
			to[j] = (char)tolower((unsigned char)url[j]);
		to[length] = '\0';
		return 0;
	}
	return -EINVAL;
}

/* Makes the URL to open; the path of the UI can end with a slash. */
static int verb_open_make_url(struct opening *o)
{
	const char *ui = o->options->ui;
	size_t n = strlen(ui);

	while (n > 0 && ui[n - 1] == '/')
		n--;
	if (asprintf(&o->url, "%.*s/#!/?url=%s", (int)n, ui, serve_file_url(o->server)) < 0) {
		o->url = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* ---- the server ---- */

/*
 * Returns the name for the UI: the file name without the suffix of a compression that the server
 * unpacks. NATIVE = true: with the suffix of a native trace instead of the archive's.
 */
static char *verb_open_shown_name(const char *path, enum pack_method unpacked, bool native)
{
	static const char fxt[] = ".fxt";
	char *shown;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(name), suffix = strlen(pack_ops(unpacked)->suffix);

	if (unpacked != PACK_NONE && pack_of_suffix(name) == unpacked)
		n -= suffix;
	if (!native)
		return n > 0 ? strndup(name, n) : strdup("trace.fxt");
	if (n >= strlen(fxt) && strncmp(name + n - strlen(fxt), fxt, strlen(fxt)) == 0)
		n -= strlen(fxt);
	return asprintf(&shown, "%.*s.pftrace", n > 0 ? (int)n : 5, n > 0 ? name : "trace") < 0
		       ? NULL
		       : shown;
}

/*
 * Returns the compression that the server must unpack: the UI supports uncompressed and gzip files
 * only.
 */
static enum pack_method verb_open_to_unpack(const struct open_trace *t)
{
	enum pack_method method = unpack_method(t->stream.unpack);

	return method == PACK_GZIP ? PACK_NONE : method;
}

static int verb_open_complain_no_server(const struct open_options *o, int r)
{
	if (r == -EADDRINUSE)
		cli_error("port %" PRIu64 " is in use, perhaps by another 'kymo open' or a trace "
			  "processor; end that, or use --port with your own UI",
			  o->port);
	else if (r == -EACCES)
		cli_error("port %" PRIu64 " is reserved for root; use a port from 1024 on",
			  o->port);
	else if (r == -ENOPKG)
		cli_error("cannot serve the trace: libmicrohttpd.so.12 is missing or damaged; "
			  "install the package libmicrohttpd12");
	else
		cli_error("cannot serve on port %" PRIu64 ": %s", o->port, strerror(-r));
	return CLI_FAILED;
}

static int verb_open_start_server(struct opening *o)
{
	const struct open_options *options = o->options;
	bool native = o->native_fd >= 0, made = native || o->named_fd >= 0;
	enum pack_method method = made ? PACK_NONE : verb_open_to_unpack(&o->trace);
	_cleanup_free_ char *name = verb_open_shown_name(
		options->file, made ? unpack_method(o->trace.stream.unpack) : method, native);
	int r;

	if (!name)
		return verb_open_complain_no_server(options, -ENOMEM);
	r = serve_file_new(
		&(struct serve_file_args){
			.fd = native ? o->native_fd
			      : made ? o->named_fd
				     : o->trace.fd,
			.unpack = method,
			.port = (uint16_t)options->port,
			.name = name,
			.origin = options->origin,
			.keep = options->keep,
			.any_user = options->any_user,
			.stall_s = (unsigned)((options->timeout_ns + NS_PER_S - 1) / NS_PER_S),
		},
		&o->server);
	r = r ?: verb_open_make_url(o);
	return r < 0 ? verb_open_complain_no_server(options, r) : CLI_OK;
}

static int verb_open_complain_no_file(const char *name)
{
	return cli_failed("%s is not a regular file, so a browser cannot fetch from it; save the "
			  "trace first",
			  name);
}

/* Opens the trace. The file must be regular, since it is served from its start, with its size. */
static int verb_open_file(struct opening *o)
{
	const char *path = o->options->file;
	struct stat st;
	int r;

	/* Checked before the file is opened, since opening would wait for the writer of a pipe. */
	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		return verb_open_complain_no_file(path);
	r = open_trace(&o->trace, path);
	if (r != CLI_OK)
		return r;
	if (fstat(o->trace.fd, &st) == 0 && S_ISREG(st.st_mode))
		return CLI_OK;
	return verb_open_complain_no_file(o->trace.name);
}

/* ---- waiting for the fetch ---- */

static int verb_open_catch_signals(struct opening *o)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	o->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return o->signal_fd < 0 ? -errno : 0;
}

/*
 * Checks if the browser has failed. A browser can exit at once if another process shows the page,
 * so only failures matter.
 */
static void verb_open_check_browser(struct opening *o)
{
	int status;

	if (o->browser.pid == 0 || waitpid(o->browser.pid, &status, WNOHANG) != o->browser.pid)
		return;
	o->browser.pid = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		cli_error("the browser failed; open this yourself: %s", o->url);
}

/* Handles signals. Returns whether the command must end. */
static bool verb_open_handle_signals(struct opening *o)
{
	struct signalfd_siginfo info;

	while (read(o->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			return true;
		verb_open_check_browser(o);
	}
	return false;
}

/* The page only shows that the fetch failed, so this command tells the user the reason. */
static void verb_open_report_other_user(struct opening *o, const struct serve_file_status *status)
{
	if (status->n_foreign == 0 || o->reported_other_user)
		return;
	o->reported_other_user = true;
	if (status->foreign_error == 0)
		cli_error("refused a connection of user %" PRIu32 ": only user %" PRIu32
			  " and root may fetch the trace; --any-user "
			  "serves all users of this machine",
			  (uint32_t)status->foreign_uid, (uint32_t)geteuid());
	else
		cli_error("refused a connection: its user is unknown (%s), perhaps from another "
			  "container or system; --any-user serves all users of this machine",
			  status->foreign_error == -ENOENT ? "its other end is not a local socket"
							   : strerror(-status->foreign_error));
}

/* Returns the time until DEADLINE (0 = never) in milliseconds, for poll(). */
static int verb_open_wait_ms(uint64_t deadline)
{
	uint64_t now = clock_boot_ns(), ms;

	if (deadline == 0)
		return -1;
	if (now >= deadline)
		return 0;
	ms = (deadline - now + NS_PER_MS - 1) / NS_PER_MS;
	return ms < 3600000 ? (int)ms : 3600000;
}

static enum open_end verb_open_wait_fetched(struct opening *o)
{
	uint64_t timeout = o->options->timeout_ns, changes = 0;
	uint64_t deadline = timeout ? clock_boot_ns() + timeout : 0;

	for (;;) {
		struct pollfd fds[] = { { o->signal_fd, POLLIN, 0 },
					{ serve_file_fd(o->server), POLLIN, 0 } };
		struct serve_file_status status;

		if (poll(fds, ARRAY_SIZE(fds), verb_open_wait_ms(deadline)) < 0 && errno != EINTR)
			return END_FAILED;
		if (verb_open_handle_signals(o))
			return END_INTERRUPTED;
		status = serve_file_poll(o->server);
		verb_open_report_other_user(o, &status);
		if (status.n_fetched > 0 && status.n_active == 0 && !o->options->keep)
			return END_FETCHED;
		if (timeout && status.changes != changes)
			deadline = clock_boot_ns() + timeout;
		else if (timeout && clock_boot_ns() >= deadline && status.n_active == 0)
			return status.n_fetched > 0 ? END_FETCHED : END_TIMEOUT;
		else if (timeout && clock_boot_ns() >= deadline)
			deadline =
				clock_boot_ns() + timeout; /* the server disconnects idle clients */
		changes = status.changes;
	}
}

/* ---- messages ---- */

static void verb_open_print_url(const struct opening *o, bool with_browser)
{
	const struct open_options *options = o->options;
	FILE *to = options->json ? stderr : stdout;

	if (serve_file_port(o->server) != UI_PORT && strcmp(options->origin, UI_ORIGIN) == 0)
		cli_error("note: %s can use only port %d", UI_ORIGIN, UI_PORT);
	fprintf(to, "%s\n", o->url);
	fflush(to);
	if (!with_browser && !options->no_browser)
		fprintf(stderr,
			"There is no display. Open this URL on this machine, or on another one "
			"after\n    ssh -L %" PRIu16 ":127.0.0.1:%" PRIu16 " HOST\n",
			serve_file_port(o->server), serve_file_port(o->server));
}

static void verb_open_print_json(const struct opening *o, const struct serve_file_status *status,
				 enum open_end end)
{
	json_print_line(
		JSON_OBJECT(JSON_OF(o, url), JSON("port", serve_file_port(o->server)),
			    JSON("file", json_from_text(o->trace.name)),
			    JSON("fetched", status->n_fetched), JSON("refused", status->n_refused),
			    JSON("served_bytes", status->bytes), JSON("ended", end_names[end])));
}

static int verb_open_report(const struct opening *o, enum open_end end)
{
	struct serve_file_status status = serve_file_poll(o->server);

	if (o->options->json)
		verb_open_print_json(o, &status, end);
	if (status.damage)
		cli_error("%s: %s; the readable part was served", o->trace.name, status.damage);
	if (end == END_TIMEOUT)
		cli_error("the trace was not fetched within %s; --timeout waits longer",
			  TEXT_TIME(o->options->timeout_ns));
	else if (end == END_INTERRUPTED && status.n_fetched == 0)
		cli_error("interrupted before the trace was fetched");
	else if (end == END_FAILED)
		cli_error("cannot wait: %m");
	if (end == END_FAILED || status.n_fetched == 0)
		return CLI_FAILED;
	if (!o->options->json)
		fprintf(stderr, "%s: served %s\n", o->trace.name, TEXT_SIZE(status.bytes));
	return status.damage ? CLI_DAMAGE : CLI_OK;
}

/* ---- the verb ---- */

static int verb_open_run_open(const struct open_options *options)
{
	_cleanup_(verb_open_opening_deinit) struct opening o = {
		.options = options,
		.trace = OPEN_TRACE_NULL,
		.named_fd = -1,
		.native_fd = -1,
		.signal_fd = -1,
	};
	bool with_browser;
	int r, damage;

	sigprocmask(SIG_BLOCK, NULL, &o.mask);
	r = verb_open_file(&o);
	if (r != CLI_OK)
		return r;
	/*
	 * This is done while the process is still root, because only root can read the names of the
	 * kernel's functions.
	 */
	damage = open_named(&o.trace, options->file, &options->symbols, &o.named_fd);
	if (damage == CLI_FAILED)
		return damage;
	if (!options->archive) {
		r = open_native(&o.trace, options->file, o.named_fd, &o.native_fd);
		if (r == CLI_FAILED)
			return r;
		damage = damage ?: r;
	}
	r = browser_become_caller();
	if (r < 0)
		return cli_failed("cannot switch to the user who called sudo: %s", strerror(-r));
	r = verb_open_catch_signals(&o);
	if (r < 0)
		return cli_failed("cannot set up signals: %s", strerror(-r));
	r = verb_open_start_server(&o);
	if (r != CLI_OK)
		return r;
	with_browser = !options->no_browser && browser_is_there(options->browser);
	verb_open_print_url(&o, with_browser);
	if (with_browser) {
		r = browser_start(&o.browser, options->browser, o.url, &o.mask);
		if (r < 0)
			cli_error("cannot start a browser: %s", strerror(-r));
	}
	r = verb_open_report(&o, verb_open_wait_fetched(&o));
	return r == CLI_OK ? damage : r;
}

static int verb_open_parse_port(void *options, char *text)
{
	struct open_options *o = options;

	if (text_parse_u64(text, UINT16_MAX, &o->port) < 0)
		return cli_usage_error("--port: '%s' is not a port", text);
	return CLI_OK;
}

static int verb_open_parse_timeout(void *options, char *text)
{
	struct open_options *o = options;

	o->with_timeout = true;
	if (text_parse_time(text, &o->timeout_ns) < 0 || o->timeout_ns > TIMEOUT_MAX_S * NS_PER_S)
		return cli_usage_error("--timeout: '%s' is not a time of up to a day", text);
	return CLI_OK;
}

static int verb_open_check_options(struct open_options *o)
{
	if (verb_open_parse_origin(o->ui, o->origin) < 0)
		return cli_usage_error(
			"--origin: '%s' is not the URL of a site, such as " UI_ORIGIN, o->ui);
	if (o->no_browser && o->browser)
		return cli_usage_error("--browser and --no-browser contradict each other");
	return CLI_OK;
}

static int verb_open(int argc, char **argv)
{
	struct open_options o = { .ui = UI_ORIGIN, .port = UI_PORT, .timeout_ns = TIMEOUT_NS };
	const struct verb_option options[] = {
		OPTION_FLAG("any-user", &o.any_user),
		OPTION_FLAG("archive", &o.archive),
		OPTION_TEXT("browser", 0, &o.browser),
		OPTION_FLAG("json", &o.json),
		OPTION_FLAG("keep", &o.keep),
		OPTION_FLAG("no-browser", &o.no_browser),
		OPTION_TEXT("origin", 0, &o.ui),
		OPTION_VALUE("port", 0, verb_open_parse_port, &o),
		OPTION_VALUE("timeout", 0, verb_open_parse_timeout, &o),
		SYMBOL_NONE_ROW(&o.symbols),
		SYMBOL_PLACE_ROWS(&o.symbols),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 1, "expected one FILE");

	if (r != VERB_OPTIONS_GO)
		return r;
	r = verb_open_check_options(&o);
	if (r != CLI_OK)
		return r;
	o.file = argv[optind];
	if (o.keep && !o.with_timeout)
		o.timeout_ns = 0;
	return verb_open_run_open(&o);
}

const struct verb verb_open_row = {
	.name = "open",
	.synopsis = "[OPTION ...] FILE",
	.what = "Open a trace in the Perfetto UI, in the browser",
	.examples = "  kymo open t.fxt\n  kymo open --no-browser t.fxt\n",
	.options =
		"      --no-browser       print the URL, and start no browser\n"
		"      --browser=COMMAND  start this browser ($BROWSER, or xdg-open)\n"
		"      --origin=URL       address of the UI (" UI_ORIGIN ")\n"
		"      --port=PORT        serve on this port (9001, the only one that the UI reaches)\n"
		"      --timeout=TIME     time to wait for the UI (60 s; 0 is unlimited)\n"
		"      --any-user         also serve other users of this machine\n"
		"      --archive          serve the archive itself, not a native trace of it\n"
		"      --keep             continue after the trace was fetched, until Ctrl-C\n"
		"      --json             print the result as a line of JSON\n" SYMBOL_NONE_HELP
			SYMBOL_PLACE_HELP "  -h, --help             show this\n"
		"\nThe names of functions are added first. Then the archive becomes a native\n"
		"Perfetto trace. Both are temporary files (TMPDIR).\n"
		"The trace goes only to the browser on this machine.\n",
	.run = verb_open,
};
