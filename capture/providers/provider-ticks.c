/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-ticks.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"

static uint64_t provider_ticks_stamp(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return 0;
#endif
}

enum provider_clock provider_ticks_clock(void)
{
#ifdef __x86_64__
	/* The kernel has checked that the counters of all CPUs agree, and that none stops. */
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/"
				   "current_clocksource";
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[16];

	if (fd >= 0 && read(fd, text, sizeof(text)) == 4 && memcmp(text, "tsc\n", 4) == 0)
		return PROVIDER_CLOCK_TSC;
#endif
	return PROVIDER_CLOCK_BOOTTIME;
}

bool provider_ticks_is_future(uint64_t stamp)
{
	return stamp > provider_ticks_stamp();
}

void provider_ticks_read(struct provider_ticks *t)
{
	uint64_t best = UINT64_MAX, stamp = 0, boot_ns = 0;

	/*
	 * An interrupt between the two readings would make the pair wrong, so the fastest of
	 * several attempts is used.
	 */
	for (int i = 0; i < 5; i++) {
		uint64_t before = provider_ticks_stamp(), now = clock_boot_ns();
		uint64_t after = provider_ticks_stamp();

		if (after - before >= best)
			continue;
		best = after - before;
		stamp = before + best / 2;
		boot_ns = now;
	}
	provider_ticks_add(t, stamp, boot_ns);
}

void provider_ticks_add(struct provider_ticks *t, uint64_t stamp, uint64_t boot_ns)
{
	unsigned n = 0;

	if (t->n > 0 &&
	    (stamp <= t->readings[t->n - 1].stamp || boot_ns < t->readings[t->n - 1].boot_ns))
		return;
	if (t->n == PROVIDER_TICKS_READINGS) {
		for (unsigned i = 0; i < t->n; i++)
			if (i >= t->n / 2 || i % 2 == 0)
				t->readings[n++] = t->readings[i];
		t->n = n;
	}
	t->readings[t->n++] = (struct provider_ticks_reading){ stamp, boot_ns };
}

bool provider_ticks_ns(const struct provider_ticks *t, uint64_t stamp, uint64_t *ret_ns)
{
	const struct provider_ticks_reading *a, *b;
	size_t i;

	if (t->n < 2 || stamp < t->readings[0].stamp || stamp > t->readings[t->n - 1].stamp)
		return false;
	i = ARRAY_FIRST(k, 1, t->n - 1, t->readings[k].stamp >= stamp);
	a = &t->readings[i - 1];
	b = &t->readings[i];
	*ret_ns = a->boot_ns + (uint64_t)((unsigned __int128)(stamp - a->stamp) *
					  (b->boot_ns - a->boot_ns) / (b->stamp - a->stamp));
	return true;
}
