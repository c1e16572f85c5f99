/* SPDX-License-Identifier: Apache-2.0 */
/* Runs on the caller's thread, and on threads of their own. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/wake.h"
#include "lib/netmodel_priv.h"
#include "lib/samples.h"

static void on_log(void *arg, const char *line)
{
	nm_log_tell(arg, NETMODEL_INFO, line);
}

static enum nm_run_status run_compiled(struct netmodel *nm)
{
	struct nm_job job = nm_loaded_job(&nm->loaded);
	struct nm_run_options options;

	nm_settings_apply(&nm->settings, &options);
	/* Without room for them they are told as not measured. */
	(void)nm_requirements_percentiles(&nm->required, &options.percentiles);
	nm->judged = nm->required;
	nm->required = (struct nm_requirements){.count = 0};
	options.in_process = true;
	options.interrupt_fd = nm->run.stop_read;
	options.events = (struct nm_run_events){
		.arg = nm,
		.log = on_log,
		.waits = on_log,
	};
	nm->hdr_begin_ns = 0;
	nm_samples_ask(nm, &options);
	enum nm_run_status status = nm_run(&job, &options, &nm->result, &nm->diags);
	if (nm->result && !nm->result->complete && !nm->diags.n_errors)
		nm_diag_error(&nm->diags, NULL, 0, "the run is incomplete: %s",
			      nm->result->verdict.incomplete_why
				      ? nm->result->verdict.incomplete_why
				      : "interrupted");
	else if (nm->result && nm->result->verdict.reconciled == NM_RECONCILED_NO &&
		 !nm->diags.n_errors)
		nm_diag_error(&nm->diags, NULL, 0, "the counts of both ends differ: %s",
			      nm->result->verdict.reconcile_text
				      ? nm->result->verdict.reconcile_text
				      : "");
	return status;
}

/* Requests to stop an earlier run are not for this one. */
static void drain(int fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		continue;
}

/* Makes the object run, unless it does. */
static bool take(struct netmodel *nm)
{
	int idle = NM_IDLE;

	if (!atomic_compare_exchange_strong(&nm->run.state, &idle, NM_TAKEN))
		return false;
	nm_thread_join(&nm->run.thread); /* of an earlier run that was not waited for */
	drain(nm->run.done_fd);
	drain(nm->run.stop_read);
	atomic_store(&nm->run.state, NM_RUNNING);
	return true;
}

static enum netmodel_status run_taken(struct netmodel *nm)
{
	enum nm_run_status status = NM_RUN_REFUSED;

	nm_diags_begin(nm);
	nm->result = nm_result_free(nm->result);
	nm_requirements_fini(&nm->judged);
	nm_locale_enter(nm);
	int error = nm_netmodel_compile(nm);
	nm_diags_tell(nm); /* warnings, before the run */
	if (!error)
		status = run_compiled(nm);
	nm_diags_tell(nm);
	nm_locale_leave(nm);
	if (nm->on.result)
		nm->on.result(nm->on.result_arg, nm, (enum netmodel_status)status);
	return (enum netmodel_status)status;
}

enum netmodel_status netmodel_run(struct netmodel *nm)
{
	if (!take(nm))
		return NETMODEL_BUSY;
	enum netmodel_status status = run_taken(nm);
	atomic_store(&nm->run.state, NM_IDLE);
	return status;
}

static void *run_thread(void *arg)
{
	struct netmodel *nm = arg;

	nm->run.status = run_taken(nm);
	atomic_store(&nm->run.state, NM_IDLE);
	nm_wake(nm->run.done_fd);
	return NULL;
}

int netmodel_start(struct netmodel *nm)
{
	if (!take(nm))
		return -EBUSY;
	int error = nm_thread_start(&nm->run.thread, 0, run_thread, nm);
	if (error)
		atomic_store(&nm->run.state, NM_IDLE);
	return error;
}

int netmodel_done_fd(const struct netmodel *nm)
{
	return nm->run.done_fd;
}

/* Waits until fd is readable, at most to until_ns: 0 or -ETIMEDOUT. */
static int await(int fd, uint64_t until_ns)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	for (;;) {
		uint64_t now_ns = nm_clock_ns();
		uint64_t left_ms = until_ns > now_ns ? (until_ns - now_ns + 999999) / 1000000 : 0;
		int n = poll(&pfd, 1, left_ms > 3600000 ? 3600000 : (int)left_ms);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0 && left_ms == 0)
			return -ETIMEDOUT;
	}
}

int netmodel_wait(struct netmodel *nm, double timeout_s, enum netmodel_status *ret_status)
{
	uint64_t until_ns = UINT64_MAX;

	if (!nm->run.thread.started)
		return -ESRCH;
	if (timeout_s >= 0 && timeout_s < 1e9)
		until_ns = nm_clock_ns() + (uint64_t)(timeout_s * 1e9);
	int error = await(nm->run.done_fd, until_ns);
	if (error)
		return error;
	nm_thread_join(&nm->run.thread);
	drain(nm->run.done_fd);
	if (ret_status)
		*ret_status = nm->run.status;
	return 0;
}
