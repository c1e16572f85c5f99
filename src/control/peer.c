/* SPDX-License-Identifier: Apache-2.0 */
/* The one door to the wire: frames and messages over a socket, and the heartbeat's times. */
#include "control/peer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/address.h"
#include "host/clock.h"

int nm_peer_init(struct nm_peer *peer, int fd, enum nm_side side, uint64_t timeout_ns,
		 uint64_t now_ns)
{
	int error = nm_address_prepare_socket(fd);

	*peer = (struct nm_peer){.fd = fd, .side = side, .state = NM_SESSION_HELLO};
	nm_frame_reader_init(&peer->in, NM_FRAME_MAX_HELLO);
	nm_heartbeat_init(&peer->beat, timeout_ns, now_ns);
	if (error)
		nm_peer_fini(peer);
	return error;
}

void nm_peer_fini(struct nm_peer *peer)
{
	if (peer->fd >= 0)
		(void)close(peer->fd);
	peer->fd = -1;
	nm_frame_reader_fini(&peer->in);
	nm_frame_queue_fini(&peer->out);
}

void nm_peer_trust(struct nm_peer *peer)
{
	peer->in.max = NM_FRAME_MAX;
}

short nm_peer_events(const struct nm_peer *peer)
{
	const char *data;

	return nm_frame_queue_data(&peer->out, &data) ? POLLIN | POLLOUT : POLLIN;
}

void nm_peer_receive(struct nm_peer *peer, uint64_t now_ns)
{
	void *space;
	size_t size;
	ssize_t n;

	if (peer->ended)
		return;
	peer->ended = nm_frame_reader_space(&peer->in, &space, &size);
	if (peer->ended)
		return;
	do {
		n = recv(peer->fd, space, size, 0);
	} while (n < 0 && errno == EINTR);
	if (n > 0) {
		nm_frame_reader_added(&peer->in, (size_t)n);
		peer->beat.in_ns = now_ns;
	} else if (n == 0) {
		peer->ended = -ESHUTDOWN;
	} else if (errno != EAGAIN && errno != EWOULDBLOCK) {
		peer->ended = -errno;
	}
}

int nm_peer_next(struct nm_peer *peer, struct nm_message *ret_message, char *why, size_t why_size)
{
	const char *payload;
	size_t size;
	int answer = nm_frame_reader_next(&peer->in, &payload, &size);

	if (answer == 0)
		return 0;
	if (answer < 0) {
		(void)snprintf(why, why_size,
			       answer == -EMSGSIZE ? "a message longer than %zu bytes"
						   : "an empty message (at most %zu bytes)",
			       peer->in.max);
		return -EPROTO;
	}
	answer = nm_message_decode(payload, size, peer->side, peer->state, ret_message, why,
				   why_size);
	return answer < 0 ? answer : 1;
}

int nm_peer_send(struct nm_peer *peer, enum nm_message_type type, json_t *body, uint64_t now_ns)
{
	size_t size = 0;
	char *text = nm_message_encode(type, body, &size);

	if (!text)
		return -ENOMEM;
	int error = nm_frame_queue_add(&peer->out, text, size);

	free(text);
	if (error)
		return error;
	peer->beat.out_ns = now_ns;
	nm_peer_flush(peer);
	return 0;
}

void nm_peer_flush(struct nm_peer *peer)
{
	const char *data;
	size_t size;

	while (peer->fd >= 0 && (size = nm_frame_queue_data(&peer->out, &data)) > 0) {
		ssize_t n = send(peer->fd, data, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			/* Reading tells why, after what has still arrived. */
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				nm_frame_queue_fini(&peer->out);
			return;
		}
		nm_frame_queue_sent(&peer->out, (size_t)n);
	}
}

void nm_peer_drain(struct nm_peer *peer, uint64_t until_ns)
{
	bool told = false;
	uint64_t now_ns;

	while (!peer->ended && (now_ns = nm_clock_ns()) < until_ns) {
		const char *data;
		struct pollfd pfd = {.fd = peer->fd, .events = nm_peer_events(peer)};

		nm_peer_flush(peer);
		if (!told && nm_frame_queue_data(&peer->out, &data) == 0) {
			(void)shutdown(peer->fd, SHUT_WR);
			told = true;
			pfd.events = POLLIN;
		}
		if (poll(&pfd, 1, (int)((until_ns - now_ns) / 1000000u) + 1) > 0)
			nm_peer_receive(peer, now_ns);
		peer->in.begin = peer->in.end = 0;
	}
}

const char *nm_peer_ended_text(const struct nm_peer *peer)
{
	switch (peer->ended) {
	case -ESHUTDOWN:
		return "closed the control connection";
	case -ECONNRESET:
	case -EPIPE:
		return "reset the control connection";
	default:
		return strerror(-peer->ended);
	}
}
