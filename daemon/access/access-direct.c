/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Direct connections of root: each is a peer that needs no credentials and no rights.
 */
#include "daemon/access/access-parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

bool access_end_unread(const struct peer *p)
{
	uint64_t n_unread = 0;

	if (sd_bus_get_n_queued_write(p->direct, &n_unread) < 0 || n_unread < ACCESS_DIRECT_UNREAD)
		return false;
	shutdown(sd_bus_get_fd(p->direct), SHUT_RDWR);
	return true;
}

static int access_on_direct_message(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct peer *p = userdata;
	int r;

	if (!sd_bus_message_is_method_call(m, NULL, NULL))
		return 0;
	if (access_end_unread(p))
		return 1;
	r = access_check_weight(m, reterr);
	if (r < 0)
		return r;
	p->granted = RIGHTS_ALL;
	return 0;
}

struct peer *access_find_direct(const struct access *a, const sd_bus *bus)
{
	for (struct peer *p = a->peers; p; p = p->next)
		if (p->direct == bus)
			return p;
	return NULL;
}

int access_add_direct(struct access *a, sd_bus *bus, uid_t uid)
{
	_cleanup_(access_peer_freep) struct peer *p = calloc(1, sizeof(*p));
	int r;

	if (uid != 0)
		return -EACCES;
	if (!p)
		return -ENOMEM;
	p->access = a;
	p->direct = bus;
	p->known = true;
	p->uid = uid;
	if (asprintf(&p->name, "private-%" PRIu64, ++a->n_directs) < 0) {
		p->name = NULL;
		return -ENOMEM;
	}
	r = sd_bus_add_filter(bus, &p->question, access_on_direct_message, p);
	if (r < 0)
		return r;
	p->next = a->peers;
	a->peers = TAKE_PTR(p);
	a->n_peers++;
	return 0;
}

void access_remove_direct(struct access *a, sd_bus *bus)
{
	struct peer *p = access_find_direct(a, bus);

	if (!p)
		return;
	/* The lookup of senders needs the peer. */
	a->ops.gone(p->name, a->ops.userdata);
	access_forget(p);
}
