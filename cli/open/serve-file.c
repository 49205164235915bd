/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/open/serve-file.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/sandbox/thread.h"
#include "cli/open/microhttpd.h"
#include "cli/open/peer-owner.h"
#include "reader/pack/unpack.h"

enum {
	TOKEN_BYTES = 16,
	NAME_MAX_BYTES = 100,
	BLOCK_BYTES = 256 * 1024,
	CONNECTIONS_MAX = 32,
	BACKLOG = 16,
};

struct serve_file {
	struct serve_file_args args;
	struct MHD_Daemon *daemon;
	int event_fd;
	uint16_t port;
	char path[2 * TOKEN_BYTES + NAME_MAX_BYTES + 3]; /* "/TOKEN/NAME" */
	char url[sizeof("http://127.0.0.1:65535") + 2 * TOKEN_BYTES + NAME_MAX_BYTES + 3];
	char host[2][sizeof("127.0.0.1:65535")]; /* valid values of the header `Host` */
	/* Number of the newest transfer that unpacks; only for the server's thread. */
	uint64_t newest;

	pthread_mutex_t lock;
	struct serve_file_status status;
};

/* The user of a client; stored with the connection. */
enum client {
	CLIENT_ADMITTED,
	CLIENT_FOREIGN, /* the client belongs to another user */
	CLIENT_UNKNOWN, /* the user of the client is unknown */
};

/* A request for the file, from its headers to its end. */
struct fetch {
	struct serve_file *server;
};

/* The data of one answer. */
struct transfer {
	struct serve_file *server;
	struct unpack *unpack; /* NULL = the file is sent unchanged */
	uint64_t number;       /* number of the transfer, among those that unpack */
	bool only_head;
};

/* The library, loaded by serve_file_new(). */
static struct microhttpd serve_file_http;

/* ---- data ---- */

static void serve_file_count(struct serve_file *s, ssize_t n, const char *damage)
{
	pthread_mutex_lock(&s->lock);
	s->status.changes++;
	if (n > 0)
		s->status.bytes += (uint64_t)n;
	if (damage)
		s->status.damage = damage;
	pthread_mutex_unlock(&s->lock);
}

static ssize_t serve_file_read_plain(void *userdata, uint64_t at, char *to, size_t room)
{
	struct transfer *t = userdata;
	ssize_t n;

	do
		n = pread(t->server->args.fd, to, room, (off_t)at);
	while (n < 0 && errno == EINTR);
	serve_file_count(t->server, n, NULL);
	/* The answer has a Content-Length. If the file ends before that, it was truncated
	 * meanwhile. */
	return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static ssize_t serve_file_read_unpacked(void *userdata, uint64_t at, char *to, size_t room)
{
	struct transfer *t = userdata;
	const struct unpack_damage *damage;
	ssize_t n;

	if (t->number != t->server->newest)
		return MHD_CONTENT_READER_END_WITH_ERROR; /* a newer transfer reads the file now */
	n = unpack_read(t->unpack, to, room);
	damage = n == 0 ? unpack_damage(t->unpack) : NULL;
	serve_file_count(t->server, n, damage ? damage->what : NULL);
	if (n < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	return n > 0 ? n : MHD_CONTENT_READER_END_OF_STREAM;
}

static void serve_file_transfer_free(void *userdata)
{
	struct transfer *t = userdata;

	unpack_free(t->unpack);
	free(t);
}

/* ---- answers ---- */

static const struct {
	const char *name, *value;
} file_headers[] = {
	{ "Content-Type", "application/octet-stream" },
	{ "Cache-Control", "no-store" },
	{ "Accept-Ranges", "none" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Connection", "close" }, /* the connection must be closed before the server ends */
};

/* Allows only pages of the origin to read the answer. */
static void serve_file_allow_origin(const struct serve_file *s, struct MHD_Response *response)
{
	serve_file_http.add_response_header(response, "Access-Control-Allow-Origin",
					    s->args.origin);
	serve_file_http.add_response_header(response, "Vary", "Origin");
}

static enum MHD_Result serve_file_answer(struct MHD_Connection *c, unsigned status,
					 struct MHD_Response *response)
{
	enum MHD_Result r = response ? serve_file_http.queue_response(c, status, response) : MHD_NO;

	if (response)
		serve_file_http.destroy_response(response);
	return r;
}

static enum MHD_Result serve_file_refuse(struct serve_file *s, struct MHD_Connection *c,
					 unsigned status, const char *why)
{
	struct MHD_Response *response = serve_file_http.create_response_from_buffer(
		strlen(why), (void *)why, MHD_RESPMEM_PERSISTENT);

	pthread_mutex_lock(&s->lock);
	s->status.n_refused++;
	pthread_mutex_unlock(&s->lock);
	if (response) {
		serve_file_http.add_response_header(response, "Content-Type", "text/plain");
		if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
			serve_file_http.add_response_header(response, "Allow",
							    "GET, HEAD, OPTIONS");
	}
	return serve_file_answer(c, status, response);
}

/* Answers the question that browsers ask before a page from the network may access this machine. */
static enum MHD_Result serve_file_answer_preflight(struct serve_file *s, struct MHD_Connection *c)
{
	struct MHD_Response *response =
		serve_file_http.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

	if (!response)
		return MHD_NO;
	serve_file_allow_origin(s, response);
	serve_file_http.add_response_header(response, "Access-Control-Allow-Methods", "GET, HEAD");
	serve_file_http.add_response_header(response, "Access-Control-Allow-Private-Network",
					    "true");
	return serve_file_answer(c, MHD_HTTP_NO_CONTENT, response);
}

static struct MHD_Response *serve_file_plain_response(struct transfer *t)
{
	struct stat st;

	if (fstat(t->server->args.fd, &st) < 0)
		return NULL;
	return serve_file_http.create_response_from_callback((uint64_t)st.st_size, BLOCK_BYTES,
							     serve_file_read_plain, t,
							     serve_file_transfer_free);
}

static struct MHD_Response *serve_file_unpacked_response(struct transfer *t)
{
	struct serve_file *s = t->server;

	/* A HEAD request reads nothing, and must not interrupt a running transfer. */
	if (t->only_head)
		return serve_file_http.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
								     serve_file_read_unpacked, t,
								     serve_file_transfer_free);
	if (lseek(s->args.fd, 0, SEEK_SET) < 0 || unpack_new_fd(&t->unpack, s->args.fd) < 0)
		return NULL;
	t->number = ++s->newest;
	return serve_file_http.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
							     serve_file_read_unpacked, t,
							     serve_file_transfer_free);
}

/* Returns the answer with the file, or with an error. */
static struct MHD_Response *serve_file_response(struct serve_file *s, bool only_head)
{
	struct transfer *t = calloc(1, sizeof(*t));
	struct MHD_Response *response;

	if (!t)
		return NULL;
	t->server = s;
	t->only_head = only_head;
	response = s->args.unpack != PACK_NONE ? serve_file_unpacked_response(t)
					       : serve_file_plain_response(t);
	if (!response) {
		serve_file_transfer_free(t);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(file_headers); i++)
		serve_file_http.add_response_header(response, file_headers[i].name,
						    file_headers[i].value);
	serve_file_allow_origin(s, response);
	return response;
}

static enum MHD_Result serve_file_answer_fetch(struct serve_file *s, struct MHD_Connection *c,
					       void **request)
{
	struct fetch *f;
	bool gone;

	pthread_mutex_lock(&s->lock);
	gone = s->status.n_fetched > 0 && !s->args.keep;
	s->status.changes++;
	pthread_mutex_unlock(&s->lock);
	if (gone)
		return serve_file_refuse(s, c, MHD_HTTP_GONE, "It was fetched already.\n");
	f = calloc(1, sizeof(*f));
	if (!f)
		return MHD_NO;
	f->server = s;
	*request = f;
	pthread_mutex_lock(&s->lock);
	s->status.n_active++;
	pthread_mutex_unlock(&s->lock);
	return serve_file_answer(c, MHD_HTTP_OK, serve_file_response(s, false));
}

/* ---- checks of requests ---- */

static enum client serve_file_find_client(struct serve_file *s, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *fd =
		serve_file_http.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	uid_t uid = 0;
	int r;

	if (s->args.any_user)
		return CLIENT_ADMITTED;
	r = fd ? peer_owner(fd->connect_fd, &uid) : -ENOTCONN;
	/* Root can read this process and the file anyway, and relays that run as root pass
	 * connections on. */
	if (r == 0 && (uid == geteuid() || uid == 0))
		return CLIENT_ADMITTED;
	pthread_mutex_lock(&s->lock);
	s->status.n_foreign++;
	s->status.foreign_uid = uid;
	s->status.foreign_error = r;
	pthread_mutex_unlock(&s->lock);
	thread_signal(s->event_fd);
	return r == 0 ? CLIENT_FOREIGN : CLIENT_UNKNOWN;
}

static void serve_file_on_connection(void *userdata, struct MHD_Connection *c, void **client,
				     enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*client = (void *)(uintptr_t)serve_file_find_client(userdata, c);
}

/* Returns the reason why the client is refused; NULL = it is allowed. */
static const char *serve_file_client_objection(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *client =
		serve_file_http.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	switch (client ? (uintptr_t)client->socket_context : CLIENT_UNKNOWN) {
	case CLIENT_ADMITTED:
		return NULL;
	case CLIENT_FOREIGN:
		return "Only the user of 'kymo open' can fetch this.\n";
	default:
		return "The user of this connection is unknown; 'kymo open --any-user' serves all "
		       "users.\n";
	}
}

/* Returns the reason why the request is refused; NULL = it is allowed. */
static const char *serve_file_request_objection(const struct serve_file *s,
						struct MHD_Connection *c)
{
	const char *host = serve_file_http.lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	const char *origin = serve_file_http.lookup_connection_value(c, MHD_HEADER_KIND, "Origin");

	if (!host || (strcasecmp(host, s->host[0]) != 0 && strcasecmp(host, s->host[1]) != 0))
		return "The request is for another host.\n";
	if (origin && strcmp(origin, s->args.origin) != 0)
		return "Pages of that origin cannot fetch this.\n";
	return NULL;
}

static enum MHD_Result serve_file_handle(void *userdata, struct MHD_Connection *c, const char *path,
					 const char *method, const char *version, const char *data,
					 size_t *data_size, void **request)
{
	struct serve_file *s = userdata;
	const char *why = serve_file_client_objection(c);

	if (!why)
		why = serve_file_request_objection(s, c);
	if (why)
		return serve_file_refuse(s, c, MHD_HTTP_FORBIDDEN, why);
	if (strcmp(path, s->path) != 0)
		return serve_file_refuse(s, c, MHD_HTTP_NOT_FOUND, "There is no such file.\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) == 0)
		return serve_file_answer_fetch(s, c, request);
	if (strcmp(method, MHD_HTTP_METHOD_HEAD) == 0)
		return serve_file_answer(c, MHD_HTTP_OK, serve_file_response(s, true));
	if (strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0)
		return serve_file_answer_preflight(s, c);
	return serve_file_refuse(s, c, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "The method is not allowed; "
				 "use GET.\n");
}

static void serve_file_on_completed(void *userdata, struct MHD_Connection *c, void **request,
				    enum MHD_RequestTerminationCode how)
{
	struct serve_file *s = userdata;
	struct fetch *f = *request;

	if (!f)
		return;
	pthread_mutex_lock(&s->lock);
	s->status.n_active--;
	s->status.changes++;
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		s->status.n_fetched++;
	pthread_mutex_unlock(&s->lock);
	thread_signal(s->event_fd);
	free(f);
	*request = NULL;
}

/* ---- the server ---- */

/* Makes a socket that listens on 127.0.0.1. Returns the socket or a negative errno. */
static int serve_file_listen_on(uint16_t port, uint16_t *ret_port)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int one = 1;

	if (fd < 0)
		return -errno;
	/* Closed connections of an earlier server must not block the port. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		return -errno;
	*ret_port = ntohs(address.sin_port);
	return TAKE_FD(fd);
}

/* Writes NAME without characters that a URL must encode. */
static void serve_file_put_name(char *to, const char *name)
{
	size_t n = 0;

	for (; *name && n < NAME_MAX_BYTES; name++) {
		bool fine = isascii(*name) && (isalnum(*name) || strchr("-._~", *name));

		to[n++] = fine ? *name : '_';
	}
	to[n] = '\0';
}

static int serve_file_make_path(struct serve_file *s)
{
	uint8_t token[TOKEN_BYTES];
	char *to = s->path;

	if (getrandom(token, sizeof(token), 0) != sizeof(token))
		return -errno;
	*to++ = '/';
	for (size_t i = 0; i < sizeof(token); i++)
		to += sprintf(to, "%02x", token[i]);
	*to++ = '/';
	serve_file_put_name(to, s->args.name);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%" PRIu16 "%s", s->port, s->path);
	snprintf(s->host[0], sizeof(s->host[0]), "127.0.0.1:%" PRIu16, s->port);
	snprintf(s->host[1], sizeof(s->host[1]), "localhost:%" PRIu16, s->port);
	return 0;
}

int serve_file_new(const struct serve_file_args *args, struct serve_file **ret)
{
	_cleanup_(serve_file_freep) struct serve_file *s = calloc(1, sizeof(*s));
	int r, fd;

	if (!s)
		return -ENOMEM;
	s->args = *args;
	pthread_mutex_init(&s->lock, NULL);
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->event_fd < 0)
		return -errno;
	r = microhttpd_load(&serve_file_http);
	if (r < 0)
		return r;
	fd = serve_file_listen_on(args->port, &s->port);
	if (fd < 0)
		return fd;
	r = serve_file_make_path(s);
	if (r < 0) {
		close(fd);
		return r;
	}
	s->daemon = serve_file_http.start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL, serve_file_handle, s,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, args->stall_s,
		MHD_OPTION_NOTIFY_CONNECTION, serve_file_on_connection, s,
		MHD_OPTION_NOTIFY_COMPLETED, serve_file_on_completed, s, MHD_OPTION_END);
	if (!s->daemon) {
		close(fd);
		return -ENOMEM;
	}
	*ret = TAKE_PTR(s);
	return 0;
}

struct serve_file *serve_file_free(struct serve_file *s)
{
	if (!s)
		return NULL;
	if (s->daemon)
		serve_file_http.stop_daemon(s->daemon);
	close_fd(s->event_fd);
	pthread_mutex_destroy(&s->lock);
	return free_ptr(s);
}

const char *serve_file_url(const struct serve_file *s)
{
	return s->url;
}

uint16_t serve_file_port(const struct serve_file *s)
{
	return s->port;
}

int serve_file_fd(const struct serve_file *s)
{
	return s->event_fd;
}

struct serve_file_status serve_file_poll(struct serve_file *s)
{
	struct serve_file_status status;

	thread_quiet(s->event_fd);
	pthread_mutex_lock(&s->lock);
	status = s->status;
	pthread_mutex_unlock(&s->lock);
	return status;
}
