/* SPDX-License-Identifier: Apache-2.0 */
/* The program netmodel: everything else is in a library, so that tests can call it. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
	return nm_cli_main(argc, argv);
}
