/* SPDX-License-Identifier: Apache-2.0 */
/* Warns of a pace and of a delay that the devices on the way have not kept. */
#include "control/master/unkept.h"

#include <math.h>
#include <stdint.h>

#include "base/units.h"
#include "plan/plan.h"
#include "result/result.h"
#include "transport/transport.h"

#define UNPACED_BYTES  1048576 /* that a connection may have sent into its buffer */
#define SETTLED_PASSES 16      /* after which a connection has had six round trips and more */

/* The greatest rate of those that the kernel may not keep; 0: there is none. */
static double pacing_of(const struct nm_group *group)
{
	double most = 0;

	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];
		const struct nm_transport_socket *socket =
			nm_instr_opens(instr) ? instr->transport->socket : NULL;

		if (socket && socket->max_pacing_bps)
			most = fmax(most, socket->max_pacing_bps(instr->open.transport_opts));
	}
	return most;
}

/* Counts tell whether a rate was kept, whatever the devices on the way are. */
static void warn_of_pacing(struct nm_result *result, const struct nm_group *group,
			   const struct nm_result_group *found)
{
	double bps = pacing_of(group), seconds = 0, connections = (double)group->n_flows;
	uint64_t bytes = 0;
	char asked[32], sent[32];

	connections *= group->n_conns;
	for (size_t k = 0; bps > 0 && k < found->n_phases; k++) {
		const struct nm_result_phase *phase = &found->phases[k];
		uint64_t by_master = phase->whole.counts.bytes_sent;
		uint64_t by_slaves = phase->slaves.bytes_sent;

		bytes += by_master > by_slaves ? by_master : by_slaves;
		seconds += fmax(phase->whole.seconds, nm_span_s(phase->slaves_span));
	}
	if (connections <= 0 || seconds <= 0 ||
	    (double)bytes <= connections * (1.1 * bps / 8 * seconds + UNPACED_BYTES))
		return;
	nm_result_warn(
		result,
		"group %.128s: max_pacing_rate is %s, and each connection sent %s: datagrams are "
		"paced only where the sending device has the queueing discipline fq "
		"(tc qdisc replace dev DEVICE root fq)",
		group->name, nm_format_bitrate(bps, asked, sizeof asked),
		nm_format_bitrate((double)bytes * 8 / seconds / connections, sent, sizeof sent));
}

/* Whether the instruction is made more than once. */
static bool is_repeated(const struct nm_group *group, uint32_t instr)
{
	bool is = false;

	for (uint32_t k = 0; k < group->n_phases; k++)
		is |= group->phases[k].iterations != 1 && instr >= group->phases[k].first &&
		      instr - group->phases[k].first < group->phases[k].n_instrs;
	return is;
}

/* The greatest delay of the group's connections that do not come and go; 0: there is none. */
static uint64_t tx_delay_of(const struct nm_group *group)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (!nm_instr_opens(instr) || is_repeated(group, i))
			continue;
		uint64_t ns =
			nm_transport_tx_delay_ns(instr->transport, instr->open.transport_opts);

		most = ns > most ? ns : most;
	}
	return most;
}

/* Whether each connection of the group has had enough passes, on average. */
static bool is_settled(const struct nm_group *group, const struct nm_result_group *found)
{
	uint64_t passes = 0;

	for (size_t k = 0; k < found->n_phases; k++)
		passes += found->phases[k].whole.counts.iterations;
	return (double)passes >= (double)SETTLED_PASSES * group->n_flows * group->n_conns;
}

/* The delay of either end is in every round trip, where it is kept, and the longest one of all
 * connections is no shorter where others have less delay, or none. The kernel's smoothed one
 * begins with the delay that was set, though nothing was measured, as Linux 6.18 has it, or with a
 * handshake that had none: six more, of an eighth each, bring it beyond the half. */
static void warn_of_tx_delay(struct nm_result *result, const struct nm_plan *plan)
{
	double delay = 0, longest = 0;
	char asked[32], found[32];

	for (uint32_t g = 0; g < plan->n_groups; g++)
		if (is_settled(&plan->groups[g], &result->groups[g]))
			delay = fmax(delay, (double)tx_delay_of(&plan->groups[g]) / 1e9);

	for (size_t h = 0; h < result->n_hosts; h++) {
		const struct nm_conn_report *connections = &result->hosts[h].connections;

		if (connections->min_rtt_s > 0)
			longest = fmax(longest, connections->srtt_max_s);
	}
	if (longest <= 0 || longest >= delay / 2)
		return;
	nm_result_warn(result,
		       "tcp_tx_delay is %s, and no connection has a round trip of more than %s: "
		       "what is sent is delayed only where the sending device has the queueing "
		       "discipline fq (tc qdisc replace dev DEVICE root fq)",
		       nm_format_duration(delay, asked, sizeof asked),
		       nm_format_duration(longest, found, sizeof found));
}

void nm_warn_of_unkept(struct nm_result *result, const struct nm_plan *plan)
{
	for (uint32_t g = 0; g < plan->n_groups; g++)
		warn_of_pacing(result, &plan->groups[g], &result->groups[g]);
	warn_of_tx_delay(result, plan);
}
