/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the simulated kernel, for its own files: kernel.c has them and their descriptors,
 * stream.c the sockets of TCP, wait.c epoll and poll. */
#ifndef NM_TESTS_SIM_OBJECT_H
#define NM_TESTS_SIM_OBJECT_H

#include "kernel.h"
#include "memory.h"
#include "process.h"

#define FIRST_FD 10000

enum kind { FREE, STREAM, LISTENER, DATAGRAM, EPOLL, EVENT, PACKETS, PIPE };
enum state { CLOSED, CONNECTING, ESTABLISHED };
enum told { NOT_CALLED, NOT_TOLD, TOLD }; /* whether connect has said that it is there */

/* What wakes those that wait: there are bytes, there is room, or all of them. */
enum edge { EDGE_IN, EDGE_OUT, EDGE_ANY, N_EDGES };

struct item { /* of an epoll's list of interest */
	struct item *next;
	unsigned target;
	struct epoll_event event;
	uint64_t seen[N_EDGES]; /* the target's edges when it was looked at last */
	bool due;		/* it was when it was added */
	bool off;		/* EPOLLONESHOT has reported it */
};

struct packet { /* with one descriptor */
	char data[32];
	size_t size;
	unsigned passed;
};

struct sim_datagram;

struct object {
	enum kind kind;
	/* descriptors, here and on their way in packets; 0: closed, or not accepted yet */
	unsigned refs;
	bool blocks;		 /* O_NONBLOCK is not set */
	uint64_t edges[N_EDGES]; /* how often something has come; epoll's edges */
	/* STREAM; PIPE: the writing end has a peer, the reading end bytes */
	enum state state;
	enum told told;
	bool is_new;   /* it has not been accepted yet */
	unsigned peer; /* 0: none, or gone */
	uint64_t peer_life;
	int error; /* that the next call reports */
	bool fin_in, fin_out, reset;
	bool fin_waits; /* behind bytes for which there is no room */
	bool aborts;	/* SO_LINGER of 0 */
	char *rx;	/* has the bytes that have come, from rx_begin on */
	size_t rx_begin, rx_size, rx_room;
	uint64_t held;	    /* bytes that this end has sent and the other has not read */
	bool has_sent;	    /* the first bytes of a connection always have room together */
	bool stuffed;	    /* there is no room until the other end has read something */
	uint64_t heard_ns;  /* when something has come last */
	uint64_t clear_ns;  /* when the last segment of this end arrives */
	uint64_t sleep_ns;  /* SO_RCVTIMEO; 0: none */
	uint64_t low_water; /* SO_RCVLOWAT */
	unsigned host;	    /* that it lives on */
	uint32_t address, peer_address;
	uint16_t port, peer_port;
	bool reuses;	 /* SO_REUSEADDR */
	bool keeps_port; /* it was bound to a port, and not to any */
	bool gave_port;	 /* back, when the connection was over; it still has its name */
	uint64_t bound;	 /* a later bind has a greater number; 0: it was not bound */
	/* DATAGRAM: those that have come */
	struct sim_datagram *datagrams;
	unsigned n_datagrams;
	/* LISTENER */
	unsigned queue[256], queued, backlog;
	/* EPOLL */
	struct item *items;
	/* EVENT */
	uint64_t count;
	/* PACKETS: those that have come */
	struct packet packets[64];
	unsigned n_packets;
};

struct sim_kernel {
	struct sim_choices config;
	struct sim_kernel_state state;
	struct object *objects[SIM_MOST]; /* [0] is not used */
	unsigned n_places;		  /* of them have been used, and [0] */
	uint64_t lives[SIM_MOST];	  /* how many objects a place has had */
	uint16_t next_port;
	uint64_t n_bound;
};
extern struct sim_kernel sim_kernel;

/* Each call takes its time, and sometimes others have a turn before it. 0, or -errno: a fault. */
int sim_call(const char *what, long detail);
/* NULL: it is none, or of another kind; FREE stands for all kinds. */
struct object *sim_object_of(int fd, enum kind kind);
/* NULL: it is no socket; the error says why. */
struct object *sim_socket_of(int fd, int *ret_error);
/* As sim_object_of, for a descriptor of that process and of any kind. */
struct object *sim_object_in(const struct sim_process *process, int fd);
unsigned sim_place_of(int fd);
/* The place of a new object. */
unsigned sim_make(enum kind kind, unsigned refs, bool blocks);
/* A new descriptor of an object that has one reference more by now. */
int sim_give(unsigned at);
/* One descriptor more, or less; the last one closes the object. */
void sim_hold(unsigned at);
void sim_release(unsigned at);
void sim_discard(unsigned at);
/* When what is sent now arrives. */
uint64_t sim_arrival_ns(void);
/* Bytes of rx. */
void sim_append(struct object *object, const void *data, size_t size);
void sim_consume(struct object *object, size_t size);
/* Whether this call moves less than it could. */
bool sim_is_partial(void);
/* The other end; of a pipe's writing end the reading one. NULL: none, or it is gone. */
struct object *sim_peer_of(const struct object *object);
/* Whether nothing comes any more, and nothing can be sent. */
bool sim_is_over(const struct object *object);
/* Whether the other end has got the end, too: it does not wait there for room. */
bool sim_is_gone(const struct object *object);
/* Of a stream: whether so much can be sent that it is worth while to wake somebody. */
bool sim_has_room(const struct object *object);
/* The error of a call before; there is none any more. */
int sim_take_error(struct object *object);
/* What epoll would report. */
uint32_t sim_mask_of(const struct object *object);
/* Of an epoll: whether it has something to report. */
bool sim_has_due(const struct object *epoll);
/* Whether a call that finds nothing to do may sleep until there is something; false: -EAGAIN. */
bool sim_sleeps(struct object *object, uint32_t mask, int flags, const char *where);

/* socket.c: addresses and ports are in the order of this machine. */
uint16_t sim_port_of(const struct sockaddr *addr);
/* 0: any; IPv6 has no other here. */
uint32_t sim_address_of(const struct sockaddr *addr);
void sim_put_address(struct sockaddr *to, socklen_t *size, uint32_t address, uint16_t port);
uint16_t sim_free_port(void);
/* Gives it a port, if it has none, and the names of both ends. */
void sim_name_ends(struct object *object, const struct sockaddr *peer);
/* The host that an address means to an object, and the object's own address on the way there. */
unsigned sim_host_at(const struct object *from, uint32_t address);
uint32_t sim_address_towards(const struct object *from, uint32_t address);

/* datagram.c */
ssize_t sim_datagram_send(int fd, const void *data, size_t size, const struct sockaddr *to);
ssize_t sim_datagram_recv(int fd, void *data, size_t size, int flags, struct sockaddr *from,
			  socklen_t *from_size);
void sim_datagrams_close(struct object *object);

/* stream.c */
int sim_stream_connect(struct object *object, unsigned at, const struct sockaddr *addr);
ssize_t sim_stream_send(int fd, const void *data, size_t size, int flags);
ssize_t sim_stream_recv(int fd, void *data, size_t size, int flags);
/* Wakes those that wait for bytes, if there are as many as they ask for. */
void sim_tell_bytes(struct object *object);
/* The last reference is gone. */
void sim_stream_close(unsigned at);
void sim_listener_close(struct object *object);

#endif
