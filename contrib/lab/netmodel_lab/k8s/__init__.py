# SPDX-License-Identifier: Apache-2.0
"""netmodel-lab k8s: tests between pods of a cluster. Nothing else of the lab needs the Kubernetes client."""
