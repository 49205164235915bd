/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allow-calls FILE COMMAND ...: runs COMMAND with only those system calls that FILE names, one per
 * line, like SystemCallFilter= of a unit: all others fail with EPERM. With ~FILE, the named ones
 * fail. System calls of other architectures, and of x32, always fail. Names that this architecture
 * does not have are skipped.
 */
#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int add_calls(scmp_filter_ctx filter, const char *path, uint32_t action)
{
	FILE *f = fopen(path, "re");
	char name[64];
	int r = 0;

	if (!f)
		return -errno;
	while (r == 0 && fscanf(f, "%63s", name) == 1) {
		int call = seccomp_syscall_resolve_name(name);

		if (call != __NR_SCMP_ERROR)
			r = seccomp_rule_add(filter, action, call, 0);
	}
	fclose(f);
	return r;
}

int main(int argc, char **argv)
{
	bool but = argc > 1 && *argv[1] == '~';
	scmp_filter_ctx filter = seccomp_init(but ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM));
	int r = -ENOMEM;

	if (argc < 3) {
		fputs("Usage: allow-calls [~]FILE COMMAND [ARGUMENT ...]\n", stderr);
		return 2;
	}
	if (filter)
		r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
	if (r == 0)
		r = add_calls(filter, argv[1] + but, but ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW);
	if (r == 0)
		r = seccomp_load(filter);
	if (r < 0) {
		fprintf(stderr, "allow-calls: %s: %s\n", argv[1], strerror(-r));
		return 1;
	}
	execvp(argv[2], argv + 2);
	fprintf(stderr, "allow-calls: %s: %s\n", argv[2], strerror(errno));
	return 1;
}
