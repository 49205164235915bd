/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/probe-removals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/table.h"

/* The content of a slot; all zero if nothing was removed yet. */
struct removals_slot {
	/* All removals until now have begun and ended before this time, CLOCK_BOOTTIME. */
	uint64_t until_ns;
	uint64_t check; /* ~until_ns */
};

#define FILE_BYTES ((off_t)(PROBE_REMOVALS_SLOTS * sizeof(struct removals_slot)))

/* How far a noted time is in the future at first. */
#define MARGIN_NS UINT64_C(1000000)

struct probe_removals {
	int fd;
	bool begun[PROBE_REMOVALS_SLOTS];
};

static const char *probe_removals_parent = DIRECTORY_MACHINE;

void probe_removals_set_parent(const char *parent)
{
	probe_removals_parent = parent;
}

/* Returns a descriptor of the file, whose space is allocated, or a negative errno. */
static int probe_removals_open_file(void)
{
	_cleanup_close_ int dir_fd = directory_open_below(probe_removals_parent, "probes");
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (dir_fd < 0)
		return dir_fd;
	fd = openat(dir_fd, "removals", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		    0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return -EPERM;
	/* The space is allocated now, so that removals can be noted when the disk is full. */
	if (fallocate(fd, 0, 0, FILE_BYTES) < 0 &&
	    (errno != EOPNOTSUPP || ftruncate(fd, FILE_BYTES) < 0))
		return -errno;
	return TAKE_FD(fd);
}

/*
 * At the end of a process, the kernel closes the lowest descriptor last. The lock of a removal must
 * exist until the probes are closed.
 */
static int probe_removals_lower(int fd)
{
	int low = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (low < 0 || low > fd) {
		close_fd(low);
		return fd;
	}
	close(fd);
	return low;
}

int probe_removals_open(struct probe_removals **ret)
{
	struct probe_removals *r;
	int fd = probe_removals_lower(probe_removals_open_file());

	if (fd < 0)
		return fd;
	r = calloc(1, sizeof(*r));
	if (!r) {
		close(fd);
		return -ENOMEM;
	}
	r->fd = fd;
	*ret = r;
	return 0;
}

struct probe_removals *probe_removals_free(struct probe_removals *r)
{
	if (!r)
		return NULL;
	close(r->fd);
	return free_ptr(r);
}

unsigned probe_removals_slot(int fd)
{
	struct statx st;
	uint64_t size;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE, &st) < 0)
		return 0;
	size = st.stx_size;
	return (unsigned)(table_hash(&size, sizeof(size)) % PROBE_REMOVALS_SLOTS);
}

/*
 * Notes that removals of SLOT have begun or ended until now. Returns false if this is impossible.
 *
 * Another remover can write its time after this one has read the clock, and this note then replaces
 * the note of that remover. So this note has a time in the future, and is repeated if the time is
 * already past when the note is written. Since a replaced note was written earlier, the time in
 * this note is late enough for both removers.
 */
static bool probe_removals_note_now(const struct probe_removals *r, unsigned slot)
{
	for (uint64_t margin_ns = MARGIN_NS;; margin_ns *= 2) {
		uint64_t until_ns = clock_boot_ns() + margin_ns;
		const struct removals_slot note = { until_ns, ~until_ns };

		if (pwrite(r->fd, &note, sizeof(note), (off_t)(slot * sizeof(note))) !=
		    sizeof(note))
			return false;
		if (clock_boot_ns() <= until_ns)
			return true;
	}
}

void probe_removals_begin(struct probe_removals *r, unsigned slot)
{
	struct flock lock = {
		.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1
	};

	if (!r || r->begun[slot])
		return;
	/* (if there is no memory for the lock, the noted times suffice) */
	fcntl(r->fd, F_OFD_SETLK, &lock);
	r->begun[slot] = true;
	probe_removals_note_now(r, slot);
}

void probe_removals_end(struct probe_removals *r)
{
	struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
	bool noted = true;

	if (!r)
		return;
	/*
	 * The times are noted before the locks are released, so that a reader sees a lock or a
	 * time.
	 */
	for (unsigned i = 0; i < PROBE_REMOVALS_SLOTS; i++)
		if (r->begun[i])
			noted &= probe_removals_note_now(r, i);
	memset(r->begun, 0, sizeof(r->begun));
	/* (if a time could not be noted, the locks stay, so that the removals are known) */
	if (noted)
		fcntl(r->fd, F_OFD_SETLK, &all);
}

/* Returns true if a lock of SLOT exists, or if this is unknown. */
static bool probe_removals_is_locked(const struct probe_removals *r, unsigned slot)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1
	};

	/* (this only asks which lock would be in the way) */
	return fcntl(r->fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

bool probe_removals_since(const struct probe_removals *r, unsigned slot, uint64_t since_ns)
{
	struct removals_slot note;
	struct stat st;

	if (!r || fstat(r->fd, &st) < 0 || st.st_nlink == 0)
		return true;
	/* The lock comes first, because a remover notes the end before it releases the lock. */
	if (probe_removals_is_locked(r, slot) ||
	    pread(r->fd, &note, sizeof(note), (off_t)(slot * sizeof(note))) != sizeof(note))
		return true;
	if (note.until_ns == 0 && note.check == 0)
		return false;
	/* (a note that is just being written can have been read in part) */
	return note.check != ~note.until_ns || note.until_ns >= since_ns;
}
