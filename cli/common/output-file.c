/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common/output-path.h"
#include "cli/common/signal-twice.h"
#include "cli/common/verb.h"

#define OUTPUT_FILE_ACL       "system.posix_acl_access"
#define OUTPUT_FILE_NEW_FLAGS (O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY)

enum { OUTPUT_FILE_NAMES_MAX = 100 }; /* maximum number of names that are tried for a new file */

/* Returns true if ST is a device that discards its input and that every user can write to. */
static bool output_file_is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static int output_file_open_stdout(struct output_file *o)
{
	struct stat st;

	if (isatty(STDOUT_FILENO)) {
		cli_error("cannot write an archive to a terminal: use -o FILE, or '-o -' with a "
			  "pipe");
		return -EINVAL;
	}
	/* (main() replaces a closed standard output by the null device, opened for reading) */
	if (fstat(STDOUT_FILENO, &st) < 0 ||
	    !(S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ||
	      (output_file_is_null_device(&st) &&
	       (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_RDONLY))) {
		cli_error("standard output is not a file, a pipe or a socket");
		return -EINVAL;
	}
	o->standard = true;
	o->path = strdup("standard output");
	o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return o->path && o->fd >= 0 ? 0 : -ENOMEM;
}

static char *output_file_default_path(const char *suffix)
{
	time_t now = time(NULL);
	char name[64], *path;
	struct tm tm;

	strftime(name, sizeof(name), "kymo-%Y%m%d-%H%M%S.fxt", localtime_r(&now, &tm));
	return asprintf(&path, "%s%s", name, suffix) < 0 ? NULL : path;
}

/* Opens an existing file without waiting for a reader. PLACE is not a link, except a link in /proc.
 * Returns a descriptor, or -1 with errno. */
static int output_file_open_place(const char *place, bool follow)
{
	_cleanup_close_ int fd = open(place, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
						     (follow ? 0 : O_NOFOLLOW));
	int flags;

	if (fd < 0)
		return -1;
	flags = fcntl(fd, F_GETFL);
	return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ? -1 : TAKE_FD(fd);
}

const char *output_file_advice(int error)
{
	switch (error) {
	case -ENOSPC:
		return "; 'df -h' shows which file systems have room";
	case -EDQUOT:
		return "; 'quota' shows your limits";
	case -EROFS:
		return "; choose another directory ('findmnt' shows which ones are read-only)";
	case -ENOENT:
		return "; does its directory exist? 'mkdir -p' creates it";
	default:
		return "";
	}
}

/* Returns advice for an output PATH that was refused with EACCES. */
static const char *output_file_advice_denied(const char *path)
{
	const char *name;
	_cleanup_close_ int fd = output_path_open_directory(path, &name);
	struct stat file, directory;

	if (fd < 0 || fstat(fd, &directory) < 0 || faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return "; choose a directory that you can write to";
	/* (the directory allows new files, so an existing file must be the reason) */
	if (fstatat(fd, name, &file, AT_SYMLINK_NOFOLLOW) < 0)
		return "";
	if (!S_ISREG(file.st_mode))
		return "; choose another file";
	if (directory.st_mode & S_ISVTX && geteuid() != file.st_uid &&
	    geteuid() != directory.st_uid && geteuid() != 0)
		return "; the file belongs to another user: choose another name";
	return "; remove the file first, or choose another name";
}

/* Explains why PATH cannot be opened, from the errno E. Returns -E. */
static int output_file_explain_error(const char *path, int e)
{
	struct stat st;
	bool there = stat(path, &st) == 0, missing = !there && errno == ENOENT;

	if (e == EEXIST && there && S_ISDIR(st.st_mode))
		e = EISDIR;
	if (!*path)
		cli_error("empty file name; '-' is standard output");
	else if (e == ENXIO && there && S_ISFIFO(st.st_mode))
		cli_error("cannot write %s: it is a pipe without a reader", path);
	else if (e == EISDIR)
		cli_error("%s is a directory", path);
	else if (missing && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		cli_error("cannot write %s: it is a symbolic link to a missing file", path);
	else if (e == EEXIST)
		cli_error("%s exists already; --force replaces it", path);
	else
		cli_error("cannot write %s: %s%s", path, strerror(e),
			  e == EACCES ? output_file_advice_denied(path) : output_file_advice(-e));
	return -e;
}

static void output_file_note(struct output_file *o)
{
	struct stat st;

	o->created = true;
	if (fstat(o->fd, &st) == 0) {
		o->device = st.st_dev;
		o->inode = st.st_ino;
	}
}

static uint64_t output_file_mount(int fd, const char *name)
{
	struct statx x;

	return statx(fd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &x) == 0
		       ? x.stx_mnt_id
		       : 0;
}

/*
 * Returns true if NAME in DIRECTORY is the open file FD, and can be replaced by a rename that
 * changes neither which users can use the file, nor other names of the file.
 */
static bool output_file_is_replaceable(int directory, const char *name, int fd,
				       const struct stat *st)
{
	struct stat named;

	return st->st_nlink == 1 && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       named.st_dev == st->st_dev && named.st_ino == st->st_ino &&
	       output_file_mount(fd, "") == output_file_mount(directory, "") &&
	       fgetxattr(fd, OUTPUT_FILE_ACL, NULL, 0) <= 0;
}

/* Removes the access control list that a file inherits from its directory. Otherwise, the list
 * would apply as soon as the new file gets the mode of the existing file. */
static int output_file_remove_acl(int fd)
{
	if (fremovexattr(fd, OUTPUT_FILE_ACL) < 0 && errno != ENODATA && errno != EOPNOTSUPP)
		return -1;
	return fgetxattr(fd, OUTPUT_FILE_ACL, NULL, 0) > 0 ? -1 : 0;
}

/* Gives FD the owner and the mode of ST; the owner first, because changing it clears bits of the
 * mode. */
static int output_file_copy_rights(int fd, const struct stat *st)
{
	return output_file_remove_acl(fd) < 0 || fchown(fd, st->st_uid, st->st_gid) < 0
		       ? -1
		       : fchmod(fd, st->st_mode & 0777);
}

/* Creates a file in DIRECTORY with the owner and the mode of ST (ST NULL = the owner and the mode
 * of a new file). Returns a descriptor, or -1. */
static int output_file_create_beside(int directory, const struct stat *st, char **ret_name)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int fd = -1;

	for (int i = 0; fd < 0 && i < OUTPUT_FILE_NAMES_MAX; i++) {
		name = free_ptr(name);
		if (asprintf(&name, ".kymo-%d-%d", (int)getpid(), i) < 0)
			return -1;
		fd = openat(directory, name, OUTPUT_FILE_NEW_FLAGS | O_NOFOLLOW, 0600);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	if (fd < 0)
		return -1;
	if (st && output_file_copy_rights(fd, st) < 0) {
		unlinkat(directory, name, 0);
		return -1;
	}
	*ret_name = TAKE_PTR(name);
	return TAKE_FD(fd);
}

/* Prepares to replace the regular file at PLACE, if that is possible. O has opened the file. */
static int output_file_replace(struct output_file *o, const char *place, const struct stat *st)
{
	const char *name;
	_cleanup_close_ int directory = output_path_open_directory(place, &name), fd = -1;

	if (directory < 0 || !output_file_is_replaceable(directory, name, o->fd, st))
		return 0;
	o->target = strdup(name);
	if (!o->target)
		return -ENOMEM;
	fd = output_file_create_beside(directory, st, &o->beside);
	if (fd < 0)
		return 0;
	o->target_device = st->st_dev;
	o->target_inode = st->st_ino;
	o->directory = TAKE_FD(directory);
	close_fd(o->fd);
	o->fd = TAKE_FD(fd);
	output_file_note(o);
	return 0;
}

/* Opens an existing file. */
static int output_file_open_existing(struct output_file *o)
{
	_cleanup_free_ char *place = NULL;
	int r = output_path_follow(o->path, &place);
	bool follow = r == 1;
	struct stat st;

	if (r == -EPERM) {
		cli_error("cannot write %s: the symbolic link %s belongs to another user, and "
			  "everybody can write to its directory",
			  o->path, place);
		return r;
	}
	if (r < 0)
		return output_file_explain_error(o->path, -r);
	/* (a link in /proc means an open file; it is written without being replaced) */
	o->fd = output_file_open_place(place, follow);
	if (o->fd < 0)
		return output_file_explain_error(o->path, errno);
	if (follow || fstat(o->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return output_file_replace(o, place, &st);
}

static int output_file_open_path(struct output_file *o, bool force)
{
	struct stat st;
	int e;

	o->fd = open(o->path, OUTPUT_FILE_NEW_FLAGS, 0600);
	e = errno;
	if (o->fd >= 0) {
		output_file_note(o);
		return 0;
	}
	if (e == EEXIST && (force || (stat(o->path, &st) == 0 && output_file_is_null_device(&st))))
		return output_file_open_existing(o);
	return output_file_explain_error(o->path, e);
}

int output_file_open(const char *path, const char *suffix, bool force, struct output_file *ret)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	int r;

	if (path && strcmp(path, "-") == 0) {
		r = output_file_open_stdout(&o);
	} else {
		o.path = path ? strdup(path) : output_file_default_path(suffix);
		r = o.path ? output_file_open_path(&o, force) : -ENOMEM;
	}
	if (r < 0)
		return r;
	*ret = o;
	o = OUTPUT_FILE_NULL;
	return 0;
}

/* Opens a new file in the directory of the name that the file gets later. */
static int output_file_open_beside(struct output_file *o)
{
	const char *name;
	_cleanup_close_ int directory = output_path_open_directory(o->path, &name);

	if (directory < 0)
		return output_file_explain_error(o->path, -directory);
	o->target = strdup(name);
	if (!o->target)
		return -ENOMEM;
	o->fd = output_file_create_beside(directory, NULL, &o->beside);
	if (o->fd < 0)
		return output_file_explain_error(o->path, errno);
	o->directory = TAKE_FD(directory);
	output_file_note(o);
	return 0;
}

int output_file_open_unnamed(const char *path, bool force, struct output_file *ret)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	struct stat st;
	int r;

	if (lstat(path, &st) == 0 || errno != ENOENT)
		return output_file_open(path, NULL, force, ret);
	o.path = strdup(path);
	r = o.path ? output_file_open_beside(&o) : -ENOMEM;
	if (r < 0)
		return r;
	*ret = o;
	o = OUTPUT_FILE_NULL;
	return 0;
}

int output_file_begin(struct output_file *o)
{
	struct stat st;

	/*
	 * Standard output is not emptied: the shell has set its position, and may have opened it
	 * for appending.
	 */
	if (o->created || o->standard)
		return 0;
	if (fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) && ftruncate(o->fd, 0) < 0) {
		cli_error("cannot empty %s: %m", o->path);
		return -EIO;
	}
	o->begun = true;
	return 0;
}

bool output_file_is(const struct output_file *o, int fd)
{
	struct stat x, y;

	if (fd < 0 || fstat(fd, &x) < 0 || fstat(o->fd, &y) < 0 || !S_ISREG(x.st_mode))
		return false;
	return (x.st_dev == y.st_dev && x.st_ino == y.st_ino) ||
	       (o->beside && x.st_dev == o->target_device && x.st_ino == o->target_inode);
}

void output_file_discard(struct output_file *o)
{
	int directory = o->beside ? o->directory : AT_FDCWD;
	const char *name = o->beside ?: o->path;
	struct stat st;

	/* Removes the file, unless another file has taken its name meanwhile. */
	if (o->created && fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == o->device && st.st_ino == o->inode)
		unlinkat(directory, name, 0);
	o->created = false;
}

/* ---- signals ---- */

static const int output_file_signals[] = { SIGHUP, SIGINT, SIGTERM };

/* The first file that the signal handler discards. */
static struct output_file *volatile output_file_unfinished;

void output_file_abandon(struct output_file *o)
{
	struct stat st;

	if (o->standard || o->fd < 0)
		return;
	if (!o->created && o->begun && fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    ftruncate(o->fd, 0) < 0)
		return;
	output_file_discard(o);
}

static void output_file_on_signal(int number)
{
	for (struct output_file *o = output_file_unfinished; o; o = o->also)
		output_file_abandon(o);
	signal(number, SIG_DFL);
	raise(number);
}

/* Sets HANDLER for the watched signals, except for ignored ones. */
static void output_file_handle_signals(void (*handler)(int number))
{
	struct sigaction to = { .sa_handler = handler }, was;

	for (size_t i = 0; i < ARRAY_SIZE(output_file_signals); i++)
		if (sigaction(output_file_signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(output_file_signals[i], &to, NULL);
}

void output_file_watch_signals(struct output_file *o)
{
	output_file_unfinished = o;
	if (o)
		output_file_handle_signals(output_file_on_signal);
}

static volatile sig_atomic_t output_file_noted;
static uint64_t output_file_noted_ns;

static void output_file_on_noted_signal(int number)
{
	if (!output_file_noted) {
		/* (another signal can arrive in between) */
		output_file_noted_ns = clock_read_ns(CLOCK_MONOTONIC);
		output_file_noted = number;
	} else if (clock_read_ns(CLOCK_MONOTONIC) - output_file_noted_ns > SIGNAL_TWICE_NS) {
		signal(number, SIG_DFL);
		raise(number);
	}
}

void output_file_note_signals(void)
{
	output_file_handle_signals(output_file_on_noted_signal);
}

bool output_file_is_interrupted(void)
{
	return output_file_noted != 0;
}

void output_file_raise_noted(void)
{
	if (!output_file_noted)
		return;
	signal(output_file_noted, SIG_DFL);
	raise(output_file_noted);
}

void output_file_hold_signals(sigset_t *ret_before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(output_file_signals); i++)
		sigaddset(&set, output_file_signals[i]);
	sigprocmask(SIG_BLOCK, &set, ret_before);
}

void output_file_admit_signals(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* ---- the end ---- */

static int output_file_take_place(struct output_file *o)
{
	struct stat st;

	if (renameat(o->directory, o->beside, o->directory, o->target) < 0) {
		o->error = -errno;
		if (fstat(o->directory, &st) == 0 && st.st_nlink == 0)
			cli_error("cannot write %s: its directory was removed", o->path);
		else
			cli_error(
				"cannot replace %s: %s; the new file stays in its directory as %s",
				o->path, strerror(-o->error), o->beside);
	}
	o->beside = free_ptr(o->beside);
	o->created = false;
	return o->error;
}

int output_file_keep(struct output_file *o)
{
	bool watched = output_file_unfinished == o;
	int r = o->error;
	sigset_t before;

	if (watched)
		output_file_hold_signals(&before);
	if (o->beside)
		r = output_file_take_place(o);
	if (watched) {
		output_file_unfinished = NULL;
		output_file_admit_signals(&before);
	}
	return r;
}

int output_file_keep_written(struct output_file *o)
{
	struct stat st;

	return o->beside && fstat(o->fd, &st) == 0 && st.st_size == 0 ? 0 : output_file_keep(o);
}

int output_file_end(struct output_file *o)
{
	struct stat st;

	if (fstat(o->fd, &st) < 0 || st.st_size > 0)
		return output_file_keep(o);
	output_file_discard(o);
	return 0;
}

void output_file_fail(struct output_file *o)
{
	struct stat st;

	if (!o->beside || (fstat(o->fd, &st) == 0 && st.st_size == 0)) {
		output_file_end(o);
		return;
	}
	if (output_file_unfinished == o)
		output_file_unfinished = NULL;
	cli_error("%s was not replaced; the incomplete new file stays in its directory as %s",
		  o->path, o->beside);
	o->beside = free_ptr(o->beside);
	o->created = false;
}

void output_file_deinit(struct output_file *o)
{
	if (output_file_unfinished == o)
		output_file_unfinished = NULL;
	if (o->beside)
		output_file_discard(o);
	o->fd = close_fd(o->fd);
	o->directory = close_fd(o->directory);
	o->path = free_ptr(o->path);
	o->target = free_ptr(o->target);
	o->beside = free_ptr(o->beside);
}
