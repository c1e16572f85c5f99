// SPDX-License-Identifier: Apache-2.0
return { overlaps, faint, wide: document.documentElement.scrollWidth, width: innerWidth,
  drawn: document.querySelectorAll("figure:not([hidden]) :is(.chart, .picture) svg").length,
  figures: document.querySelectorAll("figure:not(.none):not([hidden])").length,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  changed: typeof changed === "undefined" ? null : changed };
