/* SPDX-License-Identifier: Apache-2.0 */
/* What the object of the library is made of. */
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

struct netmodel {
	struct nm_loaded loaded;
	struct nm_define *defines; /* owned, and both strings of each */
	size_t n_defines;
	struct nm_settings settings;
	struct nm_diags diags;
	char **lines; /* diags as text, as many as there was memory for */
	size_t n_lines;
	size_t n_told; /* diags that were made lines and logged */
	netmodel_interval_fn on_interval;
	void *interval_arg;
	netmodel_log_fn on_log;
	void *log_arg;
	netmodel_result_fn on_result;
	void *result_arg;
	netmodel_flow_fn on_flow;
	netmodel_tcp_info_fn on_tcp_info;
	netmodel_pass_fn on_pass;
	netmodel_traffic_fn on_traffic;
	netmodel_hdr_fn on_hdr;
	void *flow_arg, *tcp_info_arg, *pass_arg, *traffic_arg, *hdr_arg;
	uint64_t hdr_begin_ns; /* what the lines of histograms count from; 0: there is none yet */
	/* Numbers are read and written as in the C locale; callbacks have the caller's. */
	locale_t locale, callers_locale;
	int stop_read, stop_write;
	int done_fd;	   /* eventfd, set by a run with a thread of its own */
	_Atomic int state; /* enum nm_run_state */
	struct nm_thread thread;
	enum netmodel_status status; /* of the thread's run */
	struct nm_result *result;
};

/* Around whatever reads or writes numbers. */
void nm_locale_enter(struct netmodel *nm);
void nm_locale_leave(struct netmodel *nm);

/* Around each function that has something to say: begin forgets what the last had, tell logs what
 * is new. */
void nm_diags_begin(struct netmodel *nm);
void nm_diags_tell(struct netmodel *nm);
void nm_log_tell(struct netmodel *nm, enum netmodel_level level, const char *line);

/* 0, or -EINVAL with errors in nm->diags. */
int nm_netmodel_compile(struct netmodel *nm);
/* Ends a run with a thread of its own. */
void nm_netmodel_end(struct netmodel *nm);

#endif
