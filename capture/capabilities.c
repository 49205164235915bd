/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capabilities.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/kernel-btf.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* The bits of CapEff that matter; user space headers may be older than CAP_PERFMON and CAP_BPF. */
enum { CAP_BIT_SYS_ADMIN = 21, CAP_BIT_PERFMON = 38, CAP_BIT_BPF = 39 };

static uint64_t effective_capabilities(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long caps = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (f)
		fclose(f);
	return caps;
}

static bool has_capability(uint64_t caps, int bit)
{
	return caps >> bit & 1;
}

static bool may_load(void)
{
	uint64_t caps = effective_capabilities();

	return has_capability(caps, CAP_BIT_SYS_ADMIN) ||
	       (has_capability(caps, CAP_BIT_BPF) && has_capability(caps, CAP_BIT_PERFMON));
}

static bool kernel_at_least(unsigned major, unsigned minor)
{
	unsigned a = 0, b = 0;
	struct utsname u;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &a, &b) != 2)
		return true; /* cannot tell: let it be tried */
	return a > major || (a == major && b >= minor);
}

static struct capability waker_context(bool btf)
{
	struct capability c = { .name = "waker_context" };
	int64_t from_rq;

	if (!btf) {
		c.detail = "not known without BTF";
	} else if (kernel_btf_preempt_count(&from_rq) == 1) {
		c.available = true;
		c.detail = "exact: from the kernel's preempt count (per CPU)";
	} else {
#if defined(__x86_64__)
		c.detail = "guessed: this kernel's preempt count cannot be found; wakeups from "
			   "interrupts are put down to the thread they interrupt";
#else
		c.available = true;
		c.detail = "exact: from the preempt count of the thread";
#endif
	}
	return c;
}

int capabilities_probe(struct capability caps[static CAPABILITIES_MAX])
{
	bool btf = access(BTF_PATH, R_OK) == 0, load = may_load(), version = kernel_at_least(6, 1);
	bool all = btf && load && version;
	int n = 0;

	caps[n++] = (struct capability){ "btf", btf,
					 btf ? "the kernel describes its types in " BTF_PATH
					     : "there is no " BTF_PATH
					       ": the kernel needs CONFIG_DEBUG_INFO_BTF" };
	caps[n++] = (struct capability){ "privilege", load,
					 load ? "CAP_BPF and CAP_PERFMON, or more"
					      : "needs root, or CAP_BPF and CAP_PERFMON" };
	caps[n++] = (struct capability){ "kernel", version,
					 version ? "6.1 or later" : "needs Linux 6.1 or later" };
	caps[n++] = (struct capability){ "sched", all,
					 all ? "context switches, wakeups and migrations"
					     : "see btf, privilege and kernel" };
	caps[n++] = (struct capability){ "lifecycle", all,
					 all ? "fork, exec, exit and rename"
					     : "see btf, privilege and kernel" };
	caps[n++] = waker_context(btf);
	return n;
}

int capabilities_check(const char **reterr_text)
{
	if (!may_load()) {
		*reterr_text = "loading eBPF programs needs root, or CAP_BPF and CAP_PERFMON; "
			       "try with sudo";
		return -EPERM;
	}
	if (!kernel_at_least(6, 1)) {
		*reterr_text = "this kernel is too old: kymo needs Linux 6.1 or later";
		return -EOPNOTSUPP;
	}
	if (access(BTF_PATH, R_OK) < 0) {
		*reterr_text = "this kernel has no BTF (" BTF_PATH
			       "): kymo needs one built with CONFIG_DEBUG_INFO_BTF=y";
		return -EOPNOTSUPP;
	}
	return 0;
}
