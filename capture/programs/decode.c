/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/decode.h"

#include <string.h>

#include "base/cleanup.h"
#include "writer/fxt/fxt-names.h"

static bool decode_ends(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

static bool decode_identity_ends(const struct rec_identity *id)
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

/* Returns true if the N bytes at DATA consist of whole blocks. */
static bool decode_moment_blocks_fit(const uint8_t *data, uint32_t n)
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

/* ---- whether the values of each kind are valid; the size was checked before ---- */

static bool decode_rec_fork_is_valid(const struct rec_fork *rec)
{
	return decode_identity_ends(&rec->child);
}

static bool decode_rec_exec_is_valid(const struct rec_exec *rec)
{
	return decode_identity_ends(&rec->task) && decode_ends(rec->file, sizeof(rec->file)) &&
	       REC_EXEC_BYTES((__u64)rec->args_bytes) <= rec->head.size && rec->args_cut <= 1;
}

static bool decode_rec_exit_is_valid(const struct rec_exit *rec)
{
	return decode_identity_ends(&rec->task);
}

static bool decode_rec_rename_is_valid(const struct rec_rename *rec)
{
	return decode_identity_ends(&rec->task) && decode_ends(rec->comm, sizeof(rec->comm));
}

static bool decode_rec_lost_is_valid(const struct rec_lost *rec)
{
	return rec->ring < REC_RINGS;
}

static bool decode_rec_task_is_valid(const struct rec_task *rec)
{
	return decode_identity_ends(&rec->task);
}

static bool decode_rec_work_is_valid(const struct rec_work *rec)
{
	return rec->begin_ns <= rec->head.ts_ns;
}

static bool decode_rec_function_is_valid(const struct rec_function *rec)
{
	return decode_ends(rec->name, sizeof(rec->name));
}

static bool decode_rec_frequency_is_valid(const struct rec_frequency *rec)
{
	(void)rec;
	return true;
}

static bool decode_rec_stack_is_valid(const struct rec_stack *rec)
{
	return rec->head.size % sizeof(uint64_t) == 0 && rec->id != 0;
}

static bool decode_rec_sample_is_valid(const struct rec_sample *rec)
{
	(void)rec;
	return true;
}

static bool decode_rec_offcpu_is_valid(const struct rec_offcpu *rec)
{
	return rec->begin_ns <= rec->head.ts_ns && strchr("RSDTtPIX", (int)rec->state & 0x7f) &&
	       rec->state > 0 && rec->state < 0x80 && rec->end < REC_OFFCPU_MAX &&
	       rec->is_earlier <= 1 && rec->in_iowait <= 1 && rec->woken_ns <= rec->head.ts_ns &&
	       rec->call.table < OFFCPU_CALL_MAX && rec->call.is_shared <= 1 &&
	       rec->waker.context < OFFCPU_WOKEN_MAX;
}

static bool decode_rec_alloc_is_valid(const struct rec_alloc *rec)
{
	return rec->resource < RESOURCE_MAX;
}

static bool decode_rec_free_is_valid(const struct rec_free *rec)
{
	return rec->resource < RESOURCE_MAX;
}

static bool decode_rec_resource_is_valid(const struct rec_resource *rec)
{
	return decode_ends(rec->text, sizeof(rec->text));
}

static bool decode_rec_named_is_valid(const struct rec_named *rec)
{
	return rec->n_frames > 0 && rec->n_frames <= MEMORY_FRAMES_MAX && rec->id != 0;
}

static bool decode_rec_cpu_gone_is_valid(const struct rec_cpu_gone *rec)
{
	(void)rec;
	return true;
}

static bool decode_rec_registers_is_valid(const struct rec_registers *rec)
{
	return rec->n <= REC_REGISTERS_MAX;
}

static bool decode_rec_piece_is_valid(const struct rec_piece *rec)
{
	return rec->n_frames > 0 && rec->n_frames <= STACK_FRAMES_MAX && rec->id != 0 &&
	       rec->n_room <= PIECE_BYTES_MAX && rec->n_bytes <= rec->n_room &&
	       rec->head.size == sizeof(*rec) + rec->n_room && rec->n_calls <= PIECE_CALLS_MAX &&
	       rec->process.n <= UNWIND_MAPPINGS_MAX;
}

static bool decode_rec_python_code_is_valid(const struct rec_python_code *rec)
{
	return rec->id != 0 && rec->n_name <= PYTHON_NAME_BYTES &&
	       rec->n_file <= PYTHON_FILE_BYTES && rec->n_lines <= rec->head.size - sizeof(*rec);
}

static bool decode_rec_call_is_valid(const struct rec_call *rec)
{
	return rec->function < CALL_FUNCTIONS_MAX && rec->n_texts <= CALL_TEXTS_MAX &&
	       rec->head.size == REC_CALL_BYTES(rec->n_texts) &&
	       decode_texts_fit(rec->texts, rec->n_texts);
}

static bool decode_rec_call_end_is_valid(const struct rec_call_end *rec)
{
	return rec->function < CALL_FUNCTIONS_MAX && rec->n_texts <= CALL_TEXTS_MAX &&
	       rec->has_result_text <= 1 &&
	       rec->head.size == REC_CALL_END_BYTES(rec->n_texts + rec->has_result_text) &&
	       decode_texts_fit(rec->texts, rec->n_texts + rec->has_result_text);
}

static bool decode_rec_moment_is_valid(const struct rec_moment *rec)
{
	return rec->point < MOMENT_POINTS_MAX && rec->bytes <= sizeof(rec->data) &&
	       rec->head.size == REC_MOMENT_BYTES(rec->bytes) &&
	       decode_moment_blocks_fit(rec->data, rec->bytes);
}

static bool decode_rec_cgroup_is_valid(const struct rec_cgroup *rec)
{
	return rec->bytes <= sizeof(rec->path) && rec->head.size == REC_CGROUP_BYTES(rec->bytes) &&
	       rec->path[0] == '/' && strnlen(rec->path, rec->bytes) + 1 == rec->bytes;
}

static bool decode_rec_tracepoint_is_valid(const struct rec_tracepoint *rec)
{
	for (unsigned i = 0; i < TRACEPOINT_DYNAMIC_MAX; i++)
		if (rec->dynamic_bytes[i] > TRACEPOINT_DYNAMIC_BYTES)
			return false;
	return rec->tracepoint < TRACEPOINTS_MAX && rec->actor <= TRACEPOINT_BY_IRQ &&
	       rec->bytes <= REC_TRACEPOINT_DATA_MAX &&
	       rec->head.size == REC_TRACEPOINT_BYTES(rec->bytes);
}

static bool decode_rec_request_is_valid(const struct rec_request *rec)
{
	return rec->issued_ns <= rec->head.ts_ns && rec->queued_ns <= rec->issued_ns &&
	       strnlen(rec->disk, sizeof(rec->disk)) < sizeof(rec->disk);
}

/* ---- records ---- */

static bool decode_is_valid(const struct rec_head *head)
{
	switch (head->kind) {
#define DECODE_KIND(KIND, number, tag, bytes, ring)                                                \
	case REC_##KIND:                                                                           \
		return decode_##tag##_is_valid((const void *)head);
		REC_PROGRAM_KINDS(DECODE_KIND)
#undef DECODE_KIND
	default:
		return false;
	}
}

const struct rec_head *decode_record(const void *data, size_t size)
{
	static const struct {
		size_t least, most;
	} sizes[REC_KINDS] = {
#define DECODE_KIND(KIND, number, tag, bytes, ring) [REC_##KIND] = bytes,
		REC_PROGRAM_KINDS(DECODE_KIND)
#undef DECODE_KIND
	};
	const struct rec_head *head = data;

	if (size < sizeof(*head) || size < head->size || head->kind >= REC_KINDS ||
	    head->size > sizes[head->kind].most || head->size < sizes[head->kind].least)
		return NULL;
	return decode_is_valid(head) ? head : NULL;
}

const struct rec_head *decode_ring_record(const void *data, size_t size)
{
	const struct rec_head *head = decode_record(data, size);

	return head && rec_kind_ring(head->kind) < REC_RINGS ? head : NULL;
}

/*
 * Returns true if the N words, which are a whole record, are an interval of CPU in the format of
 * CLASS.
 */
static bool decode_is_interval(const uint64_t *words, unsigned n, enum event_class class,
			       unsigned cpu)
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
				       decode_is_interval(words, n, class, cpu)
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
