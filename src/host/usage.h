/* SPDX-License-Identifier: Apache-2.0 */
/* Usage of this host and of this process so far; two readings are subtracted to get a window. */
#ifndef NM_HOST_USAGE_H
#define NM_HOST_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field.h"
#include "host/cpu_loads.h"
#include "host/psp.h"
#include "host/unhalted.h"
#include "host/vectors.h"

/* Whole-machine CPU time from /proc/stat, ns summed over CPUs. */
struct nm_cpu_times {
	uint64_t user_ns, nice_ns, system_ns, idle_ns, iowait_ns, irq_ns, softirq_ns, steal_ns;
	unsigned n_cpus;
};

/* Whole-machine counts of /proc/stat. */
struct nm_interrupts {
	uint64_t hardware, context_switches;
};

/* The kinds of /proc/softirqs: a word of the code, the kernel's name, and ours. */
#define NM_SOFTIRQS(X)                                                                             \
	X(HI, "HI", "hi")                                                                          \
	X(TIMER, "TIMER", "timer")                                                                 \
	X(NET_TX, "NET_TX", "net_tx")                                                              \
	X(NET_RX, "NET_RX", "net_rx")                                                              \
	X(BLOCK, "BLOCK", "block")                                                                 \
	X(IRQ_POLL, "IRQ_POLL", "irq_poll")                                                        \
	X(TASKLET, "TASKLET", "tasklet")                                                           \
	X(SCHED, "SCHED", "sched")                                                                 \
	X(HRTIMER, "HRTIMER", "hrtimer")                                                           \
	X(RCU, "RCU", "rcu")

enum nm_softirq {
#define NM_SOFTIRQ_WORD(word, kernels, ours) NM_SOFTIRQ_##word,
	NM_SOFTIRQS(NM_SOFTIRQ_WORD)
#undef NM_SOFTIRQ_WORD
		NM_N_SOFTIRQS
};

/* Summed over CPUs. */
struct nm_softirqs {
	uint64_t total; /* also of kinds that have no name here */
	uint64_t kinds[NM_N_SOFTIRQS];
	uint32_t known; /* a bit for each kind that the kernel counts */
};

/* "net_rx" */
const char *nm_softirq_name(enum nm_softirq kind);
bool nm_softirq_known(const struct nm_softirqs *softirqs, enum nm_softirq kind);

/* What the kernel takes in from the network before any protocol, of the whole machine:
 * X(member, its column in /proc/net/softnet_stat, what it counts). A new counter takes one line. */
#define NM_SOFTNET_COUNTERS(X)                                                                     \
	X(processed, 0, "Packets that a CPU has taken in.")                                        \
	X(dropped, 1, "Packets thrown away because the queue of a CPU was full.")                  \
	X(squeezed, 2, "How often a CPU stopped with packets left, as its share was used up.")     \
	X(steered, 9, "How often a CPU was asked by another one to take in packets (RPS).")        \
	X(flow_limited, 10, "Packets thrown away for the limit of one flow.")

/* Time in which tasks waited (PSI, Documentation/accounting/psi.rst): X(the kernel's file, some: at
 * least one task; full: all that were not idle). Kernels may lack one. A new kind takes a line. */
#define NM_PRESSURES(X)                                                                            \
	X(cpu, some)                                                                               \
	X(irq, full)                                                                               \
	X(memory, some)                                                                            \
	X(memory, full)                                                                            \
	X(io, some)                                                                                \
	X(io, full)

struct nm_pressure {
#define NM_PRESSURE_MEMBER(file, kind) int64_t file##_##kind##_ns; /* -1: not known */
	NM_PRESSURES(NM_PRESSURE_MEMBER)
#undef NM_PRESSURE_MEMBER
};

/* What cpufreq said of some CPUs at two moments, summed over these. */
struct nm_cpufreq {
	uint32_t n_cpus;
	uint64_t begin_khz, end_khz;
};

/* The periods of the limits of CPU of this process's control groups, and those in which it was held
 * back, and how long it was, on all CPUs together. periods 0: there is no limit. */
struct nm_throttling {
	uint64_t periods, throttled, throttled_ns;
};

/* getrusage(RUSAGE_SELF). */
struct nm_rusage {
	uint64_t utime_ns, stime_ns;
	uint64_t maxrss_kb, minflt, majflt, nvcsw, nivcsw;
};

/* Counters of an interface: X(member, the kernel's word behind RTNL_LINK_). A new counter takes one
 * line. */
#define NM_NIC_COUNTERS(X)                                                                         \
	X(rx_bytes, RX_BYTES)                                                                      \
	X(tx_bytes, TX_BYTES)                                                                      \
	X(rx_packets, RX_PACKETS)                                                                  \
	X(tx_packets, TX_PACKETS)                                                                  \
	X(rx_errors, RX_ERRORS)                                                                    \
	X(tx_errors, TX_ERRORS)                                                                    \
	X(rx_dropped, RX_DROPPED)                                                                  \
	X(tx_dropped, TX_DROPPED)

/* What an interface of this network namespace is, besides its name. */
struct nm_nic_id {
	unsigned index;
	bool is_up;
	size_t address_size;
	unsigned char address[32];
};

#define NM_USAGE_MEMBER(member, ...) uint64_t member;
/* Summed over CPUs that are online, each of which begins at 0 again after 2^32. */
struct nm_softnet {
	NM_SOFTNET_COUNTERS(NM_USAGE_MEMBER)
	uint64_t which; /* of a reading on this host: the CPUs that have a line, as one number */
};

struct nm_nic {
	char name[32];
	NM_NIC_COUNTERS(NM_USAGE_MEMBER)
	/* Of its own interrupt vectors, and how many these are; 0: not known. By host/vectors.h. */
	uint64_t interrupts, vectors;
	/* Of a reading on this host: which vectors these are, as one number, and whose. */
	uint64_t which;
	struct nm_nic_id id;
};

/* Host-wide TCP counters of this network namespace: X(member, group and word of the kernel in
 * /proc/net/snmp, or of TcpExt in /proc/net/netstat, its name in results). A new counter takes one
 * line. Kernels may lack those of the second list: -1. */
#define NM_TCP_COUNTERS(X)                                                                         \
	X(segs_in, "Tcp", "InSegs", "segments_received")                                           \
	X(segs_out, "Tcp", "OutSegs", "segments_sent")                                             \
	X(retrans_segs, "Tcp", "RetransSegs", "retransmitted_segments")                            \
	X(out_rsts, "Tcp", "OutRsts", "resets_sent")                                               \
	X(listen_overflows, "TcpExt", "ListenOverflows", "listen_overflows")
#define NM_TCP_LATER_COUNTERS(X)                                                                   \
	X(delayed_acks, "TcpExt", "DelayedACKs", "delayed_acks")                                   \
	X(locked_acks, "TcpExt", "DelayedACKLocked", "delayed_acks_locked")                        \
	X(quick_acks, "TcpExt", "DelayedACKLost", "quick_acks_entered")                            \
	X(auto_corks, "TcpExt", "TCPAutoCorking", "auto_corked_segments")

struct nm_tcp_counters {
	NM_TCP_COUNTERS(NM_USAGE_MEMBER)
#define LATER(member, ...) int64_t member;
	NM_TCP_LATER_COUNTERS(LATER)
#undef LATER
};
#undef NM_USAGE_MEMBER

/* Counts of the PSP device of an interface. */
struct nm_psp_usage {
	char name[16]; /* of the interface; "": it is in another network namespace */
	uint32_t id;
	struct nm_psp_stats stats;
};

#define NM_USAGE_MAX_NICS 64

/* What a host may not have, and then has a reason. */
#define NM_USAGE_PARTS(X)                                                                          \
	X(cpu)                                                                                     \
	X(unhalted)                                                                                \
	X(cpufreq)                                                                                 \
	X(interrupts) X(softirqs) X(softnet) X(pressure) X(nics) X(tcp) X(psp)

struct nm_usage {
	uint64_t at_ns; /* monotonic */
#define NM_USAGE_PART(part)                                                                        \
	bool has_##part;                                                                           \
	char part##_why[96]; /* when not had: the reason, for the user */
	NM_USAGE_PARTS(NM_USAGE_PART)
#undef NM_USAGE_PART
	struct nm_cpu_times cpu;
	struct nm_unhalted unhalted; /* by the two functions below alone */
	struct nm_cpufreq cpufreq;   /* by a function below alone */
	struct nm_interrupts interrupts;
	struct nm_softirqs softirqs;
	struct nm_softnet softnet;
	struct nm_pressure pressure;
	struct nm_rusage process;
	struct nm_rusage process_start; /* of a difference on this host: at the earlier reading */
	struct nm_throttling throttling;
	struct nm_tcp_counters tcp;
	size_t n_nics;
	struct nm_nic nics[NM_USAGE_MAX_NICS];
	size_t n_psp; /* devices; 0 too where the kernel has no PSP */
	struct nm_psp_usage psp[NM_PSP_MAX_DEVICES];
};

/* What rows of a host have of a difference, each of the whole host, TCP of this network namespace;
 * -1: not known. X(member, the part that tells it, where it stands there, what it counts). */
#define NM_USAGE_ROW(X)                                                                            \
	X(interrupts, interrupts, interrupts.hardware, "Hardware interrupts.")                     \
	X(softirqs, softirqs, softirqs.total, "Of all kinds.")                                     \
	X(retransmitted_segments, tcp, tcp.retrans_segs, "Of TCP.")                                \
	X(softnet_dropped, softnet, softnet.dropped, "Packets that a CPU had no room for.")

struct nm_usage_row {
#define NM_USAGE_ROW_MEMBER(member, ...) int64_t member;
	NM_USAGE_ROW(NM_USAGE_ROW_MEMBER)
#undef NM_USAGE_ROW_MEMBER
};

/* What single CPUs and vectors have had of it. */
struct nm_usage_each {
	struct nm_cpu_loads cpus;
	struct nm_vectors vectors;
};

/* The members of the structs above, in the order of the control protocol. */
extern const struct nm_field nm_cpu_fields[], nm_unhalted_fields[], nm_cpufreq_fields[],
	nm_interrupt_fields[], nm_softirq_fields[], nm_softnet_fields[], nm_pressure_fields[],
	nm_rusage_fields[], nm_throttling_fields[], nm_nic_fields[], nm_tcp_counter_fields[],
	nm_psp_fields[], nm_usage_row_fields[];

/* Reads all figures; the reason for a missing one is in its member _why. Never fails as a whole.
 * Not for the hot path (opens files, netlink). */
void nm_usage_read(struct nm_usage *ret_usage);
/* And the times of each CPU, which are of the same moment as those of all. */
void nm_usage_read_with_cpus(struct nm_usage *ret_usage, struct nm_cpu_loads *ret_cpus);
/* Adds the present frequencies of some CPUs, a file for each of them. It may take 0.2 s. */
void nm_usage_read_cpufreq(struct nm_usage *usage);
/* To a reading the frequencies of another one. */
void nm_usage_copy_cpufreq(struct nm_usage *usage, const struct nm_usage *from);
void nm_rusage_read(struct nm_rusage *ret_usage); /* one system call */
/* The fewest ticks of /proc/stat, of all CPUs together, that CPU times are taken from. */
#define NM_CPU_TICKS_MIN 10
#define NM_CPU_TOO_SHORT "the window is shorter than %d ticks of the kernel's accounting"
/* after - before, interface by interface (an interface absent from `before` counts from 0). With
 * CPU times of too few ticks has_cpu is false, but they are there for sums. */
void nm_usage_delta(const struct nm_usage *before, const struct nm_usage *after,
		    struct nm_usage *ret_delta);
void nm_usage_row_of(const struct nm_usage *delta, struct nm_usage_row *ret_row);
/* Adds to a reading that the CPUs have not been awake yet, and to a later one how long they have
 * been since. NULL: this cannot be told, and `usage` has the reason. */
struct nm_unhalted_window *nm_usage_unhalted_begin(struct nm_usage *usage);
void nm_usage_unhalted_end(struct nm_unhalted_window *window, struct nm_usage *usage);

#endif
