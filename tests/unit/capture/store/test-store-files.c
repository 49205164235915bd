/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/store/chunk-name.h"
#include "base/directory.h"
#include "capture/store/output.h"
#include "capture/store/store-files.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/store-records.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-writer.h"

#define SECOND UINT64_C(1000000000)
#define DAY    (86400 * SECOND)

/* 2026-11-20 19:08:34.123456 UTC */
#define THEN UINT64_C(1795201714123456000)

static struct store *files(int dir_fd, const char *name)
{
	struct store *s;

	assert_int_equal(
		store_files_new(&(struct store_files_options){ .dir_fd = dir_fd, .name = name },
				&s),
		0);
	return s;
}

static void end(struct store *s, uint64_t at_ns)
{
	assert_int_equal(store_records(s, STORE_TAIL, RECORD_TAIL, 1), 0);
	assert_int_equal(s->ops->end(s, &(struct store_moment){ at_ns, at_ns }), 0);
}

static void chunk(struct store *s, uint64_t begin_ns, uint64_t end_ns, uint64_t first, unsigned n)
{
	store_chunk(s, begin_ns, first, n);
	end(s, end_ns);
}

static int compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_dots(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* The names in DIRECTORY, each followed by a space. */
static const char *names_in(const char *directory)
{
	static char text[8192];
	struct dirent **list;
	int n = scandir(directory, &list, not_dots, compare);

	assert_true(n >= 0);
	*text = '\0';
	for (int i = 0; i < n; i++) {
		assert_true(strlen(text) + strlen(list[i]->d_name) + 2 < sizeof(text));
		strcat(strcat(text, list[i]->d_name), " ");
		free(list[i]);
	}
	free(list);
	return text;
}

/* ---- names ---- */

TEST(test_names)
{
	static const char *const none[] = {
		"a-20261120T190834.123456Z-20261120T190844.000000Z.fx",
		"a-20261120T190834.123456Z-20261120T190844.000000Z.fxt.xz",
		"a-20261120T190834.123456Z-20261120T190844.000000Z",
		"a-20261120T190834.123456Z.fxt",
		"a-20260231T190834.123456Z-20261120T190844.000000Z.fxt",
		"a-20261120T196034.123456Z-20261120T190844.000000Z.fxt",
		"a-2026112 T190834.123456Z-20261120T190844.000000Z.fxt",
		"b-20261120T190834.123456Z-20261120T190844.000000Z.fxt",
		"ab-20261120T190834.123456Z-20261120T190844.000000Z.fxt",
		"a",
		"",
		".a-20261120T190834.123456Z.part",
	};
	const struct chunk_name c = { THEN / 1000, THEN / 1000 + 9876544 };
	char text[CHUNK_NAME_MAX];
	struct chunk_name back;
	uint64_t begin_us;

	for (enum pack_method m = PACK_NONE; m < PACK_METHOD_MAX; m++) {
		chunk_name_format(text, "a", &c, m);
		assert_true(chunk_name_parse(text, "a", &back));
		assert_int_equal(back.begin_us, c.begin_us);
		assert_int_equal(back.end_us, c.end_us);
	}
	assert_string_equal(chunk_name_format(text, "a", &c, PACK_ZSTD),
			    "a-20261120T190834.123456Z-20261120T190844.000000Z.fxt.zst");
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(chunk_name_parse(none[i], "a", &back));
	assert_string_equal(chunk_name_format_part(text, "a", c.begin_us),
			    ".a-20261120T190834.123456Z.part");
	assert_true(chunk_name_parse_part(text, "a", &begin_us));
	assert_int_equal(begin_us, c.begin_us);
	assert_false(chunk_name_parse_part(".a-20261120T190834.123456Z.part~", "a", &begin_us));
	assert_false(chunk_name_parse_part("a-20261120T190834.123456Z.part", "a", &begin_us));
}

/* ---- chunks ---- */

TEST(test_refused)
{
	static const char *const names[] = { "", "a-b", "../a", "a b" };
	struct store *s;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(store_files_new(&(struct store_files_options){ .dir_fd = AT_FDCWD,
										.name = names[i] },
						 &s),
				 -EINVAL);
	assert_int_equal(store_files_new(&(struct store_files_options){ .dir_fd = -1, .name = "a" },
					 &s),
			 -EBADF);
}

/* A chunk gets its name when it is complete. */
TEST(test_rename)
{
	_cleanup_close_ int dir_fd = directory_fd("rename");
	_cleanup_(store_freep) struct store *s = files(dir_fd, "a");
	const char *last = "a-20261120T190835.123456Z-20261120T190836.123456Z.fxt";
	struct stat st;

	umask(022);
	assert_string_equal(names_in("rename"), "");
	store_chunk(s, THEN, 0, 10);
	assert_string_equal(names_in("rename"), ".a-20261120T190834.123456Z.part ");
	end(s, THEN + SECOND);
	chunk(s, THEN + SECOND, THEN + 2 * SECOND, 10, 10);
	assert_string_equal(names_in("rename"),
			    "a-20261120T190834.123456Z-20261120T190835.123456Z.fxt "
			    "a-20261120T190835.123456Z-20261120T190836.123456Z.fxt ");
	assert_int_equal(fstatat(dir_fd, last, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fchdir(dir_fd), 0);
	assert_string_equal(records_in_file(last), "H 10-19 T");
	assert_string_equal(
		records_in_file("a-20261120T190834.123456Z-20261120T190835.123456Z.fxt"),
		"H 0-9 T");
	assert_int_equal(chdir(".."), 0);
	/* An empty chunk has no file. */
	assert_int_equal(s->ops->begin(s, &(struct store_moment){ THEN, THEN }), 0);
	assert_int_equal(s->ops->end(s, &(struct store_moment){ THEN, THEN }), 0);
	assert_null(strstr(names_in("rename"), "part"));
}

/* A chunk that was not ended is ended when the store is freed. */
TEST(test_freed)
{
	_cleanup_close_ int dir_fd = directory_fd("freed");
	struct store *s = files(dir_fd, "a");
	struct chunk_name c;

	store_chunk(s, THEN, 0, 10);
	store_free(s);
	assert_null(strstr(names_in("freed"), "part"));
	assert_true(chunk_name_parse(strtok((char *)names_in("freed"), " "), "a", &c));
	assert_int_equal(c.begin_us, THEN / 1000);
}

/* The same times again (a clock was set back): each chunk has its own name. */
TEST(test_never_over)
{
	_cleanup_close_ int dir_fd = directory_fd("over");
	_cleanup_(store_freep) struct store *s = files(dir_fd, "a"), *other = files(dir_fd, "a");

	for (unsigned i = 0; i < 3; i++)
		chunk(s, THEN, THEN + SECOND, 10 * i, 10);
	/* Two at once, too. */
	store_chunk(s, THEN, 30, 10);
	store_chunk(other, THEN, 40, 10);
	end(other, THEN + SECOND);
	end(s, THEN + SECOND);
	assert_string_equal(names_in("over"),
			    "a-20261120T190834.123456Z-20261120T190835.123456Z.fxt "
			    "a-20261120T190834.123456Z-20261120T190835.123457Z.fxt "
			    "a-20261120T190834.123456Z-20261120T190835.123458Z.fxt "
			    "a-20261120T190834.123456Z-20261120T190835.123459Z.fxt "
			    "a-20261120T190834.123457Z-20261120T190835.123456Z.fxt ");
	assert_int_equal(fchdir(dir_fd), 0);
	assert_string_equal(
		records_in_file("a-20261120T190834.123456Z-20261120T190835.123456Z.fxt"),
		"H 0-9 T");
	assert_string_equal(
		records_in_file("a-20261120T190834.123456Z-20261120T190835.123459Z.fxt"),
		"H 30-39 T");
	assert_int_equal(chdir(".."), 0);
}

/* ---- retention ---- */

TEST(test_keep_bytes)
{
	_cleanup_close_ int dir_fd = directory_fd("bytes");
	_cleanup_(store_freep) struct store *s = NULL;

	/* Other files with similar names. */
	put_text("bytes", "/b-20261120T190834.123456Z-20261120T190835.123456Z.fxt", "b");
	put_text("bytes", "/a-20261120T190834.123456Z-20261120T190835.123456Z.fxt.bak", "b");
	put_text("bytes", "/a.fxt", "b");
	/* Earlier ones, packed in another way. */
	put_text("bytes", "/a-20261020T190834.123456Z-20261120T190835.123456Z.fxt.zst", "12345");
	assert_int_equal(store_files_new(
				 &(struct store_files_options){
					 .dir_fd = dir_fd,
					 .name = "a",
					 .keep_bytes = 36 * RECORD_BYTES,
				 },
				 &s),
			 0);
	for (unsigned i = 0; i < 6; i++) {
		chunk(s, THEN + i * SECOND, THEN + (i + 1) * SECOND, 10 * i, 10);
		assert_true(i < 2 || !strstr(names_in("bytes"), ".zst"));
	}
	assert_string_equal(names_in("bytes"),
			    "a-20261120T190834.123456Z-20261120T190835.123456Z.fxt.bak "
			    "a-20261120T190837.123456Z-20261120T190838.123456Z.fxt "
			    "a-20261120T190838.123456Z-20261120T190839.123456Z.fxt "
			    "a-20261120T190839.123456Z-20261120T190840.123456Z.fxt a.fxt "
			    "b-20261120T190834.123456Z-20261120T190835.123456Z.fxt ");
	/* A chunk that is larger than the limit stays, alone. */
	chunk(s, THEN + 6 * SECOND, THEN + 7 * SECOND, 60, 40);
	assert_string_equal(names_in("bytes"),
			    "a-20261120T190834.123456Z-20261120T190835.123456Z.fxt.bak "
			    "a-20261120T190840.123456Z-20261120T190841.123456Z.fxt a.fxt "
			    "b-20261120T190834.123456Z-20261120T190835.123456Z.fxt ");
}

TEST(test_keep_time)
{
	_cleanup_close_ int dir_fd = directory_fd("time");
	_cleanup_(store_freep) struct store *s = files(dir_fd, "a");
	uint64_t now = clock_read_ns(CLOCK_REALTIME);
	struct chunk_name c;

	for (unsigned i = 0; i < 5; i++)
		chunk(s, now - (5 - i) * DAY - DAY / 2, now - (5 - i) * DAY, 10 * i, 10);
	s = store_free(s);
	assert_int_equal(
		store_files_new(&(struct store_files_options){ .dir_fd = dir_fd,
							       .name = "a",
							       .keep_ns = 2 * DAY + DAY / 2 },
				&s),
		0);
	/* At the begin of a chunk, and not before. */
	assert_int_equal(strlen(names_in("time")), 5 * 54);
	store_chunk(s, now, 50, 1);
	assert_int_equal(strlen(names_in("time")), 2 * 54 + 32);
	end(s, now + 1000);
	assert_int_equal(strlen(names_in("time")), 3 * 54);
	assert_true(chunk_name_parse(strtok((char *)names_in("time"), " "), "a", &c));
	assert_int_equal(c.end_us, (now - 2 * DAY) / 1000);
}

/* ---- files of a killed process ---- */

/*
 * A process that is killed in the middle of a write, after N bytes of a chunk that is packed by
 * METHOD.
 */
static void leave_part(int dir_fd, enum pack_method method, unsigned n_records, const char *more,
		       size_t n_more)
{
	int status, fd;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct store *s;
		struct output *o;
		struct outbuf *b;

		if (store_files_new(&(struct store_files_options){ .dir_fd = dir_fd,
								   .name = "a",
								   .packed = method },
				    &s) < 0 ||
		    output_new(s, fxt_whole_records, method, NULL, &o) < 0)
			_exit(1);
		output_begin(o, &(struct store_moment){ THEN, THEN });
		while (output_poll(o).n_begun < 1)
			usleep(1000);
		/* Each of them is in the file at that time. */
		for (unsigned i = 0; i < n_records; i++) {
			uint64_t bytes = output_poll(o).bytes;

			b = output_get_buffer(o);
			add_records(b, i, 1);
			output_put(o, b, STORE_BODY);
			while (output_poll(o).bytes == bytes)
				usleep(1000);
		}
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	fd = openat(dir_fd, ".a-20261120T190834.123456Z.part", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, more, n_more), n_more);
	close(fd);
}

TEST(test_recover)
{
	for (enum pack_method m = PACK_NONE; m < PACK_METHOD_MAX; m++) {
		char directory[] = "recover-0";
		_cleanup_close_ int dir_fd = -1;
		_cleanup_free_ char *name = NULL;
		struct outbuf cut = { 0 };
		struct chunk_name c;
		struct stat before;
		struct pack p;

		directory[8] = (char)('0' + m);
		dir_fd = directory_fd(directory);
		/* The begin of another record or block. */
		assert_int_equal(pack_init(&p, m), 0);
		p.begun = true;
		{
			struct outbuf record = { 0 };

			add_records(&record, 77, 1);
			assert_int_equal(pack_put(&p, record.data, record.size, &cut), 0);
			outbuf_deinit(&record);
		}
		pack_deinit(&p);
		leave_part(dir_fd, m, 5, (char *)cut.data, cut.size - 1);
		outbuf_deinit(&cut);
		assert_int_equal(fstatat(dir_fd, ".a-20261120T190834.123456Z.part", &before, 0), 0);
		store_files_recover(&(struct store_files_options){ .dir_fd = dir_fd, .name = "b" });
		assert_string_equal(names_in(directory), ".a-20261120T190834.123456Z.part ");
		store_files_recover(&(struct store_files_options){ .dir_fd = dir_fd, .name = "a" });
		name = strdup(strtok((char *)names_in(directory), " "));
		assert_true(chunk_name_parse(name, "a", &c));
		assert_int_equal(pack_of_suffix(name), m);
		assert_int_equal(c.begin_us, THEN / 1000);
		assert_int_equal(c.end_us, (uint64_t)before.st_mtim.tv_sec * 1000000 +
						   (uint64_t)before.st_mtim.tv_nsec / 1000);
		assert_int_equal(fchdir(dir_fd), 0);
		assert_string_equal(records_in_file(name), "0-4");
		assert_int_equal(chdir(".."), 0);
	}
}

/* A chunk that is being written is not touched. Other files are removed, or stay unchanged. */
TEST(test_recover_not)
{
	_cleanup_close_ int dir_fd = directory_fd("not");
	_cleanup_(store_freep) struct store *s = files(dir_fd, "a");
	const struct store_files_options o = { .dir_fd = dir_fd, .name = "a" };

	store_chunk(s, THEN, 0, 10);
	put_text("not", "/.a-20261120T190835.123456Z.part", "");
	put_text("not", "/.a-20261120T190836.123456Z.part", "no record at all");
	assert_int_equal(symlink("/etc/passwd", "not/.a-20261120T190837.123456Z.part"), 0);
	assert_int_equal(mkfifo("not/.a-20261120T190838.123456Z.part", 0600), 0);
	assert_int_equal(mkdir("not/.a-20261120T190839.123456Z.part", 0700), 0);
	store_files_recover(&o);
	assert_string_equal(names_in("not"), ".a-20261120T190834.123456Z.part "
					     ".a-20261120T190837.123456Z.part "
					     ".a-20261120T190838.123456Z.part "
					     ".a-20261120T190839.123456Z.part ");
	assert_int_equal(store_records(s, STORE_BODY, 10, 1), 0);
}

/* When the first chunk begins. */
TEST(test_recover_at_begin)
{
	_cleanup_close_ int dir_fd = directory_fd("at-begin");
	_cleanup_(store_freep) struct store *s = NULL;
	struct outbuf b = { 0 };

	add_records(&b, 0, 3);
	put_bytes("at-begin", "/.a-20261120T190834.123456Z.part", b.data, b.size);
	outbuf_deinit(&b);
	s = files(dir_fd, "a");
	assert_string_equal(names_in("at-begin"), ".a-20261120T190834.123456Z.part ");
	store_chunk(s, THEN + SECOND, 0, 1);
	assert_null(strstr(names_in("at-begin"), "T190834.123456Z.part"));
	assert_non_null(strstr(names_in("at-begin"), "a-20261120T190834.123456Z-"));
}

/* ---- a full file system ---- */

/* Complete chunks stay, the last one is kept as far as it goes, and the reason is reported. */
TEST(test_full)
{
	_cleanup_close_ int dir_fd = -1;
	struct output_status status;
	struct output *o;
	struct store *s;
	char *name;

	mkdir("full", 0700);
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "full", "tmpfs", 0, "size=64k") < 0)
		skip();
	dir_fd = directory_fd("full");
	s = files(dir_fd, "a");
	chunk(s, THEN, THEN + SECOND, 0, 100);
	assert_int_equal(output_new(s, fxt_whole_records, PACK_NONE, NULL, &o), 0);
	output_begin(o, &(struct store_moment){ THEN + SECOND, THEN + SECOND });
	for (unsigned i = 0; i < 20; i++) {
		struct outbuf *b = output_get_buffer(o);

		add_records(b, 100 * i, 100);
		output_put(o, b, STORE_BODY);
	}
	output_end(o, &(struct store_moment){ THEN + 2 * SECOND, THEN + 2 * SECOND });
	output_finish(o);
	do {
		poll(&(struct pollfd){ output_fd(o), POLLIN, 0 }, 1, 1000);
		status = output_poll(o);
	} while (!status.done);
	output_free(o);
	assert_int_equal(status.error, -ENOSPC);
	assert_true(status.bytes > 0 && status.bytes % RECORD_BYTES == 0);
	assert_null(strstr(names_in("full"), "part"));
	assert_int_equal(fchdir(dir_fd), 0);
	name = strtok((char *)names_in("."), " ");
	assert_string_equal(name, "a-20261120T190834.123456Z-20261120T190835.123456Z.fxt");
	assert_string_equal(records_in_file(name), "H 0-99 T");
	name = strtok(NULL, " ");
	assert_string_equal(name, "a-20261120T190835.123456Z-20261120T190836.123456Z.fxt");
	assert_int_equal(size_of_file(name), status.bytes);
	assert_memory_equal(records_in_file(name), "0-", 2);
	assert_null(strchr(records_in_file(name), '?'));
	assert_int_equal(chdir(".."), 0);
	dir_fd = close_fd(dir_fd);
	assert_int_equal(umount("full"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_rename),      cmocka_unit_test(test_freed),
		cmocka_unit_test(test_never_over),  cmocka_unit_test(test_keep_bytes),
		cmocka_unit_test(test_keep_time),   cmocka_unit_test(test_recover),
		cmocka_unit_test(test_recover_not), cmocka_unit_test(test_recover_at_begin),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
