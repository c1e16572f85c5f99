/* SPDX-License-Identifier: Apache-2.0 */
/* --scan and --search: runs a profile with one value of a parameter after the other, and writes one
 * report of all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "cli/cli.h"
#include "cli/resume.h"
#include "cli/runner.h"
#include "cli/signals.h"
#include "cli/trial.h"
#include "report/common.h"
#include "report/sweep.h"
#include "search/range.h"
#include "search/search.h"

#define ROWS	     10 /* of a trial, at least, unless they were shorter than: */
#define LEAST_ROW_NS 5000000

struct sweep {
	struct nm_runner runner;
	const char *option, *given; /* "scan" or "search", and its value */
	char *name;		   /* owned: of the parameter; the text of the range is behind it */
	struct nm_define *defines; /* owned: those of the line, and the parameter as the last */
	struct nm_range range;
	size_t n_values;	  /* of a scan; 0: it is a search */
	double per_value;	  /* open arrivals a second for a value of 1; 0: there are none */
	struct nm_search *search; /* owned; NULL: it is a scan, or has not begun */
	struct nm_sweep told;
	struct nm_earlier_search earlier; /* with --search-resume */
	struct nm_runs going;		  /* those of a trial that goes on; otherwise empty */
	struct nm_runs kept;		  /* the trial that the document is of */
	bool kept_passed;
	bool any_complete; /* some run was */
	int code;	   /* of what was run so far, without the objective */
};

static int out_of_memory(struct nm_diags *diags)
{
	nm_diag_error(diags, NULL, 0, "out of memory");
	return NM_EXIT_INTERNAL;
}

static int refuse(const struct sweep *sweep, const char *why, struct nm_diags *diags)
{
	return nm_cli_refuse(diags, sweep->option, sweep->given, "%s", why);
}

/* --- what is to be tried --- */

/* The declaration of the parameter; NULL: the profile has none. */
static const struct nm_param *find_param(const struct sweep *sweep)
{
	const struct nm_params *params = &sweep->runner.loaded.params;

	for (size_t i = 0; i < params->count; i++)
		if (params->items[i].line && strcmp(params->items[i].name, sweep->name) == 0)
			return &params->items[i];
	return NULL;
}

static int read_range(struct sweep *sweep, const char *text, struct nm_diags *diags)
{
	const struct nm_args *args = sweep->runner.args;
	const struct nm_param_values none = {.as_uperf = args->run.as_uperf};
	struct nm_diags ignored = {.form_told = NM_FORM_NOTHING}; /* the compiler tells them */
	char why[256];

	(void)nm_loaded_params(&sweep->runner.loaded, &none, &ignored);
	nm_diags_fini(&ignored);
	const struct nm_param *param = find_param(sweep);

	if (!param && sweep->runner.loaded.params.count) {
		nm_params_unknown(&sweep->runner.loaded.params, sweep->name, why, sizeof(why));
		return refuse(sweep, why, diags);
	}
	enum nm_type type = param ? param->type : NM_TYPE_STRING;
	enum nm_reading reading = param ? param->reading : NM_READING_NETMODEL;

	if (nm_range_parse(text, type, reading, &sweep->range, why, sizeof(why)) != 0)
		return refuse(sweep, why, diags);
	if (args->run.sweep.scan && !sweep->range.has_step)
		return refuse(sweep, "needs a step behind the range, as 10..50:10 or 1..64:*2",
			      diags);
	if (args->run.sweep.search && sweep->range.has_step)
		return refuse(sweep, "must be a range without a step: a search chooses the values",
			      diags);
	for (size_t i = 0; i < args->n_defines; i++)
		if (strcmp(args->defines[i].name, sweep->name) == 0)
			return refuse(sweep, "-D sets the same parameter: one at a time", diags);
	return NM_EXIT_OK;
}

/* Compiles the profile with a value; NaN: an empty one. ret_text: the value as it is written, owned
 * by the caller; NULL: not asked for. */
static int compile(struct sweep *sweep, double value, char **ret_text, struct nm_diags *diags)
{
	size_t n_defines = sweep->runner.args->n_defines;
	char *text = isnan(value) ? strdup("") : nm_range_text(&sweep->range, value);

	if (!text)
		return out_of_memory(diags);
	sweep->defines[n_defines] = (struct nm_define){.name = sweep->name, .value = text};
	int code = nm_runner_compile(&sweep->runner, sweep->defines, n_defines + 1, diags);

	if (ret_text && code == NM_EXIT_OK)
		*ret_text = text;
	else
		free(text);
	return code;
}

/* The same without a word. */
static int try_compile(struct sweep *sweep, double value, char **ret_text)
{
	struct nm_diags ignored = {.form_told = NM_FORM_NOTHING};
	int code = compile(sweep, value, ret_text, &ignored);

	nm_diags_fini(&ignored);
	return code;
}

/* Open arrivals a second of all measured transactions. */
static double arrivals_per_s(const struct nm_plan *plan)
{
	double per_s = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++)
		for (uint32_t i = 0; i < plan->groups[g].n_phases; i++) {
			const struct nm_phase *phase = &plan->groups[g].phases[i];

			if (phase->measured && nm_phase_is_open(phase))
				per_s += phase->arrivals.per_s;
		}
	return per_s;
}

/* Compiles the profile with all values of a scan or both ends of a search, so that whatever is
 * wrong is told before anything runs, and once: at last with the first. */
static int check_values(struct sweep *sweep, struct nm_diags *diags)
{
	double to_per_s = 0;

	for (size_t i = sweep->n_values ? sweep->n_values : 2; i-- > 1;) {
		double value = sweep->n_values ? nm_range_value(&sweep->range, i) : sweep->range.to;

		if (try_compile(sweep, value, NULL) != NM_EXIT_OK)
			return compile(sweep, value, NULL, diags);
		to_per_s = arrivals_per_s(sweep->runner.loaded.plan);
	}
	/* Empty arrivals are a closed loop. */
	bool closes = try_compile(sweep, NAN, NULL) == NM_EXIT_OK;
	int code = compile(sweep, sweep->range.from, NULL, diags);
	double from_per_s = code == NM_EXIT_OK ? arrivals_per_s(sweep->runner.loaded.plan) : 0;

	if (closes && to_per_s > from_per_s)
		sweep->per_value = from_per_s / sweep->range.from;
	return code;
}

static int prepare(struct sweep *sweep, struct nm_diags *diags)
{
	const struct nm_args *args = sweep->runner.args;
	size_t length = strcspn(sweep->given, "=");

	sweep->name = strdup(sweep->given);
	sweep->defines = calloc(args->n_defines + 1, sizeof(*sweep->defines));
	if (!sweep->name || !sweep->defines)
		return out_of_memory(diags);
	sweep->name[length] = '\0';
	for (size_t i = 0; i < args->n_defines; i++)
		sweep->defines[i] = args->defines[i];
	sweep->told.parameter = sweep->name;
	sweep->told.range = sweep->given + length + 1;
	int code = read_range(sweep, sweep->told.range, diags);

	if (code != NM_EXIT_OK)
		return code;
	if (args->run.sweep.scan)
		sweep->n_values = nm_range_count(&sweep->range);
	return check_values(sweep, diags);
}

/* Rows of short trials, by which it is known how sure their percentiles are, unless the user has
 * chosen them. */
static void choose_rows(struct nm_runner *runner)
{
	const struct nm_args_run *args = &runner->args->run;
	uint64_t tenth_ns = nm_plan_duration_ns(runner->loaded.plan) / ROWS;
	struct nm_percentiles required = {.count = 0};

	(void)nm_requirements_percentiles(&runner->judge.requirements, &required);
	if (!required.count || args->has_interval || args->windows || args->warmup.max_ns)
		return;
	if (tenth_ns >= LEAST_ROW_NS && tenth_ns < args->interval_ns)
		runner->interval_ns = tenth_ns;
}

static int begin_search(struct sweep *sweep, struct nm_diags *diags)
{
	const struct nm_args_sweep *args = &sweep->runner.args->run.sweep;

	sweep->search = malloc(sizeof(*sweep->search));
	if (!sweep->search)
		return out_of_memory(diags);
	nm_search_init(sweep->search, &(struct nm_search_settings){
					      .from = sweep->range.from,
					      .to = sweep->range.to,
					      .confirm = (unsigned)args->confirm,
					      .seed = sweep->runner.seed,
					      .capacity = sweep->per_value > 0,
				      });
	sweep->told.objective = args->objective;
	sweep->told.tolerance = NM_SEARCH_TOLERANCE;
	choose_rows(&sweep->runner);
	if (!args->resume)
		return NM_EXIT_OK;
	int code = nm_cli_resume(&sweep->runner, &sweep->range, sweep->search, &sweep->told,
				 &sweep->earlier, diags);

	/* The first incomplete run would have ended it. */
	sweep->any_complete = sweep->told.n_trials > 0;
	return code;
}

/* The next trial; false: that was the last. */
static bool next(const struct sweep *sweep, struct nm_search_trial *ret_trial)
{
	size_t done = sweep->told.n_trials;

	if (sweep->search)
		return nm_search_ask(sweep->search, ret_trial);
	if (done == sweep->n_values)
		return false;
	*ret_trial = (struct nm_search_trial){.value = nm_range_value(&sweep->range, done),
					      .window = 1,
					      .seed = sweep->runner.seed};
	return true;
}

/* --- how it went --- */

/* Moves a series into an empty one. */
static void take(struct nm_runs *into, struct nm_runs *series)
{
	*into = *series;
	*series = (struct nm_runs){.view = series->view};
}

/* Keeps the series, which is empty then, if the document is to be of it. */
static void keep(struct sweep *sweep, struct nm_runs *series, bool passed)
{
	if (sweep->kept_passed && !passed)
		return;
	nm_runs_fini(&sweep->kept);
	take(&sweep->kept, series);
	sweep->kept_passed = passed;
}

/* Tells a trial that was run and judged: an exit code. text: its value, as it is written. The
 * series is empty then, if it is needed yet. */
static int tell_trial(struct sweep *sweep, const struct nm_search_trial *asked, const char *text,
		      struct nm_runs *series, struct nm_diags *diags)
{
	const char *value = isnan(asked->value) ? NULL : text;
	struct nm_trial trial;
	char line[512];
	int error = nm_trial_judge(&sweep->runner, asked, value, sweep->per_value, series, &trial);
	const struct nm_search_verdict verdict = nm_trial_verdict(&trial, asked->window);

	if (!error && sweep->search && !nm_search_tell(sweep->search, &verdict)) {
		nm_trial_fini(&trial);
		take(&sweep->going, series);
		return NM_EXIT_OK;
	}
	if (nm_sweep_add(&sweep->told, &trial) != 0 || error)
		return out_of_memory(diags);
	nm_live_waits(&sweep->runner.live,
		      nm_trial_format(&sweep->told, &trial, line, sizeof(line)));
	keep(sweep, series, sweep->search && trial.pass && value && asked->step != NM_SEARCH_HALF);
	return NM_EXIT_OK;
}

/* Runs what a trial lacks of its length, each part with a seed of its own. */
static int run_parts(struct sweep *sweep, const struct nm_search_trial *asked,
		     struct nm_runs *series, struct nm_diags *diags)
{
	int status = NM_EXIT_OK;

	sweep->runner.parts = asked->window;
	for (unsigned i = asked->done; i < asked->window && status == NM_EXIT_OK; i++) {
		sweep->runner.seed = i ? nm_rng(asked->seed, i) >> 1 : asked->seed;
		status = (int)nm_runner_run(&sweep->runner, series, diags);
		if (nm_signals_limited())
			break;
	}
	return status;
}

/* Runs a trial. False: it is the last. */
static bool try(struct sweep *sweep, const struct nm_search_trial *asked, struct nm_diags *diags)
{
	struct nm_runner *runner = &sweep->runner;
	struct nm_runs series;
	char *text;

	if (try_compile(sweep, asked->value, &text) != NM_EXIT_OK) {
		/* A file that the profile names may be gone, or be another by now. */
		sweep->code = compile(sweep, asked->value, NULL, diags) == NM_EXIT_USAGE
				      ? NM_EXIT_FAILED
				      : out_of_memory(diags);
		return false;
	}
	take(&series, &sweep->going);
	int status = run_parts(sweep, asked, &series, diags);
	const struct nm_result *last = nm_runs_last(&series);
	/* A run may fail at a value that is too high, but not at all values. */
	bool failed = status == NM_EXIT_FAILED && last && !nm_signals_limited();
	bool goes_on = status == NM_EXIT_OK || (failed && (sweep->any_complete || !sweep->search));
	/* An interrupt, or a limit, may have come between two of its runs. */
	bool whole = series.n_runs >= runner->repeat * asked->window;
	bool told = last && ((last->complete && whole) || (failed && goes_on));

	if (failed && !told)
		nm_diag_error(diags, NULL, 0, "the run is incomplete: %s",
			      nm_trial_why_incomplete(last));
	sweep->any_complete |= last && last->complete;
	nm_cli_print_diags(diags, &runner->args->wording);
	sweep->code = status == NM_EXIT_OK ? sweep->code : status;
	if (nm_judge_series(&runner->judge, &series, true, &runner->view, diags) != 0)
		sweep->code = NM_EXIT_INTERNAL;
	else if (told && tell_trial(sweep, asked, text, &series, diags) != NM_EXIT_OK)
		sweep->code = NM_EXIT_INTERNAL;
	free(text);
	nm_runs_fini(&series);
	if (sweep->code == NM_EXIT_INTERNAL || nm_signals_limited())
		return false;
	return goes_on;
}

/* --- the end --- */

/* Within single quotes of a shell. */
static void print_quoted(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
}

/* The command line that runs the profile with the value, owned; NULL: out of memory. */
static char *command_of(const struct sweep *sweep, const char *value)
{
	const struct nm_args *args = sweep->runner.args;
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	fputs("netmodel -m '", out);
	print_quoted(out, args->master);
	sweep->defines[args->n_defines].value = value;
	for (size_t i = 0; i <= args->n_defines; i++) {
		fputs("' -D '", out);
		print_quoted(out, sweep->defines[i].name);
		fputc('=', out);
		print_quoted(out, sweep->defines[i].value);
	}
	fputc('\'', out);
	return fclose(out) == 0 ? line : NULL;
}

/* What kept the search from a higher value, or from any: that of the lowest trial that failed. */
static enum nm_limit limit_of(const struct sweep *sweep)
{
	const struct nm_search *search = sweep->search;
	const bool found = search->outcome == NM_SEARCH_FOUND;
	const double above = found ? search->low : 0;
	double lowest = INFINITY;
	enum nm_limit limit = found ? NM_LIMIT_CAPACITY : NM_LIMIT_NONE;

	if (!found && search->outcome != NM_SEARCH_NOT_MET &&
	    search->outcome != NM_SEARCH_UNCONFIRMED)
		return NM_LIMIT_NONE;
	if (found && search->low >= search->settings.to)
		return NM_LIMIT_RANGE;
	for (size_t i = 0; i < search->n_trials; i++) {
		const struct nm_search_trial *trial = &search->trials[i];

		/* Never true of NaN. */
		if (trial->pass || !(trial->value > above && trial->value <= lowest))
			continue;
		lowest = trial->value;
		limit = sweep->told.trials[i].limit;
	}
	return limit;
}

static int conclude(struct sweep *sweep, struct nm_diags *diags)
{
	const struct nm_search *search = sweep->search;
	struct nm_sweep *told = &sweep->told;

	told->outcome = nm_search_outcome_name(search->outcome);
	told->n_confirmed = search->n_confirmed;
	told->limit = limit_of(sweep);
	for (size_t i = 0; i < told->n_trials; i++)
		told->trials[i].out_of_order = nm_search_is_out_of_order(search, i);
	if (search->outcome != NM_SEARCH_FOUND)
		return NM_EXIT_OK;
	told->at_end = search->low >= search->settings.to;
	told->value = nm_range_text(&sweep->range, search->low);
	told->command = told->value ? command_of(sweep, told->value) : NULL;
	return told->command ? NM_EXIT_OK : out_of_memory(diags);
}

/* Tells why the search has no value. */
static void tell_outcome(const struct sweep *sweep, struct nm_diags *diags)
{
	static const char *const whys[] = {
		[NM_SEARCH_NOT_MET] = "the lowest one does not either",
		[NM_SEARCH_UNSTABLE] = "the same value has given different results over time",
		[NM_SEARCH_UNCONFIRMED] = "those that met it once did not meet it again",
	};
	const struct nm_trial *last = &sweep->told.trials[sweep->told.n_trials - 1];
	char trial[512];

	nm_cli_refuse(diags, "objective", sweep->told.objective,
		      "no value of %s meets it: %s (last trial: %s)", sweep->name,
		      whys[sweep->search->outcome],
		      nm_trial_format(&sweep->told, last, trial, sizeof(trial)));
}

/* The exit code, with an error in diags unless it is NM_EXIT_OK. */
static int tell_end(const struct sweep *sweep, struct nm_diags *diags)
{
	size_t n_unmet = 0, n = sweep->told.n_trials;

	if (nm_signals_limited())
		nm_cli_tell_limit(diags, "max-duration", sweep->runner.args->max_duration_ns,
				  " after trial %zu", n);
	else if (sweep->code == NM_EXIT_INTERRUPTED)
		nm_diag_error(diags, NULL, 0, "interrupted after trial %zu", n);
	if (sweep->search && sweep->search->outcome == NM_SEARCH_GOES_ON)
		return sweep->code == NM_EXIT_OK ? NM_EXIT_FAILED : sweep->code;
	if (sweep->search) {
		if (sweep->told.value && sweep->told.limit == NM_LIMIT_GENERATOR)
			nm_diag_warn(diags, NULL, 0, "the value says nothing of the other end: %s",
				     nm_limit_text(sweep->told.limit));
		if (sweep->search->outcome == NM_SEARCH_FOUND)
			return NM_EXIT_OK;
		tell_outcome(sweep, diags);
		return NM_EXIT_UNMET;
	}
	for (size_t i = 0; i < n; i++)
		n_unmet += sweep->told.trials[i].judged && !sweep->told.trials[i].pass;
	if (n_unmet)
		nm_diag_error(diags, NULL, 0, "the requirements are not met at %zu of %zu values",
			      n_unmet, n);
	return sweep->code == NM_EXIT_OK && n_unmet ? NM_EXIT_UNMET : sweep->code;
}

static int report_all(struct sweep *sweep, struct nm_diags *diags)
{
	struct nm_runner *runner = &sweep->runner;
	int code = sweep->search ? conclude(sweep, diags) : NM_EXIT_OK;

	if (code == NM_EXIT_OK && sweep->kept.n_runs) {
		runner->view.sweep = &sweep->told;
		code = nm_judge_series(&runner->judge, &sweep->kept, false, &runner->view, diags) ==
				       0
			       ? NM_EXIT_OK
			       : NM_EXIT_INTERNAL;
		/* All that passed may have been trials of an earlier search. */
		if (sweep->search && sweep->search->outcome == NM_SEARCH_FOUND &&
		    !sweep->kept_passed)
			runner->view.verdicts = NULL;
		if (code == NM_EXIT_OK)
			code = nm_runner_report(runner, &sweep->kept, diags);
	}
	int told = tell_end(sweep, diags);

	return code == NM_EXIT_OK || told == NM_EXIT_INTERRUPTED ? told : code;
}

int nm_cli_sweep(const struct nm_args *args, struct nm_diags *diags)
{
	bool scans = args->run.sweep.scan;
	struct sweep sweep = {.option = scans ? "scan" : "search",
			      .given = scans ? args->run.sweep.scan : args->run.sweep.search,
			      .going = {.view = &sweep.runner.view},
			      .kept = {.view = &sweep.runner.view}};
	struct nm_search_trial trial;
	int code = nm_runner_begin(&sweep.runner, args, diags);

	if (code == NM_EXIT_OK)
		code = prepare(&sweep, diags);
	if (code == NM_EXIT_OK && !scans)
		code = begin_search(&sweep, diags);
	if (code == NM_EXIT_OK)
		code = nm_runner_open(&sweep.runner, diags);
	if (code == NM_EXIT_OK) {
		sweep.runner.live.length_ns = 0; /* that of one trial says little */
		while (next(&sweep, &trial) && try(&sweep, &trial, diags))
			;
		code = report_all(&sweep, diags);
	}
	code = nm_runner_end(&sweep.runner, code, diags);
	nm_runs_fini(&sweep.going);
	nm_runs_fini(&sweep.kept);
	nm_sweep_fini(&sweep.told);
	nm_earlier_search_fini(&sweep.earlier);
	nm_range_fini(&sweep.range);
	free(sweep.search);
	free(sweep.defines);
	free(sweep.name);
	return code;
}
