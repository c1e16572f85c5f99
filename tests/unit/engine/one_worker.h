/* SPDX-License-Identifier: Apache-2.0 */
/* One worker of two flows that is driven by hand, over a transport that follows a script: what the
 * tests of phases and of reconnecting share. */
#ifndef NM_TESTS_UNIT_ENGINE_ONE_WORKER_H
#define NM_TESTS_UNIT_ENGINE_ONE_WORKER_H

#include <check.h>
#include <stdbool.h>
#include <sys/types.h>

#include "engine/engine_priv.h"
#include "flowop/flowop.h"
#include "flowop/listening.h"
#include "flowop/pipeline.h"
#include "transport/optional.h"
#include "transport/transport.h"

#define N_FLOWS 2
#define CHUNK	4096

/* What the transport answers: to each receive and send the next number, and -EAGAIN behind the
 * last. */
struct script {
	ssize_t answers[8];
	unsigned next, closed;
	bool expired;
	enum nm_transport_event events[4];
	unsigned next_event;
};
extern struct script script;

/* A connect, and a phase of one read behind it. */
struct one_worker {
	struct nm_instr instrs[3];
	struct nm_phase phase;
	struct nm_group group;
	struct nm_plan plan;
	struct nm_engine engine;
	struct nm_engine_group engine_group;
	struct nm_worker worker;
	struct {
		struct nm_flow flow;
		struct nm_conn conn;
		_Alignas(struct nm_pipe) char pipe[sizeof(struct nm_pipe)];
	} flows[N_FLOWS];
	struct nm_phase_stats stats;
	struct nm_listener listener;
	char rx[CHUNK + 1], tx[CHUNK];
	void *started;
	int fd;
};
extern struct one_worker f;

/* Test cases that begin with a phase in which both flows wait, have passes left and have an open
 * connection each. */
TCase *one_worker_tests(const char *name);

#endif
