/* SPDX-License-Identifier: Apache-2.0 */
/* The document's part about the requests of a file that a transaction replays. */
#include "report/figures.h"
#include "result/replayed.h"

static const struct nm_figure replay_figures[] = {
	NM_FIGURE(COUNT, struct nm_replayed, lines, "lines", .doc = "Requests of the file."),
	NM_FIGURE(COUNT, struct nm_replayed, left_out, "left_out",
		  .doc = "Those that are never sent, as no flowop of the mix is their verb."),
	NM_FIGURE(COUNT, struct nm_replayed, made, "made",
		  .doc = "Requests that were made: more than the file has, where it is replayed "
			 "again."),
	NM_FIGURE(COUNT, struct nm_replayed, unmade, "unmade",
		  .doc = "Those for which there was no time, of one round of the file, or of as "
			 "many as were asked for if these are fewer."),
	NM_FIGURE_END,
};

const struct nm_object nm_replay_object = {
	.name = "replay",
	.doc = "Only of a transaction that replays recorded requests: how many of them.",
	.figures = replay_figures,
};
