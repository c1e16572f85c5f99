/* SPDX-License-Identifier: Apache-2.0 */
/* The tuning numbers of the engine, and what each was measured for: see docs/decisions. They were
 * found in one virtual machine, with two CPUs; none changes what is counted. */
#ifndef NM_ENGINE_TUNE_H
#define NM_ENGINE_TUNE_H

/* --- the loop: not measured against other numbers --- */

/* Turns of queued flows between two waits for events. */
#define NM_TUNE_TURNS 256
/* Messages that a flow may move before the others have their turn: passes are fewer where they move
 * batches. */
#define NM_TUNE_BUDGET 128u
/* Flows whose TCP_INFO is read in one turn: about 20 us in which the others wait. */
#define NM_TUNE_SAMPLED_FLOWS 32u

/* --- the end of a phase whose last messages may be lost --- */

/* How long nothing must move at least for it to count as over; how often that is looked at, which
 * is how much later than the last message the phase may seem to have ended. */
#define NM_TUNE_QUIET_NS      100000000u
#define NM_TUNE_QUIET_LOOK_NS 2000000u
/* How long nothing must move where what is awaited cannot be lost, unless by a flowop that may
 * fail: TCP may be silent for seconds before it repeats something. */
#define NM_TUNE_SILENCE_NS 5000000000u
/* How long a message may need more than a connection that was opened after it was sent. */
#define NM_TUNE_OVERTAKEN_NS 10000000u

/* --- connections that are replaced --- */

/* How long what has come for a connection before it died may take to be noticed, its end above
 * all. */
#define NM_TUNE_EXPIRY_GRACE_NS 1000000000u

/* --- SO_RCVLOWAT --- */

/* How long what stays below the mark may wait, and how many times as long at most where most flows
 * are fast. */
#define NM_TUNE_RCVLOWAT_LOOK_NS 100000000u
#define NM_TUNE_MOST_SKIPPED	 10

/* --- spinning --- */

/* Vain looks after which a worker that spins leaves the CPU once: whoever is waited for may need
 * this very one. Not measured against other numbers. */
#define NM_TUNE_SPINS 256

/* --- the recv waiter --- */

/* How long a receive of an answer sleeps at most, and one of what the other end sends by itself,
 * whose last wait of a phase is in vain: it prolongs the phase by so much. */
#define NM_TUNE_ANSWER_SLEEP_US	 50000
#define NM_TUNE_REQUEST_SLEEP_US 2000
/* Passes that epoll waits for after a receive that slept in vain: the change takes some calls. Not
 * measured against other numbers. */
#define NM_TUNE_GIVEN_UP_PASSES 128

/* --- deferred waits: tcp_crr --- */

/* Most waits that are armed at once after rounds that did not pay: 1, 3, 7, 15. It hardly costs
 * more than to arm each wait then, and a bad start is soon forgotten. */
#define NM_TUNE_MOST_BACKOFF 15
/* Flows that try again for which the worker leaves the CPU once: 1.05 of the transactions with 64
 * flows and both ends on one CPU; before each smaller round it cost 4 % with 2 flows. */
#define NM_TUNE_MANY_TRIES 8
/* How long flows may be left alone that wait for a reset, and the longest sleep meanwhile: beyond
 * the kernel's next tick, so that it need not set its timer for that. With 1 ms both ends on one
 * CPU lost 8 %. */
#define NM_TUNE_LOOK_NS 10000000
/* How many of them are looked at with one call: more than are closed as a rule. */
#define NM_TUNE_LOOK_FLOWS 16
/* Looks of one turn that may find some closed: events must not wait for too long. */
#define NM_TUNE_MOST_LOOKS 16
/* Looks in a row that may find none: connections are not closed in the order of their answers. */
#define NM_TUNE_VAIN_LOOKS 8
/* Turns that a connection may wait though no other is closed: its reset is on the way, or it is a
 * stranger's. */
#define NM_TUNE_MOST_PENDING 64
/* Resets between two questions where they come in (SO_INCOMING_CPU): seldom while the answer is the
 * same. */
#define NM_TUNE_LEAST_ASKS 64u
#define NM_TUNE_MOST_ASKS  4096u

/* --- io_uring: the end of a phase --- */

/* How often is looked whether the run is given up, and how long what is cancelled may take then. */
#define NM_TUNE_URING_LOOK_NS	10000000
#define NM_TUNE_URING_CANCEL_NS 1000000000u

#endif
