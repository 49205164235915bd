/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/fakes/mute-fuse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/fuse.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	NODE_FILE = 2,
	REQUEST_BYTES = 1 << 20,
	WRITE_BYTES = 4096,
	WAITING_MAX = 256,
	POLL_MS = 20,
	GENERATIONS = 2 /* children and grandchildren */
};

/* The parts of a request that an answer needs. */
struct request {
	struct fuse_in_header head;
	char body[128];
};

/*
 * Shared by the test and the serving process. Serving needs a separate process: a process that
 * serves a file system and has its files open cannot even be killed.
 */
static struct shared {
	atomic_int mute_to;
	atomic_bool mute_pages; /* pages are neither read nor written */
	atomic_uint n_waiting;
} * shared;

/* of the serving process */
static int device = -1;
static struct request waiting[WAITING_MAX];

static void answer(const struct request *q, int error, const void *data, size_t size)
{
	struct fuse_out_header head = { (uint32_t)(sizeof(head) + size), -error, q->head.unique };
	const struct iovec parts[] = { { &head, sizeof(head) }, { (void *)(uintptr_t)data, size } };

	/* (the process may have been killed meanwhile) */
	if (writev(device, parts, size ? 2 : 1) < 0)
		return;
}

static struct fuse_attr attributes_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.mode = node == NODE_FILE ? S_IFREG | 0666 : S_IFDIR | 0777,
		.nlink = 1,
		.size = node == NODE_FILE ? MUTE_FUSE_BYTES : 0,
		.blksize = 4096,
	};
}

static void answer_init(const struct request *q)
{
	const struct fuse_init_in *in = (const void *)q->body;
	const struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = in->minor < FUSE_KERNEL_MINOR_VERSION ? in->minor
							       : FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = in->max_readahead,
		.max_background = 16,
		.congestion_threshold = 12,
		.max_write = WRITE_BYTES,
		.flags = in->flags & FUSE_WRITEBACK_CACHE,
	};

	answer(q, 0, &out, sizeof(out));
}

static void answer_lookup(const struct request *q)
{
	const struct fuse_entry_out out = { .nodeid = NODE_FILE, .attr = attributes_of(NODE_FILE) };

	if (strncmp(q->body, MUTE_FUSE_FILE, sizeof(q->body)) == 0)
		answer(q, 0, &out, sizeof(out));
	else
		answer(q, ENOENT, NULL, 0);
}

static void answer_one(const struct request *q)
{
	static const char zeros[MUTE_FUSE_BYTES];
	const struct fuse_attr_out attr = { .attr = attributes_of(q->head.nodeid) };
	const struct fuse_write_in *write_in = (const void *)q->body;
	const struct fuse_open_out opened = { .fh = 1 };
	const struct fuse_statfs_out fs = { .st = { .bsize = 4096, .namelen = 255 } };
	const struct fuse_write_out written = { .size = write_in->size };

	switch (q->head.opcode) {
	case FUSE_INIT:
		answer_init(q);
		break;
	case FUSE_LOOKUP:
		answer_lookup(q);
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		answer(q, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(q, 0, &opened, sizeof(opened));
		break;
	case FUSE_STATFS:
		answer(q, 0, &fs, sizeof(fs));
		break;
	case FUSE_READ:
		answer(q, 0, zeros, sizeof(zeros));
		break;
	case FUSE_WRITE:
		answer(q, 0, &written, sizeof(written));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FSYNC:
		answer(q, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* needs no answer */
	default:
		answer(q, ENOSYS, NULL, 0);
	}
}

/* Reads `status`, since reading `stat` would wait for an exec() that waits for this process. */
static int parent_of(uint32_t tid)
{
	char text[64];
	int parent = 0;
	FILE *f;

	snprintf(text, sizeof(text), "/proc/%u/status", tid);
	f = fopen(text, "re");
	if (!f)
		return 0;
	while (fgets(text, sizeof(text), f) && sscanf(text, "PPid: %d", &parent) != 1)
		;
	fclose(f);
	return parent;
}

/* True if TID is a helper of kymod, by its name: the helper's parents may have ended. */
static bool is_helper(uint32_t tid)
{
	char text[64] = "";
	FILE *f;

	snprintf(text, sizeof(text), "/proc/%u/comm", tid);
	f = fopen(text, "re");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return strncmp(text, "kymod-", strlen("kymod-")) == 0;
}

/* True if the requests of thread TID get no answer. */
static bool is_mute_to(uint32_t tid)
{
	int pid = shared->mute_to;
	char path[64];

	if (pid == 0 || tid == 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%u", pid, tid);
	if (access(path, F_OK) == 0 || is_helper(tid))
		return true;
	for (int level = 0; level < GENERATIONS && tid != 0; level++) {
		tid = (uint32_t)parent_of(tid);
		if ((int)tid == pid)
			return true;
	}
	return false;
}

/* (the kernel writes dirty pages without a process) */
static bool is_mute_page(const struct request *q)
{
	return shared->mute_pages && (q->head.opcode == FUSE_READ || q->head.opcode == FUSE_WRITE);
}

static void take_request(void)
{
	static char request[REQUEST_BYTES];
	ssize_t n = read(device, request, sizeof(request));
	struct request q = { 0 };

	if (n < 0 && errno == ENODEV)
		_exit(0); /* no process uses it any more */
	if (n < (ssize_t)sizeof(q.head))
		return;
	memcpy(&q, request, (size_t)n < sizeof(q) ? (size_t)n : sizeof(q));
	if ((is_mute_to(q.head.pid) || is_mute_page(&q)) && shared->n_waiting < WAITING_MAX)
		waiting[shared->n_waiting++] = q;
	else
		answer_one(&q);
}

static void serve(void)
{
	struct pollfd fd = { device, POLLIN, 0 };

	for (;;) {
		if (poll(&fd, 1, POLL_MS) > 0)
			take_request();
		while (shared->mute_to == 0 && !shared->mute_pages && shared->n_waiting > 0)
			answer_one(&waiting[--shared->n_waiting]);
	}
}

int mute_fuse_mount(const char *directory, uid_t owner)
{
	char options[128];
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (shared == MAP_FAILED || device < 0)
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u%s", device,
		 owner, owner, owner == 0 ? ",allow_other" : "");
	if (unshare(CLONE_NEWNS) < 0 || mount("", "/", "", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("mute", directory, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve();
	}
	close(device);
	return 0;
}

int mute_fuse_open(void)
{
	char directory[] = "/tmp/kymo-mute.XXXXXX",
	     path[sizeof(directory) + sizeof(MUTE_FUSE_FILE)];
	int fd = -1, r = mkdtemp(directory) ? mute_fuse_mount(directory, 0) : -errno;

	snprintf(path, sizeof(path), "%s/%s", directory, MUTE_FUSE_FILE);
	if (r == 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		r = fd < 0 ? -errno : 0;
		/* (the open file keeps the file system) */
		umount2(directory, MNT_DETACH);
	}
	rmdir(directory);
	if (r < 0)
		fprintf(stderr, "cannot mount a file system: %s\n", strerror(-r));
	return r < 0 ? r : fd;
}

void mute_fuse_be_mute_to(pid_t pid)
{
	shared->mute_to = pid;
}

void mute_fuse_keep_pages(bool keep)
{
	shared->mute_pages = keep;
}

unsigned mute_fuse_waiting(void)
{
	return shared->n_waiting;
}
