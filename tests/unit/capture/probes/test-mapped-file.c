/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mapped files are opened and closed, also if their file system does not answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/probes/mapped-file.h"
#include "capture/proc/reader-process.h"
#include "tests/support/fakes/mute-fuse.h"
#include "tests/support/unit.h"

enum { PAGE = 4096, PATH_BYTES = 64 };

static char directory[] = "/tmp/kymo-mapped-file.XXXXXX";
static struct local_devices local;

/* A mapping of this process. */
struct mapping {
	struct rec_mapping *rec;
	struct stat st;
};
static struct mapping mute, own;

static struct mapping map_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	/* (the path is that of no file) */
	struct mapping m = { .rec = calloc(1, sizeof(*m.rec) + PATH_BYTES) };

	assert_true(fd >= 0 && at != MAP_FAILED && m.rec);
	assert_int_equal(fstat(fd, &m.st), 0);
	m.rec->head.size = sizeof(*m.rec) + PATH_BYTES;
	m.rec->start = (uintptr_t)at;
	m.rec->bytes = PAGE;
	m.rec->device = (uint64_t)major(m.st.st_dev) << 20 | minor(m.st.st_dev);
	m.rec->inode = m.st.st_ino;
	return m;
}

static int open_file(const struct mapping *m, struct mapped_file *ret)
{
	int r = mapped_file_open(getpid(), m->rec, &local, ret);

	assert_true(r == 0 ? ret->fd >= 0 : ret->fd == -1);
	if (r == 0)
		assert_true(ret->st.st_dev == m->st.st_dev && ret->st.st_ino == m->st.st_ino);
	return r;
}

TEST(test_good)
{
	const struct mapping *files[] = { &own, &mute };
	struct mapped_file f;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		assert_int_equal(open_file(files[i], &f), 0);
		mapped_file_close(&f);
		assert_int_equal(f.fd, -1);
		mapped_file_close(&f);
	}
}

/* One that cannot be opened delays no others, and is not waited for again. */
TEST(test_mute_open)
{
	struct mapped_file f;

	mute_fuse_be_mute_to(getpid());
	assert_int_equal(open_file(&mute, &f), -ETIME);
	assert_int_equal(open_file(&mute, &f), -EBUSY);
	assert_int_equal(open_file(&own, &f), 0);
	mapped_file_close(&f);
	mute_fuse_be_mute_to(0);
	assert_soon(open_file(&mute, &f) == 0);
	mapped_file_close(&f);
}

TEST(test_mute_close)
{
	struct mapped_file f;

	assert_soon(open_file(&mute, &f) == 0);
	mute_fuse_be_mute_to(getpid());
	mapped_file_close(&f);
	assert_soon(mute_fuse_waiting() >= 1);
	mute_fuse_be_mute_to(0);
	assert_soon(open_file(&mute, &f) == 0);
	mapped_file_close(&f);
}

/*
 * A mapping of a local file that has gone, and whose path leads to another file system by now: this
 * is not waited for, and delays no other file.
 */
TEST(test_mute_path)
{
	struct mapping hidden = map_file("/proc/self/exe");
	struct mapped_file f;

	assert_int_equal(munmap((void *)(uintptr_t)hidden.rec->start, PAGE), 0);
	snprintf(hidden.rec->path, PATH_BYTES, "%s/%s", directory, MUTE_FUSE_FILE);
	assert_soon(open_file(&hidden, &f) == -ESTALE);
	mute_fuse_be_mute_to(getpid());
	assert_int_equal(open_file(&hidden, &f), -ETIME);
	assert_int_equal(open_file(&own, &f), 0);
	mapped_file_close(&f);
	mute_fuse_be_mute_to(0);
	assert_soon(open_file(&hidden, &f) == -ESTALE);
	free(hidden.rec);
}

/* Opens the file PATH, which an ended process had mapped where this one has mapped another. */
static int open_late(const char *path, uint64_t device, uint64_t inode)
{
	struct mapping late = { .rec = calloc(1, sizeof(*late.rec) + PATH_BYTES) };
	struct mapped_file f;
	struct stat st;
	int r;

	assert_non_null(late.rec);
	*late.rec = *own.rec;
	late.rec->device = device;
	late.rec->inode = inode;
	snprintf(late.rec->path, PATH_BYTES, "%s", path);
	r = mapped_file_open_by_path(late.rec, &local, &f);
	free(late.rec);
	assert_true(r == 0 ? f.fd >= 0 : f.fd == -1);
	if (r == 0) {
		assert_int_equal(fstat(f.fd, &st), 0);
		assert_int_equal(st.st_ino, inode);
	}
	mapped_file_close(&f);
	return r;
}

/* Records and files have different devices on file systems without a block device. */
TEST(test_by_path)
{
	enum { OTHER_DEVICE = 8 << 20 | 1 };
	char path[] = "/tmp/kymo-late-file.XXXXXX", anonymous[PATH_BYTES];
	_cleanup_close_ int fd = mkstemp(path);
	uint64_t device;
	struct stat st;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	assert_int_equal(open_late(path, device, st.st_ino), 0);
	assert_int_equal(open_late(path, device, st.st_ino + 1), -ESTALE);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_late(path, device, st.st_ino), -ENOENT);
	assert_int_equal(open_late(directory, device, 1), -ENOEXEC);

	snprintf(anonymous, sizeof(anonymous), "%s/%s", directory, MUTE_FUSE_FILE);
	assert_soon(open_late(anonymous, OTHER_DEVICE, mute.rec->inode) == 0);
	assert_int_equal(open_late(anonymous, OTHER_DEVICE, mute.rec->inode + 1), -ESTALE);
}

/*
 * A process ends although its request hangs, and nothing ends the request. (Threads of this process
 * would keep it from ending.)
 */
TEST(test_mute_exit)
{
	struct mapped_file f;
	siginfo_t info;
	pid_t pid;

	reader_process_end_idle();
	pid = fork();
	if (pid == 0) {
		mute_fuse_be_mute_to(getpid());
		_exit(mapped_file_open(getpid(), mute.rec, &local, &f) == -ETIME ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
	assert_int_equal(info.si_code, CLD_EXITED);
	assert_int_equal(info.si_status, 0);
	assert_true(mute_fuse_waiting() >= 1);
	mute_fuse_be_mute_to(0);
	assert_soon(mute_fuse_waiting() == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),       cmocka_unit_test(test_mute_open),
		cmocka_unit_test(test_mute_close), cmocka_unit_test(test_mute_path),
		cmocka_unit_test(test_by_path),    cmocka_unit_test(test_mute_exit),
	};
	char path[sizeof(directory) + sizeof(MUTE_FUSE_FILE)];
	int r = mkdtemp(directory) ? mute_fuse_mount(directory, 0) : -errno;

	if (r < 0) {
		rmdir(directory);
		fprintf(stderr, "cannot mount a file system: %s\n", strerror(-r));
		return 77;
	}
	snprintf(path, sizeof(path), "%s/%s", directory, MUTE_FUSE_FILE);
	mute = map_file(path);
	own = map_file("/proc/self/exe");
	r = cmocka_run_group_tests(tests, NULL, NULL);
	mute_fuse_be_mute_to(0);
	umount2(directory, MNT_DETACH);
	rmdir(directory);
	return r;
}
