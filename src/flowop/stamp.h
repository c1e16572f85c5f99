/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a message over a transport that may lose, repeat or reorder messages, and the counts
 * that are made of it: numbers and times come in, counts go out. Nothing here reads a clock or
 * moves a byte.
 *
 * A message with room for it begins with two numbers in network order: its own, counted by the
 * sender from 1, and the highest that the sender has seen of the other end. Where there is room
 * behind them, the time at which it was sent follows, ns of the sender's clock in network order; 0
 * where messages are answered, as the time until the answer says more. */
#ifndef NM_FLOWOP_STAMP_H
#define NM_FLOWOP_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/counters.h"
#include "transport/conn.h"

#define NM_STAMP_NUMBERS NM_NUMBERED_BYTES /* bytes of the numbers */
#define NM_STAMP_BYTES	 16u		   /* bytes of numbers and time */

struct nm_stamp {
	uint32_t number, seen;
	uint64_t sent_ns; /* 0: the sender does not tell */
};

/* Whether a is after b; numbers go round. */
static inline bool nm_stamp_is_after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

/* Reads the head of a message. False: it is too short to have one. */
bool nm_stamp_unpack(const char *data, size_t size, struct nm_stamp *ret);
/* Writes as much of the stamp as a message of `size` bytes has room for. */
void nm_stamp_pack(const struct nm_stamp *stamp, char *to, size_t size);

/* Counts skipped, reordered and duplicate messages by the number of one that has come. False: the
 * message has come before. */
bool nm_stamp_note_number(struct nm_conn_datagram *own, struct nm_counters *count, uint32_t number);
/* Counts the jitter (RFC 3550, 6.4.1) of a message by the times of its sending and arrival, which
 * are of two clocks. */
void nm_stamp_note_time(struct nm_conn_datagram *own, struct nm_counters *count, uint64_t sent_ns,
			uint64_t arrived_ns);
/* Whether the sender had seen none of the messages that this end has written since the last answer,
 * though they have numbers. */
static inline bool nm_stamp_is_late(const struct nm_stamp *stamp,
				    const struct nm_conn_datagram *own)
{
	return own->sent != own->acked && !nm_stamp_is_after(stamp->seen, own->acked);
}

#endif
