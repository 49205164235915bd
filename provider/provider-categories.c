/* SPDX-License-Identifier: MIT */
/*
 * The list of all categories. Its lock is taken when libraries are loaded and unloaded, by the
 * library's thread, and at fork(), but never to write events.
 */
#include <fnmatch.h>
#include <pthread.h>
#include <string.h>

#include "provider/provider-state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kymo_category *categories;
static unsigned n_added;
static char patterns_of[PROVIDER_SESSIONS][PROVIDER_CATEGORIES_MAX];
static uint32_t sessions_set;

void provider_categories_lock(void)
{
	pthread_mutex_lock(&lock);
}

void provider_categories_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* Returns true if one of PATTERNS, which are separated by commas, matches NAME. */
static bool provider_categories_match(const char *patterns, const char *name)
{
	char pattern[PROVIDER_CATEGORIES_MAX];
	size_t n;

	for (const char *p = patterns; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		if (n >= sizeof(pattern))
			continue;
		memcpy(pattern, p, n);
		pattern[n] = 0;
		if (fnmatch(pattern, name, 0) == 0)
			return true;
	}
	return false;
}

static void provider_categories_update(struct kymo_category *c)
{
	uint32_t sessions = 0;

	for (unsigned i = 0; i < PROVIDER_SESSIONS; i++)
		if (sessions_set >> i & 1 &&
		    provider_categories_match(patterns_of[i], c->name.text))
			sessions |= 1U << i;
	__atomic_store_n(&c->sessions, sessions, __ATOMIC_SEQ_CST);
}

static void provider_categories_update_all(void)
{
	for (struct kymo_category *c = categories; c; c = c->next)
		provider_categories_update(c);
}

void provider_categories_set(unsigned i, const char *patterns)
{
	provider_categories_lock();
	sessions_set &= ~(1U << i);
	if (patterns) {
		strncpy(patterns_of[i], patterns, PROVIDER_CATEGORIES_MAX - 1);
		sessions_set |= 1U << i;
	}
	provider_categories_update_all();
	provider_categories_unlock();
}

void provider_categories_off(void)
{
	sessions_set = 0;
	provider_categories_update_all();
}

void kymo_category_add(struct kymo_category *category)
{
	provider_categories_lock();
	category->next = categories;
	categories = category;
	n_added++;
	provider_categories_update(category);
	provider_categories_unlock();
	provider_start_notify();
}

void kymo_category_remove(struct kymo_category *category)
{
	provider_categories_lock();
	for (struct kymo_category **p = &categories; *p; p = &(*p)->next)
		if (*p == category) {
			*p = category->next;
			break;
		}
	__atomic_store_n(&category->sessions, 0, __ATOMIC_SEQ_CST);
	provider_categories_unlock();
}

unsigned provider_categories_count(void)
{
	unsigned n;

	provider_categories_lock();
	n = n_added;
	provider_categories_unlock();
	return n;
}

uint32_t provider_categories_list(char *text, uint32_t room, unsigned *next)
{
	uint32_t used = 0;
	unsigned n = 0;

	provider_categories_lock();
	for (const struct kymo_category *c = categories; c; c = c->next, n++) {
		if (n < *next)
			continue;
		if (c->name.length + 1 > room - used)
			break;
		memcpy(text + used, c->name.text, c->name.length + 1);
		used += c->name.length + 1;
		*next = n + 1;
	}
	provider_categories_unlock();
	return used;
}
