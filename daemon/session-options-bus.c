/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row an option: its name, its type, how it is read and how it is shown. The order is that of
 * the property.
 */
#include "daemon/session-options-bus.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/file-kind.h"
#include "base/foreign-fds.h"
#include "base/string-table.h"
#include "daemon/bus-error.h"
#include "daemon/async-close.h"
#include "daemon/passed-fds.h"
#include "daemon/collection-use.h"

enum {
	OPTION_PIDS_MAX = 4096, /* processes to begin with; their children come on top */
	OPTION_COMMAND_MAX = 4096,
};

struct option_row;

typedef int (*option_read_fn)(const struct option_row *row, sd_bus_message *m,
			      struct create_request *to, sd_bus_error *reterr);
typedef int (*option_append_fn)(const struct option_row *row, sd_bus_message *m,
				const struct create_request *from);

struct option_row {
	const char *name;
	const char *type;
	option_read_fn read;
	option_append_fn append; /* NULL = not shown */
	size_t offset;           /* in struct create_request, of what the row is about */
	uint64_t min, max;       /* of a value; a single one of 0 is always "the default" */
	uint64_t max_count;      /* of the values of a list, or the bytes of a text */
};

void create_request_deinit(struct create_request *r)
{
	session_options_deinit(&r->options);
	r->output_fd = close_passed_fd(r->output_fd);
	r->store = store_free(r->store);
	free(r->profile);
	r->profile = NULL;
	r->use = collection_use_free(r->use);
}

/* What an open file is called when it cannot be an output. */
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
		return "of an unknown kind";
	}
}

/*
 * Whose server answers nobody, it takes a thread each, and descriptors that do not come back. One
 * that is slow, as a disk is to which much is written, may be so.
 */
static int check_answers(const char *option, int fd, uid_t uid, sd_bus_error *reterr)
{
	size_t n = async_close_backlog(fd, uid);

	if (n == 0)
		return 0;
	return bus_error_set(reterr, -EDQUOT,
			     "option `%s`: the file system does not answer, or takes very long: "
			     "%zu files on it that you have passed are not closed yet",
			     option, n);
}

/* 0 if FD, somebody else's, can be written and is of a kind that an archive can go to. */
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

/* Whether what is written to the socket FD goes to somebody of UID, or out of this machine. */
static bool is_socket_of(int fd, uid_t uid)
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
 * 0 unless FD, UID's, is a socket whose other end could take what we write there for our word. The kernel tells who asks for it
 * (SO_PASSCRED) who has written, and that is root, not who passed us the socket: the journal would have lines, and systemd
 * messages, that seem to be the service's.
 */
static int check_peer(int fd, uid_t uid, sd_bus_error *reterr)
{
	mode_t type;

	if (uid == 0 || file_type_of(fd, &type) < 0 || type != S_IFSOCK || is_socket_of(fd, uid))
		return 0;
	return bus_error_set(
		reterr, -EBADF,
		"`output` is a socket that does not lead to a program of your own: use "
		"a pipe");
}

/*
 * What STAND_IN of a message is for, borrowed, in *RET. That is UID's, too, from now on: if its close hangs, that counts against
 * him.
 */
static int passed_fd_of(int stand_in, uid_t uid, int *ret, sd_bus_error *reterr)
{
	*ret = passed_fds_get(stand_in);
	if (*ret == -EDQUOT)
		return bus_error_set(reterr, -EDQUOT,
				     "too many files that you have passed could not be closed yet: "
				     "try again later");
	foreign_fds_mark(*ret, FOREIGN_FD_OF(uid));
	return 0;
}

int output_fd_take(int stand_in, uid_t uid, int *ret_fd, sd_bus_error *reterr)
{
	int fd, r = passed_fd_of(stand_in, uid, &fd, reterr);

	if (r == 0)
		r = session_options_bus_check_output(fd, reterr);
	if (r == 0)
		r = check_peer(fd, uid, reterr);
	if (r == 0)
		r = check_answers("output", fd, uid, reterr);
	if (r < 0)
		return r;
	r = foreign_fds_dup(fd);
	if (r < 0)
		return r;
	*ret_fd = r;
	return 0;
}

static int read_output(const struct option_row *row, sd_bus_message *m, struct create_request *to,
		       sd_bus_error *reterr)
{
	int fd, r = sd_bus_message_read(m, "h", &fd);

	(void)row;
	if (r < 0)
		return bus_error_set(reterr, -EBADF,
				     "option `output` names a descriptor that did not come with "
				     "the message");
	return output_fd_take(fd, to->uid, &to->output_fd, reterr);
}

static int session_options_bus_read_collection(const struct option_row *row, sd_bus_message *m,
					       struct create_request *to, sd_bus_error *reterr)
{
	const char *name;
	int r = sd_bus_message_read(m, "s", &name);

	(void)row;
	(void)reterr;
	if (r < 0)
		return r;
	to->profile = strdup(name);
	return to->profile ? 0 : -ENOMEM;
}

static int read_categories(const struct option_row *row, sd_bus_message *m,
			   struct create_request *to, sd_bus_error *reterr)
{
	const char *word;
	int r = sd_bus_message_enter_container(m, 'a', "s");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_read(m, "s", &word)) > 0) {
		uint32_t bits;

		if (strchr(word, ',') || categories_parse(word, &bits, NULL, NULL) < 0)
			return bus_error_set(reterr, -EINVAL,
					     "option `%s`: there is no category '%s'", row->name,
					     word);
		to->options.categories |= bits;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int session_options_bus_append_categories(const struct option_row *row, sd_bus_message *m,
						 const struct create_request *from)
{
	int r = sd_bus_message_open_container(m, 'a', "s");

	(void)row;
	for (const struct category_row *c = category_rows; r >= 0 && c->name; c++) {
		if (from->options.categories & c->bit)
			r = sd_bus_message_append(m, "s", c->name);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int read_u64(const struct option_row *row, sd_bus_message *m, struct create_request *to,
		    sd_bus_error *reterr)
{
	uint64_t v;
	int r = sd_bus_message_read(m, "t", &v);

	if (r < 0)
		return r;
	if (v != 0 && (v < row->min || v > row->max))
		return bus_error_set(reterr, -EINVAL,
				     "option `%s` is %" PRIu64 ", but must be %" PRIu64
				     " to %" PRIu64 ", or 0 for the default",
				     row->name, v, row->min, row->max);
	memcpy((char *)to + row->offset, &v, sizeof(v));
	return 0;
}

static int session_options_bus_append_u64(const struct option_row *row, sd_bus_message *m,
					  const struct create_request *from)
{
	uint64_t v;

	memcpy(&v, (const char *)from + row->offset, sizeof(v));
	return sd_bus_message_append(m, "t", v);
}

static int read_bool(const struct option_row *row, sd_bus_message *m, struct create_request *to,
		     sd_bus_error *reterr)
{
	int v, r = sd_bus_message_read(m, "b", &v);

	(void)reterr;
	if (r < 0)
		return r;
	*((bool *)to + row->offset) = v;
	return 0;
}

static int append_bool(const struct option_row *row, sd_bus_message *m,
		       const struct create_request *from)
{
	return sd_bus_message_append(m, "b", (int)*((const bool *)from + row->offset));
}

static int read_command(const struct option_row *row, sd_bus_message *m, struct create_request *to,
			sd_bus_error *reterr)
{
	const char *text;
	int r = sd_bus_message_read(m, "s", &text);

	if (r < 0)
		return r;
	if (strlen(text) > row->max_count)
		return bus_error_set(reterr, -EINVAL,
				     "option `%s` is longer than %" PRIu64 " bytes", row->name,
				     row->max_count);
	to->options.command = strdup(text);
	return to->options.command ? 0 : -ENOMEM;
}

static int append_command(const struct option_row *row, sd_bus_message *m,
			  const struct create_request *from)
{
	(void)row;
	return sd_bus_message_append(m, "s", from->options.command ?: "");
}

static int read_compress(const struct option_row *row, sd_bus_message *m, struct create_request *to,
			 sd_bus_error *reterr)
{
	const char *name;
	int r = sd_bus_message_read(m, "s", &name);

	if (r < 0)
		return r;
	if (*name && pack_parse(name, &to->options.compress) < 0)
		return bus_error_set(reterr, -EINVAL,
				     "option `%s`: '%s' is none of snappy, zstd and gzip",
				     row->name, name);
	return 0;
}

static int append_compress(const struct option_row *row, sd_bus_message *m,
			   const struct create_request *from)
{
	(void)row;
	return sd_bus_message_append(m, "s", pack_ops(from->options.compress)->name);
}

static int too_many(const struct option_row *row, sd_bus_error *reterr)
{
	return bus_error_set(reterr, -EINVAL, "option `%s` has more than %" PRIu64 " values",
			     row->name, row->max_count);
}

/* pids and uids: a uint32_t * followed by its size_t. */
struct u32_list {
	uint32_t *values;
	size_t n;
};

static int read_u32s(const struct option_row *row, sd_bus_message *m, struct create_request *to,
		     sd_bus_error *reterr)
{
	struct u32_list list = { 0 };
	const void *p;
	size_t bytes;
	int r = sd_bus_message_read_array(m, 'u', &p, &bytes);

	if (r < 0)
		return r;
	list.n = bytes / sizeof(uint32_t);
	if (list.n > row->max_count)
		return too_many(row, reterr);
	for (size_t i = 0; i < list.n; i++) {
		uint32_t value = ((const uint32_t *)p)[i];

		if (value < row->min || value > row->max)
			return bus_error_set(reterr, -EINVAL, "option `%s`: %u is none", row->name,
					     value);
	}
	if (list.n == 0)
		return 0;
	list.values = malloc(bytes);
	if (!list.values)
		return -ENOMEM;
	memcpy(list.values, p, bytes);
	memcpy((char *)to + row->offset, &list, sizeof(list));
	return 0;
}

static int session_options_bus_append_u32s(const struct option_row *row, sd_bus_message *m,
					   const struct create_request *from)
{
	struct u32_list list;

	memcpy(&list, (const char *)from + row->offset, sizeof(list));
	return sd_bus_message_append_array(m, 'u', list.values, list.n * sizeof(uint32_t));
}

static int read_comms(const struct option_row *row, sd_bus_message *m, struct create_request *to,
		      sd_bus_error *reterr)
{
	struct capture_filter *filter = &to->options.filter;
	const char *name;
	int r = sd_bus_message_enter_container(m, 'a', "s");

	if (r < 0)
		return r;
	filter->comms = calloc(row->max_count, sizeof(*filter->comms));
	if (!filter->comms)
		return -ENOMEM;
	while ((r = sd_bus_message_read(m, "s", &name)) > 0) {
		if (filter->n_comms == row->max_count)
			return too_many(row, reterr);
		if (*name == '\0')
			return bus_error_set(reterr, -EINVAL, "option `%s`: an empty name",
					     row->name);
		/* The kernel cuts a name the same way. */
		strncpy(filter->comms[filter->n_comms++], name, REC_COMM_BYTES - 1);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int append_comms(const struct option_row *row, sd_bus_message *m,
			const struct create_request *from)
{
	const struct capture_filter *filter = &from->options.filter;
	int r = sd_bus_message_open_container(m, 'a', "s");

	(void)row;
	for (size_t i = 0; r >= 0 && i < filter->n_comms; i++)
		r = sd_bus_message_append(m, "s", filter->comms[i]);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int read_cgroups(const struct option_row *row, sd_bus_message *m, struct create_request *to,
			sd_bus_error *reterr)
{
	struct capture_filter *filter = &to->options.filter;
	uint64_t parent_id;
	const char *name;
	uint32_t level;
	int r = sd_bus_message_enter_container(m, 'a', "(tus)");

	if (r < 0)
		return r;
	filter->cgroups = calloc(row->max_count, sizeof(*filter->cgroups));
	if (!filter->cgroups)
		return -ENOMEM;
	while ((r = sd_bus_message_read(m, "(tus)", &parent_id, &level, &name)) > 0) {
		struct filter_cgroup *c = &filter->cgroups[filter->n_cgroups];

		if (filter->n_cgroups == row->max_count)
			return too_many(row, reterr);
		if (*name == '\0' || strchr(name, '/') || strlen(name) >= sizeof(c->name) ||
		    parent_id == 0 || level == 0)
			return bus_error_set(reterr, -EINVAL,
					     "option `%s`: (%" PRIu64 ", %u, \"%s\") cannot be a "
					     "parent's id, a level and a name",
					     row->name, parent_id, level, name);
		c->parent_id = parent_id;
		c->level = level;
		strcpy(c->name, name);
		filter->n_cgroups++;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int append_cgroups(const struct option_row *row, sd_bus_message *m,
			  const struct create_request *from)
{
	const struct capture_filter *filter = &from->options.filter;
	int r = sd_bus_message_open_container(m, 'a', "(tus)");

	(void)row;
	for (size_t i = 0; r >= 0 && i < filter->n_cgroups; i++)
		r = sd_bus_message_append(m, "(tus)", (uint64_t)filter->cgroups[i].parent_id,
					  (uint32_t)filter->cgroups[i].level,
					  filter->cgroups[i].name);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int read_mode(const struct option_row *row, sd_bus_message *m, struct create_request *to,
		     sd_bus_error *reterr)
{
	const char *name;
	int mode, r = sd_bus_message_read(m, "s", &name);

	if (r < 0)
		return r;
	mode = *name ? STRING_TABLE_FIND(session_mode_names, name) : SESSION_STREAM;
	if (mode < 0)
		return bus_error_set(reterr, -EINVAL,
				     "option `%s`: '%s' is none of stream and flight", row->name,
				     name);
	to->options.mode = (enum session_mode)mode;
	return 0;
}

static int append_mode(const struct option_row *row, sd_bus_message *m,
		       const struct create_request *from)
{
	(void)row;
	return sd_bus_message_append(m, "s", session_mode_names[from->options.mode]);
}

static int read_reach(const struct option_row *row, sd_bus_message *m, struct create_request *to,
		      sd_bus_error *reterr)
{
	const char *name;
	int reach, r = sd_bus_message_read(m, "s", &name);

	if (r < 0)
		return r;
	reach = STRING_TABLE_FIND(memory_reach_names, name);
	if (reach < 0)
		return bus_error_set(reterr, -EINVAL,
				     "option `%s`: '%s' is none of no, look and freeze", row->name,
				     name);
	to->options.memory.reach = (enum heap_trace_reach)reach;
	return 0;
}

static int append_reach(const struct option_row *row, sd_bus_message *m,
			const struct create_request *from)
{
	(void)row;
	return sd_bus_message_append(m, "s", memory_reach_names[from->options.memory.reach]);
}

/* One that is read as a program; it is parsed without our rights, and never written. */
static int keep_allocator_fd(struct create_request *to, int stand_in, const char *name,
			     sd_bus_error *reterr)
{
	struct memory_options *memory = &to->options.memory;
	mode_t type;
	int fd, flags, r = passed_fd_of(stand_in, to->uid, &fd, reterr);

	if (r < 0)
		return r;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || file_type_of(fd, &type) < 0 || flags & O_PATH ||
	    (flags & O_ACCMODE) == O_WRONLY || type != S_IFREG)
		return bus_error_set(reterr, -EBADF,
				     "option `%s`: regular files are needed, open for reading",
				     name);
	r = check_answers(name, fd, to->uid, reterr);
	if (r < 0)
		return r;
	r = foreign_fds_dup(fd);
	if (r < 0)
		return r;
	memory->allocator_fds[memory->n_allocator_fds++] = r;
	return 0;
}

static int read_allocator_fds(const struct option_row *row, sd_bus_message *m,
			      struct create_request *to, sd_bus_error *reterr)
{
	struct memory_options *memory = &to->options.memory;
	int fd, r = sd_bus_message_enter_container(m, 'a', "h");

	if (r < 0)
		return r;
	memory->allocator_fds = calloc(row->max_count, sizeof(*memory->allocator_fds));
	if (!memory->allocator_fds)
		return -ENOMEM;
	while ((r = sd_bus_message_read(m, "h", &fd)) > 0) {
		if (memory->n_allocator_fds == row->max_count)
			return too_many(row, reterr);
		r = keep_allocator_fd(to, fd, row->name, reterr);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_triggers(const struct option_row *row, sd_bus_message *m, struct create_request *to,
			 sd_bus_error *reterr)
{
	const struct trigger_row *trigger;
	const char *name;
	uint64_t value;
	int r = sd_bus_message_enter_container(m, 'a', "{st}");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_read(m, "{st}", &name, &value)) > 0) {
		trigger = trigger_row_of(name, strlen(name));
		if (!trigger)
			return bus_error_set(reterr, -EINVAL,
					     "option `%s`: there is no trigger '%s'", row->name,
					     name);
		if (value != 0 && (value < trigger->min || value > trigger->max))
			return bus_error_set(reterr, -EINVAL,
					     "option `%s`: '%s' is %" PRIu64
					     ", but must be %" PRIu64 " to %" PRIu64
					     ", or 0 for none",
					     row->name, name, value, trigger->min, trigger->max);
		*trigger_limit(&to->options.triggers, trigger) = value;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int session_options_bus_append_triggers(const struct option_row *row, sd_bus_message *m,
					       const struct create_request *from)
{
	struct trigger_options triggers = from->options.triggers;
	int r = sd_bus_message_open_container(m, 'a', "{st}");

	(void)row;
	for (const struct trigger_row *t = trigger_rows; r >= 0 && t->name; t++) {
		if (*trigger_limit(&triggers, t))
			r = sd_bus_message_append(m, "{st}", t->name, *trigger_limit(&triggers, t));
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

#define AT(member) offsetof(struct create_request, member)

_Static_assert(AT(options.filter.n_pids) == AT(options.filter.pids) + offsetof(struct u32_list, n),
	       "layout");
_Static_assert(AT(options.filter.n_uids) == AT(options.filter.uids) + offsetof(struct u32_list, n),
	       "layout");

/* clang-format off */
static const struct option_row rows[] = {
	{ "output", "h", read_output, NULL, 0, 0, 0, 0 },
	{ "profile", "s", session_options_bus_read_collection, NULL, 0, 0, 0, 0 },
	{ "categories", "as", read_categories, session_options_bus_append_categories, 0, 0, 0, 0 },
	{ "ring_bytes", "t", read_u64, session_options_bus_append_u64, AT(options.ring_bytes), RING_BYTES_MIN, RING_BYTES_MAX, 0 },
	{ "flush_ns", "t", read_u64, session_options_bus_append_u64, AT(options.flush_ns), FLUSH_NS_MIN, FLUSH_NS_MAX, 0 },
	{ "counter_interval_ns", "t", read_u64, session_options_bus_append_u64, AT(options.counter_interval_ns), COUNTER_NS_MIN, COUNTER_NS_MAX, 0 },
	{ "frequency", "t", read_u64, session_options_bus_append_u64, AT(options.frequency), 1, FREQUENCY_MAX, 0 },
	{ "offcpu_min_ns", "t", read_u64, session_options_bus_append_u64, AT(options.offcpu_min_ns), OFFCPU_NS_MIN, OFFCPU_NS_MAX, 0 },
	{ "no_perfetto_blobs", "b", read_bool, append_bool, AT(options.no_perfetto_blobs), 0, 0, 0 },
	{ "memory_log", "b", read_bool, append_bool, AT(options.memory.log), 0, 0, 0 },
	{ "memory_interval", "t", read_u64, session_options_bus_append_u64, AT(options.memory.interval), 1, MEMORY_INTERVAL_MAX, 0 },
	{ "memory_min_bytes", "t", read_u64, session_options_bus_append_u64, AT(options.memory.min_bytes), 1, MEMORY_SIZE_MAX, 0 },
	{ "memory_blocks_max", "t", read_u64, session_options_bus_append_u64, AT(options.memory.blocks_max), MEMORY_BLOCKS_MIN, MEMORY_BLOCKS_MAX, 0 },
	{ "usage_interval_ns", "t", read_u64, session_options_bus_append_u64, AT(options.memory.usage_interval_ns), USAGE_NS_MIN, USAGE_NS_MAX, 0 },
	{ "triage", "b", read_bool, append_bool, AT(options.memory.triage), 0, 0, 0 },
	{ "triage_interval_ns", "t", read_u64, session_options_bus_append_u64, AT(options.memory.triage_interval_ns), TRIAGE_NS_MIN, TRIAGE_NS_MAX, 0 },
	{ "reach", "s", read_reach, append_reach, 0, 0, 0, 0 },
	{ "allocator_fds", "ah", read_allocator_fds, NULL, 0, 0, 0, ALLOCATOR_FILES_MAX },
	{ "mode", "s", read_mode, append_mode, 0, 0, 0, 0 },
	{ "flight_ns", "t", read_u64, session_options_bus_append_u64, AT(options.flight_ns), 1, INT64_MAX, 0 },
	{ "flight_bytes", "t", read_u64, session_options_bus_append_u64, AT(options.flight_bytes), FLIGHT_BYTES_MIN, FLIGHT_BYTES_MAX, 0 },
	{ "duration_ns", "t", read_u64, session_options_bus_append_u64, AT(options.duration_ns), 1, INT64_MAX, 0 },
	{ "max_bytes", "t", read_u64, session_options_bus_append_u64, AT(options.max_bytes), 1, INT64_MAX, 0 },
	{ "max_overhead_ppm", "t", read_u64, session_options_bus_append_u64, AT(options.max_overhead_ppm), OVERHEAD_PPM_MIN, OVERHEAD_PPM_MAX, 0 },
	{ "max_overhead_machine_ppm", "t", read_u64, session_options_bus_append_u64, AT(options.max_overhead_machine_ppm), OVERHEAD_MACHINE_PPM_MIN, OVERHEAD_MACHINE_PPM_MAX, 0 },
	{ "triggers", "a{st}", read_triggers, session_options_bus_append_triggers, 0, 0, 0, 0 },
	{ "compress", "s", read_compress, append_compress, 0, 0, 0, 0 },
	{ "linger", "b", read_bool, append_bool, AT(linger), 0, 0, 0 },
	{ "command", "s", read_command, append_command, 0, 0, 0, OPTION_COMMAND_MAX },
	{ "own", "b", read_bool, append_bool, AT(options.own), 0, 0, 0 },
	{ "pids", "au", read_u32s, session_options_bus_append_u32s, AT(options.filter.pids), 1, INT32_MAX, OPTION_PIDS_MAX },
	{ "uids", "au", read_u32s, session_options_bus_append_u32s, AT(options.filter.uids), 0, UINT32_MAX - 1, FILTER_VALUES_MAX },
	{ "comms", "as", read_comms, append_comms, 0, 0, 0, FILTER_VALUES_MAX },
	{ "cgroups", "a(tus)", read_cgroups, append_cgroups, 0, 0, 0, FILTER_CGROUPS_MAX },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(rows) <= 64, "a bit each");

static const struct option_row *session_options_bus_row_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	return NULL;
}

/* Reads one {sv}, of which the `e` has been entered. SEEN is a bit for each row. */
static int read_entry(sd_bus_message *m, struct create_request *to, uint64_t *seen,
		      sd_bus_error *reterr)
{
	const struct option_row *row;
	const char *name, *type;
	int r = sd_bus_message_read(m, "s", &name);

	if (r < 0)
		return r;
	row = session_options_bus_row_of(name);
	if (!row)
		return bus_error_set(reterr, -EINVAL, "there is no option `%s`", name);
	if (*seen & UINT64_C(1) << (row - rows))
		return bus_error_set(reterr, -EINVAL, "option `%s` is given twice", name);
	*seen |= UINT64_C(1) << (row - rows);
	r = sd_bus_message_peek_type(m, NULL, &type);
	if (r < 0)
		return r;
	if (strcmp(type, row->type) != 0)
		return bus_error_set(reterr, -EINVAL, "option `%s` must be of type %s, not %s",
				     name, row->type, type);
	r = sd_bus_message_enter_container(m, 'v', row->type);
	if (r < 0)
		return r;
	r = row->read(row, m, to, reterr);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* A flight recorder has no output of its own. */
static const char *output_refused(const struct create_request *r)
{
	if (r->options.mode != SESSION_FLIGHT)
		return NULL;
	return r->output_fd >= 0
		       ? "option `output`: in mode 'flight' there is none; Snapshot takes it"
		       : NULL;
}

/* A profile says all but whose the session is. SEEN are the rows of what was given. */
static int check_profile(uint64_t seen, sd_bus_error *reterr)
{
	static const char *const beside[] = { "profile", "linger" };

	for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
		seen &= ~(UINT64_C(1) << (session_options_bus_row_of(beside[i]) - rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (seen >> i & 1)
			return bus_error_set(reterr, -EINVAL,
					     "option `%s`: beside `profile`, which says all, only "
					     "`linger` is possible",
					     rows[i].name);
	}
	return 0;
}

int create_request_read(sd_bus_message *m, uid_t uid, struct create_request *ret,
			sd_bus_error *reterr)
{
	_cleanup_(create_request_deinit) struct create_request request = { .uid = uid,
									   .output_fd = -1 };
	const char *refused;
	uint64_t seen = 0;
	int r;

	r = sd_bus_message_enter_container(m, 'a', "{sv}");
	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = read_entry(m, &request, &seen, reterr);
		if (r < 0)
			return r;
		r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	r = sd_bus_message_exit_container(m);
	if (r < 0)
		return r;
	if (request.profile) {
		r = check_profile(seen, reterr);
		if (r < 0)
			return r;
		*ret = request;
		request = (struct create_request){ .output_fd = -1 };
		return 0;
	}
	refused = output_refused(&request);
	if (refused)
		return bus_error_set(reterr, -EINVAL, "%s", refused);
	if (request.output_fd < 0 && request.options.mode != SESSION_FLIGHT)
		return bus_error_set(reterr, -EINVAL,
				     "`output` is missing: the descriptor of a file, a pipe "
				     "or a socket that the archive goes to");
	refused = session_options_refused(&request.options);
	if (refused)
		return bus_error_set(
			reterr, -EINVAL, "option `%s`: %s",
			flight_options_refused(&request.options) ? "mode" : "categories", refused);
	*ret = request;
	request = (struct create_request){ .output_fd = -1 };
	return 0;
}

int session_options_append(sd_bus_message *m, const struct session_options *o, bool linger)
{
	const struct create_request request = { .options = *o, .output_fd = -1, .linger = linger };
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].append)
			continue;
		r = sd_bus_message_open_container(m, 'e', "sv");
		if (r >= 0)
			r = sd_bus_message_append(m, "s", rows[i].name);
		if (r >= 0)
			r = sd_bus_message_open_container(m, 'v', rows[i].type);
		if (r >= 0)
			r = rows[i].append(&rows[i], m, &request);
		if (r >= 0)
			r = sd_bus_message_close_container(m);
		if (r >= 0)
			r = sd_bus_message_close_container(m);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}
