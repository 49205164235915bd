/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/collector-parts.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "capture/proc/machine.h"
#include "capture/programs/decode.h"
#include "capture/programs/program-iterator.h"

/* Returns true if the N bytes at DATA begin with a whole record. */
static bool collector_has_record(const void *data, size_t n)
{
	const struct rec_head *head = data;

	return n >= sizeof(*head) && n >= head->size;
}

/* The size of the kernel's buffer for an iterator. The buffer contains only whole records. */
#define ITERATOR_BYTES (32 << 10)
_Static_assert(sizeof(struct waiting_room) < ITERATOR_BYTES, "the largest record");

/*
 * Passes all records of ITERATOR, which is a descriptor or a negative errno, to FN. Closes the
 * descriptor.
 */
static int collector_iterate_fd(int iterator, collector_record_fn fn, void *userdata)
{
	_Alignas(8) uint8_t buffer[ITERATOR_BYTES];
	_cleanup_close_ int fd = iterator;
	size_t have = 0, used;
	ssize_t n;
	int r = 0;

	if (fd < 0)
		return fd;
	while (r >= 0 &&
	       (n = program_iterator_read(fd, buffer + have, sizeof(buffer) - have)) > 0) {
		have += (size_t)n;
		for (used = 0; r >= 0 && collector_has_record(buffer + used, have - used);) {
			const struct rec_head *rec = decode_record(buffer + used, have - used);

			if (!rec)
				return -EBADMSG;
			r = fn(rec, userdata);
			used += rec->size;
		}
		have -= used;
		memmove(buffer, buffer + used, have);
	}
	if (r < 0)
		return r;
	return n < 0 ? (int)n : 0;
}

int collector_iterate(struct bpf_program *prog, collector_record_fn fn, void *userdata)
{
	return collector_iterate_fd(program_iterator_open(prog), fn, userdata);
}

/*
 * Finds where the kernel maps all physical memory. If this address is not found, the stacks and
 * locks of waiting threads are unknown.
 */
static void collector_find_memory(struct collector *c)
{
	_Alignas(PRESENT_KNOWN_BYTES) uint8_t bytes[PRESENT_KNOWN_BYTES];
	bool is_accepted;
	struct present_known known = {
		.address = (uintptr_t)bytes,
		.memory_end = machine_memory_end("/proc/zoneinfo", &is_accepted),
		.can_search = is_accepted,
	};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &known, .ctx_size_in = sizeof(known));
	int fd = bpf_program__fd(c->skel->progs.on_find_present_pages);

	/* (the kernel can move the page meanwhile) */
	for (unsigned i = 0; i < 3 && fd >= 0 && c->skel->bss->present_pages_base == 0; i++)
		if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) == sizeof(bytes))
			bpf_prog_test_run_opts(fd, &opts);
}

int collector_list_waiting(struct collector *c, collector_record_fn fn, void *userdata)
{
	if (!c->skel->links.on_offcpu_switch)
		return 0;
	collector_find_memory(c);
	c->skel->bss->waiting_n_copied = 0;
	c->skel->bss->waiting_listed_ns = clock_boot_ns();
	return collector_iterate(c->skel->progs.on_iter_waiting, fn, userdata);
}

int collector_list_tasks(struct collector *c, collector_record_fn fn, void *userdata)
{
	return collector_iterate(c->skel->progs.on_iter_task, fn, userdata);
}

int collector_list_process(struct collector *c, uint32_t pid, collector_record_fn fn,
			   void *userdata)
{
	struct bpf_program *prog = c->skel->progs.on_iter_task;

	return collector_iterate_fd(program_iterator_open_process(prog, pid), fn, userdata);
}

int collector_list_cgroups(struct collector *c, collector_record_fn fn, void *userdata)
{
	return collector_iterate(c->skel->progs.on_iter_cgroups, fn, userdata);
}

int collector_list_registers(struct collector *c, uint32_t pid, collector_record_fn fn,
			     void *userdata)
{
	c->skel->bss->reach_pid = pid;
	return collector_iterate(c->skel->progs.on_iter_registers, fn, userdata);
}

int collector_registers_fd(const struct collector *c)
{
	return bpf_program__fd(c->skel->progs.on_iter_registers);
}
