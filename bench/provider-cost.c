/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of an event of a program, with one integer argument: of a provider, off and on, with a
 * manager that reads; of the static probe of sys/sdt.h, without a uprobe; and of a line that is
 * written to trace_marker. Each is the best of some rounds. Prints a line for each.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "provider/kymo-provider.h"
#include "tests/support/fixtures/provider-manager.h"
#include "tests/support/unit.h"

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#endif

KYMO_CATEGORY(bench);

enum { ROUNDS = 20, EVENTS = 100000, FEW_EVENTS = 10000 };

static int marker_fd = -1;

static void write_kymo(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		kymo_instant(bench, "event", kymo_int("n", (int)i));
}

static void write_loop(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i));
}

static void write_marker(unsigned n)
{
	char text[32];

	for (unsigned i = 0; i < n; i++) {
		int length = snprintf(text, sizeof(text), "event n=%u", i);

		if (write(marker_fd, text, (size_t)length) != length)
			_exit(3);
	}
}

#ifdef DTRACE_PROBE1
static __attribute__((noinline)) void write_sdt(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		DTRACE_PROBE1(kymo_bench, event, i);
}
#endif

static double measure(void (*write_events)(unsigned n), unsigned n)
{
	uint64_t best = UINT64_MAX, begin, ns;

	for (int round = 0; round < ROUNDS; round++) {
		begin = clock_boot_ns();
		write_events(n);
		ns = clock_boot_ns() - begin;
		best = ns < best ? ns : best;
		usleep(30000); /* the manager reads */
	}
	return (double)best / n;
}

static void print_cost(const char *name, double ns)
{
	printf("%-40s %8.2f ns\n", name, ns);
	fflush(stdout);
}

static void run_program(void)
{
	print_cost("(a loop alone)", measure(write_loop, EVENTS));
	print_cost("kymo-provider, off", measure(write_kymo, EVENTS));
	if (kymo_provider_start("bench") < 0)
		_exit(2);
	while (!kymo_is_on(bench))
		usleep(1000);
	print_cost("kymo-provider, on", measure(write_kymo, EVENTS));
#ifdef DTRACE_PROBE1
	print_cost("sys/sdt.h, off", measure(write_sdt, EVENTS));
#endif
	marker_fd = open("/sys/kernel/tracing/trace_marker", O_WRONLY | O_CLOEXEC);
	if (marker_fd >= 0)
		print_cost("trace_marker, write()", measure(write_marker, FEW_EVENTS));
	else
		printf("trace_marker: not available\n");
	fflush(stdout);
}

static uint64_t n_bytes;

static void count_bytes(void *userdata, const uint64_t *words)
{
	n_bytes += fxt_get_record_words(words[0]) * FXT_WORD_BYTES;
}

int main(void)
{
	const struct provider_buffer_options options = { PROVIDER_STREAMING, 512, 16 << 10 };
	struct provider_losses losses;
	static struct provider_manager m;
	pid_t pid;
	int status;

	provider_manager_init(&m);
	m.event = count_bytes;
	provider_manager_listen(&m);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_program();
		_exit(0);
	}
	provider_manager_accept(&m);
	provider_manager_start(&m, "bench", &options);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		provider_manager_read(&m, false);
		usleep(1000);
	}
	provider_manager_read(&m, true);
	provider_buffer_losses(m.buffer, &losses);
	printf("%-40s %8.2f\n", "kymo-provider, bytes per event",
	       m.n_events ? (double)n_bytes / (double)m.n_events : 0.0);
	printf("%-40s %llu of %llu\n", "kymo-provider, lost", (unsigned long long)losses.full,
	       (unsigned long long)(m.n_events + losses.full));
	provider_manager_deinit(&m);
	return status != 0;
}
