/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output files of recordings, in the test's own directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/common/output-file.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/fixtures/said.h"
#include "tests/support/unit.h"

FIXTURE(set_up)
{
	*said = '\0';
	return own_directory_set_up(state);
}

static int n_files(void)
{
	DIR *d = opendir(".");
	const struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

TEST(test_new)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	struct stat st;

	assert_int_equal(output_file_open("file", "", false, &o), 0);
	assert_true(o.created);
	assert_false(o.standard);
	assert_string_equal(o.path, "file");
	assert_int_equal(fstat(o.fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(output_file_begin(&o), 0);
	assert_int_equal(write(o.fd, "x", 1), 1);
	assert_int_equal(output_file_end(&o), 0);
	assert_int_equal(size_of_file("file"), 1);
	output_file_discard(&o);
	assert_int_equal(size_of_file("file"), -ENOENT);
}

TEST(test_discard_empty)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	assert_int_equal(output_file_open("file", "", false, &o), 0);
	assert_int_equal(output_file_end(&o), 0);
	assert_int_equal(size_of_file("file"), -ENOENT);
}

/* A file that has replaced it meanwhile stays. */
TEST(test_discard_replaced)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	assert_int_equal(output_file_open("file", "", false, &o), 0);
	put_text("", "other", "theirs");
	assert_int_equal(rename("other", "file"), 0);
	output_file_discard(&o);
	assert_int_equal(size_of_file("file"), 6);
}

TEST(test_existing)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	put_text("", "file", "before");
	assert_int_equal(output_file_open("file", "", false, &o), -EEXIST);
	assert_string_equal(said, "file exists already; --force replaces it");
	assert_int_equal(o.fd, -1);

	assert_int_equal(output_file_open("file", "", true, &o), 0);
	assert_int_equal(fcntl(o.fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(output_file_begin(&o), 0);
	assert_int_equal(size_of_file("file"), 6);
	output_file_discard(&o);
	assert_int_equal(size_of_file("file"), 6);
	assert_int_equal(n_files(), 1);
}

/* The new file has the owner and the mode of the existing one, and replaces it once it is kept. */
TEST(test_replaced)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	_cleanup_close_ int before = -1;
	struct stat st;

	put_text("", "file", "before");
	assert_int_equal(chmod("file", 0654), 0);
	before = open("file", O_RDONLY | O_CLOEXEC);
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(output_file_open("link", "", true, &o), 0);
	assert_true(output_file_is(&o, before));
	assert_int_equal(output_file_begin(&o), 0);
	assert_int_equal(output_file_keep_written(&o), 0);
	assert_int_equal(size_of_file("file"), 6);
	assert_int_equal(write(o.fd, "xy", 2), 2);
	assert_int_equal(output_file_keep_written(&o), 0);
	assert_int_equal(size_of_file("file"), 2);
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat("link", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0654);
	/* It is no longer this command's to remove. */
	output_file_discard(&o);
	assert_int_equal(size_of_file("file"), 2);
	assert_int_equal(n_files(), 2);
	assert_string_equal(said, "");
}

/* A file with several names keeps them: it is written itself. */
TEST(test_several_names)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	put_text("", "file", "before");
	assert_int_equal(link("file", "other"), 0);
	assert_int_equal(output_file_open("file", "", true, &o), 0);
	assert_null(o.beside);
	assert_int_equal(output_file_begin(&o), 0);
	assert_int_equal(write(o.fd, "xy", 2), 2);
	assert_int_equal(output_file_end(&o), 0);
	assert_int_equal(size_of_file("other"), 2);
}

/* The rights that a directory gives to its new files must not exceed those of the existing one. */
TEST(test_inherited_rights)
{
	/* version 2; entries of a kind, rights and an id: the owner, user 65534, the group, the
	 * mask, others */
	static const uint8_t acl[] = { 2,    0, 0, 0,                         /**/
				       1,    0, 7, 0, 0xff, 0xff, 0xff, 0xff, /**/
				       2,    0, 7, 0, 0xfe, 0xff, 0,    0,    /**/
				       4,    0, 5, 0, 0xff, 0xff, 0xff, 0xff, /**/
				       0x10, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, /**/
				       0x20, 0, 5, 0, 0xff, 0xff, 0xff, 0xff };
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	struct stat st;

	put_text("", "file", "before");
	assert_int_equal(chmod("file", 0660), 0);
	if (setxattr(".", "system.posix_acl_default", acl, sizeof(acl), 0) < 0)
		skip();
	assert_int_equal(output_file_open("file", "", true, &o), 0);
	assert_non_null(o.beside);
	assert_int_equal(write(o.fd, "x", 1), 1);
	assert_int_equal(output_file_end(&o), 0);
	assert_int_equal(stat("file", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_int_equal(getxattr("file", "system.posix_acl_access", NULL, 0), -1);
	assert_int_equal(errno, ENODATA);
}

/* A fragment does not replace a file. */
TEST(test_failed)
{
	for (int n = 0; n < 2; n++) {
		_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
		char expected[200];

		put_text("", "file", "before");
		assert_int_equal(output_file_open("file", "", true, &o), 0);
		snprintf(expected, sizeof(expected),
			 "file was not replaced; the incomplete new file stays in its directory as "
			 "%s",
			 o.beside);
		assert_int_equal(write(o.fd, "x", (size_t)n), n);
		output_file_fail(&o);
		assert_string_equal(said, n ? expected : "");
		assert_int_equal(size_of_file("file"), 6);
		assert_int_equal(n_files(), 1 + n);
	}
}

TEST(test_failed_new)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	assert_int_equal(output_file_open("file", "", false, &o), 0);
	assert_int_equal(write(o.fd, "x", 1), 1);
	output_file_fail(&o);
	assert_int_equal(size_of_file("file"), 1);
}

static void wait_for_interrupted(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

/* Opens PATH in a process that gets SIGINT before it begins to write. */
static void interrupt_early(const char *path)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct output_file o;

		if (output_file_open(path, "", true, &o) < 0)
			_exit(1);
		output_file_watch_signals(&o);
		raise(SIGINT);
		_exit(2);
	}
	wait_for_interrupted(pid);
}

/* Writes PATH in a process that then gets SIGINT. */
static void interrupt(const char *path, bool force, bool kept)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct output_file o;

		if (output_file_open(path, "", force, &o) < 0)
			_exit(1);
		output_file_watch_signals(&o);
		if (output_file_begin(&o) < 0 || write(o.fd, "x", 1) != 1 ||
		    (kept && output_file_keep(&o) < 0))
			_exit(1);
		raise(SIGINT);
		_exit(2);
	}
	wait_for_interrupted(pid);
}

TEST(test_interrupted)
{
	put_text("", "file", "before");
	interrupt("file", true, false);
	assert_int_equal(size_of_file("file"), 6);
	interrupt("new", false, false);
	assert_int_equal(n_files(), 1);
	interrupt("new", false, true);
	assert_int_equal(size_of_file("new"), 1);
	interrupt("file", true, true);
	assert_int_equal(size_of_file("file"), 1);
	assert_int_equal(n_files(), 2);
	/* A file that is written itself does not look like a trace. */
	assert_int_equal(link("file", "other"), 0);
	interrupt_early("file");
	assert_int_equal(size_of_file("file"), 1);
	interrupt("file", true, false);
	assert_int_equal(size_of_file("file"), 0);
}

/* Signals that were blocked before stay blocked. */
TEST(test_held_signals)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	sigset_t set, before, after;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, &before), 0);
	assert_int_equal(output_file_open("file", "", false, &o), 0);
	output_file_watch_signals(&o);
	assert_int_equal(output_file_keep(&o), 0);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, &after), 0);
	assert_true(sigismember(&after, SIGHUP));
	assert_false(sigismember(&after, SIGINT));
}

/* An empty output replaces nothing, nor does one that is neither kept nor discarded. */
TEST(test_not_kept)
{
	put_text("", "file", "before");
	for (int way = 0; way < 2; way++) {
		_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

		assert_int_equal(output_file_open("file", "", true, &o), 0);
		if (way == 0)
			assert_int_equal(output_file_end(&o), 0);
		else
			assert_int_equal(write(o.fd, "x", 1), 1);
	}
	assert_int_equal(size_of_file("file"), 6);
	assert_int_equal(n_files(), 1);
}

/* If the new file cannot get its place, it stays, and every later answer says so. */
TEST(test_not_replaceable)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	char expected[200];

	put_text("", "file", "before");
	assert_int_equal(output_file_open("file", "", true, &o), 0);
	assert_int_equal(write(o.fd, "x", 1), 1);
	snprintf(expected, sizeof(expected),
		 "cannot replace file: Is a directory; the new file stays in its directory as %s",
		 o.beside);
	assert_int_equal(unlink("file"), 0);
	assert_int_equal(mkdir("file", 0700), 0);
	assert_int_equal(output_file_end(&o), -EISDIR);
	assert_string_equal(said, expected);
	assert_int_equal(output_file_end(&o), -EISDIR);
	assert_int_equal(n_files(), 2);
}

/* A file that a link in /proc means is written as it is, like an open descriptor. */
TEST(test_open_descriptor)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	_cleanup_close_ int fd = -1;
	char path[64];

	put_text("", "file", "before");
	fd = open("file", O_WRONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(output_file_open(path, "", true, &o), 0);
	assert_null(o.beside);
	assert_false(o.created);
	assert_int_equal(size_of_file("file"), 6);
	assert_int_equal(output_file_begin(&o), 0);
	assert_int_equal(size_of_file("file"), 0);
}

TEST(test_not_possible)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	assert_int_equal(output_file_open(".", "", false, &o), -EISDIR);
	assert_string_equal(said, ". is a directory");
	assert_int_equal(output_file_open("none/file", "", true, &o), -ENOENT);
	assert_string_equal(said, "cannot write none/file: No such file or directory; does its "
				  "directory exist? 'mkdir -p' creates it");
}

/* A named pipe is not waited for. Once it has a reader, it is written like any file. */
TEST(test_fifo)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;
	_cleanup_close_ int reader = -1;

	assert_int_equal(mkfifo("file", 0600), 0);
	assert_int_equal(output_file_open("file", "", true, &o), -ENXIO);
	assert_string_equal(said, "cannot write file: it is a pipe without a reader");

	reader = open("file", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(output_file_open("file", "", true, &o), 0);
	assert_int_equal(fcntl(o.fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(output_file_begin(&o), 0);
}

TEST(test_default_name)
{
	_cleanup_(output_file_deinit) struct output_file o = OUTPUT_FILE_NULL;

	assert_int_equal(output_file_open(NULL, ".zst", false, &o), 0);
	assert_int_equal(strlen(o.path), strlen("kymo-YYYYMMDD-HHMMSS.fxt.zst"));
	assert_memory_equal(o.path, "kymo-20", 7);
	assert_string_equal(o.path + strlen(o.path) - 8, ".fxt.zst");
	output_file_discard(&o);
	assert_int_equal(size_of_file(o.path), -ENOENT);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, own_directory_tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIRECTORY(test_new),
		IN_DIRECTORY(test_discard_empty),
		IN_DIRECTORY(test_discard_replaced),
		IN_DIRECTORY(test_existing),
		IN_DIRECTORY(test_replaced),
		IN_DIRECTORY(test_several_names),
		IN_DIRECTORY(test_inherited_rights),
		IN_DIRECTORY(test_failed),
		IN_DIRECTORY(test_failed_new),
		IN_DIRECTORY(test_interrupted),
		IN_DIRECTORY(test_held_signals),
		IN_DIRECTORY(test_not_kept),
		IN_DIRECTORY(test_not_replaceable),
		IN_DIRECTORY(test_open_descriptor),
		IN_DIRECTORY(test_not_possible),
		IN_DIRECTORY(test_fifo),
		IN_DIRECTORY(test_default_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
