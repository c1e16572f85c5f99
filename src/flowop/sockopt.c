/* SPDX-License-Identifier: Apache-2.0 */
/* sockopt: sets an option of TCP at its place in a pass, as an application does that wants its
 * acknowledgements at once, or that corks. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "flowop/common.h"
#include "flowop/flowop.h"
#include "transport/socket.h"

enum option { NODELAY, CORK, QUICKACK, MSS, NOTSENT_LOWAT };

static const char *const option_words[] = {"nodelay", "cork",	       "quickack",
					   "mss",     "notsent_lowat", NULL};

static const struct {
	int option;    /* tcp(7) */
	uint64_t most; /* of the value */
} kernels[] = {
	[NODELAY] = {TCP_NODELAY, 1},
	[CORK] = {TCP_CORK, 1},
	[QUICKACK] = {TCP_QUICKACK, 1},
	[MSS] = {TCP_MAXSEG, 65535},
	[NOTSENT_LOWAT] = {TCP_NOTSENT_LOWAT, INT32_MAX},
};

struct sockopt_opts {
	int option;
	uint64_t value, every;
	int at;
};

static const struct nm_opt sockopt_opts[] = {
	{.name = "optname",
	 .type = NM_TYPE_ENUM,
	 .offset = offsetof(struct sockopt_opts, option),
	 .choices = option_words,
	 .required = true,
	 .help = "which: TCP_NODELAY, TCP_CORK, TCP_QUICKACK, TCP_MAXSEG or TCP_NOTSENT_LOWAT"},
	{.name = "optval",
	 .type = NM_TYPE_SIZE,
	 .offset = offsetof(struct sockopt_opts, value),
	 .max = INT32_MAX,
	 .def = "1",
	 .help = "what it is set to: 0 or 1, or bytes of mss and notsent_lowat"},
	{.name = "every",
	 .type = NM_TYPE_COUNT,
	 .offset = offsetof(struct sockopt_opts, every),
	 .min = 1,
	 .def = "1",
	 .help = "in one of so many passes of each flow"},
	{.name = "at",
	 .type = NM_TYPE_ENUM,
	 .offset = offsetof(struct sockopt_opts, at),
	 .choices = nm_at_words,
	 .def = "both",
	 .help = "which end sets it"},
	NM_OPT_END};

static int sockopt_check(const void *opts, char *why, size_t why_size)
{
	const struct sockopt_opts *o = opts;

	if (o->value <= kernels[o->option].most)
		return 0;
	snprintf(why, why_size, "optval=\"%llu\": %s is at most %llu", (unsigned long long)o->value,
		 option_words[o->option], (unsigned long long)kernels[o->option].most);
	return -EINVAL;
}

static bool sockopt_runs_on(const void *opts, bool master)
{
	return nm_runs_at(((const struct sockopt_opts *)opts)->at, master);
}

/* Both ends count their passes down from the same number, and so choose the same ones. */
static enum nm_step sockopt_step(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr)
{
	const struct sockopt_opts *o = instr->opts;

	(void)io;
	if (flow->iterations_left % o->every)
		return NM_STEP_NEXT;
	int r = nm_socket_set(flow->conn->fd, IPPROTO_TCP, kernels[o->option].option,
			      (int)o->value);

	if (r == 0)
		return NM_STEP_NEXT;
	flow->error = -r;
	return NM_STEP_FAIL;
}

const struct nm_flowop nm_flowop_sockopt = {
	.name = "sockopt",
	.mirror_op = &nm_flowop_sockopt,
	.help = "sets an option of its TCP connection, in each pass or in some: behind a read for "
		"the end that reads, behind a write for the end that writes",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_SETS,
	.opts = sockopt_opts,
	.opts_size = sizeof(struct sockopt_opts),
	.check = sockopt_check,
	.runs_on = sockopt_runs_on,
	.step = sockopt_step,
};
