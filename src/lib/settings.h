/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a run, which the command has as options and the library sets by name. Each is
 * declared here once; the two tables add where they keep it. */
#ifndef NM_LIB_SETTINGS_H
#define NM_LIB_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"
#include "control/address.h"
#include "control/key.h"
#include "control/master/run.h"
#include "plan/warmup.h"
#include "result/result.h"

#define NM_SETTINGS_STRING_(x) #x
#define NM_SETTINGS_STRING(x)  NM_SETTINGS_STRING_(x)

#define NM_SETTING_CONTROL                                                                         \
	.name = "control", .type = NM_TYPE_ENUM, .choices = nm_control_words, .def = "tcp",        \
	.help = "protocol of the control connections: tcp, or vsock, where a host is named by "    \
		"its CID"
#define NM_SETTING_PORT                                                                            \
	.name = "port", .type = NM_TYPE_PORT, .def = NM_SETTINGS_STRING(NM_DEFAULT_PORT)
#define NM_SETTING_KEY_FILE                                                                        \
	.name = "key-file", .type = NM_TYPE_STRING,                                                \
	.help = "file with the key that master and slaves share, of at least " NM_SETTINGS_STRING( \
		NM_KEY_LEAST) " characters; other users must not be able to read it"
#define NM_SETTING_INTERVAL                                                                        \
	.name = "interval", .type = NM_TYPE_DURATION, .def = "1s",                                 \
	.help = "reporting interval, at least 1ms; 0 for none"
#define NM_SETTING_WARMUP                                                                          \
	.name = "warmup", .type = NM_TYPE_STRING,                                                  \
	.help = "leave the first part of each measured transaction out of the totals; or, with "   \
		"plateau(FIGURE,SHARE,max=TIME), as plateau(latency.p50,5%,max=60s), run each "    \
		"that has a duration unmeasured before it, until the figure of five intervals "    \
		"one after the other is within that share of their mean, and fail when it is not " \
		"in that time"
#define NM_SETTING_COOLDOWN                                                                        \
	.name = "cooldown", .type = NM_TYPE_DURATION,                                              \
	.help = "leave the last part of each measured transaction out of the totals"
#define NM_SETTING_WAIT_START                                                                      \
	.name = "wait-start", .type = NM_TYPE_DURATION,                                            \
	.help = "delay between set-up and the first transaction"
#define NM_SETTING_WAIT_SLAVES                                                                     \
	.name = "wait-slaves", .type = NM_TYPE_DURATION, .max = UINT64_C(86400000000000),          \
	.def = "1s", .help = "how long to retry slaves that do not listen yet"
#define NM_SETTING_IOSTAT                                                                          \
	.name = "iostat", .type = NM_TYPE_DURATION, .max = UINT64_C(86400000000000)
#define NM_SETTING_LOG_RTT_ENTRIES                                                                 \
	.name = "log-rtt-entries", .type = NM_TYPE_COUNT, .min = 1, .max = 1000000000,             \
	.def = "10000"
#define NM_SETTING_PERCENTILES                                                                     \
	.name = "percentiles", .type = NM_TYPE_STRING, .def = "50,90,95,99,99.9",                  \
	.help = "the percentiles of latency to report"
/* The largest integer that every reader of JSON keeps. */
#define NM_SETTING_SEED                                                                            \
	.name = "seed", .type = NM_TYPE_COUNT, .min = 0, .max = (UINT64_C(1) << 53) - 1,           \
	.help = "random seed; the same seed gives the same traffic (random when not given)"
#define NM_SETTING_CPUS                                                                            \
	.name = "cpus", .type = NM_TYPE_STRING,                                                    \
	.help = "CPUs for the workers of this side, one each in turn, as 0-3,8; nodes: of each "   \
		"NUMA node in turn"
#define NM_SETTING_SLAVE_CPUS                                                                      \
	.name = "slave-cpus", .type = NM_TYPE_STRING, .help = "CPUs for the workers of the slaves"
#define NM_SETTING_YES_DESTROY                                                                     \
	.name = "yes-destroy", .type = NM_TYPE_FLAG,                                               \
	.help = "let flowops take away what servers have that netmodel has not started, or say "   \
		"when it goes: delete, touch, gat, http with DELETE, and command with DEL, "       \
		"EXPIRE, "                                                                         \
		"FLUSHALL, EVAL and the like"
#define NM_SETTING_TIMEOUT                                                                         \
	.name = "timeout", .type = NM_TYPE_DURATION, .min = 400000000,                             \
	.max = UINT64_C(86400000000000), .def = "10s",                                             \
	.help = "abort when a peer does not answer, or no data moves, for this time"

/* The options of a run as the library keeps them. */
struct nm_settings {
	int control;
	uint64_t port, interval_ns, cooldown_ns, timeout_ns, seed;
	uint64_t wait_start_ns, wait_slaves_ns, iostat_ns, log_rtt_entries;
	char *percentiles, *cpus, *slave_cpus, *key_file, *warmup_text;
	struct nm_key *key; /* of the file, or set itself; owned, NULL: none */
	bool has_seed, yes_destroy;
	struct nm_percentiles parsed; /* of the above */
	struct nm_warmup warmup;      /* of its text */
};

extern const struct nm_opt nm_settings_table[]; /* ends with NM_OPT_END */

/* Zeroed settings get their defaults: 0 or -ENOMEM. To be given to nm_settings_fini in any case. */
int nm_settings_init(struct nm_settings *settings);
void nm_settings_fini(struct nm_settings *settings);
/* Sets one option. A wrong value leaves the old one: -EINVAL; on success why may hold a phrase to
 * warn with. */
int nm_settings_set(struct nm_settings *settings, const struct nm_opt *opt, const char *value,
		    char *why, size_t why_size);
/* Sets the key, and takes it over; NULL: none. */
void nm_settings_take_key(struct nm_settings *settings, struct nm_key *key);
/* The options of a run, by the settings and the defaults. Borrows from settings. */
void nm_settings_apply(const struct nm_settings *settings, struct nm_run_options *ret_options);

/* Checks of values, beyond their types: 0, or -EINVAL with a phrase in why. */
int nm_settings_check_interval(const char *value, char *why, size_t why_size);
int nm_settings_check_cpus(const char *value, char *why, size_t why_size);
int nm_settings_check_slave_cpus(const char *value, char *why, size_t why_size);
int nm_settings_check_percentiles(const char *value, struct nm_percentiles *ret_percentiles,
				  char *why, size_t why_size);
/* For a run without a seed of the user. */
uint64_t nm_settings_choose_seed(void);

#endif
