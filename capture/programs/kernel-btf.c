/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/kernel-btf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(struct btf *, btf__free)

static const char *kernel_btf_name_of(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);

	return name ? name : "";
}

/* The offset in bytes of MEMBER in the struct called NAME. */
static bool member_offset(const struct btf *btf, const char *name, const char *member, int64_t *ret)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	/* In pcpu_hot the members are in an anonymous struct in an anonymous union. */
	while (t && (btf_is_struct(t) || btf_is_union(t)) && btf_vlen(t) > 0) {
		const struct btf_member *m = btf_members(t);

		for (unsigned i = 0; i < btf_vlen(t); i++) {
			const char *text = btf__name_by_offset(btf, m[i].name_off);

			if (text && strcmp(text, member) == 0) {
				*ret = btf_member_bit_offset(t, i) / 8;
				return true;
			}
		}
		if (*(btf__name_by_offset(btf, m[0].name_off) ?: "?"))
			return false;
		t = btf__type_by_id(btf, m[0].type);
	}
	return false;
}

int kernel_btf_tracepoints(const char *const *names, size_t n, bool *ret)
{
	_cleanup_(btf__freep) struct btf *btf = btf__load_vmlinux_btf();
	char type[128];

	if (!btf)
		return errno ? -errno : -ENOENT;
	for (size_t i = 0; i < n; i++) {
		snprintf(type, sizeof(type), "btf_trace_%s", names[i]);
		ret[i] = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
	}
	return 0;
}

int kernel_btf_exits_with_memory(void)
{
	_cleanup_(btf__freep) struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *t;
	int id;

	if (!btf)
		return errno ? -errno : -ENOENT;
	id = btf__find_by_name_kind(btf, "btf_trace_sched_process_exit", BTF_KIND_TYPEDEF);
	t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	/* A typedef of a pointer to a function; the first argument is the tracer's. */
	for (int i = 0; t && i < 2; i++)
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) && btf_vlen(t) > 2;
}

int kernel_btf_preempt_count(int64_t *ret_from_rq)
{
	_cleanup_(btf__freep) struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *section;
	const struct btf_var_secinfo *vars;
	int64_t rq = -1, count = -1, hot;
	int id;

	if (!btf)
		return errno ? -errno : -ENOENT;
	id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	if (id < 0)
		return 0;
	section = btf__type_by_id(btf, (uint32_t)id);
	vars = btf_var_secinfos(section);
	for (unsigned i = 0; i < btf_vlen(section); i++) {
		const char *name = kernel_btf_name_of(btf, btf__type_by_id(btf, vars[i].type));

		if (strcmp(name, "runqueues") == 0)
			rq = vars[i].offset;
		else if (strcmp(name, "__preempt_count") == 0)
			count = vars[i].offset;
		else if (strcmp(name, "pcpu_hot") == 0 && /* 6.2 to 6.14 */
			 member_offset(btf, "pcpu_hot", "preempt_count", &hot))
			count = vars[i].offset + hot;
	}
	if (rq < 0 || count < 0)
		return 0;
	*ret_from_rq = count - rq;
	return 1;
}
