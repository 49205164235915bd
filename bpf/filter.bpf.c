/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#include "bpf/filter.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__noinline bool filter_cgroup_is(__u64 cgroup, __u32 i)
{
	__u64 name[FILTER_CGROUP_BYTES / sizeof(__u64)] = {};
	const struct filter_cgroup *wanted = bpf_map_lookup_elem(&filter_cgroups, &i);
	struct cgroup *c = (struct cgroup *)cgroup;
	struct cgroup *parent = NULL, *self = NULL;
	const char *text;
	__u32 level;

	if (!wanted || wanted->level == 0 || !c)
		return false;
	level = wanted->level;
	if ((__s32)level > BPF_CORE_READ(c, level))
		return false;
	bpf_core_read(&self, sizeof(self), &c->ancestors[level]);
	bpf_core_read(&parent, sizeof(parent), &c->ancestors[level - 1]);
	if (BPF_CORE_READ(parent, kn, id) != wanted->parent_id)
		return false;
	text = BPF_CORE_READ(self, kn, name);
	if (bpf_probe_read_kernel_str(name, sizeof(name), text) < 0)
		return false;
	for (int w = 0; w < FILTER_CGROUP_BYTES / (int)sizeof(__u64); w++)
		if (name[w] != ((const __u64 *)wanted->name)[w])
			return false;
	return true;
}
