/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/load-error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "capture/perf/perf-event.h"
#include "capture/sandbox/process-rights.h"

/* Bytes that are shown of a verifier's log: its last lines have the reason. */
enum { LOG_TAIL = 200 };

static __thread char libbpf_text[512];
static __thread bool verifier_text;

static const struct load_rights *assumed;

/* Returns the relevant part of TEXT. TEXT contains the verifier's log, and is changed. */
static const char *load_error_tail_of_log(char *text)
{
	char *end = strstr(text, "\n-- END PROG LOAD LOG"), *last;

	if (end)
		*end = '\0';
	last = strrchr(text, '\n');
	/* The last line only has the number of processed instructions, so it is removed. */
	if (last && strncmp(last + 1, "processed ", strlen("processed ")) == 0)
		*last = '\0';
	return strlen(text) > LOG_TAIL ? text + strlen(text) - LOG_TAIL : text;
}

static int load_error_keep_warning(enum libbpf_print_level level, const char *format, va_list ap)
{
	size_t used = strlen(libbpf_text), room = sizeof(libbpf_text) - used;
	_cleanup_free_ char *text = NULL;

	/* The first lines name the cause. Later ones are consequences. */
	if (level != LIBBPF_WARN || verifier_text || used >= sizeof(libbpf_text) / 2)
		return 0;
	if (vasprintf(&text, format, ap) < 0) {
		text = NULL;
		return 0;
	}
	verifier_text = strstr(text, "BEGIN PROG LOAD LOG") != NULL;
	snprintf(libbpf_text + used, room, "%s",
		 verifier_text ? load_error_tail_of_log(text) : text);
	return 0;
}

void load_error_begin(void)
{
	libbpf_set_print(load_error_keep_warning);
	*libbpf_text = '\0';
	verifier_text = false;
}

void load_error_assume(const struct load_rights *rights)
{
	assumed = rights;
}

/* Returns true if the file PATH has a line with TEXT. */
static bool load_error_file_has(const char *path, const char *text)
{
	FILE *f = fopen(path, "re");
	char line[256];
	bool has = false;

	while (f && !has && fgets(line, sizeof(line), f))
		has = strstr(line, text) != NULL;
	if (f)
		fclose(f);
	return has;
}

/* Returns true if this process is not in the first user namespace, which maps all ids to
 * themselves. */
static bool load_error_in_user_namespace(void)
{
	unsigned long inside = 0, outside = 0, n = UINT32_MAX;
	FILE *f = fopen("/proc/self/uid_map", "re");

	if (!f)
		return false;
	if (fscanf(f, "%lu %lu %lu", &inside, &outside, &n) != 3)
		n = 0; /* no id is mapped yet */
	fclose(f);
	return inside != 0 || outside != 0 || n != UINT32_MAX;
}

static enum load_obstacle load_error_obstacle_of_now(void)
{
	if (load_error_in_user_namespace())
		return LOAD_OBSTACLE_USER_NAMESPACE;
	if (load_error_file_has("/sys/kernel/security/lockdown", "[confidentiality]"))
		return LOAD_OBSTACLE_LOCKDOWN;
	if (load_error_file_has("/proc/self/status", "Seccomp:\t2"))
		return LOAD_OBSTACLE_FILTER;
	return LOAD_OBSTACLE_UNKNOWN;
}

static struct load_rights load_error_rights_of_now(void)
{
	struct load_rights ret = { .capable =
					   rights_has(RIGHTS_SYS_ADMIN) ||
					   (rights_has(RIGHTS_BPF) && rights_has(RIGHTS_PERFMON)) };
	struct rlimit locked;

	if (assumed)
		return *assumed;
	ret.locks_freely = rights_has(RIGHTS_IPC_LOCK) || getrlimit(RLIMIT_MEMLOCK, &locked) < 0 ||
			   locked.rlim_cur == RLIM_INFINITY;
	ret.locks_bytes = ret.locks_freely ? 0 : locked.rlim_cur;
	ret.obstacle = load_error_obstacle_of_now();
	return ret;
}

static bool load_error_is_refusal(int error)
{
	return error == -EPERM || error == -EACCES;
}

static int load_error_set(int error, const char *action, const char *advice, char **reterr_text)
{
	char *p;

	for (p = libbpf_text; *p; p++)
		if (*p == '\n')
			*p = p[1] ? ' ' : '\0';
	return text_error(error, reterr_text, "cannot %s: %s%s%s%s%s", action, strerror(-error),
			  advice, *libbpf_text ? " (" : "", libbpf_text, *libbpf_text ? ")" : "");
}

/* Returns advice for a refusal. The advice names capabilities only if these are missing. */
static const char *load_error_advice_on_refusal(void)
{
	const struct load_rights rights = load_error_rights_of_now();

	if (!rights.capable)
		return "; kymo needs root, or CAP_BPF and CAP_PERFMON";
	switch (rights.obstacle) {
	case LOAD_OBSTACLE_USER_NAMESPACE:
		return "; this process is in a user namespace (unshare -U, or a rootless "
		       "container), where capabilities do not allow eBPF: run kymo as root outside "
		       "of it";
	case LOAD_OBSTACLE_LOCKDOWN:
		return "; kernel lockdown is in the mode 'confidentiality' (cat "
		       "/sys/kernel/security/lockdown), which forbids eBPF programs to read the "
		       "kernel: boot with lockdown=integrity";
	case LOAD_OBSTACLE_FILTER:
		return "; the system call filter (seccomp) of this process can be the reason: "
		       "allow bpf and perf_event_open in it (a container: --security-opt "
		       "seccomp=unconfined; a unit: SystemCallFilter=), and check security "
		       "modules";
	case LOAD_OBSTACLE_UNKNOWN:
		break;
	}
	if (!rights.locks_freely)
		return "; the process has the capabilities that it needs: check kernel lockdown, "
		       "security modules, system call filters and, before Linux 5.11, the limit on "
		       "locked memory (ulimit -l; LimitMEMLOCK= in kymod.service)";
	return "; the process has the capabilities that it needs: check kernel lockdown, security "
	       "modules and system call filters";
}

static const char *load_error_advice_to(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return load_error_advice_on_refusal();
	case -ENOMEM:
	case -E2BIG:
		return "; try smaller rings (-b)";
	case -EMFILE:
		return "; a session needs several file descriptors per CPU and per map: raise the "
		       "limit (ulimit -n; LimitNOFILE= in kymod.service)";
	case -ENFILE:
		return "; the system-wide limit on open files is reached: raise it (sysctl "
		       "fs.file-max)";
	default:
		return "";
	}
}

/*
 * Returns true if ERROR means a shortage, and does not come from the verifier. (libbpf prints a
 * log, which can be empty, for each program that cannot be loaded.)
 */
static bool load_error_is_shortage(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

int load_error(int error, const char *action, char **reterr_text)
{
	const char *advice = load_error_advice_to(error);

	if (verifier_text && !load_error_is_shortage(error))
		advice = "; this kernel's verifier refuses a program of kymo: please report it, "
			 "with the output of uname -r";
	return load_error_set(error, action, advice, reterr_text);
}

int load_error_perf(int error, const char *action, char **reterr_text)
{
	const char *advice;

	if (load_error_is_refusal(error) && perf_event_is_restricted())
		advice =
			"; kernel.perf_event_paranoid is 3 or more, so this kernel allows perf "
			"events only to CAP_SYS_ADMIN: start kymo-perf.socket, which opens them for "
			"kymod.service (systemctl start kymo-perf.socket), or allow them to CAP_PERFMON "
			"(sysctl kernel.perf_event_paranoid=2)";
	else if (error == -ETIMEDOUT)
		advice = "; kymo-perf.service does not answer (systemctl status kymo-perf.service)";
	else
		return load_error(error, action, reterr_text);
	return load_error_set(error, action, advice, reterr_text);
}

int load_error_memlock(const char *action, char **reterr_text)
{
	const struct load_rights rights = load_error_rights_of_now();
	char advice[320];

	snprintf(advice, sizeof(advice),
		 "; the rings need more locked memory than RLIMIT_MEMLOCK (%" PRIu64
		 " KiB) and kernel.perf_event_mlock_kb allow: raise the limit (ulimit -l; "
		 "LimitMEMLOCK= in kymod.service), or end other sessions",
		 rights.locks_bytes >> 10);
	return load_error_set(-EPERM, action, advice, reterr_text);
}
