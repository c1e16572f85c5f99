/* SPDX-License-Identifier: Apache-2.0 */
/* The tuning numbers of the engine, and their reasons; docs/decisions has the measurements, which
 * were made in one virtual machine with two CPUs. No number changes a count. */
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

/* Flows of a worker whose connections are looked at when a run does not go on: some
 * milliseconds. */
#define NM_TUNE_PLACES_LOOKED_AT 1000u

/* --- open arrivals --- */

/* How long what was due may still begin after an interrupt, which the control thread allows some
 * seconds to end what has begun. */
#define NM_TUNE_OPEN_INTERRUPT_NS 1000000000u
/* How often passes that are dropped are counted while no flow is free, so that intervals and
 * windows have what was due in them: not measured against other numbers. */
#define NM_TUNE_OPEN_LOOK_NS 10000000u
/* Arrivals that never began are counted one by one up to so many, which takes a tenth of a second;
 * beyond that by the mean of the law. */
#define NM_TUNE_OPEN_COUNTED 1000000u

/* --- the end of a phase whose last messages may be lost --- */

/* How long nothing must move at least before the phase counts as over; and how often the worker
 * looks, which is by how much the phase may seem to have ended after its last message. */
#define NM_TUNE_QUIET_NS      100000000u
#define NM_TUNE_QUIET_LOOK_NS 2000000u
/* How long nothing must move where the awaited message cannot be lost, unless by a flowop that may
 * fail: TCP may be silent for seconds before it repeats something. */
#define NM_TUNE_SILENCE_NS 5000000000u
/* How much longer a message may take than a connection that was opened after it was sent. */
#define NM_TUNE_OVERTAKEN_NS 10000000u

/* --- lost resets --- */

/* How often flows are looked at that wait for a reset: as often as TCP would send a lost packet
 * again, which it first does after 200 ms; more often where resets are being lost. With many
 * workers fewer are woken in a second, and one with many flows is woken less often. */
#define NM_TUNE_ENDS_LOOK_NS   100000000u
#define NM_TUNE_ENDS_EAGER_NS  10000000u
#define NM_TUNE_ENDS_WORKER_NS 1000000u
#define NM_TUNE_ENDS_FLOW_NS   1000u

/* --- connections that are replaced --- */

/* How long the worker may take to notice bytes that came for a connection before it died, and above
 * all its end. */
#define NM_TUNE_EXPIRY_GRACE_NS 1000000000u

/* The pause before a connection to a server is tried again is drawn from 0 to a length that
 * doubles from the first to the last: many flows come back apart, and soon. */
#define NM_TUNE_BACKOFF_NS	10000000u
#define NM_TUNE_BACKOFF_MOST_NS 1000000000u
/* The last attempt may take so much longer than all of them may. */
#define NM_TUNE_LAST_ATTEMPT_NS 100000000u
/* One that has not failed yet when the time of the phase is over ends at last then, so that a SYN
 * may be lost once. */
#define NM_TUNE_STOPPED_ATTEMPT_NS 1500000000u

/* --- SO_RCVLOWAT --- */

/* How long bytes below the mark may wait, and how many times as long at most where most flows are
 * fast. */
#define NM_TUNE_RCVLOWAT_LOOK_NS 100000000u
#define NM_TUNE_MOST_SKIPPED	 10

/* --- spinning --- */

/* Vain looks after which a worker that spins leaves the CPU once: the other end may need this very
 * CPU. Not measured against other numbers. */
#define NM_TUNE_SPINS 256

/* --- the recv waiter --- */

/* How long a receive sleeps at most: of an answer, and of a request. The last wait for a request is
 * in vain, and prolongs the phase by so much. */
#define NM_TUNE_ANSWER_SLEEP_US	 50000
#define NM_TUNE_REQUEST_SLEEP_US 2000
/* Passes that epoll waits for after a receive that slept in vain: the change takes some calls. Not
 * measured against other numbers. */
#define NM_TUNE_GIVEN_UP_PASSES 128

/* --- deferred waits: tcp_crr --- */

/* Most waits that are armed at once after rounds that did not pay: 1, 3, 7, 15. Deferring then
 * hardly costs more than to arm each wait, and a bad start is soon forgotten. */
#define NM_TUNE_MOST_BACKOFF 15
/* Flows that try again for which the worker leaves the CPU once: 1.05 of the transactions with 64
 * flows and both ends on one CPU; before each smaller round it cost 4 % with 2 flows. */
#define NM_TUNE_MANY_TRIES 8
/* How long the worker may leave flows alone that wait for a reset, and how long it may sleep
 * meanwhile: beyond the kernel's next tick, which then needs no timer of its own for the sleep.
 * With 1 ms both ends on one CPU lost 8 %. */
#define NM_TUNE_LOOK_NS 10000000
/* How many of these flows one call looks at: more than are closed as a rule. */
#define NM_TUNE_LOOK_FLOWS 16
/* Looks of one turn that may find closed connections: events must not wait for too long. */
#define NM_TUNE_MOST_LOOKS 16
/* Looks in a row that may find none closed: connections are not closed in the order of their
 * answers. */
#define NM_TUNE_VAIN_LOOKS 8
/* Turns that a queued connection may wait while no flow is found closed: a reset is on the way, or
 * the connection is a stranger's. */
#define NM_TUNE_MOST_PENDING 64
/* Resets between two questions on which CPU they come in (SO_INCOMING_CPU): the more, the longer
 * the answer does not change. */
#define NM_TUNE_LEAST_ASKS 64u
#define NM_TUNE_MOST_ASKS  4096u

/* --- io_uring: the end of a phase --- */

/* How often the worker looks whether the run is given up, and how long cancelled operations may
 * take then. */
#define NM_TUNE_URING_LOOK_NS	10000000
#define NM_TUNE_URING_CANCEL_NS 1000000000u

#endif
