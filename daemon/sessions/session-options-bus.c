/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles the options that are not in the table of options: descriptors, collections, and `linger`.
 */
#include "daemon/sessions/session-options-bus.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/file-kind.h"
#include "base/foreign-fds.h"
#include "bus/option-bus.h"
#include "daemon/common/bus-error.h"
#include "daemon/files/async-close.h"
#include "daemon/files/passed-fds.h"
#include "daemon/sessions/collection-use.h"

void create_request_deinit(struct create_request *r)
{
	session_options_deinit(&r->options);
	r->output_fd = close_passed_fd(r->output_fd);
	r->store = store_free(r->store);
	r->profile = free_ptr(r->profile);
	r->use = collection_use_free(r->use);
}

/* Names the type of a file that cannot be an output. */
static const char *session_options_bus_kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFCHR:
		return "a character device";
	case S_IFBLK:
		return "a block device";
	default:
		return "of an unknown type";
	}
}

/*
 * Refuses FD if too many descriptors of UID from the same file system are not closed yet. If the
 * file system never answers, each descriptor occupies a thread and a number forever. A file system
 * that is only slow, such as a busy disk, is accepted.
 */
static int session_options_check_answers(const char *option, int fd, uid_t uid,
					 sd_bus_error *reterr)
{
	size_t n = async_close_backlog(fd, uid);

	if (n == 0)
		return 0;
	return bus_error_set(reterr, -EDQUOT,
			     "option `%s`: the file system does not answer, or takes very long: "
			     "%zu files on it that you have passed are not closed yet",
			     option, n);
}

/* Checks FD, from a caller. Returns 0 if it is writable and of a type that can be an output. */
static int session_options_bus_check_output(int fd, sd_bus_error *reterr)
{
	int flags = fcntl(fd, F_GETFL), r;
	mode_t type;

	r = flags < 0 ? -errno : file_type_of(fd, &type);
	if (r == -EACCES)
		return bus_error_set(reterr, -EBADF,
				     "`output` is on a file system that the service may not access "
				     "(FUSE without allow_other): use a pipe");
	if (r < 0)
		return bus_error_set(reterr, -EBADF, "`output` is not an open file: %s",
				     strerror(-r));
	if (type != S_IFREG && type != S_IFIFO && type != S_IFSOCK)
		return bus_error_set(reterr, -EBADF,
				     "`output` is %s: a regular file, a pipe or a socket "
				     "is needed",
				     session_options_bus_kind_of(type));
	if (flags & O_PATH)
		return bus_error_set(reterr, -EBADF,
				     "`output` only names a file (O_PATH): open it for "
				     "writing");
	if ((flags & O_ACCMODE) == O_RDONLY)
		return bus_error_set(reterr, -EBADF, "`output` is open for reading only");
	return 0;
}

/* Returns true if data written to the socket FD goes to a process of UID, or over a network. */
static bool session_options_is_socket_of(int fd, uid_t uid)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(int), peer_size = sizeof(peer);
	int domain, type;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM)
		return false;
	if (domain != AF_UNIX)
		return domain == AF_INET || domain == AF_INET6;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 && peer.uid == uid;
}

/*
 * Refuses FD, from UID, if it is a socket whose other end could trust the written data. With
 * SO_PASSCRED, the receiver gets the credentials of the writer (root), and not those of the user
 * who passed the socket. So users could send lines to the journal, or messages to systemd, in the
 * name of the service.
 */
static int session_options_check_peer(int fd, uid_t uid, sd_bus_error *reterr)
{
	mode_t type;

	if (uid == 0 || file_type_of(fd, &type) < 0 || type != S_IFSOCK ||
	    session_options_is_socket_of(fd, uid))
		return 0;
	return bus_error_set(
		reterr, -EBADF,
		"`output` is a socket that does not lead to a program of your own: use "
		"a pipe");
}

/*
 * Sets *RET to the descriptor that STAND_IN represents, borrowed. From now on, the descriptor
 * belongs to UID: if its close hangs, UID is charged.
 */
static int session_options_passed_fd_of(int stand_in, uid_t uid, int *ret, sd_bus_error *reterr)
{
	*ret = stand_in < 0 ? stand_in : passed_fds_get(stand_in);
	if (stand_in < 0)
		/*
		 * (a negative number is not from the message; the checks of the caller refuse it)
		 */
		return 0;
	if (*ret == -EDQUOT)
		return bus_error_set(reterr, -EDQUOT,
				     "too many files that you have passed could not be closed yet: "
				     "try again later");
	if (*ret < 0)
		return bus_error_set(reterr, -EDQUOT,
				     "the service cannot receive files now (%s): try again later",
				     strerror(-*ret));
	foreign_fds_mark(*ret, FOREIGN_FD_OF(uid));
	return 0;
}

int output_fd_acquire(int stand_in, uid_t uid, int *ret_fd, sd_bus_error *reterr)
{
	int fd, r = session_options_passed_fd_of(stand_in, uid, &fd, reterr);

	r = r ?: session_options_bus_check_output(fd, reterr);
	r = r ?: session_options_check_peer(fd, uid, reterr);
	r = r ?: session_options_check_answers("output", fd, uid, reterr);
	if (r < 0)
		return r;
	r = foreign_fds_dup(fd);
	if (r < 0)
		return r;
	*ret_fd = r;
	return 0;
}

static int session_options_read_output(sd_bus_message *m, struct create_request *to,
				       sd_bus_error *reterr)
{
	int fd, r = sd_bus_message_read(m, "h", &fd);

	if (r < 0)
		return bus_error_set(reterr, -EBADF,
				     "option `output` names a descriptor that did not come with "
				     "the message");
	return output_fd_acquire(fd, to->uid, &to->output_fd, reterr);
}

static int session_options_read_profile(sd_bus_message *m, struct create_request *to,
					sd_bus_error *reterr)
{
	const char *name;
	int r = sd_bus_message_read(m, "s", &name);

	if (r < 0)
		return r;
	to->profile = strdup(name);
	return to->profile ? 0 : -ENOMEM;
}

static int session_options_read_linger(sd_bus_message *m, struct create_request *to,
				       sd_bus_error *reterr)
{
	int v, r = sd_bus_message_read(m, "b", &v);

	if (r >= 0)
		to->linger = v;
	return r < 0 ? r : 0;
}

/* Takes a file that is parsed as a program, in a sandbox. The file is never written. */
static int session_options_keep_file(struct create_request *to, int stand_in,
				     const struct option_row *row, sd_bus_error *reterr)
{
	struct option_files *files = option_at(row, &to->options);
	mode_t type;
	int fd, flags, r = session_options_passed_fd_of(stand_in, to->uid, &fd, reterr);

	if (r < 0)
		return r;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || file_type_of(fd, &type) < 0 || flags & O_PATH ||
	    (flags & O_ACCMODE) == O_WRONLY || type != S_IFREG)
		return bus_error_set(reterr, -EBADF,
				     "option `%s`: regular files are needed, open for reading",
				     row->bus);
	r = session_options_check_answers(row->bus, fd, to->uid, reterr);
	if (r < 0)
		return r;
	r = foreign_fds_dup(fd);
	if (r < 0)
		return r;
	files->fds[files->n++] = r;
	return 0;
}

static int session_options_read_files(sd_bus_message *m, const struct option_row *row,
				      struct create_request *to, sd_bus_error *reterr)
{
	struct option_files *files = option_at(row, &to->options);
	int fd, r = sd_bus_message_enter_container(m, 'a', "h");

	if (r < 0)
		return r;
	files->fds = calloc(row->n_max, sizeof(*files->fds));
	if (!files->fds)
		return -ENOMEM;
	while ((r = sd_bus_message_read(m, "h", &fd)) > 0) {
		if (files->n == row->n_max)
			return bus_error_set(reterr, -EINVAL,
					     "option `%s`: more than %zu values are not possible",
					     row->bus, row->n_max);
		r = session_options_keep_file(to, fd, row, reterr);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Options of the request that are not options of the session. */
static const struct request_row {
	const char *name, *type;
	int (*read)(sd_bus_message *m, struct create_request *to, sd_bus_error *reterr);
	bool beside_profile;
} request_rows[] = {
	{ "output", "h", session_options_read_output, false },
	{ "profile", "s", session_options_read_profile, true },
	{ "linger", "b", session_options_read_linger, true },
};

static const struct request_row *session_options_request_row_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(request_rows); i++)
		if (strcmp(request_rows[i].name, name) == 0)
			return &request_rows[i];
	return NULL;
}

static int session_options_bus_read_option(sd_bus_message *m, const struct option_row *row,
					   struct create_request *to, sd_bus_error *reterr)
{
	char why[VALUE_WHY_MAX];
	int r;

	if (row->type == OPTION_FILES)
		return session_options_read_files(m, row, to, reterr);
	r = option_bus_read(m, row, &to->options, why);
	return r == -EINVAL && *why ? bus_error_set(reterr, r, "option `%s`: %s", row->bus, why)
				    : r;
}

/* The options that were given. */
struct seen {
	bool request[ARRAY_SIZE(request_rows)], session[OPTION_ROWS_MAX];
	/* The first option that cannot be combined with `profile`; NULL = no such option. */
	const char *other;
};

/* Reads one {sv} whose `e` was entered. */
static int session_options_read_entry(sd_bus_message *m, struct create_request *to,
				      struct seen *seen, sd_bus_error *reterr)
{
	const struct request_row *own;
	const struct option_row *row;
	const char *name, *type, *expected;
	bool *given;
	int r = sd_bus_message_read(m, "s", &name);

	if (r < 0)
		return r;
	own = session_options_request_row_of(name);
	row = own ? NULL : option_of_bus(name);
	if (!own && !row)
		return bus_error_set(reterr, -EINVAL, "there is no option `%s`", name);
	given = own ? &seen->request[own - request_rows] : &seen->session[row - option_rows];
	if (*given)
		return bus_error_set(reterr, -EINVAL, "option `%s` is given twice", name);
	*given = true;
	if (!own || !own->beside_profile)
		seen->other = seen->other ?: name;
	r = sd_bus_message_peek_type(m, NULL, &type);
	if (r < 0)
		return r;
	expected = own ? own->type : option_bus_type(row);
	if (strcmp(type, expected) != 0)
		return bus_error_set(reterr, -EINVAL, "option `%s` must be of type %s, not %s",
				     name, expected, type);
	r = sd_bus_message_enter_container(m, 'v', expected);
	if (r >= 0)
		r = own ? own->read(m, to, reterr)
			: session_options_bus_read_option(m, row, to, reterr);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int session_options_bus_read_entries(sd_bus_message *m, struct create_request *to,
					    struct seen *seen, sd_bus_error *reterr)
{
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = session_options_read_entry(m, to, seen, reterr);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int session_options_check_output_given(const struct create_request *r, sd_bus_error *reterr)
{
	bool flight = r->options.mode == SESSION_FLIGHT;

	if (flight && r->output_fd >= 0)
		return bus_error_set(
			reterr, -EINVAL,
			"option `output`: not valid in mode 'flight': pass it to Snapshot");
	if (!flight && r->output_fd < 0)
		return bus_error_set(reterr, -EINVAL,
				     "`output` is missing: the archive needs the descriptor of "
				     "a file, a pipe or a socket");
	return 0;
}

/* Reports the first error. */
static void session_options_bus_on_complaint(const struct option_row *row, const char *why,
					     void *reterr)
{
	bus_error_set(reterr, -EINVAL, "option `%s`%s%s: %s", row->bus ?: "triggers",
		      row->trigger ? ", " : "", row->trigger ?: "", why);
}

/* Checks the combination of the options. */
static int session_options_bus_check_request(const struct create_request *request,
					     const struct seen *seen, sd_bus_error *reterr)
{
	int r;

	if (request->profile)
		return seen->other ? bus_error_set(reterr, -EINVAL,
						   "option `%s`: cannot be combined with "
						   "`profile` (only `linger` can)",
						   seen->other)
				   : 0;
	r = session_options_check_output_given(request, reterr);
	if (r == 0 &&
	    option_check(&request->options, 0, session_options_bus_on_complaint, reterr) > 0)
		r = -EINVAL;
	return r;
}

int create_request_read(sd_bus_message *m, uid_t uid, struct create_request *ret,
			sd_bus_error *reterr)
{
	_cleanup_(create_request_deinit) struct create_request request = { .uid = uid,
									   .output_fd = -1 };
	struct seen seen = { 0 };
	int r = session_options_bus_read_entries(m, &request, &seen, reterr);

	if (r >= 0)
		r = session_options_bus_check_request(&request, &seen, reterr);
	if (r < 0)
		return r;
	*ret = request;
	request = (struct create_request){ .output_fd = -1 };
	return 0;
}

int session_options_append(sd_bus_message *m, const struct session_options *o, bool linger)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = option_bus_append(m, o, true);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "linger", "b", (int)linger);
	return r < 0 ? r : sd_bus_message_close_container(m);
}
