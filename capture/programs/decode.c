/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/decode.h"

#include <string.h>

#include "base/cleanup.h"
#include "writer/fxt/fxt-names.h"

static bool decode_ends(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

static bool identity_ends(const struct rec_identity *id)
{
	return decode_ends(id->comm, sizeof(id->comm));
}

static bool decode_texts_fit(const struct call_text *texts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (texts[i].bytes > CALL_TEXT_BYTES)
			return false;
	return true;
}

/* Whether the N bytes at DATA are whole blocks. */
static bool moment_blocks_fit(const uint8_t *data, uint32_t n)
{
	struct moment_block block;

	for (uint32_t at = 0; at < n; at += (uint32_t)sizeof(block) + MOMENT_ROUND(block.bytes)) {
		if (n - at < sizeof(block))
			return false;
		memcpy(&block, data + at, sizeof(block));
		if (block.load >= MOMENT_LOADS_MAX + MOMENT_TSVS_MAX ||
		    block.bytes > MOMENT_BLOCK_BYTES_MAX ||
		    MOMENT_ROUND(block.bytes) > n - at - sizeof(block))
			return false;
	}
	return true;
}

/* Whether a record of calls or moments makes sense. */
static bool decode_call_is_valid(const struct rec_head *head)
{
	const void *data = head;

	switch (head->kind) {
	case REC_CALL: {
		const struct rec_call *rec = data;

		return rec->function < CALL_FUNCTIONS_MAX && rec->n_texts <= CALL_TEXTS_MAX &&
		       head->size == REC_CALL_BYTES(rec->n_texts) &&
		       decode_texts_fit(rec->texts, rec->n_texts);
	}
	case REC_CALL_END: {
		const struct rec_call_end *rec = data;

		return rec->function < CALL_FUNCTIONS_MAX && rec->n_texts <= CALL_TEXTS_MAX &&
		       head->size == REC_CALL_END_BYTES(rec->n_texts) &&
		       decode_texts_fit(rec->texts, rec->n_texts);
	}
	case REC_MOMENT: {
		const struct rec_moment *rec = data;

		return rec->point < MOMENT_POINTS_MAX && rec->bytes <= sizeof(rec->data) &&
		       head->size == REC_MOMENT_BYTES(rec->bytes) &&
		       moment_blocks_fit(rec->data, rec->bytes);
	}
	default:
		return false;
	}
}

/* Whether what the record has in it, which is of the right size, makes sense. */
static bool record_is_valid(const struct rec_head *head)
{
	const void *data = head;

	switch (head->kind) {
	case REC_FORK:
		return identity_ends(&((const struct rec_fork *)data)->child);
	case REC_TASK:
		return identity_ends(&((const struct rec_task *)data)->task);
	case REC_EXIT:
		return identity_ends(&((const struct rec_exit *)data)->task);
	case REC_RENAME: {
		const struct rec_rename *rec = data;

		return identity_ends(&rec->task) && decode_ends(rec->comm, sizeof(rec->comm));
	}
	case REC_EXEC: {
		const struct rec_exec *rec = data;

		return identity_ends(&rec->task) && decode_ends(rec->file, sizeof(rec->file)) &&
		       rec->args_bytes <= sizeof(rec->args);
	}
	case REC_WORK:
		return ((const struct rec_work *)data)->begin_ns <= head->ts_ns;
	case REC_FUNCTION: {
		const struct rec_function *rec = data;

		return decode_ends(rec->name, sizeof(rec->name));
	}
	case REC_STACK:
		return head->size > REC_STACK_BYTES(0) && head->size % sizeof(uint64_t) == 0 &&
		       ((const struct rec_stack *)data)->id != 0;
	case REC_PIECE: {
		const struct rec_piece *rec = data;

		return rec->n_frames > 0 && rec->n_frames <= STACK_FRAMES_MAX && rec->id != 0 &&
		       rec->n_room <= PIECE_BYTES_MAX && rec->n_bytes <= rec->n_room &&
		       head->size == sizeof(*rec) + rec->n_room &&
		       rec->process.n <= UNWIND_MAPPINGS_MAX;
	}
	case REC_NAMED: {
		const struct rec_named *rec = data;

		return rec->n_frames > 0 && rec->n_frames <= MEMORY_FRAMES_MAX && rec->id != 0;
	}
	case REC_REGISTERS:
		return ((const struct rec_registers *)data)->n <= REC_REGISTERS_MAX;
	case REC_ALLOC:
		return ((const struct rec_alloc *)data)->resource < RESOURCE_MAX;
	case REC_FREE:
		return ((const struct rec_free *)data)->resource < RESOURCE_MAX;
	case REC_RESOURCE: {
		const struct rec_resource *rec = data;

		return decode_ends(rec->text, sizeof(rec->text));
	}
	case REC_OFFCPU: {
		const struct rec_offcpu *rec = data;

		return rec->begin_ns <= head->ts_ns && strchr("RSDTtPIX", (int)rec->state & 0x7f) &&
		       rec->state > 0 && rec->state < 0x80;
	}
	case REC_CALL:
	case REC_CALL_END:
	case REC_MOMENT:
		return decode_call_is_valid(head);
	case REC_LOST:
		return ((const struct rec_lost *)data)->ring < REC_RINGS;
	default:
		return true;
	}
}

const struct rec_head *decode_record(const void *data, size_t size)
{
	static const size_t sizes[] = {
		[REC_FORK] = sizeof(struct rec_fork),
		[REC_EXEC] = sizeof(struct rec_exec),
		[REC_EXIT] = sizeof(struct rec_exit),
		[REC_RENAME] = sizeof(struct rec_rename),
		[REC_LOST] = sizeof(struct rec_lost),
		[REC_TASK] = sizeof(struct rec_task),
		[REC_WORK] = sizeof(struct rec_work),
		[REC_FUNCTION] = sizeof(struct rec_function),
		[REC_FREQUENCY] = sizeof(struct rec_frequency),
		[REC_STACK] = sizeof(struct rec_stack),                   /* at most */
		[REC_PIECE] = sizeof(struct rec_piece) + PIECE_BYTES_MAX, /* likewise */
		[REC_SAMPLE] = sizeof(struct rec_sample),
		[REC_OFFCPU] = sizeof(struct rec_offcpu),
		[REC_CPU_GONE] = sizeof(struct rec_cpu_gone),
		[REC_ALLOC] = sizeof(struct rec_alloc),
		[REC_FREE] = sizeof(struct rec_free),
		[REC_NAMED] = sizeof(struct rec_named),
		[REC_RESOURCE] = sizeof(struct rec_resource),
		[REC_REGISTERS] = sizeof(struct rec_registers),
		[REC_CALL] = sizeof(struct rec_call),         /* at most */
		[REC_CALL_END] = sizeof(struct rec_call_end), /* likewise */
		[REC_MOMENT] = sizeof(struct rec_moment),     /* likewise */
	};
	/* Of those that may be shorter. */
	static const size_t least[ARRAY_SIZE(sizes)] = {
		[REC_STACK] = REC_STACK_BYTES(0),   [REC_PIECE] = sizeof(struct rec_piece),
		[REC_CALL] = REC_CALL_BYTES(0),     [REC_CALL_END] = REC_CALL_END_BYTES(0),
		[REC_MOMENT] = REC_MOMENT_BYTES(0),
	};
	const struct rec_head *head = data;

	if (size < sizeof(*head) || head->kind >= sizeof(sizes) / sizeof(sizes[0]) ||
	    sizes[head->kind] == 0 || head->size > sizes[head->kind] || size < head->size)
		return NULL;
	if (head->size < (least[head->kind] ?: sizes[head->kind]))
		return NULL;
	return record_is_valid(head) ? head : NULL;
}

/* Whether the N words, a whole record, say what CPU did, in the way of CLASS. */
static bool is_interval(const uint64_t *words, unsigned n, enum event_class class, unsigned cpu)
{
	static const struct {
		uint32_t process;
		unsigned category, n_args;
	} rows[CLASS_MAX] = {
		[CLASS_IRQ] = { FXT_KOID_IRQ, FXT_NAME_IRQ, 2 },
		[CLASS_SOFTIRQ] = { FXT_KOID_SOFTIRQ, FXT_NAME_SOFTIRQ, 0 },
		[CLASS_IDLE] = { FXT_KOID_POWER, FXT_NAME_POWER, 1 },
	};
	uint64_t name = fxt_get_event_name(words[0]), length = fxt_get_string_ref_length(name);
	unsigned expected = INTERVAL_ARGS + rows[class].n_args + 1;

	if (class == CLASS_IRQ) {
		if (!fxt_get_string_ref_inline(name) || length == 0 || length >= CPU_IRQ_NAME_BYTES)
			return false;
		expected += (unsigned)fxt_stream_words(length);
	} else if (class == CLASS_SOFTIRQ) {
		if (name < FXT_NAME_SOFTIRQ_HI || name > FXT_NAME_SOFTIRQ_RCU)
			return false;
	} else if (name != 0) {
		return false;
	}
	return n == expected && fxt_get_event_type(words[0]) == FXT_EVENT_DURATION_COMPLETE &&
	       fxt_get_event_n_args(words[0]) == rows[class].n_args &&
	       fxt_get_event_thread(words[0]) == 0 &&
	       fxt_get_event_category(words[0]) == rows[class].category &&
	       words[2] == rows[class].process && words[3] == rows[class].process + 1 + cpu &&
	       words[WORD_TS] <= words[n - 1];
}

unsigned decode_ring_words(const uint64_t *words, size_t n_words, enum event_class class,
			   unsigned cpu)
{
	unsigned n = (unsigned)fxt_get_record_words(words[0]);
	bool ours;

	if (n > n_words || n <= INTERVAL_ARGS - 1)
		return 0;
	if (class != CLASS_SCHED && !decode_is_lost(words))
		return fxt_get_record_type(words[0]) == FXT_RECORD_EVENT &&
				       is_interval(words, n, class, cpu)
			       ? n
			       : 0;
	switch (fxt_get_record_type(words[0])) {
	case FXT_RECORD_SCHEDULING:
		if (fxt_get_sched_type(words[0]) == FXT_SCHED_SWITCH)
			ours = (n == 6 || n == 7) && fxt_get_sched_cpu(words[0]) == cpu;
		else
			ours = fxt_get_sched_type(words[0]) == FXT_SCHED_WAKEUP &&
			       (n == 4 || (n >= 6 && n <= 8)) && (uint32_t)words[WAKEUP_TID] != 0;
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
