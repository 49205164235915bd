/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with probes, and mappings of these files and of others.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/calls/probed-inodes.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

static struct probed_inodes *probe(int fd)
{
	struct session_options o = { .calls.files = { &fd, 1 } };
	struct probed_inodes *p = probed_inodes_new(&o);

	assert_non_null(p);
	return p;
}

static const char *missed(const struct probed_inodes *p, const char *path, uint64_t device,
			  uint64_t inode)
{
	struct event ev = { .kind = EVENT_MAPPING,
			    .mapping = { .path = path, .device = device, .inode = inode } };

	return probed_inodes_missed(p, &ev);
}

static int create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

TEST(test_missed)
{
	char path[] = "/lib/libc.so.6";
	struct probed_inode file = {
		.identity = { .device = 8 << 20 | 1, .inode = 7 },
		.path = path,
		.stem = "libc",
	};
	const uint64_t device = file.identity.device;
	const struct probed_inodes probed = { &file, 1 };

	assert_null(missed(NULL, "/libc.so.6", device, 8));
	assert_null(missed(&probed, "/libc.so.6", device, 7));
	assert_null(missed(&probed, "/libc.so.6", 0, 0));
	assert_null(missed(&probed, "/libm.so.6", device, 8));
	assert_string_equal(missed(&probed, "/libc-2.31.so", device, 8), "libc.so.6");
	assert_string_equal(missed(&probed, "/libc.so.6", 8 << 20 | 2, 7), "libc.so.6");
	/* The path of the file with probes, which names the file itself. */
	assert_string_equal(missed(&probed, path, device, 8), path);
	/* An overlayfs above the file has a device of its own. So has a subvolume of btrfs. */
	assert_null(missed(&probed, "/libc.so.6", 40, 7));
	assert_string_equal(missed(&probed, "/libc.so.6", 40, 8), "libc.so.6");
	file.identity.is_anonymous = true;
	assert_null(missed(&probed, "/libc.so.6", 41, 7));
}

/* The name is in archives and messages, and is compared with the paths of mappings. */
TEST(test_name)
{
	static const char want[] = "libc.so.\xef\xbf\xbd";
	_cleanup_close_ int fd = create("libc.so.\xff");
	struct probed_inodes *p = probe(fd);
	char clean[32];

	text_clean(clean, sizeof(clean), "libc.so.\xff", strlen("libc.so.\xff"));
	assert_string_equal(clean, want);
	assert_int_equal(p->n, 1);
	assert_string_equal(strrchr(p->list[0].path, '/') + 1, want);
	assert_string_equal(missed(p, "/libc.so.6", 8 << 20, p->list[0].identity.inode + 1), want);
	probed_inodes_free(p);
	unlink("libc.so.\xff");
}

/* Returns 0 if no process is judged by the file of an overlayfs, or an errno without such. */
static int judge_overlay(void)
{
	struct probed_inodes *p;
	int fd, r;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "tree", "tmpfs", 0, NULL) < 0)
		return errno;
	if (mkdir("tree/lower", 0700) < 0 || mkdir("tree/upper", 0700) < 0 ||
	    mkdir("tree/work", 0700) < 0 || mkdir("tree/all", 0700) < 0)
		return errno;
	close(create("tree/lower/libc.so.6"));
	if (mount("overlay", "tree/all", "overlay", 0,
		  "lowerdir=tree/lower,upperdir=tree/upper,workdir=tree/work") < 0)
		return errno;
	fd = create("tree/all/libc.so.6");
	p = probe(fd);
	r = p->n == 0 && !missed(p, "/libc.so.6", 8 << 20, 1) ? 0 : EILSEQ;
	probed_inodes_free(p);
	close(fd);
	return r;
}

TEST(test_overlay)
{
	int status;
	pid_t pid;

	assert_int_equal(mkdir("tree", 0700), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(judge_overlay());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rmdir("tree");
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == EPERM || WEXITSTATUS(status) == ENODEV)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missed),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_overlay),
	};

	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
