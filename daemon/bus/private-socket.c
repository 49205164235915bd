/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bus/private-socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/foreign-fds.h"
#include "daemon/access/access.h"
#include "daemon/common/log.h"
#include "daemon/files/direct-sockets.h"

enum {
	PRIVATE_BACKLOG = 16,
	/* New connections in a second; more than that wait. */
	PRIVATE_PER_SECOND = 50,
};

struct private_peer {
	struct private_socket *socket;
	struct private_peer *next;
	sd_bus *bus;
	int kept;             /* the duplicate of its socket (direct-sockets.h); negative = none */
	sd_event_source *end; /* off at first; frees the peer, outside of its bus's functions */
};

struct private_socket {
	struct private_socket_args args;
	sd_event_source *listening;
	struct private_peer *peers;
};

/* ---- connections ---- */

static struct private_peer *private_socket_peer_free(struct private_peer *p)
{
	if (!p)
		return NULL;
	if (p->bus)
		access_remove_direct(p->socket->args.manager->access, p->bus);
	sd_event_source_disable_unref(p->end);
	/* (this does not wait until the messages to the client are written) */
	sd_bus_close_unref(p->bus);
	if (p->kept >= 0)
		direct_sockets_remove(p->kept);
	return free_ptr(p);
}

DEFINE_CLEANUP(struct private_peer *, private_socket_peer_free)

static int private_socket_on_end(sd_event_source *source, void *userdata)
{
	struct private_peer *p = userdata;

	for (struct private_peer **at = &p->socket->peers; *at; at = &(*at)->next) {
		if (*at == p) {
			*at = p->next;
			break;
		}
	}
	private_socket_peer_free(p);
	return 0;
}

static int private_socket_on_message(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct private_peer *p = userdata;
	struct private_socket *s = p->socket;

	if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Local", "Disconnected")) {
		direct_sockets_end(p->kept);
		return sd_event_source_set_enabled(p->end, SD_EVENT_ONESHOT);
	}
	if (sd_bus_message_is_method_call(m, NULL, NULL))
		s->args.on_call(s->args.userdata);
	return 0;
}

/* Makes a D-Bus connection of the socket FD, and owns FD on success only. */
static int private_socket_open_bus(int fd, sd_bus **ret)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	sd_id128_t id;
	int r = sd_id128_randomize(&id);

	if (r >= 0)
		r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_description(bus, "kymod-private");
	if (r >= 0)
		r = sd_bus_set_server(bus, true, id);
	if (r >= 0)
		r = sd_bus_set_sender(bus, KYMO_BUS_NAME);
	if (r >= 0)
		r = sd_bus_negotiate_fds(bus, true);
	if (r >= 0)
		r = sd_bus_set_close_on_exit(bus, false);
	if (r >= 0)
		r = sd_bus_set_fd(bus, fd, fd);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(bus);
	return 0;
}

static int private_socket_start_peer(struct private_peer *p, uid_t uid)
{
	struct manager *m = p->socket->args.manager;
	int r = access_add_direct(m->access, p->bus, uid);

	if (r >= 0)
		r = sd_bus_add_filter(p->bus, NULL, private_socket_on_message, p);
	if (r >= 0)
		r = m->objects->offer(m, p->bus);
	if (r >= 0)
		r = sd_bus_start(p->bus);
	return r < 0 ? r
		     : sd_bus_attach_event(p->bus, p->socket->args.event, SD_EVENT_PRIORITY_NORMAL);
}

/* Serves the connection FD of UID. Takes FD on success only. */
static int private_socket_add_peer(struct private_socket *s, int fd, uid_t uid)
{
	_cleanup_(private_socket_peer_freep) struct private_peer *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->socket = s;
	p->kept = -1;
	/* (added first: without this source, a peer that ends would never be removed) */
	r = sd_event_add_defer(s->args.event, &p->end, private_socket_on_end, p);
	if (r >= 0)
		r = sd_event_source_set_enabled(p->end, SD_EVENT_OFF);
	if (r < 0)
		return r;
	p->kept = direct_sockets_add(fd, uid);
	if (p->kept < 0)
		return p->kept;
	r = private_socket_open_bus(fd, &p->bus);
	if (r < 0)
		return r;
	r = private_socket_start_peer(p, uid);
	if (r < 0) {
		/* The failed connection owns its descriptor, and is freed together with it. */
		log_warning(r, "cannot serve a connection to the private socket");
		return 0;
	}
	p->next = s->peers;
	s->peers = TAKE_PTR(p);
	return 0;
}

static int private_socket_on_connection(sd_event_source *source, int listening, uint32_t revents,
					void *userdata)
{
	struct private_socket *s = userdata;
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), r = -EACCES;
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(peer);

	if (fd < 0)
		return 0; /* the limit of the rate prevents a loop */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == 0)
		r = private_socket_add_peer(s, fd, peer.uid);
	if (r == 0)
		return 0;
	log_warning(r, "a connection of user %u to the private socket is refused", peer.uid);
	/* The socket's queue may contain messages with descriptors, so a close can hang. */
	foreign_fds_mark(fd, FOREIGN_FD_OF(peer.uid));
	close_passed_fd(fd);
	return 0;
}

/* ---- the socket ---- */

/* Removes the socket at ADDRESS if no process serves it. Returns 0 or a negative errno. */
static int private_socket_clear(const struct sockaddr_un *address)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN)
		return -EADDRINUSE;
	if (errno != ECONNREFUSED)
		return -errno;
	return unlink(address->sun_path) < 0 ? -errno : 0;
}

int private_socket_listen(const char *path)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t before;
	int r;

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	r = private_socket_clear(&address);
	if (r < 0)
		return r;
	/* With this mode, the kernel refuses the connections of other users. */
	before = umask(0177);
	r = bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(before);
	if (r < 0)
		return r;
	return listen(fd, PRIVATE_BACKLOG) < 0 ? -errno : TAKE_FD(fd);
}

int private_socket_new(const struct private_socket_args *args, struct private_socket **ret)
{
	_cleanup_(private_socket_freep) struct private_socket *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		close_fd(args->fd);
		return -ENOMEM;
	}
	s->args = *args;
	r = sd_event_add_io(args->event, &s->listening, args->fd, EPOLLIN,
			    private_socket_on_connection, s);
	if (r >= 0)
		r = sd_event_source_set_ratelimit(s->listening, 1000000, PRIVATE_PER_SECOND);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct private_socket *private_socket_free(struct private_socket *s)
{
	if (!s)
		return NULL;
	while (s->peers) {
		struct private_peer *p = s->peers;

		s->peers = p->next;
		private_socket_peer_free(p);
	}
	sd_event_source_disable_unref(s->listening);
	close_fd(s->args.fd);
	return free_ptr(s);
}

void private_socket_pause(struct private_socket *s, bool paused)
{
	if (s)
		sd_event_source_set_enabled(s->listening, paused ? SD_EVENT_OFF : SD_EVENT_ON);
}

bool private_socket_has_input(const struct private_socket *s)
{
	for (const struct private_peer *p = s ? s->peers : NULL; p; p = p->next) {
		struct pollfd socket = { .fd = p->kept, .events = POLLIN };

		if (poll(&socket, 1, 0) > 0 && socket.revents & POLLIN &&
		    !(socket.revents & (POLLHUP | POLLERR)))
			return true;
	}
	return false;
}
