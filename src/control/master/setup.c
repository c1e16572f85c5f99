/* SPDX-License-Identifier: Apache-2.0 */
/* From nothing to a run that only waits for its first phase. */
#include "control/master/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/address.h"
#include "control/master/details.h"
#include "control/master/connect.h"
#include "control/master/event_loop.h"
#include "control/master/relay.h"
#include "control/master/servers.h"
#include "host/cpu_latency.h"
#include "host/clock.h"
#include "host/priority.h"
#include "profile/tree.h"
#include "transport/address.h"

/* With several slaves the others may not be there for a while: this one is told how long that may
 * be. */
static void announce_wait(struct nm_master *master, struct nm_link *link)
{
	const struct nm_run_options *options = master->options;
	uint64_t each_ns = options->wait.slaves_ns + options->timeout_ns;

	if (master->n_links > 1)
		nm_master_send(master, link, NM_MESSAGE_DELAY,
			       nm_number_pack(NM_MESSAGE_DELAY, master->n_links * each_ns));
}

int nm_link_welcome(struct nm_master *master, struct nm_link *link, json_t *body)
{
	struct nm_msg_hello welcome;

	if (nm_welcome_unpack(body, &welcome))
		return -EPROTO;
	if (welcome.protocol != NM_PROTOCOL) {
		nm_master_fail(master, link, NM_FAILURE_LOSS,
			       "it speaks protocol %u (netmodel %s), and this master %d (%s)",
			       welcome.protocol, welcome.version, NM_PROTOCOL, NM_VERSION);
		return 0;
	}
	link->result->trust = nm_embedded_is_started(&link->embedded) ? NM_TRUST_EMBEDDED
			      : nm_peer_is_proved(&link->peer)	      ? NM_TRUST_KEY
			      : welcome.no_auth			      ? NM_TRUST_NONE
								      : NM_TRUST_OWN_HOST;
	link->peer.state = NM_SESSION_PREPARE;
	announce_wait(master, link);
	nm_master_log(master, "connected to %s (%s, %s)", link->name, link->result->address,
		      welcome.hostname);
	return 0;
}

/* Advice for a port of the traffic that is taken. */
static const char *port_taken(const struct nm_master *master)
{
	const char *words = master->options->words.port_taken;

	return words ? words : "";
}

int nm_link_refuse(struct nm_master *master, struct nm_link *link, json_t *body)
{
	const char *code, *text;

	if (nm_refuse_unpack(body, &code, &text))
		return -EPROTO;
	/* To a slave that knows no TLS a handshake is a frame of impossible length. */
	if (link->peer.channel.state == NM_CHANNEL_ANSWERED_PLAIN && strcmp(code, "protocol") == 0)
		text = "it is of a version that knows no keys: use the same version of netmodel on "
		       "both hosts";
	nm_master_fail(master, link, NM_FAILURE_LOSS, "refused: %s%s", text,
		       strcmp(code, NM_REFUSE_PORT) == 0 ? port_taken(master) : "");
	nm_peer_fini(&link->peer);
	link->peer.state = NM_SESSION_END;
	return 0;
}

int nm_link_ready(struct nm_master *master, struct nm_link *link, json_t *body)
{
	unsigned char nonce[NM_NONCE_BYTES];
	json_t *endpoints;

	if (nm_ready_unpack(body, &endpoints, nonce, &link->result->facts) ||
	    nm_endpoints_unpack(endpoints, master->local.engine, master->plan, link->host))
		return -EPROTO;
	nm_engine_set_nonce(master->local.engine, link->host, nonce);
	link->result->data_port = nm_endpoints_port(endpoints);
	link->peer.state = NM_SESSION_CONNECT;
	return 0;
}

static void ping(struct nm_master *master, struct nm_link *link)
{
	link->pinged_ns = nm_clock_ns();
	nm_master_send(master, link, NM_MESSAGE_PING,
		       nm_number_pack(NM_MESSAGE_PING, link->pinged_ns));
}

int nm_link_armed(struct nm_master *master, struct nm_link *link, json_t *body)
{
	if (json_object_size(body) != 0)
		return -EPROTO;
	link->peer.state = NM_SESSION_IDLE;
	ping(master, link);
	return 0;
}

int nm_link_pong(struct nm_master *master, struct nm_link *link, json_t *body)
{
	uint64_t sent_ns, peer_ns, now_ns = nm_clock_ns();

	if (nm_pong_unpack(body, &sent_ns, &peer_ns))
		return -EPROTO;
	if (!link->pinged_ns || sent_ns != link->pinged_ns) {
		link->wrong = "it answers no ping";
		return -EPROTO;
	}
	link->pinged_ns = 0;
	nm_clock_sync_add(&link->clock, sent_ns, peer_ns, now_ns);
	/* Not if the run has ended meanwhile. */
	if (link->clock.rounds < NM_CLOCK_SYNC_ROUNDS && link->peer.state == NM_SESSION_IDLE)
		ping(master, link);
	link->result->rtt_s = (double)link->clock.best_rtt_ns / 1e9;
	link->result->skew_error_s = link->result->rtt_s / 2;
	return 0;
}

/* Starts all embedded slaves first: where they are forked, this process must not have threads of
 * ours yet. */
static bool start_embedded(struct nm_master *master, int *fds)
{
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		if (strcmp(link->name, NM_EMBEDDED_HOST) != 0)
			continue;
		int error = nm_embedded_start(&link->embedded, master->options->in_process,
					      master->options->timeout_ns, &fds[i]);
		if (error) {
			nm_master_fail(master, link, NM_FAILURE_LOSS, "cannot be started: %s%s",
				       strerror(-error),
				       error == -ENETDOWN ? ": the loopback interface is down "
							    "(ip link set lo up)"
							  : "");
			return false;
		}
	}
	return true;
}

/* Greets a slave over its connection; takes fd. */
static bool open_link(struct nm_master *master, struct nm_link *link, int fd)
{
	char text[NM_ADDRESS_TEXT];
	/* A slave that this process has started is trusted, and trusts it. */
	struct nm_key *key =
		nm_embedded_is_started(&link->embedded) ? NULL : master->options->trust.key;
	int error = nm_peer_init(&link->peer, fd, NM_SIDE_SLAVE, key, master->options->timeout_ns,
				 nm_clock_ns());

	if (!error)
		error = nm_address_of_ends(link->peer.fd, &link->local, &link->remote);
	if (!error) {
		link->result->address = strdup(nm_addr_text(&link->remote, text, sizeof text));
		error = link->result->address ? 0 : -ENOMEM;
	}
	if (error) {
		nm_master_fail(master, link, NM_FAILURE_LOSS, "cannot connect: %s",
			       strerror(-error));
		return false;
	}
	link->claims.interval_ns = master->options->interval_ns;
	link->peer.scale =
		nm_message_scale_of(link->mirror, nm_details_shared(master->options, master->plan));
	nm_engine_set_host(master->local.engine, link->host, &link->remote, &link->local);
	link->opened_ns = nm_clock_ns();
	nm_master_send(master, link, NM_MESSAGE_HELLO, nm_hello_pack());
	return true;
}

/* Takes the connection of the link. */
static bool open_taken(struct nm_master *master, size_t i, int *fds)
{
	int fd = fds[i];

	fds[i] = -1;
	return open_link(master, &master->links[i], fd);
}

/* First greets the slaves that are connected already: they would not wait until all others are
 * there. */
static bool connect_all(struct nm_master *master, int *fds)
{
	for (size_t i = 0; i < master->n_links; i++)
		if (fds[i] >= 0 && !open_taken(master, i, fds))
			return false;
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];
		uint64_t until_ns = nm_master_timeout_ns(master);
		char why[400];

		if (nm_embedded_is_started(&link->embedded))
			continue;
		int error =
			nm_master_connect(master, link->name, until_ns, &fds[i], why, sizeof why);

		if (error == -ECANCELED)
			return nm_master_await(master, NM_SESSION_PREPARE, until_ns);
		if (error) {
			nm_master_fail(master, link, NM_FAILURE_LOSS, "%s", why);
			return false;
		}
		if (!open_taken(master, i, fds))
			return false;
	}
	return nm_master_await(master, NM_SESSION_PREPARE, nm_master_timeout_ns(master));
}

/* Adds the samplers that read the engine while it runs. */
static int add_samplers(struct nm_master *master)
{
	struct nm_samplers *samplers = &master->local.samplers;
	const struct nm_run_options *options = master->options;
	struct nm_engine *engine = master->local.engine;

	master->windows = nm_windows_new(master->plan, engine, options, master->result);
	master->progress = nm_progress_sampler_new(master->plan, engine, options,
						   master->result->wall.offset_ns);
	master->plateaus = nm_plateaus_new(master->plan, engine, options->interval_ns);
	if (!master->windows || !master->progress || !master->plateaus)
		return -ENOMEM;
	/* The windows come first, so that nothing delays them between the clock and the counts. */
	nm_samplers_add_first(samplers, nm_windows_base(master->windows));
	nm_samplers_add(samplers, nm_progress_sampler_base(master->progress));
	nm_samplers_add(samplers, nm_plateaus_base(master->plateaus));
	if (!nm_responses_wanted(options))
		return 0;
	master->responses = nm_response_sampler_new(master->plan, engine, options, master->result);
	if (!master->responses)
		return -ENOMEM;
	nm_samplers_add(samplers, nm_response_sampler_base(master->responses));
	return 0;
}

static bool make_engine(struct nm_master *master)
{
	const struct nm_run_options *options = master->options;
	struct nm_local_config config = {
		.engine = {.plan = master->plan,
			   .measures = true,
			   .warmup_ns = options->warmup_ns,
			   .cooldown_ns = options->cooldown_ns,
			   .seed = options->seed,
			   .details = nm_details_own(options, master->plan),
			   .log_passes = options->log_passes,
			   .cpus = master->cpus.cpus,
			   .n_cpus = master->cpus.count,
			   .localhost_words = options->words.localhost,
			   .timeout_ns = options->timeout_ns},
		.interval_ns = options->interval_ns,
		.counters = options->counters,
		.percentiles = &options->percentiles,
		.arg = master,
		.row = nm_master_own_row,
		.flow_rows = nm_master_own_flows,
		.tcp_rows = nm_master_own_tcp,
	};

	memcpy(config.engine.secret, master->secret, sizeof config.engine.secret);
	int error = nm_local_open(&master->local, &config);

	explicit_bzero(config.engine.secret, sizeof config.engine.secret);
	if (!error)
		error = add_samplers(master);
	if (error)
		nm_master_fail(master, NULL, NM_FAILURE_LOSS, "cannot make the engine: %s",
			       strerror(-error));
	return !error;
}

static bool prepare_all(struct nm_master *master)
{
	char *profile = nm_profile_print(master->job->root);
	char why[256] = "";

	for (size_t i = 0; profile && i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];
		struct nm_msg_prepare prepare = {
			.run_id = master->result->id.run_id,
			.host = link->name,
			.profile = profile,
			.file = master->file,
			.cpus = master->options->slave_cpus,
			.counters = master->options->counters,
			.details = nm_details_shared(master->options, master->plan),
			.lenient = master->diags->lenient,
			.interval_ns = master->options->interval_ns,
			.timeout_ns = master->options->timeout_ns,
			.seed = master->options->seed,
		};

		memcpy(prepare.secret, master->secret, sizeof prepare.secret);
		nm_master_send(master, link, NM_MESSAGE_PREPARE, nm_prepare_pack(&prepare));
		explicit_bzero(prepare.secret, sizeof prepare.secret);
	}
	int error = profile ? nm_local_listen(&master->local, why, sizeof why) : -ENOMEM;

	/* The engine may have set another. */
	master->result->hosts[0].facts.cpu_latency_limit_us = nm_cpu_latency_limit_us();

	free(profile);
	if (error) {
		nm_master_fail(master, NULL, NM_FAILURE_LOSS, "%s%s", *why ? why : strerror(-error),
			       error == -EADDRINUSE ? port_taken(master) : "");
		return false;
	}
	return nm_master_await(master, NM_SESSION_CONNECT, nm_master_timeout_ns(master));
}

static bool arm_all(struct nm_master *master)
{
	if (!nm_engine_endpoints_complete(master->local.engine)) {
		nm_master_fail(master, NULL, NM_FAILURE_LOSS,
			       "a slave has not told all the places where it listens");
		return false;
	}
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		nm_master_send(master, link, NM_MESSAGE_CONNECT,
			       nm_connect_pack(nm_endpoints_pack(master->local.engine, master->plan,
								 link->host),
					       nm_engine_nonce(master->local.engine)));
	}
	int error = nm_engine_start(master->local.engine);
	if (error) {
		nm_master_fail(master, NULL, NM_FAILURE_LOSS, "cannot start its workers: %s",
			       strerror(-error));
		return false;
	}
	/* Many workers must not keep this thread from telling them that their time is over. */
	if (!master->options->in_process) {
		master->priority = nm_priority_raise();
		master->raised = true;
	}
	return nm_master_await(master, NM_SESSION_IDLE, nm_master_timeout_ns(master));
}

static bool clocks_known(struct nm_master *master)
{
	uint64_t until_ns = nm_master_timeout_ns(master);

	for (size_t i = 0; i < master->n_links;) {
		const struct nm_link *link = &master->links[i];

		if (nm_outcome_ends(&master->outcome))
			return false;
		if (link->clock.rounds >= NM_CLOCK_SYNC_ROUNDS) {
			i++;
			continue;
		}
		if (nm_clock_ns() >= until_ns) {
			nm_master_fail(master, &master->links[i], NM_FAILURE_LOSS,
				       "%u of %u readings of its clock came within %.3g s: answers "
				       "over the control connection are late",
				       link->clock.rounds, NM_CLOCK_SYNC_ROUNDS,
				       (double)master->options->timeout_ns / 1e9);
			return false;
		}
		nm_master_poll(master, until_ns);
	}
	return true;
}

bool nm_master_setup(struct nm_master *master)
{
	int *fds = calloc(master->n_links + 1,
			  sizeof *fds); /* connections that no link has taken yet */

	if (!fds) {
		nm_master_fail(master, NULL, NM_FAILURE_LOSS, "%s", strerror(ENOMEM));
		return false;
	}
	for (size_t i = 0; i < master->n_links; i++)
		fds[i] = -1;
	bool ok = start_embedded(master, fds) && make_engine(master) &&
		  nm_master_find_servers(master) && connect_all(master, fds) &&
		  prepare_all(master) && arm_all(master) && clocks_known(master);

	for (size_t i = 0; i < master->n_links; i++) {
		if (fds[i] >= 0)
			(void)close(fds[i]);
	}
	free(fds);
	return ok;
}
