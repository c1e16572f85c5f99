/* SPDX-License-Identifier: Apache-2.0 */
/* The defaults of the options of a run. */
#include "control/options.h"

void nm_run_options_default(struct nm_run_options *ret_options)
{
	*ret_options = (struct nm_run_options){.port = NM_DEFAULT_PORT,
					       .interval_ns = 1000000000u,
					       .timeout_ns = 10000000000u,
					       .wait.slaves_ns = 1000000000u,
					       .interrupt_fd = -1};
	nm_percentiles_default(&ret_options->percentiles);
}
