/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel knows about each TCP connection (TCP_INFO, tcp(7)), read while the traffic runs.
 * The worker that has the connection reads it, when main asks and a few flows at a time: nobody
 * else knows what its descriptors are. Needs Linux 4.19. */
#ifndef NM_ENGINE_TCP_SAMPLER_H
#define NM_ENGINE_TCP_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_engine;

/* X(name, the member of struct tcp_info without its tcpi_) */
#define NM_TCP_FIELDS(X)                                                                           \
	X(rtt_us, rtt)                                                                             \
	X(rttvar_us, rttvar)                                                                       \
	X(min_rtt_us, min_rtt)                                                                     \
	X(rto_us, rto)                                                                             \
	X(snd_cwnd, snd_cwnd)                                                                      \
	X(snd_ssthresh, snd_ssthresh)                                                              \
	X(snd_mss, snd_mss)                                                                        \
	X(rcv_mss, rcv_mss)                                                                        \
	X(unacked, unacked)                                                                        \
	X(lost, lost)                                                                              \
	X(reordering, reordering)                                                                  \
	X(retransmits, total_retrans)                                                              \
	X(bytes_sent, bytes_sent)                                                                  \
	X(bytes_acked, bytes_acked)                                                                \
	X(bytes_received, bytes_received)                                                          \
	X(delivery_rate_bytes_per_s, delivery_rate)                                                \
	X(pacing_rate_bytes_per_s, pacing_rate)                                                    \
	X(busy_us, busy_time)                                                                      \
	X(rwnd_limited_us, rwnd_limited)                                                           \
	X(sndbuf_limited_us, sndbuf_limited)

#define NM_TCP_COUNT(name, member) +1
enum { NM_TCP_N_FIELDS = 0 NM_TCP_FIELDS(NM_TCP_COUNT) };
#undef NM_TCP_COUNT

struct nm_tcp_sample {
	uint64_t at_ns;
	uint32_t group, flow;
	uint32_t slot; /* of the connection, among those of its flow */
	uint64_t values[NM_TCP_N_FIELDS];
};

/* All of these need NM_OBSERVE_TCP; without it there are no samples. */

/* Asks the workers; those that have not answered the last time are not asked again. */
void nm_engine_tcp_ask(const struct nm_engine *engine);
/* Whether all have answered: then their samples may be read, until they are asked again. */
bool nm_engine_tcp_answered(const struct nm_engine *engine);
typedef void (*nm_tcp_sample_fn)(void *arg, const struct nm_tcp_sample *sample);
void nm_engine_tcp_read(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg);
/* The same as they were at the end of the last measured phase, which all workers have left. */
void nm_engine_tcp_read_last(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg);

#endif
