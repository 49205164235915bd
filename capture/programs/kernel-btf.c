/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/kernel-btf-parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define KERNEL_BTF_PATH "/sys/kernel/btf/vmlinux"

enum { KERNEL_BTF_BYTES_MAX = 256 << 20, KERNEL_BTF_TYPES_MAX = 1 << 24 };

#define KIND(kind) (UINT32_C(1) << (kind))

/* ---- open ---- */

/*
 * Reads the BTF. Since Linux 6.16, the file with the BTF can be mapped. On older kernels, reading
 * the file takes a system call for each page.
 */
static int kernel_btf_read(struct kernel_btf *btf, int fd)
{
	struct stat st;
	size_t used = 0;
	ssize_t n = 1;
	void *p;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size <= 0 || st.st_size > KERNEL_BTF_BYTES_MAX)
		return -EBADMSG;
	btf->size = (size_t)st.st_size;
	p = mmap(NULL, btf->size, PROT_READ, MAP_PRIVATE, fd, 0);
	btf->is_mapped = p != MAP_FAILED;
	btf->data = btf->is_mapped ? p : malloc(btf->size);
	if (!btf->data)
		return -ENOMEM;
	while (!btf->is_mapped && used < btf->size && n > 0) {
		n = read(fd, btf->data + used, btf->size - used);
		used += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		return -errno;
	return btf->is_mapped || used == btf->size ? 0 : -EBADMSG;
}

size_t kernel_btf_type_bytes(const struct btf_type *t)
{
	size_t n = btf_vlen(t);

	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return sizeof(*t);
	case BTF_KIND_INT:
		return sizeof(*t) + sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(*t) + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return sizeof(*t) + n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return sizeof(*t) + n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return sizeof(*t) + n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return sizeof(*t) + n * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(*t) + sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return sizeof(*t) + n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(*t) + sizeof(struct btf_decl_tag);
	}
	return 0;
}

/* Records the offset of each type. */
static int kernel_btf_index(struct kernel_btf *btf, uint32_t n_bytes)
{
	uint32_t room = n_bytes / 16 + 2, at = 0;
	uint32_t *more;

	btf->at = malloc(room * sizeof(*btf->at));
	if (!btf->at)
		return -ENOMEM;
	btf->at[0] = 0;
	for (btf->n_types = 1; at < n_bytes; btf->n_types++) {
		const struct btf_type *t = (const void *)(btf->types + at);
		size_t bytes = n_bytes - at < sizeof(*t) ? 0 : kernel_btf_type_bytes(t);

		if (bytes == 0 || bytes > n_bytes - at || btf->n_types >= KERNEL_BTF_TYPES_MAX)
			return -EBADMSG;
		if (btf->n_types == room) {
			more = reallocarray(btf->at, room *= 2, sizeof(*btf->at));
			if (!more)
				return -ENOMEM;
			btf->at = more;
		}
		btf->at[btf->n_types] = at;
		at += (uint32_t)bytes;
	}
	return 0;
}

static int kernel_btf_parse(struct kernel_btf *btf)
{
	struct btf_header h;
	uint64_t size = btf->size;

	if (size < sizeof(h))
		return -EBADMSG;
	memcpy(&h, btf->data, sizeof(h));
	if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.hdr_len < sizeof(h) ||
	    h.hdr_len > size || h.hdr_len % 4 || h.type_off % 4 ||
	    (uint64_t)h.hdr_len + h.type_off + h.type_len > size ||
	    (uint64_t)h.hdr_len + h.str_off + h.str_len > size || h.str_len == 0)
		return -EBADMSG;
	btf->types = btf->data + h.hdr_len + h.type_off;
	btf->strings = (const char *)btf->data + h.hdr_len + h.str_off;
	btf->n_string_bytes = h.str_len;
	if (btf->strings[0] || btf->strings[h.str_len - 1])
		return -EBADMSG;
	return kernel_btf_index(btf, h.type_len);
}

int kernel_btf_open_file(const char *path, struct kernel_btf **ret)
{
	_cleanup_(kernel_btf_freep) struct kernel_btf *btf = calloc(1, sizeof(*btf));
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (!btf)
		return -ENOMEM;
	if (fd < 0)
		return -errno;
	r = kernel_btf_read(btf, fd) ?: kernel_btf_parse(btf);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(btf);
	return 0;
}

int kernel_btf_open(struct kernel_btf **ret)
{
	return kernel_btf_open_file(KERNEL_BTF_PATH, ret);
}

struct kernel_btf *kernel_btf_free(struct kernel_btf *btf)
{
	if (!btf)
		return NULL;
	free(btf->at);
	if (btf->is_mapped)
		munmap(btf->data, btf->size);
	else
		free(btf->data);
	return free_ptr(btf);
}

/* ---- names ---- */

/*
 * The requested names, in a hash table. Nearly all types have other names, so a set of bits for
 * hashes of the first four bytes of names (with NUL) is checked first.
 */
struct wanted_names {
	uint32_t begins[1 << 11]; /* a bit for each hash of the first four bytes */
	uint32_t mask;            /* number of slots, minus one */
	uint32_t *slots;          /* each has the number of a name, plus one; 0 = free */
	const char *const *names;
};

static uint32_t kernel_btf_wanted_begin(const char *name)
{
	uint32_t word = 0;

	for (unsigned i = 0; i < sizeof(word) && name[i]; i++)
		word |= (uint32_t)(uint8_t)name[i] << 8 * i;
	return word * UINT32_C(0x9e3779b1) >> 16;
}

static uint32_t kernel_btf_wanted_hash(const char *name)
{
	uint32_t h = UINT32_C(2166136261);

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * UINT32_C(16777619);
	return h ^ h >> 15;
}

/* Returns the slot of NAME, or the free slot where it belongs. */
static uint32_t kernel_btf_wanted_slot(const struct wanted_names *w, const char *name)
{
	uint32_t i = kernel_btf_wanted_hash(name) & w->mask;

	while (w->slots[i] && strcmp(w->names[w->slots[i] - 1], name) != 0)
		i = (i + 1) & w->mask;
	return i;
}

static int kernel_btf_wanted_names_init(struct wanted_names *w, const char *const *names, size_t n)
{
	w->names = names;
	w->mask = 63;
	while (w->mask < 4 * n)
		w->mask = 2 * w->mask + 1;
	w->slots = calloc((size_t)w->mask + 1, sizeof(*w->slots));
	if (!w->slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t begin = kernel_btf_wanted_begin(names[i]);

		w->slots[kernel_btf_wanted_slot(w, names[i])] = (uint32_t)i + 1;
		w->begins[begin / 32] |= UINT32_C(1) << begin % 32;
	}
	return 0;
}

int kernel_btf_each(const struct kernel_btf *btf, uint32_t kinds, const char *const *names,
		    size_t n, kernel_btf_fn fn, void *userdata)
{
	struct wanted_names w = { 0 };
	int r = kernel_btf_wanted_names_init(&w, names, n);

	for (uint32_t id = 1; r >= 0 && id < btf->n_types; id++) {
		const struct btf_type *t = kernel_btf_type(btf, id);
		const char *name;
		uint32_t begin, slot;

		if (!(kinds >> btf_kind(t) & 1) || t->name_off == 0)
			continue;
		name = kernel_btf_text(btf, t->name_off);
		begin = kernel_btf_wanted_begin(name);
		if (!(w.begins[begin / 32] >> begin % 32 & 1))
			continue;
		slot = w.slots[kernel_btf_wanted_slot(&w, name)];
		if (slot)
			r = fn(id, slot - 1, userdata);
	}
	free(w.slots);
	return r < 0 ? r : 0;
}

struct finding_names {
	const struct kernel_btf *btf;
	struct kernel_btf_name *names;
	size_t n;
};

/*
 * Stores the number of a type in all elements with its name and kind. A name can be requested with
 * several kinds.
 */
static int kernel_btf_on_found(uint32_t id, size_t name, void *userdata)
{
	struct finding_names *f = userdata;
	uint32_t kind = btf_kind(kernel_btf_type(f->btf, id));

	for (size_t i = 0; i < f->n; i++)
		if (f->names[i].kind == kind && f->names[i].id == 0 &&
		    strcmp(f->names[i].name, f->names[name].name) == 0)
			f->names[i].id = id;
	return 0;
}

int kernel_btf_find(const struct kernel_btf *btf, struct kernel_btf_name *names, size_t n)
{
	_cleanup_free_ const char **texts = calloc(n ? n : 1, sizeof(*texts));
	struct finding_names f = { btf, names, n };
	uint32_t kinds = 0;

	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		texts[i] = names[i].name;
		names[i].id = 0;
		kinds |= KIND(names[i].kind);
	}
	return kernel_btf_each(btf, kinds, texts, n, kernel_btf_on_found, &f);
}

/* ---- facts ---- */

int kernel_btf_tracepoints(const struct kernel_btf *btf, const char *const *names, size_t n,
			   bool *ret)
{
	_cleanup_free_ struct kernel_btf_name *found = calloc(n, sizeof(*found));
	_cleanup_free_ char(*texts)[128] = calloc(n, sizeof(*texts));
	int r;

	if (!found || !texts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		snprintf(texts[i], sizeof(texts[i]), "btf_trace_%s", names[i]);
		found[i] = (struct kernel_btf_name){ texts[i], BTF_KIND_TYPEDEF, 0 };
	}
	r = kernel_btf_find(btf, found, n);
	for (size_t i = 0; i < n; i++)
		ret[i] = found[i].id != 0;
	return r;
}

int kernel_btf_exits_with_memory(const struct kernel_btf *btf)
{
	struct kernel_btf_name hook = { "btf_trace_sched_process_exit", BTF_KIND_TYPEDEF, 0 };
	int r = kernel_btf_find(btf, &hook, 1);
	const struct btf_type *t = r < 0 ? NULL : kernel_btf_type(btf, hook.id);

	/* The type is a typedef of a pointer to a function. The first argument belongs to the
	 * tracer. */
	for (int i = 0; t && i < 2; i++)
		t = kernel_btf_type(btf, t->type);
	return r < 0 ? r : t && btf_is_func_proto(t) && btf_vlen(t) > 2;
}

/* Finds the offset of MEMBER in struct T, in bytes. */
static bool kernel_btf_member_offset(const struct kernel_btf *btf, const struct btf_type *t,
				     const char *member, int64_t *ret)
{
	/* In pcpu_hot the members are in an anonymous struct in an anonymous union. */
	while (t && (btf_is_struct(t) || btf_is_union(t)) && btf_vlen(t) > 0) {
		const struct btf_member *m = btf_members(t);

		for (unsigned i = 0; i < btf_vlen(t); i++) {
			if (strcmp(kernel_btf_text(btf, m[i].name_off), member) == 0) {
				*ret = btf_member_bit_offset(t, i) / 8;
				return true;
			}
		}
		if (*kernel_btf_text(btf, m[0].name_off))
			return false;
		t = kernel_btf_type(btf, m[0].type);
	}
	return false;
}

int kernel_btf_preempt_count(const struct kernel_btf *btf, int64_t *ret_from_rq)
{
	struct kernel_btf_name names[] = {
		{ ".data..percpu", BTF_KIND_DATASEC, 0 },
		{ "pcpu_hot", BTF_KIND_STRUCT, 0 },
	};
	const struct btf_type *section, *var;
	const struct btf_var_secinfo *vars;
	int64_t rq = -1, count = -1, hot;
	int r = kernel_btf_find(btf, names, ARRAY_SIZE(names));

	section = r < 0 ? NULL : kernel_btf_type(btf, names[0].id);
	if (!section)
		return r;
	vars = btf_var_secinfos(section);
	for (unsigned i = 0; i < btf_vlen(section); i++) {
		const char *name;

		var = kernel_btf_type(btf, vars[i].type);
		name = var ? kernel_btf_text(btf, var->name_off) : "";
		if (strcmp(name, "runqueues") == 0)
			rq = vars[i].offset;
		else if (strcmp(name, "__preempt_count") == 0)
			count = vars[i].offset;
		else if (strcmp(name, "pcpu_hot") == 0 && /* Linux 6.2 to 6.14 */
			 kernel_btf_member_offset(btf, kernel_btf_type(btf, names[1].id),
						  "preempt_count", &hot))
			count = vars[i].offset + hot;
	}
	if (rq < 0 || count < 0)
		return 0;
	*ret_from_rq = count - rq;
	return 1;
}
