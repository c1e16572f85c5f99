/* SPDX-License-Identifier: Apache-2.0 */
/* The only place that reads and writes control connections: frames and messages over a socket, and
 * the heartbeat's times. */
#include "control/peer.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/address.h"
#include "host/clock.h"

int nm_peer_init(struct nm_peer *peer, int fd, enum nm_side side, struct nm_key *key,
		 uint64_t timeout_ns, uint64_t now_ns)
{
	int error = nm_address_prepare_socket(fd);

	*peer = (struct nm_peer){
		.fd = fd, .side = side, .state = NM_SESSION_HELLO, .since_ns = now_ns};
	nm_frame_reader_init(&peer->in, NM_FRAME_MAX);
	nm_heartbeat_init(&peer->beat, timeout_ns, now_ns);
	nm_channel_init(&peer->channel, fd, side, key);
	if (!error)
		error = peer->channel.error;
	if (error)
		nm_peer_fini(peer);
	return error;
}

void nm_peer_fini(struct nm_peer *peer)
{
	nm_channel_fini(&peer->channel);
	if (peer->fd >= 0)
		(void)close(peer->fd);
	peer->fd = -1;
	nm_frame_reader_fini(&peer->in);
	nm_frame_queue_fini(&peer->out);
}

bool nm_peer_is_proved(const struct nm_peer *peer)
{
	return peer->channel.state == NM_CHANNEL_PROVED;
}

short nm_peer_events(const struct nm_peer *peer)
{
	const char *data;

	return nm_channel_events(&peer->channel, nm_frame_queue_data(&peer->out, &data) > 0);
}

void nm_peer_receive(struct nm_peer *peer, uint64_t now_ns)
{
	void *space;
	size_t size;
	ssize_t n = 0;

	/* No event reports bytes that the channel holds already. */
	do {
		if (peer->ended)
			return;
		peer->ended = nm_frame_reader_space(&peer->in, &space, &size);
		if (peer->ended)
			return;
		n = nm_channel_read(&peer->channel, space, size);
		if (n > 0) {
			nm_frame_reader_added(&peer->in, (size_t)n);
			peer->beat.in_ns = now_ns;
		} else if (n == 0) {
			peer->ended = -ESHUTDOWN;
		} else if (n != -EAGAIN && n != -EWOULDBLOCK) {
			peer->ended = (int)n;
		}
	} while (n > 0 && nm_channel_holds(&peer->channel));
}

int nm_peer_next(struct nm_peer *peer, struct nm_message *ret_message, char *why, size_t why_size)
{
	const char *payload;
	size_t there, size;
	int answer = nm_frame_reader_look(&peer->in, &payload, &there, &size);

	if (answer == 0)
		return 0;
	if (answer < 0) {
		(void)snprintf(why, why_size, "an empty message (0 bytes)");
		return -EPROTO;
	}
	answer = nm_message_check_size(payload, there, size, peer->side, peer->state, &peer->scale,
				       why, why_size);
	if (answer)
		return answer;
	answer = nm_frame_reader_next(&peer->in, &payload, &size);
	if (answer <= 0)
		return answer;
	/* The clock is read now and then. */
	if (++peer->n_messages % NM_MESSAGES_A_SECOND == 0 &&
	    nm_message_is_flood(peer->n_messages, nm_clock_ns() - peer->since_ns)) {
		(void)snprintf(why, why_size, "a message too many: no more than %u a second",
			       NM_MESSAGES_A_SECOND);
		return -EPROTO;
	}
	answer = nm_message_check_values(payload, size, &peer->scale, why, why_size);
	if (!answer)
		answer = nm_message_decode(payload, size, peer->side, peer->state, ret_message, why,
					   why_size);
	nm_frame_reader_done(&peer->in, size);
	if (answer < 0)
		return answer;
	if (peer->channel.state != NM_CHANNEL_ANSWERED_PLAIN ||
	    ret_message->type == NM_MESSAGE_REFUSE)
		return 1;
	nm_message_fini(ret_message);
	(void)snprintf(why, why_size, "an answer without the key");
	return -EPROTO;
}

int nm_peer_send(struct nm_peer *peer, enum nm_message_type type, json_t *body, uint64_t now_ns)
{
	size_t size = 0;
	char *text = nm_message_encode(type, body, &size);

	if (!text)
		return -ENOMEM;
	int error = nm_frame_queue_add(&peer->out, text, size);

	explicit_bzero(text, size);
	free(text);
	if (error)
		return error;
	if (type == NM_MESSAGE_HEARTBEAT)
		peer->beat.out_ns = now_ns;
	nm_peer_flush(peer);
	return 0;
}

/* Segments with data that have come, twice or not; false: that is not known. */
static bool read_segments(int fd, uint32_t *ret_segments)
{
	struct tcp_info info = {.tcpi_state = 0};
	socklen_t size = sizeof info;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ||
	    size < offsetof(struct tcp_info, tcpi_data_segs_in) + sizeof info.tcpi_data_segs_in)
		return false;
	*ret_segments = info.tcpi_data_segs_in;
	return true;
}

void nm_peer_listen(struct nm_peer *peer, uint64_t data, uint64_t now_ns)
{
	uint32_t segments;

	if (data != peer->data)
		peer->beat.in_ns = now_ns;
	peer->data = data;
	/* The kernel is asked only when the other end has been silent for half its time. */
	if (now_ns < peer->beat.in_ns + peer->beat.timeout_ns / 2) {
		peer->listens = false;
		return;
	}
	if (!read_segments(peer->fd, &segments))
		return;
	if (peer->listens && segments != peer->segments)
		peer->beat.in_ns = now_ns;
	peer->listens = true;
	peer->segments = segments;
}

void nm_peer_flush(struct nm_peer *peer)
{
	const char *data;
	size_t size;

	while (peer->fd >= 0 && (size = nm_frame_queue_data(&peer->out, &data)) > 0) {
		ssize_t n = nm_channel_write(&peer->channel, data, size);

		if (n < 0) {
			/* Reading tells why, after the bytes that have still arrived. */
			if (n != -EAGAIN && n != -EWOULDBLOCK)
				nm_frame_queue_fini(&peer->out);
			return;
		}
		nm_frame_queue_sent(&peer->out, (size_t)n);
	}
}

void nm_peer_drain(struct nm_peer *peer, uint64_t until_ns)
{
	bool told = false, more = true;
	uint64_t now_ns;

	while (more && (now_ns = nm_clock_ns()) < until_ns) {
		const char *data;

		nm_peer_flush(peer);
		if (!told && nm_frame_queue_data(&peer->out, &data) == 0) {
			nm_channel_finish(&peer->channel);
			told = true;
		}
		struct pollfd pfd = {.fd = peer->fd, .events = nm_peer_events(peer)};

		if (poll(&pfd, 1, (int)((until_ns - now_ns) / 1000000u) + 1) > 0 &&
		    (pfd.revents & ~POLLOUT))
			more = nm_channel_discard(&peer->channel);
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
	case -ENOKEY:
		return "comes with a key";
	case -EKEYREJECTED:
		return "has another key";
	case -EBADMSG:
		if (nm_peer_is_proved(peer))
			return "sent what was changed on its way";
		return "did not prove the key (another program, a replay, or bytes that were "
		       "changed)";
	default:
		return strerror(-peer->ended);
	}
}
