/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/decode.h"

#include <string.h>

static bool ends(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

static bool identity_ends(const struct rec_identity *id)
{
	return ends(id->comm, sizeof(id->comm));
}

const struct rec_head *decode_record(const void *data, size_t size)
{
	static const size_t sizes[] = {
		[REC_FORK] = sizeof(struct rec_fork), [REC_EXEC] = sizeof(struct rec_exec),
		[REC_EXIT] = sizeof(struct rec_exit), [REC_RENAME] = sizeof(struct rec_rename),
		[REC_LOST] = sizeof(struct rec_lost), [REC_TASK] = sizeof(struct rec_task),
	};
	const struct rec_head *head = data;

	if (size < sizeof(*head) || head->kind >= sizeof(sizes) / sizeof(sizes[0]) ||
	    sizes[head->kind] == 0 || head->size != sizes[head->kind] || size < head->size)
		return NULL;
	switch (head->kind) {
	case REC_FORK:
		return identity_ends(&((const struct rec_fork *)data)->child) ? head : NULL;
	case REC_TASK:
		return identity_ends(&((const struct rec_task *)data)->task) ? head : NULL;
	case REC_EXIT:
		return identity_ends(&((const struct rec_exit *)data)->task) ? head : NULL;
	case REC_RENAME: {
		const struct rec_rename *rec = data;

		return identity_ends(&rec->task) && ends(rec->comm, sizeof(rec->comm)) ? head
										       : NULL;
	}
	case REC_EXEC: {
		const struct rec_exec *rec = data;

		return identity_ends(&rec->task) && ends(rec->file, sizeof(rec->file)) &&
				       rec->args_bytes <= sizeof(rec->args)
			       ? head
			       : NULL;
	}
	default:
		return head;
	}
}

unsigned decode_ring_words(const uint64_t *words, size_t n_words, unsigned cpu)
{
	unsigned n = (unsigned)fxt_get_record_words(words[0]);
	bool ours;

	if (n > n_words)
		return 0;
	switch (fxt_get_record_type(words[0])) {
	case FXT_RECORD_SCHEDULING:
		if (fxt_get_sched_type(words[0]) == FXT_SCHED_SWITCH)
			ours = (n == 6 || n == 7) && fxt_get_sched_cpu(words[0]) == cpu;
		else
			ours = fxt_get_sched_type(words[0]) == FXT_SCHED_WAKEUP &&
			       (n == 4 || n == 6) && (uint32_t)words[WAKEUP_TID] != 0;
		break;
	case FXT_RECORD_EVENT:
		ours = n == 6 && fxt_get_event_thread(words[0]) == 0;
		break;
	case RING_RECORD_CONTROL:
		ours = n == sizeof(struct ring_lost) / sizeof(uint64_t);
		break;
	default:
		ours = false;
	}
	return ours ? n : 0;
}
