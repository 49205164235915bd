/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/service/remote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/bus/bus-client.h"
#include "cli/bus/bus-host.h"
#include "cli/common/output-file.h"
#include "cli/common/verb.h"
#include "writer/pack/pack.h"

/* How a verb runs on another machine. */
enum way {
	WAY_BUS,      /* runs here, over a bus */
	WAY_STREAM,   /* runs there; the archive is written to a file here */
	WAY_START,    /* runs there, if it writes no file */
	WAY_TERMINAL, /* runs there, on this terminal */
};

static const struct verb_way {
	const char *verb;
	enum way way;
} ways[] = {
	{ "capabilities", WAY_BUS }, { "context", WAY_BUS }, { "list", WAY_BUS },
	{ "mark", WAY_BUS },         { "monitor", WAY_BUS }, { "providers", WAY_BUS },
	{ "record", WAY_STREAM },    { "rotate", WAY_BUS },  { "snapshot", WAY_BUS },
	{ "start", WAY_START },      { "status", WAY_BUS },  { "stop", WAY_BUS },
	{ "top", WAY_TERMINAL }, /* snapshot with -o: WAY_STREAM */
};

/* ---- words of the command line ---- */

/*
 * Returns true if WORD is the option BRIEF ("-H") or NAME ("--host"). *RET_VALUE is the value of
 * the option if it is in the same word; otherwise, *RET_VALUE is NULL, and the value is the next
 * word.
 */
static bool remote_is_option(const char *word, const char *brief, const char *name,
			     const char **ret_value)
{
	size_t n = strlen(name);

	*ret_value = NULL;
	if (brief && strncmp(word, brief, 2) == 0) {
		if (word[2])
			*ret_value = word + 2;
		return true;
	}
	if (!name[0] || strncmp(word, name, n) != 0 || (word[n] && word[n] != '='))
		return false;
	if (word[n])
		*ret_value = word + n + 1;
	return true;
}

static bool remote_has_option(int argc, char **argv, const char *brief, const char *name)
{
	const char *value;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (remote_is_option(argv[i], brief, name, &value))
			return true;
	return false;
}

static int remote_check_place(const char *name, const char *value)
{
	/* (ssh would parse such a word as an option) */
	if (!*value || *value == '-')
		return cli_usage_error("%s: '%s' is not a valid name", name, value);
	return CLI_OK;
}

/*
 * Returns true if WORD is -H or -M. *RET_VALUE is as for remote_is_option(), and *RET_TO is the
 * destination of the value.
 */
static bool remote_is_place(const char *word, const char **ret_value, struct remote *r,
			    const char ***ret_to)
{
	*ret_to = remote_is_option(word, "-H", "--host", ret_value)      ? &r->host
		  : remote_is_option(word, "-M", "--machine", ret_value) ? &r->machine
									 : NULL;
	return *ret_to;
}

/* Returns true if WORD is --socket. *RET is its path, which can be in the same word. */
static bool remote_is_socket(const char *word, const char **ret)
{
	const char *value;

	if (!remote_is_option(word, NULL, "--socket", &value))
		return false;
	*ret = value ? value : bus_host_default_socket;
	return true;
}

/*
 * Returns the number of words of the option that begins with WORD; 0 = WORD is not -H, -M or
 * --socket.
 */
static int remote_count_words(const char *word)
{
	const char *value, **to;
	struct remote r;

	if (remote_is_socket(word, &value))
		return 1;
	return !remote_is_place(word, &value, &r, &to) ? 0 : value ? 1 : 2;
}

void remote_append(int argc, char **argv)
{
	char *verb;
	int n = 1;

	while (n < argc && remote_count_words(argv[n]))
		n += remote_count_words(argv[n]);
	if (n == 1 || n >= argc)
		return;
	verb = argv[n];
	memmove(argv + 2, argv + 1, (size_t)(n - 1) * sizeof(*argv));
	argv[1] = verb;
}

int remote_parse_options(int *argc, char **argv, struct remote *ret)
{
	int kept = 1, i = 1, r = CLI_OK;

	for (; i < *argc && r == CLI_OK && strcmp(argv[i], "--") != 0; i++) {
		const char *value, **to;

		if (remote_is_socket(argv[i], &ret->socket))
			continue;
		remote_is_place(argv[i], &value, ret, &to);
		if (!to) {
			argv[kept++] = argv[i];
			continue;
		}
		if (!value && i + 1 == *argc)
			return cli_usage_error("option '%s' needs a value", argv[i]);
		*to = value ? value : argv[++i];
		r = remote_check_place(to == &ret->host ? "--host" : "--machine", *to);
	}
	while (i < *argc)
		argv[kept++] = argv[i++];
	argv[kept] = NULL;
	*argc = kept;
	if (r == CLI_OK && ret->host && ret->machine)
		return cli_usage_error("--host and --machine cannot be combined");
	if (r == CLI_OK && ret->socket && (ret->host || ret->machine))
		return cli_usage_error("--socket is for the service of this machine, and cannot be "
				       "combined with %s",
				       ret->host ? "--host" : "--machine");
	return r;
}

/* ---- the remote command ---- */

static void remote_add_quoted(FILE *f, const char *word)
{
	fputc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

/* Options for the local file; all other options are passed on. */
struct here {
	const char *output;
	bool force;
	const char *suffix; /* suffix of the default name */
};

/* Appends "kymo WORD ..." to F, without the local options. Returns an enum cli_exit. */
static int remote_add_command(FILE *f, int argc, char **argv, struct here *ret)
{
	enum pack_method pack;

	*ret = (struct here){ .suffix = "" };
	fputs("kymo", f);
	for (int i = 0; i < argc; i++) {
		const char *value;

		if (i && remote_is_option(argv[i], "-o", "--output", &value)) {
			if (!value && i + 1 == argc)
				return cli_usage_error("option '-o' needs a value");
			ret->output = value ? value : argv[++i];
			continue;
		}
		if (i && strcmp(argv[i], "--force") == 0) {
			ret->force = true;
			continue;
		}
		if (i && remote_is_option(argv[i], NULL, "--compress", &value)) {
			pack = PACK_ZSTD;
			if (value && pack_parse(value, &pack) < 0)
				pack = PACK_NONE; /* the remote command reports the error */
			ret->suffix = pack == PACK_NONE ? "" : pack_ops(pack)->suffix;
		}
		fputc(' ', f);
		remote_add_quoted(f, argv[i]);
	}
	return CLI_OK;
}

/* The begin of the remote script. It stops the remote command when standard input ends: ssh does
 * not pass signals on, and the input also ends if the connection breaks. (Background processes of a
 * shell ignore SIGINT.) */
static const char script_begin[] = "exec 3<&0; ";
static const char script_end[] = " -o - </dev/null & k=$!; "
				 "{ read x <&3; kill -TERM $k; } >/dev/null 2>&1 & r=$!; "
				 "exec 3<&-; wait $k; s=$?; kill $r 2>/dev/null; exit $s";

/* ---- ssh ---- */

static volatile sig_atomic_t stop_fd = -1, n_stops;
static volatile pid_t ssh_pid;

static void remote_on_signal(int number)
{
	if (n_stops++ == 0)
		close(stop_fd);
	else
		kill(ssh_pid, SIGTERM);
}

/* Runs ssh in the child. Does not return. */
static void remote_become_ssh(const char *host, const char *command, int in_fd, int out_fd,
			      bool terminal)
{
	const char *const argv[] = { "ssh", terminal ? "-xt" : "-xT", "--", host, command, NULL };

	if (in_fd >= 0)
		dup2(in_fd, STDIN_FILENO);
	if (out_fd >= 0)
		dup2(out_fd, STDOUT_FILENO);
	if (in_fd >= 0)
		signal(SIGINT, SIG_IGN); /* the parent ends this process */
	signal(SIGXFSZ, SIG_DFL);
	execvp(argv[0], (char **)argv);
	cli_error("cannot run ssh: %m");
	_exit(255);
}

/* Returns the enum cli_exit for a process that exited with STATUS. */
static int remote_exit_of(int status, const char *host)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		cli_error("there is no kymo on %s", host);
	if (WIFEXITED(status) && WEXITSTATUS(status) <= CLI_FOUND)
		return WEXITSTATUS(status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 255)
		cli_error("ssh has failed: cannot reach %s, or the connection was lost", host);
	return CLI_FAILED;
}

static int remote_wait_for_ssh(pid_t pid, const char *host)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return cli_failed("cannot wait for ssh: %m");
	return remote_exit_of(status, host);
}

/*
 * Runs COMMAND on HOST, with its output in FD, until COMMAND exits or this process is asked to
 * stop.
 */
static int remote_run_into(const char *host, const char *command, int fd)
{
	const struct sigaction action = { .sa_handler = remote_on_signal };
	int fds[2];
	pid_t pid;

	if (pipe(fds) < 0)
		return cli_failed("cannot create a pipe: %m");
	pid = fork();
	if (pid < 0)
		return cli_failed("cannot start ssh: %m");
	if (pid == 0) {
		close(fds[1]);
		remote_become_ssh(host, command, fds[0], fd, false);
	}
	close(fds[0]);
	stop_fd = fds[1];
	ssh_pid = pid;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	return remote_wait_for_ssh(pid, host);
}

static int remote_run_plain(const char *host, const char *command, bool terminal)
{
	pid_t pid = fork();

	if (pid < 0)
		return cli_failed("cannot start ssh: %m");
	if (pid == 0)
		remote_become_ssh(host, command, -1, -1, terminal);
	signal(SIGINT, SIG_IGN); /* the remote process handles the signal */
	return remote_wait_for_ssh(pid, host);
}

/* ---- ways ---- */

static int remote_write_here(const char *host, const char *command, const struct here *here)
{
	_cleanup_(output_file_deinit) struct output_file output = OUTPUT_FILE_NULL;
	int r;

	if (output_file_open(here->output, here->suffix, here->force, &output) < 0)
		return CLI_FAILED;
	output_file_watch_signals(&output);
	if (output_file_begin(&output) < 0)
		return CLI_FAILED;
	r = remote_run_into(host, command, output.fd);
	if (r != CLI_OK && r != CLI_DAMAGE)
		output_file_fail(&output);
	else if (output_file_end(&output) < 0)
		r = CLI_FAILED;
	else if (!output.standard)
		fprintf(stderr, "%s: from %s\n", output.path, host);
	return r;
}

static int remote_refuse_words(const struct remote *r, int argc, char **argv, enum way way)
{
	if (remote_has_option(argc, argv, NULL, "--help") ||
	    remote_has_option(argc, argv, "-h", ""))
		return REMOTE_GO;
	for (int i = 1; way == WAY_STREAM && i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return cli_usage_error("COMMAND would run on this machine, but %s is "
					       "recorded: omit it, and use -d or Ctrl-C",
					       r->host);
	if (way == WAY_STREAM && remote_has_option(argc, argv, NULL, "--json"))
		return cli_usage_error("--json and --host cannot be combined, because standard "
				       "output carries the archive");
	if (way == WAY_START && remote_has_option(argc, argv, "-o", "--output"))
		return cli_usage_error(
			"-o would be a file on %s: start it there (ssh %s kymo start "
			"...), or write here with 'kymo record --host'",
			r->host, r->host);
	return CLI_OK;
}

static int remote_run_there(const struct remote *r, int argc, char **argv, enum way way)
{
	_cleanup_free_ char *command = NULL, *wrapped = NULL;
	size_t size, wrapped_size;
	FILE *f = open_memstream(&command, &size), *g;
	struct here here;
	int e;

	if (!f)
		return cli_failed("out of memory");
	if (way == WAY_STREAM)
		fputs(script_begin, f);
	e = remote_add_command(f, argc, argv, &here);
	if (way == WAY_STREAM)
		fputs(script_end, f);
	fclose(f);
	if (e != CLI_OK)
		return e;
	g = open_memstream(&wrapped, &wrapped_size);
	if (!g)
		return cli_failed("out of memory");
	/* (the script needs sh, and the user's shell on the other machine can be any shell) */
	fputs("exec sh -c ", g);
	remote_add_quoted(g, command);
	fclose(g);
	if (way == WAY_STREAM)
		return remote_write_here(r->host, wrapped, &here);
	return remote_run_plain(r->host, wrapped, way == WAY_TERMINAL && isatty(STDOUT_FILENO));
}

/*
 * Checks a verb that uses the bus of a container. This bus passes descriptors, but names and ids
 * differ between the machines.
 */
static int remote_check_machine(const struct remote *r, int argc, char **argv)
{
	static const struct {
		const char *brief, *name;
	} rows[] = {
		{ "-p", "--pid" }, { NULL, "--uid" }, { NULL, "--unit" }, { NULL, "--cgroup" }
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (remote_has_option(argc, argv, rows[i].brief, rows[i].name))
			return cli_usage_error(
				"%s is looked up on this machine, but its meaning on %s differs: use "
				"--comm, or run kymo there",
				rows[i].name, r->machine);
	if (remote_has_option(argc, argv, NULL, "--direct"))
		return cli_usage_error("--direct and --machine cannot be combined");
	return CLI_OK;
}

/* Checks a verb that uses the private socket, and selects the socket. */
static int remote_use_socket(const struct remote *r, const struct verb_way *way, int argc,
			     char **argv)
{
	static const char *const others[] = { "--bus", "--direct" };
	/* More verbs that can use the service, but only that of this machine. */
	static const char *const more[] = { "calls", "collect", "leaks" };

	for (size_t i = 0; !way && i < ARRAY_SIZE(more); i++)
		if (strcmp(argv[0], more[i]) == 0)
			way = ways;
	if (!way)
		return cli_usage_error("--socket is not possible with this verb");
	if (*r->socket != '/')
		return cli_usage_error("--socket: '%s' is not an absolute path", r->socket);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (remote_has_option(argc, argv, NULL, others[i]))
			return cli_usage_error("%s and --socket cannot be combined", others[i]);
	bus_host_set(&(struct bus_host){ .socket = r->socket });
	return REMOTE_GO;
}

bool remote_is_set(const struct remote *r)
{
	return r->host || r->machine || r->socket;
}

int remote_run(const struct remote *r, int argc, char **argv)
{
	const struct verb_way *way = NULL;
	enum way how;
	int e;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (strcmp(ways[i].verb, argv[0]) == 0)
			way = &ways[i];
	if (r->socket)
		return remote_use_socket(r, way, argc, argv);
	if (!way)
		return cli_usage_error("%s is not possible with this verb%s",
				       r->host ? "--host" : "--machine",
				       strcmp(argv[0], "leaks") == 0
					       ? "; record with 'kymo record -e memory', and give "
						 "the archive to 'kymo leaks'"
					       : "");
	how = way->way;
	if (strcmp(argv[0], "snapshot") == 0 && remote_has_option(argc, argv, "-o", "--output"))
		how = WAY_STREAM;
	if (r->host && how != WAY_BUS) {
		e = remote_refuse_words(r, argc, argv, how);
		return e == CLI_OK ? remote_run_there(r, argc, argv, how) : e;
	}
	if (remote_has_option(argc, argv, NULL, "--bus"))
		return cli_usage_error("--bus and %s cannot be combined",
				       r->host ? "--host" : "--machine");
	e = r->machine ? remote_check_machine(r, argc, argv) : CLI_OK;
	if (e != CLI_OK)
		return e;
	bus_host_set(&(struct bus_host){ .host = r->host, .machine = r->machine });
	return REMOTE_GO;
}
