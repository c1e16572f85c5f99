/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of control messages: each is made by a pack function and read by an unpack function.
 * Packers return an owned object or NULL when out of memory. Unpackers check everything against the
 * limits they are given and return 0, or -EPROTO with nothing to be used; strings they return are
 * borrowed from the body. */
#ifndef NM_CONTROL_WIRE_CODEC_H
#define NM_CONTROL_WIRE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/buffers.h"
#include "control/wire/fields.h"
#include "control/wire/message.h"
#include "engine/flowop_stats.h"
#include "engine/engine.h"
#include "engine/places.h"
#include "host/facts.h"
#include "host/perf.h"
#include "host/usage.h"
#include "plan/plan.h"
#include "result/result.h"
#include "transport/address.h"
#include "stats/counters.h"

/* Longest texts taken from a peer. */
#define NM_WIRE_MAX_NAME 255
#define NM_WIRE_MAX_TEXT 4095

/* The table of each body, by which it is sent, taken and documented. */
#define NM_MESSAGE(name, word, sender, states, size, body)                                         \
	extern const struct nm_field nm_##body##_fields[];
#include "control/wire/messages.def"
#undef NM_MESSAGE
/* The table of the body of such a message. */
const struct nm_field *nm_message_fields(enum nm_message_type type);

/* --- setting up (codec_setup.c) --- */

struct nm_msg_hello { /* also welcome, without the magic */
	const char *magic;
	uint32_t protocol;
	const char *version;
	const char *hostname; /* the slave's; NULL in a hello */
	bool no_auth;	      /* the slave takes any master without proof; false in a hello */
};
/* The hello of this version. */
json_t *nm_hello_pack(void);
/* The answer to a hello. hostname: this host's; no_auth: as in struct nm_msg_hello. */
json_t *nm_welcome_pack(const char *hostname, bool no_auth);
/* Both unpackers take members that they do not know: a peer of another version must be understood
 * so far. */
int nm_hello_unpack(json_t *body, struct nm_msg_hello *ret);
/* Leaves magic NULL; with another protocol, all but its number and the version. */
int nm_welcome_unpack(json_t *body, struct nm_msg_hello *ret);

/* One word and one line of text: refuse, abort. */
json_t *nm_refuse_pack(const char *code, const char *text);
/* Takes members that it does not know. */
int nm_refuse_unpack(json_t *body, const char **ret_code, const char **ret_text);

struct nm_msg_prepare {
	const char *run_id;
	const char *host;     /* the slave's name in the profile */
	const char *profile;  /* substituted, as XML */
	const char *file;     /* its name in messages */
	const char *cpus;     /* list for the workers; NULL: the slave's own choice */
	const char *counters; /* counters of the hardware, a list; NULL: none */
	uint32_t details;     /* enum nm_observe_flags */
	bool lenient;	      /* unknown parts of the profile are left out */
	uint64_t interval_ns, timeout_ns;
	uint64_t seed; /* of all random numbers; both ends draw equal ones */
	unsigned char secret[NM_SECRET_BYTES]; /* of the run */
};
/* The work order of a slave. */
json_t *nm_prepare_pack(const struct nm_msg_prepare *prepare);
/* Also checks the form of the list of counters. */
int nm_prepare_unpack(json_t *body, struct nm_msg_prepare *ret);

/* The listeners of this side that `host` of the plan connects to (a slave's plan has host 0
 * only). */
json_t *nm_endpoints_pack(const struct nm_engine *engine, const struct nm_plan *plan,
			  uint32_t host);
/* Hands listeners of `host` to the engine. */
int nm_endpoints_unpack(json_t *list, struct nm_engine *engine, const struct nm_plan *plan,
			uint32_t host);
/* The first port among such listeners; 0: there is none, or they are of another kind. */
uint16_t nm_endpoints_port(json_t *list);
/* Takes endpoints. nonce: NM_NONCE_BYTES of the sender's engine, here and below. */
json_t *nm_ready_pack(json_t *endpoints, const unsigned char *nonce,
		      const struct nm_host_facts *facts);
/* The endpoints are borrowed. */
int nm_ready_unpack(json_t *body, json_t **ret_endpoints, unsigned char *ret_nonce,
		    struct nm_host_facts *ret_facts);
/* Takes endpoints. */
json_t *nm_connect_pack(json_t *endpoints, const unsigned char *nonce);
/* The endpoints are borrowed. */
int nm_connect_unpack(json_t *body, json_t **ret_endpoints, unsigned char *ret_nonce);

/* The body of a message that tells one number: a delay (ns that the master's next message may
 * take), a ping (when it was sent, ns by the master's clock), a heartbeat (grows while anything
 * moves). */
json_t *nm_number_pack(enum nm_message_type type, uint64_t number);
/* Reads the body that nm_number_pack has made. */
int nm_number_unpack(enum nm_message_type type, json_t *body, uint64_t *ret_number);

/* Answers a ping that was sent at sent_ns; now_ns: by the clock of the slave. */
json_t *nm_pong_pack(uint64_t sent_ns, uint64_t now_ns);
/* Reads the body that nm_pong_pack has made. */
int nm_pong_unpack(json_t *body, uint64_t *ret_sent_ns, uint64_t *ret_now_ns);

/* --- running (codec_run.c) --- */

/* The order that a host gets when a phase begins; the master gives one to itself, too. */
#define NM_USAGE_NEVER	(-1)
#define NM_USAGE_AT_END INT64_MAX
struct nm_phase_order {
	uint32_t phase;
	bool measured;	   /* some group's transaction is: intervals are kept */
	uint64_t stall_ns; /* the run ends after so long without progress anywhere */
	uint64_t stop_ns;  /* when the last group will be stopped, after the begin; 0: not known */
	int64_t usage_from_ns; /* when the measured window opens, after the begin, or NEVER */
	int64_t usage_to_ns;   /* when it closes, or NEVER, or AT_END of the phase */
};
/* Tells a slave to begin a phase. */
json_t *nm_begin_pack(const struct nm_phase_order *order);
/* Refuses a phase of n_phases or more. */
int nm_begin_unpack(json_t *body, uint32_t n_phases, struct nm_phase_order *ret);
/* Tells when a slave has begun a phase, by its own clock. */
json_t *nm_began_pack(uint32_t phase, uint64_t at_ns);
/* Reads the body that nm_began_pack has made; any phase is taken. */
int nm_began_unpack(json_t *body, uint32_t *ret_phase, uint64_t *ret_at_ns);

/* The body of a message about a group in a phase: stop, to the slave that leads it; cut, which
 * tells a slave that the group's window has closed with its time. */
json_t *nm_stop_pack(uint32_t phase, uint32_t group);
/* Refuses phases and groups that the plan does not have. */
int nm_stop_unpack(json_t *body, const struct nm_plan *plan, uint32_t *ret_phase,
		   uint32_t *ret_group);

/* The passes of each worker of a group in a phase: follow and done. */
struct nm_msg_totals {
	uint32_t phase, group;
	uint64_t *totals;	 /* n_workers of the group; owned by the caller, who also sets it */
	size_t room;		 /* for unpack: how many fit */
	struct nm_counts counts; /* done only */
	struct nm_span span;	 /* done only: when the group's flows were in the phase */
};
/* How many passes each worker of a group has to do. */
json_t *nm_follow_pack(const struct nm_msg_totals *follow, uint32_t n_workers);
/* Refuses phases and groups that the plan does not have, and more workers than there is room
 * for. */
int nm_follow_unpack(json_t *body, const struct nm_plan *plan, struct nm_msg_totals *ret);
/* The passes of each worker of a group, its counts and its time. */
json_t *nm_done_pack(const struct nm_msg_totals *done, uint32_t n_workers);
/* Refuses as nm_follow_unpack does, and a phase that ends before it begins. */
int nm_done_unpack(json_t *body, const struct nm_plan *plan, struct nm_msg_totals *ret);

/* The connections of a group should be replaced. */
json_t *nm_renew_pack(uint32_t group);
/* Refuses a group that the plan does not have. */
int nm_renew_unpack(json_t *body, const struct nm_plan *plan, uint32_t *ret_group);

struct nm_msg_failed {
	const char *text; /* "flowop read at web.xml:12: Connection reset by peer (3 flows)" */
	bool secondary;	  /* the way in which flows fail when their peer has failed */
};
/* Tells the master that flows of this slave have failed. */
json_t *nm_failed_pack(const struct nm_msg_failed *failed);
/* The text is borrowed. */
int nm_failed_unpack(json_t *body, struct nm_msg_failed *ret);

/* Tells the master, which has asked, where the flows are. */
json_t *nm_places_pack(const struct nm_flow_places *places);
/* Refuses places that the plan does not have; it is the plan of the host. */
int nm_places_unpack(json_t *body, const struct nm_plan *plan, struct nm_flow_places *ret);

/* --- results (codec_result.c) --- */

/* The counts and the CPU times of a host in one interval. */
json_t *nm_interval_pack(const struct nm_host_interval *row);
/* Refuses a phase of n_phases or more. */
int nm_interval_unpack(json_t *body, uint32_t n_phases, struct nm_host_interval *ret);

/* Other runs of the slave that were under way while this one was. */
struct nm_msg_others {
	uint32_t runs;
	uint64_t ns;	/* how long any of them was */
	uint64_t of_ns; /* how long this run was */
};

struct nm_msg_result {
	struct nm_counts *groups; /* all phases of each group; borrowed */
	size_t n_groups;	  /* of the plan; set by pack and unpack */
	struct nm_conn_report connections;
	bool has_usage;
	struct nm_usage usage;
	struct nm_usage_each each;
	struct nm_perf_values counters;
	struct nm_arrived arrived;
	struct nm_host_window window;
	uint64_t strangers;		     /* connections to data ports that were turned away */
	char last_stranger[NM_ADDRESS_TEXT]; /* the address of the last one; "": none has come */
	struct nm_msg_others others;
	struct nm_buffers cut;
	json_t *report; /* pack takes it, unpack borrows it from the body; NULL: none */
};
/* The result of a slave; result->groups holds n_groups. */
json_t *nm_result_pack(struct nm_msg_result *result, size_t n_groups);
/* ret->groups must hold n_groups. */
int nm_result_unpack(json_t *body, size_t n_groups, struct nm_msg_result *ret);

/* The master's own window, whose times are by its clock. */
json_t *nm_bye_pack(const struct nm_host_window *window);
int nm_bye_unpack(json_t *body, struct nm_host_window *ret_window);

/* --- samples (codec_flows.c) --- */

struct nm_flow_rows;
struct nm_flow_row;
struct nm_tcp_rows;
struct nm_tcp_sample;
/* Samples of flows; host and plan are not sent. */
json_t *nm_flows_pack(const struct nm_flow_rows *rows);
/* Host and plan are left for the caller to set; *ret_rows is owned, and ret->rows points to it.
 * -EPROTO or -ENOMEM. */
int nm_flows_unpack(json_t *body, const struct nm_plan *plan, struct nm_flow_rows *ret,
		    struct nm_flow_row **ret_rows);
/* Samples of connections; host and plan are not sent. */
json_t *nm_tcp_pack(const struct nm_tcp_rows *rows);
/* Like nm_flows_unpack, for connections. */
int nm_tcp_unpack(json_t *body, const struct nm_plan *plan, struct nm_tcp_rows *ret,
		  struct nm_tcp_sample **ret_rows);

/* --- the details of a host (codec_report.c) --- */

/* The details of this host until now. */
json_t *nm_report_pack(const struct nm_engine *engine, const struct nm_plan *plan);
/* The plan is that of the host. *ret is owned; NULL after an error, -EPROTO or -ENOMEM. */
int nm_report_unpack(json_t *body, const struct nm_plan *plan,
		     const struct nm_percentiles *percentiles, struct nm_host_report **ret);

#endif
