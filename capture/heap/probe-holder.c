/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/probe-holder.h"

#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/proc/mappings.h"

/* The number of bytes of an instruction that a breakpoint certainly changes. */
#if defined(__x86_64__)
enum { CHANGED_BYTES = 1 };
#else
enum { CHANGED_BYTES = 4 };
#endif

struct missing {
	pid_t task;
	const struct allocator_file *file;
	const struct allocator_probe *probes;
	size_t n;
	bool any;
};

/* Returns true if the code at ADDRESS of the process equals that at OFFSET of the file. */
static bool probe_holder_is_unchanged(const struct missing *m, uint64_t address, uint64_t offset)
{
	uint8_t is[CHANGED_BYTES], was[CHANGED_BYTES];
	const struct iovec to = { is, sizeof(is) };
	const struct iovec from = { (void *)(uintptr_t)address, sizeof(is) };

	return process_vm_readv(m->task, &to, 1, &from, 1, 0) == sizeof(is) &&
	       pread(m->file->fd, was, sizeof(was), (off_t)offset) == sizeof(was) &&
	       memcmp(is, was, sizeof(is)) == 0;
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

bool probe_holder_misses(pid_t task, const struct allocator_file *file,
			 const struct allocator_probe *probes, size_t n)
{
	struct missing m = { .task = task, .file = file, .probes = probes, .n = n };

	mappings_of_process("", (uint32_t)task, probe_holder_check_code, &m);
	return m.any;
}
