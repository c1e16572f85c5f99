/* SPDX-License-Identifier: Apache-2.0 */
/* Asks all hosts where their flows are, and puts the answers into words. */
#include "control/master/places.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/master/event_loop.h"
#include "control/snapshot.h"
#include "host/clock.h"

#define ANSWER_NS 500000000u /* time for hosts to answer */

int nm_link_places(struct nm_master *master, struct nm_link *link, json_t *body)
{
	(void)master;
	if (!link->places_asked || nm_places_unpack(body, link->mirror, &link->places))
		return -EPROTO;
	link->places_asked = false;
	link->places_told = true;
	return 0;
}

static bool all_have_answered(const struct nm_master *master)
{
	bool all = nm_engine_places_answered(master->local.engine);

	for (size_t i = 0; i < master->n_links; i++)
		all &= !master->links[i].places_asked || master->links[i].peer.fd < 0;
	return all;
}

static void ask(struct nm_master *master)
{
	nm_engine_places_ask(master->local.engine);
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		link->places_told = false;
		if (link->peer.fd < 0 || link->places_asked ||
		    (link->peer.state != NM_SESSION_IDLE && link->peer.state != NM_SESSION_PHASE))
			continue;
		link->places_asked = true;
		nm_master_send(master, link, NM_MESSAGE_WHERE, json_object());
	}
}

static void append(char *buf, size_t size, const char *host, const char *text)
{
	size_t used = strlen(buf);

	(void)snprintf(buf + used, size - used, "; %s: %s", host, text);
}

void nm_master_tell_places(struct nm_master *master, char *buf, size_t size)
{
	uint64_t until_ns = nm_clock_ns() + ANSWER_NS;
	struct nm_flow_places here;
	char text[512];

	ask(master);
	while (!all_have_answered(master) && nm_clock_ns() < until_ns &&
	       master->outcome.interrupts < 2)
		nm_master_poll(master, until_ns);
	nm_engine_places_read(master->local.engine, &here);
	nm_places_text(&here, master->plan, master->file, text, sizeof text);
	append(buf, size, "here", text);
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		if (link->places_told)
			nm_places_text(&link->places, link->mirror, master->file, text,
				       sizeof text);
		append(buf, size, link->name, link->places_told ? text : "it does not tell");
	}
}
