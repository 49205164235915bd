/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the search in a sandboxed process (sandbox.h). That process has read an untrusted file, so
 * its whole answer is checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/outbuf.h"
#include "capture/probes/allocators.h"
#include "capture/probes/instruction.h"
#include "capture/sandbox/sandbox.h"

struct answer_head {
	uint32_t flags;
	uint32_t n; /* number of probes, which follow this head */
};

static int allocators_sandboxed_answer(const void *data, size_t n, struct outbuf *to)
{
	struct allocator_list list;
	struct answer_head head;
	int r = allocators_find_in(data, n, &list);

	if (r < 0)
		return r;
	head = (struct answer_head){ .flags = list.flags, .n = (uint32_t)list.n };
	outbuf_append(to, &head, sizeof(head));
	if (list.n > 0)
		outbuf_append(to, list.probes, list.n * sizeof(list.probes[0]));
	allocator_list_deinit(&list);
	return to->error;
}

static bool allocators_is_printable(const char *name)
{
	size_t n = strnlen(name, ALLOCATOR_NAME_MAX);

	for (size_t i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return n > 0 && n < ALLOCATOR_NAME_MAX;
}

bool allocator_list_is_valid(const struct allocator_list *l, uint64_t file_bytes)
{
	if (l->n > ALLOCATOR_PROBES_MAX || l->flags & ~ALLOCATORS_ALL)
		return false;
	for (size_t i = 0; i < l->n; i++) {
		const struct allocator_probe *p = &l->probes[i], *last = i > 0 ? p - 1 : NULL;

		if (p->offset >= file_bytes || p->function == 0 || p->function >= MEMORY_FN_MAX ||
		    p->kind >= _ALLOCATOR_PROBE_KINDS || !allocators_is_printable(p->name))
			return false;
		if (last && (last->offset > p->offset ||
			     (last->offset == p->offset && last->kind >= p->kind)))
			return false;
	}
	return true;
}

int allocators_find_sandboxed(int fd, uint64_t timeout_ns, struct allocator_list *ret)
{
	const size_t max =
		sizeof(struct answer_head) + ALLOCATOR_PROBES_MAX * sizeof(struct allocator_probe);
	struct outbuf answer = { .limit = max };
	struct allocator_list list = { 0 };
	struct answer_head head;
	struct statx st;
	int r;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE, &st) < 0)
		return -errno;
	r = disassembler_load()
		    ?: sandbox_run(fd, allocators_sandboxed_answer, timeout_ns, max, &answer);
	if (r == 0 && answer.size < sizeof(head))
		r = -EBADMSG;
	if (r == 0) {
		memcpy(&head, answer.data, sizeof(head));
		list.flags = head.flags;
		list.n = head.n;
		if (list.n > ALLOCATOR_PROBES_MAX ||
		    answer.size != sizeof(head) + list.n * sizeof(list.probes[0]))
			r = -EBADMSG;
	}
	if (r == 0 && list.n > 0) {
		list.probes = calloc(list.n, sizeof(list.probes[0]));
		if (!list.probes)
			r = -ENOMEM;
		else
			memcpy(list.probes, answer.data + sizeof(head),
			       list.n * sizeof(list.probes[0]));
	}
	outbuf_deinit(&answer);
	if (r == 0 && !allocator_list_is_valid(&list, st.stx_size))
		r = -EBADMSG;
	if (r < 0)
		allocator_list_deinit(&list);
	else
		*ret = list;
	return r;
}
