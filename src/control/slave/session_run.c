/* SPDX-License-Identifier: Apache-2.0 */
/* A session while its engine runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/slave/session_priv.h"
#include "host/clock.h"

int nm_session_ping(struct nm_session *session, json_t *body)
{
	uint64_t sent_ns;

	if (nm_number_unpack(NM_MESSAGE_PING, body, &sent_ns))
		return -EPROTO;
	return nm_session_send(session, NM_MESSAGE_PONG, nm_pong_pack(sent_ns, nm_clock_ns()));
}

/* From now on others can see the run, and it them. */
static void begin_run(struct nm_session *session, uint64_t now_ns)
{
	const struct nm_session_slot *slot = session->slot;

	if (!slot)
		return;
	nm_slave_runs_begin(&slot->slots->runs, slot->index, now_ns, &session->run_begin);
	if (session->run_begin.others)
		nm_session_log(session, "%u other run%s under way on this host",
			       session->run_begin.others,
			       session->run_begin.others == 1 ? " is" : "s are");
}

int nm_session_begin(struct nm_session *session, json_t *body)
{
	struct nm_phase_order order;

	/* Phases come in their order, each once. */
	if (nm_begin_unpack(body, session->plan->n_phases, &order) ||
	    order.phase != session->n_begun)
		return -EPROTO;
	uint64_t now_ns = nm_clock_ns();

	nm_engine_begin(session->local.engine, order.phase);
	if (session->n_begun++ == 0)
		begin_run(session, now_ns);
	session->patience.stall_ns = order.stall_ns;
	memset(session->told_done, 0, session->plan->n_groups * sizeof *session->told_done);
	session->peer.state = NM_SESSION_PHASE;
	/* The rows of the phase before end here: that phase was over when the last host was
	 * done. */
	nm_samplers_end(&session->local.samplers, true, now_ns);
	nm_samplers_begin(&session->local.samplers, &order, now_ns);
	int error = nm_session_send(session, NM_MESSAGE_BEGAN, nm_began_pack(order.phase, now_ns));

	/* With nothing to do, the session is ready for the next phase at once. */
	return error ? error : nm_session_report(session);
}

/* Whether an order about a group still means something: it may cross with the news that the group
 * is done. */
static int check_order(const struct nm_session *session, uint32_t phase, uint32_t group,
		       bool *ret_heeded)
{
	const struct nm_group *g = &session->plan->groups[group];

	if (phase + 1 != session->n_begun || !g->runs)
		return -EPROTO;
	*ret_heeded =
		!session->told_done[group] && !nm_engine_group_done(session->local.engine, group);
	return 0;
}

int nm_session_stop(struct nm_session *session, json_t *body)
{
	uint32_t phase, group;
	bool heeded;

	if (nm_stop_unpack(body, session->plan, &phase, &group) ||
	    check_order(session, phase, group, &heeded))
		return -EPROTO;
	if (!session->plan->groups[group].phases[phase].leads)
		return -EPROTO;
	nm_usage_sampler_stop(session->local.usage, group, nm_clock_ns());
	if (heeded)
		nm_engine_stop(session->local.engine, group, false);
	return 0;
}

int nm_session_cut(struct nm_session *session, json_t *body)
{
	uint32_t phase, group;

	if (nm_stop_unpack(body, session->plan, &phase, &group) || phase + 1 != session->n_begun ||
	    !nm_engine_group_done(session->local.engine, group))
		return -EPROTO;
	nm_usage_sampler_cut(session->local.usage, group, nm_clock_ns());
	return 0;
}

int nm_session_follow(struct nm_session *session, json_t *body)
{
	struct nm_msg_totals follow = {.totals = session->local.totals,
				       .room = session->local.n_totals};
	bool heeded;

	if (nm_follow_unpack(body, session->plan, &follow) ||
	    check_order(session, follow.phase, follow.group, &heeded))
		return -EPROTO;
	if (session->plan->groups[follow.group].phases[follow.phase].leads)
		return -EPROTO;
	nm_usage_sampler_stop(session->local.usage, follow.group, nm_clock_ns());
	if (heeded)
		nm_engine_follow(session->local.engine, follow.group, follow.totals);
	return 0;
}

int nm_session_renew(struct nm_session *session, json_t *body)
{
	uint32_t group;

	if (nm_renew_unpack(body, session->plan, &group))
		return -EPROTO;
	nm_engine_reconnect(session->local.engine, group);
	return 0;
}

int nm_session_tell_renewals(struct nm_session *session)
{
	int error = 0;

	if (session->peer.state != NM_SESSION_IDLE && session->peer.state != NM_SESSION_PHASE)
		return 0;
	for (uint32_t g = 0; g < session->plan->n_groups && !error; g++) {
		uint32_t renewals = nm_engine_reconnects(session->local.engine, g);

		if (renewals == session->told_renewals[g])
			continue;
		session->told_renewals[g] = renewals;
		nm_session_log(session, "connections of group %s are to be replaced",
			       session->plan->groups[g].name);
		error = nm_session_send(session, NM_MESSAGE_RENEW, nm_renew_pack(g));
	}
	return error;
}

int nm_session_where(struct nm_session *session, json_t *body)
{
	(void)body;
	nm_engine_places_ask(session->local.engine);
	session->asked_places = true;
	return 0;
}

int nm_session_tell_places(struct nm_session *session)
{
	struct nm_flow_places places;

	if (!session->asked_places || !nm_engine_places_answered(session->local.engine))
		return 0;
	session->asked_places = false;
	nm_engine_places_read(session->local.engine, &places);
	return nm_session_send(session, NM_MESSAGE_PLACES, nm_places_pack(&places));
}

static int tell_done(struct nm_session *session, uint32_t phase, uint32_t group)
{
	struct nm_msg_totals done = {.phase = phase, .group = group};

	(void)nm_local_totals(&session->local, group);
	done.totals = session->local.totals;
	nm_engine_counts(session->local.engine, group, phase, &done.counts);
	nm_engine_times(session->local.engine, group, phase, &done.span.from_ns, &done.span.to_ns);
	session->told_done[group] = true;
	return nm_session_send(session, NM_MESSAGE_DONE,
			       nm_done_pack(&done, session->plan->groups[group].n_workers));
}

static int tell_failed(struct nm_session *session)
{
	char text[NM_WIRE_MAX_TEXT + 1];
	struct nm_msg_failed failed = {.text = text};

	if (!nm_local_take_failure(&session->local, session->file, text, sizeof text,
				   &failed.secondary))
		return 0;
	nm_session_log(session, "%s", text);
	return nm_session_send(session, NM_MESSAGE_FAILED, nm_failed_pack(&failed));
}

int nm_session_report(struct nm_session *session)
{
	if (session->peer.state != NM_SESSION_PHASE)
		return 0;
	int error = tell_failed(session);
	bool all = true;
	uint32_t phase = session->n_begun - 1;

	for (uint32_t g = 0; g < session->plan->n_groups && !error; g++) {
		const struct nm_group *group = &session->plan->groups[g];

		if (!group->runs || phase >= group->n_phases || session->told_done[g])
			continue;
		if (nm_engine_group_done(session->local.engine, g))
			error = tell_done(session, phase, g);
		else
			all = false;
	}
	/* Before the next phase begins, and after the last word about this one is said. */
	if (!error && all) {
		nm_samplers_end(&session->local.samplers, false, nm_clock_ns());
		session->peer.state = NM_SESSION_IDLE;
	}
	return error;
}

/* This end's own part of the result. */
static struct nm_result *own_result(const struct nm_session *session,
				    const struct nm_msg_result *told)
{
	const struct nm_plan *plan = session->plan;
	const struct nm_host_window *window = &told->window;
	struct nm_result *own = nm_result_new();

	if (!own)
		return NULL;
	own->hosts = calloc(2, sizeof *own->hosts); /* the master says later what it has done */
	own->groups = calloc(plan->n_groups + 1, sizeof *own->groups);
	own->n_hosts = own->hosts ? 1 : 0;
	own->n_groups = own->groups ? plan->n_groups : 0;
	if (!own->hosts || !own->groups)
		return nm_result_free(own);
	own->throughput = plan->throughput;
	own->from_ns = window->from_ns;
	own->to_ns = window->to_ns;
	own->totals.seconds = (double)window->ns / 1e9;
	own->totals.counts = window->counts;
	own->hosts->has_usage = told->has_usage;
	own->hosts->usage = told->usage;
	own->hosts->window = *window;
	for (uint32_t g = 0; g < own->n_groups; g++)
		own->groups[g].maps = plan->groups[g].messages.maps;
	return own;
}

/* Before the master knows: it may be back at once. */
static void end_run(const struct nm_session *session, uint64_t now_ns,
		    struct nm_msg_others *ret_others)
{
	const struct nm_session_slot *slot = session->slot;

	if (slot && session->n_begun)
		nm_slave_runs_end(&slot->slots->runs, slot->index, now_ns, &session->run_begin,
				  ret_others);
	else if (slot)
		nm_slave_runs_leave(&slot->slots->runs, slot->index, now_ns);
}

int nm_session_finish(struct nm_session *session, json_t *body)
{
	const struct nm_plan *plan = session->plan;
	struct nm_msg_result *result = calloc(1, sizeof *result);
	uint64_t now_ns = nm_clock_ns();
	int error = -ENOMEM;

	(void)body;
	nm_samplers_end(&session->local.samplers, true, now_ns);
	if (result)
		result->groups = calloc(plan->n_groups + 1, sizeof *result->groups);
	if (result && result->groups) {
		nm_local_result(&session->local, now_ns, result);
		end_run(session, now_ns, &result->others);
		if (session->options->ended && !session->measured)
			session->measured = own_result(session, result);
		error = nm_session_send(session, NM_MESSAGE_RESULT,
					nm_result_pack(result, plan->n_groups));
		session->peer.state = NM_SESSION_RESULT;
	}
	if (result)
		free(result->groups);
	free(result);
	return error;
}
