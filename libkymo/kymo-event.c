/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <string.h>

#include "libkymo/kymo-archive.h"

static_assert((int)KYMO_EVENT_FLOW_END == (int)FXT_EVENT_FLOW_END &&
		      (int)KYMO_ARGUMENT_BLOB == (int)FXT_ARG_BLOB,
	      "the numbers of the format");

/* ---- from a record ---- */

static struct kymo_text kymo_event_copy(struct kymo_event *e, const void *bytes, size_t n)
{
	struct kymo_text text = { e->texts.size, n };
	char *to = outbuf_reserve(&e->texts, n + 1);

	if (to && n > 0)
		memcpy(to, bytes, n);
	return text;
}

static struct kymo_text kymo_event_text(struct kymo_event *e, const struct fxt_text *text)
{
	return kymo_event_copy(e, text->bytes, text->bytes ? text->length : 0);
}

static void kymo_event_set_value(struct kymo_event *e, const struct fxt_arg *arg,
				 struct kymo_argument *to)
{
	switch (to->type) {
	case KYMO_ARGUMENT_INT32:
		to->number = (uint64_t)(int64_t)arg->int32;
		break;
	case KYMO_ARGUMENT_UINT32:
		to->number = arg->uint32;
		break;
	case KYMO_ARGUMENT_INT64:
		to->number = (uint64_t)arg->int64;
		break;
	case KYMO_ARGUMENT_UINT64:
	case KYMO_ARGUMENT_POINTER:
	case KYMO_ARGUMENT_KOID:
		to->number = arg->uint64;
		break;
	case KYMO_ARGUMENT_DOUBLE:
		memcpy(&to->number, &arg->real, sizeof(to->number));
		break;
	case KYMO_ARGUMENT_BOOL:
		to->number = arg->boolean;
		break;
	case KYMO_ARGUMENT_STRING:
		to->bytes = kymo_event_text(e, &arg->text);
		break;
	case KYMO_ARGUMENT_BLOB:
		to->bytes = kymo_event_copy(e, arg->blob.data, arg->blob.size);
		break;
	default: /* null, or unknown */
		break;
	}
}

void kymo_event_fill_arguments(struct kymo_event *e, const struct fxt_record *record)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int r;

	while (e->n_arguments < FXT_ARGS_MAX && (r = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		struct kymo_argument *to = &e->arguments[e->n_arguments];

		if (r == FXT_ARGS_DAMAGE)
			continue;
		*to = (struct kymo_argument){ .type = (enum kymo_argument_type)arg.type,
					      .name = kymo_event_text(e, &arg.name) };
		kymo_event_set_value(e, &arg, to);
		e->n_arguments++;
	}
}

static bool kymo_event_set_sched(struct kymo_event *e, const struct fxt_record *record)
{
	switch (record->subtype) {
	case FXT_SCHED_LEGACY_SWITCH:
	case FXT_SCHED_SWITCH:
		e->kind = KYMO_EVENT_SWITCH;
		e->cpu = record->sw.cpu;
		e->process = record->sw.in_pid;
		e->thread = record->sw.in_tid;
		e->out_thread = record->sw.out_tid;
		e->out_state = record->sw.out_state;
		return true;
	case FXT_SCHED_WAKEUP:
		e->kind = KYMO_EVENT_WAKEUP;
		e->cpu = record->wake.cpu;
		e->thread = record->wake.tid;
		return true;
	default:
		return false;
	}
}

/* Sets the kind, and the end or the id, by the type of RECORD. Returns false for records of other
 * types. */
static bool kymo_event_set_kind(struct kymo_event *e, const struct fxt_record *record)
{
	switch (record->type) {
	case FXT_RECORD_EVENT:
		e->kind = (enum kymo_event_kind)record->subtype;
		if (e->kind == KYMO_EVENT_DURATION_COMPLETE)
			e->end_ns = record->event.end_ns;
		else
			e->id = record->event.value;
		break;
	case FXT_RECORD_LOG:
		e->kind = KYMO_EVENT_LOG;
		break;
	case FXT_RECORD_SCHEDULING:
		return kymo_event_set_sched(e, record);
	default:
		return false;
	}
	if (record->thread.defined) {
		e->process = record->thread.pid;
		e->thread = record->thread.tid;
	}
	return true;
}

bool kymo_event_fill(struct kymo_event *e, const struct fxt_record *record)
{
	struct outbuf texts = e->texts;

	*e = (struct kymo_event){ .cpu = -1, .texts = texts };
	outbuf_reset(&e->texts);
	e->time_ns = e->end_ns = record->ts_ns;
	return kymo_event_set_kind(e, record);
}

void kymo_event_fill_texts(struct kymo_event *e, const struct fxt_record *record)
{
	if (record->type == FXT_RECORD_EVENT)
		e->category = kymo_event_text(e, &record->category);
	else
		e->category = kymo_event_copy(e, NULL, 0);
	if (record->type != FXT_RECORD_SCHEDULING)
		e->name = kymo_event_text(e, &record->name);
	else
		e->name = e->category;
}

/* ---- getters ---- */

enum kymo_event_kind kymo_event_kind(const kymo_event *e)
{
	return e->kind;
}

uint64_t kymo_event_time_ns(const kymo_event *e)
{
	return e->time_ns;
}

uint64_t kymo_event_end_ns(const kymo_event *e)
{
	return e->end_ns;
}

uint64_t kymo_event_id(const kymo_event *e)
{
	return e->id;
}

static const char *kymo_event_get_text(const kymo_event *e, struct kymo_text text)
{
	/* (no event was read yet) */
	return e->texts.data ? (const char *)e->texts.data + text.at : "";
}

const char *kymo_event_category(const kymo_event *e)
{
	return kymo_event_get_text(e, e->category);
}

const char *kymo_event_name(const kymo_event *e)
{
	return kymo_event_get_text(e, e->name);
}

uint64_t kymo_event_process(const kymo_event *e)
{
	return e->process;
}

uint64_t kymo_event_thread(const kymo_event *e)
{
	return e->thread;
}

int kymo_event_cpu(const kymo_event *e)
{
	return e->cpu;
}

uint64_t kymo_event_out_thread(const kymo_event *e)
{
	return e->out_thread;
}

unsigned kymo_event_out_state(const kymo_event *e)
{
	return e->out_state;
}

size_t kymo_event_arguments(const kymo_event *e)
{
	return e->n_arguments;
}

static const struct kymo_argument *kymo_event_argument(const kymo_event *e, size_t i)
{
	static const struct kymo_argument none = { .type = KYMO_ARGUMENT_NULL };

	return i < e->n_arguments ? &e->arguments[i] : &none;
}

const char *kymo_event_argument_name(const kymo_event *e, size_t i)
{
	return i < e->n_arguments ? kymo_event_get_text(e, e->arguments[i].name) : "";
}

enum kymo_argument_type kymo_event_argument_type(const kymo_event *e, size_t i)
{
	return kymo_event_argument(e, i)->type;
}

int kymo_event_find_argument(const kymo_event *e, const char *name)
{
	for (size_t i = 0; i < e->n_arguments; i++)
		if (strcmp(kymo_event_get_text(e, e->arguments[i].name), name) == 0)
			return (int)i;
	return -1;
}

uint64_t kymo_event_argument_unsigned(const kymo_event *e, size_t i)
{
	const struct kymo_argument *arg = kymo_event_argument(e, i);

	return arg->type == KYMO_ARGUMENT_DOUBLE ? 0 : arg->number;
}

int64_t kymo_event_argument_signed(const kymo_event *e, size_t i)
{
	return (int64_t)kymo_event_argument_unsigned(e, i);
}

double kymo_event_argument_double(const kymo_event *e, size_t i)
{
	const struct kymo_argument *arg = kymo_event_argument(e, i);
	double real;

	if (arg->type == KYMO_ARGUMENT_INT32 || arg->type == KYMO_ARGUMENT_INT64)
		return (double)(int64_t)arg->number;
	if (arg->type != KYMO_ARGUMENT_DOUBLE)
		return (double)arg->number;
	memcpy(&real, &arg->number, sizeof(real));
	return real;
}

const char *kymo_event_argument_bytes(const kymo_event *e, size_t i, size_t *ret_size)
{
	const struct kymo_argument *arg = kymo_event_argument(e, i);
	bool has = arg->type == KYMO_ARGUMENT_STRING || arg->type == KYMO_ARGUMENT_BLOB;

	if (ret_size)
		*ret_size = has ? arg->bytes.length : 0;
	return has ? kymo_event_get_text(e, arg->bytes) : NULL;
}
