/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check runs in a child process, because each of its reads can take forever: of the list of
 * mappings, while another thread of the process has the lock of its address space; of the code and
 * of the file, if a page has to come from a FUSE server. Then even SIGKILL may not end the child.
 */
#include "capture/heap/probe-holder.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/proc/mappings.h"
#include "capture/sandbox/after-fork.h"
#include "capture/sandbox/child-end.h"
#include "capture/sandbox/clean-fd-table.h"
#include "capture/sandbox/sandbox.h"

/* The time for the check of a file in a process. */
#define CHECK_NS UINT64_C(5000000000)

/* The number of bytes of an instruction that a breakpoint certainly changes. */
#if defined(__x86_64__)
enum { CHANGED_BYTES = 1 };
#else
enum { CHANGED_BYTES = 4 };
#endif

struct missing {
	pid_t task;
	const struct allocator_file *file;
	const uint8_t *content; /* of the file */
	size_t n_bytes;
	const struct allocator_probe *probes;
	size_t n;
	bool any;
};

/* ---- the child ---- */

/* Returns true if the code at ADDRESS of the process equals that at OFFSET of the file. */
static bool probe_holder_is_unchanged(const struct missing *m, uint64_t address, uint64_t offset)
{
	uint8_t is[CHANGED_BYTES];
	const struct iovec to = { is, sizeof(is) };
	const struct iovec from = { (void *)(uintptr_t)address, sizeof(is) };

	return offset < m->n_bytes && m->n_bytes - offset >= sizeof(is) &&
	       process_vm_readv(m->task, &to, 1, &from, 1, 0) == sizeof(is) &&
	       memcmp(is, m->content + offset, sizeof(is)) == 0;
}

static int probe_holder_check_code(const struct rec_mapping *rec, void *userdata)
{
	struct missing *m = userdata;

	if (rec->inode != m->file->mapped_inode || rec->device != m->file->mapped_device)
		return 0;
	for (size_t i = 0; i < m->n && !m->any; i++) {
		uint64_t offset = m->probes[i].offset, in = offset - rec->file_offset;

		m->any = offset >= rec->file_offset && in < rec->bytes &&
			 probe_holder_is_unchanged(m, rec->start + in, offset);
	}
	return 0;
}

/*
 * Does not return. Closes all descriptors, since a child that hangs must keep neither pipes nor
 * rings of this process open.
 */
static void probe_holder_run_child(struct missing *m)
{
	int r = after_fork_unmap_shared();

	if (r < 0 || close_range(0, ~0U, 0) < 0)
		_exit(1);
	mappings_of_process("", (uint32_t)m->task, probe_holder_check_code, m);
	_exit(m->any);
}

/* ---- the parent ---- */

/* Returns 0 if nothing is missing, 1 if something is or may be, or a negative errno. */
static int probe_holder_fork_child(void *userdata)
{
	pid_t pid = fork();
	int status = -1;

	if (pid < 0)
		return -errno;
	if (pid == 0)
		probe_holder_run_child(userdata);
	if (!child_end_wait(pid, CHECK_NS, &status)) {
		child_end_kill(pid, 0);
		return -ETIME;
	}
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

bool probe_holder_misses(pid_t task, const struct allocator_file *file,
			 const struct allocator_probe *probes, size_t n)
{
	struct missing m = { .task = task, .file = file, .probes = probes, .n = n };
	void *content = NULL;
	int r = sandbox_map_file(file->fd, &content, &m.n_bytes);

	m.content = content;
	r = r ?: clean_fd_table_run(probe_holder_fork_child, &m);
	munmap(content, m.n_bytes);
	return r != 0;
}
