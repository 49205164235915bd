/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-messages.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "capture/calls/call-lists.h"
#include "model/calls/call-print.h"
#include "model/calls/call-sets.h"
#include "model/calls/call-structs.h"

#define CONTROL_ALIGN(n) (((n) + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1))

bool call_type_is_message(const struct call_type *type)
{
	uint8_t memory = call_list_memory(type);

	return memory == CALL_MEMORY_MESSAGE || memory == CALL_MEMORY_MESSAGES;
}

static bool call_message_is_sent(const struct call_type *type)
{
	return call_list_kind(type) == CALL_MEMBER_SENT || !type->in_out;
}

void call_message_memory(const struct call_type *type, bool is_out, struct call_memory *memory)
{
	bool is_array = call_list_memory(type) == CALL_MEMORY_MESSAGES;

	/* (recvmmsg() returns the number of messages that it has written) */
	memory->unit = !(is_array && is_out);
	memory->count = is_array ? 0 : 1;
	if (call_message_is_sent(type) == !is_out)
		return;
	memory->kind = CALL_MEMORY_BYTES;
	memory->unit = is_array ? sizeof(struct mmsghdr) : sizeof(struct msghdr);
}

static void call_message_set(struct call_print *p, const char *set, uint64_t value)
{
	char text[CALL_SET_TEXT_MAX];

	call_set_format(call_set_find(set, strlen(set)), value, text, sizeof(text));
	call_print_add(p, "%s", text);
}

/* Appends the structure NAME in the N bytes at FROM. Returns false if there are too few. */
static bool call_message_struct(struct call_print *p, const char *name, const char *from, size_t n)
{
	char text[CALL_VALUE_TEXT_MAX];

	if (call_struct_format(call_struct_find(name, strlen(name)), from, n, text, sizeof(text)) ==
	    0)
		return false;
	call_print_add(p, "%s", text);
	return true;
}

/* ---- control messages ---- */

struct call_control {
	uint64_t bytes;
	int32_t level, type;
};

/* The known types of control messages, and the forms of their data. */
static const struct call_control_form {
	int32_t level, type;
	const char *layout; /* the structure of the data */
	bool is_array;
} control_forms[] = {
	{ SOL_SOCKET, SCM_RIGHTS, "struct:int", true },
	{ SOL_SOCKET, SCM_CREDENTIALS, "struct:ucred", false },
	{ SOL_SOCKET, SO_TIMESTAMP, "struct:timeval", false },
	{ SOL_SOCKET, SO_TIMESTAMPNS, "struct:timespec", false },
	{ IPPROTO_IP, IP_TTL, "struct:int", true },
};

static const struct call_control_form *call_control_find(const struct call_control *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(control_forms); i++)
		if (control_forms[i].level == c->level && control_forms[i].type == c->type)
			return &control_forms[i];
	return NULL;
}

static void call_control_type(struct call_print *p, const struct call_control *c)
{
	if (c->level == SOL_SOCKET)
		call_message_set(p, "enum:scm", (uint32_t)c->type);
	else if (c->level == IPPROTO_IP)
		call_message_set(p, "enum:ip", (uint32_t)c->type);
	else if (c->level == IPPROTO_IPV6)
		call_message_set(p, "enum:ipv6", (uint32_t)c->type);
	else
		call_print_add(p, "%#" PRIx32, (uint32_t)c->type);
}

/* Appends the data of a control message: BYTES bytes, of which N are in the copy at FROM. */
static void call_control_data(struct call_print *p, const struct call_control_form *form,
			      const char *from, size_t n, size_t bytes)
{
	unsigned layout = form ? call_struct_find(form->layout, strlen(form->layout)) : 0;
	const struct call_struct *row = call_struct_by_number(layout);
	char text[CALL_VALUE_TEXT_MAX];

	call_print_add(p, ", cmsg_data=");
	if (row && form->is_array) {
		call_struct_format_array(layout, from, n, bytes / row->bytes, text, sizeof(text));
		call_print_add(p, "%s", text);
	} else if (!row || !call_message_struct(p, form->layout, from, n)) {
		call_print_bytes(p, from, n, n < bytes);
	}
}

/* Appends the control messages in BYTES, of which N are in the copy at FROM. */
static void call_message_control(struct call_print *p, const char *from, size_t n, size_t bytes)
{
	struct call_control c;
	size_t at = 0;

	call_print_add(p, "[");
	while (at + sizeof(c) <= n) {
		const struct call_control_form *form;
		size_t data, copied;

		memcpy(&c, from + at, sizeof(c));
		form = call_control_find(&c);
		call_print_add(p, "%s{cmsg_len=%" PRIu64 ", cmsg_level=", at ? ", " : "", c.bytes);
		call_message_set(p, "enum:sol", (uint32_t)c.level);
		call_print_add(p, ", cmsg_type=");
		call_control_type(p, &c);
		if (c.bytes < sizeof(c) || c.bytes > bytes - at) {
			call_print_add(p, "}");
			at = bytes;
			break;
		}
		data = (size_t)c.bytes - sizeof(c);
		at += sizeof(c);
		copied = data < n - at ? data : n - at;
		if (data > 0)
			call_control_data(p, form, from + at, copied, data);
		call_print_add(p, "}");
		at += CONTROL_ALIGN(data);
	}
	if (at + sizeof(c) <= bytes)
		call_print_add(p, at ? ", ..." : "...");
	call_print_add(p, "]");
}

/* ---- messages ---- */

/* A message in a copy. */
struct call_message_view {
	struct call_message head;
	const char *from;   /* the N bytes behind its head */
	size_t n, share;    /* `share` is the maximum of `n` */
	const char *before; /* the structure at the entry, or NULL */
	uint64_t total;     /* number of bytes that the call has written */
};

static uint32_t call_message_number(const char *header, size_t at)
{
	uint32_t number;

	memcpy(&number, header + at, sizeof(number));
	return number;
}

/* Appends the name of V's message. N bytes of the name are in the copy. */
static void call_message_name(struct call_print *p, const struct call_message_view *v, size_t n)
{
	const struct call_message *m = &v->head;
	uint32_t before = m->name_bytes;

	if (v->before)
		before = call_message_number(v->before, offsetof(struct msghdr, msg_namelen));
	call_print_add(p, "{msg_name=");
	if (n == 0 || !call_message_struct(p, "struct:sockaddr", v->from, n < before ? n : before))
		call_list_address(p, m->name);
	call_print_add(p, ", msg_namelen=%" PRIu32, before);
	if (before != m->name_bytes)
		call_print_add(p, " => %" PRIu32, m->name_bytes);
}

static void call_message_put(struct call_print *p, const struct call_message_view *v)
{
	const struct call_message *m = &v->head;
	size_t name = m->name_copied < v->n ? m->name_copied : v->n;
	size_t control = m->control_copied < v->n - name ? m->control_copied : v->n - name;
	size_t used = name + control, left = v->share > used ? v->share - used : 0;
	struct call_list_buffers buffers = { .n = m->n_parts,
					     .total = v->total,
					     .most = CALL_MESSAGE_PART_BYTES(m->n_parts, left) };

	call_message_name(p, v, name);
	call_print_add(p, ", msg_iov=");
	if (m->has & CALL_MESSAGE_PARTS)
		call_list_parts(p, v->from + used, v->n - used, &buffers);
	else
		call_print_add(p, "NULL");
	call_print_add(p, ", msg_iovlen=%" PRIu32, m->n_parts);
	if (m->control_bytes && m->has & CALL_MESSAGE_CONTROL) {
		call_print_add(p, ", msg_control=");
		call_message_control(p, v->from + name, control, m->control_bytes);
	}
	call_print_add(p, ", msg_controllen=%" PRIu32 ", msg_flags=", m->control_bytes);
	call_message_set(p, "flags:msg", m->flags);
	call_print_add(p, "}");
}

/*
 * Sets V to message I of the copy TEXT, in which each message has SHARE bytes. Returns false if the
 * message is not in the copy.
 */
static bool call_message_get(const struct call_text *text, uint64_t i, size_t share,
			     struct call_message_view *v)
{
	size_t n = text->bytes > 0 ? (size_t)text->bytes : 0, at = (size_t)i * share;

	if (i >= CALL_MESSAGES_MAX || at + sizeof(v->head) > n)
		return false;
	memcpy(&v->head, text->text + at, sizeof(v->head));
	v->from = text->text + at + sizeof(v->head);
	v->share = share - sizeof(v->head);
	v->n = n - at - sizeof(v->head);
	if (v->n > v->share)
		v->n = v->share;
	return true;
}

/* Returns structure I, of BYTES bytes, in the copy TEXT; NULL = it is not in the copy. */
static const char *call_message_header(const struct call_text *text, uint64_t i, size_t bytes)
{
	size_t n = text && text->bytes > 0 ? (size_t)text->bytes : 0;

	return i < n / bytes ? text->text + i * bytes : NULL;
}

/* ---- calls ---- */

static size_t call_message_format(const struct call_type *type, const struct call_copies *copies,
				  struct call_print *p)
{
	bool is_sent = call_message_is_sent(type);
	const struct call_text *text = is_sent ? copies->in : copies->out;
	struct call_message_view v = { .total = is_sent ? UINT64_MAX : copies->total };

	if (!is_sent)
		v.before = call_message_header(copies->in, 0, sizeof(struct msghdr));
	if (text && call_message_get(text, 0, CALL_MESSAGE_BYTES(1), &v))
		call_message_put(p, &v);
	else if (v.before)
		/* (the call has failed) */
		call_print_add(p, "{msg_namelen=%" PRIu32 "}",
			       call_message_number(v.before, offsetof(struct msghdr, msg_namelen)));
	return p->used;
}

/* Appends message I of an array, from V. DONE messages have been sent or received. */
static void call_messages_put_one(const struct call_type *type, const struct call_copies *copies,
				  struct call_print *p, struct call_message_view *v, uint64_t i,
				  uint64_t done)
{
	const char *out = call_message_header(copies->out, i, sizeof(struct mmsghdr));
	bool is_sent = call_message_is_sent(type);

	if (!is_sent) {
		v->before = call_message_header(copies->in, i, sizeof(struct mmsghdr));
		v->total = v->head.length;
	}
	call_print_add(p, "{msg_hdr=");
	call_message_put(p, v);
	if (i < done && is_sent && out)
		v->head.length = call_message_number(out, offsetof(struct mmsghdr, msg_len));
	if (i < done && (!is_sent || out))
		call_print_add(p, ", msg_len=%" PRIu32, v->head.length);
	call_print_add(p, "}");
}

static size_t call_messages_put(const struct call_type *type, const struct call_copies *copies,
				uint64_t count, struct call_print *p)
{
	bool is_sent = call_message_is_sent(type);
	const struct call_text *text = is_sent ? copies->in : copies->out;
	uint64_t done = copies->out ? copies->total : 0;
	uint64_t n = is_sent || count < done ? count : done;
	struct call_message_view v;

	if (!text || text->bytes < 0)
		return 0;
	call_print_add(p, "[");
	for (uint64_t i = 0; i < n; i++) {
		call_print_add(p, i ? ", " : "");
		v = (struct call_message_view){ .total = UINT64_MAX };
		if (!call_message_get(text, i, CALL_MESSAGE_BYTES(n), &v)) {
			call_print_add(p, "...");
			break;
		}
		call_messages_put_one(type, copies, p, &v, i, done);
	}
	call_print_add(p, "]");
	return p->used;
}

size_t call_messages_format(const struct call_type *type, const struct call_copies *copies,
			    uint64_t count, char *to, size_t size)
{
	struct call_print p = call_print_begin(to, size);

	return call_list_memory(type) == CALL_MEMORY_MESSAGE
		       ? call_message_format(type, copies, &p)
		       : call_messages_put(type, copies, count, &p);
}
