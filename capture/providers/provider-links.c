/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-links.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/foreign-fds.h"
#include "capture/providers/provider-packet.h"
#include "capture/providers/provider-passed.h"
#include "capture/providers/provider-socket.h"

enum {
	PACKETS_AT_ONCE = 256, /* packets of a link until the next renewal */
	ACCEPTS_AT_ONCE = 64,
	PACKET_BYTES = 256, /* a packet of more bytes counts as several */
	CATEGORIES_MAX = 1024,
};

/* The minimum time between two renewals, also in a process with many sessions. */
#define RENEW_INTERVAL_NS UINT64_C(50000000)
/* How often programs that were refused are called back, if there is room. */
#define RECALL_INTERVAL_NS UINT64_C(1000000000)

/*
 * How long no connection is accepted after one of a stuck user (whose descriptors cannot be
 * closed), or after accept() has failed, for example because no descriptor is free.
 */
#define STUCK_INTERVAL_NS UINT64_C(1000000000)

struct provider_links {
	struct provider_socket socket;
	int epoll_fd;
	unsigned n_accepted; /* connections since the last renewal */
	/* Too many were accepted, or accept() has failed: the socket is not watched. */
	bool rests;
	bool has_refused; /* a program was refused since the last recall */
	bool has_room;    /* a link was forgotten since the last recall */
	uint64_t recalled_ns;
	const struct provider_links_ops *ops;
	uint64_t stuck_ns; /* CLOCK_BOOTTIME: when a user was stuck, or accept() failed */
	/* The last connection of a stuck user, which waits to be closed; -1 = none. */
	int parked_fd;
	uint32_t parked_uid;
	uint64_t last_number;
	uint64_t renewed_ns; /* CLOCK_BOOTTIME */
	uint64_t n_news;
	bool has_chance; /* listeners can begin a session, and were not called yet */
	uint64_t seed;   /* of hashes of categories */
	struct provider_memory memory;
	struct provider_listener *listeners;
	struct provider_link *links[PROVIDER_LINKS_MAX];
	struct provider_links_counts counts;
	/* Room for a packet: one byte more than the longest packet. */
	char packet[sizeof(struct provider_message) + 1];
};

static int provider_links_watch(struct provider_links *l, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

static void provider_links_unwatch(struct provider_links *l, int fd)
{
	if (fd >= 0)
		epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static const struct provider_links_ops no_ops;

int provider_links_new(struct provider_links **ret, const char *owner,
		       char why[static VALUE_WHY_MAX])
{
	_cleanup_(provider_links_freep) struct provider_links *l = calloc(1, sizeof(*l));
	int r;

	*why = '\0';
	if (!l)
		return -ENOMEM;
	l->socket = (struct provider_socket){ -1, -1, -1 };
	l->parked_fd = -1;
	l->ops = &no_ops;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0)
		return -errno;
	if (getrandom(&l->seed, sizeof(l->seed), GRND_NONBLOCK) < 0)
		l->seed = clock_boot_ns();
	r = provider_socket_open(&l->socket, owner, why) ?: provider_links_watch(l, l->socket.fd);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(l);
	return 0;
}

static bool provider_links_has_ended(const struct provider_link *link)
{
	struct pollfd pfd = { .fd = link->pid_fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

/* Calls ops->closes(), since FD is about to be closed, if it is open. */
static void provider_links_tell_close(const struct provider_links *l, int fd)
{
	if (l->ops->closes && fd >= 0)
		l->ops->closes(fd);
}

static void provider_links_hang_up(struct provider_links *l, struct provider_link *link)
{
	link->has_ended |= provider_links_has_ended(link);
	/* (otherwise, epoll keeps a closed descriptor as long as a child has a copy of it) */
	provider_links_unwatch(l, link->fd);
	provider_links_unwatch(l, link->pid_fd);
	provider_links_tell_close(l, link->fd);
	link->fd = provider_passed_close(link->fd, link->uid);
	link->pid_fd = close_fd(link->pid_fd);
	if (!link->is_gone)
		link->gone_ns = clock_boot_ns();
	link->is_gone = true;
}

static void provider_links_free_link(struct provider_link *link)
{
	if (link->is_listed || link->n_users > 0)
		return;
	table_deinit_free(&link->categories);
	free(link);
}

/* Removes link I, which is gone, from the list. */
static void provider_links_forget(struct provider_links *l, size_t i)
{
	struct provider_link *link = l->links[i];

	l->links[i] = NULL;
	l->has_room = true;
	link->is_listed = false;
	provider_links_free_link(link);
}

struct provider_links *provider_links_free(struct provider_links *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < PROVIDER_LINKS_MAX; i++)
		if (l->links[i]) {
			provider_links_hang_up(l, l->links[i]);
			provider_links_forget(l, i);
		}
	l->parked_fd = provider_passed_close(l->parked_fd, l->parked_uid);
	provider_links_tell_close(l, l->socket.fd);
	provider_socket_close(&l->socket);
	close_fd(l->epoll_fd);
	table_deinit(&l->memory.of_users);
	return free_ptr(l);
}

int provider_links_lock_fd(const struct provider_links *l)
{
	return l->socket.lock_fd;
}

int provider_links_fd(const struct provider_links *l)
{
	return l->epoll_fd;
}

/* ---- connections ---- */

/* Returns a free place for a program of UID, or NULL if a limit is reached. */
static struct provider_link **provider_links_place(struct provider_links *l, uint32_t uid)
{
	struct provider_link **free_place = NULL;
	unsigned n = 0, n_free = 0;

	for (size_t i = 0; i < PROVIDER_LINKS_MAX; i++) {
		if (!l->links[i]) {
			free_place = &l->links[i];
			n_free++;
		} else {
			n += l->links[i]->uid == uid;
		}
	}
	if (uid != 0 &&
	    (n >= PROVIDER_LINKS_PER_USER || n >= n_free || n_free <= PROVIDER_LINKS_OF_ROOT))
		return NULL;
	return free_place;
}

/*
 * Whether FD is still connected. If not, its process can have ended, and the id of the process can
 * belong to another one.
 */
static bool provider_links_is_connected(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0 || errno == EAGAIN;
}

/* Takes ownership of FD, of the process WHO, if the result is true. */
static bool provider_links_add(struct provider_links *l, int fd, struct ucred who)
{
	_cleanup_close_ int pid_fd = -1;
	struct provider_link **place = provider_links_place(l, who.uid);
	const int on = 1;

	if (!place) {
		l->counts.refused++;
		l->has_refused = true;
		l->has_room = false;
		return false;
	}
	/* (each packet then has the id of the process that sent it) */
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return false;
	pid_fd = (int)syscall(SYS_pidfd_open, who.pid, 0);
	if (pid_fd < 0 || !provider_links_is_connected(fd))
		return false;
	*place = calloc(1, sizeof(**place));
	if (!*place)
		return false;
	**place = (struct provider_link){
		.fd = fd,
		.pid_fd = TAKE_FD(pid_fd),
		.pid = (uint32_t)who.pid,
		.uid = who.uid,
		.number = ++l->last_number,
		.since_ns = clock_boot_ns(),
		.is_listed = true,
	};
	l->n_news++;
	if (l->ops->opened)
		l->ops->opened(fd);
	if (provider_links_watch(l, (*place)->fd) < 0 ||
	    provider_links_watch(l, (*place)->pid_fd) < 0)
		provider_links_hang_up(l, *place);
	return true;
}

/*
 * Ends the connection FD of a stuck user, but keeps FD open, and accepts no connections for a
 * while. If FD were closed, the user's descriptors that cannot be closed would become more with
 * each attempt to connect.
 */
static void provider_links_park(struct provider_links *l, int fd, uint32_t uid)
{
	shutdown(fd, SHUT_RDWR);
	l->parked_fd = fd;
	l->parked_uid = uid;
	l->stuck_ns = clock_boot_ns();
}

static bool provider_links_is_stuck(const struct provider_links *l, uint32_t uid)
{
	return l->ops->is_stuck && l->ops->is_stuck(uid);
}

/*
 * Whether connections can be accepted again. Closes the connection that was kept by
 * provider_links_park().
 */
static bool provider_links_unpark(struct provider_links *l, uint64_t now_ns)
{
	if (now_ns < l->stuck_ns + STUCK_INTERVAL_NS)
		return false;
	if (l->parked_fd < 0)
		return true;
	if (provider_links_is_stuck(l, l->parked_uid)) {
		l->stuck_ns = now_ns;
		return false;
	}
	l->parked_fd = provider_passed_close(l->parked_fd, l->parked_uid);
	/* (its program waits for the doorbell) */
	l->has_refused = l->has_room = true;
	return true;
}

static void provider_links_accept(struct provider_links *l)
{
	struct ucred who;
	socklen_t size;
	int fd;

	while (l->n_accepted < ACCEPTS_AT_ONCE && !provider_passed_is_full()) {
		fd = accept4(l->socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno == EAGAIN)
			return;
		l->n_accepted++;
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			/*
			 * (no descriptor or no memory is free; the socket stays readable, so
			 * accepting pauses)
			 */
			l->stuck_ns = clock_boot_ns();
			break;
		}
		who = (struct ucred){ 0 };
		size = sizeof(who);
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size);
		/* (in the service, a program's descriptors count for its user) */
		foreign_fds_mark(fd, FOREIGN_FD_OF(who.uid));
		if (provider_links_is_stuck(l, who.uid)) {
			provider_links_park(l, fd, who.uid);
			break;
		}
		if (who.pid <= 0 || !provider_links_add(l, fd, who))
			provider_passed_close(fd, who.uid);
	}
	l->rests = true;
	provider_links_unwatch(l, l->socket.fd);
}

/* ---- packets ---- */

/*
 * Keeps the names of the categories in a packet, each once: programs send all of them repeatedly.
 */
static void provider_links_take_categories(struct provider_links *l, struct provider_link *link,
					   const struct provider_packet *packet)
{
	const char *name = l->packet + PROVIDER_MESSAGE_HEAD;

	for (unsigned i = 0; i < packet->n_categories; i++) {
		size_t size = strlen(name) + 1;
		uint64_t hash = provider_links_hash(l, name, size - 1);

		if (link->categories.n_used < CATEGORIES_MAX &&
		    !table_get(&link->categories, hash) &&
		    link->categories_bytes + size <= PROVIDER_TEXT_MAX &&
		    table_copy(&link->categories, hash, name, size))
			link->categories_bytes += size;
		name += size;
	}
}

static void provider_links_take(struct provider_links *l, struct provider_link *link,
				const struct provider_packet *packet)
{
	switch (packet->kind) {
	case PROVIDER_HELLO:
		memcpy(link->name, packet->name, sizeof(link->name));
		l->n_news++;
		l->has_chance = true;
		break;
	case PROVIDER_CATEGORIES:
		provider_links_take_categories(l, link, packet);
		break;
	default:
		l->has_chance |= provider_seats_answer(&link->seats, packet);
		break;
	}
}

/*
 * Whether the packet is one that a program can send in the state of LINK. SENDER is the process
 * that has sent it.
 */
static bool provider_links_expects(const struct provider_link *link,
				   const struct provider_packet *packet, pid_t sender)
{
	bool is_known = *link->name != '\0';

	switch (packet->kind) {
	case PROVIDER_HELLO:
		return !is_known;
	case PROVIDER_CATEGORIES:
		return is_known;
	default:
		return is_known && sender == (pid_t)link->pid &&
		       provider_seats_expect(&link->seats, packet);
	}
}

/* Takes the next packet. Returns false if there is none. */
static bool provider_links_receive(struct provider_links *l, struct provider_link *link)
{
	struct provider_packet packet;
	pid_t sender;
	ssize_t n;
	int r;

	if (provider_passed_is_next(link->fd, &sender)) {
		l->counts.dropped++;
		provider_links_hang_up(l, link);
		return false;
	}
	n = recv(link->fd, l->packet, sizeof(l->packet), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		provider_links_hang_up(l, link);
		return false;
	}
	link->n_packets += (unsigned)n / PACKET_BYTES;
	r = provider_packet_check(&packet, l->packet, (size_t)n);
	if (r == -EPROTONOSUPPORT)
		return true;
	if (r < 0 || !provider_links_expects(link, &packet, sender)) {
		l->counts.dropped++;
		provider_links_hang_up(l, link);
		return false;
	}
	provider_links_take(l, link, &packet);
	return true;
}

static void provider_links_serve(struct provider_links *l, struct provider_link *link)
{
	while (link->n_packets < PACKETS_AT_ONCE) {
		if (!provider_links_receive(l, link))
			return;
		link->n_packets++;
	}
	provider_links_unwatch(l, link->fd);
}

static void provider_links_tell(struct provider_links *l)
{
	l->has_chance = false;
	for (struct provider_listener *next, *one = l->listeners; one; one = next) {
		next = one->next;
		one->fn(one->userdata);
	}
}

void provider_links_poll(struct provider_links *l)
{
	struct epoll_event events[16];
	int n = epoll_wait(l->epoll_fd, events, ARRAY_SIZE(events), 0);

	for (int i = 0; i < n; i++) {
		int fd = events[i].data.fd;

		if (fd == l->socket.fd)
			provider_links_accept(l);
		/* (FD can have been closed in this loop, and can belong to a new connection now) */
		for (size_t k = 0; fd != l->socket.fd && k < PROVIDER_LINKS_MAX; k++) {
			struct provider_link *link = l->links[k];

			if (!link || link->is_gone || (fd != link->pid_fd && fd != link->fd))
				continue;
			provider_links_serve(l, link);
			if (fd == link->pid_fd && !link->is_gone && provider_links_has_ended(link))
				provider_links_hang_up(l, link);
		}
	}
	if (l->has_chance)
		provider_links_tell(l);
}

/* Wakes programs that were refused, since there is room again. */
static void provider_links_recall(struct provider_links *l)
{
	uint64_t now_ns = clock_boot_ns();

	if (!l->has_refused || !l->has_room || now_ns < l->recalled_ns + RECALL_INTERVAL_NS)
		return;
	l->has_refused = l->has_room = false;
	l->recalled_ns = now_ns;
	provider_socket_ring(&l->socket);
}

/* Ends LINK if its program has not sent its name in time. */
static void provider_links_check_name(struct provider_links *l, struct provider_link *link,
				      uint64_t now_ns)
{
	if (*link->name || now_ns < link->since_ns + PROVIDER_HELLO_NS)
		return;
	l->counts.dropped++;
	/* (perhaps only a suspend has delayed the name, so the program is called back) */
	l->has_refused = true;
	provider_links_hang_up(l, link);
}

/* Allows the next packets of LINK. */
static void provider_links_renew_one(struct provider_links *l, struct provider_link *link)
{
	int r = 0;

	if (link->n_packets >= PACKETS_AT_ONCE)
		r = provider_links_watch(l, link->fd);
	link->n_packets = 0;
	/* (otherwise, packets of the program would never be read) */
	if (r < 0 && r != -EEXIST)
		provider_links_hang_up(l, link);
}

void provider_links_renew(struct provider_links *l)
{
	uint64_t now_ns = clock_boot_ns();

	if (now_ns < l->renewed_ns + RENEW_INTERVAL_NS)
		return;
	l->renewed_ns = now_ns;
	provider_links_recall(l);
	l->n_accepted = 0;
	if (l->rests && provider_links_unpark(l, now_ns) &&
	    provider_links_watch(l, l->socket.fd) == 0)
		l->rests = false;
	for (size_t i = 0; i < PROVIDER_LINKS_MAX; i++) {
		struct provider_link *link = l->links[i];

		if (link && link->is_gone)
			provider_links_forget(l, i);
		if (!link || !l->links[i])
			continue;
		provider_links_check_name(l, link, now_ns);
		if (!link->is_gone)
			provider_links_renew_one(l, link);
	}
}

struct provider_link *provider_links_next(const struct provider_links *l, size_t *pos)
{
	while (*pos < PROVIDER_LINKS_MAX)
		if (l->links[(*pos)++])
			return l->links[*pos - 1];
	return NULL;
}

void provider_links_keep(struct provider_link *link)
{
	link->n_users++;
}

void provider_links_release(struct provider_link *link)
{
	link->n_users--;
	provider_links_free_link(link);
}

void provider_links_set_ops(struct provider_links *l, const struct provider_links_ops *ops)
{
	l->ops = ops;
	if (ops->opened)
		ops->opened(l->socket.fd);
}

void provider_links_listen(struct provider_links *l, struct provider_listener *listener)
{
	listener->next = l->listeners;
	l->listeners = listener;
}

void provider_links_ignore(struct provider_links *l, struct provider_listener *listener)
{
	for (struct provider_listener **at = &l->listeners; *at; at = &(*at)->next)
		if (*at == listener) {
			*at = listener->next;
			return;
		}
}

/* ---- sessions ---- */

static int provider_links_send(const struct provider_link *link,
			       const struct provider_message *message, const int *fds)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr head;
	} control = { 0 };
	struct iovec part = { (void *)message, PROVIDER_MESSAGE_HEAD + message->text_bytes };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fds) {
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(2 * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, 2 * sizeof(int));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	return sendmsg(link->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

struct provider_seat *provider_links_start(struct provider_links *l, struct provider_link *link,
					   const struct provider_message *message, uint32_t uid,
					   const int fds[2])
{
	struct provider_seat *seat = provider_seats_take(&link->seats, message->session, uid);

	/*
	 * If the program takes no packets, its connection ends, since nothing waits for programs.
	 */
	if (seat && !link->is_gone && provider_links_send(link, message, fds) < 0)
		provider_links_hang_up(l, link);
	return seat;
}

void provider_links_drop(struct provider_links *l, struct provider_link *link)
{
	if (!link->is_gone)
		provider_links_hang_up(l, link);
}

void provider_links_stop(struct provider_links *l, struct provider_link *link,
			 struct provider_seat *seat)
{
	const struct provider_message stop = { .kind = PROVIDER_STOP,
					       .version = PROVIDER_WIRE_VERSION,
					       .session = seat->session };

	if (provider_seat_leave(seat) && !link->is_gone &&
	    provider_links_send(link, &stop, NULL) < 0)
		provider_links_hang_up(l, link);
}

uint64_t provider_links_hash(const struct provider_links *l, const char *text, size_t n)
{
	return table_hash_seeded(l->seed, text, n);
}

struct provider_memory *provider_links_memory(struct provider_links *l)
{
	return &l->memory;
}

uint64_t provider_links_news(const struct provider_links *l)
{
	return l->n_news;
}

const struct provider_links_counts *provider_links_counts(const struct provider_links *l)
{
	return &l->counts;
}
