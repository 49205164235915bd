/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether code of this process has breakpoints: it is what its file has, or not.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/heap/probe-holder.h"
#include "capture/proc/mappings.h"
#include "capture/sandbox/child-end.h"
#include "tests/support/fakes/mute-fuse.h"
#include "tests/support/unit.h"

enum { PAGE = 4096 };

/* Never called. */
__attribute__((noinline, used, aligned(64))) static int target(int a)
{
	return a * a + 1;
}

struct place {
	uint64_t offset, device, inode;
};

static int find_place(const struct rec_mapping *rec, void *userdata)
{
	uint64_t address = (uint64_t)(uintptr_t)target;
	struct place *place = userdata;

	if (address >= rec->start && address - rec->start < rec->bytes)
		*place = (struct place){ address - rec->start + rec->file_offset, rec->device,
					 rec->inode };
	return 0;
}

/* A byte of the function changes, as by a breakpoint. */
static void change_target(void)
{
	uint8_t *code = (uint8_t *)(uintptr_t)target;
	void *page = (void *)((uintptr_t)code & ~(uintptr_t)(PAGE - 1));

	assert_int_equal(mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	*code ^= 0xff;
	assert_int_equal(mprotect(page, 2 * PAGE, PROT_READ | PROT_EXEC), 0);
}

TEST(test_misses)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct allocator_file file = { .fd = fd, .path = "" };
	struct allocator_probe probes[2] = { { 0 } };
	struct place place = { 0 };

	mappings_of_process("", (uint32_t)getpid(), find_place, &place);
	assert_true(place.offset > 0);
	file.mapped_device = place.device;
	file.mapped_inode = place.inode;
	probes[0].offset = place.offset;
	probes[1].offset = place.offset + 16;
	assert_true(probe_holder_misses(getpid(), &file, probes, 2));
	change_target();
	assert_false(probe_holder_misses(getpid(), &file, probes, 1));
	assert_true(probe_holder_misses(getpid(), &file, probes, 2));
	/* Of a file that the process does not run, nothing is missing; nor of one that is gone. */
	file.mapped_inode++;
	assert_false(probe_holder_misses(getpid(), &file, probes, 2));
	file.mapped_inode--;
	file.mapped_device++;
	assert_false(probe_holder_misses(getpid(), &file, probes, 2));
	file.mapped_device--;
	assert_false(probe_holder_misses(0x3fffffff, &file, probes, 2));
}

/* ---- a file whose device is another one for stat() than in the list of mappings ---- */

static char dir[] = "/tmp/kymo-test-holder.XXXXXX";

/* Mounts an overlay with layers on two file systems. False if that is not possible here. */
static bool mount_overlay(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", dir, "tmpfs", 0, NULL) < 0)
		return false;
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("lower", 0700) | mkdir("second", 0700) | mkdir("all", 0700), 0);
	assert_int_equal(mount("none", "second", "tmpfs", 0, NULL), 0);
	assert_int_equal(mkdir("second/upper", 0700) | mkdir("second/work", 0700), 0);
	return mount("none", "all", "overlay", 0,
		     "lowerdir=lower,upperdir=second/upper,workdir=second/work,xino=off") == 0;
}

static void write_code(const char *path)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	uint8_t code[PAGE];

	memset(code, 0x90, sizeof(code));
	assert_int_equal(write(fd, code, sizeof(code)), sizeof(code));
}

static int look_at_overlay(const struct allocator_file *file, void *userdata)
{
	const struct allocator_probe probe = { .offset = 16 };
	size_t n = strlen(file->path);
	int *n_missed = userdata;

	if (n > 9 && strcmp(file->path + n - 9, "/all/code") == 0)
		*n_missed += probe_holder_misses(getpid(), file, &probe, 1);
	return 0;
}

TEST(test_overlay)
{
	_cleanup_close_ int fd = -1;
	int n_missed = 0;

	if (geteuid() != 0 || !mount_overlay()) {
		print_message("skip: no overlayfs: %s\n", strerror(errno));
		skip();
	}
	write_code("lower/code");
	fd = open("all/code", O_RDONLY | O_CLOEXEC);
	assert_ptr_not_equal(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0),
			     MAP_FAILED);
	assert_int_equal(allocators_of_process(getpid(), NULL, look_at_overlay, &n_missed), 0);
	assert_int_equal(n_missed, 1);
}

/* ---- a file whose file system does not answer ---- */

/* Maps the file as code, and fills in FILE. Its page is never read here. False if that is not
 * possible. */
static bool map_mute(struct allocator_file *file)
{
	struct stat st;

	file->fd = mute_fuse_open();
	if (file->fd < 0)
		return false;
	assert_int_equal(fstat(file->fd, &st), 0);
	file->mapped_device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	file->mapped_inode = st.st_ino;
	assert_ptr_not_equal(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file->fd, 0),
			     MAP_FAILED);
	return true;
}

/* It is unknown whether breakpoints are missing, so they may be. The check itself ends. */
TEST(test_mute)
{
	const struct allocator_probe probe = { .offset = 16 };
	struct allocator_file file = { .path = "" };

	if (geteuid() != 0 || !map_mute(&file))
		skip();
	mute_fuse_keep_pages(true);
	/* (on a busy machine, the time can be over before the file system is asked) */
	assert_soon(probe_holder_misses(getpid(), &file, &probe, 1) && mute_fuse_waiting() >= 1);
	mute_fuse_keep_pages(false);
	assert_soon(child_end_n_left() == 0);
	close(file.fd);
}

/* (the check reads this process from a child, which Yama can forbid) */
FIXTURE(set_up)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	return mkdtemp(dir) ? 0 : -1;
}

/* (the mounts are of this process alone, and end with it) */
FIXTURE(tear_down)
{
	if (chdir("/") == 0)
		umount2(dir, MNT_DETACH);
	rmdir(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_misses),
		cmocka_unit_test(test_mute),
		cmocka_unit_test(test_overlay),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
