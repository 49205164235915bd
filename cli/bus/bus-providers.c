/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs that are connected to the daemon with events of their own.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "cli/bus/bus-call.h"
#include "cli/bus/bus-client.h"

static int bus_providers_keep(char **to, const char *text)
{
	free(*to);
	*to = strdup(text);
	return *to ? 0 : -ENOMEM;
}

static int bus_providers_read_text(sd_bus_message *m, char **to)
{
	const char *text;
	int r = sd_bus_message_read(m, "v", "s", &text);

	return r < 0 ? r : bus_providers_keep(to, text);
}

static int bus_providers_read_categories(sd_bus_message *m, struct bus_client_provider *p)
{
	const char *name;
	size_t room = 0;
	int is_on, r = sd_bus_message_enter_container(m, 'v', "a(sb)");

	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "(sb)");
	while (r >= 0 && (r = sd_bus_message_read(m, "(sb)", &name, &is_on)) > 0) {
		struct bus_client_category *one;

		if (GROW(p->categories, room, p->n_categories + 1) < 0)
			return -ENOMEM;
		one = &p->categories[p->n_categories++];
		*one = (struct bus_client_category){ strdup(name), is_on };
		if (!one->name)
			return -ENOMEM;
	}
	for (unsigned i = 0; r >= 0 && i < 2; i++)
		r = sd_bus_message_exit_container(m);
	return r;
}

static int bus_providers_read_sessions(sd_bus_message *m, struct bus_client_provider *p)
{
	uint64_t written, lost;
	const char *path, *name;
	size_t room = 0;
	int r = sd_bus_message_enter_container(m, 'v', "a(ostt)");

	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "(ostt)");
	while (r >= 0 &&
	       (r = sd_bus_message_read(m, "(ostt)", &path, &name, &written, &lost)) > 0) {
		struct bus_client_recorded *one;

		if (GROW(p->sessions, room, p->n_sessions + 1) < 0)
			return -ENOMEM;
		one = &p->sessions[p->n_sessions++];
		*one = (struct bus_client_recorded){ strdup(path), strdup(name), written, lost };
		if (!one->path || !one->name)
			return -ENOMEM;
	}
	for (unsigned i = 0; r >= 0 && i < 2; i++)
		r = sd_bus_message_exit_container(m);
	return r;
}

/* Reads the next entry {sv}. Skips unknown entries, which later daemons can have. */
static int bus_providers_read_entry(sd_bus_message *m, struct bus_client_provider *p)
{
	const char *key;
	int r = sd_bus_message_read(m, "s", &key);

	if (r < 0)
		return r;
	if (strcmp(key, "name") == 0)
		return bus_providers_read_text(m, &p->name);
	if (strcmp(key, "cgroup") == 0)
		return bus_providers_read_text(m, &p->cgroup);
	if (strcmp(key, "pid") == 0)
		return sd_bus_message_read(m, "v", "u", &p->pid);
	if (strcmp(key, "uid") == 0)
		return sd_bus_message_read(m, "v", "u", &p->uid);
	if (strcmp(key, "categories") == 0)
		return bus_providers_read_categories(m, p);
	if (strcmp(key, "sessions") == 0)
		return bus_providers_read_sessions(m, p);
	return sd_bus_message_skip(m, "v");
}

static int bus_providers_read_one(sd_bus_message *m, struct bus_client_provider *p)
{
	int r = 0;

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = bus_providers_read_entry(m, p);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	if (r >= 0 && !p->name)
		r = bus_providers_keep(&p->name, "");
	if (r >= 0 && !p->cgroup)
		r = bus_providers_keep(&p->cgroup, "");
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int bus_providers_read(sd_bus_message *m, struct bus_client_providers *ret)
{
	size_t room = 0;
	int r = sd_bus_message_enter_container(m, 'a', "a{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'a', "{sv}")) > 0) {
		if (GROW(ret->providers, room, ret->n + 1) < 0)
			return -ENOMEM;
		ret->providers[ret->n++] = (struct bus_client_provider){ 0 };
		r = bus_providers_read_one(m, &ret->providers[ret->n - 1]);
	}
	return r;
}

int bus_client_providers(struct bus_client *c, struct bus_client_providers *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r = bus_call_with(c, KYMO_MANAGER_PATH, "ListProviders", &reply, "");

	*ret = (struct bus_client_providers){ 0 };
	if (r < 0)
		return r;
	r = bus_providers_read(reply, ret);
	return r < 0 ? bus_fail_call(c, r, NULL) : 0;
}

void bus_client_providers_deinit(struct bus_client_providers *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct bus_client_provider *one = &p->providers[i];

		for (size_t k = 0; k < one->n_categories; k++)
			free(one->categories[k].name);
		for (size_t k = 0; k < one->n_sessions; k++) {
			free(one->sessions[k].path);
			free(one->sessions[k].name);
		}
		free(one->categories);
		free(one->sessions);
		free(one->name);
		free(one->cgroup);
	}
	free(p->providers);
}
