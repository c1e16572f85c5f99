/* SPDX-License-Identifier: Apache-2.0 */
/* The members of the library's object, and functions that its files share. */
#ifndef NM_LIB_NETMODEL_PRIV_H
#define NM_LIB_NETMODEL_PRIV_H

#include <locale.h>
#include <stdatomic.h>

#include "base/diag.h"
#include "engine/thread.h"
#include "lib/load.h"
#include "lib/netmodel.h"
#include "lib/settings.h"

enum nm_run_state {
	NM_IDLE,
	NM_TAKEN, /* about to run */
	NM_RUNNING,
};

/* Diagnostics as text. */
struct nm_kept_lines {
	char **items; /* owned, and each line; as many as there was memory for */
	size_t count;
	size_t n_told; /* diagnostics that were made lines and logged */
};

/* Functions of the caller, each with its argument; NULL: the caller has none. */
struct nm_callbacks {
	netmodel_interval_fn interval;
	void *interval_arg;
	netmodel_log_fn log;
	void *log_arg;
	netmodel_result_fn result;
	void *result_arg;
	netmodel_flow_fn flow;
	void *flow_arg;
	netmodel_tcp_info_fn tcp_info;
	void *tcp_info_arg;
	netmodel_pass_fn pass;
	void *pass_arg;
	netmodel_traffic_fn traffic;
	void *traffic_arg;
	netmodel_hdr_fn hdr;
	void *hdr_arg;
};

/* The run that goes on, and how it is stopped and awaited. */
struct nm_own_run {
	_Atomic int state;	   /* enum nm_run_state */
	int stop_read, stop_write; /* a pipe; each byte is one request to stop */
	/* For a run with a thread of its own: */
	int done_fd; /* eventfd, set at its end */
	struct nm_thread thread;
	enum netmodel_status status;
};

struct netmodel {
	struct nm_loaded loaded;
	char *load_failed; /* why there is no profile, owned; NULL: none was to be loaded */
	struct nm_requirements required; /* by the profile that was compiled last */
	struct nm_requirements judged;	 /* those of the run that has the result */
	struct nm_define *defines;	 /* owned, and both strings of each */
	size_t n_defines;
	struct nm_settings settings;
	struct nm_diags diags;
	struct nm_kept_lines lines;
	struct nm_callbacks on;
	uint64_t hdr_begin_ns; /* begin of the times in lines of histograms; 0: no line yet */
	/* Numbers are read and written as in the C locale; callbacks have the caller's. */
	locale_t locale, callers_locale;
	struct nm_own_run run;
	struct nm_result *result; /* of the last run, owned; NULL: none */
};

/* Around code that reads or writes numbers. */
void nm_locale_enter(struct netmodel *nm);
void nm_locale_leave(struct netmodel *nm);

/* Around each function that gives diagnostics: begin forgets those of the last one, tell logs the
 * new ones. */
void nm_diags_begin(struct netmodel *nm);
void nm_diags_tell(struct netmodel *nm);
void nm_log_tell(struct netmodel *nm, enum netmodel_level level, const char *line);

/* 0, or -EINVAL with errors in nm->diags. */
int nm_netmodel_compile(struct netmodel *nm);

#endif
