/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/collection-use.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/options/collection-parse.h"
#include "capture/options/call-spec.h"
#include "capture/options/filter-values.h"
#include "capture/options/find-cgroup.h"
#include "capture/options/program-file.h"
#include "daemon/sessions/collection-scan.h"

enum { COMPLAINTS_BYTES_MAX = 4096 };

__attribute__((format(printf, 4, 5))) static int
collection_use_refuse(sd_bus_error *reterr, int error, const char *name, const char *format, ...)
{
	char text[COMPLAINTS_BYTES_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!sd_bus_error_is_set(reterr))
		sd_bus_error_set(reterr, name, text);
	return error;
}

/*
 * Returns the error of a failed open. With O_DIRECTORY, the errno for a symbolic link is ENOTDIR,
 * so -ELOOP is returned instead for a link.
 */
static int collection_use_why_not_opened(int dir_fd, const char *name)
{
	int r = -errno;
	struct stat st;

	if (r == -ENOTDIR && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		return -ELOOP;
	return r;
}

/*
 * Opens PATH, relative to DIR_FD unless absolute, without following symbolic links or "..". A
 * single openat2() would do this, but RestrictSUIDSGID= in the unit forbids it.
 */
static int collection_use_open_beneath(int dir_fd, const char *path, int flags)
{
	_cleanup_close_ int at = -1;
	const char *p = path;

	if (*p == '/') {
		at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (at < 0)
			return -errno;
		p += strspn(p, "/");
	}
	for (;;) {
		size_t n = strcspn(p, "/"), gap = strspn(p + n, "/");
		bool last = p[n + gap] == '\0';
		char name[NAME_MAX + 1];
		int fd;

		if (n > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, p, n);
		name[n] = '\0';
		if (strcmp(name, "..") == 0)
			return -EXDEV;
		fd = openat(at < 0 ? dir_fd : at, n ? name : ".",
			    (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return collection_use_why_not_opened(at < 0 ? dir_fd : at, name);
		if (last)
			return fd;
		close_fd(at);
		at = fd;
		p += n + gap;
	}
}

/* ---- file ---- */

static int collection_use_check_trusted(int fd, const char *directory, const char *file,
					sd_bus_error *reterr)
{
	const char *why;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	why = collection_untrusted(&st, geteuid());
	if (why)
		return collection_use_refuse(reterr, -EPERM, COLLECTION_ERROR_INVALID,
					     "%s%s%s is not used: %s", directory, *file ? "/" : "",
					     file, why);
	if (*file && !S_ISREG(st.st_mode))
		return collection_use_refuse(reterr, -EPERM, COLLECTION_ERROR_INVALID,
					     "%s/%s is not a regular file", directory, file);
	return 0;
}

/* Opens the file of the collection for reading. */
static int collection_use_open_profile(const char *directory, const char *file, FILE **ret,
				       sd_bus_error *reterr)
{
	_cleanup_close_ int dir_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	int r;

	if (dir_fd < 0)
		return collection_use_refuse(reterr, -ENOENT, COLLECTION_ERROR_MISSING,
					     "cannot open the directory of collections %s: %s",
					     directory, strerror(errno));
	r = collection_use_check_trusted(dir_fd, directory, "", reterr);
	if (r < 0)
		return r;
	/* With O_NONBLOCK, opening a FIFO or a device does not wait. */
	fd = collection_use_open_beneath(dir_fd, file, O_RDONLY | O_NONBLOCK);
	if (fd == -ELOOP)
		return collection_use_refuse(
			reterr, -EPERM, COLLECTION_ERROR_INVALID,
			"%s/%s is a symbolic link: a collection must be a regular file", directory,
			file);
	if (fd < 0)
		return collection_use_refuse(reterr, -ENOENT, COLLECTION_ERROR_MISSING,
					     "there is no collection %s/%s: %s", directory, file,
					     strerror(-fd));
	r = collection_use_check_trusted(fd, directory, file, reterr);
	if (r < 0)
		return r;
	*ret = fdopen(fd, "re");
	if (!*ret)
		return -errno;
	TAKE_FD(fd);
	return 0;
}

struct complaints {
	const char *directory, *file;
	char text[COMPLAINTS_BYTES_MAX];
	size_t used;
};

static void collection_use_on_complaint(unsigned line, const char *text, void *userdata)
{
	struct complaints *c = userdata;
	size_t room = sizeof(c->text) - c->used;
	int n = snprintf(c->text + c->used, room, "%s%s/%s:%u: %s", c->used ? "\n" : "",
			 c->directory, c->file, line, text);

	/* A line that does not fit is left out, so the text has only whole lines. */
	if ((size_t)n < room)
		c->used += (size_t)n;
	else
		c->text[c->used] = '\0';
}

static int collection_use_read(const struct collection_places *places, struct collection_use *p,
			       sd_bus_error *reterr)
{
	char file[80];
	struct complaints complaints = { .directory = places->config, .file = file };
	FILE *f;
	int r;

	snprintf(file, sizeof(file), "%s" COLLECTION_SUFFIX, p->name);
	r = collection_use_open_profile(places->config, file, &f, reterr);
	if (r < 0)
		return r;
	r = collection_read(f, p->name, collection_use_on_complaint, &complaints, &p->collection);
	fclose(f);
	if (r == -EINVAL)
		return collection_use_refuse(reterr, r, COLLECTION_ERROR_INVALID, "%s",
					     complaints.text);
	if (r < 0)
		return collection_use_refuse(reterr, r, COLLECTION_ERROR_INVALID,
					     "%s/%s cannot be read: %s", places->config, file,
					     strerror(-r));
	/*
	 * No user restarts a collection's session that has exceeded its overhead budget, so the
	 * session pauses instead of ending.
	 */
	p->collection.session.pauses = true;
	return 0;
}

/* ---- filters ---- */

static int collection_use_not_found(int error, const char *key, const char *what,
				    sd_bus_error *reterr)
{
	char why[VALUE_WHY_MAX];

	if (error == -ENOENT)
		return collection_use_refuse(
			reterr, error, COLLECTION_ERROR_NOT_YET,
			"%s=%s: neither its cgroup nor a parent of it exists yet", key, what);
	return collection_use_refuse(reterr, error, COLLECTION_ERROR_INVALID, "%s=: %s", key,
				     find_cgroup_error(error, what, why));
}

static int collection_use_add_found(struct capture_filter *f, const char *key, const char *what,
				    const struct filter_cgroup *list, int n, sd_bus_error *reterr)
{
	char why[VALUE_WHY_MAX];
	int r = n < 0 ? collection_use_not_found(n, key, what, reterr)
		      : filter_add_cgroups(f, list, n, why);

	if (n >= 0 && r < 0)
		return collection_use_refuse(reterr, r, COLLECTION_ERROR_INVALID, "%s=%s: %s", key,
					     what, why);
	return r;
}

static int collection_use_resolve_filter(struct collection *c, sd_bus_error *reterr)
{
	struct filter_cgroup list[FILTER_CGROUPS_MAX];
	bool runs;
	int n, r = 0;

	for (char **unit = c->units; r == 0 && unit && *unit; unit++) {
		n = find_cgroup_unit_to_be(*unit, list, FILTER_CGROUPS_MAX, &runs);
		r = collection_use_add_found(&c->session.filter, "Unit", *unit, list, n, reterr);
	}
	for (char **path = c->cgroups; r == 0 && path && *path; path++) {
		n = find_cgroup_path(*path, list);
		r = collection_use_add_found(&c->session.filter, "CGroup", *path, list,
					     n < 0 ? n : 1, reterr);
	}
	return r;
}

/* Opens the programs whose allocators must be known before processes load them. */
static int collection_use_open_programs(struct collection *c, sd_bus_error *reterr)
{
	struct memory_options *m = &c->session.memory;
	struct stat st;

	if (!c->programs)
		return 0;
	m->allocators.fds = calloc(ALLOCATOR_FILES_MAX, sizeof(*m->allocators.fds));
	if (!m->allocators.fds)
		return -ENOMEM;
	for (char **path = c->programs; *path; path++) {
		int fd = open(*path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

		if (fd < 0)
			return collection_use_refuse(reterr, -errno, COLLECTION_ERROR_INVALID,
						     "Program=%s cannot be opened: %s", *path,
						     strerror(errno));
		m->allocators.fds[m->allocators.n++] = fd;
		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			return collection_use_refuse(reterr, -EINVAL, COLLECTION_ERROR_INVALID,
						     "Program=%s is not a regular file", *path);
	}
	return 0;
}

/* Opens the file of a specification: a library by its name, or a program by its path. */
static int collection_use_open_call_file(struct option_files *files, const char *text,
					 sd_bus_error *reterr)
{
	struct call_spec_error error;
	struct call_spec spec;
	char path[PATH_MAX];
	struct stat st;
	int fd, r = call_spec_parse(text, &spec, &error);

	if (r == 0)
		r = program_file_find(call_spec_is_syscall(&spec) ? "/proc/self/exe" : spec.file,
				      PROGRAM_FILE_CACHE, NULL, path, sizeof(path));
	if (r < 0)
		return collection_use_refuse(reterr, r, COLLECTION_ERROR_INVALID,
					     "Call=%s: there is no library of this name", text);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return collection_use_refuse(reterr, -errno, COLLECTION_ERROR_INVALID,
					     "Call=%s: %s cannot be opened: %s", text, path,
					     strerror(errno));
	files->fds[files->n++] = fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return collection_use_refuse(reterr, -EINVAL, COLLECTION_ERROR_INVALID,
					     "Call=%s: %s is not a regular file", text, path);
	return 0;
}

static int collection_use_open_call_files(struct collection *c, sd_bus_error *reterr)
{
	struct call_options *o = &c->session.calls;
	int r = 0;

	if (o->n_specs == 0)
		return 0;
	o->files.fds = calloc(o->n_specs, sizeof(*o->files.fds));
	if (!o->files.fds)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < o->n_specs; i++)
		r = collection_use_open_call_file(&o->files, o->specs[i], reterr);
	return r;
}

/* ---- directory ---- */

/*
 * Creates the missing directories of PATH below FD, and closes FD. Returns the last directory, open
 * for reading.
 */
static int collection_use_make_below(int fd, const char *path)
{
	_cleanup_close_ int at = fd;
	_cleanup_free_ char *copy = strdup(path);
	char *rest = copy, *name;

	if (!copy)
		return -ENOMEM;
	while ((name = strsep(&rest, "/"))) {
		int next;

		if (!*name)
			continue;
		if (mkdirat(at, name, 0750) < 0 && errno != EEXIST)
			return -errno;
		next = collection_use_open_beneath(at, name, O_RDONLY | O_DIRECTORY);
		if (next < 0)
			return next;
		close(at);
		at = next;
	}
	return TAKE_FD(at);
}

/* Returns the part of PATH below the directory of the service; NULL if PATH is elsewhere. */
static const char *collection_use_below_prefix(const char *path)
{
	size_t n = strlen(COLLECTION_DIRECTORY_PREFIX);

	if (strncmp(path, COLLECTION_DIRECTORY_PREFIX, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path + n;
}

static int collection_use_open_place(const struct collection_places *places, const char *path)
{
	const char *below = collection_use_below_prefix(path);
	int fd;

	if (!below)
		return collection_use_open_beneath(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	if (mkdir(places->state, 0750) < 0 && errno != EEXIST)
		return -errno;
	fd = open(places->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : collection_use_make_below(fd, below);
}

static int collection_use_no_directory(const char *path, int error, sd_bus_error *reterr)
{
	if (error == -EROFS)
		return collection_use_refuse(
			reterr, error, COLLECTION_ERROR_INVALID,
			"Directory=%s is read-only for the service: run `systemctl edit "
			"kymod.service`, and add \"[Service]\" and \"ReadWritePaths=%s\"",
			path, path);
	if (error == -ENOENT)
		return collection_use_refuse(
			reterr, error, COLLECTION_ERROR_INVALID,
			"Directory=%s does not exist: create it, or use one below %s, which is "
			"created automatically",
			path, COLLECTION_DIRECTORY_PREFIX);
	if (error == -ELOOP)
		return collection_use_refuse(
			reterr, error, COLLECTION_ERROR_INVALID,
			"Directory=%s contains a symbolic link: use its target", path);
	return collection_use_refuse(reterr, error, COLLECTION_ERROR_INVALID,
				     "Directory=%s cannot be used: %s", path, strerror(-error));
}

static int collection_use_open_directory(const struct collection_places *places,
					 struct collection_use *p, sd_bus_error *reterr)
{
	const char *path = p->collection.directory, *why;
	struct stat st;

	p->dir_fd = collection_use_open_place(places, path);
	if (p->dir_fd < 0)
		return collection_use_no_directory(path, p->dir_fd, reterr);
	if (fstat(p->dir_fd, &st) < 0)
		return -errno;
	why = collection_untrusted(&st, geteuid());
	if (why)
		return collection_use_refuse(reterr, -EPERM, COLLECTION_ERROR_INVALID,
					     "Directory=%s is not used: %s", path, why);
	if (faccessat(p->dir_fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return collection_use_no_directory(path, -errno, reterr);
	return 0;
}

/* ---- collection ---- */

int collection_use_store(const struct collection_use *p, enum pack_method packed,
			 struct store **ret)
{
	const struct store_files_options o = {
		.dir_fd = p->dir_fd,
		.name = p->name,
		.keep_bytes = p->collection.keep_bytes,
		.keep_ns = p->collection.keep_ns,
		.packed = packed,
	};

	return store_files_new(&o, ret);
}

int collection_use_new(const struct collection_places *places, const char *name,
		       struct collection_use **ret, sd_bus_error *reterr)
{
	_cleanup_(collection_use_freep) struct collection_use *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->dir_fd = -1;
	if (!session_name_valid(name))
		return collection_use_refuse(
			reterr, -EINVAL, COLLECTION_ERROR_INVALID,
			"'%.80s' is not a valid name for a collection: use 1 to 64 letters, "
			"digits and '_'",
			name);
	p->name = strdup(name);
	if (!p->name)
		return -ENOMEM;
	r = collection_use_read(places, p, reterr);
	r = r ?: collection_use_resolve_filter(&p->collection, reterr);
	r = r ?: collection_use_open_programs(&p->collection, reterr);
	r = r ?: collection_use_open_call_files(&p->collection, reterr);
	r = r ?: collection_use_open_directory(places, p, reterr);
	if (r < 0)
		return r;
	p->mode = p->collection.session.mode;
	p->packed = p->collection.session.compress;
	p->interval_ns = p->collection.session.triggers.interval_ns;
	*ret = TAKE_PTR(p);
	return 0;
}

struct collection_use *collection_use_free(struct collection_use *p)
{
	if (!p)
		return NULL;
	collection_scan_free(p->scan);
	collection_deinit(&p->collection);
	free(p->name);
	close_fd(p->dir_fd);
	return free_ptr(p);
}
