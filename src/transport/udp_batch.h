/* SPDX-License-Identifier: Apache-2.0 */
/* Several datagrams with one system call: recvmmsg(2) and sendmmsg(2), and in each of their
 * messages a train of datagrams that the kernel or the network card takes apart (UDP_SEGMENT) or
 * puts together (UDP_GRO); udp(7). */
#ifndef NM_TRANSPORT_UDP_BATCH_H
#define NM_TRANSPORT_UDP_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nm_conn;
struct nm_zc_pool;
struct nm_udp_batch; /* a worker's room for them */

/* uncopied: how many connections may send without a copy. NULL: no memory. */
struct nm_udp_batch *nm_udp_batch_new(unsigned uncopied);
struct nm_udp_batch *nm_udp_batch_free(struct nm_udp_batch *batch); /* accepts NULL, returns NULL */

/* Lays out datagrams of that size for one nm_udp_batch_send, in trains as long as conn lets them
 * be. Returns how many, `count` at most. zerocopy: they go out without a copy, which conn has been
 * allowed; then it may be none, as all its buffers wait for the kernel. */
unsigned nm_udp_batch_stage(struct nm_udp_batch *batch, const struct nm_conn *conn, size_t size,
			    unsigned count, bool zerocopy);
/* The place of the n-th datagram laid out; it holds the bytes that were there before, at first ones
 * that cannot be compressed. */
char *nm_udp_batch_staged(const struct nm_udp_batch *batch, unsigned n);
/* Sends the datagrams laid out. Returns how many have been sent, or -errno; the rest is to be laid
 * out anew. */
int nm_udp_batch_send(struct nm_udp_batch *batch, struct nm_conn *conn);
/* In how many packets the kernel has taken the first n datagrams laid out: a train is one. */
unsigned nm_udp_batch_packets(const struct nm_udp_batch *batch, unsigned n);
/* The buffers of sends without a copy; NULL: nm_udp_batch_new was given uncopied 0. */
struct nm_zc_pool *nm_udp_batch_zc_pool(const struct nm_udp_batch *batch);

/* Lets conn receive trains from now on. Does nothing where the kernel knows none. */
void nm_udp_batch_want_gro(struct nm_conn *conn);
/* Receives the messages that have come, NM_UDP_BATCH_SLOTS at most. flags: MSG_DONTWAIT, or 0:
 * sleeps until one comes. Their number, or -errno; fewer than NM_UDP_BATCH_SLOTS: there were no
 * more. */
#define NM_UDP_BATCH_SLOTS 16
int nm_udp_batch_receive(struct nm_udp_batch *batch, const struct nm_conn *conn, int flags);
/* One message received: its bytes, and in *ret_size their number; *ret_each: the bytes of each
 * datagram in it, but for the last. */
const char *nm_udp_batch_segment(const struct nm_udp_batch *batch, int slot, size_t *ret_size,
				 size_t *ret_each);

#endif
