/* SPDX-License-Identifier: Apache-2.0 */
/* The table of handlers, and those that belong to no step of a run. */
#include "control/master/handlers.h"

#include <errno.h>

#include "control/master/assemble.h"
#include "control/master/phase_loop.h"
#include "control/master/places.h"
#include "control/master/relay.h"
#include "control/master/setup.h"

static int take_heartbeat(struct nm_master *master, struct nm_link *link, json_t *body)
{
	(void)master;
	return nm_number_unpack(NM_MESSAGE_HEARTBEAT, body, &link->progress);
}

static int take_failed(struct nm_master *master, struct nm_link *link, json_t *body)
{
	struct nm_msg_failed failed;

	if (nm_failed_unpack(body, &failed))
		return -EPROTO;
	nm_master_fail(master, link, failed.secondary ? NM_FAILURE_EFFECT : NM_FAILURE_CAUSE, "%s",
		       failed.text);
	return 0;
}

static int take_renew(struct nm_master *master, struct nm_link *link, json_t *body)
{
	uint32_t group;

	if (nm_renew_unpack(body, master->plan, &group) ||
	    !master->phases.hosts[link->host].parts[group].runs)
		return -EPROTO;
	nm_master_log(master, "connections of group %s are to be replaced: %s has told so",
		      master->plan->groups[group].name, link->name);
	nm_engine_reconnect(master->local.engine, group);
	return 0;
}

const nm_link_handler nm_master_handlers[NM_MESSAGE__COUNT] = {
	[NM_MESSAGE_WELCOME] = nm_link_welcome,	 [NM_MESSAGE_REFUSE] = nm_link_refuse,
	[NM_MESSAGE_READY] = nm_link_ready,	 [NM_MESSAGE_ARMED] = nm_link_armed,
	[NM_MESSAGE_PONG] = nm_link_pong,	 [NM_MESSAGE_BEGAN] = nm_link_began,
	[NM_MESSAGE_DONE] = nm_link_done,	 [NM_MESSAGE_INTERVAL] = nm_link_interval,
	[NM_MESSAGE_FLOWS] = nm_link_flows,	 [NM_MESSAGE_TCP_INFO] = nm_link_tcp,
	[NM_MESSAGE_HEARTBEAT] = take_heartbeat, [NM_MESSAGE_FAILED] = take_failed,
	[NM_MESSAGE_PLACES] = nm_link_places,	 [NM_MESSAGE_RENEW] = take_renew,
	[NM_MESSAGE_RESULT] = nm_link_result,
};
