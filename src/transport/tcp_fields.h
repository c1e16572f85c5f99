/* SPDX-License-Identifier: Apache-2.0 */
/* The sampled fields of TCP_INFO (tcp(7)), the kernel's statistics of a TCP connection. Needs Linux
 * 4.19. */
#ifndef NM_TRANSPORT_TCP_FIELDS_H
#define NM_TRANSPORT_TCP_FIELDS_H

#include <stdint.h>

struct nm_conn;

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

/* The hook `tcp_fields` of transports whose sockets have TCP_INFO (transport.h). */
int nm_tcp_fields_read(const struct nm_conn *conn, uint64_t ret_values[NM_TCP_N_FIELDS]);

#endif
