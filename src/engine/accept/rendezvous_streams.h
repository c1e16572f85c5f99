/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that come to listeners of the rendezvous, each of which is kept until its preamble is
 * complete, but not for long. The control thread calls init and fini, before and after the
 * rendezvous's thread, which calls the others. */
#ifndef NM_ENGINE_ACCEPT_RENDEZVOUS_STREAMS_H
#define NM_ENGINE_ACCEPT_RENDEZVOUS_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_rendezvous_listeners;
struct nm_rendezvous_socket;

struct nm_rendezvous_streams {
	const struct nm_rendezvous_listeners *listeners; /* borrowed */
	struct nm_newcomer *latest, *oldest;		 /* whose preamble is not complete; owned */
	size_t n_newcomers, most_newcomers;
	uint64_t paused_until_ns; /* no stream is accepted until then; 0: streams are accepted */
	struct nm_once *once;	  /* by group; owned */
};

/* 0 or -ENOMEM; nm_rendezvous_streams_fini is to be called in any case. */
int nm_rendezvous_streams_init(struct nm_rendezvous_streams *streams,
			       const struct nm_rendezvous_listeners *listeners);
/* Closes what is not complete. Accepts zeros. */
void nm_rendezvous_streams_fini(struct nm_rendezvous_streams *streams);

/* Takes all connections that are queued at a socket of a listener. */
void nm_rendezvous_streams_take(struct nm_rendezvous_streams *streams,
				const struct nm_rendezvous_socket *at);
/* Reads more from a stream that was taken, and may be gone after this. */
void nm_rendezvous_streams_hear(struct nm_rendezvous_streams *streams,
				struct nm_rendezvous_socket *stream);
/* Whether something is to be done after some time. */
bool nm_rendezvous_streams_have_timers(const struct nm_rendezvous_streams *streams);
void nm_rendezvous_streams_run_timers(struct nm_rendezvous_streams *streams, uint64_t now_ns);

#endif
