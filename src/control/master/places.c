/* SPDX-License-Identifier: Apache-2.0 */
/* Asks all hosts where their flows are, and puts the answers into words. */
#include "control/master/places.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/master/blocked.h"
#include "control/master/event_loop.h"
#include "control/snapshot.h"
#include "host/clock.h"
#include "transport/address.h"

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

void nm_master_find_places(struct nm_master *master, struct nm_flow_places *ret_here)
{
	uint64_t until_ns = nm_clock_ns() + ANSWER_NS;

	ask(master);
	while (!all_have_answered(master) && nm_clock_ns() < until_ns &&
	       master->outcome.interrupts < 2)
		nm_master_poll(master, until_ns);
	nm_engine_places_read(master->local.engine, ret_here);
}

/* Whether a path may drop large packets: control connections pass, as all have answered. */
static bool may_drop(const struct nm_master *master, const struct nm_flow_places *here)
{
	bool large = nm_unacked_is_large(&here->unacked);

	for (size_t i = 0; i < master->n_links; i++) {
		if (!master->links[i].places_told)
			return false;
		large |= nm_unacked_is_large(&master->links[i].places.unacked);
	}
	return large;
}

/* What to do then. */
static void append_advice(const struct nm_master *master, const struct nm_flow_places *here,
			  char *buf, size_t size)
{
	size_t used = strlen(buf);

	if (may_drop(master, here))
		(void)snprintf(buf + used, size - used,
			       "; the path may drop packets so large (compare the MTU of all "
			       "hosts; the option mss limits segments), or be so full that TCP "
			       "waits longer than --timeout before it sends again");
}

void nm_master_tell_places(const struct nm_master *master, const struct nm_flow_places *here,
			   char *buf, size_t size)
{
	char text[768];

	nm_places_text(here, master->plan, master->file, text, sizeof text);
	append(buf, size, "here", text);
	for (size_t i = 0; i < master->n_links; i++) {
		const struct nm_link *link = &master->links[i];

		if (link->places_told)
			nm_places_text(&link->places, link->mirror, master->file, text,
				       sizeof text);
		append(buf, size, link->name, link->places_told ? text : "it does not tell");
	}
	append_advice(master, here, buf, size);
}

uint64_t nm_master_again_ns(const struct nm_master *master, const struct nm_flow_places *here)
{
	struct nm_unacked all = here->unacked;

	for (size_t i = 0; i < master->n_links; i++)
		if (master->links[i].places_told)
			nm_unacked_add(&all, &master->links[i].places.unacked);
	return UINT64_C(1000000) * all.again_ms;
}

/* The option that chooses the port of data connections, if the profile has a parameter for it. */
static const char *fix_port(const struct nm_master *master)
{
	const struct nm_params *params = master->job->params;

	for (size_t i = 0; params && i < params->count; i++) {
		if (strcmp(params->items[i].name, "port") == 0)
			return master->options->words.fix_port ? master->options->words.fix_port
							       : "-D port=N";
	}
	return NULL;
}

static void fail_if_blocked(struct nm_master *master, struct nm_link *link,
			    const struct nm_blocked *blocked)
{
	char text[1024];

	if (nm_blocked_any(blocked))
		nm_master_fail(master, link, NM_FAILURE_EFFECT, "%s",
			       nm_blocked_text(blocked, text, sizeof text));
}

void nm_master_fail_blocked(struct nm_master *master, uint64_t limit_ns)
{
	struct nm_flow_places here;

	nm_master_find_places(master, &here);
	/* Handshakes of TLS, whose connections are there, are parts of a connect, too: in the end
	 * nm_master_tell_places says what stops them. */
	if (may_drop(master, &here))
		return;
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];
		char address[NM_ADDRESS_TEXT];
		struct nm_blocked blocked = {.places = &here,
					     .plan = master->plan,
					     .host = link->host,
					     .slave = link->result->address,
					     .limit_ns = limit_ns,
					     .file = master->file,
					     .fix_port = fix_port(master)};

		if (link->peer.fd < 0)
			continue;
		fail_if_blocked(master, link, &blocked);
		if (!link->places_told)
			continue;
		blocked.places = &link->places;
		blocked.plan = link->mirror;
		blocked.host = 0;
		blocked.master = nm_addr_text(&link->local, address, sizeof address);
		fail_if_blocked(master, link, &blocked);
	}
}
