/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/find-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.h"
#include "reader/symbols/debug-link.h"
#include "reader/symbols/find-debuginfod.h"
#include "reader/symbols/open-below.h"

static const char debug_dir_default[] = "/usr/lib/debug";

/* ---- paths ---- */

bool find_is_file(const char *path)
{
	static const char *const not_files[] = { "//", "/memfd:", "/dev/", "/SYSV",
						 "/anon_hugepage" };

	if (!path || path[0] != '/')
		return false;
	if (strncmp(path, "/dev/shm/", 9) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(not_files); i++)
		if (strncmp(path, not_files[i], strlen(not_files[i])) == 0)
			return false;
	return true;
}

/* ---- directories ---- */

static int find_file_open_dir(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int find_file_add_debug_dir(struct find_places *p, int root_fd, char *path)
{
	if (!path)
		return -errno;
	p->debug_dirs[p->n_debug_dirs++] = (struct find_debug_dir){
		.root_fd = root_fd,
		.path = path,
	};
	return 0;
}

int find_places_init(struct find_places *p, const struct symbols_options *options)
{
	int r = 0;

	*p = (struct find_places){
		.sysroot_fd = -1,
		.has_sysroot = options->sysroot != NULL,
		.debuginfod = options->debuginfod,
	};
	p->root_fd = find_file_open_dir("/");
	p->debug_dirs = calloc(options->n_debug_dirs + 1, sizeof(*p->debug_dirs));
	if (p->root_fd < 0)
		r = p->root_fd;
	else if (!p->debug_dirs)
		r = -ENOMEM;
	else
		r = p->sysroot_fd = find_file_open_dir(options->sysroot ? options->sysroot : "/");
	/* Directories of the user: resolved from the machine's root, since they can be links to
	 * anywhere. */
	for (size_t i = 0; r >= 0 && i < options->n_debug_dirs; i++)
		r = find_file_add_debug_dir(p, p->root_fd, realpath(options->debug_dirs[i], NULL));
	if (r >= 0)
		r = find_file_add_debug_dir(p, p->sysroot_fd, strdup(debug_dir_default));
	if (r < 0)
		find_places_deinit(p);
	return r < 0 ? r : 0;
}

void find_places_deinit(struct find_places *p)
{
	for (size_t i = 0; i < p->n_debug_dirs; i++)
		free(p->debug_dirs[i].path);
	free(p->debug_dirs);
	p->root_fd = close_fd(p->root_fd);
	p->sysroot_fd = close_fd(p->sysroot_fd);
	*p = (struct find_places){ .root_fd = -1, .sysroot_fd = -1 };
}

void found_file_deinit(struct found_file *f)
{
	elf_file_free(f->elf);
	close_fd(f->root_fd);
	free(f->path);
	*f = (struct found_file){ .root_fd = -1 };
}

/* ---- candidates ---- */

struct search {
	const struct find_places *places;
	find_problem_fn problem; /* can be NULL */
	void *userdata;
	const uint8_t *build_id;
	/* Bytes of the build id; 0 = unknown, so the caller must check the file by other means. */
	size_t n_build_id;
};

static void find_file_report(const struct search *s, const char *path, const char *what)
{
	if (s->problem)
		s->problem(s->userdata, path, what);
}

/*
 * Opens FD (takes ownership) as an ELF file that was found as PATH below ROOT_FD. Returns 1 with
 * *RET, 0 if the file is unusable or has another build id (reported), or -ENOMEM.
 */
static int find_file_try_candidate(const struct search *s, int root_fd, const char *path, int fd,
				   struct found_file *ret)
{
	struct found_file found = { .root_fd = -1 };
	const char *what = NULL;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0) {
		close(fd);
		return 0;
	}
	found.size = (uint64_t)st.st_size;
	r = elf_file_open_fd(&found.elf, fd, &what);
	if (r == -EBADMSG)
		find_file_report(s, path, what);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (s->n_build_id > 0 && !elf_file_has_build_id(found.elf, s->build_id, s->n_build_id)) {
		find_file_report(s, path, "it is not the recorded file: its build id differs");
		found_file_deinit(&found);
		return 0;
	}
	found.root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	found.path = strdup(path);
	if (found.root_fd < 0 || !found.path) {
		found_file_deinit(&found);
		return -ENOMEM;
	}
	*ret = found;
	return 1;
}

static int find_file_try_path(const struct search *s, int root_fd, const char *path,
			      struct found_file *ret)
{
	int fd = open_below(root_fd, path);

	if (fd == -EACCES || fd == -EPERM)
		find_file_report(s, path, "permission to read it is denied");
	return fd < 0 ? 0 : find_file_try_candidate(s, root_fd, path, fd, ret);
}

/* Formats a path. Returns false if it is too long. */
__attribute__((format(printf, 3, 4))) static bool find_file_make_path(char *to, size_t room,
								      const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(to, room, format, args);
	va_end(args);
	return n > 0 && (size_t)n < room;
}

/* ---- search by build id ---- */

static void find_file_hex(char *to, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		snprintf(to + 2 * i, 3, "%02x", p[i]);
}

/* Tries DIR/.build-id/xx/yyyySUFFIX in each debug directory. */
static int find_file_try_build_id(const struct search *s, const char *suffix,
				  struct found_file *ret)
{
	char id[2 * SYMBOL_BUILD_ID_MAX + 1] = "";

	if (s->n_build_id < 2)
		return 0;
	find_file_hex(id, s->build_id, s->n_build_id);
	for (size_t i = 0; i < s->places->n_debug_dirs; i++) {
		const struct find_debug_dir *dir = &s->places->debug_dirs[i];
		char path[PATH_MAX];
		int r;

		if (!find_file_make_path(path, sizeof(path), "%s/.build-id/%.2s/%s%s", dir->path,
					 id, id + 2, suffix))
			continue;
		r = find_file_try_path(s, dir->root_fd, path, ret);
		if (r != 0)
			return r;
	}
	return 0;
}

static int find_file_try_debuginfod(const struct search *s, bool debug, struct found_file *ret)
{
	char path[PATH_MAX];
	int fd;

	if (!s->places->debuginfod || s->n_build_id == 0)
		return 0;
	fd = find_debuginfod(s->build_id, s->n_build_id, debug, path, sizeof(path));
	return fd < 0 ? 0 : find_file_try_candidate(s, s->places->root_fd, path, fd, ret);
}

/* ---- the mapped file ---- */

/* The kernel recorded the device and inode of the file, which differ from those of an overlay over
 * it. */
static bool find_file_is_same_inode(const struct stat *st, const struct symbol_mapping *mapping)
{
	return mapping->inode != 0 && st->st_ino == mapping->inode &&
	       ((uint64_t)major(st->st_dev) << 20 | minor(st->st_dev)) == mapping->device;
}

static uint64_t find_file_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/*
 * Notes the times of F, which has the status ST. A program can set the time of the last write, but
 * not the time of the last change of the status, so both are needed. If the last link was removed,
 * the time of the last change is not used, since the removal has set it.
 */
static void find_file_note_times(struct found_file *f, const struct stat *st)
{
	f->written_ns = find_file_ns(&st->st_mtim);
	f->changed_ns = st->st_nlink > 0 ? find_file_ns(&st->st_ctim) : 0;
}

const char *found_file_is_later(const struct found_file *f, uint64_t mapped_ns)
{
	if (mapped_ns == 0)
		return NULL;
	if (f->written_ns > mapped_ns)
		return "it is not the recorded file: it was written after it was mapped, and has "
		       "no build id";
	if (f->changed_ns > mapped_ns)
		return "it may not be the recorded file: it or its attributes were changed after "
		       "it was mapped, and it has no build id";
	return NULL;
}

/*
 * Returns the reason why the file F, with the status ST, cannot be the file of MAPPING, which has
 * no build id; NULL = it can. A file system without a block device (major 0) can have another
 * device number now.
 */
static const char *find_file_contradicts(const struct find_places *p, const struct found_file *f,
					 const struct stat *st,
					 const struct symbol_mapping *mapping)
{
	const char *later;
	struct statfs fs;

	if (p->has_sysroot)
		return NULL;
	later = found_file_is_later(f, mapping->mapped_ns);
	if (later)
		return later;
	if (mapping->inode == 0 || find_file_is_same_inode(st, mapping) ||
	    (st->st_ino == mapping->inode && major(st->st_dev) == 0) ||
	    fstatfs(f->elf->fd, &fs) < 0 || fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return NULL;
	return "it is not the recorded file: its inode differs, and it has no build id";
}

/*
 * Judges the candidate FOUND if the result R of its search is 1. Without a build id, a file whose
 * inode is not the recorded one is only kept, in *KEPT, since a better one may be found. Returns 1
 * if FOUND is the file, 0 to search on, or a negative errno.
 */
static int find_file_judge(const struct search *s, int r, const struct symbol_mapping *mapping,
			   struct found_file *found, struct found_file *kept)
{
	const char *what = NULL;
	struct stat st;

	if (r <= 0 || mapping->n_build_id > 0)
		return r;
	found->unsure = true;
	if (found->elf->fd >= 0 && fstat(found->elf->fd, &st) == 0) {
		found->unsure = !find_file_is_same_inode(&st, mapping);
		/* (files in a sysroot are copies, with their own inodes and times) */
		if (!s->places->has_sysroot)
			find_file_note_times(found, &st);
		what = find_file_contradicts(s->places, found, &st, mapping);
	}
	if (what) {
		find_file_report(s, found->path, what);
		found_file_deinit(found);
		return 0;
	}
	if (!found->unsure)
		return 1;
	if (kept->elf)
		found_file_deinit(found);
	else
		*kept = *found;
	return 0;
}

static int find_file_try_living(const struct search *s, const struct symbol_query *query,
				const char *path, struct found_file *found, struct found_file *kept)
{
	const struct symbol_mapping *mapping = &query->mapping;
	_cleanup_close_ int root_fd = -1;
	_cleanup_close_ int fd = -1;
	char name[96];
	int r;

	snprintf(name, sizeof(name), "/proc/%u/root", query->pid);
	root_fd = find_file_open_dir(name);
	if (root_fd < 0)
		return 0;
	r = find_file_judge(s, find_file_try_path(s, root_fd, path, found), mapping, found, kept);
	if (r != 0)
		return r;
	/* Use the mapped file itself: its path can be deleted, replaced, or hidden by another
	 * mount. */
	snprintf(name, sizeof(name), "/proc/%u/map_files/%llx-%llx", query->pid,
		 (unsigned long long)mapping->start,
		 (unsigned long long)(mapping->start + mapping->size));
	fd = open(name, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return 0;
	r = open_regular(fd);
	if (r < 0)
		return 0;
	return find_file_judge(s, find_file_try_candidate(s, root_fd, path, r, found), mapping,
			       found, kept);
}

static int find_file_search_mapped(const struct search *s, const struct symbol_query *query,
				   const char *path, struct found_file *found,
				   struct found_file *kept)
{
	int r = find_file_try_build_id(s, "", found);

	if (r == 0 && query->lives && query->pid > 0)
		r = find_file_try_living(s, query, path, found, kept);
	if (r == 0)
		r = find_file_judge(s, find_file_try_path(s, s->places->sysroot_fd, path, found),
				    &query->mapping, found, kept);
	return r ?: find_file_try_debuginfod(s, false, found);
}

int find_mapped_file(const struct find_places *p, const struct symbol_query *query,
		     struct found_file *ret, find_problem_fn problem, void *userdata)
{
	const struct symbol_mapping *mapping = &query->mapping;
	struct found_file found = { .root_fd = -1 }, kept = { .root_fd = -1 };
	struct search s = {
		.places = p,
		.problem = problem,
		.userdata = userdata,
		.build_id = mapping->build_id,
		.n_build_id = mapping->n_build_id,
	};
	size_t n = text_path_length(mapping->path);
	char path[PATH_MAX];
	int r;

	if (n >= sizeof(path))
		return 0;
	memcpy(path, mapping->path, n);
	path[n] = '\0';
	r = find_file_search_mapped(&s, query, path, &found, &kept);
	if (r == 0 && kept.elf) {
		*ret = kept;
		return 1;
	}
	found_file_deinit(&kept);
	if (r == 1)
		*ret = found;
	return r;
}

/* ---- debug files ---- */

int find_debug_by_build_id(const struct find_places *p, const uint8_t *build_id, size_t n,
			   struct found_file *ret)
{
	struct search s = { .places = p, .build_id = build_id, .n_build_id = n };
	int r = find_file_try_build_id(&s, ".debug", ret);

	return r == 0 ? find_file_try_debuginfod(&s, true, ret) : r;
}

/* Returns the length of PATH's directory, with its slash. */
static size_t find_file_directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Returns true if DEBUG belongs to MAIN: by the build id, or by the checksum CRC. */
static bool find_file_is_linked(const struct found_file *main, const struct found_file *debug,
				uint32_t crc)
{
	uint32_t other;

	if (main->elf->n_build_id > 0)
		return true; /* find_file_try_candidate() has checked the build id */
	return debug_link_checksum(debug->elf->fd, &other) == 0 && other == crc;
}

static int find_file_try_link(const struct search *s, const struct found_file *main, int root_fd,
			      const char *path, uint32_t crc, struct found_file *ret)
{
	int r = find_file_try_path(s, root_fd, path, ret);

	if (r == 1 && !find_file_is_linked(main, ret, crc)) {
		find_file_report(
			s, path,
			"it is the debug information of another file: its checksum differs");
		found_file_deinit(ret);
		r = 0;
	}
	return r;
}

static int find_file_try_debug_link(const struct search *s, const struct found_file *main,
				    struct found_file *ret)
{
	static const char *const beside[] = { "", ".debug/" };
	int directory = (int)find_file_directory_length(main->path);
	char path[PATH_MAX], name[NAME_MAX + 1];
	uint32_t crc;
	int r;

	if (!debug_link_read(main->elf, name, &crc))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		if (!find_file_make_path(path, sizeof(path), "%.*s%s%s", directory, main->path,
					 beside[i], name))
			continue;
		r = find_file_try_link(s, main, main->root_fd, path, crc, ret);
		if (r != 0)
			return r;
	}
	for (size_t i = 0; i < s->places->n_debug_dirs; i++) {
		const struct find_debug_dir *dir = &s->places->debug_dirs[i];

		if (!find_file_make_path(path, sizeof(path), "%s/%.*s%s", dir->path, directory,
					 main->path, name))
			continue;
		r = find_file_try_link(s, main, dir->root_fd, path, crc, ret);
		if (r != 0)
			return r;
	}
	return 0;
}

int find_debug_file(const struct find_places *p, const struct found_file *main,
		    struct found_file *ret, find_problem_fn problem, void *userdata)
{
	struct search s = {
		.places = p,
		.problem = problem,
		.userdata = userdata,
		.build_id = main->elf->build_id,
		.n_build_id = main->elf->n_build_id,
	};
	return find_file_try_build_id(&s, ".debug", ret) ?: find_file_try_debug_link(&s, main, ret)
		       ?: find_file_try_debuginfod(&s, true, ret);
}

int find_alternate_file(const struct find_places *p, const struct found_file *debug,
			struct found_file *ret)
{
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	char name[PATH_MAX], path[PATH_MAX];
	struct search s = { .places = p, .build_id = id };
	int r;

	if (!debug_link_has_alternate(debug->elf))
		return 0;
	s.n_build_id = debug_link_read_alternate(debug->elf, name, sizeof(name), id, sizeof(id));
	if (s.n_build_id == 0)
		return -ENOENT;
	r = find_file_try_build_id(&s, ".debug", ret);
	if (r == 0 &&
	    find_file_make_path(path, sizeof(path), "%.*s%s",
				name[0] == '/' ? 0 : (int)find_file_directory_length(debug->path),
				debug->path, name))
		r = find_file_try_path(&s, debug->root_fd, path, ret);
	r = r ?: find_file_try_debuginfod(&s, true, ret);
	return r == 0 ? -ENOENT : r;
}
