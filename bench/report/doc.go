// Package report sets out results of okra bench for people: as one page of HTML that needs nothing
// else, as Markdown, or as one picture.
//
// [Read] reads a file of results, of suites or of okra bench --json. [New] makes a [Report] of some
// of them: what is slower than plain LMDB first, then what is faster, then what else differs, for
// context, then a section with tables and charts for each suite, machine and size. It judges
// nothing anew: ratios and verdicts of suites are those that the run has found, and rows of okra
// bench are judged by [bench.Judge], from what the run kept.
//
// Names and words from files may be anything. They are shown as text, never as markup.
package report
