/* SPDX-License-Identifier: Apache-2.0 */
/* The greeting: the first message of a connection whose listener serves several flows. It says
 * whose the connection is, and proves that it belongs to this run. Over transports that lose
 * messages it is answered, and repeated until then. */
#ifndef NM_FLOWOP_GREETING_H
#define NM_FLOWOP_GREETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_conn;
struct nm_flow;
struct nm_instr;
struct nm_io;

#define NM_GREETING_BYTES 32

struct nm_greeting {
	uint64_t cookie; /* of the run */
	uint32_t group, opening, flow;
	uint32_t serial; /* tells the connections of a flow apart */
	uint32_t port;	 /* in an answer: where to go on; 0 otherwise */
};

void nm_greeting_write(const struct nm_greeting *greeting, bool answer, char to[NM_GREETING_BYTES]);
/* False when it is none. ret_answer: which of the two it is. */
bool nm_greeting_read(const char *from, size_t size, struct nm_greeting *ret, bool *ret_answer);

/* Sends the greeting of a connection that has just been opened: 0 or -errno. Streams have room for
 * it. */
int nm_greeting_send(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
/* Leaves it to the transport to send it when conn is there: one that has a `greet`. */
void nm_greeting_leave(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
/* The same once more. */
int nm_greeting_repeat(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
/* Reads the answer: 0, -EAGAIN: none yet, or another -errno. */
int nm_greeting_answer(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);

#endif
